/** The attribution of records: the pseudonymous principal of the call, never a token. */

import { matchingRoles, rolesInForce } from "../../access/roles.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { submitsEvidence } from "../services/evidence_use.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { Admission, Attribution } from "../../run/types.ts";
import type { Services } from "../services/services.ts";
import type { Call } from "../framework/types.ts";

/** The attribution of a call of a tool of the group Run, from its decoded arguments. */
export function attributionOf(
  services: Services,
  call: Call,
  tool: string,
  namespaceId: number,
  input: JsonObject,
): Attribution {
  const { principal } = call;
  const roles = rolesInForce(services.config.server.auth, principal)
    ? matchingRoles(principal, { group: "Run", tool, namespaceId, evidence: submitsEvidence(tool, input) }).map((
      { name },
    ) => name)
    : [];
  // The members are in canonical order, as in a record.
  return {
    // An access token is a bearer token; the name of the principal says that it is one.
    auth_method: principal.authMethod === "oauth" ? "bearer_token" : principal.authMethod,
    policy_class: principal.policyClass,
    principal: principal.subject,
    roles_matched: [...new Set(roles)].sort(compareCodePoints),
    tenants: principal.tenants,
  };
}

/** How a call was admitted. */
export function admissionKind(call: Call): Admission["kind"] {
  switch (call.principal.authMethod) {
    case "local":
      return "local";
    case "bearer_token":
    case "oauth":
      return "bearer";
    case "mtls":
      return "mtls";
  }
}
