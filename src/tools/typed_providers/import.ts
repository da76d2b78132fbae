import {
  anyInteger,
  boolean,
  closed,
  identity,
  listOf,
  object,
  oneOf,
  orNull,
  type Read,
  text,
} from "../../canonical/shape.ts";
import { characters, optional, table, union } from "../../canonical/table_shape.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { decodeBase64 } from "../../canonical/base64.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { sealContract, sealVersion } from "../../evidence/contract/seal.ts";
import type { ImportRefusal, ImportResult } from "../../evidence/typed/import_result.ts";
import type { ImportSource } from "../../evidence/typed/import_sandbox.ts";
import { asJson } from "../../run/primitives.ts";
import { failure, textAnswer } from "../framework/errors.ts";
import { briefly, jsonObject, name, pageMembers } from "../framework/input.ts";
import { encodeCursor, type PageQuery, pageStart } from "../framework/pagination.ts";
import { arrayOf, ref } from "../framework/output.ts";
import { fittingItems, RESULT_BYTES, sentBytes } from "../framework/response_size.ts";
import { refuseRegistry } from "../services/schema_record.ts";
import type { Services } from "../services/services.ts";
import { refuseName, versionMembers } from "../services/typed_versions.ts";
import { type MakeTool, makeTool, READS } from "../make_tool.ts";
import type { ToolAnswer } from "../framework/types.ts";

const NAMED = { name: "typed_providers_import", group: "Authoring", audit: "registry" } as const;

/** Texts of one `.proto` import; each file is a part of a bounded request. */
const PROTO_FILES = 1024;
/** Operations to select: one for each check of a contract. */
const SELECTIONS = 256;

const givenText = characters(0, 4096);

const input = table({
  ...versionMembers,
  source: briefly(
    union(
      "one of the alternatives",
      table({ kind: oneOf("openapi"), document: jsonObject({ description: "OpenAPI 3.0 or 3.1" }) }),
      table({ kind: oneOf("grpc"), proto: listOf(table({ path: name, text: text }), PROTO_FILES, 1) }),
      table({ kind: oneOf("grpc"), descriptor_set_base64: text }),
    ),
    "{kind: openapi, document} | {kind: grpc, proto: [{path, text}] or descriptor_set_base64}",
  ),
  selection: optional(briefly(
    listOf(
      table({ operation: givenText, check_id: optional(name), result_pointer: optional(givenText) }),
      SELECTIONS,
      1,
    ),
    "{operation, check_id?, result_pointer?}",
  )),
  server_url: optional(givenText),
  cursor: pageMembers.cursor,
});

type Input = Read<typeof input>;

const FOUND = closed({ code: text, pointer: text, message: text });

/** The tool `typed_providers_import`. */
export const typedProvidersImport: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Import a service",
    description: "Makes contract and profile of an OpenAPI or gRPC description. Next: typed_providers_register.",
    details:
      "Makes a capability contract and a runtime profile out of the description of a service: an OpenAPI 3.0 or 3.1 document, " +
      ".proto texts that import each other by their paths, or a descriptor set. Nothing is stored. candidates has each operation, " +
      "and why it cannot be a check; operations that may change something need a selection, and so do more than 256. Where no " +
      "contract results, refusal says why. Next candidates: the same call with cursor = next_token, whose answer repeats nothing " +
      "else. Add credentials to the profile by locator, then call typed_providers_register.",
    hints: READS,
    input,
    listedBy: "candidates",
    output: closed({
      contract: orNull(ref("contract")),
      profile: orNull(object),
      contract_identity: orNull(identity),
      profile_identity: orNull(identity),
      provider_version_identity: orNull(identity),
      refusal: orNull(FOUND),
      candidates: arrayOf(closed({
        operation: text,
        method: text,
        usable: boolean,
        check_id: orNull(text),
        reasons: arrayOf(FOUND),
      })),
      /** Candidates after those of this answer. */
      candidates_omitted: anyInteger,
      next_token: orNull(text),
      warnings: arrayOf(FOUND),
      next: ref("next"),
    }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "register", namespace_id),
    act: (given) => importService(services, given),
  });

async function importService(services: Services, given: Input): Promise<ToolAnswer> {
  const { provider_id, selection, server_url, namespace_id, cursor = null, ...described } = given;
  refuseName(services, provider_id);
  const filters = services.environment.primitives.sha256(
    canonicalize(asJson({ ...described, provider_id, selection: selection ?? null, server_url: server_url ?? null })),
  );
  const query = { tool: NAMED.name, namespaceId: namespace_id, filters, keys: services.stateKeys };
  const start = pageStart(query, cursor, 1, ([shown = ""]) => /^(?:0|[1-9][0-9]{0,5})$/.test(shown));
  const source = sourceOf(given);
  if (source === null) return failure("import_failed", "Cannot import: descriptor_set_base64 is not base64");
  const { importInSandbox } = await import("../../evidence/typed/import_sandbox.ts");
  const result = await importInSandbox(source, {
    provider_id,
    ...selection === undefined ? {} : { selection },
    ...server_url === undefined ? {} : { server_url },
  });
  if (!result.ok && result.candidates.length === 0) return unreadable(result);
  return answerOf(given, result, query, start === null ? null : Number(start[0]));
}

function sourceOf({ source }: Input): ImportSource | null {
  if (source.kind === "openapi") {
    return { kind: "openapi", bytes: new TextEncoder().encode(canonicalize(source.document)) };
  }
  if ("proto" in source) return { kind: "grpc", proto: source.proto };
  const descriptor_set = decodeBase64(source.descriptor_set_base64);
  // A buffer of its own: it is moved to the worker.
  return descriptor_set === null ? null : { kind: "grpc", descriptor_set: new Uint8Array(descriptor_set) };
}

/** The error for a description without operations. */
function unreadable({ code, pointer, message }: ImportRefusal): ToolAnswer {
  return failure("import_failed", `Cannot import: ${message}`, { problems: [{ code, path: pointer, message }] });
}

/** @param start The candidates that earlier answers had; null in the first one, which alone has more than candidates */
function answerOf(
  { namespace_id, provider_id, version }: Input,
  result: ImportResult,
  query: PageQuery,
  start: number | null,
): ToolAnswer {
  const isFirst = start === null;
  const key = { namespace_id, provider_id, version };
  const sealed = result.ok && isFirst ? sealVersion(sealContract(result.contract, "registry"), result.profile) : null;
  const next = result.ok
    ? {
      tool: "typed_providers_register",
      arguments_hint: key,
      why: "Add credentials to profile by locator, and register contract and profile",
    }
    : { tool: NAMED.name, arguments_hint: key, why: "Correct what refusal says and call again, with the same source" };
  const head = {
    contract: sealed === null ? null : asJson(sealed.loaded.contract),
    profile: sealed === null ? null : asJson(sealed.profile),
    contract_identity: sealed?.loaded.contract_identity ?? null,
    profile_identity: sealed?.profile_identity ?? null,
    provider_version_identity: sealed?.provider_version_identity ?? null,
    refusal: result.ok || !isFirst ? null : { code: result.code, pointer: result.pointer, message: result.message },
    warnings: isFirst ? asJson(result.warnings) : [],
    next: [next],
  };
  const left = RESULT_BYTES - sentBytes(JSON.stringify(head)) - MEMBERS_BYTES;
  if (left < 0) {
    const message =
      "Cannot answer: contract and profile are too large; select fewer operations, or use gate provider import";
    return failure("response_too_large", message, { maximum_bytes: RESULT_BYTES });
  }
  const following = result.candidates.slice(start ?? 0);
  const { count } = fittingItems(asJson(following) as readonly JsonValue[], left);
  const shown = (start ?? 0) + count;
  return textAnswer(JSON.stringify({
    ...head,
    candidates: following.slice(0, count),
    candidates_omitted: following.length - count,
    next_token: count === following.length ? null : encodeCursor(query, [String(shown)]),
  }));
}

/** Bytes of the members beside the first ones, without their items. */
const MEMBERS_BYTES = 1024;
