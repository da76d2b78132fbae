/** Reads stages and their entry packets. */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import { checkDistinct } from "./check_names.ts";
import { contentTypeMismatch, readContentType, readPayload } from "./decode_payload.ts";
import { readPrerequisite, readRequirement } from "./decode_requirement.ts";
import { named, oneOf, type Publisher, readArray, setOf, shape } from "../canonical/shape.ts";
import {
  type At,
  type Draft,
  draftOf,
  type DraftReader,
  itemsOf,
  objectOf,
  optional,
  type Read,
  readCount,
  readIdentifier,
  readInteger,
  readUri,
  titled,
  variantOf,
} from "./readers.ts";
import { SPEC_LIMITS } from "./limits.ts";
import { below } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import type { EntryPacket, Stage, Target, Timestamp } from "./types.ts";

/** The members of a stage; its packets are drafts. */
type StageMembers = Omit<Stage, "entry_packets"> & { readonly entry_packets: readonly Draft<EntryPacket>[] };

/** A stage as far as it could be read. */
export type DraftStage = Draft<StageMembers>;

/** A packet of a stage, with a limit on its payload. */
function packetOf(maximumPayloadBytes: number): DraftReader<Draft<EntryPacket>> {
  const read = draftOf<EntryPacket>({
    packet_id: readIdentifier,
    schema_id: readIdentifier,
    content_type: readContentType,
    visibility_labels: optional(readLabels, []),
    policy_tags: optional(readLabels, []),
    targets: optional(readTargets, []),
    expiry: optional(readExpiry, null),
    payload: readPayload(maximumPayloadBytes),
  });
  const checked = (...[refusals, value, path]: At): Draft<EntryPacket> => {
    const packet = read(refusals, value, path);
    const { content_type, payload } = packet;
    if (content_type === undefined || payload === undefined) return packet;
    const mismatch = contentTypeMismatch(payload.kind, content_type);
    if (mismatch !== null) {
      refusals.refuse("payload_content_type_mismatch", below(path, "content_type"), mismatch);
    }
    return packet;
  };
  const packet = Object.assign(checked, { schema: ({ of }: Publisher): JsonValue => of(read) });
  return named("packet", titled("Disclosed once, when the stage opens", packet));
}

const SET_BOUNDS = { minimum: 0, maximum: SPEC_LIMITS.packetSet };

const readLabels: Read<readonly string[]> = named("labels", setOf(readIdentifier, SPEC_LIMITS.packetSet));

const readTargets: Read<readonly Target[]> = shape<readonly Target[], Collector>((refusals, value, path) => {
  const targets = readArray<Target | undefined, Collector>(refusals, value, path, SET_BOUNDS, readTarget) ?? [];
  const named = targets.map((target, index) =>
    [target === undefined ? undefined : canonicalize({ ...target }), below(path, index)] as const
  );
  checkDistinct(refusals, named, (name) => name);
  const whole = targets.filter((target) => target !== undefined);
  return isJsonArray(value) && whole.length === value.length ? whole : undefined;
}, ({ of }) => ({ type: "array", items: of(readTarget), maxItems: SPEC_LIMITS.packetSet, uniqueItems: true }));

/** The hint for a target with the member names of the disclosure policy, which differ. */
function policyHint(value: JsonValue): string {
  if (!isJsonObject(value) || member(value, "target_kind") === undefined) return "";
  return '; "target_kind" is what a rule of the policy has, a packet has {"kind": "agent", "agent_id": ID}, ' +
    '{"kind": "session", "session_id": ID}, {"kind": "channel", "channel": NAME} or {"kind": "external", "system": NAME, "target": NAME}';
}

/** Reads a target of a packet. */
const readTarget = named(
  "target",
  variantOf<Target>("kind", {
    agent: objectOf({ kind: oneOf("agent"), agent_id: readIdentifier }),
    session: objectOf({ kind: oneOf("session"), session_id: readIdentifier }),
    external: objectOf({ kind: oneOf("external"), system: readIdentifier, target: readUri }),
    channel: objectOf({ kind: oneOf("channel"), channel: readIdentifier }),
  }, policyHint),
);

/** Reads a point in time: Unix milliseconds, negative before 1970, or a reading of a logical clock from 0 on. */
const readTimestamp = variantOf<Timestamp>("kind", {
  unix_millis: objectOf({ kind: oneOf("unix_millis"), value: readInteger }),
  logical: objectOf({ kind: oneOf("logical"), value: readCount }),
});

const readExpiry: Read<Timestamp | null> = shape<Timestamp | null, Collector>(
  (refusals, value, path) => value === null ? null : readTimestamp(refusals, value, path),
  ({ of }) => ({ anyOf: [{ type: "null" }, of(readTimestamp)] }),
);

/** The stages of a spec, at least one. */
export function readStages(maximumPayloadBytes: number): Read<DraftStage[]> {
  const packets = itemsOf(packetOf(maximumPayloadBytes), SPEC_LIMITS.entryPackets);
  const stage = draftOf<StageMembers>({
    stage_id: readIdentifier,
    prerequisite: readPrerequisite,
    completion_requirement: readRequirement,
    entry_packets: optional(packets, []),
  });
  return itemsOf<DraftStage>(named("stage", stage), SPEC_LIMITS.stages, { minimum: 1 });
}
