//! Writes the PTX of formulas: `cargo run -p keops-compiler --example ptx -- DIRECTORY FILE…`.
//!
//! A file holds items as in `keops!` or, if it is Rust, the cases `case!(name(i x_i: T, …) = formula)` of the conformance tests.
//! Each item becomes `DIRECTORY/<item>.ptx`, made by the `rustc` in the path or the one that `RUSTC` names.

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::device_code;
use keops_compiler::ptx;
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((directory, files)) = arguments.split_first() else {
        eprintln!("usage: ptx DIRECTORY FILE…");
        return ExitCode::FAILURE;
    };
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let directory = Path::new(directory);
        let threads: Vec<_> = files
            .iter()
            .map(|file| scope.spawn(move || write(Path::new(file), directory)))
            .collect();
        let joined = threads.into_iter().zip(files).map(|(thread, file)| {
            let result = thread.join().unwrap_or_else(|_| Err("panicked".into()));
            result.map_err(|message| format!("{file}: {message}"))
        });
        joined.collect()
    });
    let mut code = ExitCode::SUCCESS;
    for message in results.into_iter().filter_map(Result::err) {
        eprintln!("{message}");
        code = ExitCode::FAILURE;
    }
    code
}

fn write(file: &Path, directory: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let tokens: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
    let calls = if file.extension().is_some_and(|extension| extension == "rs") {
        cases(tokens)
    } else {
        vec![tokens]
    };
    calls
        .into_iter()
        .try_for_each(|call| compile(call, directory))
}

/// Compiles one macro call.
fn compile(call: TokenStream, directory: &Path) -> Result<(), String> {
    let (program, errors) = parse_and_check(call);
    if let Some(error) = errors.iter().next() {
        return Err(error.message());
    }
    let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    let code = device_code(&program);
    let modules = code.split(&ptx::compile_with(&rustc, &code.source)?);
    std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    for ((item, _), module) in code.items.iter().zip(modules) {
        let path = directory.join(format!("{item}.ptx"));
        std::fs::write(&path, module).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Items of one child compiler: many would take long, one each would read the device crate again and again.
const ITEMS: usize = 8;

/// The items of a Rust file's cases, each generic over its value type `T`, as macro calls.
fn cases(file: TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = file.into_iter().collect();
    let mut items: Vec<TokenStream> = vec![];
    for window in tokens.windows(3) {
        if let [
            TokenTree::Ident(name),
            TokenTree::Punct(bang),
            TokenTree::Group(case),
        ] = window
            && name == "case"
            && bang.as_char() == '!'
        {
            items.push(item(case.stream()));
        }
    }
    let calls = items.chunks(ITEMS);
    calls.map(|call| call.iter().cloned().collect()).collect()
}

/// `name(i x_i: T, …) = formula` as `fn name<T>(x_i: T, …) = formula;`
fn item(case: TokenStream) -> TokenStream {
    let word = |text: &str| TokenTree::Ident(Ident::new(text, Span::call_site()));
    let punct = |c| TokenTree::Punct(Punct::new(c, Spacing::Alone));
    let mut tokens = case.into_iter().peekable();
    let mut out = vec![word("fn")];
    while let Some(token) = tokens.next() {
        match token {
            // In front of cases without gradients.
            TokenTree::Ident(ident) if ident == "no" => {
                tokens.next();
            }
            TokenTree::Group(group) if out.len() == 2 => {
                out.extend([punct('<'), word("T"), punct('>')]);
                out.push(TokenTree::Group(Group::new(
                    Delimiter::Parenthesis,
                    variables(group.stream()),
                )));
            }
            token => out.push(token),
        }
    }
    out.push(punct(';'));
    out.into_iter().collect()
}

/// Variables without the letters of their axes in front.
fn variables(variables: TokenStream) -> TokenStream {
    let mut first = true;
    let mut out = vec![];
    for token in variables {
        let is_comma = matches!(&token, TokenTree::Punct(p) if p.as_char() == ',');
        if !first {
            out.push(token);
        }
        first = is_comma;
    }
    out.into_iter().collect()
}
