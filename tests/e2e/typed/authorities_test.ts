/** `tls.ca` of a profile replaces the authorities of the system: a certificate that these signed is then not enough. */

import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/canonical/json.ts";
import type { ProviderContract } from "../../../src/evidence/types.ts";
import { httpProfile, typedContract } from "../../simulation/typed_documents.ts";
import { startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";
import { startPeer } from "./grpc_peers.ts";
import { HONEST, importChecks } from "./grpc_rows.ts";
import { callText, listening, send } from "../http_fixture.ts";
import { ownCertificate } from "../own_certificates.ts";
import { ok } from "../providers/fixtures.ts";
import { answeringSocket, withTlsServer, writeSecret } from "./fixture.ts";

const SETTINGS = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n[evidence]\nallow_raw_values = true\n';

/** The authority that a profile names; null for those of the system, which the test's authority is one of. */
const ROWS: readonly (readonly [name: string, ca: string | null, isTrusted: boolean])[] = [
  ["system", null, true],
  ["named", "file://authority.pem", true],
  ["stranger", "file://stranger.pem", false],
];

/** Writes a provider; its entry of the configuration. */
async function entryOf(folder: string, protocol: string, contract: ProviderContract, profile: object): Promise<string> {
  const name = contract.provider_id;
  await Deno.writeTextFile(`${folder}/${name}.contract.json`, JSON.stringify(contract));
  await Deno.writeTextFile(`${folder}/${name}.profile.json`, JSON.stringify(profile));
  return `[[providers]]\nname = "${name}"\ntype = "typed"\ntyped_protocol = "${protocol}"\nallow_raw = true\n` +
    `config = { allow_private_networks = true }\ncapabilities_path = "${name}.contract.json"\n` +
    `runtime_profile_path = "${name}.profile.json"\n`;
}

Deno.test("tls.ca replaces the authorities of the system, over HTTP and over gRPC", () =>
  inFolder(async (folder) => {
    const authority = await ownCertificate({ name: "authority", isAuthority: true });
    const stranger = await ownCertificate({ name: "stranger", isAuthority: true });
    const certificate = await ownCertificate({ name: "x", hosts: ["localhost"], ip: [127, 0, 0, 1] }, authority);
    await writeSecret(folder, "authority.pem", authority.cert);
    await writeSecret(folder, "stranger.pem", stranger.cert);
    const checks = await importChecks();
    const peer = await startPeer(HONEST, certificate);
    try {
      await withTlsServer({ certificate }, answeringSocket(ok('{"failed":3}')), async (port) => {
        const entries: string[] = [];
        for (const [name, ca] of ROWS) {
          const tls = { ca, client: null };
          const http = httpProfile({ base_url: `https://localhost:${port}`, tls });
          entries.push(await entryOf(folder, "openapi_http", typedContract({ provider_id: `http-${name}` }), http));
          const grpc = { ...checks.profile, endpoint: `localhost:${peer.port}`, tls };
          entries.push(await entryOf(folder, "grpc", { ...checks.contract, provider_id: `grpc-${name}` }, grpc));
        }
        await Deno.writeTextFile(`${folder}/gate.toml`, SETTINGS + entries.join(""));
        const flags = ["--config", `${folder}/gate.toml`, "--credentials-dir", folder];
        await using server = await listening(startServer({
          args: gateArgs("serve", ...flags),
          cwd: folder,
          // The runtime trusts these beside the authorities of the system.
          env: { DENO_CERT: `${folder}/authority.pem` },
        }));
        for (const [name, , isTrusted] of ROWS) {
          const queries: readonly JsonObject[] = [
            { provider_id: `http-${name}`, check_id: "failed", params: { id: "1" } },
            { provider_id: `grpc-${name}`, check_id: "errors", params: {} },
          ];
          for (const query of queries) {
            const context = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } };
            const { text } = await send(server.url, callText(1, "evidence_query", { query, context }));
            const shown = JSON.stringify((JSON.parse(text) as { result: Wire }).result["structuredContent"]);
            assert.match(
              shown,
              isTrusted ? /"value":3/ : /server_certificate_untrusted/,
              `${query["provider_id"]}: ${shown}`,
            );
          }
        }
      });
    } finally {
      await peer.close();
    }
  }));
