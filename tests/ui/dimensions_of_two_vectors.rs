use keops::keops;

keops! {
    pub fn gauss(x_i: [f32; 3], y_j: [f32; 2], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
}

fn main() {}
