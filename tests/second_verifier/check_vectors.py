"""Runs the vectors of tests/vectors through the modules beside this file. Prints a count; exits 1 at the first failure."""

import hashlib
import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import canonical_json as cj
import ed25519
import identities

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")
checked = 0


def load(name):
    with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
        return json.load(file)


def check(holds, what):
    global checked
    checked += 1
    if not holds:
        sys.exit(f"Vector fails: {what}")


def fault_of(text):
    try:
        cj._Reader(text, cj.DEPTH).document()
    except cj.Fault as fault:
        return {"code": fault.code, "path": fault.path, "offset": fault.offset}
    return None


def scanner():
    vectors = load("canonical/scanner.json")
    for case in vectors["accepted"]:
        check(fault_of(cj.utf16(case["text"])) is None, case["name"])
    for case in vectors["rejected"] + vectors["rejected_utf16"]:
        text = "".join(map(chr, case["code_units"])) if "code_units" in case else cj.utf16(case["text"])
        wanted = {name: case[name] for name in ("code", "path", "offset")}
        check(fault_of(text) == wanted, f"{case['name']}: wanted {wanted}, got {fault_of(text)}")
    for case in vectors["not_utf8"]:
        try:
            cj.parse_bytes(bytes.fromhex(case["bytes"]))
            check(False, case["name"])
        except cj.Fault:
            check(True, case["name"])


def canonicalization():
    for case in load("canonical/canonicalization.json")["vectors"]:
        # Some of these numbers are not exact, so the scanner rejects them; their canonical text is still defined.
        text = cj.canonical(json.loads(case["input"]))
        check(text == case["canonical"], case["name"])
        check(identities.sha256(text.encode()) == case["sha256"], case["name"])
    order = load("canonical/order.json")
    check(sorted(order["code_points"]) == order["code_points"], "code points")
    check(sorted(order["code_points"], key=cj._utf16_order) == order["utf16_code_units"], "code units")


def double(bits):
    return struct.unpack(">d", int(bits, 16).to_bytes(8, "big"))[0]


def numbers():
    vectors = load("canonical/numbers.json")
    for sample in vectors["samples"]:
        try:
            text = cj.number_text(double(sample["bits"]))
        except ValueError:
            text = None
        check(text == sample["canonical"], sample["bits"])
    sequence = vectors["sequence"]
    running, lines = hashlib.sha256(), 0
    # The longer checkpoints take minutes in this language and cover nothing that the shorter ones miss.
    checkpoints = {c["lines"]: c["sha256"] for c in sequence["checkpoints"] if c["lines"] <= 10_000}
    for bits in sequence_bits(sequence):
        running.update(f"{bits:x},{cj.number_text(double(f'{bits:x}'))}\n".encode())
        lines += 1
        if lines in checkpoints:
            check(running.hexdigest() == checkpoints[lines], f"{lines} numbers")
            if lines == max(checkpoints):
                return


def sequence_bits(sequence):
    for bits in sequence["static_bits"]:
        yield int(bits, 16)
    first = int(sequence["serial_first_bits"], 16)
    for index in range(sequence["serial_count"]):
        yield first + index
    block = bytes(32)
    while True:
        block = hashlib.sha256(block).digest()
        for bits in struct.unpack("<4Q", block):
            number = double(f"{bits:x}")
            if number == number and abs(number) != float("inf") and number != 0:
                yield bits


def identity_vectors():
    vectors = load("canonical/identities.json")
    for case in vectors["values"]:
        check(identities.identify(case["kind"], cj.parse(case["input"])) == case["identity"], case["identity"])
    for case in vectors["bytes"]:
        data = bytes.fromhex(case["bytes"])
        check(identities.identify_bytes(case["kind"], data) == case["identity"], case["identity"])
    for case in vectors["operation_identities"]:
        check(identities.is_operation_identity(case["text"]) == case["valid"], case["text"])
    for case in load("runpack/merkle.json")["roots"]:
        leaves = [str(number).encode() for number in range(case["size"])]
        check(identities.merkle_root(leaves) == case["root"], f"root of {case['size']}")


def signatures():
    vectors = load("run/evidence_statements.json")
    keys = {key["key_id"]: ed25519.decode_base64(key["public_key"]) for key in vectors["keys"]}
    for case in vectors["statements"]:
        text = cj.canonical(case["statement"])
        check(text == case["canonical"], case["name"])
        signature = ed25519.decode_base64(case["signature"])
        check(ed25519.verify(keys[case["key_id"]], text.encode(), signature), case["name"])
    for case in vectors["refused"]:
        key, signature = ed25519.decode_base64(case["public_key"]), ed25519.decode_base64(case["signature"])
        refused = key is None or signature is None or not ed25519.verify(key, case["message"].encode(), signature)
        check(refused, case["name"])
    vectors = load("run/submitted_statements.json")
    for case in vectors["statements"] + vectors["refused"]:
        text, signature = cj.canonical(case["statement"]), ed25519.decode_base64(case["signature"])
        verifies = ed25519.verify(keys[case["key_id"]], text.encode(), signature)
        check(verifies == ("canonical" in case), case["name"])
        check(text == case.get("canonical", text), case["name"])


def laws():
    import law

    for case in load("law/laws.json")["cases"] + load("law/extensions.json")["cases"]:
        form = case["normal_form"]
        text = cj.canonical(form)
        check(text == case["canonical"], case["name"])
        check(identities.identify("scenario-law", form) == case["scenario_law_identity"], case["name"])
        check(law.graph_identity(form) == case["graph_identity"], case["name"])
        fault = law.construct(cj.parse(text), None)
        check(fault is None, f"{case['name']}: {fault}")
    for case in load("law/refusals.json")["cases"]:
        fault = law.construct(case["normal_form"], None)
        check((fault is None) == (case["refusals"] == []), f"{case['name']}: {fault}")
    import proofs

    for case in load("law/proofs.json")["cases"]:
        found = proofs.prove(case["requirement"], case.get("budget", proofs.BUDGET))
        wanted = case["verdict"], case["visits"]
        check(found == wanted, f"{case['name']}: wanted {wanted}, got {found}")
    for case in load("law/proofs.json")["laws"]:
        wanted = (case["exceeded_by"], "budget_exceeded") if case["exceeded_by"] else None
        found = proofs.prove_law(case["stages"], case["budget"])
        check(found == wanted, f"{case['name']}: wanted {wanted}, got {found}")


def relative_time():
    import values

    vectors = load("values/relative_time.json")
    for case in vectors["cases"]:
        for one in case["values"]:
            typed = {"value": one["value"], "value_type": "Timestamp"}
            found = values.judge(case["predicate"], {"domain": "Timestamp"}, typed, case["evaluated_at"])
            check(found == one["outcome"], f"{case['predicate']} at {case['evaluated_at']}: {one}, got {found}")
    for case in vectors["fits"]:
        predicate = case["predicate"]
        expected = predicate["expected"] if isinstance(predicate["expected"], list) else [predicate["expected"]]
        takes_one = values.FAMILIES[predicate["predicate"]] != "presence"
        fits = takes_one and all(values.expected_fits(predicate["predicate"], one, case["domain"]) for one in expected)
        check(fits == (case["refusals"] == []), f"{predicate} on {case['domain']}")


for part in (scanner, canonicalization, numbers, identity_vectors, signatures, laws, relative_time):
    part()
print(f"{checked} vectors hold")
