# SPDX-License-Identifier: Apache-2.0
"""The native module refuses what the package never gives it, instead of ending the process."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from manymod import _core


class _List(list[bytes]):
    def __len__(self) -> int:
        return 0


class _Tuple(tuple[bytes, ...]):
    __slots__ = ()

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("items", [_List([b"a", b"b"]), _Tuple((b"a", b"b"))])
def test_sequences_that_tell_another_length(items: Any) -> None:
    with pytest.raises(TypeError, match="must be a list or a tuple"):
        _core.taken_items(items)


def test_buffers_without_strides() -> None:
    rows: Any = ((ctypes.c_uint64 * 2) * 3)()
    with pytest.raises(ValueError, match="must have strides"):
        _core.bit_lengths(rows, np.zeros(3, np.int64))


class _Named(type):
    name: Any

    @property
    def __name__(cls) -> Any:  # type: ignore[override]
        if isinstance(cls.name, Exception):
            raise cls.name
        return cls.name


@pytest.mark.parametrize("name", ["\udc80", 5, None, RuntimeError("no name")])
def test_names_of_classes_are_those_that_they_were_defined_with(name: Any) -> None:
    odd = _Named("Odd", (), {"name": name})()
    with pytest.raises(TypeError, match="element 1 is not an integer: Odd$"):
        _core.scan_ints([5, odd])
    with pytest.raises(TypeError, match="element 1 is not bytes: Odd$"):
        _core.bytes_list_to_limbs([b"5", odd], np.zeros((2, 1), np.uint64))
    assert _core.hash_size(_core.MM_SHA256) == 32  # no exception is left behind
