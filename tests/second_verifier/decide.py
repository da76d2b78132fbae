"""Decides a record again from its retained material, by its own procedure (docs/format/records.md)."""

import ed25519
import evidence
import law as laws
import records
import submissions
import values
from canonical_json import canonical_bytes
from identities import content_hash, identify, sha256
from law import limit


class Refused(Exception):
    """The kernel rejects this record."""


def acceptance_time(time_source, before):
    """The acceptance time that follows from a reading and the state before it."""
    instant = max(time_source["reading_unix_millis"], 0 if before is None else before["accepted_audit_instant"])
    return {
        "accepted_audit_instant": instant, "authority_revision": time_source["authority_revision"],
        "source_material_identity": identify("time-source", time_source),
        "time_authority_id": time_source["time_authority_id"],
    }


def provenance(record):
    return content_hash(canonical_bytes({name: record[name] for name in ("attribution", "invocation_identity")}))


def payload_facts(payload):
    """(identity, content hash, bytes) of a payload; None where its base64 is invalid."""
    if payload["kind"] == "json":
        data = canonical_bytes(payload["value"])
        return identify("payload", payload), sha256(data), len(data)
    if payload["kind"] == "bytes":
        data = ed25519.decode_base64(payload["base64"])
        return None if data is None else (identify("payload", payload), sha256(data), len(data))
    return identify("payload", payload), payload["content_ref"]["content_hash"]["value"], 0


def _hash(value):
    return {"algorithm": "sha256", "value": value}


class Step:
    """A record with everything that is needed to decide it again."""

    def __init__(self, law, law_identity, graph_identity, profile, before, record, record_id, items, payload, heads):
        self.law, self.law_identity, self.graph_identity, self.profile = law, law_identity, graph_identity, profile
        self.before, self.record, self.record_id, self.body = before, record, record_id, record["body"]
        # Values by item: a typed value, None, or the reason why it is absent. So is the payload.
        self.items, self.payload = items, payload
        # The ids of the records before, by revision from 1.
        self.heads = heads

    @property
    def gaps(self):
        return [value for value in self.items if isinstance(value, str)]

    def attempt(self):
        stage = records.law_stage(self.law, self.body["stage_id"])
        return evidence.Attempt(self.law, self.law_identity, self.profile, stage, self.before, self.record)

    def decided(self):
        """The record of the repeated decision, or None."""
        try:
            body = {
                "run_created": self.created, "stage_opened": self.opened, "stage_evaluated": self.evaluated,
                "artifact_submitted": self.submitted,
            }[self.record["record_kind"]]()
        except Refused:
            return None
        record, before = self.record, self.before
        profile_id = record["operator_profile"]
        return {
            **record, "body": {**body, "time_source": self.body["time_source"]},
            "revision": 1 if before is None else before["head"]["revision"] + 1,
            "previous_record_id": None if before is None else before["head"]["record_id"],
            "run_key": record["run_key"] if before is None else before["run_key"],
            "operation": {**record["operation"], "family": records.FAMILY[record["record_kind"]]},
            "acceptance_time": acceptance_time(self.body["time_source"], before),
            "admission": {
                "kind": record["admission"]["kind"], "profile_id": profile_id,
                "request_provenance_digest": provenance(record),
            },
        }

    def payload_or_refused(self):
        facts = None if self.payload is None else payload_facts(self.payload)
        if facts is None or facts[2] > limit(self.law, self.profile, "maximum_payload_bytes"):
            raise Refused
        return facts

    def created(self):
        if self.before is not None or self.record["run_key"]["namespace_id"] != self.law["namespace_id"]:
            raise Refused
        genesis = self.body["genesis"]
        if genesis["kind"] == "declared":
            facts = self.payload_or_refused()
            genesis = {"kind": "declared", "payload_identity": facts[0], "content_hash": _hash(facts[1])}
        return {
            "scenario_id": self.law["scenario_id"], "scenario_law_identity": self.law_identity,
            "graph_identity": self.graph_identity, "correlation": self.body["correlation"], "genesis": genesis,
            "run_allocation": self.body["run_allocation"],
            "contracts": sorted(self.body["contracts"], key=lambda one: one["provider_id"]),
            "schemas": sorted(self.body["schemas"], key=lambda one: (one["schema_id"], one["version"])),
        }

    def stage_in(self, classification):
        stage = records.law_stage(self.law, self.body["stage_id"])
        if self.before is None or stage is None or self.before["status"] != "active":
            raise Refused
        if records.state_stage(self.before, self.body["stage_id"])["classification"] != classification:
            raise Refused
        return stage

    def opened(self):
        stage = self.stage_in("ready_unopened")
        proposed = self.proposed(stage)
        if proposed is None:
            raise Refused
        trace = []
        if stage["prerequisite"]["kind"] == "requires":
            trace = records.trace_stages(stage["prerequisite"]["requirement"], records.complete_stages(self.before))
        return {"stage_id": self.body["stage_id"], "prerequisite_trace": trace, **proposed}

    def proposed(self, stage):
        """The disclosures and intents of an opening, or None where the policy or an expiry forbids one."""
        accepted_at = acceptance_time(self.body["time_source"], self.before)["accepted_audit_instant"]
        disclosures, intents = [], []
        for packet in stage["entry_packets"]:
            for target in packet["targets"] or [None]:
                permitted, rule = self.permits(packet, target)
                expiry = packet["expiry"]
                now = accepted_at if expiry and expiry["kind"] == "unix_millis" else self.before["head"]["revision"] + 1
                if not permitted or expiry is not None and expiry["value"] <= now:
                    return None
                named = {"packet_id": packet["packet_id"], "target": target}
                disclosures.append({**named, "verdict": "permit", "matched_rule": rule})
                operation = {**self.record["operation"], "family": "open_stage"}
                whole = {**named, "run_key": self.before["run_key"], "stage_id": stage["stage_id"], "operation": operation}
                shown = ("content_type", "visibility_labels", "policy_tags", "expiry")
                intents.append({
                    **named, **{name: packet[name] for name in shown}, "intent_id": identify("intent", whole),
                    "content_hash": _hash(payload_facts(packet["payload"])[1]),
                })
        return {"disclosures": disclosures, "intents": intents}

    def permits(self, packet, target):
        policy = self.profile["policy"]
        if policy["engine"] != "static":
            return policy["engine"] == "permit_all", None
        for index, rule in enumerate(policy["rules"]):
            if _rule_matches(rule, self.law["scenario_id"], self.body["stage_id"], packet, target):
                return rule["effect"] == "permit", index
        return policy["default"] == "permit", None

    def evaluated(self):
        stage = self.stage_in("open_incomplete")
        attempt = self.attempt()
        presented = self.presented(attempt)
        items, outcome, trace = evidence.evaluate(attempt, presented)
        asked = {item.get("binding_id") for item, _ in presented}
        own = [one for one in self.law["acquisition_bindings"] if one["condition_id"] in attempt.leaves]
        narrowed = [one["binding_id"] for one in own if one["binding_id"] not in asked]
        if laws.requires_any(self.law, narrowed):
            raise Refused
        passed = outcome == evidence.TRUE
        body = {
            "stage_id": stage["stage_id"], "attempt_number": self.before["attempt_count"] + 1, "outcome": outcome,
            "completed": passed, "trace": trace, "evidence": [evidence.recorded(one) for one in items],
            "narrowed_bindings": narrowed, "run_status": "active",
        }
        if passed:
            complete, body["run_status"] = records.completed(self.law, self.before, stage["stage_id"])
            body["scenario_trace"] = records.trace_stages(self.law["completion_requirement"], complete)
        return body

    def presented(self, attempt):
        """The presented evidence as (item, value), before qualification."""
        dropped = ("qualified", "reason", "value_type", "found_nothing", "lane")
        callers, acquired, submitted = [], [], {}
        for item, value in zip(self.body["evidence"], self.items):
            if isinstance(value, str):
                raise Refused
            kept = {name: member for name, member in evidence.without_clock_error(item).items() if name not in dropped}
            if not evidence.is_of_caller(item):
                acquired.append((kept, value))
                continue
            if value is None:
                raise Refused
            if item["channel"] == submissions.CHANNEL:
                submitted[item.get("value_identity")] = value
                continue
            self.check_caller(attempt, item, value)
            shown = ("condition_id", "channel", "retention", "signature", "anchor", "observed_at", "schema_verdict")
            callers.append(({
                **{name: item[name] for name in shown if name in item}, "item_id": f"caller:{len(callers)}",
                "value_identity": evidence.value_identity(value), "content_hash": evidence.value_hash(value),
            }, value))
        self.check_counts([item for item, _ in callers])
        acquired.sort(key=lambda one: one[0]["item_id"])
        ids = [item["item_id"] for item, _ in acquired]
        if len(set(ids)) < len(ids):
            raise Refused
        for item, _ in acquired:
            condition = attempt.conditions.get(item["condition_id"])
            if condition is not None and item["retention"] != retention_of(condition):
                raise Refused
        waiting = submissions.waiting(self.before, self.body["stage_id"])
        if any(one["value_identity"] not in submitted for one in waiting):
            raise Refused
        waited = [(submissions.item_of(one), submitted[one["value_identity"]]) for one in waiting]
        return callers + waited + [evidence.admit(attempt, item, value) for item, value in acquired]

    def check_caller(self, attempt, item, value):
        condition = attempt.conditions.get(item["condition_id"])
        if condition is None or item["condition_id"] not in attempt.leaves or item["retention"] != retention_of(condition):
            raise Refused
        size = len(canonical_bytes(value["value"]))
        if not values.in_domain(value, condition["observation_domain"]) or size > limit(self.law, self.profile, "maximum_value_bytes"):
            raise Refused

    def check_counts(self, items):
        counts = [item["condition_id"] for item in items]
        if len(counts) > 4096 or any(counts.count(one) > 64 for one in set(counts)):
            raise Refused

    def submitted(self):
        facts = self.payload_or_refused()
        if not self.scope_holds() or not laws.suits(self.payload["kind"], self.body["content_type"]):
            raise Refused
        try:
            member = {"evidence": submissions.derived(self)} if submissions.is_evidence(self.record) else {}
        except submissions.Rejected:
            raise Refused from None
        return {
            "content_type": self.body["content_type"], "scope": self.body["scope"], "payload_identity": facts[0],
            "content_hash": _hash(facts[1]), **member,
        }

    def scope_holds(self):
        scope = self.body["scope"]
        if scope["kind"] == "run_wide":
            return self.before is not None
        stage = None if self.before is None else records.state_stage(self.before, scope["stage_id"])
        return stage is not None and stage["stage_open_record_id"] == scope["stage_open_record_id"]


def retention_of(condition):
    keeps = condition["evidence_use_policy"]["retention"] == "retain_canonical_value"
    return "RetainCanonicalValue" if keeps else "RetainDigestOnly"


_ONE_OF = (("content_types", "content_type"), ("packet_ids", "packet_id"), ("schema_ids", "schema_id"))


def _rule_matches(rule, scenario_id, stage_id, packet, target):
    among = lambda name, value: not rule.get(name) or value in rule[name]
    if not all(among(name, packet[member]) for name, member in _ONE_OF):
        return False
    if not among("scenario_ids", scenario_id) or not among("stage_ids", stage_id):
        return False
    for suffix, held in (("labels", packet["visibility_labels"]), ("policy_tags", packet["policy_tags"])):
        if not set(rule.get(f"require_{suffix}", [])) <= set(held) or set(rule.get(f"forbid_{suffix}", [])) & set(held):
            return False
    if rule.get("target_kinds") and (target is None or target["kind"] not in rule["target_kinds"]):
        return False
    if not rule.get("targets"):
        return True
    return target is not None and any(_selects(selector, target) for selector in rule["targets"])


def _selects(selector, target):
    if selector["target_kind"] != target["kind"]:
        return False
    if target["kind"] == "external":
        return all(name not in selector or selector[name] == target[name] for name in ("system", "target"))
    member = {"agent": "agent_id", "session": "session_id", "channel": "channel"}[target["kind"]]
    return "target_id" not in selector or selector["target_id"] == target[member]
