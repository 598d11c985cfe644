//! Settings from the environment, read once.
use crate::code::Code;
use keops_sim::{Bias, Options, Order};
use std::path::PathBuf;

/// Which call fails, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The function; none: all count.
    pub(crate) function: Option<String>,
    /// From 1 on.
    pub(crate) at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaks {
    Ignore,
    Report,
    /// Memory that leaks is an exit status.
    Fail,
    /// Everything that leaks is.
    Strict,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) devices: u32,
    /// Bytes of each device.
    pub(crate) memory: u64,
    /// Compute capability.
    pub(crate) capability: (u32, u32),
    pub(crate) multiprocessors: u32,
    pub(crate) deferred: bool,
    pub(crate) memory_pools: bool,
    pub(crate) failure: Option<Failure>,
    pub(crate) failure_code: Code,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) leaks: Leaks,
    pub(crate) options: Options,
}

/// A setting; an empty one is none.
fn get(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A malformed setting must not pass for a default: it is reported, and the caller learns of it by the exit.
fn refuse(name: &str, value: &str) -> ! {
    eprintln!("keops-sim: {name}={value} is not valid");
    std::process::exit(86)
}

fn parsed<T>(name: &str, default: T, parse: impl Fn(&str) -> Option<T>) -> T {
    match get(name) {
        None => default,
        Some(value) => parse(&value).unwrap_or_else(|| refuse(name, &value)),
    }
}

/// `1024`, `64K`, `16M`, `2G`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 10),
        'M' => (&text[..text.len() - 1], 20),
        'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// `7`, or `cuMemAllocAsync:2`.
fn failure(text: &str) -> Option<Option<Failure>> {
    let (function, number) = match text.split_once(':') {
        Some((function, number)) => (Some(function.to_owned()), number),
        None => (None, text),
    };
    let at = number.parse().ok()?;
    Some((at > 0).then_some(Failure { function, at }))
}

impl Settings {
    pub(crate) fn from_environment() -> Settings {
        let capability = parsed("KEOPS_SIM_CC", (9, 0), |text| {
            let (major, minor) = text.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        let shared_limit = shared_per_block(capability);
        let options = Options {
            bias: parsed("KEOPS_SIM_APPROX", Bias::Nearest, |text| {
                match text.split_once(':') {
                    Some(("hashed", seed)) => seed.parse().ok().map(Bias::Hashed),
                    None => match text {
                        "nearest" => Some(Bias::Nearest),
                        "up" => Some(Bias::Up),
                        "down" => Some(Bias::Down),
                        "hashed" => Some(Bias::Hashed(0)),
                        _ => None,
                    },
                    _ => None,
                }
            }),
            threads: Order::Forward,
            blocks: Order::Forward,
            races: parsed("KEOPS_SIM_RACES", true, flag),
            uninitialized: parsed("KEOPS_SIM_UNINITIALIZED", true, flag),
            budget: parsed("KEOPS_SIM_BUDGET", Options::default().budget, |text| {
                text.parse().ok()
            }),
            shared_limit,
        };
        let (threads, blocks) = parsed(
            "KEOPS_SIM_ORDER",
            (Order::Forward, Order::Forward),
            |text| match text {
                "forward" => Some((Order::Forward, Order::Forward)),
                "reversed" => Some((Order::Reversed, Order::Reversed)),
                _ => None,
            },
        );
        Settings {
            devices: parsed("KEOPS_SIM_DEVICES", 1, |text| {
                text.parse().ok().filter(|n| *n <= 64)
            }),
            memory: parsed("KEOPS_SIM_MEMORY", 1 << 30, bytes),
            capability,
            multiprocessors: parsed("KEOPS_SIM_SMS", 16, |text| {
                text.parse().ok().filter(|n| *n > 0)
            }),
            deferred: parsed("KEOPS_SIM_DEFER", true, flag),
            memory_pools: parsed("KEOPS_SIM_POOLS", true, flag),
            failure: parsed("KEOPS_SIM_FAIL_AT", None, failure),
            failure_code: parsed("KEOPS_SIM_FAIL_CODE", Code::UNKNOWN, |text| {
                text.parse().ok().map(Code)
            }),
            trace: get("KEOPS_SIM_TRACE").map(PathBuf::from),
            leaks: parsed("KEOPS_SIM_LEAKS", Leaks::Report, |text| match text {
                "ignore" => Some(Leaks::Ignore),
                "report" => Some(Leaks::Report),
                "fail" => Some(Leaks::Fail),
                "strict" => Some(Leaks::Strict),
                _ => None,
            }),
            options: Options {
                threads,
                blocks,
                ..options
            },
        }
    }
}

/// Most shared memory of a block that asks for more than 48 KiB, by compute capability.
pub(crate) fn shared_per_block((major, minor): (u32, u32)) -> u32 {
    1024 * match (major, minor) {
        (..7, _) => 48,
        (7, 5) => 64,
        (7, _) => 96,
        (8, 0 | 7) => 163,
        (8, _) | (12, _) => 99,
        _ => 227,
    }
}
