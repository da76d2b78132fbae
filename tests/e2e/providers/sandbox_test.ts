import assert from "node:assert/strict";
import { addressPermissions, NO_PERMISSIONS } from "../../../src/evidence/builtin/permissions.ts";
import { grantedNames } from "../../../src/evidence/builtin/env.ts";
import { createWorkerHost, type WorkerPermissions } from "../../../src/evidence/sandbox/worker_host.ts";
import { BUILTIN_CONFIG_SCHEMAS } from "../../../src/config/sections/builtin.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { readSilently } from "../../../src/canonical/shape.ts";
import type { Attempt, Outcome } from "./probe.ts";

const PROBE = new URL("./probe.ts", import.meta.url);

/** Runs an attempt in a worker with the permissions of a provider. */
async function attemptInside(permissions: WorkerPermissions, attempts: readonly Attempt[]): Promise<Outcome[]> {
  const host = createWorkerHost({ name: "probe", module: PROBE, permissions, setup: null, concurrency: 1 });
  try {
    const outcomes: Outcome[] = [];
    for (const attempt of attempts) {
      const answer = await host.ask<Outcome>(attempt, { limitMillis: 20_000 });
      outcomes.push(answer.ok ? answer.answer : { outcome: "failed", message: answer.message });
    }
    return outcomes;
  } finally {
    host.close();
  }
}

interface Place {
  readonly root: string;
  readonly outside: string;
  readonly port: number;
  readonly otherPort: number;
  readonly close: () => Promise<void>;
}

/** A root with links out of it, a file beside it, and two servers. */
async function makePlace(): Promise<Place> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "gate-sandbox-" }));
  await Deno.mkdir(`${folder}/base/inner`, { recursive: true });
  await Deno.writeTextFile(`${folder}/base/a.json`, "{}");
  await Deno.writeTextFile(`${folder}/outside.json`, '"secret"');
  await Deno.mkdir(`${folder}/base_beside`);
  await Deno.writeTextFile(`${folder}/base_beside/b.json`, '"secret"');
  await Deno.symlink(`${folder}/outside.json`, `${folder}/base/link.json`);
  await Deno.symlink(folder, `${folder}/base/up`);
  const serve = (): Deno.HttpServer<Deno.NetAddr> =>
    Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response("ok"));
  const one = serve();
  const other = serve();
  return {
    root: `${folder}/base`,
    outside: `${folder}/outside.json`,
    port: one.addr.port,
    otherPort: other.addr.port,
    close: async () => {
      await Promise.all([one.shutdown(), other.shutdown()]);
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Attempts that the runtime denies every built-in provider. */
function waysOut(place: Place): readonly Attempt[] {
  return [
    { try: "write", path: `${place.root}/new.json` },
    { try: "sqlite", path: `${place.root}/new.db` },
    { try: "run" },
    { try: "node_run" },
    { try: "ffi" },
    { try: "sys" },
    { try: "listen" },
    { try: "env_all" },
    { try: "env", name: "HOME" },
    { try: "read", path: place.outside },
    { try: "node_read", path: place.outside },
    { try: "real_path", path: `${place.root}/../outside.json` },
    { try: "real_path", path: "/proc/self/environ" },
    { try: "import", path: `file://${place.outside}` },
    { try: "connect", host: "127.0.0.1", port: place.otherPort },
    { try: "node_connect", host: "127.0.0.1", port: place.otherPort },
    { try: "connect", host: "localhost", port: place.port },
    { try: "fetch", url: `http://127.0.0.1:${place.otherPort}/` },
    { try: "fetch", url: "https://169.254.169.254/latest/meta-data/" },
    { try: "escalate" },
  ];
}

interface Row {
  readonly provider: string;
  readonly permissions: (place: Place) => WorkerPermissions;
  /** Attempt that the grant allows. */
  readonly allowed: (place: Place) => readonly Attempt[];
  /** Denied attempts beside {@link waysOut}. */
  readonly refused: (place: Place) => readonly Attempt[];
}

function readsVariables(given: JsonObject): WorkerPermissions {
  const config = readSilently(BUILTIN_CONFIG_SCHEMAS.env, given) ?? assert.fail();
  const policy = { config, reserved: new Set(["REST_TOKEN"]) };
  return { env: grantedNames(policy) ?? [] };
}

const ROWS: readonly Row[] = [
  {
    provider: "time",
    permissions: () => NO_PERMISSIONS,
    allowed: () => [{ try: "echo", value: 1 }],
    refused: ({ root }) => [{ try: "read", path: `${root}/a.json` }, { try: "list", path: root }],
  },
  {
    provider: "env with an allowlist",
    permissions: () =>
      readsVariables({
        allowlist: ["PROBE_A", "PROBE_B", "REST_TOKEN", "GATE_X", "AWS_X", "P*"],
        denylist: ["PROBE_B"],
      }),
    allowed: () => [{ try: "env", name: "PROBE_A" }],
    refused: ({ root }) => [
      { try: "env", name: "PROBE_B" },
      { try: "env", name: "PROBE_C" },
      { try: "env", name: "REST_TOKEN" },
      { try: "env", name: "GATE_X" },
      { try: "env", name: "AWS_X" },
      { try: "read", path: `${root}/a.json` },
    ],
  },
  {
    provider: "env without an allowlist",
    permissions: () => ({ env: ["PROBE_A"] }),
    allowed: () => [{ try: "env", name: "PROBE_A" }],
    refused: () => [{ try: "env", name: "PROBE_C" }],
  },
  {
    provider: "env with overrides",
    permissions: () => readsVariables({ allowlist: ["PROBE_A", "PROBE_B"], overrides: { PROBE_A: "x", PROBE_C: "x" } }),
    allowed: () => [{ try: "env", name: "PROBE_B" }],
    refused: () => [{ try: "env", name: "PROBE_A" }, { try: "env", name: "PROBE_C" }],
  },
  {
    provider: "json",
    permissions: ({ root }) => ({ read: [root] }),
    allowed: ({ root }) => [{ try: "real_path", path: `${root}/a.json` }, { try: "list", path: `${root}/inner` }],
    refused: ({ root }) => [
      { try: "real_path", path: `${root}/link.json` },
      { try: "real_path", path: `${root}/up/outside.json` },
      { try: "real_path", path: `${root}/inner/../../outside.json` },
      { try: "real_path", path: `${root}_beside/b.json` },
      { try: "list", path: `${root}/..` },
      { try: "import", path: "https://code.example/module.ts" },
    ],
  },
  {
    provider: "http and rest",
    permissions: ({ port }) => addressPermissions(["127.0.0.1"], port),
    allowed: ({ port }) => [
      { try: "connect", host: "127.0.0.1", port },
      { try: "node_connect", host: "127.0.0.1", port },
    ],
    refused: ({ root, port }) => [
      { try: "read", path: `${root}/a.json` },
      { try: "connect", host: "127.0.0.2", port },
      { try: "connect", host: "::1", port },
      { try: "connect", host: "10.0.0.1", port: 443 },
      { try: "fetch", url: "https://api.example/" },
    ],
  },
  {
    provider: "a typed provider",
    permissions: ({ port }) => addressPermissions(["127.0.0.1", "::1"], port),
    allowed: ({ port }) => [
      { try: "connect", host: "127.0.0.1", port },
      { try: "node_connect", host: "127.0.0.1", port },
    ],
    refused: ({ root, port }) => [
      { try: "read", path: `${root}/a.json` },
      { try: "env", name: "PROBE_A" },
      { try: "connect", host: "127.0.0.1", port: port === 1 ? 2 : 1 },
      { try: "connect", host: "127.0.0.2", port },
      { try: "connect", host: "10.0.0.1", port: 443 },
    ],
  },
];

for (const row of ROWS) {
  Deno.test(`the runtime denies a worker of ${row.provider} everything that it was not granted`, async () => {
    const place = await makePlace();
    try {
      const permissions = row.permissions(place);
      const allowed = row.allowed(place);
      const refused = [...waysOut(place), ...row.refused(place)];
      const outcomes = await attemptInside(permissions, [...allowed, ...refused, ...allowed]);
      const shown = outcomes.map((outcome, index) => {
        const attempt = [...allowed, ...refused, ...allowed][index];
        return `${JSON.stringify(attempt)} ${outcome.outcome}`;
      });
      assert.deepEqual(shown, [
        ...allowed.map((attempt) => `${JSON.stringify(attempt)} allowed`),
        ...refused.map((attempt) => `${JSON.stringify(attempt)} refused`),
        ...allowed.map((attempt) => `${JSON.stringify(attempt)} allowed`),
      ]);
    } finally {
      await place.close();
    }
  });
}

Deno.test("the runtime follows a link in a granted folder, so the json worker resolves paths before it opens them", async () => {
  const place = await makePlace();
  try {
    const path = `${place.root}/link.json`;
    const ways = (["read", "node_read", "real_path"] as const).map((way): Attempt => ({ try: way, path }));
    const outcomes = await attemptInside({ read: [place.root] }, ways);
    assert.deepEqual(outcomes.map(({ outcome }) => outcome), ["allowed", "allowed", "refused"]);
  } finally {
    await place.close();
  }
});

Deno.test("a worker sees an empty environment through node's process, and cannot end the process through it", async () => {
  const [outcome] = await attemptInside(NO_PERMISSIONS, [{ try: "node_env", name: "HOME" }]);
  assert.deepEqual(outcome, { outcome: "allowed", value: null });
});

Deno.test("a worker cannot write to standard output or standard error by the usual ways", async () => {
  const script = `
    import { createWorkerHost } from ${
    JSON.stringify(new URL("../../../src/evidence/sandbox/worker_host.ts", import.meta.url))
  };
    const module = new URL(${JSON.stringify(PROBE)});
    const host = createWorkerHost({ name: "probe", module, permissions: {}, setup: null, concurrency: 1 });
    const answer = await host.ask({ try: "print" }, { limitMillis: 20_000, signal: new AbortController().signal });
    host.close();
    Deno.exit(answer.ok && answer.answer.outcome === "allowed" ? 0 : 1);
  `;
  const folder = await Deno.makeTempDir({ prefix: "gate-print-" });
  try {
    await Deno.writeTextFile(`${folder}/main.ts`, script);
    const settings = new URL("../../../deno.json", import.meta.url).pathname;
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "--no-prompt", "--config", settings, "--allow-read", `${folder}/main.ts`],
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, text);
    assert.equal(text.includes("LEAK"), false, text);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
