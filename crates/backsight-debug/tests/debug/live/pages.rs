//! Variables page by page, the same for every debugger: nothing of the program runs, every value comes with the path that
//! leads to it, and a path that leads nowhere says where it ended.

use std::time::{Duration, Instant};

use backsight_core::{Code, Result};
use backsight_debug::capture::{Safety, Scope};
use backsight_debug::session::{Session, VariableView, VariablesPage, VariablesRequest};

use super::subject::{Subject, stopped};

pub fn ask(session: &Session, expand: &str, start: u64, count: u64) -> Result<VariablesPage> {
    session.variables(VariablesRequest { expand: Some(expand.to_owned()), start, count, ..VariablesRequest::default() })
}

fn inside(session: &Session, expand: &str) -> VariablesPage {
    ask(session, expand, 0, 0).unwrap_or_else(|error| panic!("`{expand}`: {error}"))
}

fn value(session: &Session, expand: &str) -> VariableView {
    inside(session, expand).value.unwrap()
}

fn child<'a>(page: &'a VariablesPage, name: &str) -> &'a VariableView {
    page.variables.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no `{name}`: {page:#?}"))
}

/// Everything that is expected of every debugger.
pub fn all(subject: &Subject, shadows: bool) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    the_variables_of_a_frame(&session);
    a_million_elements(&session);
    what_is_inside(&session);
    wrong_ways(&session);
    assert_eq!(value(&session, "x").value, "2");
    if shadows {
        assert_eq!(value(&session, "x#1").value, "1");
        let names = session.variables(VariablesRequest::default()).unwrap();
        let paths: Vec<&str> = names.variables.iter().filter(|it| it.name == "x").map(|it| it.path.as_str()).collect();
        assert!(paths.contains(&"x") && paths.contains(&"x#1"), "{paths:?}");
    }
}

fn the_variables_of_a_frame(session: &Session) {
    let page = session.variables(VariablesRequest::default()).unwrap();
    let number = child(&page, "number");
    assert_eq!((number.value.as_str(), number.path.as_str(), number.expandable), ("42", "number", false));
    assert_eq!((number.scope, child(&page, "count").scope), (Some(Scope::Local), Some(Scope::Argument)));
    assert!(child(&page, "order").expandable && page.value.is_none() && !page.scopes.is_empty());
    assert_eq!((page.total, page.next_start, page.safety), (Some(page.variables.len() as u64), None, Safety::Pure));
    let second = session.variables(VariablesRequest { start: 1, count: 2, ..VariablesRequest::default() }).unwrap();
    assert_eq!(second.variables, page.variables[1..3]);
    assert_eq!((second.total, second.next_start), (page.total, Some(3)));
    let outer = session.variables(VariablesRequest { frame: 1, ..VariablesRequest::default() }).unwrap();
    assert!(outer.variables.iter().all(|variable| variable.name != "ratio"), "{outer:#?}");
    let named = VariablesRequest { scope: Some(page.scopes[0].to_lowercase()), ..VariablesRequest::default() };
    let named = session.variables(named).unwrap();
    assert!(!named.variables.is_empty() && named.variables.len() <= page.variables.len(), "{named:#?}");
}

fn a_million_elements(session: &Session) {
    let started = Instant::now();
    let page = ask(session, "big", 500_000, 10).unwrap();
    let took = started.elapsed();
    eprintln!("a page in the middle of a million elements: {took:?}");
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!((page.total, page.next_start, page.variables.len()), (Some(1_000_000), Some(500_010), 10));
    assert_eq!(page.value.as_ref().unwrap().length, Some(1_000_000));
    let third = &page.variables[2];
    assert_eq!((third.path.as_str(), third.value.as_str()), ("big[500002]", "500002"));
    assert_eq!(value(session, &third.path).value, "500002");
    let last = ask(session, "big", 999_995, 10).unwrap();
    assert_eq!((last.variables.len(), last.next_start), (5, None));
    let beyond = ask(session, "big", 2_000_000, 10).unwrap();
    assert_eq!((beyond.variables.len(), beyond.total, beyond.next_start), (0, Some(1_000_000), None));
}

fn what_is_inside(session: &Session) {
    let order = inside(session, "order");
    assert!(order.total.unwrap() >= 2 && order.value.as_ref().unwrap().expandable, "{order:#?}");
    let items = inside(session, &child(&order, "items").path);
    assert_eq!((items.total, items.value.as_ref().unwrap().length), (Some(2), Some(2)));
    let ink = inside(session, &items.variables[1].path);
    let price = child(&ink, "price");
    assert_eq!((price.path.as_str(), price.value.as_str()), ("order.items[1].price", "20"));
    assert!(value(session, "order.customer.name").value.contains("Ann"));
    let prices = inside(session, "prices");
    assert_eq!((prices.total, prices.value.as_ref().unwrap().length), (Some(2), Some(2)));
    let pear = child(&prices, "pear");
    assert_eq!((pear.path.as_str(), pear.value.as_str()), ("prices[pear]", "5"));
    let pear = inside(session, "prices[pear]");
    assert_eq!((pear.value.unwrap().value.as_str(), pear.total, pear.variables.len()), ("5", Some(0), 0));
    let watched = inside(session, "watch(order).items");
    assert_eq!(watched.variables[1].path, "watch(order).items[1]");
    assert_eq!(inside(session, "watch(order).items[1]").variables.len(), ink.variables.len());
}

fn wrong_ways(session: &Session) {
    let wrong = |expand: &str| {
        let error = ask(session, expand, 0, 0).unwrap_err();
        assert_eq!(error.code(), Code::Usage, "`{expand}`: {error}");
        error.message().to_owned()
    };
    let message = wrong("order.itemz");
    assert!(message.contains("`order.itemz`") && message.contains("customer, items"), "{message}");
    assert!(wrong("no_such_name").contains("no_such_name"));
    assert!(wrong("small[7]").contains("inside `small`"));
    assert!(wrong("number.deeper").contains("nothing inside `number`"));
    assert!(wrong("order.items[1].price.cents").contains("`order.items[1].price`"));
    assert!(wrong("watch(order").contains(')'));
    let frame = VariablesRequest { frame: 5000, ..VariablesRequest::default() };
    assert_eq!(session.variables(frame).unwrap_err().code(), Code::Usage);
    let scope = VariablesRequest { scope: Some("no such scope".to_owned()), ..VariablesRequest::default() };
    assert_eq!(session.variables(scope).unwrap_err().code(), Code::Usage);
}
