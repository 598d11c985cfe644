use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 3]) = argkmin_j::<0> sqdist(x_i, y_j);
}

fn main() {}
