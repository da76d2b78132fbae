import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { CliError } from "../terminal/cli_error.ts";
import type { Position, ReadSource, Steps } from "../../scenario/source_position.ts";
import { readSource, readSpec, SOURCE_BYTES_MAXIMUM } from "./source.ts";
import { readJsonSource } from "../../scenario/source_json.ts";
import { readTomlSource } from "../../scenario/source_toml.ts";
import { readYamlSource } from "../../scenario/source_yaml.ts";

type Read = (bytes: Uint8Array) => ReadSource;

function read(reader: Read, text: string): Extract<ReadSource, { ok: true }> {
  const result = reader(new TextEncoder().encode(text));
  assert.ok(result.ok, result.ok ? "" : result.fault.message);
  return result;
}

/** The text from a position to the end of its line. */
function textAt(text: string, { line, column }: Position): string {
  return (text.split("\n")[line - 1] ?? "").slice(column - 1);
}

const JSON_TEXT = `{
  "a b": [1, {"x": [[], {}, "]}", -2.5e3]}],
  "__proto__": {"deep": null},
  "t": true
}`;

const YAML_TEXT = `a b:
  - 1
  - &shared
    x: [[], {}, "]}"]
__proto__: {deep: null}
again: *shared
2: number
"quoted": |
  text
`;

const TOML_TEXT = `t = true
"a b" = [
  1,
  2,
]
text = """
stages = [
"""
inline = { x = [1, 2] }
[table]
x.y = 1
[[stages]]
stage_id = "one"
[[stages.packets]]
id = 1
[[stages]]
stage_id = "two"
[[stages.packets]]
id = 2
[[stages.packets]]
id = 3
[stages.packets.payload]
kind = "json"
`;

const ROWS: readonly [Read, string, Steps, "name" | "value", string][] = [
  [readJsonSource, JSON_TEXT, [], "value", "{"],
  [readJsonSource, JSON_TEXT, ["a b"], "name", '"a b": [1, {"x": [[], {}, "]}", -2.5e3]}],'],
  [readJsonSource, JSON_TEXT, ["a b", 0], "value", '1, {"x": [[], {}, "]}", -2.5e3]}],'],
  [readJsonSource, JSON_TEXT, ["a b", 1, "x", 3], "value", "-2.5e3]}],"],
  [readJsonSource, JSON_TEXT, ["a b", 1, "x", 9], "value", '[[], {}, "]}", -2.5e3]}],'],
  [readJsonSource, JSON_TEXT, ["__proto__", "deep"], "value", "null},"],
  [readJsonSource, JSON_TEXT, ["t", "not", "there"], "value", "true"],
  [readJsonSource, '{"b": "\\"", "1": [2]}', ["b"], "name", '"b": "\\"", "1": [2]}'],
  [readJsonSource, '{"b": "\\"", "1": [2]}', ["1", 0], "value", "2]}"],
  [readYamlSource, YAML_TEXT, ["a b", 1, "x", 2], "value", '"]}"]'],
  [readYamlSource, YAML_TEXT, ["again", "x"], "value", '[[], {}, "]}"]'],
  [readYamlSource, YAML_TEXT, ["__proto__", "deep"], "name", "deep: null}"],
  [readYamlSource, YAML_TEXT, ["2"], "value", "number"],
  [readYamlSource, YAML_TEXT, ["quoted"], "name", '"quoted": |'],
  [readYamlSource, YAML_TEXT, ["not", "there"], "value", "a b:"],
  [readTomlSource, TOML_TEXT, ["t"], "value", "true"],
  [readTomlSource, TOML_TEXT, ["a b", 1], "value", "2,"],
  [readTomlSource, TOML_TEXT, ["inline", "x", 1], "value", "2] }"],
  [readTomlSource, TOML_TEXT, ["table", "x", "y"], "name", "x.y = 1"],
  [readTomlSource, TOML_TEXT, ["stages", 1, "stage_id"], "value", '"two"'],
  [readTomlSource, TOML_TEXT, ["stages", 0, "packets", 0, "id"], "value", "1"],
  [readTomlSource, TOML_TEXT, ["stages", 1, "packets", 1, "id"], "value", "3"],
  [readTomlSource, TOML_TEXT, ["stages", 1, "packets", 1, "payload", "kind"], "value", '"json"'],
];

for (const [reader, text, steps, part, expected] of ROWS) {
  Deno.test(`${reader.name}() finds the ${part} of ${JSON.stringify(steps)}`, () => {
    assert.equal(textAt(text, read(reader, text).locator().locate(steps, part)), expected);
  });
}

/** Values that JSON cannot represent, and their positions. */
const FAULTS: readonly [Read, string, string][] = [
  [readYamlSource, "a: !secret x\n", "1:4 tag_resolve_failed"],
  [readYamlSource, "a: 1\n---\nb: 2\n", "2:1 multiple_docs"],
  [readYamlSource, "a: &a [*a]\n", "1:8 alias_of_itself"],
  [readYamlSource, "a: .nan\n", "1:4 number_not_exact"],
  [readYamlSource, "? [a]\n: 1\n", "1:1 name_not_scalar"],
  [readTomlSource, "a = 1\nb = nan\n", "2:5 value_not_json"],
  [readTomlSource, "b = 9007199254740993\n", "1:5 value_not_json"],
  [readTomlSource, `${"a.".repeat(64)}b = 1\n`, "1:1 value_not_json"],
  [readTomlSource, "a = 1\na = 2\n", "2:1 syntax"],
  [readJsonSource, '{"a": 1,}', "1:9 syntax"],
  [readJsonSource, "\ufeff{}", "1:1 syntax"],
];

Deno.test("readTomlSource() reads tables that are nested 64 deep", () => {
  assert.ok(readTomlSource(new TextEncoder().encode(`${"a.".repeat(63)}b = 1\n`)).ok);
});

for (const [reader, text, expected] of FAULTS) {
  Deno.test(`${reader.name}() rejects ${JSON.stringify(text)}: ${expected}`, () => {
    const result = reader(new TextEncoder().encode(text));
    assert.ok(!result.ok);
    const { position: { line, column }, code } = result.fault;
    assert.equal(`${line}:${column} ${code}`, expected);
  });
}

Deno.test("readJsonSource() finds every member of every document, however it is laid out", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 4 }), (value, indent) => {
    const text = JSON.stringify(value, null, indent);
    const { value: parsed, locator } = read(readJsonSource, text);
    const { locate } = locator();
    const visit = (at: unknown, steps: Steps): void => {
      const { line, column } = locate(steps, "value");
      const rest = text.split("\n").slice(line - 1).join("\n").slice(column - 1);
      const own = JSON.stringify(at, null, indent).split("\n")[0] ?? "";
      assert.ok(rest.startsWith(own), `${JSON.stringify(steps)} in ${text}`);
      if (typeof at !== "object" || at === null) return;
      if (Array.isArray(at)) at.forEach((item, index) => visit(item, [...steps, index]));
      else Object.entries(at).forEach(([name, inner]) => visit(inner, [...steps, name]));
    };
    visit(parsed, []);
  }));
});

Deno.test("readSource() accepts files up to its limit", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/a.json`;
  for (
    const [size, taken] of [[SOURCE_BYTES_MAXIMUM - 1, true], [SOURCE_BYTES_MAXIMUM, true], [
      SOURCE_BYTES_MAXIMUM + 1,
      false,
    ]] as const
  ) {
    await Deno.writeTextFile(file, `"${"a".repeat(size - 2)}"`);
    if (taken) assert.equal((await readSource(file)).ok, true);
    else {await assert.rejects(readSource(file), (error) =>
        error instanceof CliError && /more than/.test(error.message));}
  }
  await Deno.remove(folder, { recursive: true });
});

/** The start and the rest of a file, and the position of its member `b`; a byte order mark has no width. */
const MARKED: readonly [name: string, text: string, place: Position][] = [
  ["a.json", '{"b": 1}', { line: 1, column: 2 }],
  ["a.yaml", "b: 1\n", { line: 1, column: 1 }],
  ["a.toml", "b = 1\n", { line: 1, column: 1 }],
];

Deno.test("readSource() ignores a byte order mark in every format", async () => {
  const folder = await Deno.makeTempDir();
  for (const [name, text, place] of MARKED) {
    for (const mark of ["", "\ufeff"]) {
      await Deno.writeTextFile(`${folder}/${name}`, mark + text);
      const read = await readSource(`${folder}/${name}`);
      assert.ok(read.ok, name);
      assert.deepEqual([read.source.value, read.source.locate(["b"], "name")], [{ b: 1 }, place]);
    }
  }
  await Deno.remove(folder, { recursive: true });
});

/** A document, and its spec or its fault. */
const SPECS: readonly [document: unknown, spec: unknown][] = [
  [{ stages: [] }, { stages: [] }],
  [{ stages: [], spec: 1 }, { stages: [], spec: 1 }],
  [{ spec: { stages: [] } }, { stages: [] }],
  [{ spec: {}, "a b": 1 }, '2:3 $["a b"] Member "a b" is unknown; expected only "spec"'],
  [{ spce: {} }, { spce: {} }],
  [[], []],
];

Deno.test("readSpec() accepts a spec, or the arguments of scenario_define without other members", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/a.json`;
  for (const [document, spec] of SPECS) {
    await Deno.writeTextFile(file, JSON.stringify(document).replace(',"a b"', ',\n  "a b"'));
    const read = await readSpec(file);
    if (read.ok) assert.deepEqual(read.source.value, spec);
    else {
      const { path, message, position: { line, column } } = read.fault;
      assert.equal(`${line}:${column} ${path} ${message}`, spec);
    }
  }
  await Deno.remove(folder, { recursive: true });
});
