/** Invocation identities: a call has the same identity for every caller and each time (docs/format/records.md). */

import { identify, type Identity, type Sha256 } from "../canonical/identity.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";

/**
 * A copy with another value of one member. Spread and computed names define members, so `__proto__` is an ordinary
 * name.
 */
function withMember(object: JsonObject, name: string, value: JsonValue): JsonObject {
  return { ...object, [name]: value };
}

function evidenceByIdentity(sha256: Sha256, evidence: JsonValue): JsonValue {
  if (!Array.isArray(evidence)) return evidence;
  return evidence.map((item: JsonValue) => {
    const value = isJsonObject(item) ? member(item, "value") : undefined;
    if (!isJsonObject(item) || value === undefined) return item;
    return withMember(item, "value", identify(sha256, "evidence-value", value));
  });
}

function payloadByIdentity(sha256: Sha256, holder: JsonValue): JsonValue {
  const payload = isJsonObject(holder) ? member(holder, "payload") : undefined;
  if (!isJsonObject(holder) || payload === undefined) return holder;
  return withMember(holder, "payload", identify(sha256, "payload", payload));
}

/**
 * The identity of a tool call, of kind `invocation`. It is over `{tool, input}`, with evidence values and payloads
 * replaced by their identities and all other arguments as sent.
 *
 * @param input Decoded arguments of the call
 */
export function invocationIdentity(sha256: Sha256, tool: string, input: JsonObject): Identity {
  let subject = payloadByIdentity(sha256, input) as JsonObject;
  const evidence = member(subject, "caller_evidence");
  if (evidence !== undefined) subject = withMember(subject, "caller_evidence", evidenceByIdentity(sha256, evidence));
  for (const name of ["genesis", "trigger"]) {
    const holder = member(subject, name);
    if (holder !== undefined) subject = withMember(subject, name, payloadByIdentity(sha256, holder));
  }
  return identify(sha256, "invocation", { input: subject, tool });
}
