"""Nodes of the segment tree and the artifact list, decoded by their one byte form: docs/format/runpack.md."""

import re

from shapes import MAXIMUM

NODE_BYTES, OBJECT_BYTES, TEXT_BYTES, RECORD_VALUES_BYTES, ARTIFACTS_BYTES = 2**26, 2**28, 2**24, 2**26, 2**26

_COUNT, _NAME = rb"(0|[1-9][0-9]{0,15})", rb'"([0-9a-f]{64})"'


def _named(kinds):
    return re.compile(rb'\{"bytes":%b,"identity":%b,"kind":"(%b)","object":%b\}' % (_COUNT, _NAME, kinds, _NAME))


_REFERENCE = re.compile(rb'\{"bytes":%b,"object":%b\}' % (_COUNT, _NAME))
_VALUE, _ARTIFACT = _named(rb"evidence-value|payload"), _named(rb"contract|operator-profile|provider-version|schema")
_INTEGER = re.compile(_COUNT)


class Departure(Exception):
    """The bytes depart from their form."""


class _Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def find(self, pattern):
        found = pattern.match(self.data, self.at)
        if found is None:
            raise Departure
        self.at = found.end()
        return found.groups()

    def follows(self, text):
        """Skips a text where it comes next; returns whether it did."""
        if not self.data.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def text(self, text):
        if not self.follows(text):
            raise Departure

    def integer(self, least, most):
        return _within(self.find(_INTEGER)[0], least, most)

    def reference(self, most):
        size, name = self.find(_REFERENCE)
        return {"bytes": _within(size, 0, most), "object": name.decode("ascii")}

    def named(self, pattern):
        size, identity, kind, name = (part.decode("ascii") for part in self.find(pattern))
        return {"bytes": _within(size, 0, TEXT_BYTES), "identity": identity, "kind": kind, "object": name}

    def items(self, item, most=None):
        """One item or more, up to the end of their array."""
        found = [item()]
        while self.follows(b","):
            if len(found) == most:
                raise Departure
            found.append(item())
        self.text(b"]")
        return found

    def end(self):
        if self.at < len(self.data):
            raise Departure


def _within(digits, least, most):
    value = int(digits)
    if not least <= value <= most:
        raise Departure
    return value


def _segment(text):
    text.text(b'{"first_revision":')
    segment = {"first_revision": text.integer(1, MAXIMUM)}
    text.text(b',"large_values":[')
    segment["large_values"] = [] if text.follows(b"]") else text.items(lambda: text.named(_VALUE))
    text.text(b',"last_revision":')
    segment["last_revision"] = text.integer(1, MAXIMUM)
    for name in (b"receipts", b"records", b"values"):
        text.text(b',"%b":' % name)
        segment[name.decode("ascii")] = text.reference(OBJECT_BYTES)
    text.text(b"}")
    return segment


def read_node(data):
    """A node as (level, segments or children)."""
    text = _Bytes(data)
    if text.follows(b'{"level":0,"node":"segments","segments":['):
        level, children = 0, text.items(lambda: _segment(text), 256)
        text.text(b"}")
    else:
        text.text(b'{"children":[')
        children = text.items(lambda: text.reference(NODE_BYTES), 256)
        text.text(b',"level":')
        level = text.integer(1, 3)
        text.text(b',"node":"segments"}')
    text.end()
    return level, children


def read_artifacts(data):
    """The entries of an artifact list."""
    text = _Bytes(data)
    text.text(b'{"artifacts":[')
    artifacts = [] if text.follows(b"]") else text.items(lambda: text.named(_ARTIFACT))
    text.text(b',"node":"artifacts"}')
    text.end()
    keys = [(item["kind"], item["identity"]) for item in artifacts]
    if any(not low < high for low, high in zip(keys, keys[1:])) or sum(item["bytes"] for item in artifacts) > ARTIFACTS_BYTES:
        raise Departure
    return artifacts
