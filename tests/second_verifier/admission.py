"""What a verification came to, and whether it is enough: docs/format/runpack.md, "Result line" and "Admission"."""

import base64
import hashlib
import re

import values
from canonical_json import canonical
from replay import CLAIMS

SETTLED = set(CLAIMS[:22])
EXIT_CODES = {
    "parameter_undeclared": 2, "parameter_invalid": 2, "parameter_missing": 2, "stage_undeclared": 2,
    "violated": 6, "law_mismatch": 6, "parameter_mismatch": 6, "signer_differs": 6, "provider_differs": 6, "not_complete": 3,
    "completed_before": 3, "material_unknown": 4, "procedure_superseded": 4, "signer_unknown": 4, "provider_unknown": 4,
    "producer_unknown": 4, "evidence_asserted": 4, "origin_unknown": 4,
}
_PRECEDENCE = list(EXIT_CODES)
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+\Z")
_INTEGER = re.compile(r"(?:0|-?[1-9][0-9]{0,15})\Z")


def derivation(report):
    """Whether every decision was derived again: derived, violated, unavailable or not_replayed."""
    statuses = {one["claim"]: one["status"]["status"] for one in report["claims"]}
    if "violated" in statuses.values():
        return "violated"
    if report["profile"] != "full_replay_v1":
        return "not_replayed"
    return "derived" if all(statuses[claim] == "satisfied" for claim in SETTLED) else "unavailable"


def _count(report, wanted):
    count = sum(
        one["status"]["status"] == wanted and (wanted == "violated" or one["claim"] in SETTLED) for one in report["claims"]
    )
    return f"{count} {'claim' if count == 1 else 'claims'} {wanted}"


def _list_text(texts):
    more = len(texts) - 16
    return ", ".join(texts[:16]) + (f" and {more} more" if more > 0 else "")


def name_text(name):
    return name if _PLAIN.match(name) else canonical(name)


def _run_text(run):
    def names(classification):
        return [canonical(stage["stage_id"]) for stage in run["stages"] if stage["classification"] == classification]

    complete, opened = names("complete"), names("open_incomplete")
    if run["status"] == "complete":
        return "Complete"
    if complete:
        return f"{'Stage' if len(complete) == 1 else 'Stages'} {_list_text(complete)} complete, run open"
    if opened:
        return f"Open, {'stage' if len(opened) == 1 else 'stages'} {_list_text(opened)} opened, no stage complete"
    return "Open, no stage opened"


def _result_text(report, run):
    found = derivation(report)
    if found == "violated":
        return f"No result: {_count(report, 'violated')}"
    if found == "not_replayed":
        return "No result: the records were not replayed"
    if run is None:
        return f"No result: {_count(report, 'unavailable')}"
    if found == "derived":
        return _run_text(run)
    return f"{_run_text(run)}, as recorded and not derived: {_count(report, 'unavailable')}"


def result_line(examined):
    """What a run came to, under which law, with which parameters."""
    named = examined["parameters"]
    if named is None:
        shown = "parameters unknown"
    elif not named:
        shown = "no parameters"
    else:
        texts = [(name_text(one["parameter_id"]), canonical(one["value"]["value"])) for one in named]
        cut = [f"{name} = {text if len(text) <= 100 else text[:100] + '…'}" for name, text in texts]
        shown = f"parameters {_list_text(cut)}"
    return f"{_result_text(examined['report'], examined['run'])}; law {examined['law_identity'] or 'unknown'}; {shown}"


def value_of_text(text, domain):
    """The typed value of a text in a domain, or None."""
    kind = domain["domain"]
    if kind == "Boolean":
        value = {"true": True, "false": False}.get(text)
    elif kind == "Integer":
        value = int(text) if _INTEGER.match(text) else None
    else:
        value = None if kind == "Json" else text
    typed = {"value": value, "value_type": kind}
    fits = value is not None and values.is_of_type(value, kind) and values.in_domain(typed, domain)
    return typed if fits else None


def _faults(examined, expected):
    """What is wrong with the expectation itself, as far as its law is known."""
    law = examined["law"] if examined["law_identity"] == expected["law"] else None
    if law is None:
        return
    domains = {one["parameter_id"]: one["domain"] for one in law.get("parameters", [])}
    given, waived = expected["parameters"], expected["any_parameters"]
    yield from ("parameter_undeclared" for name in [*given, *waived] if name not in domains)
    yield from ("parameter_invalid" for name in given if name in domains and value_of_text(given[name], domains[name]) is None)
    yield from ("parameter_missing" for name in domains if name not in given and name not in waived)
    if expected["stage"] is not None and expected["stage"] not in [stage["stage_id"] for stage in law["stages"]]:
        yield "stage_undeclared"


def _contradictions(examined, expected):
    """What of the pack is wrong, or is of another law or other parameters."""
    if derivation(examined["report"]) == "violated":
        yield "violated"
    if examined["law_identity"] not in (None, expected["law"]):
        yield "law_mismatch"
    law, found = examined["law"], examined["parameters"]
    if law is None or found is None or examined["law_identity"] != expected["law"]:
        return
    held = {one["parameter_id"]: one["value"] for one in found}
    for one in law.get("parameters", []):
        text = expected["parameters"].get(one["parameter_id"])
        wanted = None if text is None else value_of_text(text, one["domain"])
        if wanted is not None and not (one["parameter_id"] in held and values.same(wanted, held[one["parameter_id"]])):
            yield "parameter_mismatch"


def _gaps(examined, expected):
    """What the pack does not show."""
    report, run = examined["report"], examined["run"]
    found = derivation(report)
    if found == "violated":
        return
    if found != "derived" or run is None:
        yield "material_unknown"
    else:
        if expected["stage"] is None:
            complete, instant = run["status"] == "complete", run["completed_at"]
        else:
            stage = next((one for one in run["stages"] if one["stage_id"] == expected["stage"]), {})
            complete, instant = stage.get("classification") == "complete", stage.get("completed_at")
        if not complete or instant is None:
            yield "not_complete"
        elif expected["not_before"] is not None and instant < expected["not_before"]:
            yield "completed_before"
    if run is not None and run["is_permissive"] and not expected["allow_asserted"]:
        yield "evidence_asserted"
    if not examined["producers"] and expected["needs_producer"]:
        yield "producer_unknown"
    is_known = examined["producers"] or _is_signed_by_known(examined, expected)
    if not is_known and not expected["origin_unchecked"]:
        yield "origin_unknown"


def _pins(law):
    policies = [] if law is None else [condition["evidence_use_policy"] for condition in law["conditions"]]
    return {name: key for policy in policies for name, key in policy.get("authorized_public_keys", {}).items()}


def _is_signed_by_known(examined, expected):
    """Whether signatures alone show the origin: known keys signed every item that counted."""
    run = examined["run"]
    # A statement without the head is good for a run of the same id with other parameters.
    if run is None or expected["signers_unchecked"] or not (examined["parameters"] == [] or run["is_head_signed"]):
        return False
    known = {*_pins(examined["law"]).values(), *expected["keys"].values()}
    return run["unsigned"] == 0 and run["signatures"] != [] and all(one["public_key"] in known for one in run["signatures"])


def _named_by(one, expected, pins):
    given = pins.get(one["key_id"]), expected["keys"].get(one["key_id"])
    if any(key is not None and key != one["public_key"] for key in given):
        return "another key"
    return "law" if given[0] is not None else "reader" if given[1] is not None else "pack"


def _weaknesses(procedure, law):
    """What of a superseded procedure touches a law."""
    if procedure != "gate-kernel-1":
        return []
    policies = [condition["evidence_use_policy"] for condition in law["conditions"]]
    asked = {binding["provider_id"] for binding in law["acquisition_bindings"]}
    return [name for name, touches in {
        "quorum": any(policy["combination"].get("minimum", 1) > 1 for policy in policies),
        "clock": "time" in asked or any(policy["freshness"]["freshness"] == "MaximumAge" for policy in policies),
        "redirects": "rest" in asked,
        "overrides": "env" in asked,
    }.items() if touches]


def _source_reasons(examined, expected):
    """What does not hold about those who signed, the sources, and the rules of judging."""
    run, law = examined["run"], examined["law"]
    if run is None or derivation(examined["report"]) == "violated":
        return
    pins, seen = _pins(law), set()
    for one in run["signatures"]:
        by = _named_by(one, expected, pins)
        unknown = by == "pack" and one["is_named"] and not expected["signers_unchecked"]
        code = "signer_differs" if by == "another key" else "signer_unknown" if unknown else None
        if code is not None and (code, one["key_id"]) not in seen:
            seen.add((code, one["key_id"]))
            yield code
    for name, version in expected["providers"].items():
        if name not in run["providers"]:
            yield "provider_unknown"
        elif run["providers"][name] != version:
            yield "provider_differs"
    for procedure in run["procedures"]:
        if law is not None and procedure not in expected["accept_procedures"] and _weaknesses(procedure, law):
            yield "procedure_superseded"


def _fingerprint(public_key):
    digest = hashlib.sha256(base64.b64decode(public_key)).digest()
    return f"SHA256:{base64.b64encode(digest).decode('ascii').rstrip('=')}"


def _signers(examined, expected):
    pins, run = _pins(examined["law"]), examined["run"]
    for one in [] if run is None else run["signatures"]:
        by = _named_by(one, expected, pins)
        yield {
            "name": one["key_id"], "fingerprint": _fingerprint(one["public_key"]),
            "named_by": "pack" if by == "another key" else by,
            **{member: one[member] for member in ("condition_id", "value", "observed_at")},
        }


def decide(examined, expected):
    """The decision on a pack that was examined under full_replay_v1."""
    found = (_faults, _contradictions, _gaps, _source_reasons)
    reasons = sorted((code for test in found for code in test(examined, expected)), key=_PRECEDENCE.index)
    waived = [
        *(["origin"] if expected["origin_unchecked"] else []),
        *(["signers"] if expected["signers_unchecked"] else []),
        *(f"procedure {name}" for name in expected["accept_procedures"]),
        *(["asserted evidence"] if expected["allow_asserted"] else []),
        *(f"parameter {name_text(name)}" for name in expected["any_parameters"]),
    ]
    head = f"Not admitted ({reasons[0]})" if reasons else "Admitted"
    parts = [f"{head}: {result_line(examined)}"]
    if waived:
        parts.append(f"waived: {', '.join(waived)}")
    if examined["report"]["assumptions"]:
        parts.append(f"assumed: {', '.join(examined['report']['assumptions'])}")
    return {
        "exit_code": EXIT_CODES[reasons[0]] if reasons else 0, "line": "; ".join(parts), "reasons": reasons, "waived": waived,
        "signers": list(_signers(examined, expected)),
        "providers": [
            {"provider_id": name, "version_identity": version}
            for name, version in ({} if examined["run"] is None else examined["run"]["providers"]).items() if version is not None
        ],
    }
