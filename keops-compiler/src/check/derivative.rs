//! Items that are derivatives of earlier ones: `fn dx = grad(item, variable);`, `fn dt = jvp(item, variable);`

use super::error::CheckError;
use super::signature;
use super::suggest;
use crate::diagnostics::Diagnostics;
use crate::function::tangent_name;
use crate::graph::complex::{planar, shape_of};
use crate::graph::{Graph, Kind};
use crate::item::{Item, Origin, Program, ResultType, Signature, Variable};
use crate::reductions::{Body, Reduction};
use crate::syntax::{Expr, ExprKind, ItemSource, Name, Region};
use crate::types::{Axis, Element, Shape, Type};
use std::collections::BTreeMap;

/// Checks `grad(item, variable)` or `jvp(item, variable)`.
pub(super) fn check(
    mut signature: Signature,
    source: &ItemSource,
    body: &Expr,
    program: &Program,
    later: &[&str],
    errors: &mut Diagnostics,
) -> Result<Item, Box<Signature>> {
    let ExprKind::Call { name, args } = &body.kind else {
        errors.push(
            signature.name.region(),
            CheckError::MissingVariables {
                name: signature.name.text.clone(),
            },
        );
        return Err(Box::new(signature));
    };
    let forward = name.text == "jvp";
    if name.text != "grad" && !forward {
        errors.push(
            signature.name.region(),
            CheckError::MissingVariables {
                name: signature.name.text.clone(),
            },
        );
        return Err(Box::new(signature));
    }
    let [
        Expr {
            kind: ExprKind::Name(of),
            region: of_region,
            ..
        },
        Expr {
            kind: ExprKind::Name(wrt),
            region,
            ..
        },
    ] = args.as_slice()
    else {
        errors.push(
            body.region,
            CheckError::GradArguments {
                function: name.text.clone(),
            },
        );
        return Err(Box::new(signature));
    };
    let Some((index, item)) = program
        .items
        .iter()
        .enumerate()
        .find(|(_, i)| i.signature.name.text == *of)
    else {
        // A broken item has been reported; so has whatever is made of it, which is called alike.
        match program.broken.iter().find(|b| b.name.text == *of) {
            Some(broken) => {
                signature.scalar = broken.scalar.clone();
                signature.dimensions = broken.dimensions.clone();
                signature.variables = broken.variables.clone();
                add_argument(&mut signature);
            }
            None => errors.push(*of_region, unknown_item(of, &signature, program, later)),
        }
        return Err(Box::new(signature));
    };
    signature.scalar = item.signature.scalar.clone();
    signature.arithmetic = signature.arithmetic.or(item.signature.arithmetic);
    signature.expand |= item.signature.expand;
    signature.dimensions = item.signature.dimensions.clone();
    signature.instances = if source.device.is_empty() {
        item.signature.instances.clone()
    } else {
        signature::instances(source, &item.signature.dimensions, errors)
    };
    signature.variables = item.signature.variables.clone();
    let number = item
        .signature
        .variables
        .iter()
        .position(|v| v.name.text == *wrt);
    let before = errors.len();
    if number.is_none() {
        let names = || {
            item.signature
                .variables
                .iter()
                .map(|v| v.name.text.as_str())
        };
        let error = CheckError::UnknownItemVariable {
            name: wrt.clone(),
            item: of.clone(),
            variables: names().map(|n| format!("`{n}`")).collect(),
            suggestion: suggest::nearest(wrt, names()),
        };
        errors.push(*region, error);
    }
    if let Some(error) = no_derivative(item) {
        errors.push(*of_region, error);
    }
    match number {
        Some(wrt) if errors.len() == before => {
            Ok(derive_item(signature, item, index, wrt, forward, body))
        }
        _ => {
            add_argument(&mut signature);
            Err(Box::new(signature))
        }
    }
}

fn unknown_item(
    name: &str,
    signature: &Signature,
    program: &Program,
    later: &[&str],
) -> CheckError {
    let itself = signature.name.text == name;
    let names = program.items.iter().map(|i| i.signature.name.text.as_str());
    CheckError::UnknownItem {
        name: name.into(),
        suggestion: suggest::nearest(name, names),
        later: !itself && later.contains(&name),
    }
}

/// Why an item has no derivative.
fn no_derivative(item: &Item) -> Option<CheckError> {
    let name = item.signature.name.text.clone();
    if item.is_tuple {
        return Some(CheckError::TupleDerivative { item: name });
    }
    let gives_indices = item
        .results
        .iter()
        .any(|r| !matches!(r.ty.element, Element::Real | Element::Complex));
    let has_none = |r: &Reduction| matches!(r.body, Body::Primitive { vjp: None, .. });
    item.graph
        .reachable(&item.outputs)
        .into_iter()
        .find_map(|id| match item.graph.node(id).kind {
            Kind::Reduce(reduction, axis, _) if gives_indices || has_none(reduction.0) => {
                let reduction = format!("{}_{}", reduction.0.name, axis.letter());
                Some(CheckError::NotDifferentiable {
                    item: name.clone(),
                    reduction,
                })
            }
            _ => None,
        })
}

/// The derivative of item number `index` by its variable `wrt`: the same variables, then the cotangent of its result; or,
/// forward, the tangent of the variable.
///
/// Graph and outputs are left empty: whoever compiles the program makes them from the item's.
fn derive_item(
    mut signature: Signature,
    item: &Item,
    index: usize,
    wrt: usize,
    forward: bool,
    body: &Expr,
) -> Item {
    if forward {
        return tangent_item(signature, item, index, wrt, body);
    }
    let rows = item.results.first().and_then(|r| r.rows);
    let ty = item.results.first().map_or(Type::SCALAR, |r| r.ty);
    let complex = shape_of(ty);
    let shape = complex.map_or(ty.shape, planar);
    let name = cotangent_name(&signature.variables, rows);
    signature.variables.push(Variable {
        name: Name {
            text: name,
            span: signature.name.span,
        },
        axis: rows,
        shape,
        complex,
    });
    let results = item.signature.variables.get(wrt).map(|v| ResultType {
        ty: v.ty(),
        rows: v.axis,
    });
    Item {
        signature,
        origin: Origin::Gradient { of: index, wrt },
        graph: Graph::new(),
        outputs: vec![],
        results: results.into_iter().collect(),
        is_tuple: false,
        formula: body.to_string(),
        regions: BTreeMap::<_, Region>::new(),
    }
}

fn tangent_item(
    mut signature: Signature,
    item: &Item,
    index: usize,
    wrt: usize,
    body: &Expr,
) -> Item {
    if let Some(variable) = item.signature.variables.get(wrt) {
        let taken = |name: &str| signature.variables.iter().any(|v| v.name.text == name);
        let name = tangent_name(&variable.name.text, taken);
        signature.variables.push(Variable {
            name: Name {
                text: name,
                span: signature.name.span,
            },
            ..variable.clone()
        });
    }
    Item {
        signature,
        origin: Origin::Tangent { of: index, wrt },
        graph: Graph::new(),
        outputs: vec![],
        results: item.results.clone(),
        is_tuple: false,
        formula: body.to_string(),
        regions: BTreeMap::<_, Region>::new(),
    }
}

/// The cotangent or tangent of an item that is broken, for its callers: its type is not known, nor is it looked at.
fn add_argument(signature: &mut Signature) {
    signature.variables.push(Variable {
        name: Name {
            text: cotangent_name(&signature.variables, None),
            span: signature.name.span,
        },
        axis: None,
        shape: Shape::Scalar,
        complex: None,
    });
}

/// `e_i`, `e2_i`, `e3_i`, …: the first that no variable has.
fn cotangent_name(variables: &[Variable], rows: Option<Axis>) -> String {
    let suffix = rows.map_or(String::new(), |axis| format!("_{}", axis.letter()));
    let mut name = format!("e{suffix}");
    let mut number = 2;
    while variables.iter().any(|v| v.name.text == name) {
        name = format!("e{number}{suffix}");
        number += 1;
    }
    name
}
