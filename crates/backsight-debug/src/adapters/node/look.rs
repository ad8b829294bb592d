//! Looks at what a pause holds: scopes, properties, expressions, and the walker's capture of whole frames.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::adapter::{Node, Realm, function_name};
use super::inspector::Answer;
use super::{expression, place};

/// One function in several files.
const WALKER: &str = concat!(
    include_str!("../../walk/javascript/values.js"),
    include_str!("../../walk/javascript/hashes.js"),
    include_str!("../../walk/javascript/walking.js"),
    include_str!("../../walk/javascript/expressions.js"),
    include_str!("../../walk/javascript/answers.js"),
);
/// Takes the walker in, with what only V8 can tell. That can only be asked in a syntax that is switched on for a moment. Numbers
/// are copied twenty times as fast in the realm they are from, by functions that are still V8's own; lists that have elements
/// and nothing else are known by having the same form as new ones of that realm. How private names are asked for differs
/// between versions of V8, so it is found by trying.
///
/// It runs in the program's own realm, where every method and every iteration may be the program's: so it uses neither.
const PREPARE: &str = "(() => {
    // Within a realm of `vm` there is no `process`, but what the inspector's console has.
    const own_process = typeof process === 'object' ? process : require('process');
    const get = own_process.getBuiltinModule ? own_process.getBuiltinModule : require;
    const vm = get('vm'), flag = 'allow-natives-syntax';
    const compiled = (source, one, other) => {
        try {
            const made = vm.runInNewContext(source);
            made(one, other);
            return made;
        } catch {
            return null;
        }
    };
    const { apply } = Reflect, { getPrototypeOf, getOwnPropertyDescriptor } = Object;
    let packed = null, alike = null, privates = null, given = false;
    const { execArgv } = own_process, filters = [32, 64, 128];
    for (let at = 0; at < execArgv.length; at++) given = given || execArgv[at] === '--' + flag;
    try {
        get('v8').setFlagsFromString('--' + flag);
        packed = compiled('(list) => %HasHoleyElements(list) ? 0 : %HasSmiElements(list) ? 1 : %HasDoubleElements(list) ? 2 : 0', []);
        alike = compiled('(one, other) => %HaveSameMap(one, other)', [], []);
        const sample = new (class { #field = 1; });
        for (let at = 0; at < 3; at++) {
            const names = compiled('(one) => %GetOwnPropertyKeys(one, ' + filters[at] + ')', {});
            if (privates === null && names !== null && names(sample).length === 1) privates = names;
        }
    } finally {
        if (!given) get('v8').setFlagsFromString('--no-' + flag);
    }
    const isNative = vm.runInNewContext('(one) => Function.prototype.toString.call(one).includes(\\'[native code]\\')');
    const { Int32Array, Float64Array, Uint8Array } = globalThis, typed = getPrototypeOf(Int32Array.prototype);
    const { set } = typed, buffer = getOwnPropertyDescriptor(typed, 'buffer').get, sum = get('zlib').crc32;
    const usable = packed && sum && isNative(Int32Array) && isNative(Float64Array) && isNative(Uint8Array) && isNative(apply)
        && isNative(set) && isNative(buffer);
    const ofNumbers = (list, run) => {
        const form = usable ? packed(list) : 0;
        if (form === 0) return null;
        const { length } = list, size = form === 1 ? 4 : 8, runs = [];
        const numbers = form === 1 ? new Int32Array(length) : new Float64Array(length);
        apply(set, numbers, [list]);
        const bytes = apply(buffer, numbers, []);
        for (let at = 0; at < length; at += run) {
            runs[runs.length] = sum(new Uint8Array(bytes, at * size, (at + run > length ? length - at : run) * size));
        }
        return runs;
    };
    const ofBytes = (bytes) => {
        try {
            return sum(bytes);
        } catch {
            return null;
        }
    };
    const bare = [[], [1.5], [{}], [, 1], [, 1.5], [, {}]];
    const isBare = (list) => {
        for (let at = 0; alike !== null && at < 6; at++) if (alike(list, bare[at])) return true;
        return false;
    };
    const global_process = getOwnPropertyDescriptor(globalThis, 'process');
    const own = { get: global_process === undefined ? undefined : global_process.get, value: own_process };
    return vm.runInNewContext(SOURCE)(get('util').types, { ofNumbers, ofBytes, isBare, privates, process: own });
})()";
/// What Node wraps every module in.
const WRAPPER: [&str; 6] = ["exports", "require", "module", "__filename", "__dirname", "arguments"];
/// Between an object and one of its getters.
const GETTER: &str = "\0get\0";
/// How many elements are read at once unless asked for fewer.
const PAGE: u64 = 100;
/// Of a longer module the walker is not told the text.
const LONGEST_SOURCE: usize = 200_000;
/// How many milliseconds code of the program may run for an answer, unless its asker says otherwise. V8 ends it: while it runs
/// nothing else is heard, not even that it should end.
const LIMIT: u64 = 3000;

impl Node {
    pub(super) fn scopes(&self, arguments: &Value) -> Answer {
        let frame = self.frame(&arguments["frameId"])?;
        let mut told = Vec::new();
        for scope in frame["scopeChain"].as_array().into_iter().flatten() {
            let kind = scope["type"].as_str().unwrap_or_default();
            let Some(object) = scope["object"]["objectId"].as_str() else { continue };
            let hint = matches!(kind, "local" | "block" | "catch").then_some("locals");
            told.push(
                json!({ "name": scope_name(scope), "presentationHint": hint, "variablesReference": self.number(object),
                "expensive": kind == "global" }),
            );
        }
        Ok(json!({ "scopes": told }))
    }

    pub(super) async fn variables(&self, arguments: &Value) -> Answer {
        let object = self.object(arguments["variablesReference"].as_i64().unwrap_or_default())?;
        if let Some((object, getter)) = object.split_once(GETTER) {
            return self.got(object, getter).await;
        }
        if arguments["filter"] == json!("indexed") {
            let start = arguments["start"].as_u64().unwrap_or_default();
            let count = arguments["count"].as_u64().unwrap_or(PAGE);
            return self.elements(&object, start, count).await;
        }
        let params = json!({ "objectId": object, "ownProperties": true });
        let answer = self.inspector.ask("Runtime.getProperties", params).await?;
        let all = answer["result"].as_array().into_iter().flatten();
        let private = answer["privateProperties"].as_array().into_iter().flatten();
        let told: Vec<Value> = all.chain(private).map(|property| self.property(&object, property)).collect();
        Ok(json!({ "variables": told }))
    }

    async fn elements(&self, object: &str, start: u64, count: u64) -> Answer {
        let function = "function(start, count) { const part = []; for (let at = start; at < this.length && at < start + count; at++) \
            part[at - start] = this[at]; return part; }";
        let params = json!({ "functionDeclaration": function, "objectId": object, "silent": true,
            "throwOnSideEffect": true, "arguments": [{ "value": start }, { "value": count }] });
        let part = self.inspector.ask("Runtime.callFunctionOn", params).await?;
        if part.get("exceptionDetails").is_some() {
            return Err(first_line(&part["result"]));
        }
        let part = part["result"]["objectId"].as_str().ok_or("it has no elements")?.to_owned();
        let params = json!({ "objectId": part, "ownProperties": true });
        let answer = self.inspector.ask("Runtime.getProperties", params).await?;
        let mut told = Vec::new();
        for property in answer["result"].as_array().into_iter().flatten() {
            let Some(index) = property["name"].as_str().and_then(|name| name.parse::<u64>().ok()) else { continue };
            let mut one = self.property(&part, property);
            one["name"] = json!((start + index).to_string());
            told.push(one);
        }
        Ok(json!({ "variables": told }))
    }

    fn property(&self, object: &str, property: &Value) -> Value {
        let name = property["name"].as_str().unwrap_or_default();
        if let Some(value) = property.get("value") {
            return self.variable(name, value);
        }
        // Whoever asks for what is inside runs it.
        let getter = property["get"]["objectId"].as_str();
        let reference = getter.map_or(0, |getter| self.number(&format!("{object}{GETTER}{getter}")));
        json!({ "name": name, "value": "(getter)", "variablesReference": reference, "presentationHint": { "lazy": true } })
    }

    /// Runs a getter; its value takes the getter's place. Only an expression has a time limit, and an expression has no way to
    /// an object but through a variable: so there is one for a moment.
    async fn got(&self, object: &str, getter: &str) -> Answer {
        self.touch()?;
        let key = format!("Symbol.for('backsight.{}')", self.unique());
        let put = format!("function(get) {{ globalThis[{key}] = {{ of: this, get }}; }}");
        let params = json!({ "functionDeclaration": put, "objectId": object, "arguments": [{ "objectId": getter }],
            "silent": true });
        self.inspector.ask("Runtime.callFunctionOn", params).await?;
        let run = format!(
            "(() => {{ const key = {key}, {{ of, get }} = globalThis[key]; delete globalThis[key]; \
             return Reflect.apply(get, of, []); }})()"
        );
        let frame = self.pause()?.frames.first().map(|frame| frame["callFrameId"].clone()).unwrap_or_default();
        let params = json!({ "callFrameId": frame, "expression": run, "silent": true, "timeout": LIMIT });
        let answer = self.inspector.ask("Debugger.evaluateOnCallFrame", params).await?;
        let told = match answer.get("exceptionDetails") {
            Some(_) => {
                let text = format!("<error: {}>", first_line(&answer["result"]));
                json!({ "name": "", "value": text, "type": "error", "variablesReference": 0 })
            }
            None => self.variable("", &answer["result"]),
        };
        Ok(json!({ "variables": [told] }))
    }

    fn variable(&self, name: &str, value: &Value) -> Value {
        let reference = value["objectId"].as_str().map_or(0, |object| self.number(object));
        let mut told =
            json!({ "name": name, "value": text(value), "type": kind(value), "variablesReference": reference });
        if let Some(length) = length(value) {
            told["indexedVariables"] = json!(length);
        }
        told
    }

    pub(super) async fn evaluate(&self, arguments: &Value) -> Answer {
        let frame = self.frame(&arguments["frameId"])?;
        self.touch()?;
        let params = json!({ "callFrameId": frame["callFrameId"], "expression": arguments["expression"], "silent": true,
            "includeCommandLineAPI": true, "timeout": limit(arguments) });
        let answer = self.inspector.ask("Debugger.evaluateOnCallFrame", params).await?;
        if answer.get("exceptionDetails").is_some() {
            return Err(first_line(&answer["result"]));
        }
        let mut told = self.variable("", &answer["result"]);
        told["result"] = told["value"].take();
        Ok(told)
    }

    /// Gives a variable, a property or an element another value.
    pub(super) async fn assign(&self, arguments: &Value) -> Answer {
        let told = |name: &str| arguments[name].as_str().unwrap_or_default();
        // On lines of their own, so that a comment in either ends with it.
        let expression = format!("{}\n= (\n{}\n)", told("expression"), told("value"));
        let told = self.evaluate(&json!({ "frameId": arguments["frameId"], "expression": expression })).await?;
        Ok(json!({ "value": told["result"] }))
    }

    /// The value of an expression that the walker follows; V8 is not asked for it, which would describe it by running code.
    pub(super) async fn evaluate_safely(&self, arguments: &Value) -> Answer {
        let frame = self.frame(&arguments["frameId"])?;
        let tree = match expression::parse(arguments["expression"].as_str().unwrap_or_default()) {
            Ok(tree) => tree,
            Err(problem) => return Ok(problem.told()),
        };
        let (mut config, this, scopes) = self.described(&frame).await;
        (config["value"], config["trees"]) = (json!(true), json!([tree]));
        for (name, amount) in [("depth", 1), ("nodes", 200), ("ms", 1000), ("head", 8), ("tail", 4)] {
            config[name] = json!(amount);
        }
        self.walk(self.realm(&frame), config, this, scopes).await
    }

    /// A value and some of what is directly inside it.
    pub(super) async fn page(&self, arguments: &Value) -> Answer {
        let frame = self.frame(&arguments["frameId"])?;
        let (mut config, this, scopes) = self.described(&frame).await;
        if let Some(expression) = arguments["expression"].as_str() {
            match expression::parse(expression) {
                Ok(tree) => (config["value"], config["trees"]) = (json!(true), json!([tree])),
                Err(problem) => return Ok(problem.told()),
            }
        }
        if let Some(wanted) = arguments["scope"].as_str() {
            let kinds = frame["scopeChain"].as_array().into_iter().flatten().filter(|scope| has_object(scope));
            let at = kinds.map(scope_name).position(|name| name.eq_ignore_ascii_case(wanted));
            config["at"] = json!(at.ok_or("there is no such scope")?);
        }
        config["page"] = arguments.clone();
        (config["depth"], config["ms"], config["hash"]) = (json!(0), json!(0), json!(false));
        self.walk(self.realm(&frame), config, this, scopes).await
    }

    pub(super) async fn capture(&self, plan: &Value) -> Answer {
        let pause = self.pause()?;
        let first = plan["frame"].as_u64().unwrap_or_default() as usize;
        let count = plan["frames"].as_u64().unwrap_or(1) as usize;
        // A step never returns to Node's own code, whose variables are the whole process.
        let is_foreign = |frame: &Value| plan["half"] == json!(true) && self.position(frame).0.starts_with("node:");
        let chosen = pause.frames.iter().enumerate().skip(first).take(count);
        let chosen = chosen.filter(|(index, frame)| *index == first || !is_foreign(frame));
        let captured =
            join_all(chosen.map(|(index, frame)| self.capture_frame(plan, index, frame, index == first))).await;
        let (mut frames, mut incomplete) = (Vec::new(), Vec::new());
        for one in captured {
            let mut one = one?;
            if let Value::Array(said) = one["incomplete"].take() {
                incomplete.extend(said);
            }
            frames.push(one);
        }
        Ok(json!({ "frames": frames, "incomplete": incomplete, "stack": pause.frames.len() }))
    }

    async fn capture_frame(&self, plan: &Value, index: usize, frame: &Value, watched: bool) -> Answer {
        let (mut config, this, scopes) = self.described(frame).await;
        let expressions: Vec<&str> =
            plan["watches"].as_array().into_iter().flatten().filter_map(Value::as_str).filter(|_| watched).collect();
        let (mut trees, mut failed) = (Vec::new(), Vec::new());
        for expression in &expressions {
            let parsed = expression::parse(expression);
            failed.push(parsed.as_ref().err().map(|problem| problem.words().to_owned()));
            trees.push(parsed.unwrap_or_default());
        }
        for name in ["depth", "nodes", "ms", "head", "tail", "hash", "only"] {
            config[name] = plan[name].clone();
        }
        (config["watches"], config["trees"], config["failed"]) = (json!(expressions), json!(trees), json!(failed));
        let mut told = self.walk(self.realm(frame), config, this, scopes).await?;
        if let Some(error) = told["error"].as_str() {
            return Err(format!("the walker failed: {error}"));
        }
        let (file, line) = self.position(frame);
        told["thread"] = json!(1);
        told["index"] = json!(index);
        told["function"] = json!(function_name(frame));
        told["file"] = json!(file);
        told["line"] = json!(line);
        Ok(told)
    }

    /// What the walker is told about a frame, its `this` and the objects that hold its scopes.
    async fn described(&self, frame: &Value) -> (Value, Value, Vec<Value>) {
        let script = frame["location"]["scriptId"].as_str().unwrap_or_default();
        let source = self.source(script).await;
        let is_module = frame["functionLocation"]["lineNumber"] == json!(0)
            && frame["functionLocation"]["columnNumber"] == json!(0);
        let start = &frame["functionLocation"];
        let begins = place::offset(&source, number(&start["lineNumber"]), number(&start["columnNumber"]));
        let arguments = if is_module { Vec::new() } else { place::arguments(source.get(begins..).unwrap_or_default()) };
        let (mut config, mut objects) = scopes_of(frame, &source, is_module);
        let this = &frame["this"];
        let has_this = !is_module && this["type"] == json!("object") && this["className"] != json!("global");
        (config["hasThis"], config["skip"], config["arguments"]) = (json!(has_this), json!(WRAPPER), json!(arguments));
        config["isModule"] = json!(is_module);
        let shows_source = is_module && source.len() <= LONGEST_SOURCE;
        config["source"] = if shows_source { json!(&*source) } else { json!("") };
        (config["watches"], config["failed"]) = (json!([]), json!([]));
        if let Some(fresh) = self.fresh(frame, &config, &objects).await {
            config["fresh"] = json!(true);
            objects.push(fresh);
        }
        (config, argument(this), objects)
    }

    /// An object with the present values of a frame's variables, when code ran since V8 told of its scopes.
    async fn fresh(&self, frame: &Value, scopes: &Value, objects: &[Value]) -> Option<Value> {
        if !self.pause().ok()?.touched.load(Ordering::Relaxed) {
            return None;
        }
        // Between a name and its variable stands an object of the program, which may compute what it has.
        if scopes["scopes"].as_array().is_some_and(|kinds| kinds.contains(&json!("with"))) {
            return None;
        }
        let config = json!({ "names": true, "scopes": scopes["scopes"], "live": scopes["live"] });
        let told = self.walk(self.realm(frame), config, json!({}), objects.to_vec()).await.ok()?;
        let names = told["names"].as_array().into_iter().flatten().filter_map(Value::as_array).flatten();
        let mut reads = String::new();
        for name in names.filter_map(Value::as_str).filter(|name| place::is_name(name)) {
            // What has no value yet cannot be read.
            _ = write!(reads, "try {{ $backsight.{name} = {name}; }} catch {{}} ");
        }
        let expression = format!("(() => {{ const $backsight = {{ __proto__: null }}; {reads}return $backsight; }})()");
        let params = json!({ "callFrameId": frame["callFrameId"], "expression": expression, "silent": true,
            "throwOnSideEffect": true, "timeout": LIMIT });
        let answer = self.inspector.ask("Debugger.evaluateOnCallFrame", params).await.ok()?;
        Some(argument(&answer["result"])).filter(|_| answer.get("exceptionDetails").is_none())
    }

    /// Calls the walker inside the program.
    pub(super) async fn walk(&self, realm: Realm, config: Value, this: Value, values: Vec<Value>) -> Answer {
        let walker = self.prepare(realm).await?;
        let mut arguments = vec![json!({ "value": config.to_string() }), this];
        arguments.extend(values);
        // Named one by one, since how a list of them is taken apart may be the program's.
        let names: Vec<String> = (0..arguments.len()).map(|at| format!("a{at}")).collect();
        let names = names.join(", ");
        let function = format!("function({names}) {{ return this({names}); }}");
        let params = json!({ "functionDeclaration": function, "objectId": walker,
            "arguments": arguments, "returnByValue": true, "silent": true });
        let answer = self.inspector.ask("Runtime.callFunctionOn", params).await?;
        if answer.get("exceptionDetails").is_some() {
            return Err(format!("the walker failed: {}", first_line(&answer["result"])));
        }
        let text = answer["result"]["value"].as_str().ok_or("the walker told nothing")?;
        let told: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| format!("the walker's answer cannot be read: {error}"))?;
        Ok(Value::Object(told))
    }

    /// Gives the walker to the program: at best before anything of the program has run. V8 hands values only to functions of
    /// the same realm, so each that `vm` made has one of its own.
    pub(super) async fn prepare(&self, realm: Realm) -> Result<String, String> {
        let mut walkers = self.walkers.lock().await;
        if let Some(known) = walkers.get(&realm) {
            return Ok(known.clone());
        }
        let source = Value::from(WALKER).to_string();
        let expression = PREPARE.replace("SOURCE", &source);
        let mut params = json!({ "expression": expression, "includeCommandLineAPI": true, "silent": true });
        if let Realm::Made(context) = realm {
            params["contextId"] = json!(context);
        }
        let answer = self.inspector.ask("Runtime.evaluate", params).await?;
        let id = answer["result"]["objectId"].as_str().filter(|_| answer.get("exceptionDetails").is_none());
        let id = id.ok_or_else(|| format!("the walker was not taken: {}", first_line(&answer["result"])))?;
        walkers.insert(realm, id.to_owned());
        Ok(id.to_owned())
    }
}

/// Everything that is made of what V8 tells without asking it again.
pub(super) fn translate(told: &Value, source: &str) {
    for value in [told, &told["result"], &told["exceptionDetails"]["exception"]] {
        let _ = (text(value), kind(value), length(value), argument(value), first_line(value));
    }
    for frame in told["callFrames"].as_array().into_iter().flatten().chain([told]) {
        let _ = (function_name(frame), scopes_of(frame, source, true), scopes_of(frame, source, false));
        let _ = expression::parse(source);
        let start = &frame["functionLocation"];
        let begins = place::offset(source, number(&start["lineNumber"]), number(&start["columnNumber"]));
        place::arguments(source.get(begins..).unwrap_or_default());
    }
}

/// How long an expression may take.
fn limit(arguments: &Value) -> u64 {
    arguments["timeout"].as_u64().unwrap_or(LIMIT).max(1)
}

/// A frame's scopes, innermost first, as the walker is told of them, and the objects that hold them. Those that are not the
/// frame's own only matter to expressions; what is `live` is no copy that V8 made.
fn scopes_of(frame: &Value, source: &str, is_module: bool) -> (Value, Vec<Value>) {
    let (mut kinds, mut objects, mut unset) = (Vec::new(), Vec::new(), Vec::new());
    let (mut own, mut live) = (Vec::new(), Vec::new());
    let here = &frame["location"];
    let here = place::offset(source, number(&here["lineNumber"]), number(&here["columnNumber"]));
    for scope in frame["scopeChain"].as_array().into_iter().flatten().filter(|scope| has_object(scope)) {
        let kind = scope["type"].as_str().unwrap_or_default();
        let is_own = matches!(kind, "local" | "block" | "catch" | "closure" | "eval" | "wasm-expression-stack")
            || (is_module && matches!(kind, "module" | "script"));
        let end = &scope["endLocation"];
        let end = place::offset(source, number(&end["lineNumber"]), number(&end["columnNumber"]));
        let below = source.get(here..end.max(here)).unwrap_or_default();
        unset.push(if kind == "closure" || !is_own { Vec::new() } else { place::declared(below) });
        own.push(is_own);
        live.push(matches!(kind, "global" | "with"));
        kinds.push(kind);
        objects.push(json!({ "objectId": scope["object"]["objectId"] }));
    }
    (json!({ "scopes": kinds, "own": own, "live": live, "unset": unset }), objects)
}

fn has_object(scope: &Value) -> bool {
    scope["object"]["objectId"].is_string()
}

/// What a scope is called.
fn scope_name(scope: &Value) -> String {
    let mut name = scope["type"].as_str().unwrap_or_default().to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// A value as an argument of a call.
pub(super) fn argument(value: &Value) -> Value {
    for name in ["objectId", "unserializableValue", "value"] {
        if let Some(found) = value.get(name) {
            return json!({ name: found });
        }
    }
    json!({})
}

fn first_line(value: &Value) -> String {
    let text = value["description"].as_str().or(value["value"].as_str()).unwrap_or("it failed");
    text.lines().next().unwrap_or_default().to_owned()
}

fn kind(value: &Value) -> &str {
    let class = value["className"].as_str();
    value["subtype"]
        .as_str()
        .filter(|subtype| *subtype == "null")
        .or(class)
        .or(value["type"].as_str())
        .unwrap_or_default()
}

fn text(value: &Value) -> String {
    match value["type"].as_str() {
        Some("string") => value["value"].to_string(),
        Some("undefined") => "undefined".to_owned(),
        Some("function") => format!("function {}", first_line(value).chars().take(80).collect::<String>()),
        _ => match value["description"].as_str() {
            Some(description) => description.to_owned(),
            None => value["value"].to_string(),
        },
    }
}

/// How many elements a list has, which V8 says only in words: `Array(3)`.
fn length(value: &Value) -> Option<u64> {
    matches!(value["subtype"].as_str(), Some("array" | "typedarray")).then_some(())?;
    value["description"].as_str()?.rsplit_once('(')?.1.trim_end_matches(')').parse().ok()
}
