// Counts what a model pays: reads a JSON list of texts from stdin, writes the list of their lengths in tokens.
// NODE_PATH says where `tiktoken` is.
const { get_encoding } = require("tiktoken");

const encoding = get_encoding(process.argv[2] ?? "o200k_base");
const texts = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map((text) => encoding.encode(text, [], []).length)));
