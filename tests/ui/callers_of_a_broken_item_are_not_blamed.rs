use keops::{Error, keops, ndarray::Array1};

keops! {
    pub fn gauss(x_i: [f32; 3], y_j: [f32; 2], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    pub fn right(x_i: f32, y_j: f32) = sum_j x_i * y_j;
}

keops! {
    fn plain(x_i: f64, y_j: f64) = sum_j expp(x_i * y_j);
    fn plain_dx = grad(plain, x_i);
    fn plain_along = jvp(plain, y_j);
    fn generic<T>(x_i: [T; 3], y_j: T) = sum_j expp(x_i * y_j);
}

keops! {
    fn any<T, const D: usize>(x_i: [T; D], y_j: [T; D]) = sum_j expp(x_i | y_j);
}

fn all() -> Result<Vec<f64>, Error> {
    let (x, e) = (Array1::from(vec![1.0f64; 4]), Array1::from(vec![2.0; 4]));
    let gradient = plain(&x, &x).vjp(&e)?.x_i;
    let tangent = PlainTangent { x_i: Some(&x), ..Default::default() };
    let moved = plain(&x, &x).jvp(tangent)?;
    let (value, gradients) = plain(&x, &x).value_and_vjp(&e)?;
    let derivative = plain_dx(&x, &x, &e).eval()?;
    let along = plain_along(&x, &x, &e).eval()?[0];
    println!("{gradient} {} {:?} {}", value[0], gradients.y_j, derivative.sum() + along);
    let points = [[1.0; 3]; 4];
    let single = generic::<f64>(&points, &x).backend(keops::Backend::Cpu).eval()?;
    let loose = any(&points, &points).eval()?;
    let fixed = any::<f64, 3>(&points, &points).grad_x_i(&e)?;
    for row in single.rows() {
        println!("{row} {loose} {fixed}");
    }
    Ok(moved.to_vec())
}

fn sum_of(call: &PlainCall<'_>) -> f64 {
    call.eval().unwrap().sum()
}

fn main() {
    let (x, b) = (vec![[0.0f32; 3]; 4], vec![0.0f32; 4]);
    let a: Array1<f32> = gauss(&x, &x, &b).eval().unwrap();
    let g: Array1<f32> = gauss(&x, &x, &b).grad_b_j(&a).unwrap();
    println!("{a} {g} {}", Gauss::FORMULA);
    println!("{} {:?}", right(&b, &b).eval().unwrap(), all());
}
