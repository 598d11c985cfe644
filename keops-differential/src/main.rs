//! `cargo xtask differential [--count N] [--seed S] [--on scalar|vector|optimised|ptx] [--batch B]`: random formulas through compiled
//! kernels or PTX, then how many formulas use what. Without arguments 200 formulas on one lane; what the ways are is at [`On`].
//!
//! `cargo xtask operations`: the errors of all operations, written to `docs/operations.md`.
#![forbid(unsafe_code)]

use keops_differential::{On, Settings, operations, run};
use std::process::ExitCode;

fn settings() -> Result<Settings, String> {
    let mut settings = Settings {
        count: 200,
        seed: 1,
        batch: 0,
        on: On::Scalar,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} of what?"))?;
        let number = || {
            value
                .parse()
                .map_err(|_| format!("{name} {value}: not a number"))
        };
        match name.as_str() {
            "--count" => settings.count = number()?,
            "--seed" => settings.seed = number()?,
            "--batch" => settings.batch = number()?,
            "--on" => {
                settings.on = match value.as_str() {
                    "scalar" => On::Scalar,
                    "vector" => On::Vector,
                    "optimised" => On::Optimised,
                    "ptx" => On::Ptx,
                    _ => {
                        return Err(format!(
                            "--on {value}: not one of scalar, vector, optimised, ptx"
                        ));
                    }
                }
            }
            _ => return Err(format!("no option {name}")),
        }
    }
    if settings.batch == 0 {
        settings.batch = match settings.on {
            On::Scalar | On::Vector => 200,
            On::Optimised => 5,
            On::Ptx => 10,
        };
    }
    Ok(settings)
}

fn main() -> ExitCode {
    let mut show = |line: &str| println!("{line}");
    let result = if std::env::args().nth(1).as_deref() == Some("operations") {
        operations::write_page(&mut show)
    } else {
        settings().and_then(|settings| {
            println!("{settings:?}");
            run(&settings, &mut show).map(|_| ())
        })
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
