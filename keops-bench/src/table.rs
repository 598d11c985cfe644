//! `keops-bench table`: JSON lines of any system side by side, with ratios and their geometric means.
//!
//! Lines are flat objects, as every script of this protocol prints them; what is not understood is skipped and counted.

use std::collections::{BTreeMap, BTreeSet};

/// One value per case and system: 10⁹ pairs per second, the last line of several.
type Rates = BTreeMap<Key, BTreeMap<String, f64>>;

/// case, dtype, D, M, N
type Key = (String, String, u64, u64, u64);

/// Ours, as the lines name it.
const OURS: &str = "keops-rs";

/// Prints the table of the files' lines.
pub(crate) fn print(files: &[String]) -> Result<(), String> {
    if files.is_empty() {
        return Err("table needs files of JSON lines".to_owned());
    }
    let (mut rates, mut skipped) = (Rates::new(), 0);
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match parse(line) {
                Some((key, system, rate)) => {
                    rates.entry(key).or_default().insert(system, rate);
                }
                None => skipped += 1,
            }
        }
    }
    let systems: BTreeSet<&String> = rates
        .values()
        .flat_map(BTreeMap::keys)
        .filter(|s| *s != OURS)
        .collect();
    print!(
        "{:<16} {:<7} {:>4} {:>8} {:>8} {:>9}",
        "case", "dtype", "D", "M", "N", OURS
    );
    systems.iter().for_each(|s| print!(" {s:>17}"));
    println!(" {:>10}", "best peer");
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((case, dtype, d, m, n), row) in &rates {
        let ours = row.get(OURS).copied();
        let cell = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |r| format!("{r:.3}"));
        print!(
            "{case:<16} {dtype:<7} {d:>4} {m:>8} {n:>8} {:>9}",
            cell(ours)
        );
        let mut best: f64 = 0.0;
        for system in &systems {
            let rate = row.get(*system).copied();
            print!(" {:>17}", cell(rate));
            if let (Some(ours), Some(rate)) = (ours, rate) {
                ratios.entry(system).or_default().push(ours / rate);
                // A ceiling is no peer, and neither is a loop that everybody can write, nor we ourselves (`keops-rs-host`).
                let is_peer = !system.starts_with("roofline") && !system.starts_with(OURS);
                if is_peer && *system != "plain loop" {
                    best = best.max(rate);
                }
            }
        }
        match ours {
            Some(ours) if best > 0.0 => {
                ratios.entry("best peer").or_default().push(ours / best);
                println!(" {:>9.2}x", ours / best);
            }
            _ => println!(" {:>10}", "-"),
        }
    }
    println!(
        "\n{OURS} / system, geometric mean (smallest, largest) over the cases that both have:"
    );
    for (system, values) in &ratios {
        let mean = (values.iter().map(|r| r.ln()).sum::<f64>() / values.len() as f64).exp();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        println!(
            "{system:<18} {mean:>7.2}x ({least:.2}, {most:.2}) of {}",
            values.len()
        );
    }
    if skipped > 0 {
        println!("{skipped} lines have no rate");
    }
    Ok(())
}

/// Key, system and rate of a line, if it has them.
fn parse(line: &str) -> Option<(Key, String, f64)> {
    let fields = object(line)?;
    let number = |name: &str| fields.get(name)?.parse::<f64>().ok();
    let whole = |name: &str| number(name).map(|x| x as u64);
    let key = (
        fields.get("case")?.clone(),
        fields.get("dtype")?.clone(),
        whole("D")?,
        whole("M")?,
        whole("N")?,
    );
    Some((key, fields.get("system")?.clone(), number("gpairs_per_s")?))
}

/// The fields of a flat JSON object without escapes, as text.
fn object(line: &str) -> Option<BTreeMap<String, String>> {
    let inside = line.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut fields = BTreeMap::new();
    for field in inside.split(", \"") {
        let (name, value) = field.split_once(':')?;
        let clean = |s: &str| s.trim().trim_matches('"').to_owned();
        fields.insert(clean(name), clean(value));
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_protocol_are_read() {
        let line = r#"{"system": "numpy", "case": "gauss", "dtype": "float32", "M": 10, "N": 20, "D": 3, "seconds": 1e-3, "gpairs_per_s": 0.25}"#;
        let key = ("gauss".to_owned(), "float32".to_owned(), 3, 10, 20);
        assert_eq!(parse(line), Some((key, "numpy".to_owned(), 0.25)));
    }

    #[test]
    fn other_lines_are_not() {
        for line in [
            "",
            "clock 3.0 GHz",
            r#"{"case": "gauss"}"#,
            r#"{"gpairs_per_s": null}"#,
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
