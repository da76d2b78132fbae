/** The manifest: the identities and references of a pack, in canonical JSON. */

import { canonicalBytes } from "../../canonical/canonicalize.ts";
import { identifyBytes, type Identity, type Sha256 } from "../../canonical/identity.ts";
import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { pathAt } from "../../canonical/path.ts";
import { closed, identity, integer, listOf, oneOf, operationIdentity, type Reader } from "../../canonical/shape.ts";
import { asJson } from "../../run/primitives.ts";
import { decodeCanonical, identifier, reference } from "./decode_canonical.ts";
import { FORMAT, type Manifest, MANIFEST_BYTES, NODE_BYTES, TEXT_BYTES, WITHHELD_CONDITIONS } from "./types.ts";

/** Why bytes are not a manifest of this format; the codes of docs/format/runpack.md. */
export interface ManifestFault {
  readonly code: "manifest_too_large" | "manifest_not_canonical" | "format_unsupported" | "manifest_invalid";
  readonly message: string;
}

/** A manifest, or the first fault. */
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

const MEMBERS = closed({
  artifacts: reference(NODE_BYTES),
  format: oneOf(FORMAT),
  graph_identity: identity,
  head: closed({ record_id: identity, revision: integer(1) }),
  law: reference(TEXT_BYTES),
  record_tree: closed({ root: identity, size: integer(1) }),
  run_key: closed({ namespace_id: integer(1), run_id: operationIdentity }),
  scenario_id: identifier,
  scenario_law_identity: identity,
  segments: reference(NODE_BYTES),
  state_identity: identity,
  withheld_conditions: listOf(identifier, WITHHELD_CONDITIONS),
});

/**
 * Decodes a manifest. Every member is then within its bounds. Whether the pack holds the objects that it names is not
 * checked here.
 *
 * @param bytes More than {@link MANIFEST_BYTES} are the fault `manifest_too_large`
 */
export function decodeManifest(bytes: Uint8Array): ManifestResult {
  if (bytes.length > MANIFEST_BYTES) {
    return reject("manifest_too_large", `Expected at most ${MANIFEST_BYTES} bytes`);
  }
  let format: JsonValue | undefined;
  const decoded = decodeCanonical(bytes, (faults, value, path) => {
    format = isJsonObject(value) ? member(value, "format") : undefined;
    return readManifest(faults, value, path);
  });
  if (decoded.ok) return { ok: true, manifest: decoded.value };
  const { code, path, message } = decoded.fault;
  if (code === "not_canonical") return reject("manifest_not_canonical", `${path}: ${message}`);
  if (typeof format === "string" && format !== FORMAT) {
    return reject("format_unsupported", `Expected format "${FORMAT}", got ${JSON.stringify(format.slice(0, 64))}`);
  }
  return reject("manifest_invalid", `${path}: ${message}`);
}

function reject(code: ManifestFault["code"], message: string): ManifestResult {
  return { ok: false, fault: { code, message } };
}

/** A manifest whose members agree: the tree has a leaf for each revision, and the withheld ids ascend. */
const readManifest: Reader<Manifest> = (faults, value, path) => {
  const manifest = MEMBERS(faults, value, path);
  if (manifest === undefined) return undefined;
  const { head, record_tree, withheld_conditions: ids } = manifest;
  if (record_tree.size !== head.revision) {
    const expected = `${head.revision}, the revision of the head`;
    faults.add({ kind: "form", expected, value: record_tree.size }, pathAt("record_tree", "size"));
    return undefined;
  }
  const disorder = ids.findIndex((id, index) => index > 0 && compareCodePoints(ids[index - 1] ?? "", id) >= 0);
  if (disorder === -1) return manifest;
  const at = pathAt("withheld_conditions", disorder);
  faults.add({ kind: "form", expected: "ascending ids", value: ids[disorder] ?? null }, at);
  return undefined;
};
