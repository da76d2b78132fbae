"""The values that one segment of a runpack holds: docs/format/runpack.md, "Records and segments" and claim 17."""

from canonical_json import PACK_DEPTH, Fault, canonical_bytes, parse_bytes, parse_canonical
from identities import identify_bytes
from shapes import anything, closed, content_hash, identity, one_of, text, variant
from values import TYPES

_value_body = closed({"value": anything, "value_type": one_of(*TYPES)})
_payload_body = variant("kind", {
    "json": closed({"kind": text, "value": anything}), "bytes": closed({"kind": text, "base64": text}),
    "external": closed({"kind": text, "content_ref": closed({"uri": text, "content_hash": content_hash}, {"encryption": text})}),
})
_value_line = closed({"body": anything, "identity": identity, "kind": one_of("payload", "evidence-value")})


def lines_of(data):
    """JSON lines without their line feeds; None where the bytes are not lines."""
    if data and not data.endswith(b"\n"):
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return data.split(b"\n")[:-1]


class Values:
    """The values of one segment."""

    def __init__(self, segment):
        self.large = [(kind, name, self._read(data), data) for kind, name, data in segment["large"]]
        self.lines = self._read_lines(segment["values"])
        self.bodies, self.sizes = {}, {}
        for kind, name, body, data in [*(self.lines or []), *self.large]:
            self.bodies.setdefault((kind, name), body)
            self.sizes.setdefault((kind, name), len(data))

    @staticmethod
    def _read(data):
        try:
            return parse_bytes(data, PACK_DEPTH)
        except Fault:
            return None

    @staticmethod
    def _read_lines(data):
        lines, read = lines_of(data), []
        for line in lines or []:
            value, is_canonical = parse_canonical(line)
            if not is_canonical or not _value_line(value) or len(canonical_bytes(value["body"])) > 16384:
                return None
            read.append((value["kind"], value["identity"], value["body"], canonical_bytes(value["body"])))
        return None if lines is None else read

    def evidence(self, name):
        body = self.bodies.get(("evidence-value", name))
        return body if _value_body(body) else None

    def size(self, kind, name):
        """The bytes of a value; 0 where the segment does not hold it."""
        return self.sizes.get((kind, name), 0)

    def payload(self, name):
        body = self.bodies.get(("payload", name))
        return body if _payload_body(body) else None

    def fault(self, named, withheld):
        """The violation of the segment's values, given the names in its records."""
        if self.lines is None:
            return "value_invalid"
        line = large = 0
        for key, conditions in named.items():
            if all(condition is not None and condition in withheld for condition in conditions):
                continue
            if line < len(self.lines) and self.lines[line][:2] == key:
                line += 1
            elif large < len(self.large) and self.large[large][:2] == key:
                large += 1
            else:
                return "value_missing"
        if line < len(self.lines) or large < len(self.large):
            return "value_unexpected"
        for kind, name, body, data in self.lines:
            if not self._is_right(kind, name, body, data):
                return "value_mismatch"
        for kind, name, body, data in self.large:
            if len(data) <= 16384:
                return "value_unexpected"
            if not self._is_right(kind, name, body, data):
                return "value_mismatch"
        return None

    @staticmethod
    def _is_right(kind, name, body, data):
        if identify_bytes(kind, data) != name or not parse_canonical(data)[1]:
            return False
        return _payload_body(body) if kind == "payload" else _value_body(body)


def named_values(record):
    """(kind, identity, condition) of every value that a record names."""
    body, kind = record["body"], record["record_kind"]
    if kind == "artifact_submitted":
        # The payload of evidence that waits holds the value of its condition.
        yield "payload", body["payload_identity"], body.get("evidence", {}).get("condition_id")
    elif kind == "run_created" and body["genesis"]["kind"] == "declared":
        yield "payload", body["genesis"]["payload_identity"], None
    elif kind == "stage_evaluated":
        for item in body["evidence"]:
            if "value_identity" in item and item["retention"] == "RetainCanonicalValue":
                yield "evidence-value", item["value_identity"], item["condition_id"]
