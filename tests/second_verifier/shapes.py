"""Shapes of JSON values: each is a function that returns whether a value has the shape. Objects are closed."""

from identities import is_identity, is_operation_identity

MAXIMUM = 2**53 - 1


def anything(_value):
    return True


def text(value):
    return isinstance(value, str)


def flag(value):
    return isinstance(value, bool)


def one_of(*values):
    return lambda value: any(value is item if isinstance(item, bool) else value == item and not isinstance(value, bool) for item in values)


def integer(least=-MAXIMUM, most=MAXIMUM):
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def list_of(shape, most=None, least=0):
    def holds(value):
        if not isinstance(value, list) or len(value) < least or most is not None and len(value) > most:
            return False
        return all(shape(item) for item in value)

    return holds


def closed(required, optional=None):
    optional = optional or {}

    def holds(value):
        if not isinstance(value, dict) or not required.keys() <= value.keys():
            return False
        return all(
            required[name](item) if name in required else name in optional and optional[name](item)
            for name, item in value.items()
        )

    return holds


def variant(member, forms):
    def holds(value):
        kind = value.get(member) if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in forms and forms[kind](value)

    return holds


def any_of(*shapes):
    return lambda value: any(shape(value) for shape in shapes)


def or_null(shape):
    return lambda value: value is None or shape(value)


def an_object(value):
    return isinstance(value, dict)


identity = is_identity
operation_identity = is_operation_identity
count = integer(0)
content_hash = closed({"algorithm": one_of("sha256"), "value": is_identity})
reference = closed({"bytes": count, "object": is_identity})


def bounded(least, most):
    """Text of so many UTF-8 bytes, without control characters."""

    def holds(value):
        if not isinstance(value, str) or not least <= len(value.encode("utf-8", "surrogatepass")) <= most:
            return False
        return not any(ord(letter) < 0x20 or 0x7F <= ord(letter) <= 0x9F for letter in value)

    return holds


identifier = bounded(1, 256)
