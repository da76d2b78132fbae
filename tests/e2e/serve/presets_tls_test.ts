/** The files of `config/` with TLS, with certificates by openssl; see `presets_test.ts` for the others. */

import assert from "node:assert/strict";
import { schemaRecord, spec } from "@/tools/tests/tools_fixture.ts";
import type { Wire } from "../client.ts";
import { inFolder } from "../gate_command.ts";
import type { Sending } from "../http_fixture.ts";
import { unitFlags } from "./presets_blocks.ts";
import { clientAuthority, serverCertificate } from "./presets_certificates.ts";
import { contentOf, runLifecycle } from "./presets_lifecycle.ts";
import { assertAudited, type Edits, type Served, serveHttp } from "./presets_serve.ts";
import { type Certified, CLIENT_EXTENSIONS } from "../tls/authority.ts";

async function digestOf(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return new Uint8Array(digest).toHex();
}

/** Whether an answer is an error of either kind. */
function isRefused(answer: Wire): boolean {
  return answer["error"] !== undefined || (answer["result"] as Wire | undefined)?.["isError"] === true;
}

Deno.test("config/hardened_bearer.toml admits named tokens, each with the permissions of its roles", () =>
  inFolder(async (folder) => {
    const { cert: ca } = await serverCertificate(folder);
    const token = (): string => crypto.getRandomValues(new Uint8Array(32)).toHex();
    const [pipeline, auditor] = [token(), token()];
    await Deno.mkdir(`${folder}/etc/keys`, { recursive: true });
    await Deno.writeFile(`${folder}/etc/keys/evidence.pub`, await evidenceKey());
    const edits: Edits = [
      ["127.0.0.1:8443", "127.0.0.1:0"],
      ["<sha256 of the pipeline's token>", await digestOf(pipeline)],
      ["<sha256 of the auditor's token>", await digestOf(auditor)],
    ];
    await serveHttp("hardened_bearer.toml", folder, { edits }, async ({ as, status, ready }) => {
      const bearer = (value: string): Sending => ({ ca, headers: { authorization: `Bearer ${value}` } });
      await runLifecycle(as(bearer(pipeline)));
      await ready({ ca });
      const unsigned = await as(bearer(pipeline))("schemas_register", { record: schemaRecord() });
      assert.match(JSON.stringify(unsigned), /sign/, JSON.stringify(unsigned));
      assert.ok(isRefused(unsigned));
      contentOf(await as(bearer(auditor))("scenarios_list", { namespace_id: 2 }));
      assert.equal(await status({ ca }), 401);
      assert.equal(await status(bearer(token())), 401);
      assert.ok(
        isRefused(JSON.parse(await refusedText(as, bearer(auditor)))),
        "a reader may not define",
      );
    });
    await assertAudited(folder, `${folder}/log/audit.jsonl`);
    const audit = await Deno.readTextFile(`${folder}/log/audit.jsonl`);
    for (const secret of [pipeline, auditor]) assert.ok(!audit.includes(secret), "no token stands in the audit log");
  }));

async function evidenceKey(): Promise<Uint8Array<ArrayBuffer>> {
  const { publicKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]) as CryptoKeyPair;
  return new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
}

/** The answer to a caller without the role. */
async function refusedText(as: Served["as"], sending: Sending): Promise<string> {
  try {
    return JSON.stringify(await as(sending)("scenario_define", { spec: spec({ scenario_id: "other" }) }));
  } catch (error) {
    assert.match(String(error), /403/);
    return '{"error":{}}';
  }
}

Deno.test("config/mtls_host.toml admits certificates by their subject", () =>
  inFolder(async (folder) => {
    const { cert: ca } = await serverCertificate(folder);
    const clients = await clientAuthority(folder);
    const issue = (name: string, subject: string): Promise<Certified> =>
      clients.issue(name, { subject, extensions: CLIENT_EXTENSIONS });
    const pipeline = await issue("pipeline", "/O=Example/OU=Build/CN=pipeline");
    const auditor = await issue("auditor", "/O=Example/OU=Audit/CN=auditor");
    const stranger = await issue("stranger", "/O=Example/OU=Build/CN=stranger");
    const options = {
      edits: [["0.0.0.0:8443", "0.0.0.0:0"]] as Edits,
      flags: await unitFlags(),
    };
    await serveHttp("mtls_host.toml", folder, options, async ({ as, status, ready }) => {
      const host = { headers: { host: "gate.example.com" } };
      const by = ({ cert, key }: Certified): Sending => ({ ca, cert, key, ...host });
      await runLifecycle(as(by(pipeline)));
      await ready(by(pipeline));
      contentOf(await as(by(auditor))("scenarios_list", { namespace_id: 2 }));
      assert.ok(isRefused(JSON.parse(await refusedText(as, by(auditor)))), "a reader may not define");
      assert.equal(await status(by(stranger)), 403);
      await assert.rejects(status({ ca, ...host }), "no certificate, no connection");
    });
    await assertAudited(folder, `${folder}/log/audit.jsonl`);
  }));
