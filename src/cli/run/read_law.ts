import { identify } from "../../canonical/identity.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { mustCall, type ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { sha256 } from "./fold_state.ts";

/**
 * The law of a run, by `scenarios_get`. Its identity is computed here, so that a server cannot show one law and name
 * another.
 *
 * @throws {CliError} `refused`
 */
export async function readLaw(session: ToolSession, namespaceId: number, identity: string): Promise<ScenarioLaw> {
  const answer = await mustCall(session, "scenarios_get", {
    namespace_id: namespaceId,
    scenario_law_identity: identity,
  });
  const law = answer["law"] ?? null;
  if (identify(sha256, "scenario-law", law) === identity) return law as unknown as ScenarioLaw;
  const message = `Cannot use the law of the server: its identity is not "${identity}"`;
  throw new CliError("refused", message, null, EXIT.verificationFailed);
}
