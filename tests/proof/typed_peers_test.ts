/** A thousand checks of services that misbehave leave no open file, no thread and no busy processor behind. */

import assert from "node:assert/strict";
import { cpuUsage } from "node:process";
import { ownCertificate } from "../e2e/own_certificates.ts";
import {
  askProvider,
  type Behaviour,
  ok,
  outcomeOf,
  pause,
  withFolder,
  withServer,
} from "../e2e/providers/fixtures.ts";
import { answeringSocket, withTlsServer, withTyped, writeSecret } from "../e2e/typed/fixture.ts";
import { PEERS, RESPONSE_BYTES } from "../e2e/typed/http_peers.ts";
import { httpProfile } from "../simulation/typed_documents.ts";

const HTTP_ROUNDS = 700;
const TLS_ROUNDS = 300;
const LIMITS = { timeout_ms: 400, max_response_bytes: RESPONSE_BYTES };

/** Open files and threads of this process. Another program counts them: the runtime reads `/proc` with all permissions only. */
async function held(): Promise<readonly number[]> {
  const count = (kind: string): string => `ls /proc/${Deno.pid}/${kind} | wc -l`;
  const args = ["-c", `${count("fd")}; ${count("task")}`];
  const { stdout } = await new Deno.Command("sh", { args }).output();
  return new TextDecoder().decode(stdout).trim().split("\n").map(Number);
}

/** Processor milliseconds that all threads of this process take within a period. */
async function busyMillis(millis: number): Promise<number> {
  const before = cpuUsage();
  await pause(millis);
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}

/** Checks a service whose connections take turns with the behaviours, and compares each outcome. */
async function httpRounds(rounds: number): Promise<void> {
  const turns: Behaviour = (connection, count) => (PEERS[(count - 1) % PEERS.length]?.[1] ?? never)(connection, count);
  await withServer(turns, async ({ port }) => {
    const profile = httpProfile({ base_url: `http://127.0.0.1:${port}`, limits: LIMITS });
    await withTyped({ profile }, async (provider) => {
      for (let round = 0; round < rounds; round++) {
        const [what = "", , outcome] = PEERS[round % PEERS.length] ?? [];
        assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), outcome, `round ${round}, ${what}`);
      }
    });
  });
}

function never(): never {
  throw new Error("there are behaviours");
}

/** The same over TLS: right, wrong authority, wrong name, and a client without the certificate that is wanted. */
async function tlsRounds(rounds: number): Promise<void> {
  const authority = await ownCertificate({ name: "authority", isAuthority: true });
  const stranger = await ownCertificate({ name: "stranger", isAuthority: true });
  const certificate = await ownCertificate({ name: "builds", hosts: ["builds.example"] }, authority);
  const rows = [
    [{ certificate }, authority, "builds.example", "value: 3"],
    [{ certificate }, stranger, "builds.example", "failed: server_certificate_untrusted"],
    [{ certificate }, authority, "other.example", "failed: server_certificate_name_mismatch"],
    // This server does not always send its alert before it closes.
    [
      { certificate, clients: authority },
      authority,
      "builds.example",
      "failed: client_certificate_missing or connection_failed",
    ],
  ] as const;
  for (const [settings, trusted, host, outcome] of rows) {
    await withFolder((folder) =>
      withTlsServer(settings, answeringSocket(ok('{"failed":3}')), async (port) => {
        await writeSecret(folder, "ca", trusted.cert);
        const profile = httpProfile({
          base_url: `https://${host}:${port}`,
          tls: { ca: "file://ca", client: null },
          limits: { ...LIMITS, timeout_ms: 20_000 },
        });
        const options = { resolver: () => Promise.resolve(["127.0.0.1"]) };
        await withTyped({ profile, grants: { credentialsDir: folder }, options }, async (provider) => {
          for (let round = 0; round < rounds / rows.length; round++) {
            const found = outcomeOf(await askProvider(provider, "failed", { id: "1" }));
            const [, code = found] = /^failed: (\w+)$/.exec(found) ?? [];
            assert.ok(outcome.includes(code), `${host} ${round}: ${found}`);
          }
        });
      })
    );
  }
}

Deno.test({
  name: "a thousand typed checks of services that misbehave leave nothing open and nothing busy",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    // The runtime opens files and threads of its own when it first needs them.
    await httpRounds(PEERS.length);
    await tlsRounds(4);
    await pause(500);
    const before = await held();
    await httpRounds(HTTP_ROUNDS);
    await tlsRounds(TLS_ROUNDS);
    const deadline = performance.now() + 10_000;
    let after = await held();
    while (after.some((count, index) => count > (before[index] ?? 0)) && performance.now() < deadline) {
      await pause(200);
      after = await held();
    }
    console.log(`files and threads before ${before.join(" and ")}, after ${after.join(" and ")}`);
    assert.ok(after.every((count, index) => count <= (before[index] ?? 0)), `${before} became ${after}`);
    let busy = Infinity;
    while (busy > 100 && performance.now() < deadline + 10_000) busy = await busyMillis(400);
    assert.ok(busy <= 100, `${busy} ms of 400`);
  },
});
