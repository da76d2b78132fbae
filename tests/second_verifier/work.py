"""The work of deciding a record again: docs/format/runpack.md, "Budget"."""

import law as laws
from canonical_json import canonical_bytes
from records import leaf_visits
from values import utf8_bytes

LINE, INTENT, SIGNATURE = 64, 512, 32768


def _trace(requirement):
    return sum(LINE + len(path) + utf8_bytes(name) for path, name in leaf_visits(requirement))


def _prerequisite(stage):
    return stage["prerequisite"].get("requirement")


class Work:
    """Counts the work on the records of one law."""

    def __init__(self, law):
        self.stages = {stage["stage_id"]: stage for stage in law["stages"]}
        self.conditions = {one["condition_id"]: len(canonical_bytes(one)) for one in law["conditions"]}
        self.evaluations, self.openings = {}, {}
        bound, waiting = {}, {}
        for binding in law["acquisition_bindings"]:
            size = LINE + utf8_bytes(binding["binding_id"])
            bound[binding["condition_id"]] = bound.get(binding["condition_id"], 0) + size
        for stage in law["stages"]:
            needed = _prerequisite(stage)
            for name in set() if needed is None else laws.leaves(needed):
                waiting[name] = waiting.get(name, 0) + _trace(needed)
        completion = _trace(law["completion_requirement"])
        for name, stage in self.stages.items():
            needed = stage["completion_requirement"]
            asked = sum(bound.get(leaf, 0) for leaf in laws.leaves(needed))
            self.evaluations[name] = _trace(needed) + asked + completion + waiting.get(name, 0)

    def opening(self, stage):
        """The work of opening a stage, and its number of passes over the operator's policy."""
        needed = _prerequisite(stage)
        fixed, looks = 0 if needed is None else _trace(needed), 0
        for packet in stage["entry_packets"]:
            intents = max(1, len(packet["targets"]))
            shown = {name: member for name, member in packet.items() if name != "targets"}
            fixed += intents * (len(canonical_bytes(shown)) + INTENT)
            looks += intents * (1 + len(packet["visibility_labels"]) + len(packet["policy_tags"]))
        return fixed, looks

    def of(self, record, profile, held, schema):
        """The work on a record: `profile` is a size, `held` a segment's values, `schema` returns the size of an item's schema."""
        kind, body = record["record_kind"], record["body"]
        if kind == "artifact_submitted":
            size = held.size("payload", body["payload_identity"])
            named = body.get("evidence")
            return size if named is None else size + profile + self.conditions.get(named["condition_id"], 0) + SIGNATURE
        if kind == "run_created":
            genesis = body["genesis"]
            return held.size("payload", genesis["payload_identity"]) if genesis["kind"] == "declared" else 0
        stage = self.stages.get(body["stage_id"])
        if kind == "stage_opened":
            if stage is None:
                return 0
            if body["stage_id"] not in self.openings:
                self.openings[body["stage_id"]] = self.opening(stage)
            fixed, looks = self.openings[body["stage_id"]]
            return fixed + looks * profile
        work = self.evaluations.get(body["stage_id"], 0)
        for item in body["evidence"]:
            work += profile + self.conditions.get(item["condition_id"], 0)
            if "value_identity" in item:
                work += held.size("evidence-value", item["value_identity"])
            if "signature" in item:
                work += SIGNATURE
            if "schema_verdict" in item:
                work += schema(item)
        return work
