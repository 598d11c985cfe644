//! No input makes the front end panic, hang or overflow the stack.
//!
//! Random damage to the accepted formulas, from a fixed seed; then inputs of extreme depth and length.

use keops_compiler::check::parse_and_check;
use keops_compiler::diagnostics::Diagnostic;
use proc_macro2::{Group, TokenStream, TokenTree};
use std::path::Path;

/// A small generator (xorshift64*): the same cases on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }
}

/// One token deleted, doubled, swapped with another or replaced, at a random depth.
fn damage(stream: TokenStream, pool: &[TokenTree], random: &mut Random) -> TokenStream {
    let mut trees: Vec<TokenTree> = stream.into_iter().collect();
    if trees.is_empty() {
        return pool[random.below(pool.len())].clone().into();
    }
    let (here, other) = (random.below(trees.len()), random.below(trees.len()));
    match &trees[here] {
        TokenTree::Group(group) if random.below(4) > 0 => {
            let inner = damage(group.stream(), pool, random);
            trees[here] = Group::new(group.delimiter(), inner).into();
        }
        _ => match random.below(5) {
            0 => {
                trees.remove(here);
            }
            1 => trees.insert(here, trees[here].clone()),
            2 => trees.swap(here, other),
            3 => trees[here] = pool[random.below(pool.len())].clone(),
            _ => trees.insert(here, pool[random.below(pool.len())].clone()),
        },
    }
    trees.into_iter().collect()
}

fn all_tokens(stream: TokenStream, pool: &mut Vec<TokenTree>) {
    for tree in stream {
        if let TokenTree::Group(group) = &tree {
            all_tokens(group.stream(), pool);
        }
        pool.push(tree);
    }
}

#[test]
fn damaged_formulas_never_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accepted");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    paths.sort();
    let sources: Vec<TokenStream> = paths
        .iter()
        .map(|p| std::fs::read_to_string(p).unwrap().parse().unwrap())
        .collect();
    let mut pool = Vec::new();
    for source in &sources {
        all_tokens(source.clone(), &mut pool);
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut accepted = 0;
    for case in 0..6000 {
        let mut source = sources[case % sources.len()].clone();
        for _ in 0..=random.below(3) {
            source = damage(source, &pool, &mut random);
        }
        let (program, errors) = parse_and_check(source);
        if errors.is_empty() {
            accepted += 1;
            assert!(program.broken.is_empty());
        } else {
            errors.to_tokens(program.form);
        }
    }
    // Most damage is a mistake, some is not: neither extreme would test much.
    assert!((20..3000).contains(&accepted), "{accepted} were accepted");
}

/// The messages for a formula of one variable per index.
fn messages(formula: &str) -> Vec<String> {
    let source = format!("fn f(x_i: f32, y_j: f32) = {formula};");
    let (_, errors) = parse_and_check(source.parse().unwrap());
    errors.iter().map(Diagnostic::message).collect()
}

#[test]
fn depth_is_limited() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| {
        format!(
            "sum_j x_i * y_j * {}{inner}{}",
            open.repeat(n),
            close.repeat(n)
        )
    };
    for n in [1000, 20_000] {
        let cases = [
            deep("(", "y_j", ")", n),
            deep("[", "y_j", "]", n),
            deep("{", "y_j", "}", n),
            deep("exp(", "y_j", ")", n),
            deep("-", "y_j", "", n),
            deep("", "y_j", "[0]", n),
            deep("", "y_j", " + y_j", n),
            deep("", "y_j", " - y_j * x_i", n),
            deep("sum_j ", "y_j", "", n),
            deep("unknown_j ", "y_j", "", n),
            deep("if x_i < y_j { y_j } else ", "{ y_j }", "", n),
            deep("if ", "x_i < y_j", " { y_j } else { y_j }", n),
            deep("{ let a = x_i; ", "a", " }", n),
        ];
        for case in cases {
            let messages = messages(&case);
            let start: String = case.chars().take(60).collect();
            assert_eq!(messages.len(), 1, "{start}: {messages:?}");
            let limit = messages[0].contains("levels deep") || messages[0].contains("tokens");
            assert!(limit, "{start}: {messages:?}");
        }
    }
    let ty = format!(
        "fn f(x_i: {}f32{}) = x_i;",
        "[".repeat(1000),
        "; 1]".repeat(1000)
    );
    let (_, errors) = parse_and_check(ty.parse().unwrap());
    assert_eq!(errors.len(), 1);
}

#[test]
fn nesting_up_to_the_limit_is_accepted() {
    for n in [10, 60] {
        let nested = format!("sum_j x_i * {}y_j{}", "(-".repeat(n), ")".repeat(n));
        assert_eq!(messages(&nested), Vec::<String>::new());
    }
    let long = format!("sum_j x_i * y_j{}", " + x_i * y_j".repeat(200));
    assert_eq!(messages(&long), Vec::<String>::new());
    assert_eq!(messages(&chain(500)), Vec::<String>::new());
}

/// A chain of products, each named with `let`.
fn chain(n: usize) -> String {
    let lets: String = (0..n)
        .map(|k| format!("let a{} = a{k} * y_j;", k + 1))
        .collect();
    format!("{{ let a0 = x_i; {lets} sum_j a{n} }}")
}

#[test]
fn chains_of_lets_are_limited() {
    for n in [600, 4000] {
        let messages = messages(&chain(n));
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].contains("depend on each other"), "{messages:?}");
    }
}

#[test]
fn lexical_oddities_are_errors() {
    let cases = [
        "sum_j x_i * y_j * 'a'",
        "sum_j x_i * y_j * 99999999999999999999999999[0]",
        "sum_j x_i * pow(y_j, 99999999999999999999999999)",
        "sum_j x_i * y_j * 0xffffffffffffffffffffffff",
        "sum_j x_i * y_j * r#type",
        "sum_j x_i * y_j * @",
        "sum_j x_i * y_j $ 2",
        "sum_j::<99999999999999999999> x_i * y_j",
        "sum_j:: x_i * y_j",
        "kmin_j::<-1> x_i * y_j",
        "sum_j x_i * y_j[-1]",
        "sum_j x_i * y_j[0..1..2]",
        "sum_j(,)",
        "sum_j(x_i,,y_j)",
        "exp::",
        "{ let }",
        "{ let x = }",
        "if",
        "if x_i",
        "if let x = y_j { x } else { x }",
    ];
    for case in cases {
        assert!(!messages(case).is_empty(), "{case} is accepted");
    }
}
