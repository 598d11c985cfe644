use keops::keops;

keops! {
    pub fn gauss(x_i: [f32; 3], y_j: [f32; 3]) = sum_j exp(-sqdist(x_i, y_j));
}

fn main() {
    let (x, y) = (vec![[0.0f32; 3]; 4], vec![[0.0f64; 3]; 5]);
    println!("{}", gauss(&x, &y).eval().unwrap());
}
