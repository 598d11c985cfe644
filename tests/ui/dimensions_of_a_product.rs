use keops::keops;

keops! {
    pub fn weighted(x_i: [f64; 3], w_j: [f64; 5]) = sum_j x_i * w_j;
}

fn main() {}
