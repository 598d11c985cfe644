use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_j dot(x_i[1..4], y_j);
}

fn main() {}
