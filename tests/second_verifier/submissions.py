"""Evidence that waits: docs/format/records.md, "Evidence that waits", and docs/format/evidence_statement.md, "Submitted evidence"."""

import evidence
import law as laws
import records
import values
from canonical_json import canonical_bytes
from identities import sha256
from shapes import anything, closed, identity, integer, one_of, or_null, text
from values import utf8_bytes

CONTENT_TYPE = "application/vnd.gate.evidence+json"
CHANNEL = "accepted_submission"
AHEAD_MILLIS = 60_000
KEYS_PER_CONDITION, STATEMENTS_PER_STAGE = 64, 4096


def _sized(most):
    return lambda value: isinstance(value, str) and 1 <= utf8_bytes(value) <= most


_payload = closed({
    "condition_id": _sized(256), "value": or_null(closed({"value": anything, "value_type": one_of(*values.TYPES)})),
    "observed_at": integer(0), "seen_head": closed({"record_id": identity, "revision": integer(1)}),
    "signature": closed({"scheme": one_of("ed25519"), "key_id": _sized(256), "signature": text}),
}, {"valid_until": integer(0), "comment": _sized(4096)})


class Rejected(Exception):
    """A submission that cannot be evidence that waits; its text is the code of claim 14."""


def is_evidence(record):
    """Whether a record of a submission has the content type and the procedure of evidence that waits."""
    media_type = record["body"]["content_type"].split(";", 1)[0].strip().lower()
    return record["procedure"] != "gate-kernel-1" and media_type == CONTENT_TYPE


def waiting(before, stage_id):
    """The statements that an evaluation of a stage takes, in revision order."""
    entries = before.get("submitted_evidence", [])
    return [one for one in entries if one["stage_id"] == stage_id and one["value_identity"] is not None]


def facts(before, item):
    """The entry of the state that an item names, or None."""
    name = item.get("submission_record_id")
    entries = [] if before is None or name is None else before.get("submitted_evidence", [])
    return next((one for one in entries if one["record_id"] == name), None)


def _need(holds, code="payload_invalid"):
    if not holds:
        raise Rejected(code)


def _is_open(step):
    scope = step.body["scope"]
    stage = records.state_stage(step.before, scope["stage_id"])
    is_same = stage is not None and stage["stage_open_record_id"] == scope["stage_open_record_id"]
    return is_same and stage["classification"] == "open_incomplete" and step.before["status"] == "active"


def _condition(step, condition_id):
    stage_id = step.body["scope"]["stage_id"]
    condition = next((one for one in step.law["conditions"] if one["condition_id"] == condition_id), None)
    leaves = {leaf for _, leaf in records.leaf_visits(records.law_stage(step.law, stage_id)["completion_requirement"])}
    _need(condition is not None and condition_id in leaves)
    _need(CHANNEL in condition["evidence_use_policy"]["allowed_channels"])
    return condition


def _statement(step, found):
    scope, shown = step.body["scope"], ("condition_id", "observed_at", "value_identity", "seen_head", "valid_until", "comment_hash")
    return canonical_bytes({
        "statement": "gate.submitted-evidence/v1", "namespace_id": step.law["namespace_id"],
        "scenario_law_identity": step.law_identity, "run_id": step.before["run_key"]["run_id"],
        "stage_id": scope["stage_id"], "stage_open_record_id": scope["stage_open_record_id"],
        **{name: found[name] for name in shown if name in found},
    })


def _check(step, found):
    """Everything but the value: the condition, the key, the signature, what was seen, the times and the counts."""
    condition = _condition(step, found["condition_id"])
    key = evidence.keys_of(condition, evidence.key_book(step.profile)).get(found["signature"]["key_id"])
    allowed = condition["evidence_use_policy"].get("authorized_key_ids")
    _need(key is not None and key["public_key"] == found["public_key"])
    _need(allowed is None or key["key_id"] in allowed)
    _need(evidence.is_signed_by(key, found["signature"], [_statement(step, found)]), "signature_invalid")
    stage_id, seen, reading = step.body["scope"]["stage_id"], found["seen_head"], step.body["time_source"]["reading_unix_millis"]
    opened_at = records.state_stage(step.before, stage_id)["stage_open_revision"]
    is_seen = opened_at <= seen["revision"] <= len(step.heads) and step.heads[seen["revision"] - 1] == seen["record_id"]
    _need(is_seen, "seen_head_mismatch")
    observed_at = found["observed_at"]
    _need(observed_at <= reading + AHEAD_MILLIS, "statement_time_invalid")
    _need("valid_until" not in found or found["valid_until"] >= max(observed_at, reading), "statement_time_invalid")
    own = [one for one in step.before.get("submitted_evidence", []) if one["stage_id"] == stage_id]
    of_condition = [one for one in own if one["condition_id"] == found["condition_id"]]
    earlier = next((one for one in of_condition if one["public_key"] == found["public_key"]), None)
    if earlier is not None:
        _need(observed_at > earlier["observed_at"], "statement_time_invalid")
    else:
        _need(len(of_condition) < KEYS_PER_CONDITION and len(own) < STATEMENTS_PER_STAGE)


def _value_fits(step, condition, value):
    most = laws.limit(step.law, step.profile, "maximum_value_bytes")
    return values.in_domain(value, condition["observation_domain"]) and len(canonical_bytes(value["value"])) <= most


def derived(step):
    """The member `evidence` that follows from a payload; raises Rejected."""
    _need(step.body["scope"]["kind"] == "stage_open")
    _need(_is_open(step), "scope_mismatch")
    given = step.payload.get("value") if step.payload["kind"] == "json" else None
    _need(_payload(given))
    value = given["value"]
    _need(value is not None or "valid_until" not in given)
    condition = _condition(step, given["condition_id"])
    _need(value is None or _value_fits(step, condition, value))
    key = evidence.keys_of(condition, evidence.key_book(step.profile)).get(given["signature"]["key_id"], {"public_key": ""})
    found = {
        **{name: given[name] for name in ("condition_id", "observed_at", "seen_head", "signature")},
        "value_identity": None, "public_key": key["public_key"],
    }
    if value is not None:
        found.update(
            value_identity=evidence.value_identity(value), value_type=value["value_type"], content_hash=evidence.value_hash(value),
        )
    verdict = step.body.get("evidence", {}).get("schema_verdict")
    if verdict is not None:
        found["schema_verdict"] = verdict
    if "valid_until" in given:
        found["valid_until"] = given["valid_until"]
    if "comment" in given:
        found["comment_hash"] = {"algorithm": "sha256", "value": sha256(given["comment"].encode("utf-8", "surrogatepass"))}
    _check(step, found)
    return found


def check_withheld(step):
    """Checks the member `evidence` of a record whose payload is withheld; raises Rejected."""
    _need(step.body["scope"]["kind"] == "stage_open" and _is_open(step), "scope_mismatch")
    _need(laws.suits("json", step.body["content_type"]), "content_type_invalid")
    _need(is_evidence(step.record), "evidence_mismatch")
    _check(step, step.body["evidence"])


def item_of(entry):
    """The item of an evaluation that an entry of the state gives."""
    shown = ("condition_id", "value_identity", "content_hash", "schema_verdict", "observed_at", "signature")
    return {
        **{name: entry[name] for name in shown if name in entry}, "item_id": f"submission:{entry['record_id']}",
        "channel": CHANNEL, "retention": "RetainCanonicalValue", "submission": entry,
    }
