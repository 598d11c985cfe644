use keops::keops;

keops! {
    pub fn linear(a: [[f32; 4]; 2], x_i: [f32; 3], y_j: [f32; 2]) = sum_j dot(matvec(a, x_i), y_j);
}

fn main() {}
