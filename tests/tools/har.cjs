// Judges an HTTP Archive: reads it from stdin, and ends with 1 and the reasons when it is none.
// NODE_PATH says where `har-validator` is.
const validate = require("har-validator");

const archive = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
validate.har(archive).then(
  () => process.stdout.write("valid"),
  (error) => {
    process.stderr.write(JSON.stringify(error.errors ?? String(error)));
    process.exitCode = 1;
  },
);
