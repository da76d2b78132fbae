/** Cases of the format before law files: no command runs them, and `gate scenario write` converts them. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";

const LAW = `law: change
parameters:
  commit: text(7..40)
evidence:
  tested_commit: caller
  started_at: time
  tests_failed: count from env FAILED
  released: boolean signed by dbas
  approved: 2 of dbas
people:
  dbas: [alice, bob]
stages:
  checks: tested_commit == commit && tests_failed == 0 && started_at <= now
  approval: { after: checks, when: approved && released }
`;

const OLD = `parameters: { commit: 4f2a9c1 }
cases:
  - name: all is well
    evaluated_at: "2026-03-02T12:00:00Z"
    stages:
      - stage: checks
        given: { tested_commit: 4f2a9c1, started_at: "2026-03-02T11:00:00Z" }
        acquired: { env.tests_failed: 0 }
        expect: true
      - stage: approval
        items: { released: [true] }
        signed: [released]
        submitted: { approved: { alice: true, bob: true } }
        expect: true
    expect: complete
  - name: values that differ
    parameters: { commit: 8d1f2c7 }
    stages:
      - stage: checks
        evaluated_at: "2026-03-02T12:00:00Z"
        given: { started_at: "2026-03-02T11:00:00Z" }
        items: { tested_commit: [8d1f2c7, 4f2a9c1] }
        acquired: { env.tests_failed: 1 }
        expect: false
        conditions: { tested_commit: unknown, tests_failed: false, started_at: true }
      - stage: approval
        evaluated_at: "2026-03-02T12:00:00Z"
        expect: blocked
    expect: active
    ready: []
`;

Deno.test("cases of the old format are converted, and then pass as before", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/change.yaml`, LAW);
    await Deno.writeTextFile(`${folder}/change.cases.yaml`, OLD);
    const refused = await gate(folder, "scenario", "test", "change.yaml");
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /its format is gone \(gate scenario write change\.cases\.yaml/);
    const written = await gate(folder, "scenario", "write", "change.cases.yaml");
    assert.match(written.stdout, /sign: \[ ?\{ alice: \{ approved: true \} \}/);
    await Deno.writeTextFile(`${folder}/change.cases.yaml`, written.stdout);
    const run = await gate(folder, "scenario", "test", "change.yaml");
    assert.match(run.stdout, /2 passed, 0 failed/, written.stdout + run.stdout + run.stderr);
    const row = (name: string, of: RegExp): Promise<void> =>
      gate(folder, "scenario", "test", "change.yaml", "--set", name).then(({ stdout, code }) => {
        assert.match(stdout, of);
        assert.equal(code, 3);
      });
    await row("tests_failed=7", /held|complete: the run is active/);
    await row("commit=0000000", /checks is true: it is (false|unknown)/);
  }));
