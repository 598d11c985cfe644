//! What `#[keops(precise)]` and `#[keops(fast_math)]` do to the kernels of an item and of what is derived from it.

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::{device_code, formulas};
use keops_compiler::item::{Arithmetic, Program};
use keops_compiler::lower::{Operand, Prim, Stmt};

fn program(text: &str) -> Program {
    let (program, errors) = parse_and_check(text.parse().unwrap());
    if let Some(error) = errors.iter().next() {
        panic!("{text}: {}", error.message());
    }
    program
}

/// How often the pair part of each item's first pass has a primitive with operands like these.
fn count(text: &str, counts: impl Fn(Prim, &[Operand]) -> bool) -> Vec<usize> {
    let count = |stmts: &[Stmt]| {
        let is = |stmt: &&Stmt| matches!(stmt, Stmt::Let(_, prim, args) if counts(*prim, args));
        stmts.iter().filter(is).count()
    };
    formulas(&program(text))
        .iter()
        .map(|formula| count(&formula.compile().passes[0].step))
        .collect()
}

/// How often it uses a primitive.
fn uses(text: &str, prim: Prim) -> Vec<usize> {
    count(text, |used, _| used == prim)
}

const GAUSS: &str =
    "fn f(x_i: [f32; 3], y_j: [f32; 3], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;";

#[test]
fn precise_keeps_exp() {
    for (attribute, exp, folded) in [
        ("", 0, 1),
        ("#[keops(precise)]", 1, 0),
        ("#[keops(fast_math)]", 0, 1),
    ] {
        let text = format!("{attribute} {GAUSS}");
        assert_eq!(uses(&text, Prim::Exp), [exp], "{text}");
        let nonpositive = uses(&text, Prim::Exp2SumNonpositive);
        assert_eq!(nonpositive, [folded], "{text}");
    }
}

#[test]
fn derived_items_inherit_or_state() {
    let text = format!(
        "#[keops(precise)] {GAUSS}
         fn inherits = grad(f, x_i);
         #[keops(fast_math)] fn states = grad(f, x_i);
         fn inherits_that = grad(states, b_j);
         fn other(x_i: f32, y_j: f32) = sum_j exp(x_i * y_j);"
    );
    let program = program(&text);
    let stated: Vec<_> = program
        .items
        .iter()
        .map(|i| i.signature.arithmetic)
        .collect();
    let (precise, fast) = (Some(Arithmetic::Precise), Some(Arithmetic::FastMath));
    assert_eq!(stated, [precise, precise, fast, fast, None]);
    let code = device_code(&program);
    let fast: Vec<bool> = code
        .items
        .iter()
        .map(|(_, entries)| entries.iter().all(|e| e.fast_math))
        .collect();
    assert_eq!(fast, [false, false, true, true, false]);
}

#[test]
fn options_may_repeat_and_share_an_attribute() {
    for text in [
        "#[keops(precise, precise,)]",
        "#[keops(precise)] #[inline] #[keops()]",
    ] {
        let program = program(&format!("{text} {GAUSS}"));
        let signature = &program.items[0].signature;
        assert_eq!(signature.arithmetic, Some(Arithmetic::Precise));
        assert!(!signature.attributes.to_string().contains("keops"));
    }
}

/// Multiplications of a pair, with the fused ones left out. A power's coefficient of −1 is none: instructions change signs.
fn products(text: &str) -> usize {
    count(text, |prim, args| match prim {
        Prim::Mul => true,
        Prim::Exp2SumNonpositive => args[1] != Operand::Const(-1.0),
        _ => false,
    })[0]
}

#[test]
fn fast_math_scales_rows_and_not_pairs() {
    // The coefficient, or nothing: squares are primitives of their own.
    assert_eq!(products(GAUSS), 1);
    assert_eq!(products(&format!("#[keops(fast_math)] {GAUSS}")), 0);
    let scaled = |divisor: &str| {
        format!(
            "#[keops(fast_math)] fn f(s: f32, x_i: [f32; 3], y_j: [f32; 3]) = sum_j exp(-sqdist(x_i, y_j) / {divisor});"
        )
    };
    // 2 s² is not negative, so it has a root; s may be.
    assert_eq!(products(&scaled("(2 * s * s)")), 0);
    assert_eq!(products(&scaled("s")), 1);
}

#[test]
fn fast_math_divides_rows_and_not_pairs() {
    let text = "fn f(s: f32, x_i: f32, y_j: f32) = sum_j (x_i - y_j) / s;";
    assert_eq!(uses(text, Prim::Div), [1]);
    assert_eq!(uses(&format!("#[keops(fast_math)] {text}"), Prim::Div), [0]);
}

#[test]
fn expanded_squares_take_one_operation_a_coordinate() {
    let text = "fn f(x_i: [f32; 9], y_j: [f32; 9], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;";
    let expanded = format!("#[keops(expand)] {text} fn g = grad(f, b_j);");
    let cost = |text: &str| -> Vec<usize> {
        let subtractions = count(text, |prim, _| matches!(prim, Prim::Sub | Prim::SqdiffAdd));
        let loops = formulas(&program(text))
            .iter()
            .map(|formula| format!("{:?}", formula.compile().passes[0].step))
            .map(|step| step.matches("SqdiffAdd").count())
            .collect::<Vec<_>>();
        subtractions.iter().zip(loops).map(|(a, b)| a + b).collect()
    };
    assert_ne!(cost(text), [0]);
    assert_eq!(cost(&expanded), [0, 0], "and what is derived from it");
    // Differences that are no row's are not expanded.
    let pair =
        "#[keops(expand)] fn f(x_i: [f32; 9], y_j: [f32; 9]) = sum_j sqnorm2(x_i * y_j - y_j);";
    assert_ne!(cost(pair), [0]);
}
