"""Domains, values and predicates, as docs/format/values.md describes them."""

import re
from datetime import date
from fractions import Fraction

from canonical_json import canonical, canonical_bytes, equal, exact, number_text

TRUE, FALSE, UNKNOWN = "true", "false", "unknown"
TYPES = ("String", "Boolean", "Integer", "Decimal", "Timestamp", "Digest", "Json")
FAMILIES = {
    "Equals": "equality", "NotEquals": "equality",
    "GreaterThan": "order", "GreaterThanOrEqual": "order", "LessThan": "order", "LessThanOrEqual": "order",
    "LexGreaterThan": "lexicographic", "LexGreaterThanOrEqual": "lexicographic",
    "LexLessThan": "lexicographic", "LexLessThanOrEqual": "lexicographic",
    "Contains": "contains", "InSet": "set", "DeepEquals": "deep", "DeepNotEquals": "deep",
    "Exists": "presence", "NotExists": "presence",
}
DOMAINS = {
    "equality": TYPES, "set": TYPES, "presence": TYPES, "order": ("Integer", "Decimal", "Timestamp", "Json"),
    "lexicographic": ("String", "Json"), "contains": ("String", "Json"), "deep": ("Json",),
}

_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,1000}))?(?:([Zz])|([+-])([0-9]{2}):([0-9]{2})))?\Z"
)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_decimal(value):
    if not isinstance(value, str) or len(value) > 1002 or not _DECIMAL.match(value):
        return False
    return len(value) - value.startswith("-") - ("." in value) <= 1000


def _days_in_month(year, month):
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days(year, month, day):
    # The library knows neither the year 0 nor years above 9999. 400 years later the calendar is the same.
    return date(year % 400 + 400, month, day).toordinal() + (year // 400 - 1) * 146097


def timestamp(value):
    """A timestamp as (kind, point): points of one kind compare as tuples. None where the text is invalid."""
    found = _TIMESTAMP.match(value) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day = (int(found.group(index)) for index in (1, 2, 3))
    if not 1 <= month <= 12 or not 1 <= day <= _days_in_month(year, month):
        return None
    days = _days(year, month, day)
    if found.group(4) is None:
        return "date", (days,)
    hour, minute, second = (int(found.group(index)) for index in (4, 5, 6))
    if hour > 23 or minute > 59 or second > 60:
        return None
    offset = 0
    if found.group(8) is None:
        hours, minutes = int(found.group(10)), int(found.group(11))
        if hours > 23 or minutes > 59:
            return None
        offset = (hours * 3600 + minutes * 60) * (-1 if found.group(9) == "-" else 1)
    leap = 1 if second == 60 else 0
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - leap - offset
    if leap:
        utc_day, of_day = divmod(seconds, 86400)
        if of_day != 86399 or not _is_last_of_month(utc_day, days, day, _days_in_month(year, month)):
            return None
    return "date_time", (seconds, leap, Fraction("0." + (found.group(7) or "0")))


def _is_last_of_month(utc_day, local_day, day, length):
    there = day + utc_day - local_day
    return there in (length, 0)


def is_of_type(value, value_type):
    """Whether a JSON value has the form that a type requires."""
    if value_type == "String":
        return isinstance(value, str)
    if value_type == "Boolean":
        return isinstance(value, bool)
    if value_type == "Integer":
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53 - 1
    if value_type == "Decimal":
        return is_decimal(value)
    if value_type == "Timestamp":
        return timestamp(value) is not None
    if value_type == "Digest":
        return isinstance(value, str) and _DIGEST.match(value) is not None
    return value_type == "Json"


def utf8_bytes(value):
    return len(value.encode("utf-8", "surrogatepass"))


def in_domain(typed, domain, unbound=()):
    """Whether a typed value is of a domain; bounds named in `unbound` do not hold."""
    value, kind = typed["value"], domain["domain"]
    if typed["value_type"] != kind or not is_of_type(value, kind):
        return False
    bound = lambda name: None if name in unbound else domain.get(name)
    if kind in ("String", "Json"):
        size = utf8_bytes(value) if kind == "String" else len(canonical_bytes(value))
        low, high = bound("minimum_bytes") or 0, bound("maximum_bytes")
        return low <= size and (high is None or size <= high)
    if kind in ("Integer", "Decimal"):
        low, high = bound("minimum"), bound("maximum")
        return (low is None or Fraction(low) <= Fraction(value)) and (high is None or Fraction(value) <= Fraction(high))
    return True


def same(a, b):
    """Whether two typed values are equal by the equality of their domain."""
    if a["value_type"] != b["value_type"]:
        return False
    if a["value_type"] == "Decimal" and is_decimal(a["value"]) and is_decimal(b["value"]):
        return Fraction(a["value"]) == Fraction(b["value"])
    if a["value_type"] == "Timestamp":
        left, right = timestamp(a["value"]), timestamp(b["value"])
        if left is not None and right is not None:
            return left == right
    return equal(a["value"], b["value"])


def order(value, expected, value_type):
    """Less, equal or greater as -1, 0, 1; None where the two have no order."""
    if value_type == "Integer" or value_type == "Json" and is_number(value) and is_number(expected):
        left, right = exact(value), exact(expected)
    elif value_type == "Decimal":
        left, right = Fraction(value), Fraction(expected)
    else:
        left, right = timestamp(value), timestamp(expected)
        if left is None or right is None or left[0] != right[0]:
            return None
        left, right = left[1], right[1]
    return (left > right) - (left < right)


def _holds(name, relation):
    if name.endswith("GreaterThan"):
        return relation > 0
    if name.endswith("GreaterThanOrEqual"):
        return relation >= 0
    if name.endswith("LessThan"):
        return relation < 0
    return relation <= 0


def _kleene(holds):
    return TRUE if holds else FALSE


def on_absence(predicate):
    """The truth of a predicate where acquisition found nothing."""
    return {"Exists": FALSE, "NotExists": TRUE}.get(predicate["predicate"], UNKNOWN)


def relative_order(value, expected, evaluated_at):
    """The order of a timestamp and an instant relative to the evaluation, or None where there is none."""
    kind, point = timestamp(value)
    if kind == "date" or evaluated_at is None:
        return None
    instant = Fraction(evaluated_at + expected["offset_milliseconds"], 1000) + timestamp("1970-01-01T00:00:00Z")[1][0]
    seconds, leap, fraction = point
    # A leap second is after every instant of the second before it, and before the next second.
    here, there = (seconds, leap, fraction), (instant.__floor__(), 0, instant - instant.__floor__())
    return (here > there) - (here < there)


def judge(predicate, domain, typed, evaluated_at=None):
    """The truth of a predicate for a value: true, false or unknown. `evaluated_at` is None where nothing compares with it."""
    name, kind = predicate["predicate"], domain["domain"]
    family = FAMILIES[name]
    if family == "presence":
        return _kleene(name == "Exists")
    if typed["value_type"] != kind or not is_of_type(typed["value"], kind):
        return UNKNOWN
    value = typed["value"]
    if family == "set":
        return _in_set(predicate["expected"], typed)
    if "relative_to" in predicate["expected"]:
        relation = relative_order(value, predicate["expected"], evaluated_at)
        return UNKNOWN if relation is None else _kleene(_holds(name, relation))
    expected = predicate["expected"]["value"]
    if family == "equality":
        return _equality(name, typed, predicate["expected"])
    if family == "order":
        relation = order(value, expected, kind)
        return UNKNOWN if relation is None else _kleene(_holds(name, relation))
    if family == "lexicographic":
        if not isinstance(value, str):
            return UNKNOWN
        return _kleene(_holds(name, (value > expected) - (value < expected)))
    if family == "deep":
        if type(value) is not type(expected):
            return UNKNOWN
        return _kleene(equal(value, expected) == (name == "DeepEquals"))
    if isinstance(expected, str):
        return _kleene(expected in value) if isinstance(value, str) else UNKNOWN
    if not isinstance(value, list):
        return UNKNOWN
    held = {canonical(item) for item in value}
    return _kleene(all(canonical(item) in held for item in expected))


def _equality(name, typed, expected):
    if typed["value_type"] == "Timestamp" and timestamp(typed["value"])[0] != timestamp(expected["value"])[0]:
        return UNKNOWN
    return _kleene(same(typed, expected) == (name == "Equals"))


def _in_set(expected, typed):
    if isinstance(typed["value"], (list, dict)):
        return UNKNOWN
    if any(same(typed, item) for item in expected):
        return TRUE
    if typed["value_type"] == "Timestamp":
        kinds = {timestamp(item["value"])[0] for item in expected}
        return FALSE if kinds == {timestamp(typed["value"])[0]} else UNKNOWN
    return FALSE


def _lies_within(inner, outer):
    """Whether every value of a domain is one of another domain."""
    if inner["domain"] != outer["domain"] or outer["domain"] == "Json":
        return False
    if inner["domain"] == "String":
        return outer["minimum_bytes"] <= inner["minimum_bytes"] and inner["maximum_bytes"] <= outer["maximum_bytes"]
    if inner["domain"] not in ("Integer", "Decimal"):
        return True
    end = 2**53 - 1 if inner["domain"] == "Integer" else float("inf")
    bound = lambda domain, name, absent: Fraction(domain[name]) if name in domain else absent
    return (
        bound(outer, "minimum", -end) <= bound(inner, "minimum", -end) and bound(inner, "maximum", end) <= bound(outer, "maximum", end)
    )


def expected_fits(name, expected, domain, parameters=None):
    """Whether an expected value suits its predicate and domain; `parameters` are domains by id."""
    family, kind = FAMILIES[name], domain["domain"]
    if "relative_to" in expected:
        return family == "order" and kind == "Timestamp"
    if "parameter" in expected:
        declared = (parameters or {}).get(expected["parameter"])
        return declared is not None and _lies_within(declared, domain)
    value = expected["value"]
    if kind == "Json" and expected["value_type"] == "Json" and not _wanted(family, value):
        return False
    unbound = ()
    if kind == "String":
        unbound = {"contains": ("minimum_bytes",), "lexicographic": ("minimum_bytes", "maximum_bytes")}.get(family, ())
    elif kind == "Json" and (family in ("lexicographic", "order") or family == "contains" and isinstance(value, list)):
        unbound = ("maximum_bytes",)
    return in_domain(expected, domain, unbound)


def _wanted(family, value):
    if family == "order":
        return is_number(value) or timestamp(value) is not None
    if family == "lexicographic":
        return isinstance(value, str)
    if family == "contains":
        return isinstance(value, (str, list))
    if family == "set":
        return not isinstance(value, (list, dict))
    return isinstance(value, (list, dict)) if family == "deep" else True


def source_forms(typed):
    """The JSON values from which a value of a domain may have been derived."""
    value, kind = typed["value"], typed["value_type"]
    forms = [value]
    if kind == "Decimal" and is_decimal(value):
        number = float(Fraction(value))
        # The number must have that shortest form.
        if Fraction(number_text(number)) == Fraction(value):
            forms.append(int(number) if number.is_integer() else number)
    if kind == "Digest":
        forms.append({"algorithm": "sha256", "value": value})
    return forms
