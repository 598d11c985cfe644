use keops::{keops, ndarray::Array1};

keops! {
    pub fn gauss(x_i: [f32; 3], y_j: [f32; 2], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
}

fn main() {
    let (x, b) = (vec![[0.0f32; 3]; 4], vec![0.0f32; 4]);
    let a: Array1<f32> = gauss(&x, &x, &b).eval().unwrap();
    let g: Array1<f32> = gauss(&x, &x, &b).grad_b_j(&a).unwrap();
    println!("{a} {g} {}", Gauss::FORMULA);
}
