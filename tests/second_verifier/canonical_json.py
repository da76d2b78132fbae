"""Canonical JSON and its scanner, as docs/format/canonical.md describes them.

Values are None, bool, int, float, str, list and dict. Numbers whose double is an integer are held as int, all others
as float, so that 1, 1.0 and 1e0 are one value here as they are in canonical text.
"""

import re
from array import array
from fractions import Fraction

DEPTH = 64
PACK_DEPTH = 128
NAME_IN_PATH = 256

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")


class Fault(Exception):
    """The first fault of a text: code, path and offset in UTF-16 code units."""

    def __init__(self, code, path, offset):
        super().__init__(f"{code} at {path}, offset {offset}")
        self.code, self.path, self.offset = code, path, offset


def utf16(text):
    """The text with one character for each UTF-16 code unit."""
    if all(ord(character) < 0x10000 for character in text):
        return text
    units = array("H")
    units.frombytes(text.encode("utf-16-le", "surrogatepass"))
    return "".join(map(chr, units))


def _joined(units):
    """Code units as a string of code points; the units hold no lone surrogate."""
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def decode_utf8(data):
    """Bytes as text; raises Fault where they are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault("syntax", "$", error.start) from None


def parse(text, depth=DEPTH):
    """Reads one JSON text; raises Fault with its first fault."""
    return _Reader(utf16(text), depth).document()


def parse_bytes(data, depth=DEPTH):
    """Reads the bytes of one JSON text."""
    return parse(decode_utf8(data), depth)


def parse_canonical(data, depth=PACK_DEPTH):
    """Reads canonical bytes: (value, True), or (None, False) where they are not canonical."""
    try:
        value = parse_bytes(data, depth)
    except Fault:
        return None, False
    return value, canonical_bytes(value) == data


class _Reader:
    def __init__(self, text, depth):
        self.text, self.at, self.limit = text, 0, depth
        self.path = []

    def fault(self, code, offset, path=None):
        return Fault(code, _path_text(self.path if path is None else path), offset)

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def space(self):
        self.at = _SPACE.match(self.text, self.at).end()

    def document(self):
        value = self.value(0)
        self.space()
        if self.at < len(self.text):
            raise self.fault("syntax", self.at)
        return value

    def value(self, enclosed):
        self.space()
        first = self.peek()
        if first == "{" or first == "[":
            if enclosed >= self.limit:
                raise self.fault("depth_exceeded", self.at)
            return self.object(enclosed + 1) if first == "{" else self.array(enclosed + 1)
        if first == '"':
            return _joined(self.string())
        if first == "-" or first.isascii() and first.isdigit():
            return self.number()
        return self.literal()

    def literal(self):
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.peek() == word[0]:
                for letter in word:
                    if self.peek() != letter:
                        raise self.fault("syntax", self.at)
                    self.at += 1
                return value
        raise self.fault("syntax", self.at)

    def array(self, enclosed):
        self.at += 1
        items = []
        self.space()
        if self.peek() == "]":
            self.at += 1
            return items
        while True:
            self.path.append(len(items))
            items.append(self.value(enclosed))
            self.path.pop()
            self.space()
            if self.peek() == "]":
                self.at += 1
                return items
            if self.peek() != ",":
                raise self.fault("syntax", self.at)
            self.at += 1

    def object(self, enclosed):
        self.at += 1
        members = {}
        self.space()
        if self.peek() == "}":
            self.at += 1
            return members
        while True:
            self.space()
            start = self.at
            if self.peek() != '"':
                raise self.fault("syntax", self.at)
            name = _joined(self.string())
            self.path.append(name)
            if name in members:
                raise self.fault("duplicate_name", start)
            self.space()
            if self.peek() != ":":
                raise self.fault("syntax", self.at)
            self.at += 1
            members[name] = self.value(enclosed)
            self.path.pop()
            self.space()
            if self.peek() == "}":
                self.at += 1
                return members
            if self.peek() != ",":
                raise self.fault("syntax", self.at)
            self.at += 1

    def string(self):
        """The code units of a string; its surrogates are in pairs."""
        self.at += 1
        parts = []
        while True:
            plain = _PLAIN.match(self.text, self.at)
            parts.append(plain.group())
            self.at = plain.end()
            unit = self.peek()
            if unit == '"':
                self.at += 1
                return "".join(parts)
            if unit == "\\":
                parts.append(self.escape())
            elif unit and "\ud800" <= unit <= "\udfff":
                low = self.text[self.at + 1 : self.at + 2]
                if unit > "\udbff" or not "\udc00" <= low <= "\udfff":
                    raise self.fault("lone_surrogate", self.at)
                parts.append(unit + low)
                self.at += 2
            else:
                raise self.fault("syntax", self.at)

    def escape(self):
        start = self.at
        letter = self.text[start + 1 : start + 2]
        if not letter:
            raise self.fault("syntax", len(self.text))
        if letter in _SHORT:
            self.at += 2
            return _SHORT[letter]
        unit = self.escaped_unit(start)
        self.at = start + 6
        if not 0xD800 <= unit <= 0xDFFF:
            return chr(unit)
        if unit > 0xDBFF or self.text[self.at : self.at + 2] != "\\u":
            raise self.fault("lone_surrogate", start)
        try:
            low = self.escaped_unit(self.at)
        except Fault:
            raise self.fault("lone_surrogate", start) from None
        if not 0xDC00 <= low <= 0xDFFF:
            raise self.fault("lone_surrogate", start)
        self.at += 6
        return chr(unit) + chr(low)

    def escaped_unit(self, start):
        digits = self.text[start + 2 : start + 6]
        if self.text[start + 1 : start + 2] == "u" and re.fullmatch("[0-9a-fA-F]{4}", digits):
            return int(digits, 16)
        cut_short = self.text[start + 1 : start + 2] == "u" and start + 2 + len(digits) == len(self.text)
        if cut_short and re.fullmatch("[0-9a-fA-F]*", digits):
            raise self.fault("syntax", len(self.text))
        raise self.fault("syntax", start)

    def number(self):
        start = self.at
        found = _NUMBER.match(self.text, start)
        if found is None:
            self.at += 1
            raise self.fault("syntax", self.at)
        self.at = found.end()
        after = self.peek()
        if after in (".", "e", "E") or after.isascii() and after.isdigit():
            raise self.fault("syntax", self.number_stop(after))
        literal = found.group()
        value = number_of(literal)
        if value is None:
            raise self.fault("number_not_exact", start)
        return value

    def number_stop(self, after):
        """The offset at which a number with a valid beginning departs from the grammar."""
        if after.isdigit():
            return self.at
        stop = self.at + 1
        if after in "eE" and self.text[stop : stop + 1] in ("+", "-"):
            stop += 1
        return stop


def _digits_and_exponent(literal):
    """A decimal literal as (sign, digits without zeros at either end, exponent)."""
    sign = literal.startswith("-")
    mantissa, _, exponent = literal.lstrip("-").lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    power = _integer(exponent or "0") - len(fraction)
    trimmed = digits.rstrip("0")
    if not trimmed:
        return False, "", 0
    return sign, trimmed, power + len(digits) - len(trimmed)


def _integer(digits):
    """The integer of decimal digits; beyond the range of doubles where there are too many digits to expand."""
    sign = -1 if digits.startswith("-") else 1
    bare = digits.lstrip("+-").lstrip("0") or "0"
    return sign * (int(bare) if len(bare) < 4000 else 10**4000)


def number_of(literal):
    """The value of a number literal, or None where no double has exactly that value."""
    sign, digits, power = _digits_and_exponent(literal)
    if not digits:
        return 0
    if len(digits) + power > 310 or len(digits) + power < -330:
        return None
    double = float(literal)
    if double in (float("inf"), float("-inf")) or double == 0:
        return None
    if _digits_and_exponent(number_text(double)) != (sign, digits, power):
        return None
    return int(double) if double.is_integer() else double


def number_text(number):
    """A number as ECMAScript's Number::toString writes it; raises ValueError where it is not finite."""
    if isinstance(number, int):
        number = float(number)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError("not finite")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    _, digits, power = _digits_and_exponent(repr(abs(number)))
    point = len(digits) + power
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    exponent = point - 1
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def string_text(text):
    """A string as canonical JSON writes it."""
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES.get(found.group()) or f"\\u{ord(found.group()):04x}", text) + '"'


def _utf16_order(text):
    return text.encode("utf-16-be", "surrogatepass")


def canonical(value):
    """The canonical text of a value."""
    parts = []
    _write(value, parts)
    return "".join(parts)


def canonical_bytes(value):
    """The canonical bytes of a value."""
    return canonical(value).encode("utf-8")


def _write(value, parts):
    if value is None:
        parts.append("null")
    elif value is True:
        parts.append("true")
    elif value is False:
        parts.append("false")
    elif isinstance(value, str):
        parts.append(string_text(value))
    elif isinstance(value, (int, float)):
        parts.append(number_text(value))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            parts.append("," if index else "[")
            _write(item, parts)
        parts.append("]" if value else "[]")
    else:
        for index, name in enumerate(sorted(value, key=_utf16_order)):
            parts.append("," if index else "{")
            parts.append(string_text(name))
            parts.append(":")
            _write(value[name], parts)
        parts.append("}" if value else "{}")


def equal(left, right):
    """Equality of JSON values: numbers by value, objects in any order. True differs from 1."""
    return canonical(left) == canonical(right)


def exact(number):
    """The decimal number of a JSON number: its shortest digits."""
    return Fraction(number_text(number))


def _path_text(path):
    parts = ["$"]
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
            continue
        units = utf16(step)
        if len(units) > NAME_IN_PATH:
            cut = units[:NAME_IN_PATH]
            if "\ud800" <= cut[-1] <= "\udbff":
                cut = cut[:-1]
            step = _joined(cut) + "..."
        parts.append(f".{step}" if _IDENTIFIER.match(step) else f"[{string_text(step)}]")
    return "".join(parts)
