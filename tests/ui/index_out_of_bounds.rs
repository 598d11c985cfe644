use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_j x_i[3] * y_j[0];
}

fn main() {}
