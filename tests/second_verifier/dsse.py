"""Signatures beside a runpack: docs/format/runpack.md, "Signatures"."""

import ed25519
from canonical_json import PACK_DEPTH, Fault, canonical_bytes, parse_bytes
from identities import sha256

PAYLOAD_TYPE = "application/vnd.in-toto+json"


def statement(manifest, manifest_bytes, runpack_identity):
    """The in-toto statement of a manifest."""
    predicate = {name: manifest[name] for name in ("format", "head", "record_tree", "run_key")}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "predicate": {**predicate, "runpack_identity": runpack_identity},
        "predicateType": "urn:gate:runpack-checkpoint:v1",
        "subject": [{"digest": {"sha256": sha256(manifest_bytes)}, "name": "manifest.json"}],
    }


def _parsed(data):
    try:
        return parse_bytes(data, PACK_DEPTH)
    except Fault:
        return None


def _bytes_of(text):
    """The bytes of base64 in the standard or the URL alphabet, with padding; None for anything else."""
    if not isinstance(text, str):
        return None
    if "-" in text or "_" in text:
        return None if "+" in text or "/" in text else ed25519.decode_base64(text.replace("-", "+").replace("_", "/"))
    return ed25519.decode_base64(text)


def verifies(envelope_bytes, key, expected):
    """Whether an envelope holds a signature of a key over the expected statement."""
    envelope = _parsed(envelope_bytes) if len(envelope_bytes) <= 16384 else None
    if not isinstance(envelope, dict) or envelope.get("payloadType") != PAYLOAD_TYPE:
        return False
    entries = envelope.get("signatures")
    if not isinstance(entries, list) or not 1 <= len(entries) <= 16:
        return False
    signatures = [_bytes_of(entry.get("sig")) if isinstance(entry, dict) else None for entry in entries]
    payload = _bytes_of(envelope.get("payload"))
    if payload is None or None in signatures:
        return False
    found = _parsed(payload)
    if found is None or canonical_bytes(found) != canonical_bytes(expected):
        return False
    kind = PAYLOAD_TYPE.encode("ascii")
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    return any(ed25519.verify(key, encoded, signature) for signature in signatures)
