//! Every reduction, over j and over i, of scalars and vectors, with epilogues and several in one pass.

case!(sum(i x_i: [T; 3], j y_j: [T; 3], j b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j);
case!(sum_over_i(i x_i: [T; 2], i a_i: [T; 3], j y_j: [T; 2]) = sum_i exp(-sqdist(x_i, y_j)) * a_i);
case!(sum_of_wide_vectors(i x_i: [T; 2], j y_j: [T; 2], j b_j: [T; 20]) = sum_j exp(-sqdist(x_i, y_j)) * b_j);
case!(sum_of_matrices(i x_i: [T; 2], j a_j: [[T; 2]; 3]) = sum_j a_j * x_i[0]);
case!(mean(i x_i: [T; 3], j y_j: [T; 3]) = mean_j cos(dot(x_i, y_j)));
case!(prod(i x_i: [T; 2], j y_j: [T; 2]) = prod_j 1.0 + (x_i - y_j) * 0.1);
case!(prod_over_i(i x_i: T, j y_j: T) = prod_i 1.0 - x_i * y_j * 0.05);
case!(min(i x_i: [T; 3], j y_j: [T; 3]) = min_j sqdist(x_i, y_j));
case!(max_of_vectors(i x_i: [T; 3], j y_j: [T; 3]) = max_j x_i * y_j);
case!(no gradient argmin(i x_i: [T; 3], j y_j: [T; 3]) = argmin_j sqdist(x_i, y_j));
case!(no gradient argmax_over_i(i x_i: [T; 3], j y_j: [T; 3]) = argmax_i sqdist(x_i, y_j));
case!(no gradient argmin_of_vectors(i x_i: [T; 2], j y_j: [T; 2]) = argmin_j abs(x_i - y_j));
case!(no gradient kmin(i x_i: [T; 3], j y_j: [T; 3]) = kmin_j::<4> sqdist(x_i, y_j));
case!(no gradient argkmin(i x_i: [T; 3], j y_j: [T; 3]) = argkmin_j::<10> sqdist(x_i, y_j));
case!(no gradient min_and_argmin(i x_i: [T; 3], j y_j: [T; 3]) = (min_j sqdist(x_i, y_j), argmin_j sqdist(x_i, y_j)));
case!(logsumexp(i x_i: [T; 3], j y_j: [T; 3]) = logsumexp_j(-sqdist(x_i, y_j)));
case!(logsumexp_of_vectors(i x_i: [T; 3], j y_j: [T; 3]) = logsumexp_j x_i * y_j);
case!(logsumexpweight(i x_i: T, j y_j: T, j b_j: [T; 2]) = logsumexp_j(x_i * y_j, b_j) - logsumexpweight_j(y_j - x_i, y_j));
case!(no gradient min_argmin(i x_i: [T; 3], j y_j: [T; 3]) = min_argmin_j sqdist(x_i, y_j));
case!(no gradient max_argmax(i x_i: [T; 2], j y_j: [T; 2]) = max_argmax_i x_i - y_j);
case!(no gradient kmin_argkmin(i x_i: [T; 2], j y_j: [T; 2]) = kmin_argkmin_j::<3> x_i - y_j);
case!(sumsoftmaxweight(i x_i: [T; 3], j y_j: [T; 3], j b_j: [T; 2]) = sumsoftmaxweight_j(sqdist(x_i, y_j), b_j));
case!(quotient_of_two(i x_i: [T; 2], j y_j: [T; 2], j b_j: [T; 3], p r: T) = {
    let k = exp(-sqdist(x_i, y_j) / (2.0 * r * r));
    (sum_j k * b_j) / (sum_j k)
});
case!(epilogue_with_rows(i x_i: [T; 3], j y_j: [T; 3]) = log(sum_j exp(-sqdist(x_i, y_j))) + sqnorm2(x_i));
case!(bare_result(j y_j: [T; 3], p w: [T; 3]) = sum_j tanh(dot(y_j, w)));
case!(rows_and_bare_result(i x_i: T, j y_j: T) = (sum_j x_i * y_j) / (sum_j y_j));

#[test]
fn every_reduction_is_covered() {
    let source = include_str!("reductions.rs");
    for reduction in keops_compiler::reductions::REDUCTIONS {
        let called = ["_j", "_i"]
            .iter()
            .any(|axis| source.contains(&format!("{}{axis}", reduction.name)));
        assert!(called, "no case calls `{}`", reduction.name);
    }
}
