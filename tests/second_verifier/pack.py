"""The forms of a runpack, its manifest and its object tree: docs/format/runpack.md, claims 1 to 3."""

import mmap
import os
import re

from canonical_json import parse_canonical
from identities import identify_bytes
from nodes import NODE_BYTES, OBJECT_BYTES, TEXT_BYTES, Departure, read_artifacts, read_node
from shapes import (
    MAXIMUM, closed, count, identifier, identity, integer, list_of, one_of, operation_identity, reference,
)

MANIFEST_BYTES = 2**20
PIECE_BYTES = 2**20
_FILE = re.compile(r"manifest\.json|objects/([0-9a-f]{2})/\1[0-9a-f]{62}|signatures/[0-9a-f]{64}\.json")
_FOLDER = re.compile(r"objects(/[0-9a-f]{2})?|signatures")
SIGNATURE_BYTES, SIGNATURES, ARCHIVE_ENTRIES = 2**14, 64, 1_000_000

# What stands in the place of bytes: of something that is no plain file, and of an empty folder, which is nothing otherwise.
UNREADABLE, EMPTY = object(), object()


class Pack:
    """A pack in memory: the manifest's bytes or None, objects by identity, signatures, and names that fit nowhere.

    UNREADABLE or EMPTY replaces the bytes of a path that is not a plain file; `strays` is None where the pack cannot be listed.
    `departs` is the byte at which a single file departs from the form of an archive.
    """

    departs = None

    def __init__(self, manifest, objects, signatures=(), strays=()):
        self.manifest, self.objects, self.signatures, self.strays = manifest, objects, list(signatures), strays


def _sorted_files(files, strays):
    manifest = files.pop("manifest.json", None)
    manifest = UNREADABLE if manifest is EMPTY else manifest
    objects = {name[11:]: data for name, data in files.items() if name.startswith("objects/")}
    signed = [data for name, data in sorted(files.items()) if name.startswith("signatures/")]
    signatures = [data for data in signed if data is not UNREADABLE and len(data) <= SIGNATURE_BYTES][:SIGNATURES]
    return Pack(manifest, objects, signatures, strays)


def _fits(name):
    return _FILE.fullmatch(name) is not None


def object_name(identity):
    return f"objects/{identity[:2]}/{identity}"


def open_folder(folder):
    """The pack in a folder. Only plain files are read: a link, a pipe or a folder in the place of one is unreadable."""
    files, strays = {}, []
    try:
        for place, entry in _listed(os.fsencode(folder), ""):
            is_folder, bytes_wanted = entry.is_dir(follow_symlinks=False), not place.startswith("signatures/")
            if is_folder:
                holds = _holds_something(entry)
                if _fits(place) and bytes_wanted:
                    files[place] = UNREADABLE if holds else EMPTY
                elif holds:
                    strays.append(place)
            elif entry.is_file(follow_symlinks=False) and _fits(place):
                files[place] = _read(entry, _most(place))
            elif _fits(place) and bytes_wanted:
                files[place] = UNREADABLE
            else:
                strays.append(place)
    except OSError:
        strays = None
    return _sorted_files(files, strays)


def _listed(folder, within):
    """Every entry of a folder, and of its expected folders, with its path."""
    for entry in os.scandir(folder):
        place = within + entry.name.decode("utf-8", "replace")
        if entry.is_dir(follow_symlinks=False) and _FOLDER.fullmatch(place):
            yield from _listed(entry.path, place + "/")
        else:
            yield place, entry


def _holds_something(entry):
    try:
        entry.name.decode("utf-8")
        return any(True for _ in os.scandir(entry.path))
    except (OSError, UnicodeDecodeError):
        return True


def _most(place):
    """Bytes that what lies at a place has at most: no reference says more."""
    if place == "manifest.json":
        return MANIFEST_BYTES
    return SIGNATURE_BYTES if place.startswith("signatures/") else OBJECT_BYTES


def _read(entry, most):
    """The bytes of a file in pieces, up to one more than the limit."""
    try:
        with open(entry.path, "rb") as file:
            data = bytearray()
            while len(data) <= most and (piece := file.read(min(PIECE_BYTES, most + 1 - len(data)))):
                data += piece
            return bytes(data)
    except OSError:
        return UNREADABLE


def open_archive(data):
    """The pack in a single file, up to where its bytes are not that one archive; raises ValueError where there is no manifest then."""
    files = {}
    departs = _read_entries(data, files)
    if departs is not None and "manifest.json" not in files:
        raise ValueError(f"it departs from the form of an archive at byte {departs}")
    pack = _sorted_files(files, [])
    pack.departs = departs
    return pack


def _read_entries(data, files):
    """Reads what an archive holds; where it departs from its form, the byte at which it does."""
    at, before = 0, ""
    while True:
        header = data[at : at + 512]
        if len(header) < 512:
            return at
        if not any(header):
            return None if len(data) - at == 1024 and not any(data[at:]) else at
        name, digits = header[:100].rstrip(b"\0").decode("latin-1"), header[124:135]
        size = int(digits, 8) if re.fullmatch(rb"[0-7]{11}", digits) else 0
        end = at + 512 + size
        padding = -size % 512
        if not _fits(name) or header != _header(name, size) or not before < name or end + padding > len(data):
            return at
        if len(files) == ARCHIVE_ENTRIES:
            return at
        files[name], before = data[at + 512 : min(end, at + 513 + _most(name))], name
        if any(data[end : end + padding]):
            return end
        at = end + padding


def _header(name, size):
    header = bytearray(512)
    for offset, content in (
        (0, name.encode("ascii")), (100, b"0000644\0"), (108, b"0000000\0"), (116, b"0000000\0"),
        (124, b"%011o\0" % size), (136, b"00000000000\0"), (148, b" " * 8), (156, b"0"), (257, b"ustar\x0000"),
        (329, b"0000000\0" * 2),
    ):
        header[offset : offset + len(content)] = content
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def open_pack(path):
    if os.path.isdir(path):
        return open_folder(path)
    with open(path, "rb") as file:
        # An empty file cannot be mapped. Other files are read only as far as they are accessed.
        if os.fstat(file.fileno()).st_size == 0:
            return open_archive(b"")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return open_archive(data)


def _within(most):
    return lambda value: reference(value) and value["bytes"] <= most


_manifest = closed({
    "format": one_of("runpack-v6"),
    "run_key": closed({"namespace_id": integer(1), "run_id": operation_identity}),
    "scenario_id": identifier, "scenario_law_identity": identity, "graph_identity": identity,
    "head": closed({"record_id": identity, "revision": integer(1)}),
    "state_identity": identity,
    "record_tree": closed({"root": identity, "size": count}),
    "law": _within(TEXT_BYTES), "artifacts": _within(NODE_BYTES), "segments": _within(NODE_BYTES),
    "withheld_conditions": list_of(identifier, 4096),
})


def read_manifest(data):
    """The manifest as (value, None), or (None, code)."""
    if data is None:
        return None, "manifest_missing"
    if data is UNREADABLE:
        return None, "manifest_unreadable"
    if len(data) > MANIFEST_BYTES:
        return None, "manifest_too_large"
    value, is_canonical = parse_canonical(data)
    if not is_canonical:
        return None, "manifest_not_canonical"
    if isinstance(value, dict) and isinstance(value.get("format"), str) and value["format"] != "runpack-v6":
        return None, "format_unsupported"
    if not _manifest(value) or value["record_tree"]["size"] != value["head"]["revision"]:
        return None, "manifest_invalid"
    withheld = value["withheld_conditions"]
    if any(not a < b for a, b in zip(withheld, withheld[1:])):
        return None, "manifest_invalid"
    return value, None


class Contradiction(Exception):
    """The first contradiction of the tree in reading order: its code and its place."""

    def __init__(self, code, place):
        super().__init__(f"{code}: {place}")


class Exhausted(Exception):
    """The budget does not cover the next object."""


DEFAULTS = {
    "bytes_read": 2**36, "objects": 2**22, "tree_nodes": 2**16, "records": 2**24, "canonical_work_bytes": 2**36,
    "hashing_workers": 1,
}


class Budget:
    """The consumption of each member, and its limit."""

    def __init__(self, limits):
        self.used, self.limits = dict.fromkeys(DEFAULTS, 0), limits or {}

    def allows(self, **amounts):
        return all(self.used[name] + amount <= self.limits.get(name, DEFAULTS[name]) for name, amount in amounts.items())

    def take(self, **amounts):
        if not self.allows(**amounts):
            raise Exhausted
        for name, amount in amounts.items():
            self.used[name] += amount


class Reading:
    """Reads a tree in reading order; `replays` means that its material is replayed."""

    def __init__(self, pack, budget, replays):
        self.pack, self.budget, self.replays, self.read = pack, budget, replays, {}

    def object(self, entry, place, parsed, nodes=0):
        """The bytes that a reference names: what they are is counted once, what is made of them each time."""
        name, size = entry["object"], entry["bytes"]
        data, known = self.pack.objects.get(name), self.read.get(name)
        if known not in (None, size):
            raise Contradiction("object_size_mismatch", place)
        amounts = {"tree_nodes": nodes, "canonical_work_bytes": size if parsed else 0}
        if known is None:
            amounts.update(bytes_read=size, objects=1)
        if not self.budget.allows(**amounts):
            raise Exhausted
        if data is None:
            raise Contradiction("object_missing", place)
        if data is UNREADABLE or data is EMPTY:
            raise Contradiction("object_unreadable", place)
        self.budget.take(**amounts)
        if len(data) != size:
            raise Contradiction("object_size_mismatch", place)
        if identify_bytes("object", data) != name:
            raise Contradiction("object_identity_mismatch", place)
        self.read[name] = size
        return data

    def tree(self, manifest, replay):
        """Reads a whole pack. In a replay, each segment is replayed before the next one is read."""
        if self.pack.departs is not None:
            raise Contradiction("archive_invalid", f"byte {self.pack.departs}")
        law = self.object(manifest["law"], "law", self.replays)
        artifacts = self.artifacts(manifest["artifacts"])
        if replay is not None:
            replay.open(law, artifacts)
        for segment in self.segments(manifest):
            if replay is not None:
                replay.take(segment)
        if self.pack.strays is None:
            raise Contradiction("object_unreadable", "files")
        unread = [name for name, data in self.pack.objects.items() if name not in self.read and data is not EMPTY]
        unreferenced = [*map(object_name, unread), *self.pack.strays]
        if unreferenced:
            raise Contradiction("object_unreferenced", min(unreferenced))

    def artifacts(self, entry):
        try:
            listed = read_artifacts(self.object(entry, "artifacts", True))
        except Departure:
            raise Contradiction("artifacts_invalid", "artifacts") from None
        return [
            (item["kind"], item["identity"], self.object(item, f"artifacts/{index}", self.replays))
            for index, item in enumerate(listed)
        ]

    def segments(self, manifest):
        size = manifest["record_tree"]["size"]
        level, held = 0, 256 * 256
        while held < size:
            level, held = level + 1, held * 256
        if level > 3:
            raise Contradiction("tree_shape_invalid", f"nodes/{level}/0")
        yield from self.below(manifest["segments"], level, 1, size)

    def below(self, entry, level, first, last):
        """The segments of the node that has to hold the revisions from first to last."""
        step = 256 * 256**level
        place = f"nodes/{level}/{(first - 1) // (256 * step)}"
        try:
            found, children = read_node(self.object(entry, place, True, 1))
        except Departure:
            raise Contradiction("node_invalid", place) from None
        if found != level:
            raise Contradiction("tree_shape_invalid", place)
        if len(children) != -(-(last - first + 1) // step):
            raise Contradiction("tree_shape_invalid", place)
        for index, child in enumerate(children):
            begin = first + index * step
            end = min(last, begin + step - 1)
            if level > 0:
                yield from self.below(child, level - 1, begin, end)
                continue
            if (child["first_revision"], child["last_revision"]) != (begin, end):
                raise Contradiction("tree_shape_invalid", f"segments/{begin // 256}")
            yield self.segment(child, f"segments/{begin // 256}")

    def segment(self, segment, place):
        parts = {
            name: self.object(segment[name], f"{place}/{name}", self.replays) for name in ("records", "receipts", "values")
        }
        large = [
            (item["kind"], item["identity"], self.object(item, f"{place}/large_values/{index}", self.replays))
            for index, item in enumerate(segment["large_values"])
        ]
        revisions = {"first": segment["first_revision"], "last": segment["last_revision"]}
        return {"place": place, "large": large, **revisions, **parts}
