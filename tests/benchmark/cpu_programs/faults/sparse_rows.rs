// A sparse matrix times a vector: the columns of the rows are scattered over 64 MB; without the fault they are a band.
fn main() {
    let repeats: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(12);
    let (rows, per_row) = (1usize << 20, 8usize);
    let n = 1usize << 23;
    let mut columns = Vec::with_capacity(rows * per_row);
    let mut seed = 12345u64;
    for r in 0..rows {
        for k in 0..per_row {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let c = if cfg!(fixed) { (r * 8 + k) % n } else { (seed >> 33) as usize % n };
            columns.push(c as u32);
        }
    }
    let values = vec![0.5f64; rows * per_row];
    let x: Vec<f64> = (0..n).map(|i| (i % 10) as f64).collect();
    let mut y = vec![0f64; rows];
    for _ in 0..repeats {
        multiply(&columns, &values, &x, &mut y, per_row);
    }
    println!("{}", y[17]);
}
#[inline(never)]
fn multiply(columns: &[u32], values: &[f64], x: &[f64], y: &mut [f64], per_row: usize) {
    for (r, out) in y.iter_mut().enumerate() {
        let mut sum = 0.0;
        for k in r * per_row..(r + 1) * per_row {
            sum += values[k] * x[columns[k] as usize];
        }
        *out = sum;
    }
}
