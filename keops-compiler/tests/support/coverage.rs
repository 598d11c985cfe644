//! What a formula uses, for counts of it.

use keops_compiler::graph::Kind;
use keops_compiler::item::Item;
use std::collections::BTreeSet;

/// Operations and reductions, kinds of derivatives, conditions on row numbers, complex values, matrices, several results.
pub fn uses(item: &Item, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |what: &str| {
        found.insert(what.to_owned());
    };
    for id in item.graph.reachable(&item.outputs) {
        match &item.graph.node(id).kind {
            Kind::Op(op, _) => add(op.0.name),
            Kind::Reduce(reduction, axis, _) => {
                add(&format!("{}_{}", reduction.0.name, axis.letter()));
            }
            Kind::Derivative(kind) => add(&format!("{kind:?}").to_lowercase()),
            Kind::Row(_) => add("row numbers as values"),
            _ => {}
        }
    }
    for (what, part) in [
        ("complex variables", "Complex<"),
        ("matrix variables", "[[f64"),
    ] {
        if text.contains(part) {
            add(what);
        }
    }
    if item.outputs.len() > 1 {
        add("several results");
    }
    found
}
