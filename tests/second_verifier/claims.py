"""The claims on one record, 12 to 18, 20 and 23.

Each function gives the code of a contradiction, (code, index) where it is one of an item of evidence, or None.
"""

import ed25519
import evidence
import law as laws
import records
import submissions
import values
from canonical_json import canonical_bytes, equal
from decide import limit, payload_facts, retention_of


def stage_open(step):
    if step.record["record_kind"] != "stage_opened":
        return None
    stage = records.law_stage(step.law, step.body["stage_id"])
    if stage is None or step.before is None:
        return "stage_missing"
    state = records.state_stage(step.before, step.body["stage_id"])
    if state["classification"] != "ready_unopened" or step.before["status"] != "active":
        return "stage_state_mismatch"
    trace = []
    if stage["prerequisite"]["kind"] == "requires":
        trace = records.trace_stages(stage["prerequisite"]["requirement"], records.complete_stages(step.before))
    return None if equal(trace, step.body["prerequisite_trace"]) else "prerequisite_trace_mismatch"


def evaluation_attempt(step):
    if step.record["record_kind"] != "stage_evaluated":
        return None
    body, before = step.body, step.before
    stage = records.law_stage(step.law, body["stage_id"])
    if stage is None or before is None:
        return "stage_missing"
    state = records.state_stage(before, body["stage_id"])
    if state["classification"] != "open_incomplete" or before["status"] != "active":
        return "stage_state_mismatch"
    if body["attempt_number"] != before["attempt_count"] + 1:
        return "attempt_number_mismatch"
    if body["completed"] != (body["outcome"] == "true"):
        return "completed_mismatch"
    truth = _truth(stage["completion_requirement"], body["trace"])
    if truth is None:
        return "trace_mismatch"
    if evidence.kleene(stage["completion_requirement"], truth) != body["outcome"]:
        return "outcome_mismatch"
    asked = {item.get("binding_id") for item in body["evidence"]}
    own = [one["binding_id"] for one in step.law["acquisition_bindings"] if one["condition_id"] in truth]
    if [one for one in own if one not in asked] != body["narrowed_bindings"]:
        return "narrowed_bindings_mismatch"
    if laws.requires_any(step.law, body["narrowed_bindings"]):
        return "binding_required"
    trace, status = None, before["status"]
    if body["completed"]:
        complete, status = records.completed(step.law, before, body["stage_id"])
        trace = records.trace_stages(step.law["completion_requirement"], complete)
    if not equal(trace, body.get("scenario_trace")):
        return "scenario_trace_mismatch"
    return None if body["run_status"] == status else "run_status_mismatch"


def _truth(requirement, trace):
    """The truth of every condition of a trace; None where its lines are not those of the requirement."""
    visits, seen = list(records.leaf_visits(requirement)), {}
    if len(visits) != len(trace):
        return None
    for (path, leaf), line in zip(visits, trace):
        if (line["path"], line["condition_id"]) != (path, leaf) or (line["value"] == "unknown") != ("reason" in line):
            return None
        if seen.setdefault(leaf, (line["value"], line.get("reason"))) != (line["value"], line.get("reason")):
            return None
    return {leaf: value for leaf, (value, _) in seen.items()}


def submission(step):
    kind = step.record["record_kind"]
    named = step.body if kind == "artifact_submitted" else step.body.get("genesis", {}) if kind == "run_created" else {}
    if "payload_identity" not in named:
        return None
    if step.payload is None:
        return "payload_missing"
    if isinstance(step.payload, str):
        return _rejection(submissions.check_withheld, step) if step.before is not None else None
    facts = payload_facts(step.payload)
    if facts is None:
        return "payload_invalid"
    if facts[0] != named["payload_identity"]:
        return "payload_mismatch"
    if facts[1] != named["content_hash"]["value"]:
        return "content_hash_mismatch"
    if facts[2] > limit(step.law, step.profile, "maximum_payload_bytes"):
        return "payload_invalid"
    if kind == "run_created" or step.before is None:
        return None
    if not step.scope_holds():
        return "scope_mismatch"
    if not laws.suits(step.payload["kind"], step.body["content_type"]):
        return "content_type_invalid"
    return _rejection(_submitted_fault, step)


def _submitted_fault(step):
    derived = submissions.derived(step) if submissions.is_evidence(step.record) else {}
    if not equal(derived, step.body.get("evidence", {})):
        raise submissions.Rejected("evidence_mismatch")


def _rejection(check, step):
    """The code with which a check rejects a record, or None."""
    try:
        check(step)
    except submissions.Rejected as rejected:
        return str(rejected)
    return None


def intent(step):
    if step.record["record_kind"] != "stage_opened" or step.before is None:
        return None
    stage = records.law_stage(step.law, step.body["stage_id"])
    state = records.state_stage(step.before, step.body["stage_id"])
    if stage is None or state["classification"] != "ready_unopened" or step.before["status"] != "active":
        return None
    proposed = step.proposed(stage)
    if proposed is None or not equal(proposed["disclosures"], step.body["disclosures"]):
        return "disclosure_mismatch"
    return None if equal(proposed["intents"], step.body["intents"]) else "intent_mismatch"


def admission(step):
    if step.record["record_kind"] != "stage_evaluated" or step.before is None:
        return None
    stage = records.law_stage(step.law, step.body["stage_id"])
    if stage is None:
        return None
    items = step.body["evidence"]
    waiting = submissions.waiting(step.before, step.body["stage_id"])
    code = _order_fault(items) or _count_fault(items) or _waiting_fault(items, waiting)
    if code is not None:
        return code
    attempt = step.attempt()
    return _first(_item_fault(step, attempt, item, value) for item, value in zip(items, step.items))


def _first(codes):
    """The first code that is not None, with the index of its item."""
    return next(((code, index) for index, code in enumerate(codes) if code is not None), None)


def _is_caller(item):
    return item["channel"] == "caller_submission"


def _has_waited(item):
    return item["channel"] == submissions.CHANNEL


def _waiting_fault(items, waiting):
    """The items that waited are exactly those of the state."""
    own = [item for item in items if _has_waited(item)]
    wanted, found = [one["record_id"] for one in waiting], [item.get("submission_record_id") for item in own]
    if set(found) - set(wanted):
        return "submission_unexpected"
    if set(wanted) - set(found):
        return "submission_missing"
    if len(own) > len(waiting):
        return "submission_unexpected"
    return None if all(map(_repeats, own, waiting)) else "submission_mismatch"


def _repeats(item, entry):
    """Whether an item has the members of its entry of the state, in its place."""
    same = ("condition_id", "value_identity", "value_type", "content_hash", "schema_verdict", "observed_at", "signature")
    is_same = all(equal(item.get(name), entry.get(name)) for name in same)
    return is_same and item["submission_record_id"] == entry["record_id"] and "anchor" not in item


def _order_fault(items):
    callers, before = sum(map(_is_caller, items)), None
    given = callers + sum(map(_has_waited, items))
    for index, item in enumerate(items):
        if index < callers:
            if item["item_id"] != f"caller:{index}" :
                return "item_invalid"
            continue
        if index < given:
            if not _has_waited(item) or item["item_id"] != f"submission:{item.get('submission_record_id', 'undefined')}":
                return "item_invalid"
            continue
        if before is not None and before == item["item_id"]:
            return "item_repeated"
        if evidence.is_of_caller(item) or before is not None and before > item["item_id"] or item["item_id"] != f"binding:{item.get('binding_id')}":
            return "item_invalid"
        before = item["item_id"]
    return None


def _count_fault(items):
    named = [item["condition_id"] for item in items if _is_caller(item)]
    return "items_unexpected" if len(named) > 4096 or any(named.count(one) > 64 for one in set(named)) else None


def _item_fault(step, attempt, item, value):
    condition = attempt.conditions.get(item["condition_id"])
    if condition is None or item["condition_id"] not in attempt.leaves:
        return "condition_mismatch"
    if item["retention"] != retention_of(condition):
        return "retention_mismatch"
    domain = condition["observation_domain"]
    if not _has_members(item):
        return "item_invalid"
    if "value_type" in item and item["value_type"] != domain["domain"]:
        return "value_type_mismatch"
    if ("schema" in domain and "value_identity" in item) != ("schema_verdict" in item):
        return "schema_verdict_mismatch"
    if not isinstance(value, dict):
        return None
    size = len(canonical_bytes(value["value"]))
    if not values.in_domain(value, domain) or size > limit(step.law, step.profile, "maximum_value_bytes"):
        return "value_invalid"
    return None


def _has_members(item):
    valued = "value_identity" in item
    if valued != ("value_type" in item) or valued != ("content_hash" in item):
        return False
    if valued + ("error" in evidence.without_clock_error(item)) + ("found_nothing" in item) != 1:
        return False
    if _has_waited(item) != ("submission_record_id" in item):
        return False
    if not evidence.is_of_caller(item):
        return "provider_id" in item and "binding_id" in item
    return valued and not {"provider_id", "binding_id", "hash_recomputes"} & item.keys()


def retention(step):
    if step.record["record_kind"] != "stage_evaluated":
        return None
    return _first(_retention_fault(item, value) for item, value in zip(step.body["evidence"], step.items))


def _retention_fault(item, value):
    if not isinstance(value, dict):
        return None
    if evidence.value_identity(value) != item["value_identity"]:
        return "value_mismatch"
    if value["value_type"] != item.get("value_type"):
        return "value_type_mismatch"
    return None if evidence.value_hash(value) == item.get("content_hash") else "content_hash_mismatch"


def _requalified(step, attempt):
    """The evidence of an attempt, qualified again: (items, judgements).

    None where acquired items share an id, or a retention differs from that of the condition.
    """
    pairs = [(presented(step, item), value) for item, value in zip(step.body["evidence"], step.items)]
    callers = [pair for pair in pairs if evidence.is_of_caller(pair[0])]
    acquired = sorted((pair for pair in pairs if not evidence.is_of_caller(pair[0])), key=lambda pair: pair[0]["item_id"])
    for item, _ in acquired:
        condition = attempt.conditions.get(item["condition_id"])
        if condition is not None and item["retention"] != retention_of(condition):
            return None
    if len({item["item_id"] for item, _ in acquired}) < len(acquired):
        return None
    return evidence.qualify_all(attempt, callers + [evidence.admit(attempt, *pair) for pair in acquired])


def presented(step, item):
    """A recorded item as it was presented to qualification."""
    entry = submissions.facts(step.before, item)
    return {**evidence.without_clock_error(item), **({} if entry is None else {"submission": entry})}


def use_policy(step, contracts):
    if step.record["record_kind"] != "stage_evaluated" or step.before is None:
        return None
    if records.law_stage(step.law, step.body["stage_id"]) is None:
        return None
    attempt = step.attempt()
    anew = _requalified(step, attempt)
    if anew is None:
        return "qualification_mismatch"
    for index, (item, value, one) in enumerate(zip(step.body["evidence"], step.items, anew[0])):
        code = _qualification_fault(item, one) or _owed_fault(attempt, item, value, contracts)
        if code is not None:
            return code, index
    return None


def trace_holds(step):
    """Whether an attempt with absent values has the trace lines that do not need them."""
    if step.record["record_kind"] != "stage_evaluated" or step.before is None:
        return True
    if records.law_stage(step.law, step.body["stage_id"]) is None:
        return True
    anew = _requalified(step, step.attempt())
    if anew is None:
        return False
    seen = ((anew[1].get(line["condition_id"]), (line["value"], line.get("reason"))) for line in step.body["trace"])
    return all(judgement in (None, line) for judgement, line in seen)


def _qualification_fault(item, one):
    if one.lane != item["lane"]:
        return "lane_mismatch"
    if item["qualified"] != ("reason" not in item and "error" not in item):
        return "qualification_mismatch"
    same = item.get("reason") == one.reason and equal(one.item.get("error"), item.get("error"))
    return None if same else "qualification_mismatch"


def _owed_fault(attempt, item, value, contracts):
    """Whether an item that gate reported as unsigned or unanchored was so."""
    code = item.get("error", {}).get("code")
    if "acquisition" not in item or "provider_id" not in item or code not in ("anchor_invalid", "signature_invalid"):
        return None
    witness = item["acquisition"]
    if isinstance(witness["provider_result"].get("error"), dict):
        return None
    if code == "signature_invalid":
        trust = evidence.trust_of(attempt, item)
        if trust == "audit":
            return "qualification_mismatch"
        found = evidence.source_signature(attempt, item, value, trust["require_signature"]["keys"])
        return "qualification_mismatch" if found == evidence.SIGNED else None
    owes = any(wanted["provider_id"] == item["provider_id"] for wanted in attempt.profile["anchors"])
    contract = contracts.get(witness["contract_identity"])
    check = None if contract is None else laws.check_of(contract, witness["check_id"])
    types = [] if check is None else check["anchor_types"]
    undeclared = "anchor" in item and types and item["anchor"]["anchor_type"] not in types
    return None if owes and not evidence.anchor_counts(attempt, item) or undeclared else "qualification_mismatch"


OBSERVED_BY_GATE = ("domain_mismatch", "content_type_mismatch", "anchor_invalid", "result_schema_mismatch", "signature_invalid")


def rests_on_unkept_value(item):
    if item.get("error", {}).get("code") not in ("domain_mismatch", "result_schema_mismatch") or "acquisition" not in item:
        return False
    return not isinstance(item["acquisition"]["provider_result"].get("error"), dict)


def acquisition(step, bound, contracts, resolved):
    if step.record["record_kind"] != "stage_evaluated":
        return None
    bindings = {one["binding_id"]: one for one in step.law["acquisition_bindings"]}
    return _first(_acquisition_fault(item, bindings, bound, contracts, resolved) for item in step.body["evidence"])


def _acquisition_fault(item, bindings, bound, contracts, resolved):
    if evidence.is_of_caller(item):
        return "witness_unexpected" if "acquisition" in item else None
    if "acquisition" not in item:
        return "witness_missing"
    witness = item["acquisition"]
    binding = bindings.get(witness["binding_id"], {})
    wanted = {
        "binding_id": item.get("binding_id"), "condition_id": item["condition_id"], "provider_id": item.get("provider_id"),
        "check_id": witness["check_id"], "channel": item["channel"],
    }
    if item.get("provider_id") != witness["provider_id"] or any(binding.get(name) != value for name, value in wanted.items()):
        return "binding_mismatch"
    is_resolved = witness["binding_id"] in resolved
    if is_resolved != ("params" in witness) or is_resolved and not equal(witness["params"], binding["params"]):
        return "params_mismatch"
    named = next((one["contract_identity"] for one in bound if one["provider_id"] == witness["provider_id"]), None)
    if named != witness["contract_identity"]:
        return "contract_mismatch"
    contract = contracts.get(named)
    if contract is None:
        return "contract_missing"
    if contract["provider_id"] != witness["provider_id"] or laws.channel_of(contract) != item["channel"]:
        return "contract_mismatch"
    if laws.check_of(contract, witness["check_id"]) is None:
        return "contract_mismatch"
    version = next(one.get("provider_version_identity") for one in bound if one["provider_id"] == witness["provider_id"])
    if version is not None and "anchor" in item and _version_of(item["anchor"]) != version:
        return "provider_version_mismatch"
    # The value is the producer's word: no record bounds it.
    if witness.get("trigger_time_given") is not True and witness["trigger_time"]["kind"] != "unix_millis":
        return "trigger_time_mismatch"
    return _result_fault(item, witness)


def _version_of(anchor):
    """The version that an anchor names, or None."""
    fields = evidence.anchor_fields(anchor)
    return None if fields is None else fields.get("provider_version_identity")


def _result_fault(item, witness):
    result = witness["provider_result"]
    if not records.is_provider_result(result):
        return "witness_invalid"
    reference = result["evidence_ref"]
    same = (
        result["lane"] == witness["lane"] and result["content_type"] == witness["content_type"]
        and (None if reference is None else reference["uri"]) == witness["evidence_ref"]
        and equal(result["signature"], item.get("signature")) and equal(result["evidence_anchor"], item.get("anchor"))
        and result.get("observed_at") == item.get("observed_at")
    )
    given, value = result["evidence_hash"], result["value"]
    fails = given is not None and (value is None or not equal(given, value["content_hash"]))
    if not same or not _says_same(item, result) or fails != (item.get("hash_recomputes") is False):
        return "provider_result_mismatch"
    return None


def _says_same(item, result):
    if result["error"] is not None:
        return "error" in item and equal(result["error"], item["error"])
    if "error" in evidence.without_clock_error(item):
        return item["error"]["code"] in OBSERVED_BY_GATE
    if result["value"] is None:
        return item.get("found_nothing") is True
    if "value_identity" not in item or result["value"]["value_identity"] != item["value_identity"]:
        return False
    as_it_comes = result["value"]["kind"] == "json" and item.get("value_type") in AS_IT_COMES
    return not as_it_comes or equal(result["value"]["content_hash"], item.get("content_hash"))


AS_IT_COMES = ("Boolean", "Integer", "Json", "String", "Timestamp")


class Sources:
    """Claim 23 over all records."""

    def __init__(self, keys):
        self.keys, self.counted, self.unsigned, self.open = keys, 0, 0, []

    def check(self, step):
        if self.keys is None or step.record["record_kind"] != "stage_evaluated" or step.before is None:
            return None
        if records.law_stage(step.law, step.body["stage_id"]) is None:
            return None
        attempt = step.attempt()
        for index, (item, value) in enumerate(zip(step.body["evidence"], step.items)):
            if not item["qualified"]:
                continue
            self.counted += 1
            key = attempt.key_of(item)
            named = key is not None and "value_identity" in item and ed25519.decode_base64(key["public_key"]) in self.keys
            if not named:
                self.unsigned += 1
            elif not any(evidence.is_bound(attempt, one) for one in (presented(step, item), item)):
                bare = evidence.bare_signature(item, value, key)
                if bare == evidence.UNSIGNED:
                    return "signature_invalid", index
                if bare == evidence.OPEN:
                    self.open.append(value)
                self.unsigned += bare == evidence.SIGNED
        return None

    def gaps(self):
        if not self.keys:
            return ["no_trusted_keys"]
        if self.counted == 0:
            return ["no_evidence"]
        return self.open + (["unsigned_evidence"] if self.unsigned else [])
