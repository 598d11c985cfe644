use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 3]) = sqnorm2(x_i) * (sum_i sqdist(x_i, y_j));
}

fn main() {}
