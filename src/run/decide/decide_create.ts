/** Decides the creation of a run. */

import { compareCodePoints, sortedBy } from "../../canonical/order.ts";
import type { CreateCommand, Decision, Environment, Stamps } from "../command.ts";
import type { CompiledLaw } from "../compile.ts";
import { maximumPayloadBytes, maximumValueBytes } from "../evidence.ts";
import { BASE64, type HashedPayload, hashPayload } from "../payload.ts";
import { checkParameters, checkPinnedKeys } from "../parameters.ts";
import { buildRecord } from "../record.ts";
import { refusal } from "../refusal.ts";
import { accept } from "./accept.ts";
import { CORRELATION_ID } from "../record_shapes.ts";
import type { RunCreatedBody } from "../types.ts";

function genesisOf(
  law: CompiledLaw,
  command: CreateCommand,
  environment: Environment,
): { body: RunCreatedBody["genesis"]; payload: HashedPayload | null } | Decision {
  const faults = checkPinnedKeys(law, environment.keys);
  if (faults.length > 0) return refusal("genesis_rejected", { faults });
  const checked = checkParameters(law, command.genesis, maximumValueBytes(law, environment.profile));
  if (!checked.ok) return refusal("genesis_rejected", { faults: checked.faults });
  if (checked.parameters !== undefined) {
    return { body: { kind: "parameters", parameters: checked.parameters }, payload: null };
  }
  if (command.genesis.kind !== "declared") return { body: { kind: "empty" }, payload: null };
  const payload = hashPayload(environment.primitives.sha256, command.genesis.payload);
  if (payload === null) return refusal("genesis_rejected", { reason: "base64_invalid", expected: BASE64 });
  const maximum_bytes = maximumPayloadBytes(law, environment.profile);
  if (payload.bytes > maximum_bytes) {
    return refusal("genesis_rejected", { reason: "payload_too_large", maximum_bytes, bytes: payload.bytes });
  }
  return {
    body: { kind: "declared", payload_identity: payload.identity, content_hash: payload.content_hash },
    payload,
  };
}

/**
 * Decides a creation: outcomes `accepted`, `genesis_rejected`, `correlation_rejected`. The other outcomes of
 * `scenario_start` precede the kernel: they need neither law nor stamps.
 */
export function decideCreate(
  law: CompiledLaw,
  command: CreateCommand,
  stamps: Stamps,
  environment: Environment,
): Decision {
  const genesis = genesisOf(law, command, environment);
  if ("outcome" in genesis) return genesis;
  const { correlation } = command;
  if (correlation.kind === "set" && !CORRELATION_ID.test(correlation.correlation_id)) {
    return refusal("correlation_rejected", { reason: "correlation_id_invalid", expected: "1 to 128 token characters" });
  }
  const runKey = { namespace_id: law.law.namespace_id, run_id: command.allocation.run_id };
  const payload = genesis.payload;
  const decided = buildRecord(environment, null, runKey, command, stamps, "run_created", {
    scenario_id: law.law.scenario_id,
    scenario_law_identity: law.scenario_law_identity,
    graph_identity: law.graph_identity,
    correlation,
    genesis: genesis.body,
    run_allocation: { authority_id: command.allocation.authority_id },
    contracts: sortedBy(command.contracts, ({ provider_id }) => provider_id),
    schemas: command.schemas.toSorted((a, b) =>
      compareCodePoints(a.schema_id, b.schema_id) || compareCodePoints(a.version, b.version)
    ),
  }, payload === null ? [] : [{ kind: "payload", identity: payload.identity, body: payload.text }]);
  return accept(law, null, decided);
}
