# SPDX-License-Identifier: Apache-2.0
"""IntArray as a container."""

from __future__ import annotations

import copy
import itertools
import operator
import pickle
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.python.integers import integers

import manymod
from manymod import IntArray

VALUES = [0, 1, -1, 2**64, -(2**64), 2**64 + 1, 5, 2**200]
COMPARISONS: list[Callable[[Any, Any], Any]] = [
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]


def test_items_slices_masks_and_index_arrays() -> None:
    array = IntArray.from_ints(VALUES)
    assert len(array) == len(VALUES)
    assert [array[i] for i in range(-len(VALUES), len(VALUES))] == VALUES * 2
    assert array[np.int32(3)] == VALUES[3]
    for part in (slice(None), slice(2, 5), slice(None, None, -1), slice(6, 0, -2), slice(3, 3)):
        assert array[part].to_ints() == VALUES[part]
    assert array[array > 1].to_ints() == [value for value in VALUES if value > 1]
    assert array[np.array([7, 0, -2])].to_ints() == [VALUES[7], VALUES[0], VALUES[-2]]
    assert array[[4, 4]].to_ints() == [VALUES[4]] * 2
    assert array[[]].to_ints() == []


LIKE_NUMPY: list[Any] = [
    *(
        slice(*bounds)
        for bounds in itertools.product([None, -20, -3, 0, 2, 20], [None, -2, 5, 30], [None, 1, 3, -1, -2])
    ),
    slice(np.int8(1), np.uint64(6)),
    slice(-(10**30), 10**30),
    ...,
    (),
    (...,),
    (slice(1, 4),),
    (..., slice(None, None, -1)),
    ([2, -1],),
    range(3),
    [np.int8(-1), 0],
    [True, False] * 4,
    np.zeros(8, bool),
    np.array([], np.uint8),
    np.array([7, 0], np.uint64),
    np.arange(8)[::-2],
    [],
]


def test_parts_are_those_of_numpy() -> None:
    array, objects = IntArray.from_ints(VALUES), np.array(VALUES, object)
    for index in LIKE_NUMPY:
        part = array[index]
        assert isinstance(part, IntArray)
        assert part.to_ints() == objects[index].tolist(), index
        assert part.limbs.shape == (len(part), 4)


@pytest.mark.parametrize(
    "index", [(3,), (..., -1), (0, ...), np.array(5), (np.uint8(2),), np.int64(-8)], ids=repr
)
def test_items_are_those_of_numpy(index: Any) -> None:
    item = IntArray.from_ints(VALUES)[index]
    assert type(item) is int
    assert item == np.array(VALUES, object)[index]


OUT_OF_RANGE: list[Any] = [
    8,
    -9,
    10**30,
    (0, 1),
    (slice(None), 0),
    (..., ...),
    (0, ..., 1),
    (1, 2, 0.5),
    [8],
    [0, -9],
    [2**70],
    [-(2**70), 0],
    np.array([2**64 - 1], np.uint64),
    np.array([9], np.int8),
    np.array(8),
    [True, False],
    np.zeros(9, bool),
]


@pytest.mark.parametrize("index", OUT_OF_RANGE, ids=repr)
def test_index_out_of_range(index: Any) -> None:
    with pytest.raises(IndexError):
        IntArray.from_ints(VALUES)[index]


NO_INDEX: list[Any] = [
    1.0,
    "a",
    b"a",
    None,
    (None,),
    True,
    np.False_,
    np.array(True),
    [1.0],
    [None],
    np.array([]),
    np.zeros((2, 2), int),
    [[0, 1]],
    {1: 2},
    np.ma.MaskedArray([0, 1], [True, False]),
]


@pytest.mark.parametrize("index", NO_INDEX, ids=repr)
def test_bad_index(index: Any) -> None:
    with pytest.raises(TypeError):
        IntArray.from_ints(VALUES)[index]


def test_a_width_that_does_not_depend_on_the_values() -> None:
    for values in ([0, 1], [-5, 2**255], [2**256 - 1, -(2**256) + 1], []):
        array = IntArray.from_ints(values, bits=256)
        assert (array.bits, array.to_ints()) == (256, values)
    assert IntArray.from_ints([1], bits=257).bits == 320
    assert IntArray.from_ints([0], bits=0).bits == 64
    for value in (2**256, -(2**256), 2**300):
        with pytest.raises(OverflowError, match="^item 1 has .* bits, more than 256$"):
            IntArray.from_ints([1, value, 2], bits=256)
    with pytest.raises(OverflowError, match="more than 3$"):
        IntArray.from_ints([8], bits=3)
    with pytest.raises(ValueError, match="bits must be"):
        IntArray.from_ints([1], bits=-1)
    with pytest.raises(TypeError, match="integer"):
        IntArray.from_ints([1], bits=1.5)  # type: ignore[arg-type]


def test_constructor_points_to_the_factories() -> None:
    with pytest.raises(TypeError, match="from_ints"):
        IntArray()
    with pytest.raises(TypeError, match="from_ints"):
        IntArray([1])


def test_from_limbs_shares_memory_where_it_can() -> None:
    limbs = np.zeros((4, 3), np.uint64)
    array = IntArray.from_limbs(limbs)
    limbs[2, 1] = 9
    assert array[2] == 9 << 64
    assert np.shares_memory(array.limbs, limbs)
    assert np.shares_memory(IntArray.from_limbs(limbs[1:3]).limbs, limbs)


@pytest.mark.parametrize(
    "layout",
    [
        lambda a: a[::-1],
        lambda a: a[:, ::2],
        np.asfortranarray,
        lambda a: a.astype(">u8"),
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a[::2, 1:3],
        lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(np.uint64).reshape(a.shape),
    ],
)
def test_from_limbs_takes_any_layout(layout: Callable[[Any], Any]) -> None:
    limbs = layout(np.random.default_rng(5).integers(0, 2**63, (6, 4), np.uint64))
    expected = [sum(int(limb) << (64 * j) for j, limb in enumerate(row)) for row in limbs]
    assert IntArray.from_limbs(limbs).to_ints() == expected


def test_from_limbs_takes_every_type_of_64_bits() -> None:
    """Where unsigned long and unsigned long long have as many, numpy has a type of each."""
    for dtype in (np.uint64, np.ulonglong, np.dtype(np.uint64).newbyteorder()):
        assert IntArray.from_limbs(np.array([[1, 2]]).astype(dtype)).to_ints() == [1 + (2 << 64)]


def test_from_limbs_rejects_other_arrays() -> None:
    for bad in (np.zeros(4, np.uint64), np.zeros((4, 2), np.int64), np.zeros((4, 2), np.uint32)):
        with pytest.raises(TypeError, match="uint64"):
            IntArray.from_limbs(bad)
    with pytest.raises(ValueError, match="negative"):
        IntArray.from_limbs(np.zeros((4, 1), np.uint64), np.zeros(3, bool))
    assert IntArray.from_limbs(np.zeros((2, 0), np.uint64)).to_ints() == [0, 0]


def test_there_is_no_negative_zero() -> None:
    array = IntArray.from_limbs(np.array([[0], [3]], np.uint64), np.array([True, True]))
    assert array.to_ints() == [0, -3]
    assert (array == [0, -3]).all()
    assert array.negative is not None
    assert array.negative.tolist() == [False, True]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_comparison(compare: Callable[[Any, Any], Any]) -> None:
    array = IntArray.from_ints(VALUES)
    others = VALUES[3:] + VALUES[:3]
    expected = [bool(compare(x, y)) for x, y in zip(VALUES, others, strict=True)]
    for other in (others, tuple(others), IntArray.from_ints(others), np.array(others, object)):
        result = compare(array, other)
        assert result.dtype == np.bool_
        assert result.tolist() == expected
    for scalar in (0, -1, 2**64, -(2**300), np.int64(5)):
        assert compare(array, scalar).tolist() == [bool(compare(x, int(scalar))) for x in VALUES]


@given(st.lists(st.tuples(integers(200), integers(200)), max_size=8))
def test_order_is_that_of_ints(pairs: list[tuple[int, int]]) -> None:
    left, right = [x for x, _ in pairs], [y for _, y in pairs]
    wide = np.zeros((len(pairs), 9), np.uint64)
    narrow = IntArray.from_ints(right)
    wide[:, : narrow.limbs.shape[1]] = narrow.limbs
    assert (IntArray.from_ints(left) < IntArray.from_limbs(wide, narrow.negative)).tolist() == [
        x < y for x, y in pairs
    ]


def test_comparison_with_other_things() -> None:
    array = IntArray.from_ints([1, 2])
    assert (array == "x") is False
    with pytest.raises(ValueError, match="lengths differ: 2 and 3"):
        _ = array == [1, 2, 3]
    with pytest.raises(TypeError):
        _ = array < 1.5
    with pytest.raises(TypeError, match="unhashable"):
        hash(array)


def test_bit_lengths_and_width() -> None:
    array = IntArray.from_ints(VALUES)
    assert array.bit_lengths().tolist() == [value.bit_length() for value in VALUES]
    assert array.bits == 256


def test_concatenate() -> None:
    parts = [VALUES[:2], [], [2**400], VALUES]
    joined = IntArray.concatenate([IntArray.from_ints(part) for part in parts])
    assert joined.to_ints() == [value for part in parts for value in part]
    assert IntArray.concatenate([]).to_ints() == []
    assert IntArray.concatenate(IntArray.from_ints([i, -i]) for i in (1, 2)).to_ints() == [1, -1, 2, -2]
    with pytest.raises(TypeError, match="element 1 "):
        IntArray.concatenate([IntArray.from_ints([1]), [2]])  # type: ignore[list-item]


def test_pickle() -> None:
    array = IntArray.from_ints(VALUES)
    assert pickle.loads(pickle.dumps(array)).to_ints() == VALUES
    assert pickle.loads(pickle.dumps(array[::-1])).to_ints() == VALUES[::-1]


class Third:
    def __index__(self) -> int:
        return 2


def test_behaves_like_a_1d_array() -> None:
    array = IntArray.from_ints(VALUES)
    assert (array.shape, array.size, array.tolist()) == ((len(VALUES),), len(VALUES), VALUES)
    assert array[Third()] == VALUES[2]
    copy = array[1:].copy()
    assert copy.to_ints() == VALUES[1:]
    assert not np.shares_memory(copy.limbs, array.limbs)


def test_slices_are_views_with_their_signs() -> None:
    array = IntArray.from_ints([2, 3, 4, 5, 6])
    inner, outer = array[1:][::2], array[1:]
    manymod.negmod(inner, -9, out=inner)
    assert array.to_ints() == [2, -3, 4, -5, 6]
    assert outer.to_ints() == [-3, 4, -5, 6]
    assert outer.negative is not None
    assert outer.negative.tolist() == [True, False, True, False]
    manymod.mulmod(array, -1, 9, out=array)
    assert array.negative is None or not array.negative.any()
    assert outer.to_ints() == [3, 5, 5, 3]
    assert pickle.loads(pickle.dumps(outer)).to_ints() == [3, 5, 5, 3]


def test_threads_that_write_to_views_keep_the_signs_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread makes the signs of the whole array while the other does, too."""
    array = IntArray.from_ints([1, 1])
    zeros = np.zeros

    def interrupted(*arguments: Any, **options: Any) -> Any:
        made = zeros(*arguments, **options)
        monkeypatch.setattr(np, "zeros", zeros)
        manymod.mulmod(IntArray.from_ints([2]), 1, -7, out=array[:1])
        return made

    monkeypatch.setattr(np, "zeros", interrupted)
    array[1:]._set_signs(np.ones(1, np.uint8))
    assert array.to_ints() == [-5, -1]


# Older versions of NumPy announce that __index__ of its bools will go.
@pytest.mark.filterwarnings("ignore:In future, it will be an error for 'np.bool")
def test_numpy_bools_and_bytearrays() -> None:
    assert IntArray.from_ints([np.True_, 5, np.False_]).to_ints() == [1, 5, 0]
    assert (IntArray.from_ints([1, 2]) == np.True_).tolist() == [True, False]
    assert IntArray.from_bytes([bytearray(b"\x01\x00"), b"\x02"]).to_ints() == [256, 2]


def test_masked_arrays_are_refused() -> None:
    masked: Any = np.ma.MaskedArray(np.zeros((2, 1), np.uint64), mask=[[False], [True]])
    with pytest.raises(TypeError, match="masked"):
        IntArray.from_limbs(masked)
    with pytest.raises(TypeError, match="masked"):
        IntArray.from_bytes(masked)


def test_repr_is_short() -> None:
    assert repr(IntArray.from_ints([1, -2])) == "IntArray(N=2, bits=64, [1, -2])"
    assert repr(IntArray.from_ints([])) == "IntArray(N=0, bits=64, [])"
    long = repr(IntArray.from_ints([2**4000] * 1000))
    assert long.startswith("IntArray(N=1000, bits=4032, [0x10000000...0000, ")
    assert len(long) < 150


def test_dlpack() -> None:
    array = IntArray.from_ints([1, 2**70])
    assert np.shares_memory(np.from_dlpack(array), array.limbs)
    with pytest.raises(BufferError):
        np.from_dlpack(IntArray.from_ints([-1]))


@pytest.mark.parametrize(
    "other",
    [
        range(1, 4),
        deque([1, 2, 3]),
        pa.array([1, 2, 3]),
        pa.chunked_array([[1], [2, 3]]),
        pd.Series([1, 2, 3]),
    ],
)
def test_comparison_with_every_kind_of_sequence(other: Any) -> None:
    array = IntArray.from_ints([1, 5, 3])
    assert (array == other).tolist() == [True, False, True]
    assert (array != other).tolist() == [False, True, False]


def test_comparison_with_arrays() -> None:
    array = IntArray.from_ints([1, 5, 3])
    assert (array == np.array(5)).tolist() == [False, True, False]
    for wrong in (np.ones((3, 1), np.uint64), np.ones(3)):
        with pytest.raises(TypeError, match="not with integers"):
            _ = array == wrong
    with pytest.raises(TypeError, match="element 1 is not an integer: NoneType"):
        _ = array == pa.array([1, None, 3])
    for other in ({1, 5, 3}, {}, b"123", object()):
        assert (array == other) is False


def test_copies_by_the_module_copy_share_nothing() -> None:
    """Else results in a copy would change magnitudes of the original, without their signs."""
    original = IntArray.from_ints([1, 2])
    for made in (copy.copy(original), copy.deepcopy(original)):
        manymod.submod(made, 5, -7, out=made)
        assert made.to_ints() == [-4, -3]
        assert original.to_ints() == [1, 2]
