//! Number literals: value, whether an integer, type suffix.

/// A number as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The text, suffix included.
    pub text: String,
    /// Its value.
    pub value: f64,
    /// Its value if it was written as an integer that fits.
    pub integer: Option<i64>,
    /// The type suffix, `f32` in `2f32`, or "".
    pub suffix: String,
}

/// Reads a literal; `None` if it is not a number (a string, a character).
pub fn read(text: &str) -> Option<Number> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    if let Some(radix) = radix(&digits) {
        let end = digits.find(['i', 'u']).unwrap_or(digits.len());
        let value = i64::from_str_radix(digits.get(2..end)?, radix).ok()?;
        let suffix = digits.get(end..)?.to_string();
        return Some(Number {
            text: text.into(),
            value: value as f64,
            integer: Some(value),
            suffix,
        });
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return None;
    }
    let end = suffix_start(&digits);
    let (mantissa, suffix) = digits.split_at_checked(end)?;
    Some(Number {
        text: text.into(),
        value: mantissa.parse().ok()?,
        integer: mantissa.parse().ok(),
        suffix: suffix.into(),
    })
}

fn radix(digits: &str) -> Option<u32> {
    match digits.get(..2)? {
        "0x" => Some(16),
        "0o" => Some(8),
        "0b" => Some(2),
        _ => None,
    }
}

/// The first letter that is not an exponent.
fn suffix_start(digits: &str) -> usize {
    let bytes = digits.as_bytes();
    let is_exponent = |at: usize| {
        matches!(bytes.get(at), Some(b'e' | b'E'))
            && matches!(bytes.get(at + 1), Some(c) if c.is_ascii_digit() || *c == b'+' || *c == b'-')
    };
    (0..bytes.len())
        .find(|&at| bytes.get(at).is_some_and(u8::is_ascii_alphabetic) && !is_exponent(at))
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_suffixes() {
        let parts = |text| read(text).map(|n| (n.value, n.integer, n.suffix));
        assert_eq!(parts("2"), Some((2.0, Some(2), "".into())));
        assert_eq!(parts("1_000.5"), Some((1000.5, None, "".into())));
        assert_eq!(parts("2."), Some((2.0, None, "".into())));
        assert_eq!(parts("1e-3f64"), Some((1e-3, None, "f64".into())));
        assert_eq!(parts("1_f32"), Some((1.0, Some(1), "f32".into())));
        assert_eq!(parts("0x1f"), Some((31.0, Some(31), "".into())));
        assert_eq!(parts("3u8"), Some((3.0, Some(3), "u8".into())));
        assert_eq!(parts("\"a\""), None);
        assert_eq!(parts("'a'"), None);
        assert_eq!(parts("b'e'"), None);
    }
}
