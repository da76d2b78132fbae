/** How long the import of a document takes beside JSON.parse of its text, in the same run. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { importOpenApi } from "../../../src/evidence/typed/openapi/import.ts";
import { readSource } from "../../../src/evidence/typed/openapi/read_source.ts";
import { readResult, writeResult } from "../../../src/evidence/typed/import_protocol.ts";
import type { ImportResult } from "../../../src/evidence/typed/import_result.ts";
import { inFolder } from "../../e2e/gate_command.ts";
import { DIRECTUS, fetchDocument } from "./packages.ts";

const OPTIONS = { provider_id: "directus", server_url: "https://service.example" };

/** Enough runs for the compiler of the runtime, and for one run without a pause. */
const RUNS = 500;

Deno.test("the import of Directus' document takes at most ten times its JSON.parse", () =>
  inFolder(async (folder) => {
    const bytes = await fetchDocument(DIRECTUS, folder);
    const text = new TextDecoder().decode(bytes);
    const document = JSON.parse(text) as JsonValue;
    const parse = fastest(() => JSON.parse(text));
    const read = fastest(() => readSource(bytes));
    const imported = fastest(() => importOpenApi(document, OPTIONS));
    const written = fastest(() => writeResult(fromBytes(bytes)));
    const whole = fastest(() => readResult(writeResult(fromBytes(bytes))));
    const shown = (milliseconds: number): string =>
      `${milliseconds.toFixed(2)} ms (${(milliseconds / parse).toFixed(2)})`;
    console.log(
      `JSON.parse ${shown(parse)}; strict reading ${shown(read)}, import ${shown(imported)}, ` +
        `both and the text for the server ${shown(written)}, which the server then reads ${shown(whole)}`,
    );
    assert.ok(imported <= 10 * parse, shown(imported));
  }));

function fromBytes(bytes: Uint8Array): ImportResult {
  const read = readSource(bytes);
  return "code" in read ? read : importOpenApi(read.document, OPTIONS);
}

/** The fastest of several runs, in milliseconds: what the machine does beside them only adds to the others. */
function fastest(work: () => unknown): number {
  let least = Infinity;
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    work();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}
