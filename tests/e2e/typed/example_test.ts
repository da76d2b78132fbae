/** The example of typed providers: real services, real processes, and credentials that are found nowhere else. */

import assert from "node:assert/strict";
import { encodeBase64 } from "@/canonical/base64.ts";
import { gate, inFolder } from "../gate_command.ts";
import { textsBelow } from "./fixture.ts";

const DEMO = new URL("../../../docs/examples/typed_service/demo.ts", import.meta.url).pathname;
const ROOT = new URL("../../../", import.meta.url).pathname;
const TOKENS = ["canary-builds-92d1f07c", "canary-approvals-5b3ae664"];

/** The forms in which a credential could be written. */
const CANARIES = TOKENS.flatMap((token) => [token, encodeBase64(new TextEncoder().encode(token)).replace(/=+$/, "")]);

/** Arguments that deprecate one of the two providers. */
const DEPRECATED = ["namespace_id=2", "provider_id=approvals", 'version="1"', "expected_state=active"]
  .flatMap((argument) => ["--arg", argument]);

/** The commands that read a store find its typed providers, in their namespace alone. */
async function checkCommands(folder: string): Promise<void> {
  const scenario = new URL("../../../docs/examples/typed_service/scenario.yaml", import.meta.url).pathname;
  const config = ["--config", "gate.toml"];
  const rows: readonly (readonly [args: readonly string[], code: number, output: RegExp])[] = [
    [["provider", "list", "--namespace", "2"], 0, /approvals +typed +approvals +external\nbuilds +typed +failed_tests/],
    [["provider", "list", "--namespace", "3"], 0, /No provider is configured/],
    [["provider", "list", "--namespace", "0"], 2, /--namespace "0": must be an integer of at least 1/],
    [["scenario", "check", scenario], 0, /a law with 1 stage and 2 conditions/],
    [
      ["provider", "check", "builds", "failed_tests", "--params", '{"id":"17"}', "--namespace", "2"],
      8,
      /host_not_allowed/,
    ],
    [["client", "call", "typed_providers_deprecate", ...DEPRECATED], 0, /"state": ?"deprecated"/],
    [["provider", "list", "--namespace", "2"], 0, /^PROVIDER.*\nbuilds +typed.*\n$/],
    [
      ["doctor"],
      0,
      /builds version 1 is active in namespace 2; it needs --typed-host \S+=file:\/\/builds-token --typed-private --credentials-dir DIR/,
    ],
  ];
  for (const [args, code, output] of rows) {
    const ended = await gate(folder, ...args, ...config);
    const text = ended.stdout + ended.stderr;
    assert.equal(ended.code, code, `${args.join(" ")}: ${text}`);
    assert.match(text, output);
    for (const canary of CANARIES) assert.ok(!text.includes(canary), args.join(" "));
  }
}

Deno.test("a run with an HTTP and a gRPC service is complete, verifies, and holds no credential", () =>
  inFolder(async (folder) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--quiet", "--lock=tests/deno.lock", "-P=test", DEMO, folder, ...TOKENS],
      cwd: ROOT,
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const [said, logged] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assert.equal(code, 0, `${said}${logged}`);
    const lines = (said ?? "").split("\n");
    const expected = [
      /^builds: 1 of 2 operations can be checks$/,
      /^builds: version 1 is active, [0-9a-f]{12}$/,
      /^approvals: 1 of 1 operations can be checks$/,
      /^approvals: version 1 is active, [0-9a-f]{12}$/,
      /^run [0-9a-f]{32}: complete$/,
      /^runpack [0-9a-f]{12}: 22 claims satisfied, 0 violated$/,
    ];
    for (const [index, line] of expected.entries()) assert.match(lines[index] ?? "", line);
    const texts = await textsBelow(folder);
    const holders = texts.filter(([, text]) => CANARIES.some((canary) => text.includes(canary)));
    assert.deepEqual(holders.map(([path]) => path.slice(folder.length)).sort(), [
      "/credentials/approvals-token",
      "/credentials/builds-token",
    ]);
    for (const canary of CANARIES) assert.ok(!`${said}${logged}`.includes(canary), "output");
    const pack = texts.find(([path]) => path.includes("/runpacks/manifests/"));
    assert.ok(
      pack !== undefined && texts.some(([, text]) => text.startsWith('{"contract":{') && text.includes("file://")),
    );
    const run_id = /^run ([0-9a-f]{32}):/m.exec(said ?? "")?.[1] ?? "";
    await checkCommands(folder);
    // The run verifies after one of its versions was deprecated.
    const run = ["--namespace", "2", "--run", run_id];
    const exported = await gate(folder, "runpack", "export", ...run, "--config", "gate.toml", "--out", "pack");
    assert.equal(exported.code, 0, exported.stderr);
    const verified = await gate(folder, "runpack", "verify", "pack");
    assert.match(verified.stdout, /22 satisfied, 0 violated/);
    const checked = await gate(folder, "store", "check", "--config", "gate.toml", "--json");
    const { result: { stores: [store] } } = JSON.parse(checked.stdout);
    assert.deepEqual([store.sound, store.counts.typed_providers], [true, 2]);
  }));
