use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_i sqdist(x_i, y_j) + sqnorm2(x_i);
}

fn main() {}
