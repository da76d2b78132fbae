import { closed, integer, oneOf, orNull, type Read } from "../canonical/shape.ts";
import { described, optional, table } from "../canonical/table_shape.ts";
import { decodeBase64 } from "../canonical/base64.ts";
import { encodeHex } from "../canonical/hex.ts";
import { SchemaSandboxError } from "../evidence/sandbox/schema_sandbox.ts";
import type { ValidateSchema, VerificationRequest } from "../runpack/verify/types.ts";
import { PROFILES, type TrustedPublicKey } from "../runpack/verify/types.ts";
import { isPackShown, notShown, withPackFiles } from "./packs/shown_pack.ts";
import { failure, success } from "./framework/errors.ts";
import { givenIdentity, listedAs } from "./framework/input.ts";
import { ref } from "./framework/output.ts";
import type { Services } from "./services/services.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";
import type { Call, ToolAnswer } from "./framework/types.ts";

const NAMED = { name: "runpack_verify", group: "Audit", audit: "request" } as const;
const limit = optional(integer(0));

const input = table({
  runpack_identity: givenIdentity,
  profile: optional(oneOf(...PROFILES), "integrity_only_v1 unless given"),
  budget: optional(listedAs(
    described(
      orNull(table({
        bytes_read: limit,
        canonical_work_bytes: limit,
        hashing_workers: limit,
        objects: limit,
        records: limit,
        tree_nodes: limit,
      })),
      "Limits; a claim beyond them is unavailable: budget_exhausted",
    ),
    { type: ["object", "null"], description: "{bytes_read?, objects?, records?, ...}" },
  )),
});

type Input = Read<typeof input>;

/** The tool `runpack_verify`. */
export const runpackVerify: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Verify a runpack",
    description:
      "Verifies a runpack exported here from its own material alone, claim by claim. full_replay_v1 decides every record again.",
    details:
      "Verifies a runpack that was exported here, or that another server mirrored to the object store, from its own " +
      "material alone: no network, provider or clock. The report " +
      "has one status for each of 29 claims: satisfied, violated (with reason), unavailable (the material cannot settle " +
      "it) or not_requested. Profile integrity_only_v1 evaluates three claims on bytes; full_replay_v1 decides every " +
      "record again. runpack_export returns the runpack_identity.",
    hints: READS,
    input,
    output: closed({ report: ref("report") }),
    // The namespace is in the manifest, which has to be read first.
    namespaced: false,
    act: (decoded, _raw, call) => verify(services, decoded, call),
  });

/**
 * The answer for a missing runpack, and for one that the caller may not see. An unavailable namespace authority must
 * not reveal that a runpack exists: so with an authority both messages are the same.
 */
function notFound({ namespaces }: Pick<Services, "namespaces">, { runpack_identity }: Input): ToolAnswer {
  const orHidden = namespaces === null ? "" : ", or its namespace authority does not permit access now";
  const message = `Cannot find runpack "${runpack_identity}": it was not exported here${orHidden}`;
  const again =
    "If an export returned this identity, wait a moment and call again: the namespace authority may be unavailable now";
  const why = "Export the run: the answer has the runpack_identity";
  return failure("runpack_not_found", message, {
    runpack_identity,
    next: [
      ...namespaces === null ? [] : [{ tool: NAMED.name, arguments_hint: { runpack_identity }, why: again }],
      { tool: "runpack_export", arguments_hint: { run_id: "<run_id>" }, why },
    ],
  });
}

async function verify(services: Services, decoded: Input, call: Call): Promise<ToolAnswer> {
  const { dataDir } = services;
  if (dataDir === null) return notFound(services, decoded);
  const since = performance.now();
  const { repositoryFolder } = await import("../runpack/host/open_publisher.ts");
  const { openLocalRepository } = await import("../runpack/host/local_repository.ts");
  const { reportAsJson } = await import("../runpack/verify/verify.ts");
  const root = repositoryFolder(dataDir);
  const pack = { identity: decoded.runpack_identity, tools: [NAMED] };
  const isShown = await withPackFiles(pack.identity, () => isPackShown(services, root, pack, call));
  if (!isShown) return await notShown(since, notFound(services, decoded));
  const signatures = await openLocalRepository(root).getSignatures(decoded.runpack_identity).catch(() => []);
  const request: VerificationRequest = {
    runpack_identity: decoded.runpack_identity,
    profile: decoded.profile ?? PROFILES[0],
    budget: decoded.budget ?? null,
    trusted_keys: trustedKeysOf(services),
    signatures: signatures.map(({ bytes }) => bytes),
  };
  try {
    const report = await services.verifyPack(root, request, validatorOf(services), call.signal);
    return success({ report: reportAsJson(report) });
  } catch (error) {
    if (!(error instanceof SchemaSandboxError) && call.signal.aborted) {
      return failure("schema_worker_unavailable", "Cannot verify runpack: the caller disconnected");
    }
    throw error;
  }
}

/** The public keys of `trust` and of the providers; null without keys. */
function trustedKeysOf({ profiles }: Services): readonly TrustedPublicKey[] | null {
  const keys = new Map<string, Uint8Array>();
  for (const { keys: trusted } of profiles) {
    for (const { public_key } of trusted.values()) {
      const bytes = decodeBase64(public_key);
      if (bytes !== null) keys.set(encodeHex(bytes), bytes);
    }
  }
  return keys.size === 0 ? null : [...keys.values()];
}

function validatorOf({ schemaSandbox }: Services): ValidateSchema {
  return async (name, schema, value) => {
    try {
      return await schemaSandbox.validate(name, schema, value) === "valid" ? "valid" : "invalid";
    } catch (error) {
      // No validator can run this schema. Any other failure is local and must not change a report.
      if (error instanceof SchemaSandboxError && error.code === "schema_refused") return null;
      throw error;
    }
  };
}
