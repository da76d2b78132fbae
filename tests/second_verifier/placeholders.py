"""Parameters of a law, and the law of one run: docs/format/scenario_law.md, "Parameters"."""

import re
from urllib.parse import quote

import json_types
import values
from canonical_json import canonical, canonical_bytes

PARAMS_BYTES, ALL_PARAMS_BYTES, PARAMETERS_BYTES = 65536, 4194304, 65536
_ORIGIN = re.compile(r"https?://[^/?#{}]+(?=[/?#]|\Z)")
_LITERAL = r"(?:[A-Za-z0-9._~:/?#@!$&()*+,;=\[\]-]|%[0-9A-Fa-f]{2})*"
_NAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
_TEMPLATE = re.compile(rf"{_LITERAL}(?:\{{{_NAME}\}}{_LITERAL})*\Z")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")


class Malformed(Exception):
    """An object that has the member of a placeholder and is none."""


def domains(law):
    """The domains of the parameters of a law by id."""
    return {one["parameter_id"]: one["domain"] for one in law.get("parameters", [])}


def read(value):
    """A placeholder as ("parameter", ID) or ("template", URL); None for another object."""
    name = next((one for one in ("$parameter", "$template") if one in value), None)
    if name is None:
        return None
    given = value[name]
    if not isinstance(given, str) or len(value) > 1:
        raise Malformed
    if name == "$template" and not (_ORIGIN.match(given) and _TEMPLATE.match(given)):
        raise Malformed
    return name[1:], given


def names_in(placeholder):
    kind, given = placeholder
    return [given] if kind == "parameter" else _EXPRESSION.findall(given)


def found_in(params):
    """Every placeholder of params."""
    if isinstance(params, list):
        for item in params:
            yield from found_in(item)
    elif isinstance(params, dict):
        placeholder = read(params)
        if placeholder is not None:
            yield placeholder
        else:
            for item in params.values():
                yield from found_in(item)


def are_sound(params, declared, schema):
    """Whether the placeholders of params are well-formed, name declared parameters, and can suit a schema."""
    try:
        found = list(found_in(params))
    except Malformed:
        return False
    if any(name not in declared for one in found for name in names_in(one)):
        return False
    return not found or _suits(params, schema, declared)


def _suits(params, schema, declared):
    if not isinstance(schema, dict):
        return True
    if isinstance(params, list):
        items = schema.get("items")
        return "items" not in schema or "prefixItems" in schema or all(_suits(item, items, declared) for item in params)
    if not isinstance(params, dict):
        return True
    placeholder = read(params)
    if placeholder is not None:
        kind = _type_of(placeholder, declared)
        allowed = json_types.named(schema)
        return bool(allowed & {"any", kind}) or kind == "integer" and "number" in allowed
    properties = schema["properties"] if isinstance(schema.get("properties"), dict) else {}
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for name, value in params.items():
        if name in properties:
            if not _suits(value, properties[name], declared):
                return False
        elif is_closed:
            return False
    required = schema.get("required")
    return all(name in params for name in required if isinstance(name, str)) if isinstance(required, list) else True


def _type_of(placeholder, declared):
    kind, given = placeholder
    return {"Boolean": "boolean", "Integer": "integer"}.get(declared[given]["domain"], "string") if kind == "parameter" else "string"


def text_of(typed):
    """A value as a template takes it, before it is percent-encoded."""
    return typed["value"] if isinstance(typed["value"], str) else canonical(typed["value"])


def _replaced(params, held):
    if isinstance(params, list):
        return [_replaced(item, held) for item in params]
    if not isinstance(params, dict):
        return params
    placeholder = read(params)
    if placeholder is None:
        return {name: _replaced(value, held) for name, value in params.items()}
    kind, given = placeholder
    if kind == "parameter":
        return held[given]["value"]
    return _EXPRESSION.sub(lambda match: quote(text_of(held[match.group(1)]), safe="-._~"), given)


def _size_of(placeholder, held):
    """Canonical bytes of what stands for a placeholder, and of the placeholder."""
    kind, given = placeholder
    before = len(canonical_bytes({f"${kind}": given}))
    if kind == "parameter":
        return len(canonical_bytes(held[given]["value"])), before
    literals = len(_EXPRESSION.sub("", given))
    return 2 + literals + sum(len(quote(text_of(held[name]), safe="-._~")) for name in names_in(placeholder)), before


def waiting(law):
    """The bindings of a law whose params hold a placeholder."""
    if "parameters" not in law:
        return []
    return [one for one in law["acquisition_bindings"] if "params" in one and any(True for _ in found_in(one["params"]))]


def fits(law, genesis, maximum_bytes):
    """Whether a genesis gives exactly the parameters of a law, in order, each with a value that the law can take."""
    if (genesis["kind"] == "parameters") != ("parameters" in law):
        return False
    if "parameters" not in law:
        return True
    given, declared = genesis["parameters"], domains(law)
    if [one["parameter_id"] for one in given] != sorted(declared):
        return False
    for one in given:
        value = one["value"]
        if not values.in_domain(value, declared[one["parameter_id"]]) or len(canonical_bytes(value["value"])) > maximum_bytes:
            return False
    if len(canonical_bytes(given)) > PARAMETERS_BYTES:
        return False
    held, total = {one["parameter_id"]: one["value"] for one in given}, 0
    bindings = waiting(law)
    for binding in bindings:
        for placeholder in found_in(binding["params"]):
            if placeholder[0] == "template" and any(text_of(held[name]) in ("", ".", "..") for name in names_in(placeholder)):
                return False
    for binding in bindings:
        sizes = [_size_of(one, held) for one in found_in(binding["params"])]
        size = len(canonical_bytes(binding["params"])) + sum(after - before for after, before in sizes)
        total += size
        if size > PARAMS_BYTES or total > ALL_PARAMS_BYTES:
            return False
    return True


def expand(law, parameters):
    """The law of a run: every expected value and all params with the values of the run."""
    held = {one["parameter_id"]: one["value"] for one in parameters}
    resolve = lambda one: held[one["parameter"]] if "parameter" in one else one

    def condition_of(condition):
        predicate = condition["predicate"]
        if "expected" not in predicate:
            return condition
        if predicate["predicate"] != "InSet":
            return {**condition, "predicate": {**predicate, "expected": resolve(predicate["expected"])}}
        kept = []
        for one in sorted(map(resolve, predicate["expected"]), key=canonical):
            if not any(values.same(one, other) for other in kept):
                kept.append(one)
        return {**condition, "predicate": {**predicate, "expected": kept}}

    binding_of = lambda one: {**one, "params": _replaced(one["params"], held)} if "params" in one else one
    return {
        **law, "conditions": list(map(condition_of, law["conditions"])),
        "acquisition_bindings": list(map(binding_of, law["acquisition_bindings"])),
    }
