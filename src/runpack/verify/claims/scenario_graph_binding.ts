/** Claim 5: run, scenario and stage graph belong together. */

import type { CompiledLaw } from "../../../run/compile.ts";
import type { RunCreatedBody } from "../../../run/types.ts";
import type { Manifest } from "../../format/types.ts";
import { atRevision, violation } from "../findings.ts";
import type { Violation } from "../types.ts";

/** Compares the law with the manifest. */
export function checkManifestGraph({ law, graph_identity }: CompiledLaw, manifest: Manifest): Violation | null {
  if (manifest.graph_identity !== graph_identity) return violation("graph_identity_mismatch");
  const same = law.scenario_id === manifest.scenario_id && law.namespace_id === manifest.run_key.namespace_id;
  return same ? null : violation("scenario_mismatch");
}

/** Compares the law with the first record. */
export function checkCreatedGraph({ law, graph_identity }: CompiledLaw, created: RunCreatedBody): Violation | null {
  if (created.graph_identity !== graph_identity) return violation("graph_identity_mismatch", atRevision(1));
  return created.scenario_id === law.scenario_id ? null : violation("scenario_mismatch", atRevision(1));
}
