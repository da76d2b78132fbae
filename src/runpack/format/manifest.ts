/**
 * The manifest: what a pack is, in one page of canonical JSON.
 *
 * @module
 */

import { canonicalBytes } from "../../canonical/canonicalize.ts";
import { identifyBytes, type Identity, isOperationIdentity, type Sha256 } from "../../canonical/identity.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { asJson } from "../../run/primitives.ts";
import {
  boundedArray,
  boundedInteger,
  closedObject,
  decodeStrict,
  identifierAt,
  identityAt,
  oneOf,
  referenceAt,
  refuse,
} from "./strict.ts";
import { FORMAT, type Manifest, MANIFEST_BYTES, NODE_BYTES, TEXT_BYTES, WITHHELD_CONDITIONS } from "./types.ts";

/** Why bytes are no manifest of this format; the codes of docs/format/runpack.md. */
export interface ManifestFault {
  readonly code: "manifest_too_large" | "manifest_not_canonical" | "format_unsupported" | "manifest_invalid";
  readonly message: string;
}

/** A manifest, or why there is none. */
export type ManifestResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly fault: ManifestFault };

/** The bytes of a manifest: its canonical JSON. */
export function manifestBytes(manifest: Manifest): Uint8Array<ArrayBuffer> {
  return canonicalBytes(asJson(manifest));
}

/** The runpack identity: kind `runpack` over the manifest's bytes. */
export function runpackIdentity(sha256: Sha256, bytes: Uint8Array): Identity {
  return identifyBytes(sha256, "runpack", bytes);
}

const MEMBERS = [
  "artifacts",
  "format",
  "graph_identity",
  "head",
  "law",
  "record_tree",
  "run_key",
  "scenario_id",
  "scenario_law_identity",
  "segments",
  "state_identity",
  "withheld_conditions",
] as const;

/**
 * Reads a manifest. Nothing in it is believed: every member is within its bounds, but nothing says yet that there are
 * objects.
 *
 * @param bytes At most {@link MANIFEST_BYTES} of them, else the fault is `manifest_too_large`
 */
export function decodeManifest(bytes: Uint8Array): ManifestResult {
  if (bytes.length > MANIFEST_BYTES) {
    return refused("manifest_too_large", `Expected at most ${MANIFEST_BYTES} bytes`);
  }
  let format: JsonValue | undefined;
  const decoded = decodeStrict(bytes, (value) => {
    format = isJsonObject(value) ? member(value, "format") : undefined;
    return readManifest(value);
  });
  if (decoded.ok) return { ok: true, manifest: decoded.value };
  const { code, path, message } = decoded.fault;
  if (code === "not_canonical") return refused("manifest_not_canonical", `${path}: ${message}`);
  if (typeof format === "string" && format !== FORMAT) {
    return refused("format_unsupported", `Expected format "${FORMAT}", got ${JSON.stringify(format.slice(0, 64))}`);
  }
  return refused("manifest_invalid", `${path}: ${message}`);
}

function refused(code: ManifestFault["code"], message: string): ManifestResult {
  return { ok: false, fault: { code, message } };
}

function readManifest(value: JsonValue): Manifest {
  const object = closedObject(value, "$", MEMBERS);
  const at = (name: typeof MEMBERS[number]): JsonValue | undefined => member(object, name);
  const head = readHead(at("head"));
  return {
    format: oneOf(at("format"), "$.format", [FORMAT]),
    run_key: readRunKey(at("run_key")),
    scenario_id: identifierAt(at("scenario_id"), "$.scenario_id"),
    scenario_law_identity: identityAt(at("scenario_law_identity"), "$.scenario_law_identity"),
    graph_identity: identityAt(at("graph_identity"), "$.graph_identity"),
    head,
    state_identity: identityAt(at("state_identity"), "$.state_identity"),
    record_tree: readRecordTree(at("record_tree"), head.revision),
    law: referenceAt(at("law"), "$.law", TEXT_BYTES),
    artifacts: referenceAt(at("artifacts"), "$.artifacts", NODE_BYTES),
    segments: referenceAt(at("segments"), "$.segments", NODE_BYTES),
    withheld_conditions: readWithheld(at("withheld_conditions")),
  };
}

function readRunKey(value: JsonValue | undefined): Manifest["run_key"] {
  const object = closedObject(value, "$.run_key", ["namespace_id", "run_id"]);
  const run_id = member(object, "run_id");
  return {
    namespace_id: boundedInteger(member(object, "namespace_id"), "$.run_key.namespace_id", 1),
    run_id: isOperationIdentity(run_id) ? run_id : refuse("$.run_key.run_id", "Expected 32 lower-case hex digits"),
  };
}

function readHead(value: JsonValue | undefined): Manifest["head"] {
  const object = closedObject(value, "$.head", ["record_id", "revision"]);
  return {
    record_id: identityAt(member(object, "record_id"), "$.head.record_id"),
    revision: boundedInteger(member(object, "revision"), "$.head.revision", 1),
  };
}

function readRecordTree(value: JsonValue | undefined, revision: number): Manifest["record_tree"] {
  const object: JsonObject = closedObject(value, "$.record_tree", ["root", "size"]);
  const size = boundedInteger(member(object, "size"), "$.record_tree.size", 1);
  if (size !== revision) return refuse("$.record_tree.size", `Expected ${revision}, the revision of the head`);
  return { root: identityAt(member(object, "root"), "$.record_tree.root"), size };
}

function readWithheld(value: JsonValue | undefined): readonly string[] {
  const path = "$.withheld_conditions";
  const ids = boundedArray(value, path, 0, WITHHELD_CONDITIONS, identifierAt);
  ids.forEach((id, index) => {
    const next = ids[index + 1];
    if (next !== undefined && compareCodePoints(id, next) >= 0) {
      refuse(`${path}[${index + 1}]`, "Expected ascending ids");
    }
  });
  return ids;
}
