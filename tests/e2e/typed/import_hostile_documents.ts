/**
 * Hostile OpenAPI documents: each tries to reach out, to loop, or to take time or memory.
 *
 * @module
 */

/** Bytes of the largest document that an import reads. */
export const LARGEST = 67_108_864;

const encoder = new TextEncoder();

/** A document with one operation, whose result has this schema as JSON text. */
export function withSchema(schema: string, schemas = "{}"): string {
  const responses = `{"200":{"content":{"application/json":{"schema":${schema}}}}}`;
  const paths = `{"/a":{"get":{"responses":${responses}}}}`;
  return `{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"components":{"schemas":${schemas}},"paths":${paths}}`;
}

function repeat(count: number, one: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => one(index)).join(",");
}

/** A document of exactly so many bytes: an operation, and an extension with `unit` again and again. */
function filled(bytes: number, before: string, unit: string, after: string): Uint8Array<ArrayBuffer> {
  const head = `{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"x-fill":${before}`;
  const tail =
    `${after},"paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"type":"boolean"}}}}}}}}}`;
  const room = bytes - encoder.encode(head + tail).length;
  const unitBytes = encoder.encode(unit).length;
  const body = unit.repeat(Math.floor(room / unitBytes)) + " ".repeat(room % unitBytes);
  return encoder.encode(head + body + tail);
}

/** Objects with one member each, every one with a name of its own. */
function distinctNames(count: number): string {
  return withSchema(`{"type":"boolean"}`, `{"A":{"x-fill":[${repeat(count, (index) => `{"n${index}":0}`)}]}}`);
}

/** One object with this many members. */
function manyMembers(count: number): string {
  return withSchema(`{"type":"boolean"}`, `{"A":{"x-fill":{${repeat(count, (index) => `"n${index}":[]`)}}}}`);
}

function operations(count: number): string {
  const one = (index: number): string =>
    `"/p${index}":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"type":"boolean"}}}}}}}`;
  return `{"openapi":"3.0.0","servers":[{"url":"https://a.example"}],"paths":{${repeat(count, one)}}}`;
}

/** Every schema refers to every one, and every operation to the first. */
function web(schemas: number, paths: number): string {
  const ref = (index: number): string => `{"$ref":"#/components/schemas/S${index}"}`;
  const schema = (index: number): string =>
    `"S${index}":{"type":"object","properties":{${repeat(schemas, (other) => `"p${other}":${ref(other)}`)}}}`;
  const path = (index: number): string =>
    `"/p${index}":{"get":{"responses":{"200":{"content":{"application/json":{"schema":${ref(index % schemas)}}}}}}}`;
  return `{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"components":{"schemas":{${
    repeat(schemas, schema)
  }}},"paths":{${repeat(paths, path)}}}`;
}

/** Each schema applies the next one twice to the same value. */
function doubling(levels: number): string {
  const next = (index: number): string => `{"$ref":"#/components/schemas/S${index + 1}"}`;
  const level = (index: number): string =>
    index === levels
      ? `"S${index}":{"type":"object","properties":{"a":{"type":"integer"}}}`
      : `"S${index}":{"allOf":[${next(index)},${next(index)}]}`;
  return withSchema(`{"$ref":"#/components/schemas/S0"}`, `{${repeat(levels + 1, level)}}`);
}

function chain(length: number): string {
  const one = (index: number): string =>
    `"S${index}":{"allOf":[{"$ref":"#/components/schemas/S${index + 1}"},{"minProperties":1}]}`;
  return withSchema(
    `{"$ref":"#/components/schemas/S0"}`,
    `{${repeat(length, one)},"S${length}":{"type":"object","required":["a"]}}`,
  );
}

function nested(open: string, close: string, depth: number, inner: string): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

function yamlOf(before: string, unit: string, bytes: number): Uint8Array<ArrayBuffer> {
  const head = `openapi: 3.1.0\n${before}`;
  return encoder.encode(head + unit.repeat(Math.floor((bytes - head.length) / unit.length)));
}

const BOMB = `openapi: 3.1.0
a0: &a0 [x, x, x, x, x, x, x, x, x, x]
${
  Array.from({ length: 9 }, (_, index) => `a${index + 1}: &a${index + 1} [${repeat(10, () => `*a${index}`)}]`).join(
    "\n",
  )
}
`;

const PROTOTYPE_NAMES = withSchema(
  `{"type":"object","required":["__proto__"],"properties":{` +
    `"__proto__":{"$ref":"#/components/schemas/__proto__"},"constructor":{"type":"integer"}}}`,
  `{"__proto__":{"type":"string"},"toString":{"type":"boolean"}}`,
);

/** A document, and how its import ends: `checks N`, or the code of the refusal with the reasons of the candidates. */
export type HostileRow = readonly [name: string, document: () => Uint8Array<ArrayBuffer>, outcome: string];

const text = (document: string) => (): Uint8Array<ArrayBuffer> => encoder.encode(document);

/** Documents that fit into every limit of size. */
export const SMALL_ROWS: readonly HostileRow[] = [
  [
    "a schema that is itself",
    text(withSchema(`{"$ref":"#/components/schemas/A"}`, `{"A":{"$ref":"#/components/schemas/A"}}`)),
    "no_usable_operation reference_cycle",
  ],
  [
    "a recursive schema",
    text(
      withSchema(
        `{"$ref":"#/components/schemas/A"}`,
        `{"A":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/A"}}}}`,
      ),
    ),
    "checks 1",
  ],
  [
    "a remote reference",
    text(withSchema(`{"$ref":"https://127.0.0.1:1/a.json"}`)),
    "no_usable_operation reference_external",
  ],
  ["a file reference", text(withSchema(`{"$ref":"file:///etc/passwd#/a"}`)), "no_usable_operation reference_external"],
  [
    "a relative file reference",
    text(withSchema(`{"$ref":"../../etc/passwd"}`)),
    "no_usable_operation reference_external",
  ],
  ["names of prototypes", text(PROTOTYPE_NAMES), "checks 1"],
  [
    "a reference to a name of a prototype",
    text(withSchema(`{"$ref":"#/components/schemas/hasOwnProperty"}`)),
    "no_usable_operation reference_unresolved",
  ],
  [
    "allOf nested 50 deep",
    text(withSchema(nested(`{"allOf":[`, `,{"minProperties":1}]}`, 50, `{"type":"object","required":["a"]}`))),
    "no_usable_operation schema_too_deep",
  ],
  ["schemas nested 10,000 deep", text(withSchema(nested(`{"not":`, "}", 10_000, "{}"))), "document_invalid"],
  ["each of 60 schemas twice in the one before", text(doubling(60)), "checks 1"],
  ["a chain of 1,000 references in place", text(chain(1000)), "checks 1"],
  ["a chain of 1,100 references in place", text(chain(1100)), "no_usable_operation schema_too_large"],
  ["a pattern that backtracks", text(withSchema(`{"type":"string","pattern":"^(a+)+$"}`)), "checks 1"],
  [
    "a pattern that unrolls to a billion",
    text(withSchema(`{"type":"string","pattern":"((a{1000}){1000}){1000}"}`)),
    "checks 1",
  ],
  ["aliases of aliases in YAML", text(BOMB), "document_invalid"],
  ["an alias of itself in YAML", text("openapi: 3.1.0\npaths: &a { b: *a }\n"), "document_invalid"],
  ["a tag of YAML that would run code", text("openapi: 3.1.0\npaths: !!js/function 'x'\n"), "document_invalid"],
];

/** Documents that take time or memory. */
export const LARGE_ROWS: readonly HostileRow[] = [
  ["100,000 operations", text(operations(100_000)), "document_too_complex"],
  [
    "300 schemas that all refer to each other, from 5,000 operations",
    () => encoder.encode(web(300, 5000)),
    "no_usable_operation schema_too_large",
  ],
  ["64 MiB with one long text", () => filled(LARGEST, '"', "x", '"'), "checks 1"],
  ["64 MiB with one long text outside of Latin 1", () => filled(LARGEST, '"€', "x", '"'), "checks 1"],
  ["64 MiB of empty lists", () => filled(LARGEST, "[0", ",[]", "]"), "document_too_complex"],
  ["990,000 objects with a name each", () => encoder.encode(distinctNames(990_000)), "checks 1"],
  ["an object of 990,000 members", () => encoder.encode(manyMembers(990_000)), "checks 1"],
  [
    "64 MiB of small objects and a long text outside of Latin 1",
    () => filled(LARGEST, `[${repeat(700_000, (index) => `{"n${index}":0}`)},"€`, "x", '"]'),
    "document_too_complex",
  ],
  [
    "64 MiB of small objects and a long text",
    () => filled(LARGEST, `[${repeat(660_000, (index) => `{"n${index}":0}`)},"`, "x", '"]'),
    "checks 1",
  ],
  ["a byte more than 64 MiB", () => filled(LARGEST + 1, '"', "x", '"'), "document_too_large"],
  ["9 MiB of YAML", () => yamlOf("x: '", "a", 9 * 1_048_576), "document_too_large"],
  ["8 MiB of YAML in one text", () => yamlOf("x: |\n", `  ${"a".repeat(77)}\n`, 8 * 1_048_576), "no_usable_operation"],
  ["8 MiB of YAML in small values", () => yamlOf("x:\n", "- a\n", 8 * 1_048_576), "document_invalid"],
  ["8 MiB of YAML in open brackets", () => yamlOf("x: ", "[", 8 * 1_048_576), "document_invalid"],
];
