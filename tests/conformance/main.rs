//! Conformance: what `keops!` computes, on every instruction set of this machine and on a simulated GPU, against the f64
//! reference interpreter. With `KEOPS_REQUIRE_GPU=1` it runs on CUDA device 0 and nowhere else.
//!
//! Each [`case!`](harness) states a formula once. It becomes an item for the kernels and, as text, a graph for the
//! interpreter, which shares nothing with the kernels but the parser; value and all gradients are compared at f32 and f64.

#[macro_use]
mod harness;

mod dimensions;
mod language;
mod reductions;
mod semantics;

/// All other tests once more, on the GPU that `keops-sim` simulates.
#[test]
fn all_of_it_on_the_simulated_gpu() {
    if std::env::var_os("KEOPS_REQUIRE_GPU").is_some() {
        return;
    }
    let output = keops_sim::stand_in::run_again(&[], &[("KEOPS_REQUIRE_GPU", "1")])
        .unwrap_or_else(|reason| panic!("{reason}"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    // The program has said how much it ran.
    assert!(said.contains("test result: ok."), "{said}");
}
