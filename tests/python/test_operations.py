# SPDX-License-Identifier: Apache-2.0
"""Every operation in every kind of input, against Python's own arithmetic."""

from __future__ import annotations

import itertools
import random
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import gmpy2
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.python.integers import integers, ints_of_bytes, ints_of_limbs, limbs_of, mixed

import manymod
from manymod import IntArray, Status

BINARY: dict[str, Callable[[int, int, int], int]] = {
    "addmod": lambda x, y, n: (x + y) % n,
    "submod": lambda x, y, n: (x - y) % n,
    "mulmod": lambda x, y, n: x * y % n,
    "powmod": pow,
}
UNARY: dict[str, Callable[[int, int], int]] = {
    "negmod": lambda x, n: -x % n,
    "sqrmod": lambda x, n: x * x % n,
    "invmod": lambda x, n: pow(x, -1, n),
}
FUNCTIONS = [*BINARY, *UNARY]


def expected(name: str, *operands: int) -> tuple[int, Status]:
    """What Python computes, or 0 and the status of what it raises."""
    try:
        return (BINARY | UNARY)[name](*operands), Status.OK
    except (ZeroDivisionError, ValueError):
        return 0, Status.ZERO_MODULUS if operands[-1] == 0 else Status.NOT_INVERTIBLE


def operands_for(name: str, seed: int, count: int, bits: int, *, signed: bool = True) -> list[list[int]]:
    source = random.Random(seed)
    columns = [mixed(source, count, bits, signed=signed) for _ in range(2 if name in BINARY else 1)]
    return [*columns, [value or 1 for value in mixed(source, count, bits, signed=signed)]]


def check(
    name: str, columns: Sequence[Any], rows: Sequence[tuple[int, ...]], to_ints: Callable[[Any], Any]
) -> None:
    result, status = getattr(manymod, name)(*columns, errors="status")
    pairs = [expected(name, *row) for row in rows]
    assert status.dtype == np.uint8
    assert status.tolist() == [code for _, code in pairs]
    assert to_ints(result) == [value for value, _ in pairs]


def ints_of_arrow(column: Any) -> list[int | None]:
    assert isinstance(column, (pa.Array, pa.ChunkedArray))
    column.validate(full=True)
    return [None if value is None else int.from_bytes(value, "big") for value in column.to_pylist()]


def typed(kind: type, to_ints: Callable[[Any], list[int]]) -> Callable[[Any], list[int]]:
    def checked(result: Any) -> list[int]:
        assert type(result) is kind
        return to_ints(result)

    return checked


def chunked(values: list[int]) -> Any:
    column = IntArray.from_ints(values).to_arrow()
    middle = len(values) // 3
    return pa.chunked_array([column[:middle], column[middle:]])


def mpz_list(result: Any) -> list[int]:
    assert all(type(value) is gmpy2.mpz for value in result)
    return [int(value) for value in result]


class Producer:
    """A DLPack producer that is not numpy, whose package offers no from_dlpack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack_answer_is_made_by_the_producing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    package = types.ModuleType("tensors")
    package.from_dlpack = lambda array: ("tensor", array.tolist())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensors", package)
    tensor_type = type("Tensor", (Producer,), {"__module__": "tensors.core"})
    x = tensor_type(np.array([[3], [4]], np.uint64))
    assert manymod.mulmod(x, 5, 7) == ("tensor", [[1], [6]])
    assert manymod.mulmod([3, 4], x, 7) == [2, 2]


SIGNED_KINDS: dict[str, tuple[Callable[[list[int]], Any], Callable[[Any], Any]]] = {
    "list": (list, typed(list, list)),
    "tuple": (tuple, typed(list, list)),
    "mpz": (lambda values: [gmpy2.mpz(value) for value in values], mpz_list),
    "IntArray": (IntArray.from_ints, typed(IntArray, IntArray.to_ints)),
    "objects": (
        lambda values: np.array([*values, None], object)[:-1],
        lambda a: list(a) if a.dtype == object else a,
    ),
}
UNSIGNED_KINDS: dict[str, tuple[Callable[[list[int]], Any], Callable[[Any], Any]]] = {
    "limbs": (limbs_of, ints_of_limbs),
    "bytes": (lambda values: IntArray.from_ints(values).to_bytes(), ints_of_bytes),
    "arrow": (lambda values: IntArray.from_ints(values).to_arrow(), ints_of_arrow),
    "chunked": (chunked, ints_of_arrow),
    "dlpack limbs": (lambda values: Producer(limbs_of(values)), ints_of_limbs),
    "dlpack bytes": (lambda values: Producer(IntArray.from_ints(values).to_bytes()), ints_of_bytes),
}


@pytest.mark.parametrize("kind", SIGNED_KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_kinds_with_signs(name: str, kind: str) -> None:
    make, to_ints = SIGNED_KINDS[kind]
    columns = operands_for(name, 11, 60, 300)
    check(name, [make(column) for column in columns], list(zip(*columns, strict=True)), to_ints)


@pytest.mark.parametrize("kind", UNSIGNED_KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_kinds_without_signs(name: str, kind: str) -> None:
    make, to_ints = UNSIGNED_KINDS[kind]
    columns = operands_for(name, 12, 60, 300, signed=False)
    check(name, [make(column) for column in columns], list(zip(*columns, strict=True)), to_ints)


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.permutations(["list", "IntArray", "limbs", "bytes", "arrow"], 2))
)
def test_answer_has_the_kind_of_the_first(first: str, second: str) -> None:
    kinds = SIGNED_KINDS | UNSIGNED_KINDS
    x, y, n = operands_for("powmod", 13, 20, 200, signed=False)
    columns = [kinds[first][0](x), kinds[second][0](y), kinds[second][0](n)]
    check("powmod", columns, list(zip(x, y, n, strict=True)), kinds[first][1])


@pytest.mark.parametrize("mask", list(itertools.product([False, True], repeat=3)))
def test_scalars_broadcast(mask: tuple[bool, bool, bool]) -> None:
    columns = operands_for("powmod", 14, 10, 130)
    columns[2] = [value | 1 for value in columns[2]]
    given_ = [column[0] if scalar else column for scalar, column in zip(mask, columns, strict=True)]
    rows = list(zip(*[[c[0]] * 10 if s else c for s, c in zip(mask, columns, strict=True)], strict=True))
    if all(mask):
        result, status = manymod.powmod(*given_, errors="status")
        assert (result, status) == expected("powmod", *rows[0])
        assert isinstance(status, Status)
    else:
        check("powmod", given_, rows, typed(list, list))


@pytest.mark.parametrize("scalar", [5, gmpy2.mpz(5), np.int8(5), np.uint64(5), np.array(5), True])
def test_scalar_types(scalar: Any) -> None:
    assert manymod.powmod([2, 3], scalar, 1009) == [pow(2, int(scalar), 1009), pow(3, int(scalar), 1009)]
    result = manymod.powmod(scalar, 3, 1009)
    assert result == int(scalar) ** 3
    assert type(result) is (gmpy2.mpz if type(scalar) is gmpy2.mpz else int)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_empty_batches(name: str) -> None:
    columns: list[list[int]] = [[] for _ in operands_for(name, 1, 1, 10)]
    function = getattr(manymod, name)
    assert function(*columns) == []
    assert function(*[IntArray.from_ints(c) for c in columns]).to_ints() == []
    assert function(*[np.zeros((0, 3), np.uint64) for _ in columns]).shape == (0, 3)
    assert function(*[np.zeros((0, 3), np.uint8) for _ in columns]).shape == (0, 3)
    assert len(function(*[pa.array([], pa.binary(4)) for _ in columns])) == 0
    assert function([], *[7] * (len(columns) - 1)) == []


@settings(max_examples=150)
@given(st.sampled_from(FUNCTIONS), st.data())
def test_against_python(name: str, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    numbers = st.lists(integers(600), min_size=count, max_size=count)
    columns = [data.draw(numbers) for _ in range(3 if name in BINARY else 2)]
    if name == "powmod":
        exponents = st.lists(integers(130), min_size=count, max_size=count)
        columns[1] = data.draw(exponents)
    check(name, columns, list(zip(*columns, strict=True)), typed(list, list))
    modulus = columns[-1][0]
    shared = [(*row[:-1], modulus) for row in zip(*columns, strict=True)]
    check(name, [*columns[:-1], modulus], shared, typed(list, list))


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
)
def test_integer_arrays(dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 2, 100], dtype)
    n = np.array([7, 13, 1, 5, 127, 101], dtype)
    result = manymod.mulmod(x, x[::-1], n)
    assert result.dtype == (np.int64 if info.min < 0 else np.uint64)
    rows = zip(x.tolist(), x[::-1].tolist(), n.tolist(), strict=True)
    assert result.tolist() == [a * b % m for a, b, m in rows]
    shifted = np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(dtype)
    assert manymod.mulmod(shifted, 3, 101).tolist() == [value * 3 % 101 for value in x.tolist()]


def test_integer_arrays_use_the_whole_range() -> None:
    low = np.array([-1, -5, -(2**63)])
    assert manymod.addmod(low, 0, 2**63).tolist() == [2**63 - 1, 2**63 - 5, 0]
    assert manymod.addmod(low, 0, -(2**63)).tolist() == [-1, -5, 0]
    assert manymod.submod(np.array([0, 3], np.uint64), 1, 2**64).tolist() == [2**64 - 1, 2]
    for x, n in ((low, 2**63 + 1), (low, -(2**63) - 1), (low.view(np.uint64), 2**64 + 1)):
        with pytest.raises(ValueError, match="do not fit"):
            manymod.addmod(x, 0, n)
    with pytest.raises(ValueError, match="negative"):
        manymod.addmod(low.view(np.uint64), 0, -5)
    wide = np.zeros((3, 2), np.uint64)
    wide[:, 0] = 2**63
    assert manymod.addmod(low, 0, wide).tolist() == [2**63 - 1, 2**63 - 5, 0]
    wide[0, 1] = 1
    with pytest.raises(ValueError, match="do not fit"):
        manymod.addmod(low, 0, wide)


def test_widths_of_answers() -> None:
    x = limbs_of([3, 2**300])
    assert manymod.mulmod(x, x, 2**100).shape == (2, 2)
    assert manymod.mulmod(x, x, x).shape == x.shape
    rows = IntArray.from_ints([3, 2**300]).to_bytes()
    assert manymod.mulmod(rows, rows, 2**100).shape == (2, 13)
    assert manymod.mulmod(rows, rows, rows).shape == rows.shape
    assert manymod.mulmod(IntArray.from_limbs(x).to_arrow(), 3, 2**100).type == pa.binary(13)


@pytest.mark.parametrize("make", [limbs_of, UNSIGNED_KINDS["bytes"][0], UNSIGNED_KINDS["arrow"][0]])
def test_negative_modulus_needs_a_kind_with_signs(make: Callable[[list[int]], Any]) -> None:
    with pytest.raises(ValueError, match="negative"):
        manymod.mulmod(make([1, 2]), 3, [5, -7])
    assert manymod.mulmod(IntArray.from_ints([1, 2]), 3, [5, -7]).to_ints() == [3, -1]


def test_nulls() -> None:
    column = pa.array([b"\x02", None, b"\x03", b"\x04", None])
    column = column.cast(pa.binary(1))
    numbers = pa.array([5, 6, None, 0, None], pa.int16())
    result, status = manymod.powmod(column, 3, numbers, errors="status")
    assert ints_of_arrow(result) == [3, None, None, 0, None]
    assert status.tolist() == [0, 5, 5, Status.ZERO_MODULUS, 5]
    assert manymod.mulmod(numbers, 3, 11).to_pylist() == [4, 7, None, 0, None]
    assert manymod.mulmod(numbers, 3, 11).type == pa.int64()
    assert manymod.mulmod([1, 2, 3, 4, 5], numbers, 7) == [5, 5, None, 0, None]
    assert manymod.mulmod(pa.chunked_array([numbers[1:3], numbers]), 2, 7).to_pylist() == [
        5,
        None,
        3,
        5,
        None,
        0,
        None,
    ]
    assert manymod.mulmod(pa.array([None, None], pa.binary(4)), 2, 7).null_count == 2
    for x in (IntArray.from_ints([1] * 5), np.arange(5), np.ones((5, 1), np.uint64)):
        with pytest.raises(ValueError, match="null"):
            manymod.mulmod(x, numbers, 7)


def test_null_is_not_an_error() -> None:
    numbers = pa.array([1, None], pa.uint8())
    moduli = pa.array([7, 0], pa.uint8())
    assert manymod.mulmod(numbers, 1, moduli).to_pylist() == [1, None]


@pytest.mark.parametrize("layout", ["sliced", "chunked"])
def test_arrow_offsets_and_chunks(layout: str) -> None:
    values = list(range(100))
    column = pa.array([value.to_bytes(3, "big") for value in values], pa.binary(3))
    numbers = pa.array(values, pa.uint32())
    if layout == "sliced":
        column, numbers, values = column[7:91], numbers[7:91], values[7:91]
    else:
        column = pa.chunked_array([column[:9], column[9:9], column[9:]])
        numbers = pa.chunked_array([numbers[:50], numbers[50:]])
    result = manymod.mulmod(column, numbers, 1009)
    assert ints_of_arrow(result) == [value * value % 1009 for value in values]
    if layout == "chunked":
        assert [len(chunk) for chunk in result.chunks] == [9, 0, 91]
    assert manymod.mulmod(numbers, column, 1009).to_pylist() == [value * value % 1009 for value in values]


def test_empty_chunked_array() -> None:
    empty = pa.chunked_array([], pa.binary(4))
    assert manymod.mulmod(empty, empty, 7).num_chunks == 0


def test_mixed_widths_stay_in_order_and_in_bounded_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(20)
    rows = [
        [source.getrandbits(bits) for bits in (source.choice([20, 5000]), 40, source.choice([30, 60, 2000]))]
        for _ in range(500)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    columns[2] = [value | 1 for value in columns[2]]
    arrays: list[int] = []
    monkeypatch.setattr(manymod._run, "RUN_BYTES", 20_000)
    original = manymod._core.ints_to_limbs

    def watched(sequence: Any, start: int, limbs: Any, negative: Any) -> None:
        arrays.append(limbs.nbytes)
        original(sequence, start, limbs, negative)

    monkeypatch.setattr(manymod._core, "ints_to_limbs", watched)
    check("powmod", columns, list(zip(*columns, strict=True)), typed(list, list))
    assert len(arrays) > 30
    assert max(arrays) <= 20_000
    rows_of_bytes = IntArray.from_ints(columns[0]).to_bytes()
    check("powmod", [rows_of_bytes, *columns[1:]], list(zip(*columns, strict=True)), ints_of_bytes)


def test_items_wider_than_a_run() -> None:
    huge = [2**3_000_000 - 1, 5, 2**2_000_000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manymod._run, "RUN_BYTES", 1000)
        assert manymod.mulmod(huge, huge, [1009, 11, 2**61 - 1]) == [
            x * x % n for x, n in zip(huge, [1009, 11, 2**61 - 1], strict=True)
        ]


@pytest.mark.parametrize("kind", ["list", "IntArray", "limbs", "bytes"])
def test_secret_class(kind: str) -> None:
    make, to_ints = (SIGNED_KINDS | UNSIGNED_KINDS)[kind]
    x, y, n = operands_for("powmod", 15, 40, 260, signed=False)
    n = [value | 1 for value in n]
    values = [pow(*row) for row in zip(x, y, n, strict=True)]
    assert to_ints(manymod.powmod_sec(make(x), make(y), make(n))) == values
    assert to_ints(manymod.powmod(make(x), make(y), make(n), secret=True)) == values
    assert to_ints(manymod.powmod(make(x), y[0], n[0], secret=True)) == [pow(v, y[0], n[0]) for v in x]
    inverses, status = manymod.invmod(make(x), make(n), secret=True, errors="status")
    pairs = [expected("invmod", *row) for row in zip(x, n, strict=True)]
    assert to_ints(inverses) == [value for value, _ in pairs]
    assert status.tolist() == [code for _, code in pairs]
    again, status = manymod.invmod_sec(make(x), make(n), errors="status")
    assert to_ints(again) == to_ints(inverses)
    assert status.tolist() == [code for _, code in pairs]
