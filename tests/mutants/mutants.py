#!/usr/bin/env python3
"""Judges tests by mutants without a build for each.

    mutants.py weave COPY FILE...     rewrite these files of a copy of the repository, so that MUTANT=n picks a mutant
    mutants.py run COPY BINARY FILTER...   run the tests of a built binary against every mutant; what survives is printed

`COPY` is a scratch copy of the repository (`git archive HEAD | tar x -C COPY`), never the repository itself. `weave` compiles
the copy until every mutant that does not compile is left out, and writes the list to COPY/mutants.json. Then build the tests
there (`cargo test --no-run -p CRATE --test NAME`) and `run`. CARGO_TARGET_DIR may be shared with the repository.
Every test is run by itself, the likeliest to fail first, until one does. What is known of each mutant is kept in COPY/judged.json: a
run that is cut short goes on from there when it is started again, with the same tests or with more.
Standard library only.
"""

import collections
import json
import os
import re
import subprocess
import sys

PICK = """
#[doc(hidden)]
pub fn mutant() -> u32 {
    static MUTANT: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *MUTANT.get_or_init(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0))
}
"""
OPERATORS = {" == ": " != ", " != ": " == ", " && ": " || ", " || ": " && ", " < ": " >= ", " > ": " <= ",
             " <= ": " > ", " >= ": " < ", " + ": " - ", " - ": " + ", " & ": " | "}
VALUES = {"()": ["()"], "bool": ["true", "false"], "u16": ["0", "0o777"], "u64": ["0", "1"], "String": ["String::new()"]}


def blanked(text):
    """The text with comments, strings and characters blanked, so that braces and operators in them do not count."""
    pattern = r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.[^']*|[^\\'])'"
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)


def functions(blank):
    """Name, return type and the place of the body of every outermost function."""
    found, end = [], 0
    for match in re.finditer(r"\bfn (\w+)", blank):
        if match.start() < end:
            continue
        at, depth = match.end(), 0
        while not (depth == 0 and blank[at] in "{;"):
            depth += (blank[at] in "([") - (blank[at] in ")]")
            at += 1
        if blank[at] == ";":
            continue
        end, depth = at, 0
        while True:
            depth += (blank[end] == "{") - (blank[end] == "}")
            end += 1
            if depth == 0:
                break
        kind = re.search(r"->\s*(.+?)\s*(where\b.*)?$", blank[match.end():at].strip(), re.S)
        found.append((match.group(1), re.sub(r"\s+", " ", kind.group(1)) if kind else "()", at, end))
    return found


def values(kind):
    """Bodies that a function of this return type could have instead of its own."""
    inner = re.fullmatch(r"(?:io::)?Result<(.*)>", kind)
    if inner:
        return [f"Ok({value})" for value in values(inner.group(1))]
    if kind.startswith("Option<"):
        return ["None"]
    if kind.startswith("Vec<"):
        return ["vec![]"]
    return VALUES.get(kind, [])


def mutants_of(name, kind, body, blank, line):
    """Every mutant of a function, as words and a body."""
    def at(place):
        return line + blank[:place].count("\n")

    for value in values(kind):
        yield f"{name}: body -> {value}", "{ " + value + " }"
    for operator, other in OPERATORS.items():
        for found in re.finditer(re.escape(operator), blank):
            yield f"{name}:{at(found.start())}:{operator}->{other}", body[:found.start()] + other + body[found.end():]
    for found in re.finditer(r"(?<![\w)\]])!(?=[\w(])", blank):
        yield f"{name}:{at(found.start())}: delete !", body[:found.start()] + body[found.end():]
    for found in re.finditer(r" if ([^{}\n]*?) =>", blank):
        for value in ["true", "false"]:
            yield f"{name}:{at(found.start())}: guard -> {value}", \
                body[:found.start()] + f" if {value} =>" + body[found.end():]
    for found in re.finditer(r"\n([ \t]+)((?:self\.|drop\()?[a-z_.]+\([^;{}]*\)[^;{}]*;)[ \t]*(?=\n)", blank):
        if not re.match(r"(let|return|use)\b", found.group(2)):
            yield f"{name}:{at(found.start() + 1)}: delete {body[found.start(2):found.end(2)][:60]}", \
                body[:found.start(2)] + body[found.end(2):]


def woven(text, pick, first, dropped):
    """The file with its mutants, and their list."""
    cut = text.find("#[cfg(test)]\nmod tests")
    head, tail = (text, "") if cut < 0 else (text[:cut], text[cut:])
    blank, number, mutants, edits = blanked(head), first, [], []
    for name, kind, start, end in functions(blank):
        choice = ""
        for words, body in mutants_of(name, kind, head[start:end], blank[start:end], head[:start].count("\n") + 1):
            number += 1
            if number not in dropped:
                mutants.append((number, words))
                choice += f"if {pick}() == {number} /*M{number}*/ {body} /*E{number}*/ else "
        edits.append((start, end, "{ " + choice + head[start:end] + " }"))
    for start, end, body in reversed(edits):
        head = head[:start] + body + head[end:]
    return head + tail, mutants, number


def broken(copy):
    """The mutants that the compiler complains about; None when it does not."""
    checked = subprocess.run(["cargo", "check", "--workspace", "--lib", "--message-format=json"], cwd=copy,
                             capture_output=True, text=True)
    if checked.returncode == 0:
        return None
    numbers = set()
    for line in checked.stdout.splitlines():
        message = json.loads(line).get("message")
        for span in (message or {}).get("spans", []) if (message or {}).get("level") == "error" else []:
            with open(os.path.join(copy, span["file_name"]), "rb") as file:
                before = file.read()[:span["byte_start"] + 1]
            start = before.rfind(b"/*M")
            if start > before.rfind(b"/*E"):
                numbers.add(int(re.match(rb"/\*M(\d+)", before[start:]).group(1)))
    if not numbers:
        sys.exit("what does not compile is no mutant:\n" + checked.stderr[-2000:])
    return numbers


def weave(copy, files):
    originals = {file: open(os.path.join(copy, file)).read() for file in files}
    for root in {os.path.join(copy, file.split("/src/")[0], "src/lib.rs") for file in files}:
        with open(root, "a") as library:
            library.write(PICK)
    dropped = set()
    while True:
        every, number = [], 0
        for file, text in originals.items():
            text, mutants, number = woven(text, "crate::mutant", number, dropped)
            every += [(number, f"{file} {words}") for number, words in mutants]
            with open(os.path.join(copy, file), "w") as written:
                written.write(text)
        more = broken(copy)
        if more is None:
            break
        dropped |= more
    with open(os.path.join(copy, "mutants.json"), "w") as file:
        json.dump(every, file)
    print(f"{len(every)} mutants, {len(dropped)} that do not compile")


def fails(copy, binary, number, test, seconds):
    command = ["timeout", "-k", "1", str(seconds), os.path.abspath(binary), "--exact", test]
    ended = subprocess.run(command, env=dict(os.environ, MUTANT=str(number)), cwd=copy, capture_output=True)
    return ended.returncode != 0


def kept(copy, name):
    """What an earlier run wrote to a file of the copy."""
    path = os.path.join(copy, name)
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return json.load(file)


def keep(copy, name, value):
    with open(os.path.join(copy, name), "w") as file:
        json.dump(value, file)


def costs_of(copy, binary, filters):
    """The processor time of each test without a mutant."""
    listed = subprocess.run([os.path.abspath(binary), "--list", *filters], cwd=copy, capture_output=True, text=True)
    costs = kept(copy, "costs.json")
    for test in re.findall(r"^(\S+): test$", listed.stdout, re.M):
        if test in costs:
            continue
        before = os.times()
        if fails(copy, binary, 0, test, 120):
            sys.exit(f"`{test}` fails without a mutant")
        after = os.times()
        costs[test] = sum(after[2:4]) - sum(before[2:4])
        keep(copy, "costs.json", costs)
    return costs


def run(copy, binary, filters):
    judged, mutants = kept(copy, "judged.json"), kept(copy, "mutants.json")
    costs = costs_of(copy, binary, filters)
    for number, words in mutants:
        known = judged.setdefault(str(number), {"words": words, "killed_by": None, "survived": []})
        # What kills one mutant kills its neighbours, so the test that killed most goes first, and then the quickest.
        kills = collections.Counter(other["killed_by"] for other in judged.values())
        for test in sorted(costs, key=lambda test: (-kills[test] / (costs[test] + 0.1), costs[test])):
            if known["killed_by"] or test in known["survived"]:
                continue
            # One that does not end is killed too; other work on the machine makes no difference of twenty times.
            if fails(copy, binary, number, test, 10 + 20 * costs[test]):
                known["killed_by"] = test
            else:
                known["survived"].append(test)
        keep(copy, "judged.json", judged)
    survivors = [(number, known["words"]) for number, known in judged.items() if not known["killed_by"]]
    for number, words in survivors:
        print(f"survives: {number} {words}")
    print(f"{len(judged) - len(survivors)} killed, {len(survivors)} survive")


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("weave", "run"):
        sys.exit(__doc__)
    if sys.argv[1] == "weave":
        weave(sys.argv[2], sys.argv[3:])
    else:
        run(sys.argv[2], sys.argv[3], sys.argv[4:])
