//! Writes the PTX of formulas: `cargo run -p keops-compiler --example ptx -- DIRECTORY FILE…`, where each file holds items as in
//! `keops!`. Each item becomes `DIRECTORY/<item>.ptx`, made by the `rustc` in the path or the one that `RUSTC` names.

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::device_code;
use keops_compiler::ptx;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((directory, files)) = arguments.split_first() else {
        eprintln!("usage: ptx DIRECTORY FILE…");
        return ExitCode::FAILURE;
    };
    for file in files {
        if let Err(message) = write(Path::new(file), Path::new(directory)) {
            eprintln!("{file}: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn write(file: &Path, directory: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let tokens = text.parse().map_err(|error| format!("{error}"))?;
    let (program, errors) = parse_and_check(tokens);
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
