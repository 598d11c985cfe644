//! Tables on standard output, for every task.

/// A table with aligned columns: the first to the left, the others to the right.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |c: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(c))
            .map(|cell| cell.chars().count());
        cells.chain([head[c].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).enumerate();
        let cells = cells.map(|(c, (cell, &w))| {
            if c == 0 {
                format!("{cell:<w$}")
            } else {
                format!("{cell:>w$}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let rule: Vec<String> = widths.iter().map(|&w| "-".repeat(w)).collect();
    let mut out = line(head.to_vec());
    out += &line(rule.iter().map(String::as_str).collect());
    for row in rows {
        out += &line(row.iter().map(String::as_str).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [
            vec!["gauss".to_owned(), "48".to_owned()],
            vec!["a".to_owned(), "128".to_owned()],
        ];
        assert_eq!(
            table(&["entry", "registers"], &rows),
            "entry  registers\n-----  ---------\ngauss         48\na            128\n"
        );
    }
}
