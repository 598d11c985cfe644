//! The body of an entry: declarations, labels, instructions and their operands.
use super::ast::{Base, Function, Instruction, Operand, Statement, VariableId};
use super::lexer::{Number, Token};
use super::parse::Parser;
use super::scope::{Name, Scopes, special};
use crate::error::{Error, ErrorKind};

/// Most registers of an entry.
const REGISTERS: usize = 1 << 20;
/// Deepest nesting of scopes.
const DEPTH: usize = 64;

impl<'a> Parser<'a> {
    /// From the opening brace to the closing one.
    pub(super) fn body(
        &mut self,
        function: &mut Function,
        mut scopes: Scopes<'a>,
    ) -> Result<(), Error> {
        self.expect('{')?;
        let mut label_before = None;
        loop {
            let line = self.line();
            let label = label_before.take();
            match self.peek() {
                Some(Token::Punct('{')) if scopes.depth() < DEPTH => {
                    self.skip();
                    scopes.open();
                }
                Some(Token::Punct('}')) => {
                    self.skip();
                    scopes.close().map_err(|(name, line)| {
                        Error::new(ErrorKind::Syntax, line, format!("unknown name `{name}`"))
                    })?;
                    if scopes.depth() == 0 {
                        break;
                    }
                }
                Some(Token::Punct(';')) => self.skip(),
                Some(Token::Punct('@')) => {
                    let statement = self.instruction(&mut scopes)?;
                    function.body.push(Statement::Instruction(statement));
                }
                Some(Token::Word(word)) if !word.starts_with('.') => {
                    if self.peek_second() == Some(Token::Punct(':')) {
                        self.skip();
                        self.skip();
                        let label = scopes.define_label(word).ok_or_else(|| {
                            Error::new(
                                ErrorKind::Syntax,
                                line,
                                format!("label `{word}` is defined twice"),
                            )
                        })?;
                        function.body.push(Statement::Label(label));
                        label_before = Some(label);
                    } else {
                        let statement = self.instruction(&mut scopes)?;
                        function.body.push(Statement::Instruction(statement));
                    }
                }
                Some(Token::Word(".reg")) => {
                    self.skip();
                    self.registers(function, &mut scopes)?;
                }
                Some(Token::Word(".shared" | ".local" | ".const" | ".global")) => {
                    for (name, variable) in self.variables(false)? {
                        let id = VariableId::Function(function.variables.len());
                        if !scopes.declare(name, Name::Variable(id)) {
                            return Err(Error::new(
                                ErrorKind::Syntax,
                                line,
                                format!("`{name}` is declared twice"),
                            ));
                        }
                        function.variables.push(variable);
                    }
                }
                Some(Token::Word(".branchtargets")) => {
                    self.skip();
                    let label =
                        label.ok_or_else(|| self.error("`.branchtargets` needs a label"))?;
                    let mut targets = Vec::new();
                    loop {
                        let name = self.word("a label")?;
                        targets.push(scopes.use_label(name, line));
                        if !self.take(',') {
                            break;
                        }
                    }
                    self.expect(';')?;
                    function.tables.push((label, targets));
                }
                Some(Token::Word(".pragma")) => self.until_semicolon(),
                _ => return Err(self.expected("a statement")),
            }
        }
        self.resolve_labels(function, scopes);
        Ok(())
    }

    /// Replaces the numbers of used labels by those of the defined ones.
    fn resolve_labels(&self, function: &mut Function, scopes: Scopes<'a>) {
        let (count, resolved) = scopes.finish();
        function.labels = count;
        let resolve = |label: &mut usize| *label = resolved.get(label).copied().unwrap_or(*label);
        for (_, targets) in &mut function.tables {
            targets.iter_mut().for_each(resolve);
        }
        for statement in &mut function.body {
            if let Statement::Instruction(instruction) = statement {
                for operand in &mut instruction.operands {
                    if let Operand::Label(label) = operand {
                        resolve(label);
                    }
                }
            }
        }
    }

    /// `.b32 %r<9>, %x;` after `.reg`.
    fn registers(&mut self, function: &mut Function, scopes: &mut Scopes<'a>) -> Result<(), Error> {
        let word = self.word("a type")?;
        let ty = self.ty(word)?;
        loop {
            let name = self.word("a register")?;
            let first = function.registers.len();
            let (count, fresh) = if self.take('<') {
                let count = self.integer()? as usize;
                self.expect('>')?;
                (count, scopes.declare_range(name, first, count))
            } else {
                (1, scopes.declare(name, Name::Register(first)))
            };
            if !fresh {
                return Err(self.error(format!("register `{name}` is declared twice")));
            }
            if count > REGISTERS - first {
                return Err(self.error("too many registers"));
            }
            function.registers.resize(first + count, ty);
            if !self.take(',') {
                break;
            }
        }
        self.expect(';')
    }

    fn instruction(&mut self, scopes: &mut Scopes<'a>) -> Result<Instruction, Error> {
        let line = self.line();
        let mut guard = None;
        if self.take('@') {
            let negated = self.take('!');
            let name = self.word("a predicate")?;
            match scopes.find(name) {
                Some(Name::Register(register)) => guard = Some((register, negated)),
                _ => return Err(self.error(format!("unknown register `{name}`"))),
            }
        }
        let word = self.word("an instruction")?;
        let mut parts = word.split('.').map(str::to_owned);
        let name = parts.next().unwrap_or_default();
        let modifiers = parts.collect();
        if matches!(name.as_str(), "call" | "callprototype") {
            return Err(Error::new(
                ErrorKind::Unsupported,
                line,
                "calls are not supported",
            ));
        }
        let mut operands = Vec::new();
        while !self.take(';') {
            if !operands.is_empty() {
                self.expect(',')?;
            }
            operands.push(self.operand(scopes)?);
        }
        Ok(Instruction {
            line,
            guard,
            name,
            modifiers,
            operands,
        })
    }

    fn operand(&mut self, scopes: &mut Scopes<'a>) -> Result<Operand, Error> {
        let first = self.simple_operand(scopes)?;
        if self.take('|') {
            let second = self.simple_operand(scopes)?;
            return Ok(Operand::Pair(Box::new((first, second))));
        }
        Ok(first)
    }

    fn simple_operand(&mut self, scopes: &mut Scopes<'a>) -> Result<Operand, Error> {
        let line = self.line();
        if self.take('[') {
            return self.address(scopes);
        }
        if self.take('{') {
            let mut elements = Vec::new();
            loop {
                if let Some(Token::Punct('{' | '[')) = self.peek() {
                    return Err(self.error("no vector and no address goes into a vector"));
                }
                elements.push(self.simple_operand(scopes)?);
                if !self.take(',') {
                    break;
                }
            }
            self.expect('}')?;
            return Ok(Operand::Vector(elements));
        }
        if self.take('!') {
            let name = self.word("a predicate")?;
            return match scopes.find(name) {
                Some(Name::Register(register)) => Ok(Operand::Not(register)),
                _ => Err(self.error(format!("unknown register `{name}`"))),
            };
        }
        let negative = self.take('-');
        match self.peek() {
            Some(Token::Number(number)) => {
                self.skip();
                Ok(match (number, negative) {
                    (Number::Int(value), false) => Operand::Int(value),
                    (Number::Int(value), true) => Operand::Int(value.wrapping_neg()),
                    (Number::F32(bits), false) => Operand::F32(bits),
                    (Number::F64(bits), false) => Operand::F64(bits),
                    (Number::Decimal(value), false) => Operand::Decimal(value),
                    (Number::Decimal(value), true) => Operand::Decimal(-value),
                    _ => return Err(self.error("a sign before the bits of a number")),
                })
            }
            Some(Token::Word(word)) if !negative => {
                self.skip();
                match (word, scopes.find(word)) {
                    ("_", _) => Ok(Operand::Sink),
                    ("WARP_SZ", None) => Ok(Operand::Int(32)),
                    (_, Some(Name::Register(register))) => Ok(Operand::Register(register)),
                    (_, Some(Name::Variable(id))) => {
                        let offset = self.offset()?;
                        Ok(Operand::Symbol(id, offset))
                    }
                    _ => match special(word) {
                        Some(special) => Ok(Operand::Special(special)),
                        None if word.starts_with('%') => Err(Error::new(
                            ErrorKind::Syntax,
                            line,
                            format!("unknown register `{word}`"),
                        )),
                        None => Ok(Operand::Label(scopes.use_label(word, line))),
                    },
                }
            }
            _ => Err(self.expected("an operand")),
        }
    }

    /// What follows `[`.
    fn address(&mut self, scopes: &Scopes<'a>) -> Result<Operand, Error> {
        let base = match self.peek() {
            Some(Token::Number(Number::Int(value))) => {
                self.skip();
                self.expect(']')?;
                return Ok(Operand::Address(Base::Absolute, value as i64));
            }
            Some(Token::Word(word)) => match scopes.find(word) {
                Some(Name::Register(register)) => Base::Register(register),
                Some(Name::Variable(id)) => Base::Symbol(id),
                None => return Err(self.error(format!("unknown name `{word}`"))),
            },
            _ => return Err(self.expected("an address")),
        };
        self.skip();
        let offset = self.offset()?;
        self.expect(']')?;
        Ok(Operand::Address(base, offset))
    }

    /// `+4`, `+-4`, `-4` or nothing.
    fn offset(&mut self) -> Result<i64, Error> {
        let plus = self.take('+');
        let minus = self.take('-');
        if !plus && !minus {
            return Ok(0);
        }
        let value = self.integer()? as i64;
        Ok(if minus { value.wrapping_neg() } else { value })
    }
}
