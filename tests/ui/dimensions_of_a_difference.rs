use keops::keops;

keops! {
    pub fn gauss(x_i: [f32; 3], y_j: [f32; 4]) = sum_j exp(-sqnorm2(x_i - y_j));
}

fn main() {}
