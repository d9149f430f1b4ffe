# SPDX-License-Identifier: Apache-2.0
"""Bytes of points and signatures. Every decoder accepts one encoding of each value and names what is wrong.

Sources: SEC 1, sections 2.3.3 and 2.3.4 (points); X.690 and RFC 3279, section 2.2.3 (DER signatures); IEEE
P1363 (raw r || s).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.ecc.curves import Affine, Weierstrass


class EncodingError(ValueError):
    """Bytes that are no encoding of a valid value."""


def encode_point(curve: Weierstrass, point: Affine, *, compressed: bool = True) -> bytes:
    """02 or 03 and x, or 04, x and y."""
    x, y = (value.to_bytes(curve.bytes, "big") for value in point)
    return bytes([2 + point[1] % 2]) + x if compressed else b"\x04" + x + y


def decode_point(curve: Weierstrass, data: bytes) -> Affine:
    """A point on the curve, not infinity: length, form, ranges and the equation are checked.

    >>> from reference.ecc.curves import P256
    >>> decode_point(P256, encode_point(P256, P256.generator)) == P256.generator
    True
    >>> decode_point(P256, bytes(1))
    Traceback (most recent call last):
    reference.ecc.encodings.EncodingError: a point has 33 or 65 bytes, not 1
    """
    size = curve.bytes
    if len(data) not in {size + 1, 2 * size + 1}:
        raise EncodingError(f"a point has {size + 1} or {2 * size + 1} bytes, not {len(data)}")
    x, form = int.from_bytes(data[1 : size + 1], "big"), data[0]
    if len(data) == size + 1:
        if form not in {2, 3}:
            raise EncodingError("a compressed point begins with 02 or 03")
        if x >= curve.p:
            raise EncodingError("x is not below p")
        point = curve.lift_x(x, form & 1)
        if point is None:
            raise EncodingError("x is not on the curve")
        return point
    if form != 4:
        raise EncodingError("an uncompressed point begins with 04")
    y = int.from_bytes(data[size + 1 :], "big")
    if x >= curve.p or y >= curve.p:
        raise EncodingError("a coordinate is not below p")
    if not curve.contains((x, y)):
        raise EncodingError("the point is not on the curve")
    return x, y


def encode_raw(r: int, s: int, scalar_bytes: int) -> bytes:
    """r || s."""
    return r.to_bytes(scalar_bytes, "big") + s.to_bytes(scalar_bytes, "big")


def decode_raw(data: bytes, scalar_bytes: int) -> tuple[int, int]:
    """r and s, whose ranges the verifier checks."""
    if len(data) != 2 * scalar_bytes:
        raise EncodingError(f"a signature has {2 * scalar_bytes} bytes, not {len(data)}")
    return int.from_bytes(data[:scalar_bytes], "big"), int.from_bytes(data[scalar_bytes:], "big")


def encode_der(r: int, s: int) -> bytes:
    """SEQUENCE of two INTEGERs.

    >>> encode_der(1, 128).hex()
    '300702010102020080'
    """
    body = b"".join(_tagged(2, value.to_bytes(value.bit_length() // 8 + 1, "big")) for value in (r, s))
    return _tagged(0x30, body)


def decode_der(data: bytes) -> tuple[int, int]:
    """r and s of a DER signature; BER's other forms of lengths and integers are rejected.

    >>> decode_der(bytes.fromhex("300702010102020080"))
    (1, 128)
    """
    body, rest = _untagged(0x30, data)
    if rest:
        raise EncodingError("bytes follow the signature")
    r_bytes, body = _untagged(2, body)
    s_bytes, body = _untagged(2, body)
    if body:
        raise EncodingError("bytes follow s")
    return _integer(r_bytes), _integer(s_bytes)


def _tagged(tag: int, content: bytes) -> bytes:
    assert len(content) < 256, "signatures are shorter"
    length = bytes([len(content)]) if len(content) < 128 else bytes([0x81, len(content)])
    return bytes([tag]) + length + content


def _untagged(tag: int, data: bytes) -> tuple[bytes, bytes]:
    """Content of the first element, and what follows it."""
    if len(data) < 2 or data[0] != tag:
        raise EncodingError(f"no element of type {tag:02x}")
    length, start = data[1], 2
    if length == 0x81 and len(data) > 2:
        length, start = data[2], 3
        if length < 128:
            raise EncodingError("a length is not minimal")
    elif length >= 128:
        raise EncodingError("a length is indefinite or too long")
    if len(data) < start + length:
        raise EncodingError("an element is cut off")
    return data[start : start + length], data[start + length :]


def _integer(content: bytes) -> int:
    if not content:
        raise EncodingError("an integer is empty")
    if content[0] & 0x80:
        raise EncodingError("an integer is negative")
    if len(content) > 1 and content[0] == 0 and not content[1] & 0x80:
        raise EncodingError("an integer is not minimal")
    return int.from_bytes(content, "big")
