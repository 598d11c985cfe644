use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f64; 3]) = sum_j sqdist(x_i, y_j);
}

fn main() {}
