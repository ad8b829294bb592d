//! The program of the table in Rust; compiled by the tests, no part of the crate.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

struct Customer {
    name: String,
}

struct Item {
    name: String,
    price: i32,
}

struct Order {
    customer: Box<Customer>,
    items: Vec<Item>,
}

struct Shop {
    open: bool,
}

impl Shop {
    fn work(&self, order: &mut Order, count: i32, label: &str) -> i32 {
        let x = 1;
        let ratio = 2.5;
        let flag = true;
        let nothing: Option<i32> = None;
        let text = String::from("héllo wörld 世界");
        let lengthy = "abcdefghij".repeat(10000);
        let größe = 7;
        let empty: Vec<i32> = Vec::new();
        let nested = vec![vec![1, 2], vec![3]];
        let mut small = vec![1, 2, 3];
        let mut big: Vec<i32> = (0..1_000_000).collect();
        let mut prices = HashMap::from([("apple", 3), ("pear", 5)]);
        let mut number = 42;
        let outer = x;
        {
            let x = 2;
            number += zero(x); // FIRST
            number += 1;
            order.customer.name = String::from("Bob");
            order.items[1].price = 21;
            small.push(4);
            prices.insert("pear", 6);
            big[500_000] = 7;
            number += zero(x); // SECOND
        }
        let all = (ratio, flag, nothing, text, lengthy, small, big, prices, count, label.len(), outer);
        std::hint::black_box((all, größe, empty, nested));
        number
    }
}

fn zero(x: i32) -> i32 {
    x - x
}

fn recurse(n: i32) -> i32 {
    if n == 0 {
        return 0; // DEEP
    }
    1 + recurse(n - 1)
}

fn wait_for(started: Sender<()>, end: Receiver<()>) {
    let waiting = "for the end";
    started.send(()).ok();
    end.recv().ok();
    std::hint::black_box(waiting);
}

fn looping() -> i32 {
    let mut total = 0;
    let mut here = 0;
    for i in 0..1000 {
        total += i;
        here += total & 1; // LOOP
    }
    here
}

fn main() {
    println!("hello from the program");
    let (start, started) = channel();
    let (ending, end) = channel();
    let waiter = std::thread::spawn(move || wait_for(start, end));
    started.recv().ok();
    let items = vec![Item { name: String::from("pen"), price: 10 }, Item { name: String::from("ink"), price: 20 }];
    let mut order = Order { customer: Box::new(Customer { name: String::from("Ann") }), items };
    let shop = Shop { open: true };
    shop.work(&mut order, 3, "label");
    recurse(5);
    looping();
    ending.send(()).ok();
    waiter.join().ok();
    std::hint::black_box((shop.open, order.items[0].name.len()));
    std::process::exit(3);
}
