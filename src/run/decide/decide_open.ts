import { identify } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { EntryPacket, Target } from "../../law/types.ts";
import type { Decision, Environment, OpenCommand, Stamps } from "../command.ts";
import type { CompiledLaw, CompiledStage } from "../compile.ts";
import { judgeDisclosure } from "../disclosure.ts";
import { readyFrontier, traceStages } from "../frontier.ts";
import { hashPayload } from "../payload.ts";
import { asJson } from "../primitives.ts";
import { acceptanceTime, buildRecord } from "../record.ts";
import { checkHead, findStage, refusal } from "../refusal.ts";
import { accept } from "./accept.ts";
import type { ContentHash, Disclosure, Intent, RunState } from "../types.ts";

interface Proposal {
  readonly disclosures: Disclosure[];
  readonly intents: Intent[];
}

function isExpired(packet: EntryPacket, acceptedAt: number, revision: number): boolean {
  if (packet.expiry === null) return false;
  // A logical expiry counts revisions of the run, the only logical clock that every verifier has.
  return packet.expiry.value <= (packet.expiry.kind === "unix_millis" ? acceptedAt : revision);
}

function intentOf(
  environment: Environment,
  state: RunState,
  command: OpenCommand,
  packet: EntryPacket,
  target: Target | null,
  content_hash: ContentHash,
): Intent {
  const { sha256 } = environment.primitives;
  const subject = {
    run_key: state.run_key,
    stage_id: command.stage_id,
    operation: { family: "open_stage", identity: command.operation_id },
    packet_id: packet.packet_id,
    target,
  };
  return {
    intent_id: identify(sha256, "intent", asJson(subject)),
    packet_id: packet.packet_id,
    target,
    content_hash,
    content_type: packet.content_type,
    visibility_labels: packet.visibility_labels,
    policy_tags: packet.policy_tags,
    expiry: packet.expiry,
  };
}

function propose(
  law: CompiledLaw,
  state: RunState,
  compiled: CompiledStage,
  command: OpenCommand,
  environment: Environment,
  acceptedAt: number,
): Proposal | Decision {
  const proposal: Proposal = { disclosures: [], intents: [] };
  for (const packet of compiled.stage.entry_packets) {
    const payload = hashPayload(environment.primitives.sha256, packet.payload);
    if (payload === null) throw new RangeError(`Cannot propose packet "${packet.packet_id}": its base64 is invalid`);
    for (const target of packet.targets.length === 0 ? [null] : packet.targets) {
      const disclosed = { packet_id: packet.packet_id, target };
      const denied = (reason: string, more: JsonObject = {}): Decision => {
        const { stage_id } = command;
        return refusal("policy_denied", {
          reason,
          ...disclosed,
          ...more,
          stage_id,
          ready_frontier: readyFrontier(state),
        });
      };
      if (isExpired(packet, acceptedAt, state.head.revision + 1)) return denied("packet_expired");
      const request = { scenario_id: law.law.scenario_id, stage_id: command.stage_id, packet, target };
      const verdict = judgeDisclosure(environment.profile.policy, request);
      if (verdict.verdict === "denied") return denied("denied");
      if (verdict.verdict === "rule_error") return denied("rule_error", { error_message: verdict.error_message });
      proposal.disclosures.push({ ...disclosed, verdict: "permit", matched_rule: verdict.matched_rule });
      proposal.intents.push(intentOf(environment, state, command, packet, target, payload.content_hash));
    }
  }
  return proposal;
}

/**
 * Decides an opening: outcomes `accepted`, `stale`, `stage_not_found`, `stage_not_ready`, `stage_already_opened`,
 * `policy_denied`.
 */
export function decideOpen(
  law: CompiledLaw,
  state: RunState,
  command: OpenCommand,
  stamps: Stamps,
  environment: Environment,
): Decision {
  const stale = checkHead(state, command.expected_head);
  if (stale !== null) return stale;
  const found = findStage(law, state, command.stage_id);
  if ("outcome" in found) return found;
  const { compiled, stage } = found;
  const trace = compiled.prerequisite === null
    ? []
    : traceStages(compiled.prerequisite, compiled.prerequisiteStages, state.stages);
  const { stage_id, classification } = stage;
  if (state.status === "complete") {
    return refusal("stage_not_ready", { stage_id, classification, reason: "run_complete" });
  }
  if (classification === "blocked") {
    const ready_frontier = readyFrontier(state);
    return refusal("stage_not_ready", {
      stage_id,
      classification,
      reason: "prerequisite",
      prerequisite_trace: trace,
      ready_frontier,
    });
  }
  if (classification !== "ready_unopened") {
    return refusal("stage_already_opened", {
      stage_id,
      classification,
      stage_open_record_id: stage.stage_open_record_id,
    });
  }
  const acceptedAt = acceptanceTime(environment, state, stamps.time).accepted_audit_instant;
  const proposal = propose(law, state, compiled, command, environment, acceptedAt);
  if ("outcome" in proposal) return proposal;
  const decided = buildRecord(environment, state, state.run_key, command, stamps, "stage_opened", {
    stage_id,
    prerequisite_trace: trace,
    ...proposal,
  }, []);
  return accept(law, state, decided);
}
