/** Every law in the vectors is written as a law file that compiles to the same law, byte for byte. */

import assert from "node:assert/strict";
import { canonicalize } from "../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../src/canonical/json.ts";
import { lawAsJson } from "../../src/law/normal_form.ts";
import type { ScenarioLaw } from "../../src/law/types.ts";
import { formatLaw, readLawText } from "../../src/scenario/law_file.ts";
import { checkRoundTrip, lawOfSpec } from "../../src/scenario/law_file/round_trip_fixture.ts";
import { decodePack, type PackText } from "./pack_vectors/encoding.ts";
import type { MemoryPack } from "./runpack/memory.ts";

const VECTORS = new URL("../vectors/", import.meta.url);

/** Different laws by their bytes. */
type Laws = Map<string, ScenarioLaw>;

/** Adds every law in a value, also those in texts of it. */
function addLaws(laws: Laws, value: JsonValue): void {
  if (typeof value === "string") {
    // Texts of SQL double their quotes, and have other values around the law.
    for (const [text] of value.matchAll(/\{.*"spec_version".*\}/g)) addText(laws, text);
  } else if (Array.isArray(value)) {
    for (const one of value) addLaws(laws, one);
  } else if (typeof value === "object" && value !== null) {
    const law = Object.hasOwn(value, "spec_version") ? lawOfSpec(value) : null;
    if (law === null) { for (const one of Object.values(value)) addLaws(laws, one); }
    else laws.set(canonicalize(lawAsJson(law)), law);
  }
}

/** Adds the laws of a text, if it is JSON. */
function addText(laws: Laws, text: string): void {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  addLaws(laws, value);
}

/** Adds the laws in the objects of a pack. */
function addPack(laws: Laws, { objects }: Pick<MemoryPack, "objects">): void {
  for (const bytes of objects.values()) addText(laws, new TextDecoder().decode(bytes));
}

async function* filesBelow(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesBelow(new URL(`${name}/`, folder));
    else yield new URL(name, folder);
  }
}

/** The laws of a folder of vectors. */
async function lawsBelow(folder: string): Promise<Laws> {
  const laws: Laws = new Map();
  for await (const file of filesBelow(new URL(`${folder}/`, VECTORS))) {
    const text = await Deno.readTextFile(file);
    if (file.pathname.endsWith(".sql")) addLaws(laws, text.replaceAll("''", "'"));
    else addText(laws, text);
  }
  return laws;
}

async function packsOf(name: string): Promise<{ readonly [member: string]: JsonValue }> {
  return JSON.parse(await Deno.readTextFile(new URL(`runpack/packs/${name}`, VECTORS)));
}

/** The laws of the packs that are written as changes of others. */
async function lawsOfPacks(): Promise<Laws> {
  const laws: Laws = new Map();
  const bases = new Map<string, MemoryPack>();
  const { packs } = await packsOf("bases.json") as unknown as { packs: readonly (PackText & { name: string })[] };
  for (const text of packs) {
    const { manifest, objects } = decodePack(text, bases);
    assert.ok(manifest !== null);
    bases.set(text.name, { manifest, objects });
    addPack(laws, { objects });
  }
  for await (const { name } of Deno.readDir(new URL("runpack/packs/", VECTORS))) {
    if (!name.endsWith(".json") || name === "bases.json") continue;
    const { cases } = await packsOf(name) as unknown as { cases: readonly { readonly pack?: PackText }[] };
    for (const { pack } of cases) if (pack !== undefined) addPack(laws, decodePack(pack, bases));
  }
  return laws;
}

// The number of different laws: a vector that is not found any more is a fault of this test.
const FOLDERS: readonly (readonly [name: string, find: () => Promise<Laws>, laws: number])[] = [
  ["law", () => lawsBelow("law"), 26],
  ["run", () => lawsBelow("run"), 1],
  ["runpack", () => lawsBelow("runpack"), 24],
  ["the packs of runpack", lawsOfPacks, 15],
  ["store", () => lawsBelow("store"), 1],
];

for (const [name, find, least] of FOLDERS) {
  Deno.test(`writeLaw() writes each law of the vectors in ${name} so that it compiles to the same law`, async () => {
    const laws = await find();
    assert.ok(laws.size >= least, String(laws.size));
    for (const law of laws.values()) checkRoundTrip(law);
  });
}

Deno.test("formatLaw() lays each law file of the vectors out once, and keeps its law", async () => {
  for await (const file of filesBelow(new URL("law_file/", VECTORS))) {
    const text = await Deno.readTextFile(file);
    const formatted = formatLaw(text);
    assert.equal(formatLaw(formatted), formatted, file.pathname);
    const [law, again] = [text, formatted].map((one) => {
      const read = readLawText(one);
      assert.ok(read.ok, file.pathname);
      return lawOfSpec(read.file.spec);
    });
    assert.ok(law !== null && law !== undefined);
    assert.deepEqual(again, law);
    checkRoundTrip(law);
  }
});
