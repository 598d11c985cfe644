//! Peephole passes on kernel IR: products into fused multiply-adds, squared differences into sums, dead code away.
//!
//! Invariant: a product is only contracted into a sum that is its single use, in the same block, so that `a·b − a·b`
//! stays 0 and nothing that is computed once per outer loop moves into an inner one.

use super::{Operand, Prim, Reg, Stmt};
use std::collections::BTreeMap;

/// Contracts and cleans one function.
pub(super) fn contract(stmts: &mut Vec<Stmt>) {
    let uses = count(stmts);
    fuse(stmts, &uses);
    fuse_squares(stmts, &uses);
    while sweep(stmts) {}
}

fn count(stmts: &[Stmt]) -> BTreeMap<Reg, usize> {
    let mut uses = BTreeMap::new();
    for stmt in stmts {
        visit(stmt, &mut |r| *uses.entry(r).or_insert(0) += 1);
    }
    uses
}

/// Calls `f` for every register that a statement (or what is nested in it) reads.
pub(super) fn visit(stmt: &Stmt, f: &mut dyn FnMut(Reg)) {
    let mut operand = |o: &Operand| {
        if let Operand::Reg(r) = o {
            f(*r);
        }
    };
    match stmt {
        Stmt::Let(_, _, args) => args.iter().for_each(operand),
        Stmt::Pick(_, _, numbers) => numbers.iter().for_each(operand),
        Stmt::Mutable(_, v)
        | Stmt::Assign(_, v)
        | Stmt::Store(_, _, v)
        | Stmt::Put(_, v)
        | Stmt::Prod(_, v)
        | Stmt::Sum(_, v) => operand(v),
        Stmt::Extremum(_, _, v) | Stmt::KMin(_, _, v) | Stmt::LogSumExp(_, _, _, v) => operand(v),
        Stmt::SumMul(_, a, b) => {
            operand(a);
            operand(b);
        }
        Stmt::Weigh(_, shrink, weight, v) => {
            operand(&Operand::Reg(*shrink));
            operand(&Operand::Reg(*weight));
            operand(v);
        }
        Stmt::Loop(_, _, body) => body.iter().for_each(|s| visit(s, f)),
        Stmt::SumValue(..) | Stmt::RowWord(..) | Stmt::LogSumExpValue(..) | Stmt::Array(..) => {}
    }
}

fn fuse(stmts: &mut [Stmt], uses: &BTreeMap<Reg, usize>) {
    let mut products: BTreeMap<Reg, (Operand, Operand)> = BTreeMap::new();
    let mut negations: BTreeMap<Reg, Operand> = BTreeMap::new();
    for stmt in stmts {
        match stmt {
            Stmt::Loop(_, _, body) => fuse(body, uses),
            Stmt::Let(reg, prim, args) => {
                let single = |o: &Operand, of: &BTreeMap<Reg, (Operand, Operand)>| match o {
                    Operand::Reg(r) if uses.get(r) == Some(&1) => of.get(r).cloned(),
                    _ => None,
                };
                match (*prim, args.as_slice()) {
                    (Prim::Add, [a, b]) => {
                        if let Some((x, y)) = single(a, &products) {
                            (*prim, *args) = (Prim::Fma, vec![x, y, b.clone()]);
                        } else if let Some((x, y)) = single(b, &products) {
                            (*prim, *args) = (Prim::Fma, vec![x, y, a.clone()]);
                        } else if let Some(x) = negated(b, &negations) {
                            (*prim, *args) = (Prim::Sub, vec![a.clone(), x]);
                        } else if let Some(x) = negated(a, &negations) {
                            (*prim, *args) = (Prim::Sub, vec![b.clone(), x]);
                        }
                    }
                    (Prim::Sub, [a, b]) => {
                        if let Some((x, y)) = single(b, &products) {
                            (*prim, *args) = (Prim::Fnma, vec![x, y, a.clone()]);
                        }
                    }
                    _ => {}
                }
                match (*prim, args.as_slice()) {
                    (Prim::Mul, [a, b]) => {
                        products.insert(*reg, (a.clone(), b.clone()));
                    }
                    (Prim::Neg, [a]) => {
                        negations.insert(*reg, a.clone());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// `mul(a, a)` is a square, and `fma(d, d, c)` of a difference that nothing else reads is one operation, see
/// `Isa::sqdiff_add`. That a factor meets itself matters to whoever bounds the product.
fn fuse_squares(stmts: &mut [Stmt], uses: &BTreeMap<Reg, usize>) {
    let mut differences: BTreeMap<Reg, [Operand; 2]> = BTreeMap::new();
    for stmt in stmts {
        match stmt {
            Stmt::Loop(_, _, body) => fuse_squares(body, uses),
            Stmt::Let(reg, Prim::Sub, args) => {
                if let [a, b] = args.as_slice() {
                    differences.insert(*reg, [a.clone(), b.clone()]);
                }
            }
            Stmt::Let(_, prim @ Prim::Mul, args) => {
                if let [a @ Operand::Reg(_), b] = args.as_slice()
                    && a == b
                {
                    (*prim, *args) = (Prim::Square, vec![a.clone()]);
                }
            }
            Stmt::Let(_, prim @ Prim::Fma, args) => {
                if let [Operand::Reg(d), Operand::Reg(same), c] = args.as_slice()
                    && d == same
                    && uses.get(d) == Some(&2)
                    && let Some([a, b]) = differences.get(d)
                {
                    (*prim, *args) = (Prim::SqdiffAdd, vec![a.clone(), b.clone(), c.clone()]);
                }
            }
            _ => {}
        }
    }
}

fn negated(operand: &Operand, negations: &BTreeMap<Reg, Operand>) -> Option<Operand> {
    match operand {
        Operand::Reg(r) => negations.get(r).cloned(),
        _ => None,
    }
}

/// Removes definitions that nothing reads; true if there were any.
fn sweep(stmts: &mut Vec<Stmt>) -> bool {
    let uses = count(stmts);
    let mut changed = false;
    sweep_block(stmts, &uses, &mut changed);
    changed
}

fn sweep_block(stmts: &mut Vec<Stmt>, uses: &BTreeMap<Reg, usize>, changed: &mut bool) {
    for stmt in stmts.iter_mut() {
        if let Stmt::Loop(_, _, body) = stmt {
            sweep_block(body, uses, changed);
        }
    }
    let before = stmts.len();
    stmts.retain(|stmt| match stmt {
        Stmt::Let(r, ..)
        | Stmt::Pick(r, ..)
        | Stmt::SumValue(r, _)
        | Stmt::RowWord(r, _)
        | Stmt::LogSumExpValue(r, _) => uses.contains_key(r),
        Stmt::Loop(_, _, body) => !body.is_empty(),
        _ => true,
    });
    *changed |= stmts.len() != before;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{Ix, Space};

    fn column(space: Space) -> Operand {
        Operand::Column(space, Ix::at(0))
    }

    /// d = x − y; v = fma(d, d, x); put v, and `also` if any.
    fn squared(also: Option<Reg>) -> Vec<Stmt> {
        let (x, y) = (column(Space::Outer), column(Space::Inner));
        let mut stmts = vec![
            Stmt::Let(0, Prim::Sub, vec![x.clone(), y]),
            Stmt::Let(1, Prim::Fma, vec![Operand::Reg(0), Operand::Reg(0), x]),
            Stmt::Put(Ix::at(0), Operand::Reg(1)),
        ];
        stmts.extend(also.map(|r| Stmt::Put(Ix::at(1), Operand::Reg(r))));
        contract(&mut stmts);
        stmts
    }

    #[test]
    fn a_squared_difference_is_one_operation() {
        let (x, y) = (column(Space::Outer), column(Space::Inner));
        assert_eq!(
            squared(None)[0],
            Stmt::Let(1, Prim::SqdiffAdd, vec![x.clone(), y, x])
        );
    }

    #[test]
    fn a_difference_that_is_read_elsewhere_stays() {
        assert!(matches!(squared(Some(0))[0], Stmt::Let(0, Prim::Sub, _)));
    }
}
