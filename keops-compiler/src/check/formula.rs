//! Checking of one formula: expressions → nodes.

use super::error::{CheckError, Role};
use super::integers;
use super::result;
use super::scope::Scope;
use super::suggest;
use crate::diagnostics::Diagnostics;
use crate::graph::complex;
use crate::graph::{Graph, Kind, NodeId};
use crate::item::{ResultType, Signature};
use crate::syntax::expr::split_index;
use crate::syntax::number::Number;
use crate::syntax::{Expr, ExprKind, ItemSource, Let, Region};
use crate::types::{Axis, Type};
use crate::{ops, reductions};
use std::collections::BTreeMap;

/// Longest chain of operations that depend on each other: later stages recurse over it.
const STEPS: usize = 512;

/// A checked formula.
pub(super) struct Formula {
    /// Its graph.
    pub graph: Graph,
    /// Its results.
    pub outputs: Vec<NodeId>,
    /// What they are.
    pub results: Vec<ResultType>,
    /// Whether it is a tuple.
    pub is_tuple: bool,
    /// Where nodes come from.
    pub regions: BTreeMap<NodeId, Region>,
}

/// The state of checking one formula.
pub(super) struct Checker<'a> {
    pub(super) graph: Graph,
    pub(super) scope: Scope,
    pub(super) errors: &'a mut Diagnostics,
    pub(super) signature: &'a Signature,
    /// The names of all items of the macro call.
    pub(super) items: &'a [&'a str],
    /// By expression id: its node.
    values: Vec<Option<NodeId>>,
    /// By node: whether it is a reduction or made of one.
    reduced: Vec<bool>,
    /// By node: the longest chain of nodes below it.
    depths: Vec<usize>,
    regions: BTreeMap<NodeId, Region>,
    /// Something could not be resolved, so that nothing can be said about what is unused.
    pub(super) unresolved: bool,
    /// The first reduction outside of others.
    pub(super) first_reduction: Option<(Axis, String)>,
    /// How many reductions enclose what is checked.
    pub(super) enclosing: usize,
    /// The axes whose rows are counted.
    pub(super) counted: Vec<Axis>,
    /// Reductions over both indices have been reported.
    pub(super) mixed: bool,
}

/// One result with the expression it comes from.
pub(super) type Output<'e> = (Option<NodeId>, &'e Expr);

/// Checks a formula; `None` if it has no results because of errors.
pub(super) fn check(
    signature: &Signature,
    source: &ItemSource,
    body: &Expr,
    items: &[&str],
    errors: &mut Diagnostics,
) -> Option<Formula> {
    let mut checker = Checker {
        items,
        graph: Graph::new(),
        scope: Scope::default(),
        errors,
        signature,
        values: vec![None; source.ids],
        reduced: vec![],
        depths: vec![],
        regions: BTreeMap::new(),
        unresolved: false,
        first_reduction: None,
        enclosing: 0,
        counted: vec![],
        mixed: false,
    };
    checker.declare_variables(source);
    let mut outputs = Vec::new();
    let is_tuple = checker.outputs(body, &mut outputs);
    for binding in checker.scope.leave(0) {
        // A variable that nothing else uses may be there for the number of its rows.
        let counted = split_index(&binding.name).is_some_and(|(_, a)| checker.counted.contains(&a));
        if !checker.unresolved && !counted {
            checker.errors.push(
                binding.region,
                CheckError::UnusedVariable { name: binding.name },
            );
        }
    }
    let results = result::check(&mut checker, &outputs, is_tuple)?;
    let outputs = outputs
        .into_iter()
        .map(|(node, _)| {
            let parts = complex::parts(&checker.graph, node?);
            parts.map_or(node, |z| Some(complex::pack(&mut checker.graph, z)))
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Formula {
        graph: checker.graph,
        outputs,
        results,
        is_tuple,
        regions: checker.regions,
    })
}

impl Checker<'_> {
    fn declare_variables(&mut self, source: &ItemSource) {
        let signature = self.signature;
        for (number, variable) in signature.variables.iter().enumerate() {
            let mut node = self
                .graph
                .variable(number, Type::real(variable.shape), variable.axis);
            if variable.complex.is_some() {
                let parts = complex::unpack(&mut self.graph, node, variable.ty().shape);
                node = complex::pair(&mut self.graph, parts);
            }
            self.note(node, variable.name.region());
            self.scope.declare(&variable.name, Some(node), false);
        }
        // Variables whose types are wrong are known, without a value.
        for parameter in source.parameters.iter().flatten() {
            self.scope.declare(&parameter.name, None, false);
        }
    }

    /// The results of a whole formula; returns whether it is a tuple.
    fn outputs<'e>(&mut self, expr: &'e Expr, outputs: &mut Vec<Output<'e>>) -> bool {
        match &expr.kind {
            ExprKind::Block(lets, value) => {
                let mark = self.scope.enter();
                self.lets(lets);
                let is_tuple = self.outputs(value, outputs);
                self.leave(mark);
                is_tuple
            }
            ExprKind::Tuple(list) => {
                for part in list {
                    self.output(part, outputs);
                }
                true
            }
            _ => self.output(expr, outputs),
        }
    }

    /// One result, or both of a pair such as `min_argmin_j`; returns whether there are two.
    fn output<'e>(&mut self, expr: &'e Expr, outputs: &mut Vec<Output<'e>>) -> bool {
        if let ExprKind::Reduce(reduce) = &expr.kind
            && let Some(pair) = reductions::find_pair(&reduce.base)
        {
            for node in self.pair(pair, expr, reduce) {
                if let Some(node) = node {
                    self.note(node, expr.region);
                }
                outputs.push((node, expr));
            }
            return true;
        }
        let node = self.expr(expr);
        outputs.push((node, expr));
        false
    }

    /// The node of an expression; `None` if there is none, which has been reported.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<NodeId> {
        let mut node = self.kind(expr);
        if let Some(found) = node {
            self.note(found, expr.region);
            // `let`s can make chains that the parser's limits do not see.
            if self
                .depths
                .get(found.0 as usize)
                .is_some_and(|&depth| depth > STEPS)
            {
                node = self.report(expr.region, CheckError::TooManySteps { limit: STEPS });
            }
        }
        if let Some(slot) = self.values.get_mut(expr.id) {
            *slot = node;
        }
        node
    }

    fn kind(&mut self, expr: &Expr) -> Option<NodeId> {
        match &expr.kind {
            ExprKind::Error => {
                self.unresolved = true;
                None
            }
            ExprKind::Name(name) => self.name(name, expr.region),
            ExprKind::Number(number) => self.number(number, expr.region),
            ExprKind::Prefix(operator, operand) => {
                self.operator(expr, operator, &[operand.as_ref()])
            }
            ExprKind::Infix(operator, left, right) => {
                self.operator(expr, operator, &[left.as_ref(), right.as_ref()])
            }
            ExprKind::Call { name, args } => self.call(expr, name, args),
            ExprKind::Reduce(reduce) => self.reduce(expr, reduce),
            ExprKind::Subscript(value, subscripts) => self.subscript(expr, value, subscripts),
            ExprKind::Array(list) if list.is_empty() => {
                self.report(expr.region, CheckError::EmptyBrackets)
            }
            ExprKind::Array(list) => {
                self.named_operation(expr, "array", "`[…]`", &list.iter().collect::<Vec<_>>())
            }
            ExprKind::If(parts) => {
                self.named_operation(expr, "select", "`if`", &parts.iter().collect::<Vec<_>>())
            }
            ExprKind::Block(lets, value) => {
                let mark = self.scope.enter();
                self.lets(lets);
                let node = self.expr(value);
                self.leave(mark);
                node
            }
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::Tuple(list) => {
                for part in list {
                    self.expr(part);
                }
                self.report(expr.region, CheckError::NestedTuple)
            }
        }
    }

    fn name(&mut self, name: &str, region: Region) -> Option<NodeId> {
        if let Some(binding) = self.scope.take(name) {
            return binding.value;
        }
        if name == "PI" {
            return Some(self.graph.literal(std::f64::consts::PI));
        }
        if name == integers::INFINITY {
            return Some(self.graph.literal(f64::INFINITY));
        }
        if let Some(axis) = integers::row(name) {
            return self.row_number(axis, region);
        }
        if ops::find(name).is_some() {
            return self.report(region, CheckError::FunctionAsValue { name: name.into() });
        }
        self.unresolved = true;
        let suggestion = suggest::variable(name, self.scope.names());
        self.report(
            region,
            CheckError::Unknown {
                name: name.into(),
                role: Role::Value,
                suggestion,
            },
        )
    }

    fn number(&mut self, number: &Number, region: Region) -> Option<NodeId> {
        let scalar = self.signature.scalar.text();
        if !number.suffix.is_empty() && number.suffix != scalar {
            let bare = number
                .text
                .strip_suffix(number.suffix.as_str())
                .unwrap_or(&number.text);
            let error = CheckError::LiteralType {
                number: bare.trim_end_matches('_').into(),
                suffix: number.suffix.clone(),
                scalar: scalar.into(),
            };
            return self.report(region, error);
        }
        let is_finite = if scalar == "f32" {
            (number.value as f32).is_finite()
        } else {
            number.value.is_finite()
        };
        if !is_finite {
            return self.report(
                region,
                CheckError::LiteralRange {
                    scalar: scalar.into(),
                },
            );
        }
        Some(self.graph.literal(number.value))
    }

    fn lets(&mut self, lets: &[Let]) {
        for Let { name, value } in lets {
            let node = self.expr(value);
            if let Some(why) = super::scope::reserved(&name.text) {
                self.errors.push(
                    name.region(),
                    CheckError::Reserved {
                        name: name.text.clone(),
                        why,
                    },
                );
            }
            if !self.scope.declare(name, node, true) {
                let variable = self
                    .signature
                    .variables
                    .iter()
                    .any(|v| v.name.text == name.text);
                self.errors.push(
                    name.region(),
                    CheckError::DuplicateLet {
                        name: name.text.clone(),
                        variable,
                    },
                );
                // Whatever the name means below, it is not what was written.
                self.scope.forget(&name.text);
                self.unresolved = true;
            }
        }
    }

    fn leave(&mut self, mark: usize) {
        for binding in self.scope.leave(mark) {
            if !self.unresolved {
                self.errors
                    .push(binding.region, CheckError::UnusedLet { name: binding.name });
            }
        }
    }

    /// Reports an error; there is no node.
    pub(super) fn report(&mut self, region: Region, error: CheckError) -> Option<NodeId> {
        self.errors.push(region, error);
        None
    }

    /// Remembers where a node comes from, and whether it is made of reductions.
    fn note(&mut self, node: NodeId, region: Region) {
        self.regions.entry(node).or_insert(region);
        // Arguments come before their users, so theirs are known.
        for id in self.graph.ids().skip(self.reduced.len()) {
            let node = self.graph.node(id);
            let below = node
                .args
                .iter()
                .filter_map(|a| self.depths.get(a.0 as usize));
            self.depths
                .push(below.max().map_or(0, |deepest| deepest.saturating_add(1)));
            let reduced = matches!(node.kind, Kind::Reduce(..))
                || node.args.iter().any(|&a| self.is_reduced(a));
            self.reduced.push(reduced);
        }
    }
    /// Whether a node is a reduction or made of one.
    pub(super) fn is_reduced(&self, node: NodeId) -> bool {
        self.reduced.get(node.0 as usize).copied().unwrap_or(false)
    }
    /// The node that an expression was found to be.
    pub(super) fn value(&self, expr: &Expr) -> Option<NodeId> {
        self.values.get(expr.id).copied().flatten()
    }
}
