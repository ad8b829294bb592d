//! Random programs in Python.

use super::super::python::python;
use super::super::subject::Subject;
use super::{Dice, Made, body, changes_of, judge, seeds, variables};

const HEAD: &str = "import array, collections, dataclasses, decimal, enum, fractions, functools, types
class Plain: pass
class Slotted:
    __slots__ = ('a', 'b')
class Text(str): pass
class Number(int): pass
class Real(float): pass
class Listed(list): pass
@dataclasses.dataclass
class Data:
    one: object
    two: object = 2
Pair = collections.namedtuple('Pair', 'left right')
class Color(enum.Enum):
    RED = 1
    BLUE = 2
def plain(**fields):
    made = Plain()
    made.__dict__.update(fields)
    return made
def slotted(a):
    made = Slotted()
    made.a = a
    made.b = 1
    return made
def text(value, **fields):
    made = Text(value)
    made.__dict__.update(fields)
    return made
def number(value, kind, **fields):
    made = kind(value)
    made.__dict__.update(fields)
    return made
def listed(*all):
    made = Listed(all)
    made.extra = 0
    return made
def closure(held):
    def inner():
        return held
    def put(new):
        nonlocal held
        held = new
    inner.put = put
    return inner
def error(*args):
    made = ValueError(*args)
    made.__cause__ = KeyError([1])
    return made
def module(**fields):
    made = types.ModuleType('made')
    made.__dict__.update(fields)
    return made
class Methods:
    def __init__(self, held): self.held = held
    def method(self): return self.held
def stop(*all): pass
";

fn leaf(dice: &mut Dice) -> Made {
    let long = "'x' * 900";
    let choices = [
        Made::new("", "[0]", &["@[0] = 1"]),
        Made::new("", "[0] * 40", &["@[25] = 1", "@.append(3)", "@.insert(7, 9)"]),
        Made::new("", "bytearray(900)", &["@[800] = 1"]),
        Made::new("", format!("[{long}]"), &["@[0] = 'x' * 899 + 'y'"]),
        Made::new("", "array.array('d', range(50))", &["@[30] = -1"]),
        Made::new("", "{1, 2, 3}", &["@.add(9)", "@.discard(2)"]),
        Made::new("", "set(range(200))", &["@.add(900)"]),
        Made::new("", "collections.Counter('abc')", &["@['a'] += 1"]),
        Made::new("", "collections.OrderedDict(a=1, b=2)", &["@.move_to_end('a')", "@['b'] = 3"]),
        Made::new("", "text('word', note=1)", &["@.note = 2"]),
        Made::new("", "number(7, Number, unit=1)", &["@.unit = 2"]),
        Made::new("", "number(7, Real, unit=1)", &["@.unit = 2"]),
        Made::new("", "listed(1, 2)", &["@.extra = 1", "@.append(3)"]),
        Made::new("", "listed(*range(100))", &["@.extra = 1", "@[50] = 0"]),
        Made::new("", "error('bad')", &["@.args = ('worse',)", "@.__cause__ = None", "@.add_note('n')"]),
        Made::new("", "plain(f=lambda: 1)", &["@.f = lambda: 2"]),
        Made::new("", "[decimal.Decimal('1.5')]", &["@[0] = decimal.Decimal('1.50001')"]),
        Made::new("", "[Color.RED]", &["@[0] = Color.BLUE"]),
        Made::new("", "module(x=1)", &[]),
        Made::new("", "{n: str(n) for n in range(300)}", &["@[200] = 'other'", "del @[100]"]),
        Made::new("", "functools.partial(max, [1])", &["@.args[0].append(2)"]),
        Made::new("", "[fractions.Fraction(1, 2)]", &["@[0] = fractions.Fraction(1, 3)"]),
    ];
    dice.of(&choices).clone()
}

fn make(dice: &mut Dice, depth: u32) -> Made {
    if depth <= 1 {
        return leaf(dice);
    }
    let inner = make(dice, depth - 1);
    let of = |text: String, access: &str| Made::new("", text, &[]).holding(&inner, access);
    let it = &inner.expression;
    match dice.roll(14) {
        0 => of(format!("[0, {it}, 2]"), "@[1]"),
        1 => of(format!("[{it}] + list(range(40))"), "@[0]"),
        2 => of(format!("list(range(20)) + [{it}] + list(range(20))"), "@[20]"),
        3 => of(format!("(1, {it})"), "@[1]"),
        4 => of(format!("{{'a': 1, 'k': {it}}}"), "@['k']"),
        5 => of(format!("collections.deque([1, {it}])"), "@[1]"),
        6 => of(format!("plain(a=1, b={it})"), "@.b"),
        7 => of(format!("slotted({it})"), "@.a"),
        8 => of(format!("Data({it})"), "@.one"),
        9 => of(format!("Pair(1, {it})"), "@.right"),
        10 => of(format!("types.MappingProxyType({{'k': {it}}})"), "@['k']"),
        11 => of(format!("collections.defaultdict(list, k={it})"), "@['k']"),
        12 => of(format!("Methods({it}).method"), "@.__self__.held"),
        _ => of(format!("closure({it})"), "@()"),
    }
}

#[test]
fn whatever_changes_is_told_or_counted() {
    for seed in seeds(4) {
        let all = variables(&mut Dice::new(seed + 100), make);
        let names: Vec<String> = (0..all.len()).map(|at| format!("v{at}")).collect();
        let lines = body(
            &all,
            |at, made| format!("v{at} = {}", made.expression),
            |at| format!("stop({})  # S{at}", names.join(", ")),
        );
        let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("law.py");
        std::fs::write(&source, format!("{HEAD}def main():\n{lines}main()\n")).unwrap();
        let subject = Subject { program: source.clone(), source, runtime: Some(python()), rust_sysroot: None };
        judge(&subject, seed, &changes_of(&all));
    }
}
