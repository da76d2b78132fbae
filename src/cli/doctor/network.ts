/** The checks of `gate doctor` on the network: the flags of a start, the address, and the namespace authority. */

import { namespaceAuthorityOf } from "../../access/namespace_authority.ts";
import { isLoopbackAddress, parseBind } from "../../config/bind.ts";
import type { ServerConfig } from "../../config/types.ts";
import type { GateConfig } from "../../config/types.ts";
import { exposureRefusals, readAllowNonLoopback } from "../../server/exposure.ts";
import { readVariable } from "../config/variable.ts";
import { fail, type Finding, note, ok } from "./checks.ts";

/** The namespace in the request to the authority: the first that is not the default namespace. */
const ASKED_NAMESPACE = 2;

/** Checks the address of the server and the namespace authority. */
export async function checkNetwork({ server, namespace }: GateConfig): Promise<readonly Finding[]> {
  return [...checkFlags(server), ...checkBind(server), ...await checkAuthority(namespace)];
}

/** Notes the flags of `gate serve` without which it does not start, or rejects callers from other machines. */
function checkFlags(server: ServerConfig): readonly Finding[] {
  const allowNonLoopback = readAllowNonLoopback(readVariable("GATE_ALLOW_NON_LOOPBACK")) === true;
  const refusals = exposureRefusals(server, { allowNonLoopback, trustedProxies: 0, allowedHosts: 0 });
  const messages = refusals.map(({ message, hint }) => `${message} (${hint})`);
  const address = server.transport === "stdio" ? null : parseBind(server.bind ?? "");
  if (address !== null && !isLoopbackAddress(address.hostname)) {
    messages.push("Only requests to this machine's own names are accepted (add names with --allowed-host HOST)");
  }
  return messages.map((message) => note("flags", message));
}

/** Listens briefly on the address of the server. An address in use may be in use by that server. */
function checkBind({ transport, bind }: ServerConfig): readonly Finding[] {
  const address = transport === "stdio" ? null : parseBind(bind ?? "");
  if (address === null) return [];
  const check = "server.bind";
  try {
    Deno.listen(address).close();
    return [ok(check, `can listen on ${bind}`)];
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      return [note(check, `${bind} is in use, by a running gate or another program`)];
    }
    const why = error instanceof Error ? error.message : String(error);
    return [fail(check, `cannot listen on ${bind}: ${why}`)];
  }
}

/** Requests a namespace as a call does. While the authority does not answer, every call is refused. */
async function checkAuthority(namespace: GateConfig["namespace"]): Promise<readonly Finding[]> {
  const authority = namespaceAuthorityOf(namespace);
  if (authority === null) return [];
  const check = "namespace authority";
  const url = namespace.authority.ledger?.base_url ?? "";
  const { verdict, reason } = await authority.ask(ASKED_NAMESPACE, null);
  authority.close();
  if (verdict === "unavailable") {
    return [fail(check, `${url} does not answer (${reason}): every call is refused`)];
  }
  const answer = verdict === "granted" ? "grants" : `refuses (${reason})`;
  const status = reason === "authority_not_authorized" ? "note" : "ok";
  return [{ check, status, message: `${url} ${answer} namespace ${ASKED_NAMESPACE}` }];
}
