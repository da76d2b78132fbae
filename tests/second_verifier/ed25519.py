"""Strict Ed25519 verification (RFC 8032, 5.1.7, without a cofactor), as docs/format/evidence_statement.md requires it."""

import base64
import binascii
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
_ROOT = pow(2, (P - 1) // 4, P)


def _recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * _ROOT % P
    if (x * x - square) % P != 0 or x == 0 and sign == 1:
        return None
    return P - x if x & 1 != sign else x


def _decode(data):
    """A point in extended coordinates, or None where the encoding is invalid or not canonical."""
    if len(data) != 32:
        return None
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    if y >= P:
        return None
    x = _recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


def _add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    i, j, k, m = f - e, h - g, h + g, f + e
    return (i * j % P, k * m % P, j * k % P, i * m % P)


def _multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _same(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def _is_small(point):
    return _same(_multiply(8, point), (0, 1, 1, 0))


_BASE_Y = 4 * pow(5, P - 2, P) % P
_BASE = (_recover_x(_BASE_Y, 0), _BASE_Y, 1, _recover_x(_BASE_Y, 0) * _BASE_Y % P)


def verify(public_key, message, signature):
    """Whether a signature over a message verifies under a public key; all three are bytes."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    scalar = int.from_bytes(signature[32:], "little")
    if scalar >= L:
        return False
    key, commitment = _decode(public_key), _decode(signature[:32])
    if key is None or commitment is None or _is_small(key) or _is_small(commitment):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % L
    return _same(_multiply(scalar, _BASE), _add(commitment, _multiply(challenge, key)))


def decode_base64(text):
    """The bytes of canonical base64 (RFC 4648, section 4, padded), or None."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError, ValueError):
        return None
    return data if base64.b64encode(data).decode("ascii") == text else None
