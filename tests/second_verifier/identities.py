"""Identities and hashes, as docs/format/identities.md describes them, and the record tree of docs/format/runpack.md."""

import hashlib
import re

from canonical_json import canonical_bytes

_IDENTITY = re.compile(r"[0-9a-f]{64}\Z")
_OPERATION = re.compile(r"[0-9a-f]{32}\Z")


def sha256(data):
    """The plain hash of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def identify_bytes(kind, data):
    """The identity of bytes under a kind."""
    return hashlib.sha256(b"gate:" + kind.encode("ascii") + b":v1\0" + data).hexdigest()


def identify(kind, value):
    """The identity of a value under a kind."""
    return identify_bytes(kind, canonical_bytes(value))


def content_hash(data):
    """A content hash over bytes."""
    return {"algorithm": "sha256", "value": sha256(data)}


def is_identity(value):
    """Whether a value has the form of an identity."""
    return isinstance(value, str) and _IDENTITY.match(value) is not None


def is_operation_identity(value):
    """Whether a value has the form of a 128-bit identity."""
    return isinstance(value, str) and _OPERATION.match(value) is not None


def _leaf(data):
    return hashlib.sha256(b"\0" + data).digest()


def _root(hashes):
    if not hashes:
        return hashlib.sha256(b"").digest()
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return hashlib.sha256(b"\1" + _root(hashes[:split]) + _root(hashes[split:])).digest()


def merkle_root(leaves):
    """The root, in hex, of the RFC 6962 tree over the leaves' bytes."""
    return _root([_leaf(leaf) for leaf in leaves]).hex()
