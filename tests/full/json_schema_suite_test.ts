/**
 * The official test suite of JSON Schema for 2020-12, as a Debian package brings it.
 *
 * What the suite takes from a network is put into the schema, as 2020-12 Core, 9.3 says of bundles: gate fetches nothing.
 */

import assert from "node:assert/strict";
import { type JsonObject, type JsonValue, member } from "@/canonical/json.ts";
import { compileSchema } from "@/evidence/json_schema/compile.ts";
import { DIALECT } from "@/evidence/json_schema/document.ts";

interface Group {
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly { readonly description: string; readonly data: JsonValue; readonly valid: boolean }[];
}

const SUITE = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance";
const FOLDER = "draft2020-12";
const HOST = "http://localhost:1234";

/** Groups that gate refuses as a whole, and why; each test of them stands for a schema that is told so at its registration. */
const REFUSED: ReadonlyMap<string, RegExp> = new Map([
  // The documents call themselves otherwise than the address that they are fetched from.
  ["remote HTTP ref with different $id", /cannot resolve reference/],
  ["remote HTTP ref with different URN $id", /cannot resolve reference/],
  // Dialects of their own.
  ["schema that uses custom metaschema with with no validation vocabulary", /^\$\.\$schema: must be/],
  ["ignore unrecognized optional vocabulary", /^\$\.\$schema: must be/],
]);

function readJson(path: string): JsonValue {
  return JSON.parse(Deno.readTextFileSync(path)) as JsonValue;
}

/** The documents of the dialect that the suite expects on its host, under the names they go by. */
function remotes(folder: string): JsonObject[] {
  return [...Deno.readDirSync(`${SUITE}/remotes${folder}`)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return remotes(path);
    const document = remote(path);
    return (member(document, "$schema") ?? DIALECT) === DIALECT ? [document] : [];
  });
}

function remote(path: string): JsonObject {
  return { $id: `${HOST}${path}`, ...readJson(`${SUITE}/remotes${path}`) as JsonObject };
}

/** A schema with the documents that it may refer to in it. */
function bundle(schema: JsonValue): JsonValue {
  const { $defs, ...others } = schema as JsonObject;
  const text = JSON.stringify(schema);
  const documents = [...remotes(`/${FOLDER}`), remote("/nested-absolute-ref-to-string.json")].map((document) =>
    [`${document["$id"]}`, document] as const
  );
  const added = documents.filter(([id]) => !text.includes(`"$id":"${id}"`));
  return { ...others, $defs: { ...$defs as JsonObject, ...Object.fromEntries(added) } };
}

for (const { name } of Deno.readDirSync(`${SUITE}/tests/${FOLDER}`)) {
  if (!name.endsWith(".json")) continue;
  Deno.test(`JSON Schema Test Suite, ${name}`, async (t) => {
    for (const { description, schema, tests } of readJson(`${SUITE}/tests/${FOLDER}/${name}`) as unknown as Group[]) {
      await t.step(description, () => {
        const alone = compileSchema(schema);
        const compilation = "refusal" in alone ? compileSchema(bundle(schema)) : alone;
        const refusal = REFUSED.get(description);
        if (refusal !== undefined) {
          return assert.match("refusal" in compilation ? compilation.refusal : "compiled", refusal);
        }
        assert.ok("validator" in compilation, JSON.stringify(compilation));
        for (const { description, data, valid } of tests) {
          assert.equal(compilation.validator(data) === null, valid, description);
        }
      });
    }
  });
}
