//! What linear operations make of vectors that differ for each unit, for the rules of these operations.

use super::{Batch, Batching, Diagonal, Line, Side};
use crate::graph::{Graph, NodeId};
use crate::ops::{diagonal, matmul, matvec, mul, place, repeat, take, transpose};
use crate::types::Shape;

/// A vector as each row of a matrix.
pub(super) fn repeated(g: &mut Graph, vector: NodeId, rows: usize) -> NodeId {
    g.apply_with(&repeat::OP, &[vector], &[rows as i64])
}

impl Diagonal {
    /// So many of its numbers, from this one on.
    fn numbers_from(self, g: &mut Graph, first: usize, shape: Shape) -> NodeId {
        match g.shape(self.numbers) {
            Shape::Scalar => self.numbers,
            _ => take::block(g, self.numbers, first, shape),
        }
    }
}

impl Batching<'_> {
    fn count(&self) -> usize {
        self.units.len()
    }

    /// The vectors as the rows of a matrix.
    pub fn dense(&mut self, line: Line) -> NodeId {
        let d = match line {
            Line::Dense(m) => return m,
            Line::Diagonal(d) => d,
        };
        let length = d.length as i64;
        let square = self.g.apply_with(&diagonal::OP, &[d.numbers], &[length]);
        let wide = in_columns(self.g, square, d.length, d.column, d.columns);
        let whole = Shape::Matrix(self.count(), d.columns);
        place::in_zeros(self.g, wide, d.row * d.columns, whole)
    }

    /// A number for each unit of a diagonal.
    fn placed(&mut self, d: Diagonal, numbers: NodeId) -> Batch {
        let by = place::in_zeros(self.g, numbers, d.row, self.units);
        self.numbers(by)
    }

    /// The scalar product with a vector that is the same for all.
    pub fn dot(&mut self, line: Line, with: NodeId) -> Batch {
        match line {
            Line::Dense(m) => {
                let by = self.g.apply(&matvec::OP, &[m, with]);
                self.numbers(by)
            }
            Line::Diagonal(d) => {
                let with = take::block(self.g, with, d.column, Shape::Vector(d.length));
                let products = mul::times(self.g, d.numbers, with);
                self.placed(d, products)
            }
        }
    }

    /// The sum of the numbers.
    pub fn total(&mut self, line: Line) -> Batch {
        match line {
            Line::Dense(m) => {
                let columns = self.g.shape(m).len() / self.count();
                let ones = self.g.constant(1.0, Shape::Vector(columns));
                let by = self.g.apply(&matvec::OP, &[m, ones]);
                self.numbers(by)
            }
            Line::Diagonal(d) => {
                let mut numbers = d.numbers;
                if self.g.shape(numbers) == Shape::Scalar {
                    let ones = self.g.constant(1.0, Shape::Vector(d.length));
                    numbers = self.g.apply(&mul::OP, &[numbers, ones]);
                }
                self.placed(d, numbers)
            }
        }
    }

    /// The vectors times a scalar or, number by number, a vector that is the same for all.
    pub fn times(&mut self, line: Line, with: NodeId) -> Line {
        let is_scalar = self.g.shape(with) == Shape::Scalar;
        match line {
            Line::Dense(m) => {
                let factors = if is_scalar {
                    with
                } else {
                    repeated(self.g, with, self.units.len())
                };
                Line::Dense(self.g.apply(&mul::OP, &[factors, m]))
            }
            Line::Diagonal(d) => {
                let part = if is_scalar {
                    with
                } else {
                    take::block(self.g, with, d.column, Shape::Vector(d.length))
                };
                let numbers = mul::times(self.g, d.numbers, part);
                Line::Diagonal(Diagonal { numbers, ..d })
            }
        }
    }

    /// The vectors times a matrix that is the same for all, from the left.
    pub fn times_matrix(&mut self, line: Line, matrix: NodeId) -> Line {
        let Shape::Matrix(_, c) = self.g.shape(matrix) else {
            unreachable!("internal error in keops: a matrix was checked")
        };
        let d = match line {
            Line::Dense(m) => return Line::Dense(self.g.apply(&matmul::OP, &[m, matrix])),
            Line::Diagonal(d) => d,
        };
        let mut rows = take::block(self.g, matrix, d.column * c, Shape::Matrix(d.length, c));
        if self.g.as_constant(d.numbers) != Some(1.0) {
            let mut factors = d.numbers;
            if self.g.shape(factors) != Shape::Scalar {
                let columns = repeated(self.g, factors, c);
                factors = self.g.apply(&transpose::OP, &[columns]);
            }
            rows = self.g.apply(&mul::OP, &[factors, rows]);
        }
        let whole = Shape::Matrix(self.count(), c);
        Line::Dense(place::in_zeros(self.g, rows, d.row * c, whole))
    }

    /// A number or a slice; nothing where it is zero.
    pub fn take(&mut self, line: Line, offset: usize, part: Shape) -> Option<Batch> {
        let d = match line {
            Line::Dense(m) => {
                let columns = columns_of(self.g, m, offset, part.len());
                return Some(match part {
                    Shape::Scalar => {
                        let by = take::block(self.g, columns, 0, self.units);
                        self.numbers(by)
                    }
                    _ => Batch::Line(Line::Dense(self.g.apply(&transpose::OP, &[columns]))),
                });
            }
            Line::Diagonal(d) => d,
        };
        let first = d.column.max(offset);
        let end = (d.column + d.length).min(offset + part.len());
        if first >= end {
            return None;
        }
        let rest = Diagonal {
            numbers: d.numbers_from(
                self.g,
                first - d.column,
                match part {
                    Shape::Scalar => Shape::Scalar,
                    _ => Shape::Vector(end - first),
                },
            ),
            length: end - first,
            row: d.row + first - d.column,
            column: first - offset,
            columns: part.len(),
        };
        Some(match part {
            Shape::Scalar => self.placed(rest, rest.numbers),
            _ => Batch::Line(Line::Diagonal(rest)),
        })
    }

    /// The vectors among zeros, of a vector or as a row of a matrix.
    pub fn place(&mut self, line: Line, offset: usize, whole: Shape) -> Batch {
        match (whole, line) {
            (Shape::Matrix(rows, columns), _) => {
                let one = self.g.literal(1.0);
                let row = place::in_zeros(self.g, one, offset / columns, Shape::Vector(rows));
                Batch::Tensor(line, row, Side::Column)
            }
            (_, Line::Dense(m)) => {
                let rows = self.count();
                let placed = in_columns(self.g, m, rows, offset, whole.len());
                Batch::Line(Line::Dense(placed))
            }
            (_, Line::Diagonal(d)) => Batch::Line(Line::Diagonal(Diagonal {
                column: d.column + offset,
                columns: whole.len(),
                ..d
            })),
        }
    }

    /// A number, a row or rows of outer products; nothing where they are zero.
    pub fn take_of_tensor(
        &mut self,
        line: Line,
        with: NodeId,
        side: Side,
        offset: usize,
        part: Shape,
    ) -> Option<Batch> {
        let columns = match (side, line) {
            (Side::Row, _) => self.g.shape(with).len(),
            (Side::Column, Line::Dense(m)) => self.g.shape(m).len() / self.count(),
            (Side::Column, Line::Diagonal(d)) => d.columns,
        };
        let (row, column) = (offset / columns, offset % columns);
        match (part, side) {
            (Shape::Matrix(rows, _), Side::Row) => {
                match self.take(line, row, Shape::Vector(rows))? {
                    Batch::Line(line) => Some(Batch::Tensor(line, with, side)),
                    _ => None,
                }
            }
            (Shape::Matrix(rows, _), Side::Column) => {
                let with = take::block(self.g, with, row, Shape::Vector(rows));
                Some(Batch::Tensor(line, with, side))
            }
            (Shape::Vector(_), Side::Row) => {
                let number = self.take(line, row, Shape::Scalar)?;
                Some(self.scaled(number, with))
            }
            (Shape::Vector(_), Side::Column) => {
                let factor = take::block(self.g, with, row, Shape::Scalar);
                Some(Batch::Line(self.times(line, factor)))
            }
            (Shape::Scalar, _) => {
                let (mine, other) = match side {
                    Side::Row => (row, column),
                    Side::Column => (column, row),
                };
                let factor = take::block(self.g, with, other, Shape::Scalar);
                let number = self.take(line, mine, Shape::Scalar)?;
                Some(self.scaled(number, factor))
            }
        }
    }

    /// Outer products as rows among zeros.
    pub fn place_tensor(
        &mut self,
        line: Line,
        with: NodeId,
        side: Side,
        offset: usize,
        whole: Shape,
    ) -> Option<Batch> {
        let Shape::Matrix(rows, columns) = whole else {
            return None;
        };
        let (row, rows) = (offset / columns, Shape::Vector(rows));
        match side {
            Side::Row => match self.place(line, row, rows) {
                Batch::Line(line) => Some(Batch::Tensor(line, with, side)),
                _ => None,
            },
            Side::Column => {
                let with = place::in_zeros(self.g, with, row, rows);
                Some(Batch::Tensor(line, with, side))
            }
        }
    }
}

/// A matrix of so many rows as columns among zeros.
fn in_columns(g: &mut Graph, matrix: NodeId, rows: usize, offset: usize, columns: usize) -> NodeId {
    if g.shape(matrix) == Shape::Matrix(rows, columns) {
        return matrix;
    }
    let turned = g.apply(&transpose::OP, &[matrix]);
    let placed = place::in_zeros(g, turned, offset * rows, Shape::Matrix(columns, rows));
    g.apply(&transpose::OP, &[placed])
}

/// Columns of a matrix as the rows of another one.
fn columns_of(g: &mut Graph, matrix: NodeId, offset: usize, count: usize) -> NodeId {
    let rows = match g.shape(matrix) {
        Shape::Matrix(rows, _) => rows,
        _ => 1,
    };
    let turned = g.apply(&transpose::OP, &[matrix]);
    take::block(g, turned, offset * rows, Shape::Matrix(count, rows))
}
