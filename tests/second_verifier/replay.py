"""The replay of a pack's history, claims 4 to 23 of docs/format/runpack.md."""

import claims
import evidence
import law as laws
import placeholders
import records
from canonical_json import Fault, canonical_bytes, parse_bytes, parse_canonical, PACK_DEPTH
from decide import Step, acceptance_time, limit, provenance
from identities import identify, identify_bytes, merkle_root
from nodes import RECORD_VALUES_BYTES, TEXT_BYTES
from segment_values import Values, lines_of, named_values
from work import Work

CLAIMS = (
    "structural_format_validity", "runpack_subject_identity", "artifact_tree_integrity", "scenario_law_construction",
    "scenario_graph_binding", "run_allocation_integrity", "creation_receipt_integrity", "accepted_history_continuity",
    "exact_head_reconstruction", "current_state_equivalence", "operation_receipt_consistency", "stage_open_consistency",
    "evaluation_attempt_consistency", "submission_consistency", "intent_consistency", "evidence_structural_admission",
    "evidence_retention_reconstruction", "evidence_use_policy_satisfaction", "pure_semantic_replay",
    "acquisition_admission_witness_reconstruction", "attribution_authorization_availability",
    "acceptance_time_witness_structure", "source_authenticity", "currentness", "rollback_resistance", "dispatch_recovery",
    "effect_recovery", "deployment_qualification", "verifier_build_procedure_provenance",
)
NEED_VALUES = CLAIMS[15:19]
NEED_LAW = (*CLAIMS[4:6], *CLAIMS[9:20], CLAIMS[22])
NEED_CREATION = (CLAIMS[3], CLAIMS[4], CLAIMS[6])
NEED_HISTORY = (CLAIMS[5], *CLAIMS[7:23])
METHOD_OF = {"local": "local", "bearer": "bearer_token", "mtls": "mtls"}

class _Broken(Exception):
    """The history ends here."""


class Findings:
    """The first contradiction of each claim, and the reasons why claims are unavailable."""

    def __init__(self):
        self.violated, self.lacking = {}, {}

    def violate(self, claim, fault, place=None):
        """Notes a contradiction: a code, or (code, index of an item of evidence), at a place."""
        if fault is None:
            return
        code, item = fault if isinstance(fault, tuple) else (fault, None)
        reason = code if place is None else f"{code}: {place}" if item is None else f"{code}: {place}, item {item}"
        self.violated.setdefault(claim, reason)

    def leave_open(self, claim, reason):
        self.lacking.setdefault(claim, []).append(reason)


class Replay:
    """A replay; its results are `findings` and `assumptions`."""

    def __init__(self, manifest, keys, budget):
        self.manifest, self.findings, self.assumptions, self.budget = manifest, Findings(), set(), budget
        self.sources, self.withheld, self.ended = claims.Sources(keys), set(manifest["withheld_conditions"]), None
        self.law_opened = False
        self.law = self.work = self.state = self.head = self.previous = self.created = None
        # The ids of the replayed records, by revision from 1.
        self.heads = []
        self.leaves, self.named, self.operations = [], set(), set()
        self.profiles, self.contracts, self.schemas, self.sizes = {}, {}, set(), {}
        self.completions, self.completed_at, self.is_permissive, self.is_head_signed = {}, None, False, True
        self.signatures, self.unsigned, self.providers, self.procedures = [], 0, {}, []
        # By the identity of a provider version: that of its contract, or None.
        self.versions = {}
        self.bound, self.resolved = {}, set()

    def open(self, law_bytes, artifacts):
        """Receives the law and the artifacts before the first segment."""
        self.law_bytes, self.artifacts = law_bytes, artifacts
        self.read_artifacts()

    def open_law(self, records_bytes):
        """Constructs the law under the contracts that the first record binds."""
        violate = self.findings.violate
        self.bound = self.bound_contracts(records_bytes)
        violate("scenario_law_construction", self.construct(self.bound))
        if self.law is None:
            return
        self.work = Work(self.law)
        violate("scenario_graph_binding", self.manifest_graph_fault())
        known = {condition["condition_id"] for condition in self.law["conditions"]}
        unknown = [index for index, name in enumerate(self.manifest["withheld_conditions"]) if name not in known]
        if unknown:
            violate("evidence_retention_reconstruction", "condition_missing", f"withheld_conditions/{unknown[0]}")

    def take(self, segment):
        """Replays the next segment; ignores it after the end of the history."""
        if not self.law_opened:
            self.law_opened = True
            self.open_law(segment["records"])
        if self.ended is not None:
            return
        try:
            self.segment(segment)
        except _Broken as broken:
            self.ended = str(broken)

    def note_course(self, profile, record, step):
        """Notes what the records come to."""
        if record["record_kind"] == "stage_evaluated" and records.law_stage(self.law, record["body"]["stage_id"]) is not None:
            self.note_sources(record, step.attempt(), step)
        if "parameters" in self.law and record["record_kind"] == "stage_evaluated":
            attempt = step.attempt()
            self.is_head_signed &= all(evidence.is_over_head(attempt, item) for item in record["body"]["evidence"] if item["qualified"])
        if profile["permissive"]["enabled"] or profile["trust"]["min_lane"] == "asserted":
            self.is_permissive = True
        if record["record_kind"] == "stage_evaluated" and record["body"]["completed"]:
            instant = record["acceptance_time"]["accepted_audit_instant"]
            self.completions[record["body"]["stage_id"]] = instant
            if record["body"]["run_status"] == "complete" and self.completed_at is None:
                self.completed_at = instant

    def note_sources(self, record, attempt, step):
        """Notes who signed the items that counted, and which providers gave the others."""
        if record["procedure"] not in self.procedures:
            self.procedures.append(record["procedure"])
        bound = {one["provider_id"]: one.get("provider_version_identity") for one in self.created["contracts"]}
        for item, value in zip(record["body"]["evidence"], step.items):
            if not item["qualified"]:
                continue
            if "provider_id" in item:
                self.providers[item["provider_id"]] = bound.get(item["provider_id"])
            key = attempt.key_of(item)
            in_stage = item["condition_id"] in attempt.leaves
            if key is None or not in_stage or not evidence.is_bound(attempt, claims.presented(step, item)):
                self.unsigned += 1
                continue
            policy = attempt.conditions[item["condition_id"]]["evidence_use_policy"]
            self.signatures.append({
                **key, "condition_id": item["condition_id"], "value": value if isinstance(value, dict) else None,
                "observed_at": item.get("observed_at"), "is_named": "authorized_key_ids" in policy,
            })

    def parameters(self):
        """The parameters of the first record, or None where it was not replayed."""
        if self.created is None:
            return None
        genesis = self.created["genesis"]
        return genesis["parameters"] if genesis["kind"] == "parameters" else []

    def result(self):
        """What the run came to, or None where its records were not all replayed."""
        if self.ended is not None or self.state is None:
            return None
        stages = [
            {**{name: stage[name] for name in ("stage_id", "classification")}, "completed_at": self.completions.get(stage["stage_id"])}
            for stage in self.state["stages"]
        ]
        return {
            "status": self.state["status"], "completed_at": self.completed_at, "stages": stages,
            "is_permissive": self.is_permissive, "is_head_signed": self.is_head_signed,
            "signatures": self.signatures, "unsigned": self.unsigned, "providers": self.providers, "procedures": self.procedures,
        }

    def finished(self):
        """The findings after the whole pack."""
        if self.ended is None:
            self.finish()
        else:
            for claim in NEED_HISTORY:
                self.findings.leave_open(claim, self.ended)
            if self.previous is None:
                self.findings.leave_open("creation_receipt_integrity", self.ended)
        if self.created is None:
            for claim in NEED_CREATION:
                self.findings.leave_open(claim, self.ended or "history_broken")
        if self.law is None:
            for claim in NEED_LAW:
                self.findings.leave_open(claim, "law_not_constructed")
        return self.findings

    def read_artifacts(self):
        for index, (kind, name, data) in enumerate(self.artifacts):
            value, is_canonical = parse_canonical(data)
            valid = is_canonical and identify_bytes(kind, data) == name
            if valid and kind == "operator-profile":
                self.profiles[name] = value if records.is_profile(value) else None
            elif valid and kind == "schema":
                self.schemas.add(name)
            elif valid and kind == "provider-version":
                valid = records.is_provider_version(value)
                self.versions[name] = identify("contract", value["contract"]) if valid else None
            elif valid:
                valid = records.is_contract(value)
                self.contracts[name] = value if valid else None
            if is_canonical and identify_bytes(kind, data) == name:
                self.sizes[kind, name] = len(data)
            if not valid:
                self.findings.violate("run_allocation_integrity", "artifact_invalid", f"artifacts/{index}")

    def bound_contracts(self, records_bytes):
        """By provider: the first contract that the first record binds for it, if the pack holds it and it belongs to that provider."""
        line, ended, _ = records_bytes.partition(b"\n")
        try:
            first = parse_bytes(line, PACK_DEPTH) if ended and len(line) <= TEXT_BYTES else None
        except Fault:
            return {}
        if not records.is_record(first) or first["record_kind"] != "run_created":
            return {}
        named = {}
        for one in first["body"]["contracts"]:
            named.setdefault(one["provider_id"], self.contracts.get(one["contract_identity"]))
        return {name: one for name, one in named.items() if one is not None and one["provider_id"] == name}

    def construct(self, contracts):
        value, is_canonical = parse_canonical(self.law_bytes)
        if not is_canonical:
            return "law_invalid"
        fault = laws.construct(value, contracts)
        if fault is not None:
            return "law_invalid"
        if identify_bytes("scenario-law", self.law_bytes) != self.manifest["scenario_law_identity"]:
            return "law_identity_mismatch"
        self.law, self.law_identity, self.graph = value, self.manifest["scenario_law_identity"], laws.graph_identity(value)
        for binding in value["acquisition_bindings"]:
            if binding["provider_id"] not in contracts:
                self.assumptions.add("binding_check_as_defined")
            elif "params" in binding:
                self.assumptions.add("json_schema_verdict_as_recorded")
        return None

    def manifest_graph_fault(self):
        if self.graph != self.manifest["graph_identity"]:
            return "graph_identity_mismatch"
        same = self.law["scenario_id"] == self.manifest["scenario_id"]
        return None if same and self.law["namespace_id"] == self.manifest["run_key"]["namespace_id"] else "scenario_mismatch"

    def broken(self, claim, code, place=None):
        self.findings.violate(claim, code, place or self.place)
        raise _Broken("history_broken")

    @property
    def place(self):
        """The place of the current record: the one after the head."""
        return f"revision {(self.head or {'revision': 0})['revision'] + 1}"

    def violate(self, claim, fault):
        self.findings.violate(claim, fault, self.place)

    def segment(self, segment):
        count, role = segment["last"] - segment["first"] + 1, segment["place"]
        lines, receipts, held, named = lines_of(segment["records"]), lines_of(segment["receipts"]), Values(segment), {}
        if lines is None:
            self.broken("accepted_history_continuity", "record_invalid", f"{role}/records")
        if receipts is None:
            self.findings.violate("operation_receipt_consistency", "receipt_invalid", f"{role}/receipts")
        for index in range(count):
            if index >= len(lines):
                self.broken("accepted_history_continuity", "record_missing")
            self.count(records=1)
            receipt = receipts[index] if receipts is not None and index < len(receipts) else None
            record = self.record(lines[index], receipt, held)
            for kind, name, condition in named_values(record):
                named.setdefault((kind, name), []).append(condition)
        if len(lines) > count:
            self.findings.violate("accepted_history_continuity", "record_unexpected", f"{role}/records")
        if receipts is not None and len(receipts) > count:
            self.findings.violate("operation_receipt_consistency", "receipt_unexpected", f"{role}/receipts")
        self.findings.violate("evidence_retention_reconstruction", held.fault(named, self.withheld), role)

    def count(self, **amounts):
        if not self.budget.allows(**amounts):
            raise _Broken("budget_exhausted")
        self.budget.take(**amounts)

    def record(self, line, receipt, held):
        record = self.opened(line)
        self.leaves.append(line)
        if record["operator_profile"] not in self.profiles:
            self.broken("attribution_authorization_availability", "profile_missing")
        profile = self.profiles[record["operator_profile"]]
        if profile is None:
            self.broken("attribution_authorization_availability", "profile_invalid")
        if self.law is not None:
            size = self.sizes["operator-profile", record["operator_profile"]]
            self.count(canonical_work_bytes=self.work.of(record, size, held, self.schema_size))
        if record["record_kind"] == "run_created" and self.previous is None:
            self.created = record["body"]
            self.creation(record, profile)
        if self.law is not None:
            self.check_values(record, held)
        record_id = identify_bytes("run-record", line)
        self.note_record(record)
        if canonical_bytes(record) != line:
            self.broken("accepted_history_continuity", "record_invalid")
        self.note_hashes(record)
        after = None
        if self.law is not None:
            step = self.step(profile, record, record_id, held)
            self.judge(step, line)
            try:
                after = records.fold(self.law, self.state, record, record_id)
            except records.Unfoldable:
                raise _Broken("history_broken") from None
            self.note_course(profile, record, step)
        self.receipt(record, record_id, after, receipt)
        if self.previous is None and self.law is not None and after is not None and "parameters" in after:
            # The creation was decided under the law as it stands, all later records are under the law of the run.
            self.law = placeholders.expand(self.law, after["parameters"])
        self.state, self.previous = after, record
        self.head = {"record_id": record_id, "revision": record["revision"]}
        self.heads.append(record_id)
        return record

    def opened(self, line):
        claim = "accepted_history_continuity"
        try:
            record = parse_bytes(line, PACK_DEPTH) if len(line) <= TEXT_BYTES else None
        except Fault:
            self.broken(claim, "record_invalid")
        if not isinstance(record, dict) or not isinstance(record.get("procedure"), str):
            self.broken(claim, "record_invalid")
        if record["procedure"] not in records.PROCEDURES:
            self.broken(claim, "procedure_unsupported")
        if not records.is_record(record):
            self.broken(claim, "record_invalid")
        head = self.head or {"record_id": None, "revision": 0}
        if record["revision"] != head["revision"] + 1 or record["previous_record_id"] != head["record_id"]:
            self.broken(claim, "chain_broken")
        age = records.PROCEDURES.index
        if self.previous is not None and age(record["procedure"]) < age(self.previous["procedure"]):
            self.broken(claim, "procedure_downgraded")
        return record

    def other_version(self, bound):
        """Whether a typed provider has no version, another one has one, or the version is of another contract."""
        contract, named = self.contracts.get(bound["contract_identity"]), bound.get("provider_version_identity")
        if contract is not None and (contract["transport"] == "typed") != (named is not None):
            return True
        of = self.versions.get(named)
        return of is not None and of != bound["contract_identity"]

    def creation(self, record, profile):
        violate, body = self.violate, record["body"]
        providers = [(one["provider_id"], self.contracts.get(one["contract_identity"])) for one in body["contracts"]]
        if len({name for name, _ in providers}) < len(providers):
            violate("run_allocation_integrity", "contract_repeated")
        elif any(contract is not None and contract["provider_id"] != name for name, contract in providers):
            violate("run_allocation_integrity", "contract_mismatch")
        if any(self.other_version(one) for one in body["contracts"]):
            violate("run_allocation_integrity", "provider_version_mismatch")
        if body["scenario_law_identity"] != self.manifest["scenario_law_identity"]:
            violate("scenario_law_construction", "law_identity_mismatch")
            self.law = None
        if self.law is None:
            return
        if body["graph_identity"] != self.graph:
            violate("scenario_graph_binding", "graph_identity_mismatch")
        if body["scenario_id"] != self.law["scenario_id"]:
            violate("scenario_graph_binding", "scenario_mismatch")
        bound = [(one["schema_id"], one["version"]) for one in body["schemas"]]
        domains = [condition["observation_domain"] for condition in self.law["conditions"]]
        named = {(one["schema_id"], one["version"]) for one in self.law["schemas"] + [d["schema"] for d in domains if "schema" in d]}
        if len(set(bound)) < len(bound):
            violate("run_allocation_integrity", "schema_repeated")
        elif set(bound) - named:
            violate("run_allocation_integrity", "schema_unexpected")
        elif len(bound) < len(named):
            violate("run_allocation_integrity", "schema_missing")
        self.check_parameters(record, profile)

    def check_parameters(self, record, profile):
        """Checks that the genesis gives the parameters of the law; without them there is no law to replay by."""
        genesis, law = record["body"]["genesis"], self.law
        book = evidence.key_book(profile)
        pinned = (evidence.keys_of(condition, {}) for condition in law["conditions"])
        if any(book.get(name, key)["public_key"] != key["public_key"] for keys in pinned for name, key in keys.items()):
            self.violate("scenario_law_construction", "key_differs")
            self.law = None
            return
        by_old = record["procedure"] == "gate-kernel-1" and genesis["kind"] == "parameters"
        if by_old or not placeholders.fits(law, genesis, limit(law, profile, "maximum_value_bytes")):
            self.violate("scenario_law_construction", "parameters_mismatch")
            self.law = None
            return
        waiting = placeholders.waiting(law)
        self.resolved = {one["binding_id"] for one in waiting}
        contracts = ((self.bound.get(one["provider_id"]), one["check_id"]) for one in waiting)
        if any(contract is not None and laws.check_of(contract, check) is not None for contract, check in contracts):
            self.assumptions.add("json_schema_verdict_as_recorded")

    def note_record(self, record):
        violate = self.violate
        violate("run_allocation_integrity", self.allocation_fault(record))
        admission = record["admission"]
        if record["operator_profile"] != admission["profile_id"]:
            violate("attribution_authorization_availability", "profile_mismatch")
        if METHOD_OF.get(admission["kind"], record["attribution"]["auth_method"]) != record["attribution"]["auth_method"]:
            violate("attribution_authorization_availability", "auth_method_mismatch")
        operation = record["operation"]["family"], record["operation"]["identity"]
        if operation in self.operations:
            violate("operation_receipt_consistency", "operation_repeated")
        elif records.FAMILY[record["record_kind"]] != operation[0]:
            violate("operation_receipt_consistency", "family_mismatch")
        self.operations.add(operation)
        self.named.add(("operator-profile", record["operator_profile"]))
        if record["record_kind"] == "run_created":
            self.named.update(("contract", one["contract_identity"]) for one in record["body"]["contracts"])
            self.named.update(
                ("provider-version", one["provider_version_identity"])
                for one in record["body"]["contracts"] if "provider_version_identity" in one
            )
            self.named.update(("schema", one["schema_identity"]) for one in record["body"]["schemas"])

    def allocation_fault(self, record):
        if record["run_key"] != self.manifest["run_key"]:
            return "run_key_mismatch"
        if self.previous is not None:
            return "run_created_unexpected" if record["record_kind"] == "run_created" else None
        if record["record_kind"] != "run_created":
            return "run_created_missing"
        return None if record["body"]["run_allocation"]["authority_id"] else "run_authority_missing"

    def note_hashes(self, record):
        if record["admission"]["request_provenance_digest"] != provenance(record):
            self.violate("attribution_authorization_availability", "provenance_mismatch")
        stamp, source = record["acceptance_time"], record["body"]["time_source"]
        last = 0 if self.previous is None else self.previous["acceptance_time"]["accepted_audit_instant"]
        wanted = acceptance_time(source, {"accepted_audit_instant": last})
        if any(wanted[name] != stamp[name] for name in ("source_material_identity", "authority_revision", "time_authority_id")):
            self.violate("acceptance_time_witness_structure", "time_source_mismatch")
        elif wanted != stamp:
            self.violate("acceptance_time_witness_structure", "acceptance_time_mismatch")

    def gap(self, item):
        """Why the value of an item is not looked up; None where it is."""
        if item["retention"] == "RetainDigestOnly":
            return "value_not_retained"
        return "value_withheld" if item["condition_id"] in self.withheld else None

    def check_values(self, record, held):
        items = record["body"]["evidence"] if record["record_kind"] == "stage_evaluated" else []
        named = {item["value_identity"] for item in items if "value_identity" in item and self.gap(item) is None}
        if sum(held.size("evidence-value", name) for name in named) > RECORD_VALUES_BYTES:
            self.broken("evidence_structural_admission", "items_unexpected")

    def step(self, profile, record, record_id, held):
        body, items, payload = record["body"], [], None
        for item in body.get("evidence", []) if record["record_kind"] == "stage_evaluated" else []:
            if "value_identity" not in item:
                items.append(None)
            else:
                items.append(self.gap(item) or held.evidence(item["value_identity"]) or "value_not_retained")
        for kind, name, condition in named_values(record):
            if kind == "payload":
                payload = "value_withheld" if condition in self.withheld else held.payload(name)
        return Step(self.law, self.law_identity, self.graph, profile, self.state, record, record_id, items, payload, self.heads)

    def judge(self, step, line):
        violate = self.violate
        bound = [] if self.created is None else self.created["contracts"]
        violate("stage_open_consistency", claims.stage_open(step))
        violate("evaluation_attempt_consistency", claims.evaluation_attempt(step))
        violate("submission_consistency", claims.submission(step))
        violate("intent_consistency", claims.intent(step))
        violate("evidence_structural_admission", claims.admission(step))
        violate("evidence_retention_reconstruction", claims.retention(step))
        violate("evidence_use_policy_satisfaction", claims.use_policy(step, self.contracts))
        violate("acquisition_admission_witness_reconstruction", claims.acquisition(step, bound, self.contracts, self.resolved))
        violate("source_authenticity", self.sources.check(step))
        for gap in step.gaps:
            for claim in NEED_VALUES:
                self.findings.leave_open(claim, gap)
        if isinstance(step.payload, str):
            self.findings.leave_open("submission_consistency", step.payload)
            self.findings.leave_open("pure_semantic_replay", step.payload)
        if step.gaps or isinstance(step.payload, str):
            holds = claims.trace_holds(step)
        else:
            decided = step.decided()
            holds = decided is not None and canonical_bytes(decided) == line
        if not holds:
            violate("pure_semantic_replay", "decision_mismatch")
        for item, value in zip(step.body.get("evidence", []), step.items):
            if claims.rests_on_unkept_value(item):
                self.findings.leave_open("acquisition_admission_witness_reconstruction", "value_not_retained")
            if "schema_verdict" in item and isinstance(value, dict) and self.has_schema(item):
                self.assumptions.add("json_schema_verdict_as_recorded")

    def bound_schema(self, item):
        """The identity of the bound schema of an item's verdict, or None."""
        domain = next((c["observation_domain"] for c in self.law["conditions"] if c["condition_id"] == item["condition_id"]), {})
        if "schema" not in domain or self.created is None:
            return None
        wanted = domain["schema"]["schema_id"], domain["schema"]["version"]
        bound = (one["schema_identity"] for one in self.created["schemas"] if (one["schema_id"], one["version"]) == wanted)
        return next(bound, None)

    def has_schema(self, item):
        """Whether the pack holds the schema of an item's verdict, with its own identity."""
        return self.bound_schema(item) in self.schemas

    def schema_size(self, item):
        return self.sizes.get(("schema", self.bound_schema(item)), 0)

    def receipt(self, record, record_id, after, line):
        claim = "creation_receipt_integrity" if record["revision"] == 1 else "operation_receipt_consistency"
        if line is None:
            self.violate(claim, "receipt_missing")
            return
        result = records.result_of(self.law, record, record_id, after)
        if result is None:
            return
        common = {name: record[name] for name in ("invocation_identity", "operation")}
        if line == canonical_bytes({**common, "result": result}):
            return
        value, is_canonical = parse_canonical(line) if len(line) <= TEXT_BYTES else (None, False)
        if not is_canonical or not isinstance(value, dict) or set(value) != {"invocation_identity", "operation", "result"}:
            self.violate(claim, "receipt_invalid")
        elif any(value[name] != common[name] for name in common):
            self.violate(claim, "receipt_mismatch")
        else:
            self.violate(claim, "result_mismatch")

    def finish(self):
        violate, manifest = self.findings.violate, self.manifest
        tree = {"root": merkle_root(self.leaves), "size": len(self.leaves)}
        if tree != manifest["record_tree"]:
            violate("accepted_history_continuity", "record_tree_mismatch")
        if self.head != manifest["head"]:
            violate("exact_head_reconstruction", "head_mismatch")
        listed = [(kind, name) for kind, name, _ in self.artifacts]
        missing = sorted(self.named - set(listed))
        unexpected = [index for index, one in enumerate(listed) if one not in self.named]
        if missing:
            violate("run_allocation_integrity", "artifact_missing", " ".join(missing[0]))
        elif unexpected:
            violate("run_allocation_integrity", "artifact_unexpected", f"artifacts/{unexpected[0]}")
        if self.state is not None and records.state_identity(self.state) != manifest["state_identity"]:
            violate("current_state_equivalence", "state_mismatch")
        for gap in self.sources.gaps():
            self.findings.leave_open("source_authenticity", gap)
