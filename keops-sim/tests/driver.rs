//! The stand-in driver under unmodified `cudarc`. Each test runs again in a process of its own on the staged library.

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;
use keops_sim::stand_in::{on_stand_in, rerun};
use std::sync::Arc;

const WARP: &str = include_str!("ptx/warp.ptx");
const AXPY: &str = "
.version 6.3
.target sm_75
.address_size 64
.visible .entry axpy(.param .f32 a, .param .u32 n, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .f32 %f<5>;
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 ret;
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
    ret;
}
";

fn code<T>(result: Result<T, DriverError>) -> sys::CUresult {
    match result {
        Ok(_) => sys::CUresult::CUDA_SUCCESS,
        Err(error) => error.0,
    }
}

/// What the stand-in offers beside the driver's interface.
struct Control(libloading::Library);

impl Control {
    fn open() -> Control {
        // SAFETY: the stand-in's own library, whose initialisation does nothing.
        Control(unsafe { libloading::Library::new("libcuda.so") }.expect("the stand-in"))
    }
    fn fail_at(&self, n: u64, code: i32) {
        // SAFETY: the function has this signature.
        unsafe {
            self.0
                .get::<extern "C" fn(u64, i32)>(b"keops_sim_fail_at\0")
                .unwrap()(n, code)
        }
    }
    fn calls(&self) -> u64 {
        // SAFETY: the function has this signature.
        unsafe {
            self.0
                .get::<extern "C" fn() -> u64>(b"keops_sim_calls\0")
                .unwrap()()
        }
    }
    fn list(&self, name: &[u8]) -> String {
        let mut buffer = vec![0u8; 4096];
        // SAFETY: the function has this signature, and the buffer its length.
        unsafe {
            self.0
                .get::<extern "C" fn(*mut u8, usize) -> usize>(name)
                .unwrap()(buffer.as_mut_ptr(), buffer.len())
        };
        let end = buffer.iter().position(|byte| *byte == 0).unwrap();
        String::from_utf8_lossy(&buffer[..end]).into_owned()
    }
    fn leaks(&self) -> String {
        self.list(b"keops_sim_leaks\0")
    }
    fn fault(&self) -> String {
        self.list(b"keops_sim_fault\0")
    }
    fn reset(&self) {
        // SAFETY: the function has this signature.
        unsafe { self.0.get::<extern "C" fn()>(b"keops_sim_reset\0").unwrap()() }
    }
}

/// y = 2x + y on one device, with a pinned buffer on the way.
fn axpy(device: usize, n: usize) -> Result<Vec<f32>, DriverError> {
    let context = CudaContext::new(device)?;
    // SAFETY: one stream only. With tracking on, cudarc 0.19.10 forgets an array whose events cannot be created.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let function = context
        .load_module(Ptx::from_src(AXPY))?
        .load_function("axpy")?;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let dx = stream.clone_htod(&x)?;
    // SAFETY: written before it is read.
    let mut pinned = unsafe { context.alloc_pinned_with_flags::<f32>(n, 0) }?;
    pinned.as_mut_slice()?.fill(1.0);
    let mut dy = stream.alloc_zeros::<f32>(n)?;
    stream.memcpy_htod(&pinned, &mut dy)?;
    let count = n as u32;
    let mut launch = stream.launch_builder(&function);
    launch.arg(&2f32).arg(&count).arg(&dx).arg(&mut dy);
    let config = LaunchConfig {
        grid_dim: (count.div_ceil(64), 1, 1),
        block_dim: (64, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the parameters are those of the entry, and the arrays hold n values.
    unsafe { launch.launch(config) }?;
    stream.memcpy_dtoh(&dy, &mut pinned)?;
    stream.synchronize()?;
    let result = pinned.as_slice()?.to_vec();
    context.check_err()?;
    Ok(result)
}

fn is_axpy(values: &[f32]) -> bool {
    values
        .iter()
        .enumerate()
        .all(|(i, y)| *y == 2.0 * i as f32 + 1.0)
}

#[test]
fn a_vector_kernel_on_every_device() {
    let settings = [
        ("KEOPS_SIM_DEVICES", "3"),
        ("KEOPS_SIM_LEAKS", "strict"),
        ("KEOPS_SIM_CC", "8.6"),
    ];
    if !on_stand_in("a_vector_kernel_on_every_device", &settings) {
        return;
    }
    assert_eq!(CudaContext::device_count().unwrap(), 3);
    for device in 0..3 {
        assert!(is_axpy(&axpy(device, 1000).unwrap()));
    }
    assert_eq!(code(axpy(3, 10)), sys::CUresult::CUDA_ERROR_INVALID_DEVICE);
    let context = CudaContext::new(1).unwrap();
    assert_eq!(context.compute_capability().unwrap(), (8, 6));
    assert_eq!(context.total_mem().unwrap(), 1 << 30);
    assert!(context.name().unwrap().starts_with("keops-sim"));
    assert_eq!(Control::open().leaks(), "");
}

#[test]
fn data_moves_between_devices_and_events_order_streams() {
    if !on_stand_in(
        "data_moves_between_devices_and_events_order_streams",
        &[("KEOPS_SIM_DEVICES", "2")],
    ) {
        return;
    }
    let contexts: Vec<Arc<CudaContext>> = (0..2).map(|n| CudaContext::new(n).unwrap()).collect();
    let first = contexts[0].new_stream().unwrap();
    let second = contexts[1].new_stream().unwrap();
    let there = first.clone_htod(&[1f32, 2.0, 3.0]).unwrap();
    let mut here = second.alloc_zeros::<f32>(3).unwrap();
    second.memcpy_dtod(&there, &mut here).unwrap();
    assert_eq!(second.clone_dtoh(&here).unwrap(), [1.0, 2.0, 3.0]);

    // Work of another stream is there after its event, and only then.
    let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
    let start = first.record_event(flags).unwrap();
    let mut data = first.alloc_zeros::<f32>(3).unwrap();
    first.memcpy_htod(&[7f32; 3], &mut data).unwrap();
    let end = first.record_event(flags).unwrap();
    let other = contexts[0].new_stream().unwrap();
    other.wait(&end).unwrap();
    assert_eq!(other.clone_dtoh(&data).unwrap(), [7.0; 3]);
    end.synchronize().unwrap();
    assert!(start.elapsed_ms(&end).unwrap() >= 0.0);
}

#[test]
fn pinned_results_come_late_and_not_into_freed_memory() {
    if !on_stand_in("pinned_results_come_late_and_not_into_freed_memory", &[]) {
        return;
    }
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let data = stream.clone_htod(&[5u32; 4]).unwrap();
    let mut raw = std::ptr::null_mut();
    // SAFETY: the driver's interface, with pointers that live long enough; the buffer is freed too early on purpose.
    unsafe {
        sys::cuMemHostAlloc(&mut raw, 16, 0).result().unwrap();
        let (address, _guard) = cudarc::driver::DevicePtr::device_ptr(&data, &stream);
        sys::cuMemcpyDtoHAsync_v2(raw, address, 16, stream.cu_stream())
            .result()
            .unwrap();
        assert_ne!(*raw.cast::<u32>(), 5, "deferred work ran early");
        stream.synchronize().unwrap();
        assert_eq!(*raw.cast::<u32>(), 5);
        sys::cuMemcpyDtoHAsync_v2(raw, address, 16, stream.cu_stream())
            .result()
            .unwrap();
        sys::cuMemFreeHost(raw).result().unwrap();
    }
    assert_eq!(
        code(stream.synchronize()),
        sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
    );
    assert!(
        Control::open()
            .fault()
            .contains("was freed before the copy ran")
    );
}

#[test]
fn memory_runs_out_as_an_error_and_nothing_leaks() {
    let settings = [("KEOPS_SIM_MEMORY", "6000"), ("KEOPS_SIM_LEAKS", "strict")];
    if !on_stand_in("memory_runs_out_as_an_error_and_nothing_leaks", &settings) {
        return;
    }
    assert_eq!(code(axpy(0, 1000)), sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let control = Control::open();
    assert_eq!(control.leaks(), "");
    assert!(is_axpy(&axpy(0, 700).unwrap()));
    // Memory whose free is still queued counts as free.
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    for _ in 0..100 {
        drop(stream.alloc_zeros::<u8>(4000).unwrap());
    }
    assert_eq!(control.leaks(), "");
}

#[test]
fn a_failure_of_any_call_is_an_error_and_leaks_no_memory() {
    for pools in ["0", "1"] {
        if !on_stand_in(
            "a_failure_of_any_call_is_an_error_and_leaks_no_memory",
            &[("KEOPS_SIM_POOLS", pools)],
        ) {
            continue;
        }
        let control = Control::open();
        control.fail_at(0, 0);
        assert!(is_axpy(&axpy(0, 100).unwrap()));
        let calls = control.calls();
        assert!(calls > 30, "{calls}");
        for n in 1..=calls {
            control.fail_at(n, 999);
            let result = axpy(0, 100);
            control.fail_at(0, 0);
            // A failure while the last things are released may come too late for the result.
            if let Ok(values) = &result {
                assert!(is_axpy(values), "call {n}");
                assert!(
                    n > calls / 2,
                    "call {n} of {calls} failed and nobody noticed"
                );
            }
            assert_eq!(control.leaks(), "", "call {n} of {calls}");
            control.reset();
        }
        control.fail_at(1, 2);
        assert_eq!(code(axpy(0, 100)), sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        return;
    }
}

#[test]
fn a_leak_is_found_at_the_end() {
    if keops_sim::stand_in::is_rerun() {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        std::mem::forget(stream.alloc_zeros::<u8>(1234).unwrap());
        assert!(Control::open().leaks().contains("1234 bytes"));
        return;
    }
    for (setting, status) in [
        ("report", Some(0)),
        ("fail", Some(86)),
        ("strict", Some(86)),
        ("ignore", Some(0)),
    ] {
        let output = rerun(
            "a_leak_is_found_at_the_end",
            &[("KEOPS_SIM_LEAKS", setting)],
        )
        .unwrap();
        assert_eq!(output.status.code(), status, "{setting}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            text.contains("not released: 1234 bytes"),
            setting != "ignore",
            "{text}"
        );
    }
}

#[test]
fn modules_are_refused_with_a_log() {
    if !on_stand_in("modules_are_refused_with_a_log", &[("KEOPS_SIM_CC", "7.5")]) {
        return;
    }
    let context = CudaContext::new(0).unwrap();
    context.bind_to_thread().unwrap();
    let load = |text: &str| context.load_module(Ptx::from_src(text)).map(|_| ());
    load(AXPY).unwrap();
    let newer = AXPY.replace("sm_75", "sm_80");
    assert_eq!(code(load(&newer)), sys::CUresult::CUDA_ERROR_INVALID_PTX);
    let version = AXPY.replace(".version 6.3", ".version 9.0");
    assert_eq!(
        code(load(&version)),
        sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    );
    let broken = AXPY.replace("fma.rn.f32", "fma.f32");
    assert_eq!(code(load(&broken)), sys::CUresult::CUDA_ERROR_INVALID_PTX);
    let module = context.load_module(Ptx::from_src(AXPY)).unwrap();
    assert_eq!(
        code(module.load_function("none").map(|_| ())),
        sys::CUresult::CUDA_ERROR_NOT_FOUND
    );
    for (text, message) in [
        (&newer, "higher than sm_75"),
        (&broken, "line 26: rounding modifier required for `fma`"),
    ] {
        let image = std::ffi::CString::new(text.as_str()).unwrap();
        let mut log = vec![0u8; 512];
        let mut kinds = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [
            log.as_mut_ptr().cast::<std::ffi::c_void>(),
            log.len() as *mut std::ffi::c_void,
        ];
        let mut handle = std::ptr::null_mut();
        // SAFETY: two options with their values, a terminated image, and a place for the handle.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &mut handle,
                image.as_ptr().cast(),
                2,
                kinds.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        assert_eq!(result, sys::CUresult::CUDA_ERROR_INVALID_PTX);
        let log = String::from_utf8_lossy(&log[..values[1] as usize]).into_owned();
        assert!(log.contains(message), "{log}");
    }
}

#[test]
fn a_fault_of_a_kernel_ends_the_context() {
    if !on_stand_in("a_fault_of_a_kernel_ends_the_context", &[]) {
        return;
    }
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let function = context
        .load_module(Ptx::from_src(AXPY))
        .unwrap()
        .load_function("axpy")
        .unwrap();
    let x = stream.clone_htod(&[1f32; 100]).unwrap();
    let mut y = stream.alloc_zeros::<f32>(99).unwrap();
    let mut launch = stream.launch_builder(&function);
    launch.arg(&1f32).arg(&100u32).arg(&x).arg(&mut y);
    // SAFETY: wrong on purpose; the stand-in checks every access.
    unsafe {
        launch.launch(LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (128, 1, 1),
            shared_mem_bytes: 0,
        })
    }
    .unwrap();
    assert_eq!(
        code(stream.synchronize()),
        sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
    );
    assert!(Control::open().fault().contains("in no allocation"));
    assert_eq!(
        code(stream.clone_dtoh(&x)),
        sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
    );
}

#[test]
fn settings_reach_the_interpreter_and_calls_are_traced() {
    if keops_sim::stand_in::is_rerun() {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let function = context
            .load_module(Ptx::from_src(WARP))
            .unwrap()
            .load_function("warp")
            .unwrap();
        let x = stream.clone_htod(&vec![3f32; 1000]).unwrap();
        let sums = stream.alloc_zeros::<u8>(16).unwrap();
        let count = stream.alloc_zeros::<u32>(1).unwrap();
        let mut launch = stream.launch_builder(&function);
        launch.arg(&1000u32).arg(&x).arg(&sums).arg(&count);
        // SAFETY: the parameters are those of the entry.
        unsafe {
            launch.launch(LaunchConfig {
                grid_dim: (2, 1, 1),
                block_dim: (128, 1, 1),
                shared_mem_bytes: 0,
            })
        }
        .unwrap();
        let bytes = stream.clone_dtoh(&sums).unwrap();
        println!("sum {}", f64::from_le_bytes(bytes[8..].try_into().unwrap()));
        return;
    }
    let sum = |settings: &[(&str, &str)]| {
        let output = rerun(
            "settings_reach_the_interpreter_and_calls_are_traced",
            settings,
        )
        .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let value = text
            .lines()
            .find_map(|line| line.split_once("sum "))
            .expect("a sum")
            .1;
        value.parse::<f64>().unwrap()
    };
    let trace = std::env::temp_dir().join(format!("keops-sim-trace-{}", std::process::id()));
    let nearest = sum(&[
        ("KEOPS_SIM_TRACE", trace.to_str().unwrap()),
        ("KEOPS_SIM_ORDER", "reversed"),
    ]);
    let (up, down) = (
        sum(&[("KEOPS_SIM_APPROX", "up")]),
        sum(&[("KEOPS_SIM_APPROX", "down"), ("KEOPS_SIM_DEFER", "0")]),
    );
    assert!(
        down < nearest && nearest < up && up - down < 1e-3,
        "{down} {nearest} {up}"
    );
    let text = std::fs::read_to_string(&trace).unwrap();
    std::fs::remove_file(&trace).unwrap();
    for call in [
        "1 cuInit(0) = 0",
        "cuLaunchKernel(warp, grid 2x1x1, block 128x1x1",
        "ran warp on 2 blocks",
    ] {
        assert!(text.contains(call), "{text}");
    }
    // A setting that is not valid is no default.
    let output = rerun(
        "settings_reach_the_interpreter_and_calls_are_traced",
        &[("KEOPS_SIM_APPROX", "sideways")],
    )
    .unwrap();
    assert_eq!(output.status.code(), Some(86));
}

#[test]
fn without_the_stand_in_there_is_none() {
    // This process was not started on the staged library: nothing that cargo builds may be found as a driver.
    if !keops_sim::stand_in::is_rerun() {
        let path = keops_sim::stand_in::stage().unwrap();
        assert!(path.ends_with("keops-sim"));
        let profile = path.parent().unwrap();
        assert!(!profile.join("libcuda.so").exists() && !profile.join("deps/libcuda.so").exists());
    }
}
