use keops::keops;

keops! {
    pub fn f(a: [[f32; 3]; 3], y_j: [f32; 3]) = sum_j sqdist(a, y_j);
}

fn main() {}
