//! Looks at what a pause holds: scopes, properties, expressions, and the walker's capture of whole frames.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::adapter::{Node, function_name};
use super::inspector::Answer;
use super::place;

const WALKER: &str = include_str!("../../walk/walker.js");
/// Takes the walker in, with what only V8 can tell. That can only be asked in a syntax that is switched on for a moment. Numbers
/// are copied twenty times as fast in the realm they are from, by functions that are still V8's own; lists that have elements
/// and nothing else are known by having the same form as new ones of that realm. How private names are asked for differs
/// between versions of V8, so it is found by trying.
///
/// It runs in the program's own realm, where every method and every iteration may be the program's: so it uses neither.
const PREPARE: &str = "(() => {
    const get = process.getBuiltinModule ? process.getBuiltinModule : require;
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
    const { execArgv } = process, filters = [32, 64, 128];
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
    const ofNumbers = (list) => {
        const form = usable ? packed(list) : 0;
        if (form === 0) return null;
        const numbers = form === 1 ? new Int32Array(list.length) : new Float64Array(list.length);
        apply(set, numbers, [list]);
        return sum(new Uint8Array(apply(buffer, numbers, [])));
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
    return vm.runInNewContext(SOURCE)(get('util').types, { ofNumbers, ofBytes, isBare, privates });
})()";
/// What Node wraps every module in.
const WRAPPER: [&str; 6] = ["exports", "require", "module", "__filename", "__dirname", "arguments"];
/// Between an object and one of its getters.
const GETTER: &str = "\0get\0";
/// How many elements are read at once unless asked for fewer.
const PAGE: u64 = 100;
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
            let mut name = kind.to_owned();
            if let Some(first) = name.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            told.push(json!({ "name": name, "presentationHint": hint, "variablesReference": self.number(object),
                "expensive": kind == "global" }));
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

    pub(super) async fn evaluate_safely(&self, arguments: &Value) -> Answer {
        let frame = self.frame(&arguments["frameId"])?;
        let value = match self
            .watch(&frame, arguments["expression"].as_str().unwrap_or_default(), limit(arguments))
            .await
        {
            Ok(value) => value,
            Err(why) if why.contains("side-effect") => return Ok(json!({ "refused": "it would change the program" })),
            Err(why) => return Ok(json!({ "error": why })),
        };
        let told = self.walk(config_of_value(), json!({}), vec![value]).await?;
        Ok(json!({ "v": told["v"][0]["v"] }))
    }

    /// A value and some of what is directly inside it.
    pub(super) async fn page(&self, arguments: &Value) -> Answer {
        let frame = self.frame(&arguments["frameId"])?;
        let (mut config, this, values) = match arguments["expression"].as_str() {
            None => self.described(&frame).await,
            Some(expression) => match self.watch(&frame, expression, LIMIT).await {
                Ok(value) => (config_of_value(), json!({}), vec![value]),
                Err(why) if why.contains("side-effect") => {
                    return Ok(json!({ "refused": "it would change the program" }));
                }
                Err(why) => return Ok(json!({ "error": why })),
            },
        };
        config["page"] = arguments.clone();
        (config["depth"], config["ms"], config["hash"]) = (json!(0), json!(0), json!(false));
        self.walk(config, this, values).await
    }

    /// The value of an expression that changes nothing, as an argument of a call.
    async fn watch(&self, frame: &Value, expression: &str, limit: u64) -> Result<Value, String> {
        let params = json!({ "callFrameId": frame["callFrameId"], "expression": expression, "silent": true,
            "throwOnSideEffect": true, "timeout": limit });
        let answer = self.inspector.ask("Debugger.evaluateOnCallFrame", params).await?;
        match answer.get("exceptionDetails") {
            Some(_) => Err(first_line(&answer["result"])),
            None => Ok(argument(&answer["result"])),
        }
    }

    pub(super) async fn capture(&self, plan: &Value) -> Answer {
        let pause = self.pause()?;
        let first = plan["frame"].as_u64().unwrap_or_default() as usize;
        let count = plan["frames"].as_u64().unwrap_or(1) as usize;
        let chosen = pause.frames.iter().enumerate().skip(first).take(count);
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
        let (mut config, this, objects) = self.described(frame).await;
        let expressions: Vec<&str> =
            plan["watches"].as_array().into_iter().flatten().filter_map(Value::as_str).filter(|_| watched).collect();
        // V8 evaluates one after the other.
        let each = plan["ms"].as_u64().unwrap_or(LIMIT) / expressions.len().max(1) as u64;
        let watches = join_all(expressions.iter().map(|expression| self.watch(frame, expression, each))).await;
        let failed: Vec<Option<&str>> = watches.iter().map(|watch| watch.as_ref().err().map(String::as_str)).collect();
        for name in ["depth", "nodes", "ms", "head", "tail", "hash"] {
            config[name] = plan[name].clone();
        }
        (config["watches"], config["failed"]) = (json!(expressions), json!(failed));
        let values = watches.iter().map(|watch| watch.clone().unwrap_or_else(|_| json!({}))).chain(objects).collect();
        let mut told = self.walk(config, this, values).await?;
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
        let (kinds, mut objects, unset) = scopes_of(frame, &source, is_module);
        let this = &frame["this"];
        let has_this = !is_module && this["type"] == json!("object") && this["className"] != json!("global");
        let mut config = json!({ "hasThis": has_this, "scopes": kinds, "skip": WRAPPER, "arguments": arguments,
            "unset": unset, "watches": [], "failed": [] });
        if let Some(fresh) = self.fresh(frame, &objects).await {
            config["fresh"] = json!(true);
            objects.push(fresh);
        }
        (config, if has_this { argument(this) } else { json!({}) }, objects)
    }

    /// An object with the present values of a frame's variables, when code ran since V8 told of its scopes.
    async fn fresh(&self, frame: &Value, scopes: &[Value]) -> Option<Value> {
        if !self.pause().ok()?.touched.load(Ordering::Relaxed) {
            return None;
        }
        let mut reads = String::new();
        for scope in scopes {
            let params = json!({ "objectId": scope["objectId"], "ownProperties": true });
            let answer = self.inspector.ask("Runtime.getProperties", params).await.ok()?;
            let names = answer["result"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
            for name in names.filter(|name| place::is_name(name)) {
                // What has no value yet cannot be read.
                _ = write!(reads, "try {{ $backsight.{name} = {name}; }} catch {{}} ");
            }
        }
        let expression = format!("(() => {{ const $backsight = {{ __proto__: null }}; {reads}return $backsight; }})()");
        let params = json!({ "callFrameId": frame["callFrameId"], "expression": expression, "silent": true,
            "throwOnSideEffect": true, "timeout": LIMIT });
        let answer = self.inspector.ask("Debugger.evaluateOnCallFrame", params).await.ok()?;
        Some(argument(&answer["result"])).filter(|_| answer.get("exceptionDetails").is_none())
    }

    /// Calls the walker inside the program.
    async fn walk(&self, config: Value, this: Value, values: Vec<Value>) -> Answer {
        let walker = self.prepare().await?;
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

    /// Gives the walker to the program: at best before anything of the program has run.
    pub(super) async fn prepare(&self) -> Result<String, String> {
        let mut walker = self.walker.lock().await;
        if let Some(known) = &*walker {
            return Ok(known.clone());
        }
        let source = Value::from(WALKER).to_string();
        let expression = PREPARE.replace("SOURCE", &source);
        let params = json!({ "expression": expression, "includeCommandLineAPI": true, "silent": true });
        let answer = self.inspector.ask("Runtime.evaluate", params).await?;
        let id = answer["result"]["objectId"].as_str().filter(|_| answer.get("exceptionDetails").is_none());
        let id = id.ok_or_else(|| format!("the walker was not taken: {}", first_line(&answer["result"])))?;
        *walker = Some(id.to_owned());
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
        let start = &frame["functionLocation"];
        let begins = place::offset(source, number(&start["lineNumber"]), number(&start["columnNumber"]));
        place::arguments(source.get(begins..).unwrap_or_default());
    }
}

/// How long an expression may take.
fn limit(arguments: &Value) -> u64 {
    arguments["timeout"].as_u64().unwrap_or(LIMIT).max(1)
}

/// What the walker is told about one value that is no variable.
fn config_of_value() -> Value {
    json!({ "depth": 1, "nodes": 200, "ms": 1000, "head": 8, "tail": 4, "hasThis": false, "scopes": [], "skip": [],
        "arguments": [], "unset": [], "watches": ["value"], "failed": [null] })
}

/// A frame's own scopes: what they are, the objects that hold them, and what is declared in each only further below.
fn scopes_of(frame: &Value, source: &str, is_module: bool) -> (Vec<String>, Vec<Value>, Vec<Vec<String>>) {
    let (mut kinds, mut objects, mut unset) = (Vec::new(), Vec::new(), Vec::new());
    let here = &frame["location"];
    let here = place::offset(source, number(&here["lineNumber"]), number(&here["columnNumber"]));
    for scope in frame["scopeChain"].as_array().into_iter().flatten() {
        let kind = scope["type"].as_str().unwrap_or_default();
        let own = matches!(kind, "local" | "block" | "catch" | "closure" | "eval" | "wasm-expression-stack");
        let outermost = is_module && matches!(kind, "module" | "script");
        let Some(object) = scope["object"]["objectId"].as_str().filter(|_| own || outermost) else { continue };
        let end = &scope["endLocation"];
        let end = place::offset(source, number(&end["lineNumber"]), number(&end["columnNumber"]));
        let below = source.get(here..end.max(here)).unwrap_or_default();
        unset.push(if kind == "closure" { Vec::new() } else { place::declared(below) });
        kinds.push(kind.to_owned());
        objects.push(json!({ "objectId": object }));
    }
    (kinds, objects, unset)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// A value as an argument of a call.
fn argument(value: &Value) -> Value {
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
