# SPDX-License-Identifier: Apache-2.0
"""Integers to limbs and back, in every form."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.python.integers import edge_values, integers, positive

from manymod import IntArray, _core


def limb_rows(values: list[int], width: int) -> list[list[int]]:
    return [[abs(value) >> (64 * j) & (2**64 - 1) for j in range(width)] for value in values]


def test_edge_values_become_the_right_limbs_and_come_back() -> None:
    values = list(edge_values())
    array = IntArray.from_ints(values)
    assert array.limbs.tolist() == limb_rows(values, array.limbs.shape[1])
    assert array.negative is not None
    assert array.negative.tolist() == [value < 0 for value in values]
    assert array.to_ints() == values


@pytest.mark.parametrize("value", list(edge_values()))
def test_edge_value_alone_is_as_wide_as_it_must_be(value: int) -> None:
    array = IntArray.from_ints([value])
    assert array.limbs.shape == (1, max(1, -(-value.bit_length() // 64)))
    assert array.to_ints() == [value]
    assert array.to_mpz() == [gmpy2.mpz(value)]


@given(st.lists(integers(), max_size=12))
def test_ints_round_trip(values: list[int]) -> None:
    array = IntArray.from_ints(values)
    assert array.limbs.tolist() == limb_rows(values, array.limbs.shape[1])
    assert array.to_ints() == values
    assert list(array) == values


@given(st.lists(integers(), max_size=12), st.integers(0, 70))
def test_limbs_wider_than_needed_give_the_same_ints(values: list[int], extra: int) -> None:
    array = IntArray.from_ints(values)
    wide = np.zeros((len(values), array.limbs.shape[1] + extra), np.uint64)
    wide[:, : array.limbs.shape[1]] = array.limbs
    assert IntArray.from_limbs(wide, array.negative).to_ints() == values


@given(st.lists(integers(), max_size=12))
def test_mpz_round_trip(values: list[int]) -> None:
    array = IntArray.from_ints([gmpy2.mpz(value) for value in values])
    assert array.limbs.tolist() == limb_rows(values, array.limbs.shape[1])
    back = array.to_mpz()
    assert back == values
    assert all(type(value) is type(gmpy2.mpz()) for value in back)
    # gmpy2 itself must find them in order: arithmetic, hashing and its own serialisation
    assert [int(value + 1) for value in back] == [value + 1 for value in values]
    assert [hash(value) for value in back] == [hash(value) for value in values]
    assert [gmpy2.to_binary(value) for value in back] == [gmpy2.to_binary(gmpy2.mpz(v)) for v in values]


def test_mpz_reuse_of_freed_objects_is_safe() -> None:
    source = random.Random(4)
    for _ in range(200):
        values = [source.getrandbits(source.randrange(1, 3000)) for _ in range(40)]
        array = IntArray.from_ints(values)
        first = array.to_mpz()
        assert [int(value) for value in first] == values
        del first


def test_gmpy2_is_read_and_written_directly() -> None:
    assert _core.mpz_methods() == ("direct", "direct")


def test_results_do_not_share_memory_with_the_limbs() -> None:
    array = IntArray.from_ints([2**100])
    (value,), (mpz,) = array.to_ints(), array.to_mpz()
    array.limbs[:] = 1
    assert value == 2**100
    assert mpz == 2**100


def test_gmpy2_is_not_imported_for_ints() -> None:
    code = (
        "import manymod, sys; manymod.powmod([2], 5, 7); "
        "print(*(name in sys.modules for name in ('gmpy2', 'pyarrow')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


def test_fake_gmpy2_is_not_trusted() -> None:
    code = """
import sys, types
class mpz(int): pass
fake = types.ModuleType("gmpy2"); fake.mpz = mpz; fake.xmpz = mpz; fake.from_binary = bytes
sys.modules["gmpy2"] = fake
class Odd:
    def __index__(self): return 2**70
fake.mpz = Odd
from manymod import IntArray, _core
assert IntArray.from_ints([1, Odd()]).to_ints() == [1, 2**70]
print(*_core.mpz_methods())
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split()[0] != "direct"


class Indexed:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class SubInt(int):
    pass


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        np.uint8(200),
        np.int64(-(2**63)),
        np.uint64(2**64 - 1),
        Indexed(-(2**90)),
        SubInt(-(2**65)),
    ],
)
@pytest.mark.parametrize("container", [list, tuple])
def test_anything_with_index_is_an_integer(value: Any, container: Any) -> None:
    assert IntArray.from_ints(container([7, value, -1])).to_ints() == [7, value.__index__(), -1]


@pytest.mark.parametrize("bad", [1.5, "1", None, b"1", [1], 2 + 0j, np.float64(3)])
def test_bad_element_is_named(bad: Any) -> None:
    with pytest.raises(TypeError, match="element 2 "):
        IntArray.from_ints([1, gmpy2.mpz(2), bad, 3])


def test_error_raised_by_index_is_passed_on() -> None:
    class Broken:
        def __index__(self) -> int:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        IntArray.from_ints([Broken()])


def test_list_changed_while_it_is_read() -> None:
    values: list[Any] = [1, 2, 3]

    class Clearing:
        def __index__(self) -> int:
            values.clear()
            return 5

    values.insert(1, Clearing())
    assert IntArray.from_ints(values).to_ints() == [1, 5, 2, 3]


@pytest.mark.parametrize("text", ["12", b"12", bytearray(b"12")])
def test_text_is_not_a_sequence_of_integers(text: Any) -> None:
    with pytest.raises(TypeError):
        IntArray.from_ints(text)


@given(st.lists(positive(), max_size=8), st.sampled_from(["big", "little"]), st.integers(0, 9))
def test_bytes_round_trip(values: list[int], byteorder: Any, extra: int) -> None:
    length = max([1, *(-(-value.bit_length() // 8) for value in values)]) + extra
    rows = [value.to_bytes(length, byteorder) for value in values]
    expected = np.frombuffer(b"".join(rows), np.uint8).reshape(len(values), length)
    array = IntArray.from_bytes(expected, byteorder)
    assert array.to_ints() == values
    assert np.array_equal(array.to_bytes(length, byteorder), expected)
    assert IntArray.from_bytes(rows, byteorder).to_ints() == values


@pytest.mark.parametrize("width", list(range(1, 40)))
def test_bytes_of_every_width(width: int) -> None:
    rows = np.random.default_rng(width).integers(0, 256, (5, width), np.uint8)
    expected = [int.from_bytes(row.tobytes(), "big") for row in rows]
    assert IntArray.from_bytes(rows).to_ints() == expected
    assert IntArray.from_bytes(rows[::-1]).to_ints() == expected[::-1]
    assert IntArray.from_bytes(np.asfortranarray(rows)).to_ints() == expected
    assert np.array_equal(IntArray.from_ints(expected).to_bytes(width), rows)


def test_bytes_of_different_lengths() -> None:
    assert IntArray.from_bytes([b"", b"\x01\x00", b"\xff" * 17]).to_ints() == [0, 256, 2**136 - 1]
    with pytest.raises(TypeError, match="element 1 "):
        IntArray.from_bytes([b"1", "1"])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        IntArray.from_bytes(b"123")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        IntArray.from_bytes(np.zeros((2, 2), np.uint16))


def test_to_bytes_names_what_does_not_fit() -> None:
    with pytest.raises(OverflowError, match="item 1 "):
        IntArray.from_ints([255, 256]).to_bytes(1)
    with pytest.raises(OverflowError, match="item 1 "):
        IntArray.from_ints([1, 2**64]).to_bytes(8)
    with pytest.raises(OverflowError, match="item 2 is negative"):
        IntArray.from_ints([1, 2, -3]).to_bytes()
    with pytest.raises(OverflowError, match="item 0 "):
        IntArray.from_ints([2**130]).to_bytes(0)


@settings(max_examples=30)
@given(st.lists(positive(300), min_size=1, max_size=8))
def test_arrow_round_trip(values: list[int]) -> None:
    column = IntArray.from_ints(values).to_arrow()
    assert [int.from_bytes(value.as_py(), "big") for value in column] == values
    column.validate(full=True)
