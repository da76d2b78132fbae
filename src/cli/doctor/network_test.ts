import assert from "node:assert/strict";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS, LEDGER_DEFAULTS } from "../../config/defaults.ts";
import type { ServerConfig } from "../../config/types.ts";
import type { GateConfig } from "../../config/types.ts";
import { checkNetwork } from "./network.ts";

const BASE: GateConfig = { ...DEFAULT_SETTINGS, config_path: null, base_dir: "/srv" };

async function messages(change: Partial<GateConfig>): Promise<readonly string[]> {
  const findings = await checkNetwork({ ...BASE, ...change });
  return findings.map(({ check, status, message }) => `${status} ${check}: ${message}`);
}

function http(change: Partial<ServerConfig>): Partial<GateConfig> {
  return { server: { ...BASE.server, transport: "http", bind: "127.0.0.1:0", ...change } };
}

Deno.test("checkNetwork() reports nothing for stdio, and the missing flags of a start", async () => {
  assert.deepEqual(await messages({}), []);
  const bound = "ok server.bind: can listen on 127.0.0.1:0";
  assert.deepEqual(await messages(http({})), [bound]);
  const mtls = { ...AUTH_DEFAULTS, mode: "mtls", mtls_subjects: ["CN=a"] } as const;
  const proxied = await messages(http({ auth: mtls, tls_termination: "upstream" }));
  assert.deepEqual(proxied.slice(1), [bound]);
  assert.match(proxied[0] ?? "", /^note flags: Cannot listen: .* \(name the proxy with --trusted-proxy CIDR\)$/);
  // This machine cannot listen on that address.
  const open = await messages(http({ auth: mtls, bind: "192.0.2.1:0" }));
  assert.match(open[0] ?? "", /^note flags: .*192\.0\.2\.1:0.* \(say so with --allow-non-loopback\)$/);
  assert.match(open[1] ?? "", /^note flags: .* \(add names with --allowed-host HOST\)$/);
  assert.match(open[2] ?? "", /^fail server\.bind: cannot listen on 192\.0\.2\.1:0: /);
});

Deno.test({
  name: "checkNetwork() takes a variable that it may not read as unset",
  permissions: { net: ["127.0.0.1"] },
  fn: async () => assert.deepEqual(await messages(http({})), ["ok server.bind: can listen on 127.0.0.1:0"]),
});

Deno.test("checkNetwork() notes an address in use: it may be in use by the server itself", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const bind = `127.0.0.1:${taken.addr.port}`;
  assert.deepEqual(await messages(http({ bind })), [
    `note server.bind: ${bind} is in use, by a running gate or another program`,
  ]);
});

/** The HTTP status of the authority, and the finding; null if the authority does not listen. */
const ANSWERS: readonly (readonly [status: number | null, messages: string])[] = [
  [200, "ok namespace authority: URL grants namespace 2"],
  [404, "ok namespace authority: URL refuses (authority_not_found) namespace 2"],
  [401, "note namespace authority: URL refuses (authority_not_authorized) namespace 2"],
  [500, "fail namespace authority: URL does not answer (authority_status): every call is refused"],
  [null, "fail namespace authority: URL does not answer (authority_connection_failed): every call is refused"],
];

for (const [status, message] of ANSWERS) {
  Deno.test(`checkNetwork() requests a namespace of an authority that answers ${status}`, async () => {
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response("{}", { status: status ?? 200 }),
    );
    const base_url = `http://127.0.0.1:${server.addr.port}`;
    if (status === null) await server.shutdown();
    const ledger = { ...LEDGER_DEFAULTS, base_url, auth_token: null };
    const namespace = { ...BASE.namespace, authority: { mode: "ledger_http", ledger } } as const;
    assert.deepEqual(await messages({ namespace }), [message.replace("URL", base_url)]);
    if (status !== null) await server.shutdown();
  });
}
