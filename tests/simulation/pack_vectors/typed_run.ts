/**
 * A run that acquires from a typed provider, and what a forger does to the version that it is bound to.
 *
 * @module
 */

import { identify } from "../../../src/canonical/identity.ts";
import { measureValue, presentAnswer } from "../../../src/evidence/acquisition/present.ts";
import { sealContract, sealVersion } from "../../../src/evidence/contract/seal.ts";
import type { Artifact } from "../../../src/store/types.ts";
import { createCommand, environmentWith, evaluateCommand, lawOf, NOW, openCommand, SHA256 } from "../kernel/fixture.ts";
import { type Editable, flag, policy, stage } from "../kernel/law_specs.ts";
import { forge, type Parts } from "../forged_packs/forge.ts";
import { type PlayedRun, playRun, type RunMove } from "../runpack/run.ts";
import { httpProfile, typedCheck, typedContract } from "../typed_documents.ts";
import type { Base, Made } from "./rows.ts";

const VERSION = sealVersion(
  sealContract(typedContract({ checks: [typedCheck("failed", { result_schema: { type: "boolean" } })] }), "registry"),
  httpProfile({ credentials: [{ kind: "bearer", locator: "file://builds-token" }] }),
);

/** The version that the run is bound to. */
export const TYPED_VERSION = VERSION.provider_version_identity;

const LAW = lawOf({
  spec_version: "dag-v3",
  scenario_id: "release",
  namespace_id: 2,
  schemas: [],
  conditions: [{ ...flag("built"), evidence_use_policy: policy({ allowed_channels: ["provider_acquisition"] }) }],
  acquisition_bindings: [{
    binding_id: "built-builds",
    condition_id: "built",
    channel: "provider_acquisition",
    provider_id: "builds",
    check_id: "failed",
    params: { id: "17" },
  }],
  stages: [stage("build", "built")],
  completion_requirement: { Condition: "build" },
});

const MOVES: readonly RunMove[] = [
  (_law, { head }, operation) => openCommand(operation, head, "build"),
  (law, { head }, operation) => {
    const binding = law.bindingIndex.get("built-builds");
    const condition = law.conditionIndex.get("built");
    if (binding === undefined || condition === undefined) throw new TypeError("The law lacks its binding");
    const value = { kind: "json", value: true } as const;
    const result = {
      value,
      lane: "verified",
      error: null,
      evidence_hash: null,
      evidence_ref: null,
      evidence_anchor: {
        anchor_type: "openapi_request",
        anchor_value: JSON.stringify({ status: 200, provider_version_identity: VERSION.provider_version_identity }),
      },
      signature: null,
      content_type: "application/json",
    } as const;
    const trigger_time = { kind: "unix_millis", value: NOW } as const;
    const answer = { ok: true, result, acquired_at: NOW - 10, grant: {} } as const;
    const presenting = { selected: { binding }, resolved: false, trigger_time, condition, loaded: VERSION.loaded };
    const acquired = [presentAnswer(presenting, answer, measureValue(value), null)];
    return evaluateCommand(operation, head, "build", { acquired });
  },
];

/** Plays the run. */
export function playTypedRun(): PlayedRun {
  const { contract_identity, text, provider_version } = VERSION.loaded;
  const { provider_version_identity } = VERSION;
  const artifacts: readonly Artifact[] = [
    { kind: "contract", identity: contract_identity, body: text },
    { kind: "provider-version", identity: provider_version_identity, body: provider_version?.text ?? "" },
  ];
  return playRun({
    law: LAW,
    environment: environmentWith(),
    start: createCommand({
      contracts: [{ provider_id: "builds", contract_identity, provider_version_identity }],
      schemas: [],
    }),
    moves: MOVES,
    clock: (move) => 10 * (move + 1),
    artifacts,
  });
}

const ALLOCATION = "run_allocation_integrity";
const WITNESS = "acquisition_admission_witness_reconstruction";

const artifactOf = (parts: Parts, kind: string): Parts["artifacts"][number] =>
  parts.artifacts.find((one) => one.kind === kind) ?? { kind, identity: "", body: {} };
const boundOf = (parts: Parts): Editable => parts.records[0].body.contracts[0];

/** Changes the version, and names it by its new identity in the artifact list and in the first record. */
function swapVersion(parts: Parts, change: (version: Editable) => void): void {
  const version = artifactOf(parts, "provider-version");
  change(version.body);
  version.identity = identify(SHA256, "provider-version", version.body);
  boundOf(parts).provider_version_identity = version.identity;
}

/** A pack of the run, the claims that it violates, and the change. */
type TypedRow = readonly [
  name: string,
  violates: Readonly<Record<string, string>>,
  change: (parts: Parts) => void,
];

const ROWS: readonly TypedRow[] = [
  ["a run with a typed provider", {}, () => {}],
  [
    "a swapped profile under the identity of the version",
    { [ALLOCATION]: "artifact_invalid: artifacts/2" },
    (parts) => {
      artifactOf(parts, "provider-version").body.profile.base_url = "https://swapped.example";
    },
  ],
  ["a swapped profile that the first record names", {
    [WITNESS]: "provider_version_mismatch: revision 3, item 0",
  }, (parts) => swapVersion(parts, (version) => version.profile.base_url = "https://swapped.example")],
  ["a swapped contract of the version", {
    [ALLOCATION]: "provider_version_mismatch: revision 1",
    [WITNESS]: "provider_version_mismatch: revision 3, item 0",
  }, (parts) => swapVersion(parts, (version) => version.contract.description = "Swapped")],
  ["a version that is left out", {
    [ALLOCATION]: `artifact_missing: provider-version ${VERSION.provider_version_identity}`,
  }, (parts) => {
    parts.artifacts.splice(parts.artifacts.findIndex(({ kind }) => kind === "provider-version"), 1);
  }],
  ["a typed provider without its version", {
    [ALLOCATION]: "provider_version_mismatch: revision 1",
  }, (parts) => {
    delete boundOf(parts).provider_version_identity;
    parts.artifacts.splice(parts.artifacts.findIndex(({ kind }) => kind === "provider-version"), 1);
  }],
  ["an anchor that names no version", { [WITNESS]: "provider_version_mismatch: revision 3, item 0" }, (parts) => {
    const [item] = parts.records[2].body.evidence;
    const anchor = { anchor_type: "openapi_request", anchor_value: '{"status":200}' };
    item.anchor = anchor;
    item.acquisition.provider_result.evidence_anchor = anchor;
  }],
];

/** The rows of typed.json. */
export const TYPED_ROWS: readonly {
  readonly name: string;
  readonly violates: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Made;
}[] = ROWS.map(([name, violates, change]) => ({
  name,
  violates,
  make: ({ run }) => ({ pack: forge(run, change) }),
}));
