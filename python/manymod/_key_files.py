# SPDX-License-Identifier: Apache-2.0
"""What a caller gives for the contents of a file of keys, or for a password, as bytes."""

from __future__ import annotations

import os
import re
from typing import Any

from manymod.errors import InvalidKeyError

__all__ = ["contents_of", "is_pem"]

_PEM = re.compile(rb"-----BEGIN")


def is_pem(contents: memoryview | bytes) -> bool:
    """Whether the contents of a file have a block of PEM."""
    return _PEM.search(contents) is not None


def contents_of(name: str, value: Any, *, title: str = "", text: bool = True) -> memoryview:
    """The contiguous bytes of an argument.

    Args:
        name: of the argument.
        value: bytes, another object with a buffer, or text, which becomes UTF-8.
        title: what the messages of an InvalidKeyError begin with.
        text: whether text will do; DER has none.

    Raises:
        TypeError: if it is of another type: a path for instance, which is not opened.
        InvalidKeyError: if it is text that UTF-8 cannot hold.

    >>> bytes(contents_of("password", "s"))
    b's'
    """
    if isinstance(value, os.PathLike):
        raise TypeError(f"{name} must be the contents of the file, not its path: read_bytes()")
    if isinstance(value, str):
        if not text:
            raise TypeError(f"{name} must be bytes, not str: open the file with 'rb'")
        try:
            return memoryview(value.encode())
        except UnicodeEncodeError:
            raise InvalidKeyError(f"{title}{name} has characters that are no Unicode text") from None
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"{name} must be bytes or str, not {type(value).__name__}") from None
    return view if view.c_contiguous else memoryview(view.tobytes())
