/**
 * Reading stages and their entry packets.
 *
 * @module
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import { checkDistinct } from "./check_names.ts";
import { contentTypeMismatch, readContentType, readPayload } from "./decode_payload.ts";
import { isWhole, readSet } from "./decode_policy.ts";
import { readPrerequisite, readRequirement } from "./decode_requirement.ts";
import { integer, readArray, readMember, readObject, readOr } from "../canonical/shape.ts";
import { type Draft, type Read, readIdentifier, readLine, readVariant } from "./readers.ts";
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

/** Reads a stage whose packets may carry payloads of at most so many bytes. */
function readStage(
  maximumPayloadBytes: number,
): (refusals: Collector, value: JsonValue, place: JsonPath) => DraftStage {
  const packets: Read<Draft<EntryPacket>[]> = (refusals, value, place) =>
    readArray(
      refusals,
      value,
      place,
      { minimum: 0, maximum: SPEC_LIMITS.entryPackets },
      (_, packet, at) => readPacket(refusals, packet, at, maximumPayloadBytes),
    );
  return (refusals, value, place) => {
    const required = ["stage_id", "prerequisite", "completion_requirement"];
    const object = readObject(refusals, value, place, required, ["entry_packets"]) ?? {};
    return {
      stage_id: readMember(refusals, object, place, "stage_id", readIdentifier),
      prerequisite: readMember(refusals, object, place, "prerequisite", readPrerequisite),
      completion_requirement: readMember(refusals, object, place, "completion_requirement", readRequirement),
      entry_packets: readOr(refusals, object, place, "entry_packets", packets, []),
    };
  };
}

function readPacket(
  refusals: Collector,
  value: JsonValue,
  place: JsonPath,
  maximumPayloadBytes: number,
): Draft<EntryPacket> {
  const required = ["packet_id", "schema_id", "content_type", "payload"];
  const optional = ["visibility_labels", "policy_tags", "targets", "expiry"];
  const object = readObject(refusals, value, place, required, optional) ?? {};
  const contentType = readMember(refusals, object, place, "content_type", readContentType);
  const payload = readMember(refusals, object, place, "payload", readPayload(maximumPayloadBytes));
  if (contentType !== undefined && payload !== undefined) {
    const mismatch = contentTypeMismatch(payload.kind, contentType);
    if (mismatch !== null) {
      refusals.refuse("payload_content_type_mismatch", below(place, "content_type"), mismatch);
    }
  }
  return {
    packet_id: readMember(refusals, object, place, "packet_id", readIdentifier),
    schema_id: readMember(refusals, object, place, "schema_id", readIdentifier),
    content_type: contentType,
    visibility_labels: readOr(refusals, object, place, "visibility_labels", readLabels, []),
    policy_tags: readOr(refusals, object, place, "policy_tags", readLabels, []),
    targets: readOr(refusals, object, place, "targets", readTargets, []),
    expiry: readOr(refusals, object, place, "expiry", readExpiry, null),
    payload,
  };
}

const SET_BOUNDS = { minimum: 0, maximum: SPEC_LIMITS.packetSet };

const readLabels: Read<string[]> = (refusals, value, place) =>
  readSet(refusals, value, place, SET_BOUNDS, readIdentifier);

const readTargets: Read<Target[]> = (refusals, value, place) => {
  const targets = readArray<Target | undefined, Collector>(refusals, value, place, SET_BOUNDS, readTarget) ?? [];
  const named = targets.map((target, index) =>
    [target === undefined ? undefined : canonicalize({ ...target }), below(place, index)] as const
  );
  checkDistinct(refusals, named, (name) => name);
  const whole = targets.filter((target) => target !== undefined);
  return isJsonArray(value) && whole.length === value.length ? whole : undefined;
};

/** The hint for a target in the spelling of the disclosure policy, which names targets by other members. */
function policyHint(value: JsonValue): string {
  if (!isJsonObject(value) || member(value, "target_kind") === undefined) return "";
  return '; "target_kind" is what a rule of the policy has, a packet has {"kind": "agent", "agent_id": ID}, ' +
    '{"kind": "session", "session_id": ID}, {"kind": "channel", "channel": NAME} or {"kind": "external", "system": NAME, "target": NAME}';
}

/** Reads where a packet may be sent. */
const readTarget: Read<Target> = (refusals, value, place) => {
  const kind = readVariant(
    refusals,
    value,
    place,
    "kind",
    ["agent", "session", "external", "channel"],
    policyHint(value),
  );
  switch (kind) {
    case undefined:
      return undefined;
    case "agent":
      return whole<Target>({ kind, ...readMembers(refusals, value, place, { agent_id: readIdentifier }) });
    case "session":
      return whole<Target>({ kind, ...readMembers(refusals, value, place, { session_id: readIdentifier }) });
    case "channel":
      return whole<Target>({ kind, ...readMembers(refusals, value, place, { channel: readIdentifier }) });
    case "external": {
      const members = { system: readIdentifier, target: readLine(SPEC_LIMITS.uriBytes) };
      return whole<Target>({ kind, ...readMembers(refusals, value, place, members) });
    }
  }
};

const readExpiry: Read<Timestamp | null> = (refusals, value, place) =>
  value === null ? null : readTimestamp(refusals, value, place);

/** Reads a point in time: Unix milliseconds, which may lie before 1970, or a logical clock's reading, which counts from 0. */
const readTimestamp: Read<Timestamp> = (refusals, value, place) => {
  const kind = readVariant(refusals, value, place, "kind", ["unix_millis", "logical"]);
  if (kind === undefined) return undefined;
  const minimum = kind === "logical" ? 0 : -INTEGER_MAXIMUM;
  return whole<Timestamp>({ kind, ...readMembers(refusals, value, place, { value: integer(minimum) }) });
};

/** Reads the members beside `kind` of a closed object. */
function readMembers<T>(
  refusals: Collector,
  value: JsonValue,
  place: JsonPath,
  readers: { readonly [K in keyof T]: Read<T[K]> },
): { [K in keyof T]: T[K] | undefined } {
  const names = Object.keys(readers) as (keyof T & string)[];
  const object = readObject(refusals, value, place, ["kind", ...names]) ?? {};
  const read = names.map((name) => [name, readMember(refusals, object, place, name, readers[name])]);
  return Object.fromEntries(read) as { [K in keyof T]: T[K] | undefined };
}

function whole<T extends object>(draft: { readonly [K in keyof T]: T[K] | undefined }): T | undefined {
  return isWhole<T>(draft) ? draft : undefined;
}

/** The stages of a spec, at least one. */
export function readStages(maximumPayloadBytes: number): Read<DraftStage[]> {
  const bounds = { minimum: 1, maximum: SPEC_LIMITS.stages };
  return (refusals, value, place) => readArray(refusals, value, place, bounds, readStage(maximumPayloadBytes));
}
