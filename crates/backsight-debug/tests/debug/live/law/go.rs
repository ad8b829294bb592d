//! Random programs in Go.

use super::super::go::built;
use super::{Dice, Made, body, changes_of, judge, seeds, variables};

const HEAD: &str = "package main

type node struct {
\tvalue int
\tnext  *node
}

func chain(length int) *node {
\tvar first *node
\tfor at := 0; at < length; at++ {
\t\tfirst = &node{at, first}
\t}
\treturn first
}

func at(from *node, steps int) *node {
\tfor ; steps > 0; steps-- {
\t\tfrom = from.next
\t}
\treturn from
}

func many(length int) []int { return make([]int, length) }
func words(length int) []string { return make([]string, length) }
func counter() func() int { n := 0; return func() int { n++; return n } }
func stop(all ...interface{}) {}
";

fn leaf(dice: &mut Dice) -> Made {
    let choices = [
        Made::new("[]int", "[]int{1, 2}", &["@[1] = 5"]),
        Made::new("[]int", "many(300)", &["@[200] = 5"]),
        Made::new("[]string", "words(100)", &["@[70] = \"x\""]),
        Made::new("*node", "chain(5)", &["@.value = 9", "at(@, 3).value = 9", "at(@, 4).next = &node{}"]),
        Made::new("map[string]int", "map[string]int{\"a\": 1}", &["@[\"a\"] = 2", "@[\"b\"] = 2"]),
        Made::new("[]interface{}", "[]interface{}{1, \"a\"}", &["@[0] = 2", "@[1] = 2"]),
        Made::new("[]bool", "[]bool{true}", &["@[0] = false"]),
        Made::new("[]uint8", "make([]uint8, 500)", &["@[400] = 1"]),
        Made::new("[]float64", "make([]float64, 9)", &["@[8] = 0.5"]),
        Made::new("[][2]int", "make([][2]int, 3)", &["@[2][1] = 5"]),
        Made::new("[]func() int", "[]func() int{counter()}", &["@[0]()"]),
        Made::new("chan int", "make(chan int, 4)", &["@ <- 1"]),
        Made::new("*string", "func() *string { s := \"text\"; return &s }()", &["*@ = \"other\""]),
    ];
    dice.of(&choices).clone()
}

fn make(dice: &mut Dice, depth: u32) -> Made {
    if depth <= 1 {
        return leaf(dice);
    }
    let inner = make(dice, depth - 1);
    let (kind, it) = (&inner.kind, &inner.expression);
    let of = |kind: String, text: String, access: &str| Made::new(kind, text, &[]).holding(&inner, access);
    match dice.roll(7) {
        0 => of(format!("[]{kind}"), format!("[]{kind}{{{it}, {it}}}"), "@[1]"),
        1 => of(format!("map[string]{kind}"), format!("map[string]{kind}{{\"k\": {it}}}"), "@[\"k\"]"),
        2 => of(format!("*[]{kind}"), format!("&[]{kind}{{{it}}}"), "(*@)[0]"),
        3 => {
            let held = format!("struct {{ a int; b {kind} }}");
            of(format!("*{held}"), format!("&{held}{{1, {it}}}"), "@.b")
        }
        4 => of("[]interface{}".to_owned(), format!("[]interface{{}}{{1, {it}}}"), &format!("@[1].({kind})")),
        5 => of(format!("map[[2]int]{kind}"), format!("map[[2]int]{kind}{{{{1, 2}}: {it}}}"), "@[[2]int{1, 2}]"),
        _ => of(format!("[]*[]{kind}"), format!("[]*[]{kind}{{{{{it}}}}}"), "(*@[0])[0]"),
    }
}

#[test]
fn whatever_changes_is_told_or_counted() {
    for seed in seeds(2) {
        let all = variables(&mut Dice::new(seed + 300), make);
        let names: Vec<String> = (0..all.len()).map(|at| format!("v{at}")).collect();
        let lines = body(
            &all,
            |at, made| format!("var v{at} {} = {}", made.kind, made.expression),
            |at| format!("stop({}) // S{at}", names.join(", ")),
        );
        let lines: String = lines.lines().map(|line| format!("\t{line}\n")).collect();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("law.go");
        std::fs::write(&source, format!("{HEAD}func main() {{\n{lines}}}\n")).unwrap();
        judge(&built(source, folder.path()), seed, &changes_of(&all));
    }
}
