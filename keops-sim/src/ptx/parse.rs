//! The module level of the grammar: directives, variables, entries and their parameters.
use super::ast::{Function, Module, Param, Variable, VariableId};
use super::lexer::{Lexed, Number, Token, lex};
use super::scope::{Name, Scopes};
use super::types::{Space, Type};
use crate::error::{Error, ErrorKind};

/// Linkage and visibility, which mean nothing to one module alone; `.extern` does.
const LINKAGE: [&str; 3] = [".visible", ".weak", ".common"];
/// Largest variable. Keeps sizes far from overflow.
const LARGEST: usize = 1 << 28;
/// Deepest nesting of an initialiser.
const DEPTH: usize = 16;

/// Reads a module.
pub(crate) fn parse(text: &str) -> Result<Module, Error> {
    let tokens = lex(text)?;
    let line = text.lines().count() as u32;
    Parser {
        tokens,
        at: 0,
        last_line: line,
        globals: Vec::new(),
    }
    .module()
}

pub(super) struct Parser<'a> {
    tokens: Vec<Lexed<'a>>,
    at: usize,
    last_line: u32,
    /// Names of module variables, by number.
    globals: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|lexed| lexed.token)
    }

    pub(super) fn peek_second(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at + 1).map(|lexed| lexed.token)
    }

    pub(super) fn line(&self) -> u32 {
        self.tokens
            .get(self.at)
            .map_or(self.last_line, |lexed| lexed.line)
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Syntax, self.line(), message)
    }

    /// An error at the next token, which should have been something else.
    pub(super) fn expected(&self, what: &str) -> Error {
        self.error(match self.peek() {
            None => format!("expected {what} before the end"),
            Some(Token::Word(word)) => format!("expected {what}, not `{word}`"),
            Some(Token::Punct(c)) => format!("expected {what}, not `{c}`"),
            Some(_) => format!("expected {what}, not a literal"),
        })
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(Token::Punct(c));
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(Token::Word(word));
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, c: char) -> Result<(), Error> {
        if self.take(c) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{c}`")))
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, Error> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A name, which no dot starts.
    fn name(&mut self) -> Result<&'a str, Error> {
        match self.peek() {
            Some(Token::Word(word)) if !word.starts_with('.') => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected("a name")),
        }
    }

    pub(super) fn integer(&mut self) -> Result<u64, Error> {
        match self.peek() {
            Some(Token::Number(Number::Int(value))) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.expected("an integer")),
        }
    }

    fn module(mut self) -> Result<Module, Error> {
        let mut module = Module {
            version: (0, 0),
            target: 0,
            variables: Vec::new(),
            entries: Vec::new(),
        };
        self.header(&mut module)?;
        while self.peek().is_some() {
            let mut external = false;
            while let Some(Token::Word(word)) = self.peek() {
                if word == ".extern" {
                    external = true;
                } else if !LINKAGE.contains(&word) {
                    break;
                }
                self.skip();
            }
            match self.peek() {
                Some(Token::Word(".entry")) => {
                    self.skip();
                    let entry = self.entry()?;
                    if module.entries.iter().any(|other| other.name == entry.name) {
                        return Err(Error::new(
                            ErrorKind::Syntax,
                            entry.line,
                            format!("entry `{}` is defined twice", entry.name),
                        ));
                    }
                    module.entries.push(entry);
                }
                Some(Token::Word(".shared" | ".global" | ".const")) => {
                    for (name, variable) in self.variables(external)? {
                        if self.globals.contains(&name) {
                            return Err(Error::new(
                                ErrorKind::Syntax,
                                variable.line,
                                format!("`{name}` is declared twice"),
                            ));
                        }
                        self.globals.push(name);
                        module.variables.push(variable);
                    }
                }
                Some(Token::Word(".section")) => self.section()?,
                Some(Token::Word(".pragma")) => self.until_semicolon(),
                Some(Token::Word(".func")) => {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        self.line(),
                        "functions are not supported",
                    ));
                }
                _ => return Err(self.expected("a directive")),
            }
        }
        Ok(module)
    }

    /// `.version`, `.target` and `.address_size`, in that order.
    fn header(&mut self, module: &mut Module) -> Result<(), Error> {
        if !self.take_word(".version") {
            return Err(self.expected("`.version`"));
        }
        // 6.3 is lexed as one number; its text is what counts (8.10 is not 8.1, but no such version exists).
        let version = match self.peek() {
            Some(Token::Number(Number::Decimal(version))) => version,
            _ => return Err(self.expected("a version")),
        };
        self.skip();
        let tenths = (version * 10.0).round() as u32;
        module.version = (tenths / 10, tenths % 10);
        if !self.take_word(".target") {
            return Err(self.expected("`.target`"));
        }
        let name = self.word("a target")?;
        let number = name
            .strip_prefix("sm_")
            .unwrap_or("")
            .trim_end_matches(['a', 'f'])
            .parse();
        module.target = number.map_err(|_| self.error(format!("unknown target `{name}`")))?;
        while self.take(',') {
            let name = self.word("a target option")?;
            if !matches!(name, "debug" | "texmode_independent" | "texmode_unified") {
                return Err(self.error(format!("unknown target option `{name}`")));
            }
        }
        if self.take_word(".address_size") && self.integer()? != 64 {
            return Err(Error::new(
                ErrorKind::Unsupported,
                self.line(),
                "only 64-bit addresses are supported",
            ));
        }
        Ok(())
    }

    /// Skips `.section name { … }`.
    fn section(&mut self) -> Result<(), Error> {
        while self.peek().is_some() && !self.take('{') {
            self.skip();
        }
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                Some(Token::Punct('{')) => depth += 1,
                Some(Token::Punct('}')) => depth -= 1,
                None => return Err(self.expected("`}`")),
                _ => {}
            }
            self.skip();
        }
        Ok(())
    }

    pub(super) fn until_semicolon(&mut self) {
        while self.peek().is_some() && !self.take(';') {
            self.skip();
        }
    }

    /// Variables of one declaration, from the state space to the semicolon.
    pub(super) fn variables(&mut self, external: bool) -> Result<Vec<(&'a str, Variable)>, Error> {
        let space = self.word("a state space")?;
        let space = Space::named(&space[1..])
            .ok_or_else(|| self.error(format!("no state space `{space}`")))?;
        let mut align = None;
        let mut lanes = 1;
        let ty = loop {
            match self.word("a type")? {
                ".align" => align = Some(self.align()?),
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                ".attribute" => return Err(self.error("attributes are not supported")),
                word => break self.ty(word)?,
            }
        };
        let mut out = Vec::new();
        loop {
            let line = self.line();
            let name = self.name()?;
            let mut count = Some(lanes);
            while self.take('[') {
                if self.take(']') {
                    count = None;
                    continue;
                }
                let length = self.integer()? as usize;
                self.expect(']')?;
                count = count.map(|count: usize| count.saturating_mul(length));
            }
            let mut initial = None;
            if self.take('=') {
                initial = Some(self.initializer(ty, DEPTH)?);
            }
            let size = match (count, &initial) {
                (Some(count), _) => count.saturating_mul(ty.size()),
                (None, Some(bytes)) => bytes.len(),
                (None, None) if external => 0,
                (None, None) => return Err(self.error(format!("`{name}` has no size"))),
            };
            if size > LARGEST {
                return Err(self.error(format!("`{name}` is too large")));
            }
            if let Some(bytes) = &mut initial {
                if bytes.len() > size || !matches!(space, Space::Global | Space::Const) {
                    return Err(self.error(format!("`{name}` cannot be initialised so")));
                }
                bytes.resize(size, 0);
            }
            let align = align.unwrap_or(ty.size() * lanes);
            out.push((
                name,
                Variable {
                    name: name.to_owned(),
                    space,
                    align,
                    size,
                    external,
                    initial,
                    line,
                },
            ));
            if !self.take(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(out)
    }

    fn align(&mut self) -> Result<usize, Error> {
        let align = self.integer()?;
        if align.is_power_of_two() && align <= 4096 {
            Ok(align as usize)
        } else {
            Err(self.error("an alignment is a power of two"))
        }
    }

    pub(super) fn ty(&self, word: &str) -> Result<Type, Error> {
        let ty = word.strip_prefix('.').and_then(Type::named);
        ty.ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                self.line(),
                format!("unknown type `{word}`"),
            )
        })
    }

    /// Bytes of `{1, 2, {3}}` or of a single number.
    fn initializer(&mut self, ty: Type, depth: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        if self.take('{') {
            if depth == 0 {
                return Err(self.error("an initialiser that is nested too deeply"));
            }
            while !self.take('}') {
                bytes.extend(self.initializer(ty, depth - 1)?);
                if !self.take(',') {
                    self.expect('}')?;
                    break;
                }
            }
            return Ok(bytes);
        }
        let negative = self.take('-');
        let Some(Token::Number(number)) = self.peek() else {
            return Err(self.expected("a number"));
        };
        self.skip();
        let bits = match (number, ty) {
            (Number::Int(value), ty) if !ty.is_float() => {
                if negative {
                    value.wrapping_neg()
                } else {
                    value
                }
            }
            (Number::F32(bits), Type::F32 | Type::B32) if !negative => u64::from(bits),
            (Number::F64(bits), Type::F64 | Type::B64) if !negative => bits,
            (Number::Decimal(value), Type::F32) => {
                u64::from((if negative { -value } else { value } as f32).to_bits())
            }
            (Number::Decimal(value), Type::F64) => {
                (if negative { -value } else { value }).to_bits()
            }
            _ => return Err(self.error("the number does not fit the type")),
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..ty.size()]);
        Ok(bytes)
    }

    /// An entry from its name on.
    fn entry(&mut self) -> Result<Function, Error> {
        let line = self.line();
        let name = self.name()?;
        let mut scopes = Scopes::new();
        for (number, name) in self.globals.iter().enumerate() {
            scopes.declare(name, Name::Variable(VariableId::Module(number)));
        }
        let mut function = Function {
            name: name.to_owned(),
            line,
            params: Vec::new(),
            max_threads: None,
            required_threads: None,
            registers: Vec::new(),
            variables: Vec::new(),
            body: Vec::new(),
            labels: 0,
            tables: Vec::new(),
        };
        if self.take('(') && !self.take(')') {
            loop {
                let name = self.parameter(&mut function)?;
                let id = Name::Variable(VariableId::Param(function.params.len() - 1));
                if !scopes.declare(name, id) {
                    return Err(self.error(format!("parameter `{name}` is declared twice")));
                }
                if !self.take(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        self.performance(&mut function)?;
        self.body(&mut function, scopes)?;
        Ok(function)
    }

    /// `.param .u64 .ptr .global .align 4 name` or `.param .align 8 .b8 name[24]`.
    fn parameter(&mut self, function: &mut Function) -> Result<&'a str, Error> {
        if !self.take_word(".param") {
            return Err(self.expected("`.param`"));
        }
        let mut align = None;
        if self.take_word(".align") {
            align = Some(self.align()?);
        }
        let ty = self.word("a type")?;
        let ty = self.ty(ty)?;
        if self.take_word(".ptr") {
            if let Some(Token::Word(word)) = self.peek()
                && word.strip_prefix('.').and_then(Space::named).is_some()
            {
                self.skip();
            }
            // The alignment of what the pointer points to.
            if self.take_word(".align") {
                self.align()?;
            }
        }
        let name = self.name()?;
        let mut size = ty.size();
        if size == 0 {
            return Err(Error::new(
                ErrorKind::Illegal,
                self.line(),
                "a parameter cannot be a predicate",
            ));
        }
        if self.take('[') {
            size = size.saturating_mul(self.integer()? as usize);
            self.expect(']')?;
        }
        let end = function
            .params
            .last()
            .map_or(0, |last| last.offset + last.size);
        let offset = end.next_multiple_of(align.unwrap_or(ty.size()));
        if offset.saturating_add(size) > 4096 {
            return Err(self.error("more than 4096 bytes of parameters"));
        }
        function.params.push(Param {
            name: name.to_owned(),
            offset,
            size,
        });
        Ok(name)
    }

    /// Performance directives between the parameters and the body.
    fn performance(&mut self, function: &mut Function) -> Result<(), Error> {
        while let Some(Token::Word(word)) = self.peek() {
            self.skip();
            match word {
                ".maxntid" | ".reqntid" => {
                    let mut shape = [1; 3];
                    for (axis, length) in shape.iter_mut().enumerate() {
                        if axis > 0 && !self.take(',') {
                            break;
                        }
                        *length = u32::try_from(self.integer()?).unwrap_or(u32::MAX);
                    }
                    if word == ".maxntid" {
                        function.max_threads = Some(shape);
                    } else {
                        function.required_threads = Some(shape);
                    }
                }
                ".minnctapersm" | ".maxnctapersm" | ".maxnreg" => {
                    self.integer()?;
                }
                ".pragma" => self.until_semicolon(),
                _ => return Err(self.error(format!("unknown directive `{word}`"))),
            }
        }
        Ok(())
    }
}
