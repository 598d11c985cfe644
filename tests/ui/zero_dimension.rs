use keops::keops;

keops! {
    pub fn f(x_i: [f32; 0], y_j: f32) = sum_j y_j * sum(x_i);
}

fn main() {}
