/** Webhooks of a real gate: what a receiver gets, what never leaves, and receivers that are down or hostile. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Webhook } from "npm:standardwebhooks@1.1.1";
import { until } from "../../until.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import {
  APPROVED,
  CANARY,
  ENVIRONMENT,
  EVENTS,
  notifyFlags,
  type Received,
  receiver,
  restored,
  SCENARIO,
  SECRET,
  startNotifying,
} from "./notify_fixture.ts";
import { ownCertificate } from "../own_certificates.ts";

const PATH = "/hooks/canary-of-the-path-55e0";

function verify({ body, headers }: Received): unknown {
  return new Webhook(SECRET).verify(body, { ...headers });
}

/** Whether the store says that every record was announced: only then does a restart repeat none. */
function isSettled(folder: string): boolean {
  using database = new DatabaseSync(join(folder, "gate.db"), { readOnly: true });
  const all = "SELECT settled = (SELECT max(record_row) FROM records) AS settled FROM outbox_targets";
  return database.prepare(all).get()?.["settled"] === 1;
}

Deno.test("a receiver gets every event of a run, signed, with identifiers alone, and nothing again after a restart", () =>
  inFolder(async (folder) => {
    const peer = receiver();
    await using first = await startNotifying(folder, notifyFlags(peer.url + PATH));
    const runs = [await first.drive(SCENARIO), await first.drive(APPROVED)];
    await until("all events came", () => peer.got.length >= 11);
    await until("the store knows that all events came", () => isSettled(folder));
    const errors = await first.end();
    assert.deepEqual(runs.map((run) => restored(peer.got, run)), [EVENTS.notified, EVENTS.approved]);
    for (const event of peer.got) {
      const { type, timestamp, data } = verify(event) as {
        type: string;
        timestamp: string;
        data: Record<string, unknown>;
      };
      const names = [
        "namespace_id",
        "run_id",
        "scenario_id",
        "scenario_law_identity",
        "revision",
        "event",
        "record_id",
      ];
      assert.deepEqual(Object.keys(data), type === "run.completed" ? names : [...names, "stage_id"]);
      assert.equal(event.headers["webhook-id"], `${data["record_id"]}:${type}`);
      assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.equal(event.path, PATH);
      assert.ok(!event.body.includes(String(CANARY)));
      assert.throws(() => verify({ ...event, body: event.body.replace("2", "3") }));
    }
    assert.equal(new Set(peer.got.map(({ headers }) => headers["webhook-id"])).size, 11);
    for (const secret of [SECRET, PATH, String(CANARY)]) assert.ok(!errors.includes(secret));

    await using second = await startNotifying(folder, notifyFlags(peer.url + PATH));
    const later = await second.drive({ ...SCENARIO, scenario_id: "later" });
    await until("the events of the next run came", () => restored(peer.got, later) === EVENTS.notified);
    await second.end();
    assert.equal(peer.got.length, 15);
    await peer.close();
  }));

Deno.test("events of a receiver that is down wait over a restart, and calls are answered meanwhile", () =>
  inFolder(async (folder) => {
    const down = receiver();
    const { port } = new URL(down.url);
    await down.close();
    await using first = await startNotifying(folder, notifyFlags(down.url));
    const runs = [await first.drive(SCENARIO)];
    await first.process.logged("Cannot send an event");
    const errors = await first.end();
    assert.match(errors, /"reason":"connection_failed"/);
    await using second = await startNotifying(folder, notifyFlags(down.url));
    runs.push(await second.drive(APPROVED));
    const peer = receiver(() => new Response(), Number(port));
    await until("all events came", () => peer.got.length >= 11);
    assert.deepEqual(runs.map((run) => restored(peer.got, run)), [EVENTS.notified, EVENTS.approved]);
    await second.end();
    await peer.close();
  }));

/** A body that never ends, written as fast as it is read. */
function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
}

interface Hostile {
  readonly what: string;
  readonly answer: (redirect: string) => Response | Promise<Response>;
  /** The reason in the log; null where the event counts as delivered. */
  readonly reason: string | null;
}

const HOSTILE: readonly Hostile[] = [
  {
    what: "redirects",
    answer: (location) => new Response(null, { status: 307, headers: { location } }),
    reason: "status 307",
  },
  {
    what: "redirects a success",
    answer: (location) => new Response(null, { status: 200, headers: { location } }),
    reason: null,
  },
  { what: "answers with a body that never ends", answer: () => new Response(endless()), reason: null },
  {
    what: "fails with a body that never ends",
    answer: () => new Response(endless(), { status: 500 }),
    reason: "status 500",
  },
  {
    what: "answers with headers of a megabyte",
    answer: () => new Response(null, { headers: { "x-long": "x".repeat(1_000_000) } }),
    reason: "response_too_large",
  },
  { what: "never answers", answer: () => new Promise(() => {}), reason: null },
  {
    what: "asks for a pause of a year",
    answer: () => new Response(null, { status: 503, headers: { "retry-after": "31536000" } }),
    reason: "status 503",
  },
];

for (const { what, answer, reason } of HOSTILE) {
  Deno.test(`a receiver that ${what}: calls are answered, nobody else is asked, and the end is in order`, () =>
    inFolder(async (folder) => {
      const other = receiver();
      const peer = receiver(() => answer(`${other.url}/stolen`));
      await using served = await startNotifying(folder, notifyFlags(peer.url));
      const run = await served.drive(SCENARIO);
      await until("an event came", () => peer.got.length > 0);
      if (reason !== null) await served.process.logged(`"reason":"${reason}"`);
      else if (what !== "never answers") {
        await until("all events came", () => restored(peer.got, run) === EVENTS.notified);
      }
      await served.end();
      assert.deepEqual(other.got, []);
      void peer.close();
      await other.close();
    }));
}

/** Addresses that gate does not post to, and the reason in the log. */
const REFUSED_ADDRESSES: readonly (readonly [url: string, reason: string])[] = [
  ["https://10.1.2.3/hook", "destination_blocked"],
  ["https://169.254.169.254/latest", "destination_blocked"],
  ["https://[fd00::1]/", "destination_blocked"],
  ["https://name-without-an-address.invalid/", "dns_failed"],
];

for (const [url, reason] of REFUSED_ADDRESSES) {
  Deno.test(`events for ${url} are not sent: ${reason}`, () =>
    inFolder(async (folder) => {
      await using served = await startNotifying(folder, notifyFlags(url));
      await served.drive(SCENARIO);
      await served.process.logged(`"reason":"${reason}"`);
      await served.end();
    }));
}

Deno.test("a receiver whose certificate nobody vouches for gets no event", () =>
  inFolder(async (folder) => {
    const { cert, key } = await ownCertificate({ name: "gate", ip: [127, 0, 0, 1] });
    const peer = receiver(() => new Response(), 0, { cert, key });
    await using served = await startNotifying(folder, notifyFlags(peer.url));
    await served.drive(SCENARIO);
    await served.process.logged('"reason":"server_certificate_untrusted"');
    await served.end();
    assert.deepEqual(peer.got, []);
    await peer.close();
  }));

/** Flags that end the start, and what is said. */
const REFUSED: readonly (readonly [flags: readonly string[], said: RegExp])[] = [
  [["--notify", "http://hooks.example.com", "--notify-secret", "env:HOME"], /expected https, or http to this machine/],
  [["--notify", "https://user:pass@hooks.example.com", "--notify-secret", "env:HOME"], /expected no user/],
  [["--notify", "hooks", "--notify-secret", "env:HOME"], /it is not a URL/],
  [["--notify", "https://hooks.example.com"], /--notify-secret is missing/],
  [["--notify-secret", "env:HOME"], /--notify is missing/],
  [["--notify", "https://hooks.example.com", "--notify-secret", SECRET], /expected env:VARIABLE/],
  [["--notify", "https://hooks.example.com", "--notify-secret", "env:NOT_SET_HERE"], /NOT_SET_HERE is not set/],
  [
    ["--notify", "https://hooks.example.com", "--notify-secret", "env:HOME"],
    /HOME has no secret: expected .{1,2}whsec_/,
  ],
];

for (const [flags, said] of REFUSED) {
  Deno.test(`gate serve ${flags.join(" ")}: exit code 2`, () =>
    inFolder(async (folder) => {
      const { code, stderr } = await gate(folder, "serve", ...flags);
      assert.match(stderr, said);
      assert.ok(!stderr.includes(SECRET) && !stderr.includes("user:pass"));
      assert.equal(code, 2);
    }));
}

Deno.test("gate config check and gate doctor check the flags, and doctor the addresses of the host", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    const run = async (...words: readonly string[]): Promise<string> => {
      const args = gateArgs(...words);
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args,
        cwd: folder,
        env: ENVIRONMENT,
        stdin: "null",
      })
        .output();
      return `${code} ${new TextDecoder().decode(stdout)}${new TextDecoder().decode(stderr)}`;
    };
    assert.match(await run("config", "check", ...notifyFlags("https://hooks.example.com")), /^0 /);
    assert.match(await run("config", "check", ...notifyFlags("http://hooks.example.com")), /^2 .*expected https/);
    assert.match(
      await run("doctor", ...notifyFlags("http://127.0.0.1:9")),
      /^ok +notify +events go to 127\.0\.0\.1:9, signed$/m,
    );
    assert.match(
      await run("doctor", ...notifyFlags("https://10.0.0.1")),
      /^fail +notify .*an address that is not public/m,
    );
    assert.match(await run("doctor", "--notify", "https://10.0.0.1"), /^fail +notify .*--notify-secret is missing/m);
  }));

Deno.test("with the permissions that gate permissions prints, events are delivered", () =>
  inFolder(async (folder) => {
    const peer = receiver();
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    const flags = notifyFlags(peer.url);
    const { stdout } = await gate(folder, "permissions", "--config", join(folder, "gate.toml"), ...flags, "--json");
    const { run } = (JSON.parse(stdout) as { result: { run: string[] } }).result;
    assert.ok(run.includes("--allow-env=NOTIFY_SECRET"), run.join(" "));
    assert.ok(run.includes(`--allow-net=127.0.0.1:${new URL(peer.url).port}`), run.join(" "));
    await using served = await startNotifying(folder, [], { args: run.slice(1) });
    const id = await served.drive(SCENARIO);
    await until("the events came", () => restored(peer.got, id) === EVENTS.notified);
    await served.end();
    await peer.close();
  }));
