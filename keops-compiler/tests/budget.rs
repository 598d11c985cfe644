//! What a formula may take: sizes that are accepted, with their numbers of statements, and what is refused, where.

use keops_compiler::budget::{Excess, MOST_STATEMENTS, of_passes};
use keops_compiler::check::parse_and_check;
use keops_compiler::emit::{Dialect, ValueTypes, kernel};
use keops_compiler::expand::{excess, formulas};
use keops_compiler::function::Function;
use keops_compiler::lower::Stmt;
use keops_compiler::lower::cost::Cost;

fn functions(text: &str) -> Vec<Function> {
    let (program, errors) = parse_and_check(text.parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(messages.is_empty(), "{text}: {messages:?}");
    let formula = formulas(&program).pop().expect("an item");
    assert_eq!(formula.excess, None, "{text}");
    let all: Vec<usize> = (0..formula.inputs.len()).collect();
    vec![formula.compile(), formula.vjp(&all).compile()]
}

fn statements(stmts: &[Stmt]) -> usize {
    let inside = |stmt: &Stmt| match stmt {
        Stmt::Loop(_, _, body) => statements(body),
        _ => 0,
    };
    stmts.iter().map(|stmt| 1 + inside(stmt)).sum()
}

fn longest_step(text: &str) -> usize {
    functions(text)
        .iter()
        .flat_map(|f| {
            assert_eq!(f.excess, None, "{text}");
            f.passes.iter().map(|p| statements(&p.step))
        })
        .max()
        .expect("a pass")
}

/// Code does not grow with the dimension.
#[test]
fn dimensions_are_loops() {
    let sizes = [16, 1000].map(|d| {
        longest_step(&format!(
            "fn f(x_i: [f32; {d}], y_j: [f32; {d}], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;"
        ))
    });
    assert_eq!(sizes[0], sizes[1]);
    assert!(sizes[0] < 40, "{sizes:?}");
    let matrices = longest_step(
        "fn f(a: [[f32; 60]; 60], x_i: [f32; 60], y_j: [f32; 60]) = sum_j tanh(matvec(a, x_i * y_j)) | y_j;",
    );
    assert!(matrices < 60, "{matrices}");
}

/// Nor with the number of products of a contraction, also where no axis is longer than what is written out of a vector.
#[test]
fn contractions_are_loops() {
    let matmul = |n: usize| {
        longest_step(&format!(
            "fn f(a_i: [[f32; {n}]; {n}], b_j: [[f32; {n}]; {n}]) = sum_j matmul(a_i, b_j);"
        ))
    };
    let sizes = [9, 16, 32, 64].map(matmul);
    assert!(sizes.iter().all(|&s| s == sizes[0] && s < 20), "{sizes:?}");
    // Few numbers are written out, and of each a sum.
    assert!(matmul(4) < 4 * 16 + 3 * 16, "{}", matmul(4));
    assert!(matmul(8) < 30, "{}", matmul(8));
    let tensordot = [[4, 6, 8], [8, 8, 8], [4, 8, 12], [8, 16, 32]].map(|[a, b, c]| {
        let n = a * b * c;
        longest_step(&format!(
            "fn f(x_i: [f32; {n}], y_j: [f32; {n}]) = sum_j tensordot(x_i, y_j, [{a}, {b}, {c}], [{c}, {b}, {a}], [1, 2], [1, 0]);"
        ))
    });
    assert!(tensordot.iter().all(|&s| s < 20), "{tensordot:?}");
    let kron = longest_step("fn f(a_i: [[f32; 6]; 6], b_j: [[f32; 6]; 6]) = sum_j kron(a_i, b_j);");
    assert!(kron < 20, "{kron}");
}

/// What a contraction in loops reads again and again is computed once.
#[test]
fn contractions_compute_their_arguments_once() {
    for n in [4, 8, 16, 32] {
        let text = format!(
            "fn f(a_i: [[f32; {n}]; {n}], b_j: [[f32; {n}]; {n}]) = sum_j matmul(exp(a_i * b_j), b_j);"
        );
        let value = &functions(&text)[0].passes[0];
        assert_eq!(Cost::of(value).special, n * n, "{n}");
    }
}

/// Derivatives of any usual order are short.
#[test]
fn third_derivatives_are_short() {
    for (text, most) in [
        (
            "fn f(x_i: [f32; 3], y_j: [f32; 3], t_i: [f32; 3]) = sum_j grad(grad(grad(exp(-sqdist(x_i, y_j)), x_i) | t_i, x_i) | t_i, x_i);",
            120,
        ),
        (
            "fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_j grad(laplacian(exp(-sqdist(x_i, y_j)), x_i), x_i);",
            150,
        ),
        (
            "fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_j exp(-dist(x_i, y_j)); fn g = grad(f, x_i); fn h = grad(g, x_i); fn k = grad(h, y_j);",
            300,
        ),
    ] {
        let found = longest_step(text);
        assert!(found < most, "{text} takes {found} statements");
    }
}

#[test]
fn what_is_too_large_is_refused_at_its_place() {
    let refused = |text: &str| {
        let (program, errors) = parse_and_check(text.parse().expect("tokens"));
        assert!(errors.is_empty(), "{text}");
        let errors = excess(&program);
        let error = errors.iter().next().expect("an error");
        (error.message(), error.region.first.start().column)
    };
    // A product with a matrix of unknowns is derived number by number.
    let (message, column) = refused(
        "fn f(a: [[f32; 200]; 200], x_i: [[f32; 100]; 200]) = sum_i 1.0 + divergence(matmul(a, x_i), x_i);",
    );
    assert!(
        message.starts_with("the formula takes 2") && message.contains("operations"),
        "{message}"
    );
    assert_eq!(column, 65);
    let (message, _) = refused(
        "fn f(a: [[f32; 8]; 8000], x_i: [f32; 8], y_j: [f32; 8]) = sum_j norm2(exp(matvec(a, x_i * y_j)));",
    );
    assert!(
        message.contains("numbers in memory for each pair"),
        "{message}"
    );
}

#[test]
fn limits_are_counted_over_all_passes() {
    let function = &functions("fn f(x_i: f32, y_j: f32) = sum_j exp(x_i * y_j);")[0];
    assert_eq!(of_passes(&function.passes), None);
    let many = vec![function.passes[0].clone(); MOST_STATEMENTS];
    assert!(matches!(of_passes(&many), Some(Excess::Statements(_))));
}

/// What the operation takes is within the budget with all derivatives, and its longest block declares values together.
#[test]
fn the_largest_soft_dtw_is_within_the_budget() {
    let text = |n: usize, m: usize| {
        format!(
            "fn f(x_i: [f32; {n}], y_j: [f32; {m}], g: f32) = sum_j softdtw_sqdist(x_i, y_j, g);"
        )
    };
    assert!(longest_step(&text(10, 10)) > 1000);
    let (_, errors) = parse_and_check(text(10, 11).parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(
        messages.len() == 1 && messages[0].contains("a shorter series"),
        "{messages:?}"
    );
}

/// Each `let` is a scope inside that of the one before, and the compiler recurses over them.
#[test]
fn long_kernels_do_not_nest_thousands_of_scopes() {
    let text = "fn f(x_i: [f32; 10], y_j: [f32; 10], g: f32) = sum_j softdtw_sqdist(x_i, y_j, g);";
    for function in functions(text) {
        for pass in &function.passes {
            let dialect = Dialect {
                kernels: "k",
                copy: "",
                dimensions: &[],
            };
            let rust = kernel(pass, "P", ValueTypes::F32, dialect);
            let mut depths = vec![0usize];
            let mut deepest = 0;
            for line in rust.lines() {
                let last = depths.len() - 1;
                depths[last] += usize::from(line.starts_with("let "));
                deepest = deepest.max(depths.iter().sum());
                for c in line.chars() {
                    match c {
                        '{' => depths.push(0),
                        '}' => drop(depths.pop()),
                        _ => {}
                    }
                }
            }
            assert!(deepest < 200, "{deepest} scopes");
        }
    }
}
