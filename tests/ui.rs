//! What rustc shows for mistakes in formulas. One mistake a file, named after it; `TRYBUILD=overwrite` rewrites the
//! expectations. The exact places of all messages are pinned in `keops-compiler/tests/rejected`.

#[test]
fn mistakes_are_shown_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
