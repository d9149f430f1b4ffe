# SPDX-License-Identifier: Apache-2.0
"""How text stands for integers and bytes: decimal, hexadecimal and Base64."""

from __future__ import annotations

import base64
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "AUTO",
    "NOTATIONS",
    "array_said_itself",
    "from_base64",
    "from_hexadecimal",
    "looks_hexadecimal",
    "said_itself",
]

#: Decimal, or hexadecimal after 0x.
AUTO = "auto"
#: Notations of integers in text. Base64 has their bytes, big-endian and unsigned.
NOTATIONS = (AUTO, "dec", "hex", "base64")

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)
_PREFIX = re.compile(r"^[ \t\r\n]*([+-]?)(?:0[xX])?")
_URL_SAFE = str.maketrans("-_", "+/")


def from_hexadecimal(text: str) -> bytes:
    """Return the bytes of hexadecimal digits, with or without 0x.

    Raises:
        ValueError: if they are none.
    """
    text = text.strip()
    return bytes.fromhex(text[2:] if text[:2] in {"0x", "0X"} else text)


def from_base64(text: str) -> bytes:
    r"""Return the bytes of Base64 in the standard or the URL-safe alphabet, with or without padding.

    Raises:
        ValueError: if it is none.

    >>> from_base64("_w"), from_base64("/w==")
    (b'\xff', b'\xff')
    """
    text = text.strip().translate(_URL_SAFE)
    digits = text.rstrip("=")
    padding = "=" * (-len(digits) % 4)
    if not _BASE64.fullmatch(text) or len(padding) == 3 or text not in {digits, digits + padding}:
        raise ValueError("not Base64")
    return base64.b64decode(digits + padding)


def said_itself(cell: str, notation: str) -> str:
    """Return a cell in a notation as one that says itself which it has, as `AUTO` reads it.

    Hexadecimal gets its 0x, Base64 becomes hexadecimal; what is not in the notation becomes no integer.

    >>> said_itself("-ff", "hex"), said_itself("_w", "base64"), said_itself("0x10", "dec")
    ('-0xff', '0xff', '')
    """
    if notation == "hex":
        return _PREFIX.sub(r"\g<1>0x", cell, count=1)
    if notation == "base64":
        try:
            return "0x" + from_base64(cell).hex()
        except ValueError:
            return ""
    return "" if notation == "dec" and "x" in cell.lower() else cell


def array_said_itself(array: Any, notation: str) -> Any:
    """Return cells of large_string, each as `said_itself` returns it."""
    if notation == "hex":
        return pc.replace_substring_regex(array, _PREFIX.pattern, r"\10x", max_replacements=1)
    if notation == AUTO:
        return array
    cells = [None if cell is None else said_itself(cell, notation) for cell in array.to_pylist()]
    return pa.array(cells, pa.large_string())


def looks_hexadecimal(array: Any) -> bool:
    """Whether one of these cells, none of which is an integer, is one in hexadecimal digits without 0x."""
    found = pc.match_substring_regex(array, r"^\s*[+-]?[0-9a-fA-F]*[a-fA-F][0-9a-fA-F]*\s*$")
    return bool(pc.any(found).as_py())
