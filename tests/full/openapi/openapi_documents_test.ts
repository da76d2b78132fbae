/**
 * Three large public documents: how many operations become checks, and why the others do not. Every imported check
 * answers from a server that is built out of the document's own schemas.
 */
import assert from "node:assert/strict";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { parseJson } from "../../../src/canonical/scan.ts";
import { checkContract } from "../../../src/evidence/contract/check.ts";
import { createSchemaSandbox, type SchemaSandbox } from "../../../src/evidence/sandbox/schema_sandbox.ts";
import type { ImportCandidate, ImportedProvider, ImportResult } from "../../../src/evidence/typed/import_result.ts";
import { importInSandbox } from "../../../src/evidence/typed/import_sandbox.ts";
import { importOpenApi } from "../../../src/evidence/typed/openapi/import.ts";
import { readSource } from "../../../src/evidence/typed/openapi/read_source.ts";
import type { OpenApiHttpProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import { NOON } from "../../e2e/providers/fixtures.ts";
import { inFolder } from "../../e2e/gate_command.ts";
import { withTyped } from "../../e2e/typed/fixture.ts";
import { prepareCheck, type PreparedCheck, serveProfile } from "./generated_server.ts";
import { BLOCKFROST, DIRECTUS, fetchDocument, GITHUB, type PublicDocument } from "./packages.ts";

const OPTIONS = { provider_id: "public", server_url: "https://service.example" };

/** Each document with the fewest of its GET operations that have to be usable, and the number of all of them. */
const ROWS: readonly (readonly [document: PublicDocument, usable: number, all: number])[] = [
  [GITHUB, 613, 639],
  [DIRECTUS, 30, 46],
  [BLOCKFROST, 119, 123],
];

for (const [document, least, all] of ROWS) {
  Deno.test(`${document.specifier}: at least ${least} of ${all} GET operations are usable, and every check answers`, () =>
    inFolder(async (folder) => {
      const bytes = await fetchDocument(document, folder);
      const result = await importInSandbox({ kind: "openapi", bytes: bytes.slice() }, OPTIONS);
      const reads = result.candidates.filter(({ method }) => method === "GET");
      const usable = reads.filter((one) => one.usable);
      report(document, reads);
      assert.equal(reads.length, all);
      assert.ok(usable.length >= least, `${usable.length} are usable`);
      assert.ok(reads.every((one) => one.usable !== one.reasons.length > 0));
      await answerAll(bytes, usable.map(({ operation }) => operation));
    }));
}

/** Prints the share of usable operations, and every reason of the others. */
function report({ specifier }: PublicDocument, reads: readonly ImportCandidate[]): void {
  const usable = reads.filter((one) => one.usable).length;
  console.log(`${specifier}: ${usable} of ${reads.length} GET operations are usable`);
  for (const { operation, reasons } of reads) {
    if (reasons.length > 0) {
      console.log(`  ${operation}: ${reasons.map(({ code, pointer }) => `${code} ${pointer}`).join(", ")}`);
    }
  }
}

/** Imports the operations in contracts as large as possible, and asks for every check of each. */
async function answerAll(bytes: Uint8Array<ArrayBuffer>, operations: readonly string[]): Promise<void> {
  const schemas = createSchemaSandbox();
  const waiting = [...operations];
  let answered = 0;
  let contracts = 0;
  let size = 128;
  try {
    while (waiting.length > 0) {
      const result = importSome(bytes, waiting.slice(0, size));
      if (!result.ok && result.code === "selection_required" && size > 1) {
        size = size >> 1;
        continue;
      }
      assert.ok(result.ok, result.ok ? "" : result.message);
      answered += await answerContract(result, schemas);
      contracts += 1;
      waiting.splice(0, size);
      size = 128;
    }
  } finally {
    schemas.close();
  }
  console.log(`  ${answered} checks of ${contracts} contracts answered`);
  assert.equal(answered, operations.length);
}

function importSome(bytes: Uint8Array, operations: readonly string[]): ImportResult {
  const read = readSource(bytes);
  if ("code" in read) return read;
  return importOpenApi(read.document, { ...OPTIONS, selection: operations.map((operation) => ({ operation })) });
}

/** Asks for every check of a contract; returns how many there are. */
async function answerContract({ contract, profile }: ImportedProvider, schemas: SchemaSandbox): Promise<number> {
  const parsed = parseJson(JSON.stringify(contract));
  assert.ok(parsed.ok);
  const checked = await checkContract(parsed.value, { provider_id: "public", transport: "typed" }, schemas);
  assert.ok(checked.ok, checked.ok ? "" : JSON.stringify(checked.problems));
  const prepared = new Map<string, PreparedCheck>();
  for (const check of contract.checks) {
    const one = prepareCheck(check);
    assert.ok(one !== null, `No value for check "${check.check_id}"`);
    prepared.set(check.check_id, one);
  }
  await serveProfile(
    profile as OpenApiHttpProfile,
    prepared,
    (served) =>
      withTyped({ profile: served, contract: checked.contract }, async (provider) => {
        for (const { check_id, params, value } of prepared.values()) {
          const query = { provider_id: "public", check_id, params };
          const answer = await provider.query(
            query,
            { namespace_id: 1, trigger_time: NOON },
            AbortSignal.timeout(30_000),
          );
          assert.ok(answer.ok, JSON.stringify(answer).slice(0, 500));
          const got = answer.result.value as { readonly value?: JsonValue } | null;
          assert.equal(answer.result.error, null, `${check_id}: ${JSON.stringify(answer.result.error)}`);
          assert.deepEqual(got?.value, value, check_id);
        }
      }),
  );
  return prepared.size;
}
