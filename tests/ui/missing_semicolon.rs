use keops::keops;

keops! {
    pub fn f(x_i: f32, y_j: f32) = sum_j x_i * y_j
    pub fn g(x_i: f32, y_j: f32) = sum_j x_i * y_j;
}

fn main() {}
