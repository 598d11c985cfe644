//! [`Module`]: a parsed and checked module, whose entries can be launched.
use crate::decode::decode;
use crate::error::{Error, ErrorKind};
use crate::exec::{self, Launch};
use crate::memory::Memory;
use crate::op::Code;
use crate::options::{Options, Stats};
use crate::ptx::ast::Variable;
use crate::ptx::types::Space;
use std::sync::atomic::{AtomicU64, Ordering};

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it starts among the bytes of all parameters.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
}

/// What a launch needs to know of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// Bytes of static shared memory.
    pub shared: usize,
    /// Bytes of local memory of a thread.
    pub local: usize,
    /// Declared registers, which an assembler needs fewer of.
    pub registers: usize,
    /// Most threads of a block, where the entry says so.
    pub max_threads: Option<u32>,
}

/// A PTX module.
pub struct Module {
    /// Tells the variables of different modules in one memory apart.
    id: u64,
    version: (u32, u32),
    target: u32,
    variables: Vec<Variable>,
    code: Vec<Code>,
    entries: Vec<Entry>,
}

impl Module {
    /// Reads and checks a module.
    ///
    /// # Errors
    /// What is wrong, with its line; or what the interpreter does not support.
    pub fn parse(text: &str) -> Result<Module, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let module = crate::ptx::parse(text)?;
        let code = module
            .entries
            .iter()
            .map(|entry| decode(&module, entry))
            .collect::<Result<Vec<_>, _>>()?;
        let entries = code.iter().map(entry).collect();
        Ok(Module {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            version: module.version,
            target: module.target,
            variables: module.variables,
            code,
            entries,
        })
    }

    /// The PTX version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The number of the target: 75 for `sm_75`.
    pub fn target(&self) -> u32 {
        self.target
    }

    /// The entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Address and length of a module variable in this memory, which holds it from now on.
    ///
    /// # Errors
    /// There is no such variable, or no memory for it.
    pub fn variable(&self, memory: &mut Memory, name: &str) -> Result<(u64, usize), Error> {
        let addresses = self.place(memory)?;
        let found = self
            .variables
            .iter()
            .zip(addresses)
            .find_map(|(v, at)| Some((at.filter(|_| v.name == name)?, v.size)));
        found.ok_or_else(|| Error::new(ErrorKind::Launch, 0, format!("no variable `{name}`")))
    }

    /// Frees the module's variables in a memory.
    pub fn unload(&self, memory: &mut Memory) {
        for address in memory
            .modules
            .remove(&self.id)
            .into_iter()
            .flatten()
            .flatten()
        {
            memory.free(address);
        }
    }

    /// Runs an entry to its end.
    ///
    /// `params` holds the parameters' bytes as [`Entry::parameters`] lays them out.
    ///
    /// # Errors
    /// The first fault, with its line and thread. Memory keeps what was written before it.
    #[allow(
        clippy::too_many_arguments,
        reason = "these are a launch's, as in the driver's interface"
    )]
    pub fn launch(
        &self,
        memory: &mut Memory,
        entry: &str,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
        params: &[u8],
        options: &Options,
    ) -> Result<Stats, Error> {
        let code = self.code.iter().find(|code| code.name == entry);
        let code =
            code.ok_or_else(|| Error::new(ErrorKind::Launch, 0, format!("no entry `{entry}`")))?;
        let variables = self.place(memory)?;
        exec::launch(
            memory,
            &Launch {
                code,
                variables: &variables,
                grid,
                block,
                dynamic_shared,
                params,
                options,
            },
        )
        .map_err(|error| error.in_entry(entry))
    }

    /// Gives the module's variables their place in a memory, once.
    fn place(&self, memory: &mut Memory) -> Result<Vec<Option<u64>>, Error> {
        if let Some(addresses) = memory.modules.get(&self.id) {
            return Ok(addresses.clone());
        }
        let mut addresses = Vec::new();
        for variable in &self.variables {
            if !matches!(variable.space, Space::Global | Space::Const) {
                addresses.push(None);
                continue;
            }
            let address = memory.allocate(variable.size).map_err(|error| {
                Error::new(
                    ErrorKind::Launch,
                    variable.line,
                    format!("`{}`: {error}", variable.name),
                )
            })?;
            // Without an initialiser, module variables start as zeros.
            let bytes = variable
                .initial
                .clone()
                .unwrap_or_else(|| vec![0; variable.size]);
            memory.write(address, &bytes)?;
            if let Some((index, _)) = memory.locate(address, variable.size) {
                memory.region(index).read_only = variable.space == Space::Const;
            }
            addresses.push(Some(address));
        }
        memory.modules.insert(self.id, addresses.clone());
        Ok(addresses)
    }
}

fn entry(code: &Code) -> Entry {
    Entry {
        name: code.name.clone(),
        parameters: code
            .params
            .iter()
            .map(|param| Parameter {
                name: param.name.clone(),
                offset: param.offset,
                size: param.size,
            })
            .collect(),
        shared: code.shared,
        local: code.local,
        registers: code.registers,
        max_threads: code
            .max_threads
            .or(code.required_threads)
            .map(|shape| shape.iter().product()),
    }
}
