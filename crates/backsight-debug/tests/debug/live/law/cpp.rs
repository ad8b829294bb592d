//! Random programs in C++.

use super::super::native::compiled;
use super::{Dice, Made, body, changes_of, judge, seeds, variables};

const HEAD: &str = "#include <array>
#include <bitset>
#include <complex>
#include <cstring>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
struct Node { int value; Node *next; };
struct Base { virtual ~Base() {} int base = 1; };
struct Derived : Base { int own = 2; std::string text = \"derived\"; };
static Node *chain(int length) { Node *first = nullptr; while (length--) first = new Node{length, first}; return first; }
static char *text(int length) { char *made = new char[length + 1]; memset(made, 'a', length); made[length] = 0; return made; }
template <class T> struct Held { int before; T held; };
template <class T> static T made_of(int count) { T made; for (int at = 0; at < count; at++) made[at] = at; return made; }
static void stop() {}
";

fn leaf(dice: &mut Dice) -> Made {
    let choices = [
        Made::new("int", "5", &["@ = 6;"]),
        Made::new("std::string", "std::string(\"short\")", &["@ = \"other\";", "@ += std::string(2000, 'x');"]),
        Made::new("std::string", "std::string(2000, 'y')", &["@[1500] = 'x';"]),
        Made::new("std::wstring", "std::wstring(L\"wide\")", &["@[2] = L'x';"]),
        Made::new("std::u16string", "std::u16string(40, u'a')", &["@[30] = u'x';"]),
        Made::new("std::vector<int>", "std::vector<int>(100)", &["@[70] = 1;", "@.push_back(4);"]),
        Made::new("std::vector<bool>", "std::vector<bool>(100)", &["@[70] = true;"]),
        Made::new("std::list<int>", "std::list<int>(60, 1)", &["*std::next(@.begin(), 40) = 2;"]),
        Made::new("std::forward_list<int>", "std::forward_list<int>(9, 1)", &["@.front() = 2;"]),
        Made::new("std::deque<long>", "std::deque<long>(300)", &["@[200] = 1;", "@.push_front(7);"]),
        Made::new("std::set<int>", "std::set<int>{1, 2, 3}", &["@.insert(9);", "@.erase(2);"]),
        Made::new("std::unordered_set<int>", "std::unordered_set<int>{1, 2, 3}", &["@.insert(9);"]),
        Made::new("std::multimap<int, int>", "std::multimap<int, int>{{1, 1}, {1, 2}}", &["@.insert({1, 3});"]),
        Made::new("std::map<int, int>", "made_of<std::map<int, int>>(90)", &["@[80] = -1;"]),
        Made::new("std::unordered_map<int, int>", "made_of<std::unordered_map<int, int>>(90)", &["@[80] = -1;"]),
        Made::new("Node *", "chain(6)", &["@->next->next->next->value = 99;", "@->value = 98;"]),
        Made::new("const char *", "text(3000)", &["const_cast<char *>(@)[2500] = 'x';"]),
        Made::new("std::bitset<70>", "std::bitset<70>()", &["@[66] = true;"]),
        Made::new("std::complex<double>", "std::complex<double>(1, 2)", &["@.imag(3);"]),
        Made::new("std::priority_queue<int>", "std::priority_queue<int>()", &["@.push(3);"]),
        Made::new(
            "std::shared_ptr<Base>",
            "std::shared_ptr<Base>(new Derived)",
            &["static_cast<Derived *>(@.get())->own = 5;"],
        ),
        Made::new("double", "0.5", &["@ = 0.25;"]),
        Made::new(
            "std::variant<int, std::string>",
            "std::variant<int, std::string>(std::string(\"v\"))",
            &["@ = 4;", "std::get<1>(@) = \"w\";"],
        ),
    ];
    dice.of(&choices).clone()
}

fn make(dice: &mut Dice, depth: u32) -> Made {
    if depth <= 1 {
        return leaf(dice);
    }
    let inner = make(dice, depth - 1);
    let (kind, it) = (&inner.kind, &inner.expression);
    let of = |kind: String, text: &str, access: &str| {
        let text = text.replace("KIND", &kind);
        Made::new(kind, text, &[]).holding(&inner, access)
    };
    match dice.roll(10) {
        0 => of(format!("std::vector<{kind}>"), &format!("KIND{{{it}, {it}}}"), "@[1]"),
        1 => of(format!("std::vector<{kind}>"), &format!("KIND(14, {it})"), "@[9]"),
        2 => of(format!("std::map<int, {kind}>"), &format!("KIND{{{{1, {it}}}, {{2, {it}}}}}"), "@.at(2)"),
        3 => of(format!("std::unordered_map<std::string, {kind}>"), &format!("KIND{{{{\"k\", {it}}}}}"), "@.at(\"k\")"),
        4 => of(format!("std::list<{kind}>"), &format!("KIND(14, {it})"), "*std::next(@.begin(), 9)").parenthesised(),
        5 => of(format!("std::optional<{kind}>"), &format!("KIND({it})"), "(*@)"),
        6 => of(format!("std::shared_ptr<{kind}>"), &format!("std::make_shared<{kind}>({it})"), "(*@)"),
        7 => of(format!("Held<{kind}>"), &format!("KIND{{1, {it}}}"), "@.held"),
        8 => of(format!("std::deque<{kind}>"), &format!("KIND(14, {it})"), "@[9]"),
        _ => of(format!("std::array<{kind}, 2>"), &format!("KIND{{{it}, {it}}}"), "@[1]"),
    }
}

impl Made {
    /// What is reached through a pointer is named in parentheses.
    fn parenthesised(mut self) -> Made {
        for change in &mut self.changes {
            *change = change.replace("*std::next(@.begin(), 9)", "(*std::next(@.begin(), 9))");
        }
        self
    }
}

#[test]
fn whatever_changes_is_told_or_counted() {
    for seed in seeds(1) {
        let all = variables(&mut Dice::new(seed + 400), make);
        let lines = body(
            &all,
            |at, made| format!("{} v{at} = {};", made.kind, made.expression),
            |at| format!("stop(); // S{at}"),
        );
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("law.cpp");
        std::fs::write(&source, format!("{HEAD}int main() {{\n{lines}\nreturn 0;\n}}\n")).unwrap();
        judge(&compiled(source, folder.path(), "g++", &["-g", "-O0", "-std=c++17"]), seed, &changes_of(&all));
    }
}
