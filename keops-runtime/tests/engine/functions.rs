//! The functions around the kernels of [`kernels`](crate::kernels), as an expansion describes them.
use keops_runtime::__private::{Axis, Function, Input, Output, Parameter, Pass, Shape};

/// An input of a function.
const fn input(name: &'static str, axis: Option<Axis>, shape: Shape) -> Input {
    Input {
        name,
        axis,
        shape,
        cotangent: false,
    }
}

const fn value(shape: Shape, axis: Option<Axis>) -> Output {
    Output {
        shape,
        index: false,
        axis,
    }
}

const fn index(shape: Shape, axis: Option<Axis>) -> Output {
    Output {
        shape,
        index: true,
        axis,
    }
}

const I: Option<Axis> = Some(Axis::I);
const J: Option<Axis> = Some(Axis::J);
const NO_PTX: Result<&str, &str> = Err("written by hand");
/// A fold over j.
const FOLD: Pass = Pass {
    outer: I,
    inner: J,
    outer_slots: &[0],
    inner_slots: &[1],
    parameters: &[],
    outputs: &[],
    listed: &[],
    needs_rows: None,
};

const X: Input = input("x_i", I, Shape::Vector(3));
const Y: Input = input("y_j", J, Shape::Vector(3));
const B: Input = input("b_j", J, Shape::Scalar);

/// `Gauss` at D = 3.
pub(crate) static GAUSS: Function = Function {
    name: "gauss",
    inputs: &[X, Y, B],
    passes: &[Pass {
        inner_slots: &[1, 2],
        outputs: &[value(Shape::Scalar, I)],
        ..FOLD
    }],
    outputs: &[3],
    ptx: NO_PTX,
};

/// `Gauss` at D = 64.
pub(crate) static GAUSS_64: Function = Function {
    name: "gauss_64",
    inputs: &[
        input("x_i", I, Shape::Vector(64)),
        input("y_j", J, Shape::Vector(64)),
        B,
    ],
    passes: &[Pass {
        inner_slots: &[1, 2],
        outputs: &[value(Shape::Scalar, I)],
        ..FOLD
    }],
    outputs: &[3],
    ptx: NO_PTX,
};

/// `Hoisted`
pub(crate) static HOISTED: Function = Function {
    name: "hoisted",
    inputs: &[
        input("x_i", I, Shape::Vector(2)),
        input("a_i", I, Shape::Scalar),
        input("y_j", J, Shape::Vector(2)),
        B,
        input("r", None, Shape::Scalar),
    ],
    passes: &[Pass {
        outer_slots: &[0, 1],
        inner_slots: &[2, 3],
        parameters: &[Parameter::Slot(4)],
        outputs: &[value(Shape::Scalar, I)],
        ..FOLD
    }],
    outputs: &[5],
    ptx: NO_PTX,
};

/// `Gradient`
pub(crate) static GRADIENT: Function = Function {
    name: "gauss",
    inputs: &[
        X,
        Y,
        B,
        Input {
            name: "e_i",
            axis: I,
            shape: Shape::Scalar,
            cotangent: true,
        },
    ],
    passes: &[Pass {
        outer_slots: &[0, 3],
        inner_slots: &[1, 2],
        outputs: &[value(Shape::Vector(3), I)],
        ..FOLD
    }],
    outputs: &[4],
    ptx: NO_PTX,
};

/// `Nearest` at K = 1.
pub(crate) static NEAREST_1: Function = Function {
    name: "nearest",
    inputs: &[X, Y, B],
    passes: &[Pass {
        inner_slots: &[1, 2],
        outputs: &[value(Shape::Scalar, I), index(Shape::Scalar, I)],
        needs_rows: Some("argmin_j"),
        ..FOLD
    }],
    outputs: &[3, 4],
    ptx: NO_PTX,
};

/// `Nearest` at K = 4.
pub(crate) static NEAREST_4: Function = Function {
    name: "nearest",
    inputs: &[X, Y, B],
    passes: &[Pass {
        inner_slots: &[1, 2],
        outputs: &[value(Shape::Vector(4), I), index(Shape::Vector(4), I)],
        ..FOLD
    }],
    outputs: &[3, 4],
    ptx: NO_PTX,
};

/// `ArgMin`
pub(crate) static ARGMIN: Function = Function {
    name: "closest",
    inputs: &[X, Y],
    passes: &[Pass {
        outputs: &[index(Shape::Scalar, I)],
        needs_rows: Some("argmin_j"),
        ..FOLD
    }],
    outputs: &[2],
    ptx: NO_PTX,
};

/// `ClosestNumber`
pub(crate) static CLOSEST_NUMBER: Function = Function {
    name: "closest_number",
    inputs: &[
        input("x_i", I, Shape::Scalar),
        input("y_j", J, Shape::Scalar),
    ],
    passes: &[Pass {
        outputs: &[index(Shape::Scalar, I)],
        needs_rows: Some("argmin_j"),
        ..FOLD
    }],
    outputs: &[2],
    ptx: NO_PTX,
};

/// `Other`
pub(crate) static OTHER: Function = Function {
    name: "other",
    inputs: &[X, Y],
    passes: &[Pass {
        outputs: &[value(Shape::Scalar, I), index(Shape::Scalar, I)],
        ..FOLD
    }],
    outputs: &[2, 3],
    ptx: NO_PTX,
};

/// `MinMax`
pub(crate) static MIN_MAX: Function = Function {
    name: "min_max",
    inputs: &[
        input("x_i", I, Shape::Scalar),
        input("y_j", J, Shape::Scalar),
    ],
    passes: &[Pass {
        outputs: &[value(Shape::Scalar, I), value(Shape::Scalar, I)],
        ..FOLD
    }],
    outputs: &[2, 3],
    ptx: NO_PTX,
};

/// `Softmax`
pub(crate) static SOFTMAX: Function = Function {
    name: "softmax",
    inputs: &[
        input("x_i", I, Shape::Scalar),
        input("y_j", J, Shape::Scalar),
        B,
    ],
    passes: &[Pass {
        inner_slots: &[1, 2],
        outputs: &[value(Shape::Scalar, I), value(Shape::Scalar, I)],
        needs_rows: Some("softmax_j"),
        ..FOLD
    }],
    outputs: &[3, 4],
    ptx: NO_PTX,
};

/// `LogSumExp`
pub(crate) static LOG_SUM_EXP: Function = Function {
    name: "lse",
    inputs: &[X, Y],
    passes: &[Pass {
        outputs: &[value(Shape::Scalar, I)],
        ..FOLD
    }],
    outputs: &[2],
    ptx: NO_PTX,
};

/// `Mean`
pub(crate) static MEAN: Function = Function {
    name: "average",
    inputs: &[B],
    passes: &[Pass {
        outer: None,
        outer_slots: &[],
        inner_slots: &[0],
        parameters: &[Parameter::Extent(Axis::J)],
        outputs: &[value(Shape::Scalar, None)],
        needs_rows: Some("mean_j"),
        ..FOLD
    }],
    outputs: &[1],
    ptx: NO_PTX,
};

/// s_i = `GAUSS`, then sum_i exp(-sqdist(x_i, y_j)) s_i: the second pass folds over i what the first one made.
pub(crate) static TWO_PASSES: Function = Function {
    name: "twice",
    inputs: &[X, Y, B],
    passes: &[
        Pass {
            inner_slots: &[1, 2],
            outputs: &[value(Shape::Scalar, I)],
            ..FOLD
        },
        Pass {
            outer: J,
            inner: I,
            outer_slots: &[1],
            inner_slots: &[0, 3],
            outputs: &[value(Shape::Scalar, J)],
            ..FOLD
        },
    ],
    outputs: &[4, 3],
    ptx: NO_PTX,
};

/// `ArgMin`, then `Gather`: the nearest y_j itself, which is returned with its index and x_i.
pub(crate) static CHOSEN: Function = Function {
    name: "chosen",
    inputs: &[X, Y],
    passes: &[
        Pass {
            outputs: &[index(Shape::Scalar, I)],
            needs_rows: Some("argmin_j"),
            ..FOLD
        },
        GATHER,
    ],
    outputs: &[3, 2, 2, 0],
    ptx: NO_PTX,
};

/// The second pass of `CHOSEN`.
const GATHER: Pass = Pass {
    outer_slots: &[2],
    outputs: &[value(Shape::Vector(3), I)],
    ..FOLD
};
/// `ArgMin`, then `Scatter`: for each row of j the sum of the x_i that it is the nearest to.
const SCATTER: Pass = Pass {
    outer: J,
    inner: I,
    outer_slots: &[],
    inner_slots: &[0, 2],
    outputs: &[value(Shape::Vector(3), J)],
    ..FOLD
};
const INDICES: Pass = Pass {
    outputs: &[index(Shape::Scalar, I)],
    ..FOLD
};

const fn then(passes: &'static [Pass]) -> Function {
    Function {
        name: "then",
        inputs: &[X, Y],
        passes,
        outputs: &[3, 2, 2, 0],
        ptx: NO_PTX,
    }
}

/// `CHOSEN`, with the pairs of its second pass listed.
pub(crate) static CHOSEN_LISTED: Function = then(&[
    INDICES,
    Pass {
        listed: &[2],
        ..GATHER
    },
]);
/// `SCATTER` of all pairs.
pub(crate) static RETURNED: Function = then(&[INDICES, SCATTER]);
/// The same with its pairs listed.
pub(crate) static RETURNED_LISTED: Function = then(&[
    INDICES,
    Pass {
        listed: &[2],
        ..SCATTER
    },
]);

/// `Map`
pub(crate) static MAP: Function = Function {
    name: "shift",
    inputs: &[
        input("x_i", I, Shape::Vector(2)),
        input("p", None, Shape::Vector(2)),
    ],
    passes: &[Pass {
        inner: None,
        inner_slots: &[],
        parameters: &[Parameter::Slot(1)],
        outputs: &[value(Shape::Vector(2), I)],
        ..FOLD
    }],
    outputs: &[2],
    ptx: Ok("// text"),
};
