//! Which files a file of code imports or reads, as far as its text says: for JavaScript and its kin, Python, CSS, PHP, Ruby,
//! C, Rust and Go. What a resolver would find in other ways (aliases, packages) is not found.

use std::collections::BTreeSet;

use backsight_core::RelPath;

/// Endings that an import may leave out.
const SCRIPTS: &[&str] = &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "json", "css"];

/// Those of `known` that the file `path` with this text imports.
pub(crate) fn imports(path: &RelPath, text: &str, known: &BTreeSet<RelPath>) -> BTreeSet<RelPath> {
    let name = path.to_string();
    let (directory, file) = name.rsplit_once('/').unwrap_or(("", &name));
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let wanted: Vec<String> = match ending {
        "py" => text.lines().flat_map(|line| python(line, directory)).collect(),
        "rs" => text.lines().flat_map(|line| rust(line, directory, file)).collect(),
        // The files of a directory are one package.
        "go" => {
            return known.iter().filter(|other| is_beside(other, directory, "go") && *other != path).cloned().collect();
        }
        _ => Vec::new(),
    };
    let mut wanted: BTreeSet<String> = wanted.into_iter().collect();
    wanted.extend(quoted(text).flat_map(|target| scripts(target, directory)));
    known.iter().filter(|other| wanted.contains(&other.to_string()) && *other != path).cloned().collect()
}

fn is_beside(path: &RelPath, directory: &str, ending: &str) -> bool {
    let name = path.to_string();
    let (lies_in, file) = name.rsplit_once('/').unwrap_or(("", &name));
    lies_in == directory && file.ends_with(&format!(".{ending}"))
}

/// What stands in quotes: an import, or a file that is read.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split(['"', '\'', '`']).skip(1).step_by(2))
}

/// The files that a relative import of a script can mean.
fn scripts(target: &str, directory: &str) -> Vec<String> {
    let target = target.split(['?', '#']).next().unwrap_or_default();
    let joined = match target.strip_prefix('/') {
        Some(rest) => normal(rest),
        // Other than a script's, a style sheet's or C's import begins without dots.
        None => normal(&format!("{directory}/{target}")),
    };
    let Some(joined) = joined.filter(|_| !target.is_empty() && target.len() < 200) else { return Vec::new() };
    // A program's own directory may be the root.
    let from_root = normal(target).filter(|path| *path != joined);
    let with_ending = SCRIPTS.iter().map(|ending| format!("{joined}.{ending}"));
    let index = SCRIPTS.iter().map(|ending| format!("{joined}/index.{ending}"));
    // TypeScript imports `./a.js` and means `./a.ts`.
    let typed = joined.rsplit_once('.').map(|(stem, _)| [format!("{stem}.ts"), format!("{stem}.tsx")]);
    let others = [joined.clone(), format!("{joined}.rb"), format!("{joined}.php")];
    others.into_iter().chain(with_ending).chain(index).chain(typed.into_iter().flatten()).chain(from_root).collect()
}

/// The files that a line of Python imports.
fn python(line: &str, directory: &str) -> Vec<String> {
    let line = line.trim();
    let (module, names) = match line.strip_prefix("from ") {
        Some(rest) => rest.split_once(" import ").unwrap_or((rest, "")),
        None => match line.strip_prefix("import ") {
            Some(rest) => (rest, ""),
            None => return Vec::new(),
        },
    };
    let modules = module.split(',').map(|module| module.trim().split(" as ").next().unwrap_or_default());
    modules.flat_map(|module| python_files(module, names, directory)).collect()
}

fn python_files(module: &str, names: &str, directory: &str) -> Vec<String> {
    let dots = module.len() - module.trim_start_matches('.').len();
    let below = module.trim_start_matches('.').replace('.', "/");
    let up = "../".repeat(dots.saturating_sub(1));
    // A module without dots is looked for from the root and, in a script, beside it.
    let roots = if dots > 0 { vec![format!("{directory}/{up}")] } else { vec![String::new(), format!("{directory}/")] };
    let names =
        names.trim_matches(['(', ')']).split(',').map(|name| name.trim().split(" as ").next().unwrap_or_default());
    let mut ends = vec![below.clone()];
    ends.extend(names.filter(|name| !name.is_empty()).map(|name| match below.is_empty() {
        true => name.to_owned(),
        false => format!("{below}/{name}"),
    }));
    let all = roots.iter().flat_map(|root| ends.iter().map(move |end| format!("{root}/{end}")));
    let found = all.filter_map(|joined| normal(&joined));
    found.flat_map(|joined| [format!("{joined}.py"), format!("{joined}/__init__.py")]).collect()
}

/// The files that a line of Rust names: a module, or a path from the crate.
fn rust(line: &str, directory: &str, file: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
    let stem = file.trim_end_matches(".rs");
    let own = if matches!(stem, "lib" | "main" | "mod") { directory.to_owned() } else { format!("{directory}/{stem}") };
    if let Some(module) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
        let joined = format!("{own}/{module}");
        return [format!("{joined}.rs"), format!("{joined}/mod.rs")].iter().filter_map(|path| normal(path)).collect();
    }
    let Some(path) = line.strip_prefix("use crate::") else { return Vec::new() };
    let source = directory.split_once("src").map_or(directory.to_owned(), |(before, _)| format!("{before}src"));
    let parts: Vec<&str> =
        path.split("::").take_while(|part| part.chars().all(|c| c.is_alphanumeric() || c == '_')).collect();
    let ends = (1..=parts.len()).map(|count| format!("{source}/{}.rs", parts[..count].join("/")));
    ends.filter_map(|path| normal(&path)).collect()
}

/// A path without `.`, `..` and empty parts; none when it leads outside.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str, known: &[&str]) -> Vec<String> {
        let known = known.iter().map(|path| path.parse().unwrap()).collect();
        imports(&path.parse().unwrap(), text, &known).iter().map(RelPath::to_string).collect()
    }

    #[test]
    fn imports_are_found_as_each_language_writes_them() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("src/Cart.jsx", "import { total } from './lib/api'\nimport React from 'react'", &["src/lib/api.js"]),
            ("src/Cart.tsx", "import x from '../shared/price.js'", &["shared/price.ts"]),
            ("src/a.js", "const x = require('./b')", &["src/b/index.js"]),
            ("src/a.js", "const Page = lazy(() => import('./Page'))", &["src/Page.jsx"]),
            ("app/views.py", "from .models import Cart", &["app/models.py"]),
            ("app/views.py", "from app import models, forms", &["app/models.py", "app/forms.py"]),
            ("shop/app.py", "import prices", &["shop/prices.py"]),
            ("src/main.rs", "mod price;", &["src/price.rs"]),
            ("src/cart/total.rs", "use crate::price::{Tax};", &["src/price.rs"]),
            ("pkg/a.go", "package pkg", &["pkg/b.go"]),
            ("css/main.css", "@import 'base.css';", &["css/base.css"]),
        ];
        for (path, text, expected) in cases {
            let mut known: Vec<&str> = expected.to_vec();
            known.push("src/unrelated.js");
            let mut expected: Vec<String> = expected.iter().map(|path| (*path).to_owned()).collect();
            expected.sort();
            assert_eq!(found(path, text, &known), expected, "{path}: {text}");
        }
        assert!(found("src/a.js", "import x from '../../../../etc/passwd'", &["etc/passwd"]).is_empty());
    }
}
