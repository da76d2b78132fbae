"""Signatures beside a runpack: docs/format/runpack.md, "Signatures"."""

import ed25519
from canonical_json import canonical_bytes, parse_canonical
from identities import sha256
from shapes import closed, identity, list_of, one_of, text

_envelope = closed({
    "payload": text, "payloadType": one_of("application/vnd.in-toto+json"),
    "signatures": list_of(closed({"keyid": identity, "sig": text}), 1, 1),
})


def statement(manifest, manifest_bytes, runpack_identity):
    """The in-toto statement of a manifest."""
    predicate = {name: manifest[name] for name in ("format", "head", "record_tree", "run_key")}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "predicate": {**predicate, "runpack_identity": runpack_identity},
        "predicateType": "urn:gate:runpack-checkpoint:v1",
        "subject": [{"digest": {"sha256": sha256(manifest_bytes)}, "name": "manifest.json"}],
    }


def verifies(envelope_bytes, key, expected):
    """Whether an envelope holds a signature of a key over the expected statement."""
    if len(envelope_bytes) > 16384:
        return False
    envelope, is_canonical = parse_canonical(envelope_bytes)
    if not is_canonical or not _envelope(envelope):
        return False
    (entry,) = envelope["signatures"]
    payload, signature = ed25519.decode_base64(envelope["payload"]), ed25519.decode_base64(entry["sig"])
    if entry["keyid"] != sha256(key) or payload != canonical_bytes(expected) or signature is None:
        return False
    kind = envelope["payloadType"].encode("ascii")
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    return ed25519.verify(key, encoded, signature)
