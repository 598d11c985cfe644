//! From the tree to operations: checks every instruction against PTX's rules, chooses the function that computes it,
//! lays out memory and resolves labels.
mod compare;
mod control;
mod convert;
mod float;
mod flow;
mod integer;
mod memory;
mod modifiers;
mod operand;

use crate::error::{Error, ErrorKind};
use crate::op::{Code, Init, Op, Slot};
use crate::ptx::ast::{Function, Instruction, Module, Special, Statement, VariableId};
use crate::ptx::types::{Space, Type};
use modifiers::Modifiers;
use std::collections::HashMap;

/// Most static shared memory of an entry, as the assembler has it.
const STATIC_SHARED: usize = 48 * 1024;
/// Most local memory of a thread.
const LOCAL: usize = 512 * 1024;

/// Decodes one entry.
pub(crate) fn decode(module: &Module, function: &Function) -> Result<Code, Error> {
    Lower::new(module, function)?
        .run()
        .map_err(|error| error.in_entry(&function.name))
}

/// An entry on its way.
struct Lower<'a> {
    module: &'a Module,
    function: &'a Function,
    line: u32,
    ops: Vec<Op>,
    lines: Vec<u32>,
    slots: u32,
    init: Vec<(Slot, Init)>,
    /// Slots of what is known before a thread starts.
    known: HashMap<Init, Slot>,
    /// Position of each label in `ops`.
    labels: Vec<Option<usize>>,
    tables: Vec<Vec<u32>>,
    /// Offsets of shared and local variables.
    offsets: HashMap<VariableId, usize>,
    shared: usize,
    local: usize,
}

impl<'a> Lower<'a> {
    fn new(module: &'a Module, function: &'a Function) -> Result<Lower<'a>, Error> {
        let mut lower = Lower {
            module,
            function,
            line: function.line,
            ops: Vec::new(),
            lines: Vec::new(),
            slots: function.registers.len() as u32,
            init: Vec::new(),
            known: HashMap::new(),
            labels: vec![None; function.labels],
            tables: Vec::new(),
            offsets: HashMap::new(),
            shared: 0,
            local: 0,
        };
        lower.lay_out()?;
        Ok(lower)
    }

    /// Gives shared and local variables their offsets; external ones come after all others.
    fn lay_out(&mut self) -> Result<(), Error> {
        let of_module = self
            .module
            .variables
            .iter()
            .enumerate()
            .map(|(n, v)| (VariableId::Module(n), v));
        let own = self
            .function
            .variables
            .iter()
            .enumerate()
            .map(|(n, v)| (VariableId::Function(n), v));
        let mut external = Vec::new();
        for (id, variable) in of_module.chain(own) {
            let (total, limit) = match variable.space {
                Space::Shared if variable.external => {
                    external.push((id, variable.align));
                    continue;
                }
                Space::Shared => (&mut self.shared, STATIC_SHARED),
                Space::Local => (&mut self.local, LOCAL),
                _ if matches!(id, VariableId::Function(_)) => {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        variable.line,
                        format!(
                            "`{}`: such variables are supported at module scope",
                            variable.name
                        ),
                    ));
                }
                _ => continue,
            };
            let offset = total.next_multiple_of(variable.align);
            *total = offset + variable.size;
            if *total > limit {
                return Err(Error::new(
                    ErrorKind::Illegal,
                    variable.line,
                    format!(
                        "{:#x} bytes of {} memory, more than {limit:#x}",
                        *total,
                        variable.space.name()
                    ),
                ));
            }
            self.offsets.insert(id, offset);
        }
        for (id, align) in external {
            self.shared = self.shared.next_multiple_of(align);
            self.offsets.insert(id, self.shared);
        }
        Ok(())
    }

    fn run(mut self) -> Result<Code, Error> {
        let function = self.function;
        for statement in &function.body {
            match statement {
                Statement::Label(label) => self.labels[*label] = Some(self.ops.len()),
                Statement::Instruction(instruction) => self.guarded(instruction)?,
            }
        }
        // Control that falls off the end returns.
        self.emit(Op::Exit);
        self.resolve_labels()?;
        let registers = function.registers.len();
        flow::insert_checks(&mut self, registers);
        Ok(Code {
            name: function.name.clone(),
            ops: self.ops,
            lines: self.lines,
            slots: self.slots as usize,
            init: self.init,
            tables: self.tables,
            params: function
                .params
                .iter()
                .map(|param| crate::ptx::ast::Param {
                    name: param.name.clone(),
                    ..*param
                })
                .collect(),
            shared: self.shared,
            local: self.local,
            registers,
            max_threads: function.max_threads,
            required_threads: function.required_threads,
        })
    }

    /// An instruction behind its predicate.
    fn guarded(&mut self, instruction: &Instruction) -> Result<(), Error> {
        self.line = instruction.line;
        let guard = match instruction.guard {
            None => return self.instruction(instruction),
            Some((register, negated)) => {
                self.check_type(register, Type::Pred)?;
                (register as Slot, negated)
            }
        };
        if instruction.name == "bra" {
            return self.branch(instruction, Some(guard));
        }
        let at = self.ops.len();
        self.emit(Op::Exit);
        self.instruction(instruction)?;
        // The label that the jump goes to is the position after the instruction.
        let label = self.labels.len() as u32;
        self.labels.push(Some(self.ops.len()));
        let (p, negated) = guard;
        self.ops[at] = if negated {
            Op::JumpIf { p, to: label }
        } else {
            Op::JumpUnless { p, to: label }
        };
        Ok(())
    }

    fn instruction(&mut self, i: &Instruction) -> Result<(), Error> {
        let mut m = Modifiers::new(i);
        let float = m.ty().is_some_and(Type::is_float);
        match i.name.as_str() {
            "add" | "sub" | "mul" | "div" | "neg" | "abs" | "min" | "max" | "mad" | "fma"
                if float =>
            {
                self.float(i, &mut m)?;
            }
            "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "copysign" => {
                self.float(i, &mut m)?
            }
            "fma" => return Err(self.illegal("`fma` is for floating-point types")),
            "add" | "sub" | "mul" | "mad" | "div" | "rem" | "min" | "max" | "neg" | "abs"
            | "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "bfe" | "bfi" | "bfind"
            | "popc" | "clz" | "brev" | "prmt" | "lop3" | "shf" | "sad" => {
                self.integer(i, &mut m)?;
            }
            "setp" | "set" | "selp" | "slct" => self.compare(i, &mut m)?,
            "mov" | "cvt" | "cvta" => self.convert(i, &mut m)?,
            "ld" | "ldu" | "st" | "atom" | "red" | "prefetch" | "prefetchu" => {
                self.memory(i, &mut m)?
            }
            "bra" => return self.branch(i, None),
            _ => self.control(i, &mut m)?,
        }
        match m.unused() {
            None => Ok(()),
            Some(modifier) => {
                Err(self.illegal(format!("unexpected modifier `.{modifier}` of `{}`", i.name)))
            }
        }
    }

    fn emit(&mut self, op: Op) {
        self.ops.push(op);
        self.lines.push(self.line);
    }

    fn illegal(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Illegal, self.line, message)
    }

    fn unsupported(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Unsupported, self.line, message)
    }

    fn new_slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    /// The slot of something known.
    fn known(&mut self, init: Init) -> Slot {
        if let Some(slot) = self.known.get(&init) {
            return *slot;
        }
        let slot = self.new_slot();
        self.init.push((slot, init));
        self.known.insert(init, slot);
        slot
    }

    fn constant(&mut self, value: u64) -> Slot {
        self.known(Init::Value(value))
    }

    fn special(&mut self, special: Special) -> Slot {
        match special {
            Special::Zero => self.constant(0),
            special => self.known(Init::Special(special)),
        }
    }

    /// Replaces labels by positions.
    fn resolve_labels(&mut self) -> Result<(), Error> {
        let position = |label: u32| self.labels.get(label as usize).copied().flatten();
        for (op, line) in self.ops.iter_mut().zip(&self.lines) {
            if let Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpUnless { to, .. } = op {
                *to = position(*to)
                    .ok_or_else(|| Error::new(ErrorKind::Syntax, *line, "unknown label"))?
                    as u32;
            }
        }
        for table in &mut self.tables {
            for to in table {
                *to = position(*to).ok_or_else(|| {
                    Error::new(
                        ErrorKind::Syntax,
                        self.function.line,
                        "unknown label in a table",
                    )
                })? as u32;
            }
        }
        Ok(())
    }
}
