"""Records, the state that they fold to, and receipts: docs/format/records.md."""

import re

import law as laws
from identities import identify
from shapes import (
    anything, an_object, any_of, closed, content_hash, flag, identity, integer, list_of, one_of, operation_identity, or_null,
    text, variant,
)
from values import TYPES

# The oldest first.
PROCEDURES = ("gate-kernel-1", "gate-kernel-2")
FAMILY = {
    "run_created": "create_run", "stage_opened": "open_stage", "stage_evaluated": "evaluate_stage", "artifact_submitted": "submit",
}
_CORRELATION = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}\Z")

_millis = integer()
_kleene = one_of("true", "false", "unknown")
_lane = one_of("verified", "asserted")
_timestamp = closed({"kind": one_of("unix_millis", "logical"), "value": integer()})
_target = variant("kind", {
    "agent": closed({"kind": text, "agent_id": text}), "session": closed({"kind": text, "session_id": text}),
    "external": closed({"kind": text, "system": text, "target": text}), "channel": closed({"kind": text, "channel": text}),
})
_time_source = closed({"time_authority_id": text, "authority_revision": text, "reading_unix_millis": _millis})
_stage_trace = list_of(closed({"path": text, "stage_id": text, "value": one_of("true", "false")}), 4096)
_trace = list_of(closed({"path": text, "condition_id": text, "value": _kleene}, {
    "reason": one_of("no_evidence", "disagreement", "unqualified", "type_mismatch", "error"),
}), 4096)
_witness = closed({
    "binding_id": text, "provider_id": text, "check_id": text, "contract_identity": identity, "trigger_time": _timestamp,
    "acquired_at": _millis, "lane": _lane, "evidence_ref": or_null(text), "content_type": or_null(text),
    "provider_result": an_object, "grant": an_object,
}, {"trigger_time_given": one_of(True), "params": anything})
_error = closed({"code": text, "message": text}, {"details": anything})
_signature = closed({"scheme": one_of("ed25519"), "key_id": text, "signature": text})
_item = closed({
    "item_id": text, "condition_id": text,
    "channel": one_of("caller_submission", "accepted_submission", "local_acquisition", "provider_acquisition"),
    "qualified": flag, "lane": _lane,
    "retention": one_of("RetainCanonicalValue", "RetainDigestOnly"),
}, {
    "provider_id": text, "binding_id": text, "value_identity": identity, "error": _error, "value_type": one_of(*TYPES),
    "reason": one_of("channel", "authorization", "lane", "not_fresh", "not_independent", "integrity", "assurance", "scope"),
    "content_hash": content_hash, "hash_recomputes": one_of(False), "found_nothing": one_of(True), "observed_at": _millis,
    "signature": _signature, "submission_record_id": identity,
    "anchor": closed({"anchor_type": text, "anchor_value": text}),
    "schema_verdict": one_of("valid", "invalid"), "acquisition": _witness,
})
_submitted = closed({
    "condition_id": text, "value_identity": or_null(identity), "observed_at": _millis, "public_key": text,
    "seen_head": closed({"record_id": identity, "revision": integer(1)}), "signature": _signature,
}, {
    "value_type": one_of(*TYPES), "content_hash": content_hash, "schema_verdict": one_of("valid", "invalid"),
    "valid_until": _millis, "comment_hash": content_hash,
})
_intent = closed({
    "intent_id": identity, "packet_id": text, "target": or_null(_target), "content_hash": content_hash, "content_type": text,
    "visibility_labels": list_of(text, 256), "policy_tags": list_of(text, 256), "expiry": or_null(_timestamp),
})
_parameter = closed({"parameter_id": text, "value": closed({"value": anything, "value_type": one_of(*TYPES)})})
_bodies = {
    "run_created": closed({
        "scenario_id": text, "scenario_law_identity": identity, "graph_identity": identity,
        "correlation": variant("kind", {
            "unset": closed({"kind": text}),
            "set": closed({"kind": text, "correlation_id": lambda v: isinstance(v, str) and _CORRELATION.match(v) is not None}),
        }),
        "genesis": variant("kind", {
            "empty": closed({"kind": text}),
            "declared": closed({"kind": text, "payload_identity": identity, "content_hash": content_hash}),
            "parameters": closed({"kind": text, "parameters": list_of(_parameter, 64)}),
        }),
        "run_allocation": closed({"authority_id": text}),
        "contracts": list_of(closed(
            {"provider_id": text, "contract_identity": identity}, {"provider_version_identity": identity},
        ), 4096),
        "schemas": list_of(closed({"schema_id": text, "version": text, "schema_identity": identity}), 1024),
        "time_source": _time_source,
    }),
    "stage_opened": closed({
        "stage_id": text, "prerequisite_trace": _stage_trace,
        "disclosures": list_of(closed({
            "packet_id": text, "target": or_null(_target), "verdict": one_of("permit"), "matched_rule": or_null(integer(0)),
        }), 65536),
        "intents": list_of(_intent, 65536), "time_source": _time_source,
    }),
    "stage_evaluated": closed({
        "stage_id": text, "attempt_number": integer(1), "outcome": _kleene, "completed": flag, "trace": _trace,
        "evidence": list_of(_item, 12288), "narrowed_bindings": list_of(text, 4096),
        "run_status": one_of("active", "complete"), "time_source": _time_source,
    }, {"scenario_trace": _stage_trace}),
    "artifact_submitted": closed({
        "content_type": text,
        "scope": variant("kind", {
            "run_wide": closed({"kind": text}),
            "stage_open": closed({"kind": text, "stage_id": text, "stage_open_record_id": identity}),
        }),
        "payload_identity": identity, "content_hash": content_hash, "time_source": _time_source,
    }, {"evidence": _submitted}),
}
_record = variant("record_kind", {
    kind: closed({
        "record_kind": text, "revision": integer(1), "previous_record_id": or_null(identity),
        "run_key": closed({"namespace_id": integer(1), "run_id": operation_identity}),
        "procedure": one_of(*PROCEDURES),
        "operation": closed({"family": one_of(*FAMILY.values()), "identity": operation_identity}),
        "invocation_identity": identity,
        "acceptance_time": closed({
            "accepted_audit_instant": _millis, "authority_revision": text, "source_material_identity": identity,
            "time_authority_id": text,
        }),
        "admission": closed({
            "kind": one_of("local", "bearer", "mtls", "derived"), "profile_id": identity,
            "request_provenance_digest": content_hash,
        }),
        "attribution": closed({
            "principal": text, "auth_method": one_of("local", "bearer_token", "mtls"), "roles_matched": list_of(text, 4096),
            "policy_class": or_null(text), "tenants": or_null(list_of(integer(1), 4096)),
        }),
        "operator_profile": identity, "body": body,
    }) for kind, body in _bodies.items()
})

_names = list_of(text, 4096)
_keys = list_of(closed({"key_id": text, "public_key": text}), 4096)
_trust = any_of(one_of("audit"), closed({"require_signature": closed({"keys": _keys})}))
_selector = variant("target_kind", {
    **{kind: closed({"target_kind": text}, {"target_id": text}) for kind in ("agent", "session", "channel")},
    "external": closed({"target_kind": text}, {"system": text, "target": text}),
})
_rule = closed({"effect": one_of("permit", "deny", "error")}, {
    "error_message": text, "target_kinds": list_of(one_of("agent", "session", "external", "channel"), 4096),
    "targets": list_of(_selector, 4096),
    **{name: _names for name in (
        "content_types", "packet_ids", "scenario_ids", "schema_ids", "stage_ids", "require_labels", "forbid_labels",
        "require_policy_tags", "forbid_policy_tags",
    )},
})
is_profile = closed({
    "value_limits": closed({"maximum_value_bytes": integer(0), "maximum_payload_bytes": integer(0)}),
    "validation": closed({
        "strict": flag, "profile": text, "allow_permissive": flag, "enable_lexicographic": flag, "enable_deep_equals": flag,
    }),
    "trust": closed({
        "min_lane": _lane, "default_policy": _trust,
        "providers": list_of(closed({"provider_id": text, "policy": _trust}), 4096),
    }),
    "anchors": list_of(closed({"provider_id": text, "anchor_type": text, "required_fields": _names}), 4096),
    "permissive": closed({"enabled": flag, "exempt_providers": _names}),
    "policy": variant("engine", {
        "permit_all": closed({"engine": text}), "deny_all": closed({"engine": text}),
        "static": closed({"engine": text, "default": one_of("permit", "deny"), "rules": list_of(_rule, 4096)}),
    }),
    "proof_budget": integer(0),
}, {"evidence_keys": _keys})
_result = closed({
    "value": or_null(closed({
        "kind": one_of("json", "bytes"), "content_hash": content_hash, "value_identity": or_null(identity),
    })),
    "lane": _lane, "error": or_null(_error), "evidence_hash": or_null(content_hash),
    "evidence_ref": or_null(closed({"uri": text})), "evidence_anchor": or_null(an_object), "signature": or_null(an_object),
    "content_type": or_null(text),
}, {"observed_at": _millis})


def is_record(value):
    return _record(value)


def is_provider_result(value):
    return _result(value)


def is_contract(value):
    """Whether a value has at least the members of a contract that a replay reads."""
    def having(members):
        return lambda v: isinstance(v, dict) and all(name in v and shape(v[name]) for name, shape in members.items())

    return having({
        "provider_id": text, "transport": one_of("builtin", "mcp", "typed"),
        "checks": list_of(having({
            "check_id": text, "params_required": flag, "params_schema": anything, "result_schema": anything,
            "allowed_comparators": list_of(text, 4096), "anchor_types": list_of(text, 4096),
        }), 65536),
    })(value)


def is_provider_version(value):
    """Whether a value has the form of a version of a typed provider."""
    return closed({"contract": is_contract, "profile": lambda one: isinstance(one, dict)})(value)


class Unfoldable(Exception):
    """A record that cannot follow the state before it."""


def trace_stages(requirement, complete):
    """One line for each leaf visit of a requirement over stages."""
    return [
        {"path": path, "stage_id": leaf, "value": "true" if leaf in complete else "false"}
        for path, leaf in leaf_visits(requirement)
    ]


def leaf_visits(requirement, path="$"):
    """(path, leaf) of every leaf visit, left to right, depth first."""
    ((form, inner),) = requirement.items()
    if form == "Condition":
        yield path, inner
    elif form == "Not":
        yield from leaf_visits(inner, f"{path}.Not")
    else:
        operands, below = (inner["reqs"], f"{path}.RequireGroup.reqs") if form == "RequireGroup" else (inner, f"{path}.{form}")
        for index, operand in enumerate(operands):
            yield from leaf_visits(operand, f"{below}[{index}]")


def complete_stages(state):
    return {stage["stage_id"] for stage in state["stages"] if stage["classification"] == "complete"}


def completed(law, state, stage_id):
    """Stages and status after a stage has been completed."""
    complete = complete_stages(state) | {stage_id}
    status = "complete" if laws.holds(law["completion_requirement"], complete) else "active"
    return complete, status


def state_stage(state, stage_id):
    return next((stage for stage in state["stages"] if stage["stage_id"] == stage_id), None)


def law_stage(law, stage_id):
    return next((stage for stage in law["stages"] if stage["stage_id"] == stage_id), None)


def attempt_of(record, record_id):
    body = record["body"]
    shown = ("item_id", "condition_id", "channel", "provider_id", "binding_id", "value_identity", "qualified", "reason", "error")
    evidence = [{name: item[name] for name in shown if name in item} for item in body["evidence"]]
    members = {name: body[name] for name in ("attempt_number", "stage_id", "outcome", "completed", "trace")}
    return {**members, "record_id": record_id, "evidence": evidence}


def fold(law, before, record, record_id):
    """The state after a record; raises Unfoldable where it cannot follow."""
    instant = record["acceptance_time"]["accepted_audit_instant"]
    head = {"record_id": record_id, "revision": record["revision"]}
    body = record["body"]
    if before is None:
        if record["record_kind"] != "run_created":
            raise Unfoldable
        genesis = body["genesis"]
        return {
            **({"parameters": genesis["parameters"]} if genesis["kind"] == "parameters" else {}),
            "run_key": record["run_key"], "scenario_id": body["scenario_id"],
            "scenario_law_identity": body["scenario_law_identity"], "head": head, "status": "active",
            "accepted_audit_instant": instant, "committed_intent_count": 0, "submission_count": 0, "attempt_count": 0,
            "recent_attempts": [],
            "stages": [{
                "stage_id": stage["stage_id"], "stage_open_record_id": None, "completion_record_id": None, "attempt_count": 0,
                "classification": "ready_unopened" if stage["prerequisite"]["kind"] == "root" else "blocked",
            } for stage in law["stages"]],
        }
    if record["record_kind"] == "run_created" or record["run_key"] != before["run_key"] or instant < before["accepted_audit_instant"]:
        raise Unfoldable
    state = {**before, "head": head, "accepted_audit_instant": instant}
    if record["record_kind"] == "artifact_submitted":
        state["submission_count"] = before["submission_count"] + 1
        return _with_submission(state, record, record_id) if "evidence" in body else state
    stage = state_stage(before, body["stage_id"])
    opens = record["record_kind"] == "stage_opened"
    if stage is None or stage["classification"] != ("ready_unopened" if opens else "open_incomplete"):
        raise Unfoldable
    if opens:
        state["committed_intent_count"] = before["committed_intent_count"] + len(body["intents"])
        changed = {**stage, "classification": "open_incomplete", "stage_open_record_id": record_id}
        if _takes_submissions(law, body["stage_id"]):
            changed["stage_open_revision"] = record["revision"]
        return {**state, "stages": [changed if one is stage else one for one in before["stages"]]}
    return _fold_attempt(law, before, state, stage, record, record_id)


def _takes_submissions(law, stage_id):
    """Whether evidence can wait for a condition of a stage."""
    named = {leaf for _, leaf in leaf_visits(law_stage(law, stage_id)["completion_requirement"])}
    return any(
        one["condition_id"] in named and "accepted_submission" in one["evidence_use_policy"]["allowed_channels"]
        for one in law["conditions"]
    )


def _with_submission(state, record, record_id):
    """The state with evidence that waits, in place of the earlier statement of its key for its condition."""
    body = record["body"]
    stage = state_stage(state, body["scope"].get("stage_id"))
    if stage is None or stage["classification"] != "open_incomplete":
        raise Unfoldable
    kept = {name: member for name, member in body["evidence"].items() if name not in ("seen_head", "comment_hash")}
    entry = {
        **kept, "stage_id": stage["stage_id"], "record_id": record_id, "revision": record["revision"],
        "submitted_at": body["time_source"]["reading_unix_millis"],
    }
    same = ("stage_id", "condition_id", "public_key")
    others = [one for one in state.get("submitted_evidence", []) if any(one[name] != entry[name] for name in same)]
    return {**state, "submitted_evidence": [*others, entry]}


def _fold_attempt(law, before, state, stage, record, record_id):
    body = record["body"]
    changed = {**stage, "attempt_count": stage["attempt_count"] + 1}
    passed = body["outcome"] == "true"
    status = before["status"]
    complete = complete_stages(before)
    if passed:
        changed.update(classification="complete", completion_record_id=record_id)
        complete, holds = completed(law, before, stage["stage_id"])
        status = "complete" if holds == "complete" else status
    if body["completed"] != passed or body["attempt_number"] != before["attempt_count"] + 1 or body["run_status"] != status:
        raise Unfoldable
    if passed and "submitted_evidence" in state:
        left = [one for one in state.pop("submitted_evidence") if one["stage_id"] != stage["stage_id"]]
        state.update({"submitted_evidence": left} if left else {})
    stages = []
    for one, of_law in zip(before["stages"], law["stages"]):
        one = changed if one is stage else one
        if passed and one["classification"] == "blocked" and laws.holds(of_law["prerequisite"]["requirement"], complete):
            one = {**one, "classification": "ready_unopened"}
        stages.append(one)
    return {
        **state, "status": status, "stages": stages, "attempt_count": before["attempt_count"] + 1,
        "recent_attempts": [*before["recent_attempts"], attempt_of(record, record_id)][-20:],
    }


def state_identity(state):
    return identify("run-state", state)


def ready_frontier(state):
    if state["status"] == "complete":
        return []
    return [stage["stage_id"] for stage in state["stages"] if stage["classification"] == "ready_unopened"]


def result_of(law, record, record_id, after):
    """The result of a record; None where it needs an absent law or state."""
    body, head = record["body"], {"record_id": record_id, "revision": record["revision"]}
    common = {name: record[name] for name in ("acceptance_time", "admission", "invocation_identity")}
    if record["record_kind"] == "run_created":
        return {
            **common, "head": head, "run_key": record["run_key"], "creation_request_id": record["operation"]["identity"],
            **{name: body[name] for name in ("correlation", "genesis", "scenario_law_identity")},
        }
    if law is None or after is None:
        return None
    result = {**common, "accepted_head": head, "operation_id": record["operation"]}
    if record["record_kind"] == "artifact_submitted":
        submission = {name: value for name, value in body.items() if name != "time_source"}
        return {**result, "submission": {"record_id": record_id, **submission}}
    result.update(stage_id=body["stage_id"], ready_frontier=ready_frontier(after))
    if record["record_kind"] == "stage_evaluated":
        return {**result, "attempt": attempt_of(record, record_id), "run_status": after["status"]}
    stage = law_stage(law, body["stage_id"])
    payloads = {packet["packet_id"]: packet["payload"] for packet in (stage or {"entry_packets": []})["entry_packets"]}
    intents = [
        {**intent, "payload": payloads[intent["packet_id"]]} if intent["packet_id"] in payloads else intent
        for intent in body["intents"]
    ]
    return {**result, "stage_open_record_id": record_id, "entry_intents": intents}
