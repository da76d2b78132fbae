/** `gate approve --law` against a server that lies: before it signs it shows what records and law say, and signs nothing else. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalize } from "@/canonical/canonicalize.ts";
import { identifyCanonical } from "@/canonical/identity.ts";
import { sha256 } from "@/evidence/host_primitives.ts";
import { startServer, type Wire } from "../client.ts";
import { gate, STORES } from "../gate_command.ts";
import { listening } from "../http_fixture.ts";
import { askingServer, withWaitingRun } from "./waiting_world.ts";

/** Changes the answer of a tool in place. */
// deno-lint-ignore no-explicit-any
type Lie = (tool: string, answer: any) => void;

/** Changes the history, whose records follow each other afterwards. */
function history(change: (records: Wire[]) => void): Lie {
  return (tool, answer) => {
    if (tool !== "scenario_history") return;
    change(answer.records.map(({ record }: { record: Wire }) => record));
    let previous: string | null = null;
    for (const item of answer.records) {
      item.record.previous_record_id = previous;
      previous = item.record_id = identifyCanonical(sha256, "run-record", canonicalize(item.record));
    }
  };
}

function status(change: (answer: Wire) => void): Lie {
  return (tool, answer) => tool === "scenario_status" && change(answer);
}

const causes = status(({ recent_attempts }) => {
  for (const attempt of recent_attempts as Wire[] | undefined ?? []) {
    attempt["causes"] = [{ condition_id: "approved", value: "true", counts: { holds: 7, fails: 0, needed: 9 } }];
  }
});
const bodyOf = (record: Wire | undefined): Wire => record?.["body"] as Wire;
const traceOf = (record: Wire | undefined): Wire[] => bodyOf(record)["trace"] as Wire[];

// What the server does, exit code, what is shown, and how many signatures it gets.
const LIES: readonly (readonly [what: string, lie: Lie, code: number, shown: RegExp, signatures: number])[] = [
  [
    "nothing",
    () => {},
    0,
    /attempt 1\n +approved: 0 of 2: alice or bob may \?\n(.*\n){2}You sign {3}true\nSubmitted \w{64} as/,
    1,
  ],
  ["other counts for the attempt", causes, 0, /attempt 1\n +approved: 0 of 2: alice or bob may \?\n/, 1],
  [
    "causes that are no list",
    status(({ recent_attempts }) => (recent_attempts as Wire[] | undefined ?? []).forEach((one) => one["causes"] = 7)),
    0,
    /attempt 1\n +approved: 0 of 2: alice or bob may \?\n/,
    1,
  ],
  [
    "a run id with a line of its own",
    (tool, answer) => {
      const longer = (key: Wire): unknown => key["run_id"] = `${key["run_id"]}\nYou sign   nothing`;
      if (tool === "runs_list") answer.items.forEach((one: Wire) => longer(one["run_key"] as Wire));
      history((records) => records.forEach((one) => longer(one["run_key"] as Wire)))(tool, answer);
    },
    6,
    /^gate: Cannot approve: the server shows something that is no record\n$/,
    0,
  ],
  ["a member too many", history(([first]) => first!["more"] = 1), 6, /no record/, 0],
  ["a trace with words", history((all) => traceOf(all[2])[0]!["reason"] = "fine"), 6, /no record/, 0],
  ["no parameters where there are some", history(([first]) => delete bodyOf(first)["genesis"]), 6, /no record/, 0],
  [
    "a record of null",
    (tool, answer) => tool === "scenario_history" && (answer.records = [{ record: null }]),
    6,
    /no record/,
    0,
  ],
  [
    "a history without end",
    (tool, answer) => tool === "scenario_history" && Object.assign(answer, { records: [], next_after_revision: 0 }),
    6,
    /^gate: Cannot read the history: it does not go on\n$/,
    0,
  ],
  [
    "an attempt that was true in its trace",
    history((all) => traceOf(all[2])[0]!["value"] = "true"),
    2,
    // The statement names the head that was shown, so a server with the true history refuses it.
    /approved.* ✓\n(.*\n){2}You sign {3}true\ngate: .*payload_rejected\n.*seen_head/,
    2,
  ],
  [
    "an answer to the statement without an outcome",
    (tool, answer) => tool === "scenario_submit" && delete answer.outcome,
    1,
    /You sign {3}true\ngate: scenario_submit answers no result\n$/,
    1,
  ],
  [
    "lines in its last answers",
    (tool, answer) => {
      const { result } = answer.outcome ?? {};
      if (tool === "scenario_submit") result.submission.record_id = "a\nb";
      if (tool === "scenario_next") result.decision.kind = "hold\nand more";
    },
    0,
    /You sign {3}true\nSubmitted a\ufffdb as key alice\nStage release: hold\ufffdand more\n {4}approved: [^\n]* \?\n$/,
    1,
  ],
];

/** What a server says of the comment with which bob refused, and what alice is shown of it. */
const COMMENTS: readonly (readonly [what: string, lie: Lie, shown: RegExp])[] = [
  ["bob's comment", () => {}, /Signed .*bob refused at [^"\n]*: "Too early"/],
  [
    "a comment that bob did not write",
    status(({ waiting }) => {
      for (const { refused = [] } of waiting as { refused?: Wire[] }[] | undefined ?? []) {
        for (const one of refused) one["comment"] = "all fixed";
      }
    }),
    /Signed .*bob refused at [^"\n]*\n/,
  ],
];

/** A server that passes calls on to another one, and lies in its answers. */
function startLyingServer(
  honest: string,
): {
  readonly url: string;
  readonly start: (lie: Lie) => void;
  readonly signatures: () => number;
  readonly close: () => Promise<void>;
} {
  let [lie, signatures]: [Lie, number] = [() => {}, 0];
  const options = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  const server = Deno.serve(options, async (request) => {
    // The run id that a lie made longer reaches the honest server as it was.
    const body = (await request.text()).replaceAll("\\nYou sign   nothing", "");
    const headers = new Headers(request.headers);
    for (const name of ["host", "accept-encoding", "content-length"]) headers.delete(name);
    const init = { method: request.method, headers, ...body === "" ? {} : { body } };
    const answer = await fetch(new URL(new URL(request.url).pathname, honest), init);
    const text = await answer.text();
    const { method, params } = body === "" ? {} as Wire : JSON.parse(body);
    if (method !== "tools/call") return new Response(text === "" ? null : text, answer);
    if (params.name === "scenario_submit") signatures++;
    const told = text.replace(/\{.*\}/, (json) => {
      const message = JSON.parse(json);
      if (message.result?.structuredContent !== undefined) lie(params.name, message.result.structuredContent);
      return JSON.stringify(message);
    });
    return new Response(told, {
      status: answer.status,
      headers: { "content-type": answer.headers.get("content-type") ?? "" },
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    start: (next) => [lie, signatures] = [next, 0],
    signatures: () => signatures,
    close: () => server.shutdown(),
  };
}

Deno.test("gate approve --law shows what the records say before it signs, whatever the server says", () =>
  withWaitingRun(async (world) => {
    const { folder } = world;
    await Deno.writeTextFile(
      join(folder, "http.toml"),
      `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${STORES}`,
    );
    await using server = await listening(startServer({
      args: askingServer("--config", "http.toml", "--log-level", "info"),
      cwd: folder,
    }));
    const lying = startLyingServer(server.url);
    try {
      for (const [what, lie, code, shown, signatures] of LIES) {
        const { stdout } = await gate(folder, "run", "law.yaml", "--run-key", what, "--json");
        const { run_id } = (JSON.parse(stdout) as { result: { run_id: string } }).result;
        lying.start(lie);
        const flags = ["--server", lying.url, "--namespace", "2", "--law", "law.yaml", "--key", "alice.key", "--yes"];
        const ended = await gate(folder, "approve", run_id, ...flags);
        assert.match(ended.stdout + ended.stderr, shown, what);
        assert.deepEqual([ended.code, lying.signatures()], [code, signatures], what);
      }
      for (const [what, lie, shown] of COMMENTS) {
        const { stdout } = await gate(folder, "run", "law.yaml", "--run-key", what, "--json");
        const { run_id } = (JSON.parse(stdout) as { result: { run_id: string } }).result;
        const flags = ["--namespace", "2", "--law", "law.yaml", "--yes"];
        const refusal = ["--server", server.url, "--key", "bob.key", "--reject", "--comment", "Too early"];
        assert.equal((await gate(folder, "approve", run_id, ...flags, ...refusal)).code, 0);
        lying.start(lie);
        const ended = await gate(folder, "approve", run_id, ...flags, "--server", lying.url, "--key", "alice.key");
        assert.match(ended.stdout + ended.stderr, shown, what);
      }
    } finally {
      await lying.close();
    }
  }, 2));
