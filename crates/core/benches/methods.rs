//! What a step of each method costs; see `docs/reference/speed.md` for what was measured.

fn main() {
    divan::main();
}
