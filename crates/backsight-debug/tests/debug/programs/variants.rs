//! Enums that become other variants, for the tests of LLDB.

#[derive(Debug)]
enum Shape {
    Unit,
    Pair(i32, String),
}

fn stop(number: i32) -> i32 {
    number + 1
}

fn main() {
    let mut good: Result<i32, String> = Ok(1);
    let mut bad: Result<i32, String> = Err("no".to_owned());
    let mut unit = Shape::Unit;
    let mut pair = Shape::Pair(1, "one".to_owned());
    let mut empty: Result<i32, String> = Err(String::new());
    let mut zero = "a\0b".to_owned();
    let mut here = stop(1);
    here += 1; // BEFORE
    good = Ok(2);
    zero.push('!');
    unit = Shape::Pair(2, "two".to_owned());
    here += 1; // AFTER
    println!("{good:?} {bad:?} {unit:?} {pair:?} {zero} {here} {empty:?}");
    bad = Ok(3);
    empty = Ok(4);
    pair = Shape::Unit;
    println!("{bad:?} {pair:?} {empty:?}");
}
