use keops::keops;

keops! {
    pub fn nearest(x_i: [f32; 3], y_j: [f32; 3]) = argmin_j sqdist(x_i, y_j);
    pub fn nearest_dx = grad(nearest, x_i);
}

fn main() {}
