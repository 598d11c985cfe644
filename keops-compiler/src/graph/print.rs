//! A graph as text, one node a line: what snapshots and dumps show.

use super::{Graph, Kind, NodeId};
use std::fmt::Write;

/// What `roots` need, arguments first; variables are named by `name`.
pub fn print(g: &Graph, roots: &[NodeId], name: &dyn Fn(usize) -> String) -> String {
    let mut out = String::new();
    for id in g.reachable(roots) {
        let node = g.node(id);
        let args: Vec<String> = node.args.iter().map(|a| format!("%{}", a.0)).collect();
        let args = args.join(", ");
        let what = match &node.kind {
            Kind::Variable(n) => name(*n),
            Kind::Constant(bits) => format!("{:?}", f64::from_bits(*bits)),
            Kind::Op(op, params) if params.is_empty() => format!("{op:?}({args})"),
            Kind::Op(op, params) => format!("{op:?}{params:?}({args})"),
            Kind::Reduce(r, axis, 0) => format!("{r:?}_{}({args})", axis.letter()),
            Kind::Reduce(r, axis, k) => format!("{r:?}_{}::<{k}>({args})", axis.letter()),
            Kind::Complex => format!("complex({args})"),
            Kind::Integer(integer) => format!("{integer:?}"),
            Kind::Derivative(d) => format!("{}({args})", d.name()),
            Kind::Row(axis) => axis.letter().to_string(),
            Kind::Extent(axis) => format!("rows of {}", axis.letter()),
        };
        let mut indices = String::new();
        if node.indices.i {
            indices.push('i');
        }
        if node.indices.j {
            indices.push('j');
        }
        let _ = writeln!(out, "%{} [{indices}] = {what}: {}", id.0, node.ty);
    }
    let roots: Vec<String> = roots.iter().map(|r| format!("%{}", r.0)).collect();
    let _ = writeln!(out, "return {}", roots.join(", "));
    out
}
