// Loads the bundled kernel on Node in a context that has the language and nothing else: no runtime, no clock, no random
// number. Reads {bundle, documents} from standard input, where documents are JSON texts; writes, for each, its canonical
// text and its identity.
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const vm = require("node:vm");

const { bundle, documents } = JSON.parse(readFileSync(0, "utf8"));
const context = vm.createContext({ TextEncoder, TextDecoder, module: { exports: {} } });
vm.runInContext("delete Date.now; delete Math.random; delete globalThis.Intl; delete globalThis.Atomics;", context);
vm.runInContext(bundle, context);

const kernel = context.module.exports;
const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const answers = documents.map((text) => {
  const value = kernel.readJson(text);
  return { text: kernel.canonicalize(value), identity: kernel.identify(sha256, "payload", value) };
});
process.stdout.write(JSON.stringify({ modules: kernel.modules.length, answers }));
