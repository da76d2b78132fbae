import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import type { CallOutcome } from "./dispatcher.ts";
import { type NamedRun, readRunResource, runOfUri } from "./run_resource.ts";

const RUN = "a".repeat(32);
const URI = `gate://runs/2/${RUN}`;

const URIS: readonly (readonly [uri: string, run: NamedRun | null])[] = [
  [URI, { namespaceId: 2, runId: RUN }],
  [`gate://runs/0/${RUN}`, null],
  [`gate://runs/02/${RUN}`, null],
  [`gate://runs/2/${RUN}a`, null],
  [`gate://runs/2/${RUN.toUpperCase()}`, null],
  [`gate://runs/2/${RUN}/`, null],
  ["gate://runs/2", null],
];

Deno.test("runOfUri() names the run of a URI", () => {
  for (const [uri, run] of URIS) assert.deepEqual(runOfUri(uri), run, uri);
});

const STATUS: JsonObject = { status: "active" };

/** What the caller may, whether the run exists, and what is looked up before the answer. */
const READINGS: readonly (readonly [mayRead: boolean, exists: boolean, steps: string, isRead: boolean])[] = [
  [true, true, "runs_list scenarioOf scenario_status", true],
  [true, false, "runs_list scenarioOf", false],
  [false, true, "runs_list", false],
  [false, false, "runs_list", false],
];

Deno.test("readRunResource() looks up a run for a caller that may read the namespace alone", async () => {
  for (const [mayRead, exists, expected, isRead] of READINGS) {
    const steps: string[] = [];
    const read = await readRunResource(URI, {
      tool: (name): Promise<CallOutcome> => {
        steps.push(name);
        const error = { code: "unauthorized", kind: "unauthorized", message: "no", retryable: false } as const;
        return Promise.resolve({ ok: true, answer: mayRead ? { ok: true, result: STATUS } : { ok: false, error } });
      },
      scenarioOf: () => {
        steps.push("scenarioOf");
        return Promise.resolve(exists ? "release" : null);
      },
    });
    assert.equal(steps.join(" "), expected);
    assert.deepEqual(read, isRead ? { uri: URI, mimeType: "application/json", text: JSON.stringify(STATUS) } : null);
  }
});
