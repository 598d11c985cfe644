//! Single instructions, from their text to their result, against Rust's own arithmetic.

use keops_sim::{ErrorKind, Memory, Module, Options};

/// Declarations of registers that the snippets use: `%a`, `%b`, `%c` hold the arguments and `%d` the result, each followed
/// by its width and kind.
const REGISTERS: &str = "
    .reg .b64 %a, %b, %c, %d, %out;
    .reg .b32 %aw, %bw, %cw, %dw, %ew;
    .reg .b16 %ah, %bh, %dh;
    .reg .f32 %af, %bf, %cf, %df;
    .reg .f64 %ad, %bd, %cd, %dd;
    .reg .pred %p, %q, %r;
";

fn kernel(body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry one(.param .u64 out, .param .u64 a, .param .u64 b, \
         .param .u64 c)\n{{{REGISTERS}
    ld.param.u64 %out, [out];
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %c, [c];
    cvt.u32.u64 %aw, %a;
    cvt.u32.u64 %bw, %b;
    cvt.u32.u64 %cw, %c;
    cvt.u16.u64 %ah, %a;
    cvt.u16.u64 %bh, %b;
    mov.b32 %af, %aw;
    mov.b32 %bf, %bw;
    mov.b32 %cf, %cw;
    mov.b64 %ad, %a;
    mov.b64 %bd, %b;
    mov.b64 %cd, %c;
    {body}
    st.global.u64 [%out], %d;
    ret;\n}}\n"
    )
}

/// Runs a snippet that leaves its result in `%d`.
fn run(body: &str, a: u64, b: u64, c: u64) -> u64 {
    let module = Module::parse(&kernel(body)).unwrap_or_else(|error| panic!("{body}: {error}"));
    let mut memory = Memory::new(1 << 16);
    let out = memory.allocate(8).unwrap();
    let params: Vec<u8> = [out, a, b, c]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    module
        .launch(
            &mut memory,
            "one",
            [1; 3],
            [1; 3],
            0,
            &params,
            &Options::default(),
        )
        .unwrap_or_else(|error| panic!("{body}: {error}"));
    let mut bytes = [0; 8];
    memory.read(out, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// A 32-bit result.
fn word(instruction: &str, a: u64, b: u64, c: u64) -> u32 {
    run(&format!("{instruction} cvt.u64.u32 %d, %dw;"), a, b, c) as u32
}

/// A predicate.
fn holds(instruction: &str, a: u64, b: u64, c: u64) -> bool {
    run(
        &format!("setp.ne.u32 %q, %cw, 0; {instruction} selp.b64 %d, 1, 0, %p;"),
        a,
        b,
        c,
    ) == 1
}

fn single(instruction: &str, a: f32, b: f32, c: f32) -> f32 {
    let bits = |x: f32| u64::from(x.to_bits());
    let body = format!("{instruction} mov.b32 %dw, %df; cvt.u64.u32 %d, %dw;");
    f32::from_bits(run(&body, bits(a), bits(b), bits(c)) as u32)
}

fn double(instruction: &str, a: f64, b: f64, c: f64) -> f64 {
    let body = format!("{instruction} mov.b64 %d, %dd;");
    f64::from_bits(run(&body, a.to_bits(), b.to_bits(), c.to_bits()))
}

#[test]
fn integers() {
    let (a, b, c) = (0x8765_4321u32, 0xffff_fff3u32, 7u32);
    let (x, y, z) = (u64::from(a), u64::from(b), u64::from(c));
    let (sa, sb) = (a as i32, b as i32);
    for (instruction, result) in [
        ("add.u32 %dw, %aw, %bw;", a.wrapping_add(b)),
        ("sub.s32 %dw, %aw, %bw;", a.wrapping_sub(b)),
        ("mul.lo.s32 %dw, %aw, %bw;", a.wrapping_mul(b)),
        ("mul.hi.u32 %dw, %aw, %bw;", ((x * y) >> 32) as u32),
        (
            "mul.hi.s32 %dw, %aw, %bw;",
            ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
        ),
        (
            "mad.lo.u32 %dw, %aw, %bw, %cw;",
            a.wrapping_mul(b).wrapping_add(c),
        ),
        (
            "mad.hi.u32 %dw, %aw, %bw, %cw;",
            (((x * y) >> 32) as u32).wrapping_add(c),
        ),
        ("div.u32 %dw, %aw, %cw;", a / c),
        ("div.s32 %dw, %aw, %bw;", (sa / sb) as u32),
        ("rem.s32 %dw, %aw, %cw;", (sa % 7) as u32),
        ("min.s32 %dw, %aw, %cw;", a),
        ("min.u32 %dw, %aw, %cw;", c),
        ("max.s32 %dw, %aw, %bw;", b),
        ("neg.s32 %dw, %aw;", a.wrapping_neg()),
        ("abs.s32 %dw, %bw;", 13),
        ("and.b32 %dw, %aw, %bw;", a & b),
        ("or.b32 %dw, %aw, 0xff;", a | 0xff),
        ("xor.b32 %dw, %aw, -1;", !a),
        ("not.b32 %dw, %aw;", !a),
        ("shl.b32 %dw, %aw, %cw;", a << 7),
        ("shl.b32 %dw, %aw, 32;", 0),
        ("shr.u32 %dw, %aw, %cw;", a >> 7),
        ("shr.s32 %dw, %aw, 33;", u32::MAX),
        ("bfe.u32 %dw, %aw, 8, 8;", 0x43),
        ("bfi.b32 %dw, %cw, %aw, 4, 4;", 0x8765_4371),
        ("popc.b32 %dw, %aw;", a.count_ones()),
        ("clz.b32 %dw, %cw;", 29),
        ("brev.b32 %dw, %aw;", a.reverse_bits()),
        ("prmt.b32 %dw, %aw, %bw, 0x0123;", a.swap_bytes()),
        ("lop3.b32 %dw, %aw, %bw, %cw, 0x96;", a ^ b ^ c),
        ("shf.l.wrap.b32 %dw, %aw, %bw, %cw;", b << 7 | a >> 25),
        ("shf.r.clamp.b32 %dw, %aw, %bw, %cw;", a >> 7 | b << 25),
        ("sad.u32 %dw, %aw, %bw, %cw;", a.abs_diff(b) + 7),
        ("add.sat.s32 %dw, %aw, 0x80000001;", 0x8000_0000),
        ("popc.b64 %dw, %b;", 30),
        ("cvt.u32.u16 %dw, %ah;", 0x4321),
        ("cvt.s32.s8 %dw, %b;", b),
        ("cvt.sat.u8.s32 %dw, %bw;", 0),
        ("cvt.u32.u64 %dw, %a;", a),
        (
            "{ .reg .b16 %l, %h; mov.b32 {%l, %h}, %aw; mov.b32 %dw, {%h, %l}; }",
            a.rotate_left(16),
        ),
        ("slct.u32.s32 %dw, %aw, %cw, %bw;", c),
        ("set.lt.u32.s32 %dw, %aw, %cw;", u32::MAX),
    ] {
        assert_eq!(word(instruction, x, y, z), result, "{instruction}");
    }
    for (instruction, result) in [
        ("mul.wide.u32 %d, %aw, %bw;", x * y),
        (
            "mul.wide.s32 %d, %aw, %bw;",
            (i64::from(sa) * i64::from(sb)) as u64,
        ),
        (
            "mad.wide.s32 %d, %aw, %cw, %b;",
            (i64::from(sa) * 7).wrapping_add(y as i64) as u64,
        ),
        ("mul.hi.u64 %d, %a, -1;", x - 1),
        ("cvt.s64.s32 %d, %aw;", sa as i64 as u64),
        ("cvt.u64.u32 %d, %aw;", x),
        ("mov.b64 %d, {%aw, %bw};", y << 32 | x),
        ("shl.b64 %d, %a, 32;", x << 32),
        ("bfe.s64 %d, %a, 28, 4;", (-8i64) as u64),
        ("cnot.b64 %d, %c;", 0),
    ] {
        assert_eq!(run(instruction, x, y, z), result, "{instruction}");
    }
}

#[test]
fn comparisons() {
    let minus = u64::from(-1i32 as u32);
    for (instruction, result) in [
        ("setp.lt.s32 %p, %aw, %bw;", true),
        ("setp.lt.u32 %p, %aw, %bw;", false),
        ("setp.hi.u32 %p, %aw, %bw;", true),
        ("setp.ne.b32 %p, %aw, %bw;", true),
        ("setp.eq.s64 %p, %b, 3;", true),
        ("setp.lt.and.s32 %p, %aw, %bw, %q;", false),
        ("setp.lt.or.s32 %p, %aw, %bw, !%q;", true),
        ("setp.gt.xor.s32 %p|%r, %aw, %bw, !%q;", true),
        ("setp.gt.and.s32 %r|%p, %aw, %bw, !%q;", true),
        ("setp.lt.s32 %r|%p, %aw, %bw;", false),
        ("not.pred %p, %q;", true),
        ("mov.pred %p, %q;", false),
        ("mov.pred %p, 0;", false),
        ("mov.pred %p, -1;", true),
        ("setp.lt.s32 %p, %aw, %bw; and.pred %p, %p, -1;", true),
        ("setp.lt.s32 %p, %aw, %bw; and.pred %p, %p, %q;", false),
    ] {
        assert_eq!(holds(instruction, minus, 3, 0), result, "{instruction}");
    }
    let bits = |x: f32| u64::from(x.to_bits());
    for (name, results) in [
        ("lt", [true, false, false, false]),
        ("le", [true, true, false, false]),
        ("gt", [false, false, true, false]),
        ("ne", [true, false, true, false]),
        ("neu", [true, false, true, true]),
        ("ltu", [true, false, false, true]),
        ("equ", [false, true, false, true]),
        ("geu", [false, true, true, true]),
        ("num", [true, true, true, false]),
        ("nan", [false, false, false, true]),
    ] {
        let pairs = [(1.0f32, 2.0f32), (2.0, 2.0), (3.0, 2.0), (f32::NAN, 2.0)];
        for ((a, b), result) in pairs.into_iter().zip(results) {
            assert_eq!(
                holds(
                    &format!("setp.{name}.f32 %p, %af, %bf;"),
                    bits(a),
                    bits(b),
                    0
                ),
                result,
                "{name} {a} {b}"
            );
            let (a, b) = (f64::from(a).to_bits(), f64::from(b).to_bits());
            assert_eq!(
                holds(&format!("setp.{name}.f64 %p, %ad, %bd;"), a, b, 0),
                result,
                "{name}"
            );
        }
    }
}

#[test]
fn floats() {
    let (a, b, c) = (1.1f32, -2.7f32, 0.3f32);
    for (instruction, result) in [
        ("add.f32 %df, %af, %bf;", a + b),
        ("sub.rn.f32 %df, %af, %bf;", a - b),
        ("mul.f32 %df, %af, 0f40400000;", a * 3.0),
        ("mul.f32 %df, %af, 3.0;", a * 3.0),
        ("fma.rn.f32 %df, %af, %bf, %cf;", a.mul_add(b, c)),
        ("mad.rn.f32 %df, %af, %bf, %cf;", a.mul_add(b, c)),
        ("div.rn.f32 %df, %af, %bf;", a / b),
        ("rcp.rn.f32 %df, %bf;", 1.0 / b),
        ("sqrt.rn.f32 %df, %af;", a.sqrt()),
        ("neg.f32 %df, %bf;", -b),
        ("abs.f32 %df, %bf;", 2.7),
        ("min.f32 %df, %af, %bf;", b),
        ("max.f32 %df, %af, %bf;", a),
        ("copysign.f32 %df, %bf, %af;", -a),
        ("add.sat.f32 %df, %af, %af;", 1.0),
        ("cvt.rni.f32.f32 %df, %bf;", -3.0),
        ("cvt.rzi.f32.f32 %df, %bf;", -2.0),
        ("cvt.rmi.f32.f32 %df, %cf;", 0.0),
        ("cvt.rpi.f32.f32 %df, %cf;", 1.0),
        ("cvt.rn.f32.s32 %df, -16777217;", -16_777_216.0),
        ("cvt.rz.f32.u32 %df, 4294967295;", 4_294_967_040.0),
        ("cvt.sat.f32.f32 %df, %bf;", 0.0),
        (
            "cvt.f64.f32 %dd, %af; add.f64 %dd, %dd, 0d3E70000000000000; cvt.rp.f32.f64 %df, %dd;",
            a.next_up(),
        ),
        ("ex2.approx.f32 %df, %bf;", (f64::from(b).exp2()) as f32),
        ("lg2.approx.f32 %df, %af;", f64::from(a).log2() as f32),
        (
            "rsqrt.approx.f32 %df, %af;",
            (1.0 / f64::from(a).sqrt()) as f32,
        ),
        ("sin.approx.f32 %df, %af;", f64::from(a).sin() as f32),
        ("cos.approx.f32 %df, %af;", f64::from(a).cos() as f32),
        ("tanh.approx.f32 %df, %af;", f64::from(a).tanh() as f32),
        ("div.approx.f32 %df, %af, %bf;", a / b),
        ("div.full.f32 %df, %af, %bf;", a / b),
        ("slct.f32.f32 %df, %af, %cf, %bf;", c),
        (
            "{ .reg .pred %s; setp.lt.f32 %s, %af, %bf; selp.f32 %df, %af, %cf, %s; }",
            c,
        ),
    ] {
        assert_eq!(
            single(instruction, a, b, c).to_bits(),
            result.to_bits(),
            "{instruction}"
        );
    }
    let (a, b, c) = (1.1f64, -2.7f64, 0.3f64);
    for (instruction, result) in [
        ("add.f64 %dd, %ad, %bd;", a + b),
        ("sub.rn.f64 %dd, %ad, %bd;", a - b),
        ("mul.rn.f64 %dd, %ad, %bd;", a * b),
        ("fma.rn.f64 %dd, %ad, %bd, %cd;", a.mul_add(b, c)),
        ("div.rn.f64 %dd, %ad, %bd;", a / b),
        ("rcp.rn.f64 %dd, %bd;", 1.0 / b),
        ("sqrt.rn.f64 %dd, %ad;", a.sqrt()),
        ("min.f64 %dd, %ad, %bd;", b),
        ("max.f64 %dd, %ad, %bd;", a),
        ("neg.f64 %dd, %ad;", -a),
        ("abs.f64 %dd, %bd;", -b),
        ("cvt.rni.f64.f64 %dd, %bd;", -3.0),
        ("cvt.rn.f64.s64 %dd, -5;", -5.0),
        (
            "cvt.rn.f32.f64 %df, %ad; cvt.f64.f32 %dd, %df;",
            f64::from(a as f32),
        ),
    ] {
        assert_eq!(
            double(instruction, a, b, c).to_bits(),
            result.to_bits(),
            "{instruction}"
        );
    }
    let integer =
        |instruction: &str, x: f32| word(instruction, u64::from(x.to_bits()), 0, 0) as i32;
    assert_eq!(integer("cvt.rzi.s32.f32 %dw, %af;", -2.7), -2);
    assert_eq!(integer("cvt.rni.s32.f32 %dw, %af;", 2.5), 2);
    assert_eq!(integer("cvt.rmi.s32.f32 %dw, %af;", -2.1), -3);
    assert_eq!(integer("cvt.rzi.s32.f32 %dw, %af;", 1e20), i32::MAX);
    assert_eq!(integer("cvt.rzi.u32.f32 %dw, %af;", -1.0), 0);
}

#[test]
fn what_does_not_exist_is_refused() {
    for (instruction, message) in [
        ("add.f32 %dd, %af, %bf;", "register of type f64"),
        ("add.rn.u32 %dw, %aw, %bw;", "unexpected modifier `.rn`"),
        ("add.u8 %dw, %aw, %bw;", "does not exist at u8"),
        ("and.u32 %dw, %aw, %bw;", "does not exist at u32"),
        ("shl.u32 %dw, %aw, %bw;", "does not exist at u32"),
        ("mul.u32 %dw, %aw, %bw;", "required"),
        ("mul.wide.u64 %d, %a, %b;", "`.wide` is for"),
        (
            "fma.rn.ftz.f64 %dd, %ad, %bd, %cd;",
            "unexpected modifier `.ftz`",
        ),
        ("fma.rn.u32 %dw, %aw, %bw, %cw;", "floating-point"),
        ("div.f32 %df, %af, %bf;", "rounding modifier required"),
        ("div.approx.f64 %dd, %ad, %bd;", "at f32"),
        ("sqrt.approx.f64 %dd, %ad;", "no such approximation"),
        ("sin.f32 %df, %af;", "`.approx` required"),
        ("lg2.approx.f64 %dd, %ad;", "does not exist at f64"),
        ("setp.lo.s32 %p, %aw, %bw;", "no comparison `.lo`"),
        ("setp.lt.b32 %p, %aw, %bw;", "no comparison `.lt`"),
        (
            "setp.lt.s32 %dw, %aw, %bw;",
            "register of type b32 where pred",
        ),
        ("cvt.s32.f32 %dw, %af;", "rounding modifier required"),
        ("cvt.f32.s32 %df, %aw;", "rounding modifier required"),
        ("cvt.rn.f64.f32 %dd, %af;", "or one too many"),
        ("cvt.b32.u32 %dw, %aw;", "numeric types"),
        ("mov.b32 %d, %a;", "register of type b64"),
        (
            "ld.global.v4.u64 {%a, %b, %c, %d}, [%out];",
            "at most 16 bytes",
        ),
        ("ld.global.v2.u32 {%aw, %bw, %cw}, [%out];", "another size"),
        ("st.const.u32 [%out], %aw;", "cannot be written"),
        ("ld.shared.u32 %dw, [a];", "param memory accessed as shared"),
        (
            "atom.global.min.f32 %df, [%out], %af;",
            "does not exist at f32",
        ),
        ("red.global.cas.b32 [%out], %aw, %bw;", "no such operation"),
        ("shfl.bfly.b32 %dw, %aw, 1, 31;", "`.sync` required"),
        ("bar 0;", "`.sync` required"),
        ("bra %aw;", "needs a label"),
    ] {
        let error = Module::parse(&kernel(instruction))
            .map(|_| ())
            .expect_err(instruction);
        assert_eq!(error.kind, ErrorKind::Illegal, "{instruction}: {error}");
        assert!(error.message.contains(message), "{instruction}: {error}");
    }
    for instruction in [
        "call f, ();",
        "wmma.load.a.sync %aw;",
        "add.cc.u32 %dw, %aw, %bw;",
        "bar.arrive 0, 32;",
        "fma.rz.f64 %dd, %ad, %bd, %cd;",
    ] {
        let error = Module::parse(&kernel(instruction))
            .map(|_| ())
            .expect_err(instruction);
        assert_eq!(error.kind, ErrorKind::Unsupported, "{instruction}: {error}");
    }
}
