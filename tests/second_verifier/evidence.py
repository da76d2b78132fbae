"""Qualification and judgement of evidence: docs/format/records.md and docs/format/evidence_statement.md."""

import ed25519
import values
from canonical_json import Fault, canonical_bytes, parse
from identities import content_hash, identify
from records import leaf_visits
from shapes import content_hash as is_content_hash

TRUE, FALSE, UNKNOWN = values.TRUE, values.FALSE, values.UNKNOWN


def key_book(profile):
    """The keys of a profile by id; the first one where two have the same id."""
    trust = profile["trust"]
    book = {}
    policies = [trust["default_policy"], *(one["policy"] for one in trust["providers"])]
    owed = [key for policy in policies if policy != "audit" for key in policy["require_signature"]["keys"]]
    for key in owed + profile.get("evidence_keys", []):
        book.setdefault(key["key_id"], key)
    return book


class Attempt:
    """The attempt for which evidence is qualified."""

    def __init__(self, law, law_identity, profile, stage, before, record):
        self.law, self.law_identity, self.profile, self.stage = law, law_identity, profile, stage
        self.run_key, self.head = before["run_key"], before["head"]
        self.procedure = record["procedure"]
        if self.procedure == "gate-kernel-1":
            self.evaluated_at, self.clock_behind = record["acceptance_time"]["accepted_audit_instant"], False
            self.compared_at = None
        else:
            self.evaluated_at = self.compared_at = record["body"]["time_source"]["reading_unix_millis"]
            self.clock_behind = before["accepted_audit_instant"] - self.evaluated_at > 60_000
        self.book = key_book(profile)
        self.bindings = {binding["binding_id"]: binding for binding in law["acquisition_bindings"]}
        self.conditions = {condition["condition_id"]: condition for condition in law["conditions"]}
        self.leaves = list(dict.fromkeys(leaf for _, leaf in leaf_visits(stage["completion_requirement"])))


    def key_of(self, item):
        """The key that signed an item: the law's where its condition pins keys, else the operator's; or None."""
        return keys_of(self.conditions.get(item["condition_id"]), self.book).get(item.get("signature", {}).get("key_id"))


def keys_of(condition, book):
    """The keys of a condition by id: those that the law pins, else those of the operator."""
    pinned = None if condition is None else condition["evidence_use_policy"].get("authorized_public_keys")
    return {name: {"key_id": name, "public_key": key} for name, key in pinned.items()} if pinned else book


def statements(attempt, item):
    """The canonical bytes of every form of an item's statement."""
    if "observed_at" not in item or "value_identity" not in item:
        return []
    base = {
        "statement": "gate.evidence/v1", "namespace_id": attempt.law["namespace_id"],
        "scenario_law_identity": attempt.law_identity, "run_id": attempt.run_key["run_id"],
        "stage_id": attempt.stage["stage_id"], "condition_id": item["condition_id"], "observed_at": item["observed_at"],
        "value_identity": item["value_identity"],
    }
    if "acquisition" in item:
        witness = item["acquisition"]
        base.update(provider_id=witness["provider_id"], check_id=witness["check_id"])
        binding = attempt.bindings.get(witness["binding_id"], {})
        if "params" in binding:
            base["params"] = binding["params"]
    forms = [base, {**base, "head": attempt.head}]
    if "content_hash" in item:
        forms += [{**form, "content_hash": item["content_hash"]} for form in forms]
    return [canonical_bytes(form) for form in forms]


def is_signed_by(key, signature, messages):
    public_key, data = ed25519.decode_base64(key["public_key"]), ed25519.decode_base64(signature["signature"])
    if public_key is None or data is None:
        return False
    return any(ed25519.verify(public_key, message, data) for message in messages)


def is_over_head(attempt, item):
    """Whether an item carries a signature by a key of the profile over a statement that names the head, or waited: then it names one since the opening."""
    if item["channel"] == "accepted_submission":
        return True
    key = attempt.key_of(item)
    return key is not None and is_signed_by(key, item["signature"], statements(attempt, item)[1::2])


def is_of_caller(item):
    """Whether a caller gave an item, with the evaluation or in a submission before it."""
    return item["channel"] in ("caller_submission", "accepted_submission")


def is_bound(attempt, item):
    """Whether an item carries a signature by a key of the profile that is bound to this attempt.

    The signature of an item that waited was verified at its submission: its key must still be the one of its id.
    """
    if "submission" in item:
        key = attempt.key_of(item)
        return key is not None and key["public_key"] == item["submission"]["public_key"]
    key = attempt.key_of(item)
    return key is not None and is_signed_by(key, item["signature"], statements(attempt, item))


def trust_of(attempt, item):
    for one in attempt.profile["trust"]["providers"]:
        if one["provider_id"] == item.get("provider_id"):
            return one["policy"]
    return attempt.profile["trust"]["default_policy"] if item["channel"] == "provider_acquisition" else "audit"


def anchor_counts(attempt, item):
    return any(
        item.get("provider_id") in (None, wanted["provider_id"]) and _meets(item.get("anchor"), wanted)
        for wanted in attempt.profile["anchors"]
    )


def _meets(anchor, wanted):
    if anchor is None or anchor["anchor_type"] != wanted["anchor_type"]:
        return False
    value = anchor_fields(anchor)
    is_field = lambda found: isinstance(found, str) or values.is_number(found)
    return value is not None and all(name in value and is_field(value[name]) for name in wanted["required_fields"])


def anchor_fields(anchor):
    """The object whose JSON text is the anchor's value, or None."""
    try:
        value = parse(anchor["anchor_value"])
    except Fault:
        return None
    return value if isinstance(value, dict) else None


def admit(attempt, item, value):
    """An acquired item checked against the duties of its provider: (item, value), without its value where one is unmet.

    A value is a typed value, None where the item names none, or the reason why it is absent.
    """
    if "error" in item or "provider_id" not in item:
        return item, value
    trust, provider = trust_of(attempt, item), item["provider_id"]
    keys = [] if trust == "audit" else trust["require_signature"]["keys"]
    if trust != "audit" and (value is None or source_signature(attempt, item, value, keys) == UNSIGNED):
        return _lost(item, "signature_invalid", f'Provider "{provider}" has to sign its results, and this one has no valid signature'), None
    owes = any(wanted["provider_id"] == provider for wanted in attempt.profile["anchors"])
    if owes and not anchor_counts(attempt, item):
        message = f'Provider "{provider}" has to anchor its results, and this one has no anchor that its policy accepts'
        return _lost(item, "anchor_invalid", message), None
    return item, value


def _lost(item, code, message):
    kept = {name: member for name, member in item.items() if name not in ("value_identity", "content_hash", "schema_verdict", "value_type")}
    return {**kept, "error": {"code": code, "message": message}}


SIGNED, UNSIGNED, OPEN = "signed", "unsigned", "open"


def is_absent(value):
    """Whether a value is named and absent."""
    return isinstance(value, str)


def _given(item):
    """The identity and hash of a value in the result of a provider, each None where it is absent."""
    said = item["acquisition"]["provider_result"].get("value") if "acquisition" in item else None
    said = said if isinstance(said, dict) else {}
    name, given = said.get("value_identity"), said.get("content_hash")
    return name if isinstance(name, str) else None, given if is_content_hash(given) else None


def _bare_hashes(item, value):
    """The hashes that a source may have signed, and whether the list is complete."""
    if isinstance(value, dict):
        return [value_hash({"value": form}) for form in values.source_forms(value)], True
    own, (_, given) = [item["content_hash"]] if "content_hash" in item else [], _given(item)
    more = [given] if given is not None and given not in own else []
    if value is None:
        return own + more, True
    if item.get("value_type") not in ("Decimal", "Digest"):
        return own, True
    return own + more, bool(more)


def bare_signature(item, value, key):
    """Whether a key signed the bare hash of an item's value."""
    hashes, complete = _bare_hashes(item, value)
    public_key, data = ed25519.decode_base64(key["public_key"]), ed25519.decode_base64(item["signature"]["signature"])
    if public_key is None or data is None or (len(public_key), len(data)) != (32, 64):
        return UNSIGNED
    if any(ed25519.verify(public_key, canonical_bytes(one), data) for one in hashes):
        return SIGNED
    return UNSIGNED if complete else OPEN


def source_signature(attempt, item, value, keys):
    """Whether an item has a required signature, by the first key with its key id."""
    key = next((key for key in keys if key["key_id"] == item.get("signature", {}).get("key_id")), None)
    if key is None:
        return UNSIGNED
    name = item.get("value_identity", _given(item)[0])
    named = item if name is None else {**item, "value_identity": name}
    return SIGNED if is_signed_by(key, item["signature"], statements(attempt, named)) else bare_signature(item, value, key)


class Qualified:
    def __init__(self, item, value, signer, lane, reason):
        self.item, self.value, self.signer, self.lane, self.reason = item, value, signer, lane, reason


def is_of_clock(item):
    provider = item.get("provider_id")
    return provider == "time" or (provider == "calendar" and item.get("channel") == "local_acquisition")


def _lane(attempt, policy, item, signed):
    if is_of_caller(item):
        return "verified" if policy["authorization"] == "embedding_authority" or signed else "asserted"
    witness = item.get("acquisition", {})
    if witness.get("trigger_time_given") is True and is_of_clock(item):
        return "asserted"
    return witness.get("lane", "verified")


def _minimum_lane(attempt, item):
    permissive = attempt.profile["permissive"]
    if permissive["enabled"] and item.get("provider_id") not in permissive["exempt_providers"]:
        return "asserted"
    return attempt.profile["trust"]["min_lane"]


def _names_condition(attempt, item):
    if is_of_caller(item):
        return True
    binding = attempt.bindings.get(item.get("binding_id"))
    return binding is not None and all(binding[name] == item.get(name) for name in ("condition_id", "channel", "provider_id"))


def _is_fresh(attempt, policy, item, signed):
    submission = item.get("submission", {})
    if attempt.evaluated_at > submission.get("valid_until", attempt.evaluated_at):
        return False
    if policy["freshness"]["freshness"] == "NotRequired":
        return True
    instants = [item["acquisition"]["acquired_at"]] if "acquisition" in item else []
    if "submission" in item:
        instants.append(submission["submitted_at"])
    if signed and "observed_at" in item:
        instants.append(item["observed_at"])
    if not instants or max(instants) > attempt.evaluated_at:
        return False
    return attempt.evaluated_at - min(instants) <= policy["freshness"]["maximum_age_millis"]


def _is_compatible(condition, item, value):
    if value is None:
        return True
    domain = condition["observation_domain"]
    if "schema" in domain and item.get("schema_verdict") != "valid":
        return False
    if is_absent(value):
        # An absent value is in its domain: a caller's would have been rejected, another is recorded as an error.
        return True
    return is_of_caller(item) or values.in_domain(value, domain)


def _reason(attempt, condition, item, value, signed, lane):
    policy = condition["evidence_use_policy"]
    if not _names_condition(attempt, item):
        return "scope"
    if item["channel"] not in policy["allowed_channels"]:
        return "channel"
    if policy["authorization"] == "signature":
        allowed = policy.get("authorized_key_ids")
        if not signed or allowed is not None and "signature" in item and item["signature"]["key_id"] not in allowed:
            return "authorization"
    if lane == "asserted" and _minimum_lane(attempt, item) == "verified":
        return "lane"
    if "error" in item:
        return None
    if not _is_fresh(attempt, policy, item, signed):
        return "not_fresh"
    intact = item.get("hash_recomputes") is not False
    anchored = lambda: anchor_counts(attempt, item)
    integrity = {"canonical_content_only": lambda: True, "anchored_content": anchored, "signed_content": lambda: signed}
    if not intact or not integrity[policy["integrity"]]():
        return "integrity"
    tests = {
        "content_integrity": lambda: intact, "scope": lambda: True, "source_anchor": anchored,
        "schema_compatibility": lambda: _is_compatible(condition, item, value), "source_signature": lambda: signed,
    }
    return None if all(tests[assurance]() for assurance in policy["required_assurance"]) else "assurance"


def _signer(attempt, item):
    """The name of a key: its id, and from gate-kernel-2 on its bytes."""
    return item["signature"]["key_id"] if attempt.procedure == "gate-kernel-1" else attempt.key_of(item)["public_key"]


def qualify(attempt, item, value):
    """One item by itself."""
    condition = attempt.conditions.get(item["condition_id"])
    if condition is None or item["condition_id"] not in attempt.leaves:
        return Qualified(item, value, None, item.get("acquisition", {}).get("lane", "verified"), "scope")
    signed = is_bound(attempt, item)
    lane = _lane(attempt, condition["evidence_use_policy"], item, signed)
    signer = _signer(attempt, item) if signed and "signature" in item else None
    return Qualified(item, value, signer, lane, _reason(attempt, condition, item, value, signed, lane))


def _same(a, b):
    """Whether a later item agrees with an earlier one: by their values where both are present, else by their identities."""
    if not is_absent(a.value) and not is_absent(b.value):
        return a.value is b.value is None if a.value is None or b.value is None else values.same(a.value, b.value)
    if "value_identity" not in a.item or "value_identity" not in b.item:
        return False
    if a.item["value_identity"] == b.item["value_identity"]:
        return True
    # Only values of these types have several equal spellings, so the record counts.
    kinds = {a.item.get("value_type"), b.item.get("value_type")}
    return kinds in ({"Decimal"}, {"Timestamp"}) and b.item.get("reason") == "not_independent"


def _contradicts_submission(items):
    """Whether one key signed an item of the call and a statement that waited which differ."""
    counting = [one for one in items if one.reason is None and "error" not in one.item and one.signer is not None]
    calls = [one for one in counting if one.item["channel"] == "caller_submission"]
    waited = [one for one in counting if "submission" in one.item]
    return any(call.signer == one.signer and not _same(call, one) for call in calls for one in waited)


def _independence(policy, items):
    """Marks items that are not independent; returns whether one source contradicts itself."""
    first, contradiction = {}, False
    if policy["independence"] == "not_required":
        return _contradicts_submission(items)
    for one in items:
        if one.reason is not None or "error" in one.item:
            continue
        if one.signer is not None:
            key = "key", one.signer
        elif is_of_caller(one.item):
            key = ("caller",)
        else:
            by = "provider_id" if policy["independence"] == "distinct_provider" else "binding_id"
            key = by, one.item.get(by)
        if key not in first:
            first[key] = one
        elif _same(first[key], one):
            one.reason = "not_independent"
        else:
            contradiction = True
    return contradiction


def _judge_item(condition, one, compared_at):
    if "error" in one.item:
        return UNKNOWN, "error"
    if one.value is None:
        said, why = values.on_absence(condition["predicate"]), "no_evidence"
    else:
        said, why = values.judge(condition["predicate"], condition["observation_domain"], one.value, compared_at), "type_mismatch"
    return said, why if said == UNKNOWN else None


def _named(one):
    """An item with its identity as value: sufficient where only presence and equality matter."""
    name = one.item.get("value_identity")
    value = one.value if name is None else {"value": name, "value_type": "String"}
    return Qualified(one.item, value, one.signer, one.lane, one.reason)


def judge(condition, items, compared_at):
    """The judgement of a condition: (value, reason), or None where it needs an absent value. Marks dependent items."""
    if not items:
        return UNKNOWN, "no_evidence"
    policy = condition["evidence_use_policy"]
    contradiction = _independence(policy, items)
    counting = [one for one in items if one.reason is None]
    if not counting:
        return UNKNOWN, "unqualified"
    if contradiction:
        return UNKNOWN, "disagreement"
    agree = policy["combination"]["combination"] == "AllQualifyingAgree"
    if agree and any("error" in one.item for one in counting):
        return UNKNOWN, "error"
    if any(is_absent(one.value) and "error" not in one.item for one in counting):
        names = {one.item.get("value_identity") for one in counting}
        is_open = condition["observation_domain"]["domain"] in ("Decimal", "Timestamp") and len(names - {None}) > 1
        presence = condition["predicate"]["predicate"] in ("Exists", "NotExists")
        if agree and is_open or not presence and not (agree and len(names) > 1):
            return None
        counting = [_named(one) for one in counting]
    judged = [_judge_item(condition, one, compared_at) for one in counting]
    said = [value for value, _ in judged]
    unknown = next((one for one in judged if one[0] == UNKNOWN), None)
    combination = policy["combination"]
    if agree:
        return judged[0] if all(_same(counting[0], one) for one in counting) else (UNKNOWN, "disagreement")
    if combination["combination"] == "AnyQualifying":
        return (TRUE, None) if TRUE in said else unknown or (FALSE, None)
    minimum, yes, no = combination["minimum"], said.count(TRUE), said.count(FALSE)
    if yes >= minimum > no:
        return TRUE, None
    if no >= minimum > yes:
        return FALSE, None
    if unknown and yes < minimum:
        return unknown
    if yes and no:
        return UNKNOWN, "disagreement"
    return UNKNOWN, "no_evidence" if len(counting) == len(items) else "unqualified"


def kleene(requirement, truth):
    """A requirement over truths by leaf, in strong Kleene logic."""
    ((form, inner),) = requirement.items()
    if form == "Condition":
        return truth[inner]
    if form == "Not":
        return {TRUE: FALSE, FALSE: TRUE, UNKNOWN: UNKNOWN}[kleene(inner, truth)]
    operands = inner["reqs"] if form == "RequireGroup" else inner
    minimum = {"And": len(operands), "Or": 1}.get(form) or inner["min"]
    said = [kleene(operand, truth) for operand in operands]
    yes, unknown = said.count(TRUE), said.count(UNKNOWN)
    return TRUE if yes >= minimum else FALSE if yes + unknown < minimum else UNKNOWN


CLOCK_BEHIND_RUN = {
    "code": "clock_behind_run",
    "message": "The time authority reads more than 60000 ms before the run's last accepted instant",
}


def is_clock_error(item):
    """Whether a recorded item has the error of a clock behind the run beside what was observed."""
    return item.get("error", {}).get("code") == "clock_behind_run" and ("value_identity" in item or "found_nothing" in item)


def without_clock_error(item):
    return {name: member for name, member in item.items() if name != "error"} if is_clock_error(item) else item


def _observe_clock(attempt, presented):
    """An item of an attempt whose clock is too far behind the run has an error beside its value."""
    if not attempt.clock_behind:
        return presented
    stamped = {
        item["condition_id"] for item, _ in presented
        if is_of_clock(item) and "acquisition" in item and "trigger_time_given" not in item["acquisition"]
        or "valid_until" in item.get("submission", {})
    }
    for condition in attempt.law["conditions"]:
        expected = condition["predicate"].get("expected")
        is_relative = isinstance(expected, dict) and "relative_to" in expected
        if is_relative or condition["evidence_use_policy"]["freshness"]["freshness"] == "MaximumAge":
            stamped.add(condition["condition_id"])
    hit = lambda item: item["condition_id"] in stamped and "error" not in item
    return [({**item, "error": CLOCK_BEHIND_RUN} if hit(item) else item, value) for item, value in presented]


def qualify_all(attempt, presented):
    """Qualifies everything: (items as qualified, judgements by condition)."""
    presented = _observe_clock(attempt, presented)
    items = [qualify(attempt, item, value) for item, value in presented]
    by_condition = {}
    for one in items:
        by_condition.setdefault(one.item["condition_id"], []).append(one)
    return items, {leaf: judge(attempt.conditions[leaf], by_condition.get(leaf, []), attempt.compared_at) for leaf in attempt.leaves}


def evaluate(attempt, presented):
    """Qualifies and judges everything: (items as qualified, outcome, trace)."""
    items, judgements = qualify_all(attempt, presented)
    outcome = kleene(attempt.stage["completion_requirement"], {leaf: said for leaf, (said, _) in judgements.items()})
    trace = []
    for path, leaf in leaf_visits(attempt.stage["completion_requirement"]):
        said, why = judgements[leaf]
        trace.append({"path": path, "condition_id": leaf, "value": said, **({} if why is None else {"reason": why})})
    return items, outcome, trace


def recorded(one):
    """A qualified item as a record holds it."""
    names = ("item_id", "condition_id", "channel", "provider_id", "binding_id", "value_identity", "error", "retention",
             "content_hash", "hash_recomputes", "observed_at", "signature", "anchor", "schema_verdict", "acquisition")
    item = {name: one.item[name] for name in names if name in one.item}
    if "submission" in one.item:
        item["submission_record_id"] = one.item["submission"]["record_id"]
    item.update(qualified=one.reason is None and "error" not in item, lane=one.lane)
    if one.reason is not None:
        item["reason"] = one.reason
    if one.value is not None:
        item["value_type"] = one.value["value_type"]
    elif item.get("error", CLOCK_BEHIND_RUN) is CLOCK_BEHIND_RUN:
        item["found_nothing"] = True
    return item


def value_identity(value):
    return identify("evidence-value", value)


def value_hash(value):
    return content_hash(canonical_bytes(value["value"]))

