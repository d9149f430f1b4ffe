# SPDX-License-Identifier: Apache-2.0
"""Reads what the applications keep as JSON, and says of damaged text what it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["read_fields"]

_T = TypeVar("_T")

#: Of text that is no JSON or too deep, and of fields that are not there, of another type or out of range.
_DAMAGES = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


def read_fields(text: str | bytes, what: str, read: Callable[[Any], _T]) -> _T:
    """What `read` makes of JSON.

    Raises:
        ValueError: that it is not `what`, however it is damaged.

    >>> read_fields('{"n": "ff"}', "a key", lambda fields: int(fields["n"], 16))
    255
    >>> read_fields('{"n": 5}', "a key", lambda fields: int(fields["n"], 16))
    Traceback (most recent call last):
        ...
    ValueError: not a key
    """
    try:
        return read(json.loads(text))
    except _DAMAGES:
        raise ValueError(f"not {what}") from None
