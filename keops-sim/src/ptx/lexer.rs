//! Tokens of PTX.
//!
//! A word is an identifier with everything that a dot, or two colons, joins to it: `fma.rn.f32`, `%tid.x`, `.reg`,
//! `L1::no_allocate` are one token each. Debug lines (`.loc`, `.file`) end with their line and are skipped here.
use crate::error::{Error, ErrorKind};

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// Decimal, hexadecimal, octal or binary; a sign is a token of its own.
    Int(u64),
    /// `0fXXXXXXXX`
    F32(u32),
    /// `0dXXXXXXXXXXXXXXXX`
    F64(u64),
    /// With a decimal point or an exponent.
    Decimal(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Word(&'a str),
    Number(Number),
    Text(&'a str),
    Punct(char),
}

/// A token and its line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lexed<'a> {
    pub(crate) token: Token<'a>,
    pub(crate) line: u32,
}

/// All tokens of a text.
pub(crate) fn lex(text: &str) -> Result<Vec<Lexed<'_>>, Error> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
    };
    let mut out = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next()? {
        if matches!(token.token, Token::Word(".loc" | ".file")) {
            lexer.skip_line();
        } else {
            out.push(token);
        }
    }
    Ok(out)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

fn starts_word(c: u8) -> bool {
    c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%' | b'.')
}

fn continues_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.' | b'%')
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text
            .as_bytes()
            .get(self.at + ahead)
            .copied()
            .unwrap_or(0)
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Syntax, self.line, message)
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) -> Result<(), Error> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b'/', b'/') => self.skip_line(),
                (b'/', b'*') => {
                    let rest = &self.text[self.at..];
                    let end = rest
                        .find("*/")
                        .ok_or_else(|| self.error("comment without an end"))?
                        + 2;
                    self.line += rest[..end].matches('\n').count() as u32;
                    self.at += end;
                }
                (c, _) if c.is_ascii_whitespace() => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    fn next(&mut self) -> Result<Option<Lexed<'a>>, Error> {
        self.skip_blank()?;
        let (start, line) = (self.at, self.line);
        let Some(c) = self.text[start..].chars().next() else {
            return Ok(None);
        };
        let token = if c.is_ascii_digit() {
            Token::Number(self.number()?)
        } else if c.is_ascii() && starts_word(c as u8) {
            self.at += 1;
            loop {
                if continues_word(self.peek(0)) {
                    self.at += 1;
                } else if self.peek(0) == b':' && self.peek(1) == b':' {
                    self.at += 2;
                } else {
                    break;
                }
            }
            Token::Word(&self.text[start..self.at])
        } else if c == '"' {
            let rest = &self.text[start + 1..];
            let end = rest
                .find(['"', '\n'])
                .filter(|&end| rest.as_bytes()[end] == b'"');
            let end = end.ok_or_else(|| self.error("string without an end"))?;
            self.at += end + 2;
            Token::Text(&rest[..end])
        } else if "{}[]()<>,;:|!@+-=".contains(c) {
            self.at += 1;
            Token::Punct(c)
        } else {
            return Err(self.error(format!("unexpected character {c:?}")));
        };
        Ok(Some(Lexed { token, line }))
    }

    fn number(&mut self) -> Result<Number, Error> {
        let start = self.at;
        // A word's characters cover every literal but the sign of an exponent.
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'.' {
            let exponent =
                matches!(self.peek(0), b'e' | b'E') && !self.text[start..].starts_with("0x");
            let hexadecimal_float = matches!(
                self.text.as_bytes().get(start + 1),
                Some(b'f' | b'F' | b'd' | b'D')
            );
            self.at += 1;
            if exponent && !hexadecimal_float && matches!(self.peek(0), b'+' | b'-') {
                self.at += 1;
            }
        }
        let word = &self.text[start..self.at];
        let bad = || self.error(format!("malformed number `{word}`"));
        let bits = |digits: &str, length: usize| {
            (digits.len() == length)
                .then(|| u64::from_str_radix(digits, 16).ok())
                .flatten()
                .ok_or_else(bad)
        };
        match word.as_bytes() {
            [b'0', b'f' | b'F', ..] => return Ok(Number::F32(bits(&word[2..], 8)? as u32)),
            [b'0', b'd' | b'D', ..] => return Ok(Number::F64(bits(&word[2..], 16)?)),
            _ => {}
        }
        let digits = word.trim_end_matches('U');
        let int = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2),
            [b'0', _, ..] if digits.bytes().all(|c| c.is_ascii_digit()) => {
                u64::from_str_radix(digits, 8)
            }
            _ if digits.contains(['.', 'e', 'E']) => {
                return digits.parse().map(Number::Decimal).map_err(|_| bad());
            }
            _ => digits.parse(),
        };
        int.map(Number::Int).map_err(|_| bad())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        lex(text)
            .unwrap()
            .into_iter()
            .map(|lexed| lexed.token)
            .collect()
    }

    #[test]
    fn words_numbers_and_lines() {
        use super::Number::{Decimal, F32, F64, Int};
        use Token::{Punct, Word};
        assert_eq!(
            tokens(
                "@!%p1 ld.global.L1::no_allocate.f32 %f1, [%rd2+-4]; // x\n/* y\n */ $L__BB0_1:"
            ),
            [
                Punct('@'),
                Punct('!'),
                Word("%p1"),
                Word("ld.global.L1::no_allocate.f32"),
                Word("%f1"),
                Punct(','),
                Punct('['),
                Word("%rd2"),
                Punct('+'),
                Punct('-'),
                Token::Number(Int(4)),
                Punct(']'),
                Punct(';'),
                Word("$L__BB0_1"),
                Punct(':'),
            ]
        );
        assert_eq!(
            tokens("0x1F 12U 0f3F800000 0d3FF0000000000000 1.5 2e-3 017 0b11 0fe0000000"),
            [
                Int(31),
                Int(12),
                F32(0x3f80_0000),
                F64(0x3ff0_0000_0000_0000),
                Decimal(1.5),
                Decimal(2e-3),
                Int(15),
                Int(3),
                F32(0xe000_0000)
            ]
            .map(Token::Number)
        );
        let lexed = lex(".loc 1 2 3\n.file 1 \"a\"\n  ret;").unwrap();
        assert_eq!((lexed.len(), lexed[0].line), (2, 3));
    }

    #[test]
    fn what_is_no_token_is_an_error_with_its_line() {
        for (text, line) in [
            ("\n#", 2),
            ("/* ", 1),
            ("\n\n\"a", 3),
            ("0f12", 1),
            ("0x", 1),
            ("99999999999999999999", 1),
        ] {
            let error = lex(text).unwrap_err();
            assert_eq!(
                (error.kind, error.line),
                (ErrorKind::Syntax, line),
                "{text}"
            );
        }
    }
}
