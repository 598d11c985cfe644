//! Runs an entry of a PTX file over pairs of rows and prints the interpreter's speed.
use keops_sim::{Memory, Module, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let text = std::fs::read_to_string(args.next().ok_or("a PTX file")?)?;
    let start = std::time::Instant::now();
    let module = Module::parse(&text)?;
    println!(
        "parsed {} entries in {:?}",
        module.entries().len(),
        start.elapsed()
    );
    let (m, n) = (1000u32, 1000u32);
    for entry in module.entries() {
        let wide = entry.name.ends_with("f64");
        let mut memory = Memory::new(1 << 30);
        let mut params = Vec::new();
        params.extend(m.to_le_bytes());
        params.extend(n.to_le_bytes());
        for parameter in &entry.parameters[2..] {
            let address = memory.allocate(1 << 20)?;
            let values =
                (0..1 << 20 >> 2 >> u32::from(wide)).map(|i| (i * 37 % 101) as f32 / 101.0);
            let bytes: Vec<u8> = if wide {
                values.flat_map(|x| f64::from(x).to_le_bytes()).collect()
            } else {
                values.flat_map(|x| x.to_le_bytes()).collect()
            };
            memory.write(address, &bytes)?;
            assert_eq!(parameter.size, 8);
            params.extend(address.to_le_bytes());
        }
        let options = Options {
            races: std::env::var_os("NO_RACES").is_none(),
            ..Options::default()
        };
        let start = std::time::Instant::now();
        let stats = module.launch(
            &mut memory,
            &entry.name,
            [8, 1, 1],
            [128, 1, 1],
            0,
            &params,
            &options,
        );
        let seconds = start.elapsed().as_secs_f64();
        match stats {
            Ok(stats) => println!(
                "{:12} {:9} instructions, {:.3} s, {:.0} M/s",
                entry.name,
                stats.instructions,
                seconds,
                stats.instructions as f64 / seconds / 1e6
            ),
            Err(error) => println!("{:12} {error}", entry.name),
        }
    }
    Ok(())
}
