"""Decides claims about small laws by trying everything. Reads lines `{"law", "claim"}`, and writes `proved` or `not_proved` for each."""

import itertools
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import values
from evidence import kleene

NOW = 1767225600000
SAMPLES = {
    "Integer": [0, 1, 2], "Boolean": [True, False], "Digest": ["a" * 64, "b" * 64],
    "Timestamp": ["2025-12-31T23:58:00.000Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:02:00.000Z"],
}
TRUE, FALSE, UNKNOWN = "true", "false", "unknown"


def bound(predicate, given):
    """A predicate with the values of parameters in it."""
    put = lambda one: given[one["parameter"]] if "parameter" in one else one
    expected = predicate.get("expected")
    if expected is None:
        return predicate
    return {**predicate, "expected": [put(one) for one in expected] if isinstance(expected, list) else put(expected)}


def givers(policy, bindings, named, barred):
    """The items that parties who are not barred can give: callers and keys, and sources."""
    channels, combination = policy["allowed_channels"], policy["combination"]
    minimum = combination.get("minimum", 1)
    signed = policy["authorization"] == "signature" or policy["integrity"] == "signed_content"
    aged = policy["freshness"]["freshness"] == "MaximumAge"
    people = []
    if "caller_submission" in channels and not signed and not aged and not barred(("caller",)):
        people.append(("caller",))
    if "caller_submission" in channels or "accepted_submission" in channels:
        if signed or aged or minimum > 1:
            keys = policy.get("authorized_key_ids", named + ["*%d" % at for at in range(minimum)])
            people += [("key", key) for key in keys if not barred(("key", key))]
    sources = [one for one in bindings if one["channel"] in channels]
    return people, sources, [one for one in sources if not barred(("provider", one["provider_id"]))]


def can_be(condition, bindings, named, given, barred, truth):
    """Whether parties who are not barred make a condition true, or false."""
    policy, domain = condition["evidence_use_policy"], condition["observation_domain"]
    predicate = bound(condition["predicate"], given)
    people, sources, able = givers(policy, bindings, named, barred)
    typed = [{"value": value, "value_type": domain["domain"]} for value in SAMPLES[domain["domain"]]]
    by_value = any(values.in_domain(one, domain) and values.judge(predicate, domain, one, NOW) == truth for one in typed)
    by_nothing = values.on_absence(predicate) == truth

    def suffices(people):
        form = policy["combination"]["combination"]
        if form == "Quorum":
            minimum, independence = policy["combination"]["minimum"], policy["independence"]
            if independence == "not_required" and "caller_submission" in policy["allowed_channels"] and people:
                return True
            counted = {one["provider_id"] for one in able} if independence == "distinct_provider" else able
            return len(people) + len(counted) >= minimum
        if policy.get("requires_all_bindings") and len(able) < len(sources) and not (form == "AnyQualifying" and truth == TRUE):
            return False
        return bool(people or able)

    return by_value and suffices(people) or by_nothing and suffices([])


def literals(needs, sign=True):
    """The atoms of a claim with their signs."""
    ((form, inner),) = needs.items()
    if form == "Condition":
        return {(inner, sign)}
    if form == "Not":
        return literals(inner, not sign)
    return set().union(*(literals(one, sign) for one in (inner["reqs"] if form == "RequireGroup" else inner)))


def holds(needs, seen, sign=True):
    ((form, inner),) = needs.items()
    if form == "Condition":
        return (inner, sign) in seen
    if form == "Not":
        return holds(inner, seen, not sign)
    operands = inner["reqs"] if form == "RequireGroup" else inner
    minimum = {"And": len(operands), "Or": 1}.get(form) or inner["min"]
    least = minimum if sign else len(operands) - minimum + 1
    return sum(holds(one, seen, sign) for one in operands) >= least


def completes(law, stage, given, truths, barred):
    """Whether an attempt completes a stage, where `truths` holds the literals that must not be."""
    named = sorted({key for one in law["conditions"] for key in one["evidence_use_policy"].get("authorized_key_ids", [])})
    wanted = {name for name, _ in literals(stage["completion_requirement"])}
    conditions = [one for one in law["conditions"] if one["condition_id"] in wanted]
    options = []
    for one in conditions:
        name = one["condition_id"]
        bindings = [binding for binding in law["acquisition_bindings"] if binding["condition_id"] == name]
        options.append([UNKNOWN] + [truth for truth in (TRUE, FALSE)
                                    if (name, truth) not in truths and can_be(one, bindings, named, given, barred, truth)])
    names = [one["condition_id"] for one in conditions]
    return any(kleene(stage["completion_requirement"], dict(zip(names, chosen))) == TRUE for chosen in itertools.product(*options))


def is_refuted(law, claim, given, refused):
    """Whether the run, or the stage of the claim, can be completed while no refused literal comes about."""
    atoms = [(claim["atoms"][name], sign) for name, sign in refused]
    truths = {(atom["condition"], TRUE if sign else FALSE) for atom, sign in atoms if "condition" in atom}
    parties = {("caller",) if "caller" in atom else tuple(*atom.items()) for atom, _ in atoms if not {"condition", "stage"} & set(atom)}
    closed = {atom["stage"] for atom, _ in atoms if "stage" in atom}
    target = claim.get("stage")
    free = target is not None
    able = {one["stage_id"] for one in law["stages"] if one["stage_id"] not in closed
            and completes(law, one, given, set() if free else truths, (lambda _: False) if free else parties.__contains__)}
    own = free and completes(law, next(one for one in law["stages"] if one["stage_id"] == target), given, truths, parties.__contains__)
    done_in = lambda needs, done: kleene(needs, {one["stage_id"]: TRUE if one["stage_id"] in done else FALSE for one in law["stages"]}) == TRUE
    pending, seen = [frozenset()], set()
    while pending:
        done = pending.pop()
        if done in seen:
            continue
        seen.add(done)
        complete = done_in(law["completion_requirement"], done)
        if complete and target is None:
            return True
        if complete:
            continue
        for one in law["stages"]:
            name, before = one["stage_id"], one["prerequisite"]
            if name in done or before["kind"] != "root" and not done_in(before["requirement"], done):
                continue
            if name == target and own:
                return True
            if name in able:
                pending.append(done | {name})
    return False


def proved(law, claim):
    parameters = law.get("parameters", [])
    choices = [dict(zip([one["parameter_id"] for one in parameters], chosen)) for chosen in itertools.product(
        *([{"value": value, "value_type": "Integer"} for value in range(one["domain"]["maximum"] + 1)] for one in parameters))]
    every = sorted(literals(claim["needs"]))
    for size in range(len(every) + 1):
        for refused in itertools.combinations(every, size):
            if not holds(claim["needs"], set(every) - set(refused)):
                if any(is_refuted(law, claim, given, refused) for given in choices):
                    return False
    return True


for line in sys.stdin:
    asked = json.loads(line)
    print("proved" if proved(asked["law"], asked["claim"]) else "not_proved", flush=True)
