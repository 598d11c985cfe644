//! Rows too long for registers, of few points: on a GPU their columns, accumulators and states are in scratch memory, and a tile of
//! inner rows is a few rows.

use crate::harness::{Case, Cotangent, Data, Flat, engines};

/// Rows of i and j: more inner rows than the longest register tile, and than a tile of the longest rows.
const ROWS: [usize; 2] = [3, 19];

/// `wide!(name T D)`: a sum with all its gradients, the nearest point, and weights of wide vectors, at type T and dimension D.
macro_rules! wide {
    ($name:ident $t:ident $d:literal) => {
        mod $name {
            use super::*;
            keops::keops! {
                fn gauss(x_i: [$t; $d], y_j: [$t; $d], b_j: $t) = sum_j exp(-sqdist(x_i, y_j) / $d) * b_j;
                fn nearest(x_i: [$t; $d], y_j: [$t; $d]) = argmin_j sqdist(x_i, y_j);
                fn attention(q_i: [$t; 3], k_j: [$t; 3], v_j: [$t; $d]) = sumsoftmaxweight_j(q_i | k_j, v_j);
            }

            #[test]
            fn agrees() {
                let mut data = Data::new($d);
                let [m, n] = ROWS;
                let (x, y) = (data.array::<_, $t>((m, $d)), data.array::<_, $t>((n, $d)));
                let (q, k) = (data.array::<_, $t>((m, 3)), data.array::<_, $t>((n, 3)));
                let b = data.array::<_, $t>(n);
                let case = |text| Case::new(text).of_rows(ROWS);
                for engine in engines() {
                    let gauss_case = case(stringify!(fn gauss(x_i: [$t; $d], y_j: [$t; $d], b_j: $t) = sum_j exp(-sqdist(x_i, y_j) / $d) * b_j;));
                    let inputs = [x.flat(), y.flat(), b.flat()];
                    let value = on!(engine, gauss(&x, &y, &b)).eval().expect("evaluates");
                    gauss_case.value::<$t>(&inputs, &value.flat(), engine);
                    let cotangent = value.cotangent(&mut data);
                    let found = on!(engine, gauss(&x, &y, &b)).vjp(&cotangent).expect("differentiates");
                    let found = [found.x_i.flat(), found.y_j.flat(), found.b_j.flat()];
                    gauss_case.gradients::<$t>(&inputs, &cotangent.flat(), &found, engine);

                    let value = on!(engine, nearest(&x, &y)).eval().expect("evaluates");
                    let nearest_case = case(stringify!(fn nearest(x_i: [$t; $d], y_j: [$t; $d]) = argmin_j sqdist(x_i, y_j);));
                    nearest_case.value::<$t>(&inputs[..2], &value.flat(), engine);

                    let value = on!(engine, attention(&q, &k, &y)).eval().expect("evaluates");
                    let attention_case = case(stringify!(fn attention(q_i: [$t; 3], k_j: [$t; 3], v_j: [$t; $d]) = sumsoftmaxweight_j(q_i | k_j, v_j);));
                    let inputs = [q.flat(), k.flat(), y.flat()];
                    attention_case.value::<$t>(&inputs, &value.flat(), engine);
                }
            }
        }
    };
}

wide!(hundred f32 100);
wide!(past_a_power_of_two f64 257);
wide!(thousand f32 1000);

keops::keops! {
    fn too_long(x_i: [f64; 6200], y_j: [f64; 6200]) = sum_j x_i | y_j;
}

#[test]
fn rows_beyond_shared_memory_have_a_reason_instead_of_device_code() {
    let reason = TooLong::ptx().unwrap_err().to_string();
    assert!(
        reason.contains("6200 numbers of its inner row") && reason.contains("6144 of type f64"),
        "{reason}"
    );
}
