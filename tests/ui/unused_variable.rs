use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 3], b_j: f32) = sum_j exp(-sqdist(x_i, y_j));
}

fn main() {}
