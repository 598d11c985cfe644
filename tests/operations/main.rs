//! Conformance of every operation, in a kernel: see `tests/conformance/main.rs`. [`every_operation_is_covered`] fails for one that
//! is added without a case.

#[macro_use]
#[path = "../conformance/harness.rs"]
mod harness;

// Scalar functions, several in one tuple-free sum so that each contributes to value and gradient.
case!(powers(i x_i: T, j y_j: T) = sum_j square(x_i) * y_j + pow(y_j, 3) + pow(x_i + y_j, -2) + powf(x_i, y_j));
case!(roots(i x_i: T, j y_j: T) = sum_j sqrt(x_i + y_j) + rsqrt(x_i * y_j) + inv(x_i + y_j) + x_i / y_j);
case!(exponentials(i x_i: T, j y_j: T) = sum_j exp(x_i) * y_j + exp(x_i * y_j) + log(x_i + y_j) + tanh(x_i - y_j));
case!(angles(i x_i: T, j y_j: T) = sum_j sin(x_i * 10.0) * y_j + cos(x_i - 7.0 * y_j));
case!(kinks(i x_i: T, j y_j: T) = sum_j abs(x_i - y_j) + sign(x_i - 0.7) * y_j + step(y_j - x_i) + relu(x_i - y_j));
case!(clamps(i x_i: T, j y_j: T) = sum_j clamp(x_i * y_j, 0.3, 0.8) + min(x_i, y_j) * max(x_i, 0.5) - PI);
case!(branches(i x_i: T, j y_j: T) = sum_j if x_i < y_j { x_i * y_j } else if x_i >= 1.0 || y_j != 0.5 && !(x_i == y_j) { y_j } else { 2.0 });

case!(more_exponentials(i x_i: T, j y_j: T) = sum_j exp2(x_i * y_j) + expm1(x_i - y_j) + log2(x_i + y_j) + log1p(x_i * y_j));
case!(more_angles(i x_i: T, j y_j: T) = sum_j tan(x_i * y_j * 0.9) + asin(x_i * 0.7) * y_j + acos(y_j * x_i * 0.6) + atan(x_i - y_j) + atan2(x_i, y_j - 0.7));
case!(hyperbolic(i x_i: T, j y_j: T) = sum_j sinh(x_i) * y_j + cosh(x_i - y_j) + sigmoid(x_i * y_j - 1.0) + softplus(y_j - x_i));
case!(error_functions(i x_i: T, j y_j: T) = sum_j erf(x_i * y_j) + erfc(x_i + y_j) + xlogx(x_i * y_j) + sinxdivx(x_i * 4.0 - y_j));
case!(whole_numbers(i x_i: T, j y_j: T) = sum_j floor(x_i * 4.0) * y_j + ceil(y_j * 8.0) + trunc(x_i - y_j) + round(x_i * 2.0) + round(x_i, 1) * y_j + mod(x_i, 0.5, -0.25) + ifelse(x_i - y_j, x_i, 2.0));

// Vectors.
case!(vectors(i x_i: [T; 3], j y_j: [T; 3]) = sum_j sum(x_i * y_j) + (x_i | y_j) + dist(x_i, y_j) * norm2(x_i) + mean(y_j));
case!(directions(i x_i: [T; 3], j y_j: [T; 3]) = sum_j normalize(x_i + y_j) * sqnorm2(y_j));
case!(pieces(i x_i: [T; 5], j y_j: [T; 2]) = sum_j concat(x_i[1..3], y_j)[2] * x_i[0] + elem(x_i, 4) * dot(extract(x_i, 2, 2), y_j));
case!(arrays(i x_i: [T; 2], j y_j: [T; 2]) = sum_j [x_i[0] * y_j[1], 2.0, y_j[0]]);
case!(extrema_of_vectors(i x_i: [T; 4], j y_j: [T; 4]) = sum_j max(x_i * y_j) - min(x_i + y_j));

case!(encodings(i x_i: [T; 3], j y_j: T) = sum_j one_hot(y_j * 2.0, 3) * x_i + sumt(argmax(x_i) + y_j, 3) + elemt(y_j, 3, 1) * argmin(x_i * y_j) + extractt(x_i[0..2], 1, 3));
case!(three_dimensions(i x_i: [T; 3], j y_j: [T; 3]) = sum_j cross(x_i, y_j) + softmax(x_i * y_j));
case!(splines(p knots: [T; 5], i x_i: T, j y_j: T) = sum_j bspline(knots * 0.1 + [0.2, 0.4, 0.7, 1.1, 1.3], x_i * y_j, 2));
case!(warping(i x_i: [T; 2], j y_j: [T; 3], p gamma: T) = sum_j softdtw_sqdist(x_i, y_j, gamma));
case!(weights(p s: T, p w: [T; 3], p m: [[T; 3]; 3], i x_i: [T; 3], j y_j: [T; 3]) = sum_j weightedsqnorm(s, x_i) + weightedsqdist(w, x_i, y_j) + weightedsqdist(m, x_i, y_j));

// Matrices.
case!(matrix_vector(p a: [[T; 3]; 2], i x_i: [T; 3], j y_j: [T; 2]) = sum_j tanh(matvec(a, x_i)) * y_j + vecmat(x_i, transpose(a)));
case!(matrix_matrix(i a_i: [[T; 2]; 2], j b_j: [[T; 2]; 2]) = sum_j matmul(a_i, b_j) * trace(b_j) + outer(b_j[0], a_i[1]));

case!(tensors(i a_i: [T; 6], j b_j: [T; 6], p m: [[T; 2]; 2]) = sum_j tensordot(a_i, b_j, [2, 3], [3, 2], [1], [0], [1, 0]) + kron(kron(m, m)[0][0..2], b_j[0..2]));
// More products than are written out: loops over what may be in registers, and over what is not.
case!(tensors_in_loops(i a_i: [T; 12], j b_j: [T; 12]) = sum_j kron(exp(a_i * b_j), b_j));
case!(matrices_in_loops(i a_i: [[T; 6]; 6], j b_j: [[T; 6]; 6]) = sum_j matmul(matmul(a_i, exp(a_i * b_j)), b_j));

// Dimensions beyond the unrolling limit become loops.
case!(wide(i x_i: [T; 40], j y_j: [T; 40], j b_j: T) = sum_j exp(-0.1 * sqdist(x_i, y_j)) * b_j);
case!(wide_layers(p a: [[T; 12]; 10], i x_i: [T; 12], j y_j: [T; 10]) = sum_j dot(tanh(matvec(a, x_i * y_j[0])), y_j));

// What is hoisted: i-only, j-only and parameter-only parts, with special functions.
case!(hoisted(i x_i: [T; 3], j y_j: [T; 3], p s: T) = sum_j exp(-norm2(x_i) * s * s) * log(sqnorm2(y_j) + s) * (x_i | y_j) + sin(s));

// Derivatives inside formulas.
case!(mixed_derivatives(i x_i: [T; 3], j y_j: [T; 3], j b_j: [T; 3]) = sum_j jvp(grad(exp(-sqdist(x_i, y_j)), x_i), y_j, b_j));
case!(second_order(i x_i: [T; 2], j y_j: [T; 2], p a: [[T; 2]; 2]) = sum_j laplacian(exp(x_i | matvec(a, y_j)), x_i) + divergence(x_i / norm2(x_i), x_i) * y_j[0]);
case!(row_derivative(i x_i: [T; 2], j y_j: [T; 2]) = grad(logsumexp_j x_i | y_j, x_i));

// Row numbers: conditions that leave rows out, over both axes, and numbers of them.
case!(row_bands(i x_i: T, j y_j: [T; 2], p w: T) = sum_j if abs(i - j) <= 3 || j == 2 * i + 1 || i + w >= j { x_i * y_j } else { 0.0 });
case!(row_triangles(i x_i: [T; 2], j y_j: [T; 2]) = sum_i if i < j && !(i == 5) { exp(-sqdist(x_i, y_j)) } else { 0.0 });
case!(row_extrema(i x_i: T, j y_j: T, p w: T) = (max_j if i - 2 * j + 2 > w { x_i * y_j } else { -INFINITY }) * (min_j if j <= i { x_i + y_j } else { INFINITY }));
case!(row_bounds(i x_i: T, j y_j: T, p v: [T; 2]) = sum_j if abs(i - j) <= 4 * v[1] + 1 && i - j >= -3 || !(i + 2 * sum(v) > j) { x_i * y_j } else { 0.0 });
case!(row_distances(i x_i: T, j y_j: T) = sum_j exp(-real(abs(i - j))) * x_i * y_j + real(min(i, 7)) * y_j);

#[test]
fn every_operation_is_covered() {
    let source = include_str!("main.rs");
    for op in keops_compiler::ops::OPS {
        if op.syntax == keops_compiler::ops::Syntax::Call {
            assert!(
                source.contains(&format!("{}(", op.name)),
                "no case calls `{}`",
                op.name
            );
        }
    }
}
