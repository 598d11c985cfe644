//! Const parameters: what is said of wrong formulas, for which the compiler has run at numbers that nobody wrote, and sizes that
//! only the values decide.

use keops_compiler::check::parse_and_check;
use keops_compiler::dimensions::Samples;
use keops_compiler::expand::expand;

/// The messages in the expansion of a macro call.
fn messages(text: &str) -> Vec<String> {
    let expanded = expand(text.parse().expect("tokens")).to_string();
    let mut found = vec![];
    for rest in expanded.split("compile_error ! ").skip(1) {
        let rest = rest.trim_start_matches(['{', '(', ' ']);
        let end = rest.find(['}', ')']).unwrap_or(rest.len());
        // The literal may hold brackets: it ends with a quote before one.
        let end = rest
            .find("\" }")
            .or(rest.find("\")"))
            .map_or(end, |at| at + 1);
        let literal: proc_macro2::Literal = rest[..end].trim().parse().expect("a literal");
        let text = literal
            .to_string()
            .replace("\\n", "\n")
            .replace("\\\"", "\"");
        found.push(text.trim_matches('"').to_owned());
    }
    found
}

/// Whether a text has a number that depends on a sample, other than as one of a place: `at D = 67`, `a 134 at D = 67`.
fn shows_a_sample(text: &str, samples: &Samples) -> bool {
    let written = |n: usize| (0..samples.len()).any(|k| samples.values(k).contains(&n));
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse::<usize>().ok())
        .any(|n| written(n) || n > 5000)
}

#[test]
fn messages_name_the_parameters() {
    for (text, expected) in [
        (
            "fn f<const D: usize>(x_i: [f64; D], y_j: [f64; D]) = sum_j concat(x_i, y_j) * outer(x_i, y_j);",
            "`*` needs values of the same shape, or a scalar\n  `concat(x_i, y_j)` is a vector of dimension 2 * D\n  `outer(x_i, y_j)` is a D×D matrix",
        ),
        (
            "fn f<const D: usize, const E: usize>(x_i: [f64; D], y_j: [f64; E]) = sum_j concat(x_i, y_j) * concat(x_i, [1.0]);",
            "`*` needs values of the same shape, or a scalar\n  `concat(x_i, y_j)` is a vector of dimension D + E\n  `concat(x_i, [1.0])` is a vector of dimension D + 1",
        ),
        (
            "fn f<const D: usize, const E: usize>(a: [[f64; D]; E], x_i: [f64; E]) = sum_i matvec(a, x_i / D);",
            "`matvec` needs a vector of dimension D\n  `x_i / D` is a vector of dimension E",
        ),
        (
            "fn f<const D: usize>(x_i: [f64; D], y_j: [f64; D]) = sum_j 1.0 + softdtw_sqdist(x_i, y_j, 1.0);",
            "`softdtw_sqdist` needs a shorter series (the lengths' product may be 100)\n  `x_i` is a vector of dimension D",
        ),
        (
            "fn f<const D: usize>(a: [[f64; D]; D], x_i: [[f64; D]; D]) = sum_i divergence(matmul(a, x_i), x_i);",
            "this is written out number by number, so there is no code for all values of its const parameters\nhelp: write a number for the dimension",
        ),
    ] {
        let found = messages(text);
        let samples = Samples::of(&text.parse().expect("tokens"));
        assert!(
            found.iter().all(|m| !shows_a_sample(m, &samples)),
            "{found:?}"
        );
        assert_eq!(found, [expected], "{text}");
    }
}

#[test]
fn what_holds_at_some_values_only_is_said_of_these() {
    // Which of two dimensions is larger.
    let found = messages(
        "fn f<const D: usize, const E: usize>(x_i: [f64; D], y_j: [f64; E]) = sum_j x_i[..E] * sum(y_j);",
    );
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("at D = ") && found[0].contains("E = "),
        "{found:?}"
    );
    // A dimension of degree three.
    let found = messages(
        "fn f<const D: usize>(a: [[f64; D]; D], x_i: [f64; D], y_j: [f64; D]) = sum_j sum(kron(a, [x_i], [D, D], [1, D])) * y_j;",
    );
    assert_eq!(
        found,
        [
            "at D = 109: `kron` needs a smaller value (the result may have at most 1048576 numbers)\n  `a` is a 109×109 matrix"
        ]
    );
    let found = messages(
        "fn f<const D: usize>(x_i: [f64; D], y_j: [f64; D]) = sum_j x_i * pow(y_j[0], D);",
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].contains(" at D = "), "{found:?}");
}

#[test]
fn sizes_are_limited_where_the_parameters_have_values() {
    // A product of matrices is D × D numbers in memory for each pair.
    let formula = "fn f<const D: usize>(a: [[f64; D]; D], x_i: [f64; D], y_j: [f64; D]) = sum_j sum(square(matmul(a, outer(x_i, y_j))));";
    let expanded = expand(formula.parse().expect("tokens")).to_string();
    assert!(
        !expanded.contains("compile_error"),
        "{:?}",
        messages(formula)
    );
    assert!(
        expanded.contains("(D * D) <= 4096usize"),
        "no limit where it is called"
    );
    assert!(
        expanded.contains(
            "f: it takes (D * D) numbers in memory for each pair, but at most 4096 are possible"
        ),
        "no reason"
    );
    let listed = |values: &str| messages(&format!("#[keops(D = {values})] {formula}"));
    assert_eq!(listed("[2, 20]"), [""; 0]);
    assert_eq!(
        listed("[2, 65]"),
        [
            "`f` at D = 65: it takes 4225 numbers in memory for each pair, but at most 4096 are possible"
        ]
    );
    // More numbers than a value may have at a sample, but not at D = 10.
    let formula = "fn f<const D: usize>(x_i: [f64; D], y_j: [f64; D]) = sum_j jacobian(concat(x_i * norm2(y_j), x_i | y_j, x_i), x_i);";
    let expanded = expand(formula.parse().expect("tokens")).to_string();
    assert!(
        !expanded.contains("compile_error"),
        "{:?}",
        messages(formula)
    );
    assert!(expanded.contains("numbers for one value, but at most 65536 are possible"));
    let (_, errors) = parse_and_check(formula.parse().expect("tokens"));
    assert!(errors.is_empty());
    // What does not depend on a parameter is too large at all values.
    let found = messages(
        "fn f<const D: usize>(x_i: [[f64; 300]; 300], y_j: [f64; D]) = sum_j sum(x_i) * y_j;",
    );
    assert_eq!(
        found,
        ["`f`: it takes 90000 numbers for a row of `x_i`, but at most 65536 are possible"]
    );
}
