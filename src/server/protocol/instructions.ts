/**
 * The instructions of a server for its clients: the order of the tools that it offers.
 *
 * @module
 */

/** The instructions of a server. They name only offered tools. */
export function instructionsFor(isOffered: (tool: string) => boolean): string {
  return [
    "gate decides from evidence whether work may move on, and records each decision so that it can be checked offline.",
    ...orderOf(isOffered),
    "Every mutation names expected_head, the exact head that it follows: the accepted_head of the last answer. On `stale`, " +
    (isOffered("scenario_status")
      ? "read scenario_status and decide again from the head that it gives."
      : "decide again from the head that its result gives."),
    "If an answer was lost, send the same call again, unchanged: an accepted one gives its original answer, any other is " +
    "carried out now.",
    "`unknown` never opens a gate; answers list what is missing." +
    (isOffered("scenario_precheck_stage") ? " scenario_precheck_stage tries evidence without recording." : ""),
  ].join("\n");
}

function orderOf(isOffered: (tool: string) => boolean): string[] {
  const begin = [
    ...isOffered("scenario_define") ? ["scenario_define (the law)"] : [],
    ...isOffered("scenario_start") ? ["scenario_start (a run)"] : [],
  ];
  const stages = ["scenario_open_stage", "scenario_evaluate_stage"].filter(isOffered);
  const thenStages = stages.length === 0
    ? []
    : [`${begin.length === 0 ? "" : "then "}for each stage ${stages.join(" and ")} with its evidence`];
  const order = [...begin, ...thenStages].join(", ");
  const parts = [
    ...order === "" ? [] : [`Order: ${order}`],
    ...isOffered("scenario_submit") ? ["scenario_submit records artifacts"] : [],
    ...isOffered("runpack_export") ? ["runpack_export publishes the record"] : [],
  ];
  return parts.length === 0 ? [] : [`${parts.join("; ")}.`];
}
