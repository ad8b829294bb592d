//! Workers take orders from a queue and sum up what was sold. The bug: an order is counted by its number and not by its amount.
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

#[derive(Clone, Debug)]
struct Order {
    number: u64,
    article: String,
    amount: u64,
}

#[derive(Default)]
struct Sold {
    by_article: HashMap<String, u64>,
    orders: BTreeMap<u64, Order>,
}

impl Sold {
    fn take(&mut self, order: Order) {
        *self.by_article.entry(order.article.clone()).or_default() += order.number; // COUNTS
        self.orders.insert(order.number, order); // KEEPS
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let sold = Arc::new(Mutex::new(Sold::default()));
    let (sender, mut receiver) = mpsc::channel::<Order>(4);
    let keeper = Arc::clone(&sold);
    let worker = tokio::spawn(async move {
        while let Some(order) = receiver.recv().await {
            keeper.lock().await.take(order);
        }
    });
    for number in 1..=3 {
        let article = if number == 2 { "pear" } else { "apple" };
        sender.send(Order { number, article: article.to_owned(), amount: number * 10 }).await.unwrap();
    }
    drop(sender);
    worker.await.unwrap();
    let sold = sold.lock().await;
    println!("{:?} {}", sold.by_article, sold.orders.values().map(|order| order.amount).sum::<u64>()); // END
}
