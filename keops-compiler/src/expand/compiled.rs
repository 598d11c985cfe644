//! A checked item with everything that is generated from it: its functions and their distinct kernels.
//!
//! Invariant: kernels that are equal are one kernel, whichever functions use them.

use crate::budget::{Excess, MOST_NUMBERS, Size, kept};
use crate::emit::ValueTypes;
use crate::function::{Formula, Function};
use crate::lower::kernel::KernelIr;
use crate::typing::LARGEST;
use proc_macro2::{Ident, TokenStream};
use std::rc::Rc;

/// An item, compiled.
pub(super) struct Compiled {
    /// The item's name with its span.
    pub(super) name: Ident,
    /// Attributes of the item (documentation among them).
    pub(super) attributes: TokenStream,
    /// Its visibility.
    pub(super) visibility: TokenStream,
    /// The formula as text.
    pub(super) text: String,
    /// `f32`, `f64` or both.
    pub(super) types: ValueTypes,
    /// Its const parameters.
    pub(super) dimensions: Vec<String>,
    /// Whether the formula is a tuple.
    pub(super) is_tuple: bool,
    /// The formula.
    pub(super) formula: Formula,
    /// What takes too much of something, and of what.
    pub(super) excess: Vec<(String, Excess)>,
    /// All functions.
    pub(super) functions: Vec<NamedFunction>,
    /// Their distinct kernels, with the names of the types that implement them.
    pub(super) kernels: Vec<(String, KernelIr)>,
    /// The values that its const parameters may have.
    pub(super) allowed: Allowed,
    /// What may be too large at some values of const parameters.
    pub(super) sizes: Vec<Size>,
    /// Of an item with const parameters, the values that have device code.
    pub(super) instances: Vec<Instance>,
}

/// The values that const parameters may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    /// For each parameter the least.
    pub(super) least: Vec<usize>,
    /// Values of some parameters (by number) that they cannot have together, though none is too small.
    pub(super) except: Vec<Vec<(usize, usize)>>,
}

/// An item with const parameters at some of their values.
#[derive(Clone)]
pub(super) struct Instance {
    /// The values.
    pub(super) values: Vec<usize>,
    /// The item there.
    pub(super) item: Rc<Compiled>,
    /// Its PTX module, or why there is none.
    pub(super) ptx: Result<String, String>,
}

/// A function with its name and the numbers of its passes' kernels.
pub(super) struct NamedFunction {
    /// What it computes.
    pub(super) role: Role,
    /// The function.
    pub(super) function: Function,
    /// For each pass, the number of its kernel.
    pub(super) kernels: Vec<usize>,
}

/// What a function computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The formula.
    Eval,
    /// The vector-Jacobian product with respect to all inputs.
    Vjp,
    /// The formula, then the vector-Jacobian product. Not there where it takes too much of something.
    ValueAndVjp,
    /// The vector-Jacobian product with respect to one input.
    Grad(usize),
    /// The Jacobian-vector product for tangents of all inputs.
    Jvp,
}

impl Compiled {
    /// Compiles those functions of an item that are wanted.
    #[allow(clippy::too_many_arguments, reason = "the parts of an item")]
    pub(super) fn new(
        name: Ident,
        attributes: TokenStream,
        visibility: TokenStream,
        text: String,
        types: ValueTypes,
        dimensions: Vec<String>,
        is_tuple: bool,
        formula: Formula,
        wanted: &dyn Fn(Role) -> bool,
    ) -> Compiled {
        let mut item = Compiled {
            name,
            attributes,
            visibility,
            text,
            types,
            allowed: Allowed {
                least: vec![1; dimensions.len()],
                except: vec![],
            },
            dimensions,
            is_tuple,
            formula,
            excess: vec![],
            functions: vec![],
            kernels: vec![],
            sizes: vec![],
            instances: vec![],
        };
        if wanted(Role::Eval) {
            item.add(Role::Eval, item.formula.compile());
        }
        if item.is_differentiable() {
            let all: Vec<usize> = (0..item.formula.inputs.len()).collect();
            if wanted(Role::Vjp) {
                item.add(Role::Vjp, item.formula.vjp(&all).compile());
            }
            if wanted(Role::ValueAndVjp) {
                let both = item.formula.value_and_vjp().compile();
                // The two one after the other are within the limits then, or are reported.
                if both.excess.is_none() {
                    item.add(Role::ValueAndVjp, both);
                }
            }
            for n in all {
                if wanted(Role::Grad(n)) {
                    item.add(Role::Grad(n), item.formula.vjp(&[n]).compile());
                }
            }
            if wanted(Role::Jvp)
                && let Some(jvp) = item.formula.jvp()
            {
                item.add(Role::Jvp, jvp.compile());
            }
        }
        item
    }

    /// All sizes that have a limit, in an order that does not depend on dimensions.
    pub(super) fn all_sizes(&self) -> Vec<Size> {
        let inputs = self.formula.inputs.iter().map(|input| Size {
            what: format!("numbers for a row of `{}`", input.name),
            size: input.complex.unwrap_or(input.shape).len(),
            limit: LARGEST,
        });
        // A complex value is both of its parts there.
        let parts = 1 + usize::from(self.formula.complex.iter().any(Option::is_some));
        let of_kernel = |ir: &KernelIr| {
            let outputs = ir.outputs.iter().map(|output| output.shape.len());
            let values = outputs.chain(ir.slots.iter().map(|slot| slot.count));
            let values = values.map(|size| Size {
                what: "numbers for one value".to_owned(),
                size,
                limit: parts * LARGEST,
            });
            let memory = Size {
                what: "numbers in memory for each pair".to_owned(),
                size: kept(ir),
                limit: MOST_NUMBERS,
            };
            values.chain([memory]).collect::<Vec<_>>()
        };
        let kernels = self.kernels.iter().flat_map(|(_, ir)| of_kernel(ir));
        inputs.chain(kernels).collect()
    }

    /// Whether some output is real.
    pub(super) fn is_differentiable(&self) -> bool {
        self.formula.cotangent_names().iter().any(Option::is_some)
    }

    /// The name of a function, unique in the module: `gauss`, `gauss_vjp`, `gauss_grad_x_i`.
    pub(super) fn function_name(&self, role: Role) -> String {
        match role {
            Role::Eval => self.name.to_string(),
            Role::Vjp => format!("{}_vjp", self.name),
            Role::ValueAndVjp => format!("{}_value_and_vjp", self.name),
            Role::Jvp => format!("{}_jvp", self.name),
            Role::Grad(n) => format!("{}_grad_{}", self.name, self.formula.inputs[n].name),
        }
    }

    fn add(&mut self, role: Role, function: Function) {
        if let Some(excess) = function.excess {
            let what = match role {
                Role::Eval => "the formula".to_string(),
                Role::Vjp | Role::ValueAndVjp => {
                    "its derivative with respect to all variables".to_string()
                }
                Role::Grad(n) => format!(
                    "its derivative with respect to `{}`",
                    self.formula.inputs[n].name
                ),
                Role::Jvp => "its derivative along tangents".to_string(),
            };
            self.excess.push((what, excess));
            return;
        }
        let base = self.function_name(role);
        let kernels = function
            .passes
            .iter()
            .enumerate()
            .map(|(p, ir)| {
                self.kernels
                    .iter()
                    .position(|(_, known)| known == ir)
                    .unwrap_or_else(|| {
                        let name = if function.passes.len() == 1 {
                            base.clone()
                        } else {
                            format!("{base}_pass{p}")
                        };
                        self.kernels.push((name, ir.clone()));
                        self.kernels.len() - 1
                    })
            })
            .collect();
        self.functions.push(NamedFunction {
            role,
            function,
            kernels,
        });
    }

    /// The type that implements a kernel.
    pub(super) fn kernel_type(&self, kernel: usize) -> String {
        format!("Kernel_{}", self.kernels[kernel].0)
    }

    /// The names of a kernel's entries in the PTX, at f32 and at f64; an item of one type has one entry.
    pub(super) fn entries(&self, kernel: usize) -> [String; 2] {
        let name = &self.kernels[kernel].0;
        match self.types {
            ValueTypes::Generic => [format!("{name}_f32"), format!("{name}_f64")],
            _ => [name.clone(), name.clone()],
        }
    }
}
