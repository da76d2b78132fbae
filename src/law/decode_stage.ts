/**
 * Reads stages and their entry packets.
 *
 * @module
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import { checkDistinct } from "./check_names.ts";
import { contentTypeMismatch, readContentType, readPayload } from "./decode_payload.ts";
import { readSet } from "./decode_policy.ts";
import { readPrerequisite, readRequirement } from "./decode_requirement.ts";
import { integer, oneOf, readArray, readMember, readObject, readOr } from "../canonical/shape.ts";
import { type Draft, objectOf, type Read, readIdentifier, readLine, variantOf } from "./readers.ts";
import { INTEGER_MAXIMUM, SPEC_LIMITS } from "./limits.ts";
import { below, type JsonPath } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import type { EntryPacket, Prerequisite, Requirement, Target, Timestamp } from "./types.ts";

/** A stage as far as it could be read. */
export interface DraftStage {
  readonly stage_id: string | undefined;
  readonly prerequisite: Prerequisite | undefined;
  readonly completion_requirement: Requirement | undefined;
  readonly entry_packets: readonly Draft<EntryPacket>[] | undefined;
}

/** Reads a stage, with a limit on the payloads of its packets. */
function readStage(
  maximumPayloadBytes: number,
): (refusals: Collector, value: JsonValue, path: JsonPath) => DraftStage {
  const packets: Read<Draft<EntryPacket>[]> = (refusals, value, path) =>
    readArray(
      refusals,
      value,
      path,
      { minimum: 0, maximum: SPEC_LIMITS.entryPackets },
      (_, packet, at) => readPacket(refusals, packet, at, maximumPayloadBytes),
    );
  return (refusals, value, path) => {
    const required = ["stage_id", "prerequisite", "completion_requirement"];
    const object = readObject(refusals, value, path, required, ["entry_packets"]) ?? {};
    return {
      stage_id: readMember(refusals, object, path, "stage_id", readIdentifier),
      prerequisite: readMember(refusals, object, path, "prerequisite", readPrerequisite),
      completion_requirement: readMember(refusals, object, path, "completion_requirement", readRequirement),
      entry_packets: readOr(refusals, object, path, "entry_packets", packets, []),
    };
  };
}

function readPacket(
  refusals: Collector,
  value: JsonValue,
  path: JsonPath,
  maximumPayloadBytes: number,
): Draft<EntryPacket> {
  const required = ["packet_id", "schema_id", "content_type", "payload"];
  const optional = ["visibility_labels", "policy_tags", "targets", "expiry"];
  const object = readObject(refusals, value, path, required, optional) ?? {};
  const contentType = readMember(refusals, object, path, "content_type", readContentType);
  const payload = readMember(refusals, object, path, "payload", readPayload(maximumPayloadBytes));
  if (contentType !== undefined && payload !== undefined) {
    const mismatch = contentTypeMismatch(payload.kind, contentType);
    if (mismatch !== null) {
      refusals.refuse("payload_content_type_mismatch", below(path, "content_type"), mismatch);
    }
  }
  return {
    packet_id: readMember(refusals, object, path, "packet_id", readIdentifier),
    schema_id: readMember(refusals, object, path, "schema_id", readIdentifier),
    content_type: contentType,
    visibility_labels: readOr(refusals, object, path, "visibility_labels", readLabels, []),
    policy_tags: readOr(refusals, object, path, "policy_tags", readLabels, []),
    targets: readOr(refusals, object, path, "targets", readTargets, []),
    expiry: readOr(refusals, object, path, "expiry", readExpiry, null),
    payload,
  };
}

const SET_BOUNDS = { minimum: 0, maximum: SPEC_LIMITS.packetSet };

const readLabels: Read<string[]> = (refusals, value, path) =>
  readSet(refusals, value, path, SET_BOUNDS, readIdentifier);

const readTargets: Read<Target[]> = (refusals, value, path) => {
  const targets = readArray<Target | undefined, Collector>(refusals, value, path, SET_BOUNDS, readTarget) ?? [];
  const named = targets.map((target, index) =>
    [target === undefined ? undefined : canonicalize({ ...target }), below(path, index)] as const
  );
  checkDistinct(refusals, named, (name) => name);
  const whole = targets.filter((target) => target !== undefined);
  return isJsonArray(value) && whole.length === value.length ? whole : undefined;
};

/** The hint for a target with the member names of the disclosure policy, which differ. */
function policyHint(value: JsonValue): string {
  if (!isJsonObject(value) || member(value, "target_kind") === undefined) return "";
  return '; "target_kind" is what a rule of the policy has, a packet has {"kind": "agent", "agent_id": ID}, ' +
    '{"kind": "session", "session_id": ID}, {"kind": "channel", "channel": NAME} or {"kind": "external", "system": NAME, "target": NAME}';
}

/** Reads a target of a packet. */
const readTarget = variantOf<Target>("kind", {
  agent: objectOf({ kind: oneOf("agent"), agent_id: readIdentifier }),
  session: objectOf({ kind: oneOf("session"), session_id: readIdentifier }),
  external: objectOf({ kind: oneOf("external"), system: readIdentifier, target: readLine(SPEC_LIMITS.uriBytes) }),
  channel: objectOf({ kind: oneOf("channel"), channel: readIdentifier }),
}, policyHint);

/** Reads a point in time: Unix milliseconds, negative before 1970, or a reading of a logical clock from 0 on. */
const readTimestamp = variantOf<Timestamp>("kind", {
  unix_millis: objectOf({ kind: oneOf("unix_millis"), value: integer(-INTEGER_MAXIMUM) }),
  logical: objectOf({ kind: oneOf("logical"), value: integer(0) }),
});

const readExpiry: Read<Timestamp | null> = (refusals, value, path) =>
  value === null ? null : readTimestamp(refusals, value, path);

/** The stages of a spec, at least one. */
export function readStages(maximumPayloadBytes: number): Read<DraftStage[]> {
  const bounds = { minimum: 1, maximum: SPEC_LIMITS.stages };
  return (refusals, value, path) => readArray(refusals, value, path, bounds, readStage(maximumPayloadBytes));
}
