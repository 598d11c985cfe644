use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_j grad(exp(-square(x_i - y_j)), x_i);
}

fn main() {}
