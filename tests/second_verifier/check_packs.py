"""Runs the vectors of tests/vectors/runpack/packs through the verifier beside this file, as their README.md says.

Prints a count; exits 1 where a report is another one. With names of files as arguments it runs those alone.
"""

import base64
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.setrecursionlimit(10_000)

import evidence
from canonical_json import canonical
from identities import identify
from pack import UNREADABLE, Pack, open_archive
from verify import answer as verify_answer
from verify import verify

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors", "runpack", "packs")
FILES = "codes", "texts", "evidence", "parameters", "typed", "calendar", "waiting", "people", "segments", "archives", "envelopes", "limits", "admissions"


def load(name):
    with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def assembled(pieces, base):
    """The bytes of a list of pieces."""
    data = bytearray()
    for piece in pieces:
        if isinstance(piece, str):
            data += piece.encode("utf-8")
        elif isinstance(piece, int):
            data += bytes(piece)
        elif isinstance(piece, dict):
            data += base64.b64decode(piece["base64"])
        else:
            name, start, end = piece
            data += (data if name == "itself" else base[name])[start:end]
    return bytes(data)


def decoded(text, bases):
    """A pack as (manifest or None, objects by identity)."""
    manifest, objects = bases.get(text.get("like"), (None, {}))
    base = sources(manifest, objects)
    objects = {name: data for name, data in objects.items() if name not in text.get("without", [])}
    for name, pieces in text.get("objects", {}).items():
        objects[name] = assembled(pieces, base)
    if "manifest" in text:
        manifest = None if text["manifest"] is None else assembled(text["manifest"], base)
    return manifest, objects


def sources(manifest, objects):
    return {"manifest": manifest, **{name[:8]: data for name, data in objects.items()}}


def packed(case, bases):
    """The pack of a case, or None where it cannot be opened."""
    like = case.get("like") if "archive" in case else case["pack"].get("like")
    base = sources(*bases.get(like, (None, {})))
    if "archive" in case:
        try:
            return open_archive(assembled(case["archive"], base))
        except ValueError:
            return None
    manifest, objects = decoded(case["pack"], bases)
    strays = list(case.get("strays", []))
    for name in case.get("unreadable", []):
        if name == "files":
            strays = None
        elif name == "manifest.json":
            manifest = UNREADABLE
        else:
            objects[name.rsplit("/", 1)[1]] = UNREADABLE
    return Pack(manifest, objects, [assembled(pieces, base) for pieces in case.get("signatures", [])], strays)


def examined(case, bases):
    pack, asked = packed(case, bases), case["request"]
    if pack is None:
        return None
    keys = asked["trusted_keys"]
    keys = None if keys is None else [base64.b64decode(key) for key in keys]
    producers = [base64.b64decode(key) for key in case.get("producer_keys", [])]
    return verify(pack, asked["profile"], asked["runpack_identity"], asked["budget"], keys, producers)


def answer(found, expected):
    """What a vector says of a pack; nothing where there is nothing to verify."""
    if found is None:
        return {"line": None, "report": None, "verdict_identity": None}
    return verify_answer(found, expected)


def differences(case, found):
    """The members of two answers that differ, claim by claim."""
    wanted, report = case["report"], found["report"]
    others = [(name, case[name], found[name]) for name in found if name != "report" and case[name] != found[name]]
    if wanted is None or report is None:
        return [(wanted, report), *others]
    statuses = zip(wanted["claims"], report["claims"])
    claims = [(a["claim"], a["status"], b["status"]) for a, b in statuses if a != b]
    return claims + others + [
        (name, wanted[name], report[name]) for name in wanted if name != "claims" and wanted[name] != report[name]
    ]


def judged_anew(case, laws, profiles):
    """The result of an attempt: (verdicts by item, truth value, reason)."""
    law, before = laws[case["law"]], case["before"]
    stage = next(stage for stage in law["stages"] if stage["stage_id"] == "s")
    accepted_at = max(case["reading_unix_millis"], before["accepted_audit_instant"])
    record = {
        "procedure": case["procedure"], "acceptance_time": {"accepted_audit_instant": accepted_at},
        "body": {"time_source": {"reading_unix_millis": case["reading_unix_millis"]}},
    }
    attempt = evidence.Attempt(law, identify("scenario-law", law), profiles[case["profile"]], stage, before, record)
    presented = [({name: held for name, held in item.items() if name != "value"}, item["value"]) for item in case["items"]]
    callers = [one for one in presented if one[0]["channel"] == "caller_submission"]
    acquired = sorted((one for one in presented if one not in callers), key=lambda one: one[0]["item_id"])
    admitted = [evidence.admit(attempt, item, value) for item, value in acquired]
    items, _, trace = evidence.evaluate(attempt, callers + admitted)
    names = "item_id", "lane", "qualified", "reason", "error"
    verdicts = [{name: held for name, held in evidence.recorded(one).items() if name in names} for one in items]
    return verdicts, trace[0]["value"], trace[0].get("reason")


def judgements():
    """Runs judgements.json: (cases, cases that differ)."""
    vectors, failed = load("judgements"), 0
    for case in vectors["cases"]:
        found = judged_anew(case, vectors["laws"], vectors["profiles"])
        wanted = case["judged"], case["value"], case["reason"]
        if canonical(list(found)) != canonical(list(wanted)):
            failed += 1
            print(f"judgements, {case['name']}: wanted {wanted}, found {found}", file=sys.stderr)
    return len(vectors["cases"]), failed


def main():
    bases = {}
    for text in load("bases")["packs"]:
        bases[text["name"]] = decoded(text, bases)
    checked, failed = 0, 0
    for name in sys.argv[1:] or (*FILES, "judgements"):
        if name == "judgements":
            cases, differ = judgements()
            checked, failed = checked + cases, failed + differ
            continue
        for case in load(name)["cases"]:
            checked += 1
            expected = case.get("expected")
            if expected is not None:
                expected = {**expected, "needs_producer": case["producer_keys"] != []}
            found = answer(examined(case, bases), expected)
            if canonical(found) != canonical({member: case[member] for member in found}):
                failed += 1
                print(f"{name}, {case['name']}: {differences(case, found)}", file=sys.stderr)
    print(f"{checked - failed} of {checked} vectors hold")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
