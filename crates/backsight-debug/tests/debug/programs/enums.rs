//! Enums of every layout, for the tests of LLDB.

#![allow(dead_code)]

#[derive(Debug)]
enum Shape {
    Unit,
    Tuple(i32, String),
    Named { a: Vec<i32>, b: String },
}

#[derive(Debug)]
enum Plain {
    A,
    B = 7,
}

#[inline(never)]
fn look(number: usize) -> usize {
    number + 1
}

fn main() {
    let ok: Result<i32, String> = Ok(1);
    let empty_error: Result<i32, String> = Err(String::new());
    let error: Result<i32, String> = Err("bad".to_string());
    let unit = Shape::Unit;
    let tuple = Shape::Tuple(3, "x".to_string());
    let named = Shape::Named { a: vec![1, 2], b: "hey".to_string() };
    let no_text: Option<String> = None;
    let empty_text: Option<String> = Some(String::new());
    let text = Some("hi".to_string());
    let no_box: Option<Box<i32>> = None;
    let no_number: Option<u64> = None;
    let zero: Option<u64> = Some(0);
    let no_list: Option<Vec<u8>> = None;
    let empty_list: Option<Vec<u8>> = Some(vec![]);
    let outer_none: Option<Option<String>> = None;
    let inner_none: Option<Option<String>> = Some(None);
    let deep = Some(Some("deep".to_string()));
    let plain = Plain::B;
    let looked = look(3); // LOOK
    println!("{ok:?}{empty_error:?}{error:?}{unit:?}{tuple:?}{named:?}{no_text:?}{empty_text:?}{text:?}");
    println!("{no_box:?}{no_number:?}{zero:?}{no_list:?}{empty_list:?}{outer_none:?}{inner_none:?}{deep:?}{plain:?}{looked}");
}
