import { anything, closed, type Read, text } from "../canonical/shape.ts";
import { described, optional, patterned, table } from "../canonical/table_shape.ts";
import { judgeParams } from "../evidence/acquisition/params.ts";
import { querySingle } from "../evidence/acquisition/single_query.ts";
import { discloseResult, mayDiscloseRaw } from "../evidence/disclosure.ts";
import type { EvidenceContext, EvidenceQuery } from "../evidence/types.ts";
import { wholeAnswer } from "./framework/response_size.ts";
import { failure, toolError } from "./framework/errors.ts";
import { briefly, givenIdentity, givenOperationIdentity, name, namespaceId, timestamp } from "./framework/input.ts";
import { ref } from "./framework/output.ts";
import {
  findCheck,
  findProvider,
  inactiveProvider,
  noProvider,
  shownProviderIds,
} from "./services/provider_discovery.ts";
import type { Services } from "./services/services.ts";
import { type MakeTool, makeTool, READS_AND_ACQUIRES } from "./make_tool.ts";
import type { Call, ToolAnswer } from "./framework/types.ts";

const NAMED = { name: "evidence_query", group: "Run", audit: "acquisition" } as const;

/** A token (RFC 9110, 5.6.2), as headers carry it. */
const correlationId = patterned(text, /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, "1 to 128 token characters");

const input = table({
  query: table({
    provider_id: name,
    check_id: name,
    params: optional(anything, "By the check's params_schema"),
  }),
  context: described(
    briefly(
      table({
        namespace_id: namespaceId,
        scenario_id: optional(name),
        scenario_law_identity: optional(givenIdentity),
        run_id: optional(givenOperationIdentity),
        stage_id: optional(name),
        operation_id: optional(givenOperationIdentity),
        trigger_time: timestamp,
        correlation_id: optional(correlationId),
      }),
      "{namespace_id, trigger_time: {kind: unix_millis | logical, value}, run_id?, ...}",
    ),
    "Context of the query; checks of time use trigger_time. No run needs to exist",
  ),
});

type Input = Read<typeof input>;

/** The tool `evidence_query`. */
export const evidenceQuery: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Ask a provider",
    description:
      "Runs one check of a provider and shows its result; records nothing. value null: nothing was found, or withheld true: the " +
      "operator does not disclose what was.",
    details:
      "Runs one check of an evidence provider and returns its result; nothing is recorded and no run moves. Use " +
      "it to try a check before a scenario binds it. value null without error and withheld means that nothing was found; " +
      "error says why there is no reliable answer. Unless the operator permits raw values, value, content_type, " +
      "evidence_hash and signature are null, and withheld is true where a value was found.",
    hints: READS_AND_ACQUIRES,
    input,
    output: closed({ result: ref("queried") }),
    act: (input, _raw, call) => query(services, input, call),
  });

async function query(services: Services, { query, context }: Input, call: Call): Promise<ToolAnswer> {
  const { schemaSandbox, environment, config } = services;
  const { namespace_id } = context;
  const provider = await findProvider(services, namespace_id, query.provider_id);
  if (provider === "inactive") throw inactiveProvider("query provider", namespace_id, query.provider_id);
  if (provider === null) {
    throw noProvider(query.provider_id, await shownProviderIds(services, namespace_id));
  }
  const check = findCheck(provider, query.check_id);
  const misfit = await judgeParams(schemaSandbox, provider.loaded, check, query.params);
  if (misfit !== null) return failure("params_invalid", misfit);
  const answer = await querySingle({
    provider,
    check,
    query: query as EvidenceQuery,
    context: context as EvidenceContext,
    profile: environment.profile,
    schemas: schemaSandbox,
    signal: call.signal,
  });
  if (!answer.ok) {
    const { code, message, retryable } = answer;
    const { provider_id, check_id } = query;
    const error = toolError("acquisition_failed", message, { code, provider_id, check_id });
    return { ok: false, error: { ...error, retryable } };
  }
  const disclosed = discloseResult(answer.result, mayDiscloseRaw(config.evidence, provider));
  // A value cannot be omitted: no value means that nothing was found.
  return wholeAnswer("the result", JSON.stringify({ result: disclosed }));
}
