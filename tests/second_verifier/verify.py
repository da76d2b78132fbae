"""Verifies a runpack: a second implementation of docs/format/runpack.md, in the standard library of Python 3.11 alone.

    python3 tests/second_verifier/verify.py PACK [--profile P] [--identity I] [--trusted-key BASE64]... [--json]
    python3 tests/second_verifier/verify.py PACK --law IDENTITY [--parameter NAME=VALUE]... [--producer-key BASE64]... [--json]
    python3 tests/second_verifier/verify.py --stream

PACK is a folder or a single file. Exits 1 where a claim of PACK is violated. With --law it decides on the pack, as "Admission"
describes it, and exits with the code of the decision.

With --stream it reads one JSON object a line from standard input, {"manifest": BASE64, "objects": {IDENTITY: BASE64},
"signatures": [BASE64], "profile": P, "runpack_identity": I, "budget": B, "trusted_keys": [BASE64], "producer_keys": [BASE64],
"expected": E}, and answers each on one line: {"line": L, "report": R, "verdict_identity": V}, with "admission" where E is given.
"""

import argparse
import base64
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.setrecursionlimit(10_000)

import admission
import dsse
from canonical_json import canonical
from identities import identify, identify_bytes, sha256
from pack import MANIFEST_BYTES, UNREADABLE, Budget, Contradiction, Exhausted, Pack, Reading, open_pack, read_manifest
from replay import CLAIMS, Findings, Replay

METHODS = dict(zip(CLAIMS, (f"{name}_v6" for name in (
    "manifest_constructor", "manifest_constructor", "object_tree_traversal", "law_construction", "graph_identity",
    "run_allocation", "creation_result", "record_chain", "head_of_chain", "state_fold", "operation_results",
    "stage_open_replay", "attempt_replay", "submission_replay", "intent_replay", "evidence_admission",
    "value_reconstruction", "evidence_qualification", "semantic_replay", "acquisition_witness", "attribution_binding",
    "time_witness", "source_signatures",
))))
REASONS = (
    "manifest_unavailable", "manifest_invalid", "budget_exhausted", "material_not_intact", "law_not_constructed",
    "history_broken", "value_withheld", "value_not_retained", "no_trusted_keys", "no_evidence", "unsigned_evidence",
)
BEYOND = dict(zip(CLAIMS[23:], (
    "needs_current_head", "needs_external_checkpoint", "needs_dispatch_log", "needs_effect_observation",
    "needs_deployment_evidence", "needs_build_provenance",
)))


def verify(pack, profile="integrity_only_v1", runpack_identity=None, budget=None, keys=None, producer_keys=()):
    """The report on a pack, with what it came to."""
    verification = Verification(pack, profile, runpack_identity, budget, keys)
    report = verification.report()
    return examined(verification, report, producer_keys)


def examined(verification, report, producer_keys):
    manifest, replay = verification.manifest, verification.replay
    law = None if manifest is None else manifest["scenario_law_identity"]
    parameters = None if replay is None else replay.parameters()
    verdict = {
        "law": law, "parameters": parameters, "profile": report["profile"], "subject": report["runpack_identity"],
        "statuses": {claim["claim"]: claim["status"]["status"] for claim in report["claims"]},
    }
    return {
        "report": report, "verdict_identity": identify("verdict", verdict), "law_identity": law, "parameters": parameters,
        "law": None if replay is None else replay.law, "run": None if replay is None else replay.result(),
        "producers": verification.signers(producer_keys),
    }


class Verification:
    def __init__(self, pack, profile, runpack_identity, budget, keys):
        self.pack, self.profile, self.wanted, self.limits, self.keys = pack, profile, runpack_identity, budget, keys
        self.budget, self.findings, self.assumptions = Budget(budget), Findings(), set()
        self.identity = self.manifest = self.replay = None
        self.replays = profile == "full_replay_v1"

    def run(self):
        try:
            self.budget.take(hashing_workers=1)
            self.read_manifest()
        except Exhausted:
            for claim in CLAIMS[:23]:
                self.findings.leave_open(claim, "budget_exhausted")
            return
        if self.manifest is None:
            self.findings.leave_open(CLAIMS[2], "manifest_invalid")
            self.leave_open("material_not_intact")
            return
        replay = Replay(self.manifest, self.keys, self.budget) if self.replays else None
        try:
            Reading(self.pack, self.budget, self.replays).tree(self.manifest, replay)
        except Contradiction as contradiction:
            self.findings.violate(CLAIMS[2], str(contradiction))
            self.leave_open("material_not_intact")
            return
        except Exhausted:
            self.findings.leave_open(CLAIMS[2], "budget_exhausted")
            self.leave_open("budget_exhausted")
            return
        if replay is not None:
            self.replay = replay
            found = replay.finished()
            self.assumptions = replay.assumptions
            self.findings.violated.update(found.violated)
            self.findings.lacking.update(found.lacking)

    def leave_open(self, reason):
        for claim in CLAIMS[3:23]:
            self.findings.leave_open(claim, reason)

    def read_manifest(self):
        data = self.pack.manifest
        if data is not None and data is not UNREADABLE and len(data) <= MANIFEST_BYTES:
            self.budget.take(bytes_read=len(data), canonical_work_bytes=len(data))
            self.identity = identify_bytes("runpack", data)
            if self.wanted not in (None, self.identity):
                self.findings.violate(CLAIMS[1], "identity_mismatch")
        else:
            self.findings.leave_open(CLAIMS[1], "manifest_unavailable")
        self.manifest, fault = read_manifest(data)
        self.findings.violate(CLAIMS[0], fault)

    def status(self, claim):
        if not self.replays and claim not in CLAIMS[:3]:
            return {"status": "not_requested"}
        if claim in BEYOND:
            return {"reason": BEYOND[claim], "status": "unavailable"}
        if claim in self.findings.violated:
            return {"method": METHODS[claim], "reason": self.findings.violated[claim], "status": "violated"}
        lacking = self.findings.lacking.get(claim)
        if lacking:
            return {"reason": min(lacking, key=REASONS.index), "status": "unavailable"}
        return {"method": METHODS[claim], "status": "satisfied"}

    def signers(self, keys):
        """The key ids of those keys under which a signature beside the pack verifies."""
        if self.manifest is None:
            return []
        statement = dsse.statement(self.manifest, self.pack.manifest, self.identity)
        return [
            sha256(key) for key in keys
            if any(dsse.verifies(envelope, key, statement) for envelope in self.pack.signatures[:64])
        ]

    def report(self):
        self.run()
        request = {"budget": self.limits, "profile": self.profile, "runpack_identity": self.wanted}
        if self.keys is not None:
            request["trusted_keys"] = sorted(map(sha256, self.keys))
        signatures = [f"runpack_signature:{name}" for name in self.signers(self.keys or [])]
        report = {
            "assumptions": sorted(self.assumptions), "budget": self.budget.used,
            "claims": [{"claim": claim, "status": self.status(claim)} for claim in CLAIMS],
            "material_resolution": "supplied_offline_material_v1", "profile": self.profile,
            "request_identity": identify("request", request), "runpack_identity": self.identity,
            "trusted_bases": sorted({"sha256", *(["ed25519"] if self.replays else []), *signatures}),
            "verifier_procedure": "gate-verifier-2",
        }
        return {**report, "report_identity": identify("report", report)}


def _from_stream(line):
    asked = json.loads(line)
    decode = base64.b64decode
    keys = asked.get("trusted_keys")
    pack = Pack(
        None if asked["manifest"] is None else decode(asked["manifest"]),
        {name: decode(data) for name, data in asked["objects"].items()}, map(decode, asked.get("signatures", [])),
    )
    examined = verify(
        pack, asked["profile"], asked.get("runpack_identity"), asked.get("budget"), None if keys is None else list(map(decode, keys)),
        list(map(decode, asked.get("producer_keys", []))),
    )
    expected = asked.get("expected")
    return answer(examined, None if expected is None else {**expected, "needs_producer": asked.get("producer_keys", []) != []})


def answer(examined, expected):
    """What is answered of a pack: its report, verdict and result line, and the decision where one is asked for."""
    common = {
        "line": admission.result_line(examined), "report": examined["report"], "verdict_identity": examined["verdict_identity"],
    }
    return common if expected is None else {**common, "admission": admission.decide(examined, expected)}


def text_of(found, has_expectation):
    """An answer for readers."""
    decision = found.get("admission")
    yield found["line"] if decision is None else decision["line"]
    if decision is not None:
        yield from (f"  {code}" for code in decision["reasons"])
        yield from (
            f"{admission.name_text(one['name'])} {one['fingerprint']} ({one['named_by']}) signed {one['condition_id']}"
            for one in decision["signers"]
        )
    if not has_expectation:
        yield "No expectation was given: a runpack of any law, run and producer verifies."
    for one in found["report"]["claims"]:
        status = one["status"]
        yield f"  {one['claim']}  {status['status']}  {status.get('reason', '')}".rstrip()
    yield f"verdict {found['verdict_identity']}"
    yield f"report {found['report']['report_identity']}"


def pairs(parser, given, flag="--parameter"):
    named = {}
    for pair in given or []:
        name, has_value, value = pair.partition("=")
        if not has_value or not name or name in named:
            parser.error(f"{flag} {pair}: expected NAME=VALUE, each name once")
        named[name] = value
    return named


def expectation(parser, asked):
    """What is expected of a pack, or None where no law is named."""
    if asked.law is None:
        return None
    return {
        "law": asked.law, "parameters": pairs(parser, asked.parameter), "any_parameters": asked.any_parameter or [],
        "stage": asked.stage, "not_before": asked.not_before, "origin_unchecked": asked.origin_unchecked,
        "keys": pairs(parser, asked.key, "--key"), "providers": pairs(parser, asked.provider, "--provider"),
        "accept_procedures": asked.accept_procedure or [], "signers_unchecked": asked.signers_unchecked,
        "allow_asserted": asked.allow_asserted, "needs_producer": asked.producer_key != [],
    }


def read_arguments():
    parser = argparse.ArgumentParser(description="Verifies a runpack, and with --law decides whether to admit it")
    parser.add_argument("pack", nargs="?")
    parser.add_argument("--profile", default="full_replay_v1", choices=["integrity_only_v1", "full_replay_v1"])
    parser.add_argument("--identity")
    parser.add_argument("--trusted-key", action="append", type=base64.b64decode)
    parser.add_argument("--law", help="the identity of the law that the run must have followed")
    parser.add_argument("--parameter", action="append", metavar="NAME=VALUE")
    parser.add_argument("--any-parameter", action="append", metavar="NAME")
    parser.add_argument("--stage")
    parser.add_argument("--producer-key", action="append", type=base64.b64decode, default=[])
    parser.add_argument("--key", action="append", metavar="NAME=KEY", help="whose key it is, in base64")
    parser.add_argument("--provider", action="append", metavar="NAME=IDENTITY")
    parser.add_argument("--accept-procedure", action="append", metavar="NAME")
    parser.add_argument("--signers-unchecked", action="store_true")
    parser.add_argument("--not-before", type=int, metavar="MILLISECONDS")
    parser.add_argument("--origin-unchecked", action="store_true")
    parser.add_argument("--allow-asserted", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stream", action="store_true")
    asked = parser.parse_args()
    if asked.pack is None and not asked.stream:
        parser.error("PACK is missing")
    return asked, expectation(parser, asked)


def main():
    asked, expected = read_arguments()
    if asked.stream:
        for line in sys.stdin:
            print(canonical(_from_stream(line)), flush=True)
        return 0
    try:
        pack = open_pack(asked.pack)
    except (OSError, ValueError) as error:
        return f"Cannot read {asked.pack}: {error}"
    profile = asked.profile if expected is None else "full_replay_v1"
    examined = verify(pack, profile, asked.identity, None, asked.trusted_key, asked.producer_key)
    found = answer(examined, expected)
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(text_of(found, expected is not None or asked.identity is not None)))
    if expected is not None:
        return found["admission"]["exit_code"]
    return any(claim["status"]["status"] == "violated" for claim in found["report"]["claims"])


if __name__ == "__main__":
    sys.exit(main())
