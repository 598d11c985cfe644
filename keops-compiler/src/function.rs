//! One callable function, from graph to kernels: an item's evaluation or one of its derivatives.
//!
//! Invariant: everything here is a pure function of the item, so equal functions give equal kernels, which the expansion
//! then shares.

use crate::budget::{Excess, of_graph, of_passes};
use crate::graph::autodiff;
use crate::graph::complex;
use crate::graph::derive::expand;
use crate::graph::rebuild::decompose;
use crate::graph::simplify::{late, simplify};
use crate::graph::{Graph, Kind, NodeId};
use crate::item::Arithmetic;
use crate::lower::kernel::{KernelIr, lower_pass};
use crate::schedule::{Output, schedule};
use crate::types::{Axis, Element, Indices, Shape, Type};

/// An input of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name in the formula.
    pub name: String,
    /// The axis it has one row for.
    pub axis: Option<Axis>,
    /// Shape of one row.
    pub shape: Shape,
    /// The shape of its complex rows, if they are, both parts of which `shape` holds.
    pub complex: Option<Shape>,
    /// Whether it is a cotangent that the caller passes to a derivative method.
    pub cotangent: bool,
}

/// A formula ready for differentiation: decomposed and simplified.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Its inputs; variable n of the graph is input n.
    pub inputs: Vec<Input>,
    /// The graph.
    pub graph: Graph,
    /// What it returns.
    pub outputs: Vec<Output>,
    /// For each the shape of its complex values, if they are, with both parts in one real value.
    pub complex: Vec<Option<Shape>>,
    /// How exactly it is computed.
    pub arithmetic: Arithmetic,
    /// Whether squared distances are expanded.
    pub expand: bool,
    /// What it takes too much of. It computes zeros then.
    pub excess: Option<Excess>,
    /// Reductions that have no value for no rows, as the user wrote them.
    pub needs_rows: Vec<(Axis, String)>,
}

/// A function as passes over slots.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its inputs.
    pub inputs: Vec<Input>,
    /// One kernel per pass.
    pub passes: Vec<KernelIr>,
    /// The slots returned.
    pub outputs: Vec<usize>,
    /// What it takes too much of.
    pub excess: Option<Excess>,
    /// The first reduction over each pass's inner axis that has no value for no rows.
    pub needs_rows: Vec<Option<String>>,
}

impl Input {
    /// The type of one row.
    pub fn ty(&self) -> Type {
        complex::ty(self.shape, self.complex)
    }
}

impl Formula {
    /// Decomposes and simplifies a checked graph.
    pub fn new(inputs: Vec<Input>, graph: &Graph, outputs: &[NodeId]) -> Formula {
        let mut needs_rows = vec![];
        for id in graph.reachable(outputs) {
            if let Kind::Reduce(reduction, axis, _) = graph.node(id).kind
                && !reduction.0.empty_has_value
            {
                needs_rows.push((axis, format!("{}_{}", reduction.0.name, axis.letter())));
            }
        }
        // The rows are those of the formula as written: a simpler one may depend on less (`pow(x_i, 0)`).
        let axes: Vec<Option<Axis>> = outputs
            .iter()
            .map(|&node| graph.indices(node).single())
            .collect();
        let (mut graph, mut outputs) = decompose(graph, outputs);
        (graph, outputs) = simplify(&graph, &outputs);
        // Innermost derivatives first, each made of simplified ones.
        let mut excess = None;
        while let Some(expanded) = expand(&graph, &outputs) {
            match expanded {
                Ok((next, moved)) if of_graph(&next, &moved).is_none() => {
                    (graph, outputs) = decompose(&next, &moved);
                    (graph, outputs) = simplify(&graph, &outputs);
                    continue;
                }
                Ok((next, moved)) => excess = of_graph(&next, &moved),
                Err(found) => excess = Some(found),
            }
            outputs = zeros(&mut graph, &outputs);
        }
        let outputs: Vec<Output> = outputs
            .into_iter()
            .zip(axes)
            .map(|(node, axis)| Output { node, axis })
            .collect();
        Formula {
            inputs,
            graph,
            complex: vec![None; outputs.len()],
            outputs,
            arithmetic: Arithmetic::Default,
            expand: false,
            excess,
            needs_rows,
        }
        .within_budget()
    }

    /// The same, or zeros and why.
    fn within_budget(mut self) -> Formula {
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.node).collect();
        if let Some(excess) = of_graph(&self.graph, &roots) {
            self.excess = self.excess.or(Some(excess));
            let zeros = zeros(&mut self.graph, &roots);
            for (output, node) in self.outputs.iter_mut().zip(zeros) {
                output.node = node;
            }
        }
        self
    }

    /// Says which outputs are complex.
    #[must_use]
    pub fn with_complex(mut self, complex: Vec<Option<Shape>>) -> Formula {
        self.complex = complex;
        self
    }

    /// The node of an input.
    pub fn input_node(&mut self, number: usize) -> NodeId {
        let Input { axis, shape, .. } = self.inputs[number];
        self.graph.variable(number, Type::real(shape), axis)
    }

    /// The vector-Jacobian product with respect to some inputs, as a formula whose last inputs are the cotangents of
    /// this one's differentiable outputs.
    pub fn vjp(&self, wrt: &[usize]) -> Formula {
        self.derived(&[], wrt)
    }

    /// The value, then the vector-Jacobian product with respect to all inputs: the outputs of both, in one function, so that
    /// what both need is computed once.
    pub fn value_and_vjp(&self) -> Formula {
        let all: Vec<usize> = (0..self.inputs.len()).collect();
        self.derived(&self.outputs, &all)
    }

    /// Outputs of this formula, then its vector-Jacobian product.
    fn derived(&self, values: &[Output], wrt: &[usize]) -> Formula {
        let mut result = self.clone();
        let cotangent = self.cotangent_names();
        let mut seeds = vec![];
        for ((output, name), &complex) in self.outputs.iter().zip(cotangent).zip(&self.complex) {
            let Some(name) = name else { continue };
            let shape = self.graph.shape(output.node);
            result.inputs.push(Input {
                name,
                axis: output.axis,
                shape,
                complex,
                cotangent: true,
            });
            let seed = result.input_node(result.inputs.len() - 1);
            seeds.push((output.node, seed));
        }
        let nodes: Vec<NodeId> = wrt.iter().map(|&n| result.input_node(n)).collect();
        let cotangents = autodiff::vjp(&mut result.graph, &seeds, &nodes);
        let gradients = cotangents
            .iter()
            .zip(wrt)
            .map(|(c, &n)| c.unwrap_or_else(|| result.graph.constant(0.0, self.inputs[n].shape)));
        let gradients: Vec<NodeId> = gradients.collect();
        let roots: Vec<NodeId> = values.iter().map(|o| o.node).chain(gradients).collect();
        let axes: Vec<Option<Axis>> = values
            .iter()
            .map(|o| o.axis)
            .chain(wrt.iter().map(|&n| self.inputs[n].axis))
            .collect();
        let (graph, roots) = simplify(&result.graph, &roots);
        result.outputs = roots
            .iter()
            .zip(axes)
            .map(|(&node, axis)| Output { node, axis })
            .collect();
        let complex = wrt.iter().map(|&n| self.inputs[n].complex);
        result.complex = self.complex[..values.len()]
            .iter()
            .copied()
            .chain(complex)
            .collect();
        result.graph = graph;
        result.within_budget()
    }

    /// The Jacobian-vector product, as a formula whose last inputs are tangents of this one's inputs (`t_x_i` of `x_i`);
    /// `None` where an output is an index.
    pub fn jvp(&self) -> Option<Formula> {
        self.jvp_along(&(0..self.inputs.len()).collect::<Vec<_>>())
    }

    /// The same where only these inputs have tangents.
    pub fn jvp_along(&self, wrt: &[usize]) -> Option<Formula> {
        let mut result = self.clone();
        let mut pairs = vec![];
        for &n in wrt {
            let input = Input {
                name: tangent_name(&result.inputs[n].name, |name| {
                    result.inputs.iter().any(|i| i.name == name)
                }),
                cotangent: true,
                ..self.inputs[n].clone()
            };
            result.inputs.push(input);
            let last = result.inputs.len() - 1;
            pairs.push((result.input_node(n), result.input_node(last)));
        }
        let mut roots = vec![];
        for output in &self.outputs {
            let ty = self.graph.ty(output.node);
            if ty.element != Element::Real {
                return None;
            }
            // A variable that stands for the cotangent while transposing twice, and does not remain.
            let dummy = result.graph.variable(usize::MAX, ty, output.axis);
            let tangent =
                autodiff::jvp(&mut result.graph, output.node, dummy, &pairs, Indices::NONE);
            roots.push(tangent.unwrap_or_else(|| result.graph.constant(0.0, ty.shape)));
        }
        let (graph, roots) = simplify(&result.graph, &roots);
        for (output, node) in result.outputs.iter_mut().zip(roots) {
            output.node = node;
        }
        result.graph = graph;
        Some(result.within_budget())
    }

    /// The names of the outputs' cotangents, none for indices: `e_i` for an output with one row per i (`e_i_0`, `e_i_1`
    /// … would be ambiguous, so further outputs and further derivatives count: `e2_i`, `e3_i`).
    pub fn cotangent_names(&self) -> Vec<Option<String>> {
        let mut taken: Vec<String> = self.inputs.iter().map(|i| i.name.clone()).collect();
        self.outputs
            .iter()
            .map(|output| {
                if self.graph.ty(output.node).element != Element::Real {
                    return None;
                }
                let suffix = output
                    .axis
                    .map_or(String::new(), |a| format!("_{}", a.letter()));
                let name = (1..)
                    .map(|n: usize| {
                        if n == 1 {
                            format!("e{suffix}")
                        } else {
                            format!("e{n}{suffix}")
                        }
                    })
                    .find(|name| !taken.contains(name));
                taken.extend(name.clone());
                name
            })
            .collect()
    }

    /// Schedules and lowers.
    pub fn compile(&self) -> Function {
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.node).collect();
        let (mut graph, roots) = late(&self.graph, &roots, self.arithmetic, self.expand);
        let outputs: Vec<Output> = roots
            .iter()
            .zip(&self.outputs)
            .map(|(&node, o)| Output { node, axis: o.axis })
            .collect();
        let schedule = schedule(&graph, &outputs, self.inputs.len());
        let passes: Vec<KernelIr> = schedule
            .passes
            .iter()
            .map(|pass| lower_pass(&mut graph, &schedule, pass))
            .collect();
        let needs_rows = passes
            .iter()
            .map(|p| {
                self.needs_rows
                    .iter()
                    .find(|(axis, _)| Some(*axis) == p.inner)
                    .map(|(_, name)| name.clone())
            })
            .collect();
        Function {
            inputs: self.inputs.clone(),
            excess: self.excess.or(of_passes(&passes)),
            passes,
            outputs: schedule.outputs,
            needs_rows,
        }
    }
}

/// Zeros of the types of some nodes.
fn zeros(g: &mut Graph, nodes: &[NodeId]) -> Vec<NodeId> {
    let shapes: Vec<Shape> = nodes.iter().map(|&n| g.shape(n)).collect();
    shapes.into_iter().map(|s| g.constant(0.0, s)).collect()
}

/// The name of a variable's tangent: `t_x_i`, or the first of `t2_x_i`, `t3_x_i`, … that is not taken.
pub fn tangent_name(variable: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = format!("t_{variable}");
    let mut number = 2;
    while taken(&name) {
        name = format!("t{number}_{variable}");
        number += 1;
    }
    name
}
