/** Limits of a spec. Every limit is part of the format: a change of one changes which specs are laws. */

import type { LawLimits } from "./types.ts";

/** Maximum number or size of each part of a spec. */
export const SPEC_LIMITS = {
  /** Stages; at least one. */
  stages: 1024,
  conditions: 4096,
  acquisitionBindings: 4096,
  policies: 1024,
  schemas: 1024,
  parameters: 64,
  /** Entry packets of one stage. */
  entryPackets: 256,
  /** Visibility labels, policy tags and targets, each, of one packet. */
  packetSet: 256,
  authorizedKeyIds: 256,
  /** Maximum of a quorum: the maximum number of items of one condition in a call. */
  quorum: 64,
  /** Depth of a requirement; its root has depth 0. */
  requirementDepth: 32,
  /** Nodes of one requirement, leaves included. */
  requirementNodes: 4096,
  /** UTF-8 bytes of an id, a version, a label, a tag. */
  identifierBytes: 256,
  /** UTF-8 bytes of the description of a policy or a parameter. */
  descriptionBytes: 4096,
  /** Characters of a content type. */
  contentTypeLength: 256,
  /** UTF-8 bytes of the URI of external content, and of the target of an external system. */
  uriBytes: 2048,
  /** Bytes of a stage's packets, each counted once for each target: the answer to the opening has all of them. */
  openingBytes: 4_194_304,
  /** Canonical bytes of a binding's params, as written and as a run resolves them. */
  paramsBytes: 65536,
  /** Canonical bytes of all parameters of a run: they stand in clear in its first record, its state and lists of runs. */
  parametersBytes: 65536,
  /** Canonical bytes of the resolved params of all bindings with placeholders. */
  resolvedParamsBytes: 4_194_304,
} as const;

/** Limits of an operator that allows every law. */
export const LAW_LIMITS: LawLimits = {
  maximum_value_bytes: Number.MAX_SAFE_INTEGER,
  maximum_payload_bytes: Number.MAX_SAFE_INTEGER,
  enable_lexicographic: true,
  enable_deep_equals: true,
  proof_budget: 2 ** 20,
};

/** The greatest integer that a double holds exactly, 2^53-1. */
export const INTEGER_MAXIMUM: number = Number.MAX_SAFE_INTEGER;
