"""The JSON types that a schema names: docs/format/scenario_law.md, "Bindings"."""


def named(schema):
    """The JSON types that a result schema names; `any` where it names none."""
    named = _named_types(schema, 0)
    return {"any"} if named is None else named


def _named_types(schema, depth):
    if not isinstance(schema, dict) or depth > 16:
        return None
    note = schema.get("x-gate")
    if isinstance(note, dict) and note.get("dynamic_type") is True:
        return None
    named = schema.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list):
        return {one for one in named if isinstance(one, str)}
    if "const" in schema:
        return {_type_of(schema["const"])}
    if isinstance(schema.get("enum"), list):
        return set(map(_type_of, schema["enum"]))
    branches = schema.get("oneOf") if schema.get("anyOf") is None else schema["anyOf"]
    found = [_named_types(branch, depth + 1) for branch in branches] if isinstance(branches, list) else [None]
    return None if None in found else set().union(*found)


def _type_of(value):
    for name, kind in (("null", type(None)), ("boolean", bool), ("integer", int), ("number", float), ("string", str), ("array", list)):
        if isinstance(value, kind):
            return name
    return "object"
