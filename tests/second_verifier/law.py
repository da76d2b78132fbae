"""Checks laws in normal form: the rules of docs/format/scenario_law.md, applied to the normal form."""

import re

import json_types
import placeholders
import proofs
import values
from canonical_json import canonical, canonical_bytes
from ed25519 import decode_base64
from identities import identify
from shapes import (
    MAXIMUM, an_object, any_of, anything, bounded, closed, content_hash, identifier, integer, list_of, one_of, or_null, text, variant,
)

COMPARATORS = {name: re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in values.FAMILIES}
RESULT_TYPES = {
    "String": {"string"}, "Timestamp": {"string"}, "Boolean": {"boolean"}, "Integer": {"integer"},
    "Decimal": {"integer", "number", "string"}, "Digest": {"string", "object"},
}
_TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = r'"(?:[\t !#-\[\]-~]|\\[\t !-~])*"'
_MEDIA_TYPE = re.compile(rf"({_TOKEN})/({_TOKEN})(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|{_QUOTED}))*\Z")


OPENING_BYTES = 4_194_304
INTENT_BYTES = 512


def is_media_type(value):
    return isinstance(value, str) and len(value) <= 256 and _MEDIA_TYPE.match(value) is not None


def is_json_type(value):
    found = _MEDIA_TYPE.match(value)
    kind, subtype = found.group(1).lower(), found.group(2).lower()
    return subtype.endswith("+json") or kind == "application" and subtype == "json"


def limit(law, profile, name):
    """A limit of the operator, or the smaller one of a law."""
    operator = profile["value_limits"][name]
    return min(operator, law["value_limits"].get(name, operator))


def suits(payload_kind, content_type):
    """Whether a payload of a kind may have a content type."""
    if not is_media_type(content_type):
        return False
    return payload_kind == "external" or is_json_type(content_type) == (payload_kind == "json")


_timestamp = variant("kind", {
    "unix_millis": closed({"kind": text, "value": integer()}), "logical": closed({"kind": text, "value": integer(0)}),
})
_external = closed({"uri": bounded(1, 2048), "content_hash": content_hash}, {"encryption": identifier})
_base64 = lambda value: isinstance(value, str) and _decoded(value) is not None
payload_shape = variant("kind", {
    "json": closed({"kind": text, "value": anything}),
    "bytes": closed({"kind": text, "base64": _base64}),
    "external": closed({"kind": text, "content_ref": _external}),
})
target_shape = variant("kind", {
    "agent": closed({"kind": text, "agent_id": identifier}),
    "session": closed({"kind": text, "session_id": identifier}),
    "external": closed({"kind": text, "system": identifier, "target": bounded(1, 2048)}),
    "channel": closed({"kind": text, "channel": identifier}),
})
_schema = closed({"schema_id": identifier, "version": identifier})
_domain = variant("domain", {
    "String": closed({"domain": text, "minimum_bytes": integer(0), "maximum_bytes": integer(0)}),
    "Boolean": closed({"domain": text}),
    "Integer": closed({"domain": text}, {"minimum": integer(), "maximum": integer()}),
    "Decimal": closed({"domain": text}, {"minimum": values.is_decimal, "maximum": values.is_decimal}),
    "Timestamp": closed({"domain": text}),
    "Digest": closed({"domain": text, "algorithm": one_of("sha256")}),
    "Json": closed({"domain": text, "maximum_bytes": integer(1)}, {"schema": _schema}),
})
_scalar = lambda value: _domain(value) and value["domain"] != "Json"
_typed = closed({"value": anything, "value_type": one_of(*values.TYPES)})
_reference = closed({"parameter": identifier})
_relative = closed({"relative_to": one_of("evaluation_time"), "offset_milliseconds": integer()})
_expected = any_of(_typed, _reference, _relative)
_description = lambda value: text(value) and values.utf8_bytes(value) <= 4096


def _predicate(value):
    name = value.get("predicate") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in values.FAMILIES:
        return False
    expected = {"set": list_of(_expected, 4096, 1), "presence": None}.get(values.FAMILIES[name], _expected)
    return closed({"predicate": text} if expected is None else {"predicate": text, "expected": expected})(value)


def _public_keys(value):
    return isinstance(value, dict) and all(
        identifier(name) and text(key) and len(decode_base64(key) or b"") == 32 for name, key in value.items()
    )


_channels = ("caller_submission", "accepted_submission", "local_acquisition", "provider_acquisition")
_assurances = ("content_integrity", "scope", "schema_compatibility", "source_anchor", "source_signature")
_policy = closed({
    "allowed_channels": list_of(one_of(*_channels), None, 1),
    "authorization": one_of("embedding_authority", "signature"),
    "combination": variant("combination", {
        "AllQualifyingAgree": closed({"combination": text}),
        "AnyQualifying": closed({"combination": text}),
        "Quorum": closed({"combination": text, "minimum": integer(1, 64)}),
    }),
    "freshness": variant("freshness", {
        "NotRequired": closed({"freshness": text}),
        "MaximumAge": closed({"freshness": text, "maximum_age_millis": integer(1)}),
    }),
    "independence": one_of("distinct_acquisition", "distinct_provider", "not_required"),
    "integrity": one_of("canonical_content_only", "anchored_content", "signed_content"),
    "replay": one_of("full_semantic", "digest_only"),
    "required_assurance": list_of(one_of(*_assurances)),
    "retention": one_of("retain_canonical_value", "retain_digest_only"),
    "scope": one_of("exact_condition"),
}, {
    "authorized_key_ids": list_of(identifier, 256, 1), "authorized_public_keys": _public_keys,
    "requires_all_bindings": one_of(True),
})
_condition = closed({
    "condition_id": identifier, "observation_domain": _domain, "predicate": _predicate, "evidence_use_policy": _policy,
})
_packet = closed({
    "packet_id": identifier, "schema_id": identifier, "content_type": is_media_type,
    "visibility_labels": list_of(identifier, 256), "policy_tags": list_of(identifier, 256),
    "targets": list_of(target_shape, 256), "expiry": or_null(_timestamp), "payload": payload_shape,
})
_stage = closed({
    "stage_id": identifier,
    "prerequisite": variant("kind", {
        "root": closed({"kind": text}), "requires": closed({"kind": text, "requirement": an_object}),
    }),
    "completion_requirement": an_object, "entry_packets": list_of(_packet, 256),
})
_binding = closed({
    "binding_id": identifier, "condition_id": identifier, "channel": one_of(*_channels[2:]),
    "provider_id": identifier, "check_id": identifier,
}, {"params": lambda value: len(canonical_bytes(value)) <= 65536})
_law = closed({
    "spec_version": one_of("dag-v3"), "scenario_id": identifier, "namespace_id": integer(1),
    "value_limits": variant("selection", {
        "InheritOperator": closed({"selection": text}),
        "Explicit": closed({
            "selection": text, "maximum_value_bytes": integer(1), "maximum_payload_bytes": integer(1),
        }),
    }),
    "conditions": list_of(_condition, 4096),
    "policies": list_of(closed({"policy_id": identifier}, {"description": _description}), 1024),
    "schemas": list_of(_schema, 1024), "acquisition_bindings": list_of(_binding, 4096),
    "stages": list_of(_stage, 1024, 1), "completion_requirement": an_object,
}, {
    "parameters": list_of(closed({"parameter_id": identifier, "domain": _scalar}, {"description": _description}), 64, 1),
})


def _decoded(value):
    from ed25519 import decode_base64

    return decode_base64(value)


def payload_size(payload):
    """The size of a payload."""
    if payload["kind"] == "json":
        return len(canonical_bytes(payload["value"]))
    return len(_decoded(payload["base64"])) if payload["kind"] == "bytes" else 0


class _Fault(Exception):
    pass


def _ascending(items, key, what):
    keys = [key(item) for item in items]
    if any(not low < high for low, high in zip(keys, keys[1:])):
        raise _Fault(f"{what} out of order or there twice")


def _operands(requirement):
    ((form, inner),) = requirement.items()
    if form == "Condition":
        return form, []
    if form == "Not":
        return form, [inner]
    return form, inner["reqs"] if form == "RequireGroup" else inner


def _requirement(requirement, names, monotone, depth=0):
    """Checks the form of a requirement; returns its nodes."""
    if depth > 32 or not isinstance(requirement, dict) or len(requirement) != 1:
        raise _Fault("requirement")
    ((form, inner),) = requirement.items()
    if form == "Condition":
        if not isinstance(inner, str) or inner not in names:
            raise _Fault("a leaf names nothing")
        return 1
    if form == "RequireGroup":
        if not closed({"min": integer(), "reqs": list_of(an_object)})(inner) or not 1 <= inner["min"] <= len(inner["reqs"]):
            raise _Fault("group")
    elif form == "Not":
        if monotone:
            raise _Fault("Not")
    elif form not in ("And", "Or") or not list_of(an_object)(inner):
        raise _Fault("requirement")
    operands = _operands(requirement)[1]
    if not operands:
        raise _Fault("empty")
    nodes = 1 + sum(_requirement(operand, names, monotone, depth + 1) for operand in operands)
    if nodes > 4096:
        raise _Fault("too large")
    if form != "Not":
        _ascending(operands, canonical, "operands")
    return nodes


def holds(requirement, names):
    """The truth of a requirement over stages, where the given ones are complete."""
    form, operands = _operands(requirement)
    if form == "Condition":
        return requirement["Condition"] in names
    if form == "Not":
        return not holds(operands[0], names)
    held = sum(holds(operand, names) for operand in operands)
    return held >= {"And": len(operands), "Or": 1}.get(form, 0) if form != "RequireGroup" else held >= requirement[form]["min"]


def leaves(requirement):
    form, operands = _operands(requirement)
    return {requirement["Condition"]} if form == "Condition" else set().union(*map(leaves, operands))


def _graph(law):
    """The stage graph: no cycle, every stage reachable, the scenario's requirement attainable."""
    needs = {
        stage["stage_id"]: leaves(stage["prerequisite"]["requirement"]) if stage["prerequisite"]["kind"] == "requires" else set()
        for stage in law["stages"]
    }
    done = set()
    while True:
        ready = [name for name, before in needs.items() if name not in done and before <= done]
        if not ready:
            break
        done.update(ready)
    if len(done) < len(needs):
        raise _Fault("cyclic")
    if not holds(law["completion_requirement"], done):
        raise _Fault("unattainable")


def _bounds(domain, value_limit):
    if domain.get("minimum_bytes", 0) > domain.get("maximum_bytes", MAXIMUM):
        raise _Fault("bounds")
    if domain.get("maximum_bytes", 0) > value_limit:
        raise _Fault("bounds")
    if "minimum" in domain and "maximum" in domain and values.order(domain["minimum"], domain["maximum"], domain["domain"]) > 0:
        raise _Fault("bounds")


def _conditions(law, value_limit):
    parameters, pinned = placeholders.domains(law), {}
    for condition in law["conditions"]:
        domain, predicate, policy = (condition[name] for name in ("observation_domain", "predicate", "evidence_use_policy"))
        _bounds(domain, value_limit)
        name = predicate["predicate"]
        if domain["domain"] not in values.DOMAINS[values.FAMILIES[name]]:
            raise _Fault("predicate")
        if "expected" in predicate:
            items = predicate["expected"] if name == "InSet" else [predicate["expected"]]
            if not all(values.expected_fits(name, item, domain, parameters) for item in items):
                raise _Fault("expected")
            if name == "InSet":
                _ascending(items, canonical, "expected values")
                typed = [item for item in items if "value_type" in item]
                if any(values.same(a, b) for index, a in enumerate(typed) for b in typed[:index]):
                    raise _Fault("expected values twice")
        for member in ("allowed_channels", "required_assurance", "authorized_key_ids"):
            _ascending(policy.get(member, []), canonical, member)
        if (policy["retention"] == "retain_digest_only") != (policy["replay"] == "digest_only"):
            raise _Fault("policy")
        if "authorized_key_ids" in policy and policy["authorization"] != "signature":
            raise _Fault("policy")
        keys = policy.get("authorized_public_keys", {})
        if "authorized_public_keys" in policy and sorted(keys) != sorted(policy.get("authorized_key_ids", [])):
            raise _Fault("pinned keys")
        if len(set(keys.values())) < len(keys) or any(pinned.setdefault(name, key) != key for name, key in keys.items()):
            raise _Fault("pinned keys")
        if "accepted_submission" in policy["allowed_channels"] and (
            policy["authorization"] != "signature" or policy["retention"] != "retain_canonical_value"
        ):
            raise _Fault("policy")


def _packets(law, payload_limit):
    seen = set()
    for stage in law["stages"]:
        _ascending(stage["entry_packets"], lambda packet: packet["packet_id"], "entry packets")
        for packet in stage["entry_packets"]:
            if packet["packet_id"] in seen:
                raise _Fault("packet id twice")
            seen.add(packet["packet_id"])
            for member in ("targets", "visibility_labels", "policy_tags"):
                _ascending(packet[member], canonical, member)
            if payload_size(packet["payload"]) > payload_limit or not suits(packet["payload"]["kind"], packet["content_type"]):
                raise _Fault("payload")
        if sum(map(_intent_bytes, stage["entry_packets"])) > OPENING_BYTES:
            raise _Fault("opening")


def _intent_bytes(packet):
    """The bytes of the intents of a packet: its canonical bytes without targets and 512 more, once a target."""
    shown = {name: value for name, value in packet.items() if name != "targets"}
    return (len(canonical_bytes(shown)) + INTENT_BYTES) * max(1, len(packet["targets"]))


def _bindings(law, contracts):
    channels, parameters = {}, placeholders.domains(law)
    conditions = {condition["condition_id"]: condition for condition in law["conditions"]}
    for binding in law["acquisition_bindings"]:
        condition = conditions.get(binding["condition_id"])
        if condition is None or binding["channel"] not in condition["evidence_use_policy"]["allowed_channels"]:
            raise _Fault("binding")
        if channels.setdefault(binding["provider_id"], binding["channel"]) != binding["channel"]:
            raise _Fault("a provider of two channels")
        contract = None if contracts is None else contracts.get(binding["provider_id"])
        if contract is not None and not allows(contract, binding, condition):
            raise _Fault("binding and contract")
        if "params" in binding and parameters:
            schema = True if contract is None else check_of(contract, binding["check_id"])["params_schema"]
            if not placeholders.are_sound(binding["params"], parameters, schema):
                raise _Fault("placeholder")


def channel_of(contract):
    return "local_acquisition" if contract["transport"] == "builtin" else "provider_acquisition"


def check_of(contract, check_id):
    return next((check for check in contract["checks"] if check["check_id"] == check_id), None)


def allows(contract, binding, condition):
    """Whether a contract allows a binding."""
    check = check_of(contract, binding["check_id"])
    if check is None or channel_of(contract) != binding["channel"]:
        return False
    if check["params_required"] and "params" not in binding:
        return False
    if COMPARATORS[condition["predicate"]["predicate"]] not in check["allowed_comparators"]:
        return False
    domain = condition["observation_domain"]["domain"]
    types = json_types.named(check["result_schema"])
    return domain == "Json" or "any" in types or bool(types & RESULT_TYPES[domain])


def graph_identity(law):
    stages = [{"prerequisite": stage["prerequisite"], "stage_id": stage["stage_id"]} for stage in law["stages"]]
    return identify("scenario-graph", {"completion_requirement": law["completion_requirement"], "stages": stages})


def _names(items, member):
    return {item[member] for item in items}


def construct(law, contracts):
    """None where a value is a law in normal form, else the fault. `contracts` by provider id, or None."""
    if not _law(law):
        return "form"
    try:
        by = lambda *members: lambda item: tuple(item[member] for member in members)
        for member, key in (
            ("conditions", by("condition_id")), ("policies", by("policy_id")), ("acquisition_bindings", by("binding_id")),
            ("stages", by("stage_id")), ("schemas", by("schema_id", "version")),
        ):
            _ascending(law[member], key, member)
        limits = law["value_limits"]
        if "parameters" in law:
            _ascending(law["parameters"], by("parameter_id"), "parameters")
            for one in law["parameters"]:
                _bounds(one["domain"], limits.get("maximum_value_bytes", MAXIMUM))
        _conditions(law, limits.get("maximum_value_bytes", MAXIMUM))
        _packets(law, limits.get("maximum_payload_bytes", MAXIMUM))
        _bindings(law, contracts)
        conditions, stages = _names(law["conditions"], "condition_id"), _names(law["stages"], "stage_id")
        for stage in law["stages"]:
            _requirement(stage["completion_requirement"], conditions, False)
            if stage["prerequisite"]["kind"] == "requires":
                _requirement(stage["prerequisite"]["requirement"], stages, True)
        fault = proofs.prove_law(law["stages"])
        if fault is not None:
            raise _Fault(fault[1])
        _requirement(law["completion_requirement"], stages, True)
        _graph(law)
    except _Fault as fault:
        return str(fault)
    return None


def requires_any(law, binding_ids):
    """Whether a binding belongs to a condition that requires all of its bindings."""
    strict = {
        condition["condition_id"] for condition in law["conditions"]
        if "requires_all_bindings" in condition["evidence_use_policy"]
    }
    return any(one["binding_id"] in binding_ids and one["condition_id"] in strict for one in law["acquisition_bindings"])
