// Writes simulated sensor readings to a CSV file.
use std::fs::File;
use std::io::Write;

struct Sensor {
    id: u32,
    state: u64,
}

impl Sensor {
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.state >> 40) as f64 / 1e4
    }
}

fn export(path: &str, rows: u32) -> std::io::Result<f64> {
    let file = File::create(path)?;
    #[cfg(fixed)]
    let mut out = std::io::BufWriter::new(file);
    #[cfg(not(fixed))]
    let mut out = file;
    let mut sensors: Vec<Sensor> = (0..20).map(|id| Sensor { id, state: id as u64 + 1 }).collect();
    let mut sum = 0.0;
    for row in 0..rows {
        for sensor in sensors.iter_mut() {
            let value = sensor.next();
            sum += value;
            writeln!(out, "{},{},{:.3}", row, sensor.id, value)?;
        }
    }
    Ok(sum)
}

fn main() {
    let path = "/tmp/csv_export.csv";
    let sum = export(path, 40_000).expect("export");
    std::fs::remove_file(path).unwrap();
    println!("{:.3}", sum);
}
