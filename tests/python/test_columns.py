# SPDX-License-Identifier: Apache-2.0
"""Operands that are columns: Arrow arrays of every type with integers, Series of pandas and polars."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.python.integers import mixed

import manymod
from manymod import IntArray, Status

Values = list[Any]
EXACT = Context(prec=80)


def decimals(values: Values) -> Values:
    return [None if value is None else EXACT.create_decimal(value) for value in values]


def texts(values: Values) -> Values:
    """Every second one is hexadecimal."""
    return [None if v is None else hex(v) if i % 2 else str(v) for i, v in enumerate(values)]


def packed(values: Values) -> Values:
    return [
        None if v is None else v.to_bytes(40, "big") if i % 2 else b"\0" + bytes_of(v)
        for i, v in enumerate(values)
    ]


def bytes_of(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def read(value: Any) -> int | None:
    """The integer of a cell of an answer."""
    if value is None or value is pd.NA:
        return None
    if isinstance(value, str):
        return int(value, 0)
    return int.from_bytes(value, "big") if isinstance(value, bytes) else int(value)


#: How a column is made, its bits, whether it has signs, and what the answer is.
ARROW: dict[str, tuple[Callable[[Values], Any], int, bool, Any]] = {
    "int8": (lambda v: pa.array(v, pa.int8()), 7, True, pa.int64()),
    "uint64": (lambda v: pa.array(v, pa.uint64()), 64, False, pa.uint64()),
    "decimal128": (lambda v: pa.array(decimals(v), pa.decimal128(38, 0)), 126, True, pa.decimal128(38, 0)),
    "decimal of few digits": (
        lambda v: pa.array(decimals(v), pa.decimal128(20, 0)),
        66,
        True,
        pa.decimal128(38, 0),
    ),
    "decimal256": (lambda v: pa.array(decimals(v), pa.decimal256(76, 0)), 252, True, pa.decimal256(76, 0)),
    "string": (lambda v: pa.array(texts(v), pa.string()), 300, True, pa.string()),
    "large_string": (lambda v: pa.array(texts(v), pa.large_string()), 300, True, pa.large_string()),
    "binary": (lambda v: pa.array(packed(v), pa.binary()), 300, False, pa.binary()),
    "large_binary": (lambda v: pa.array(packed(v), pa.large_binary()), 300, False, pa.large_binary()),
    "dictionary": (lambda v: pa.array(texts(v)).dictionary_encode(), 300, True, pa.string()),
    "dictionary of integers": (
        lambda v: pa.array(v, pa.int64()).dictionary_encode(),
        63,
        True,
        pa.int64(),
    ),
    "runs": (
        lambda v: pa.RunEndEncodedArray.from_arrays(pa.array(range(1, len(v) + 1)), pa.array(v, pa.int32())),
        31,
        True,
        pa.int64(),
    ),
}
PANDAS: dict[str, tuple[Callable[[Values], Any], int, bool, Any]] = {
    "objects": (lambda v: pd.Series(v, dtype=object), 300, True, np.dtype(object)),
    "Int64": (lambda v: pd.Series(v, dtype="Int64"), 63, True, pd.Int64Dtype()),
    "UInt8": (lambda v: pd.Series(v, dtype="UInt8"), 8, False, pd.UInt64Dtype()),
    "text": (lambda v: pd.Series(texts(v), dtype="string"), 300, True, pd.StringDtype()),
    "text as objects": (
        lambda v: pd.Series(texts(v), dtype="string[python]"),
        300,
        True,
        pd.StringDtype("python"),
    ),
    "categories of text": (lambda v: pd.Series(texts(v)).astype("category"), 300, True, pd.StringDtype()),
    "Arrow decimals": (
        lambda v: pd.Series(
            pd.array(pa.array(decimals(v), pa.decimal128(38, 0)), pd.ArrowDtype(pa.decimal128(38, 0)))
        ),
        126,
        True,
        pd.ArrowDtype(pa.decimal128(38, 0)),
    ),
    "Arrow binary": (
        lambda v: pd.Series(packed(v), dtype=pd.ArrowDtype(pa.binary())),
        300,
        False,
        pd.ArrowDtype(pa.binary()),
    ),
    "categories": (lambda v: pd.Series(v, dtype=object).astype("category"), 300, True, np.dtype(object)),
}
POLARS: dict[str, tuple[Callable[[Values], Any], int, bool, Any]] = {
    "Int16": (lambda v: pl.Series("x", v, pl.Int16), 15, True, pl.Int64),
    "UInt64": (lambda v: pl.Series("x", v, pl.UInt64), 64, False, pl.UInt64),
    "Decimal": (lambda v: pl.Series("x", decimals(v), pl.Decimal(38, 0)), 126, True, pl.Decimal(38, 0)),
    "String": (lambda v: pl.Series("x", texts(v), pl.String), 300, True, pl.String),
    "Categorical": (lambda v: pl.Series("x", texts(v), pl.Categorical), 300, True, pl.String),
    "Binary": (lambda v: pl.Series("x", packed(v), pl.Binary), 300, False, pl.Binary),
    "Object": (lambda v: pl.Series("x", v, pl.Object), 300, True, pl.Object),
}
KINDS = {
    (package, name): kind
    for package, kinds in (("arrow", ARROW), ("pandas", PANDAS), ("polars", POLARS))
    for name, kind in kinds.items()
}


def cells(column: Any) -> list[int | None]:
    return [
        read(cell)
        for cell in (
            column.to_pylist() if isinstance(column, (pa.Array, pa.ChunkedArray)) else column.to_list()
        )
    ]


@pytest.mark.parametrize(("package", "name"), KINDS)
@pytest.mark.parametrize("nulls", [False, True])
def test_columns_of_every_type(package: str, name: str, nulls: bool) -> None:
    """As base, exponent and modulus; nulls have a status and are null in the answer."""
    make, bits, signed, kind = KINDS[package, name]
    source = random.Random(name)
    x, y = (mixed(source, 50, bits, signed=signed) for _ in range(2))
    n = [value or 1 for value in mixed(source, 50, bits, signed=signed)]
    null = [nulls and i % 7 == 3 for i in range(50)]
    first = make([None if missing else value for value, missing in zip(x, null, strict=True)])
    result, status = manymod.mulmod(first, make(y), make(n), errors="status")
    dtype = result.type if package == "arrow" else result.dtype
    assert dtype == kind
    assert type(result) is (type(first) if package != "arrow" else type(pa.array([], kind)))
    assert cells(result) == [None if m else a * b % c for a, b, c, m in zip(x, y, n, null, strict=True)]
    assert status.tolist() == [Status.NOT_COMPUTED if missing else 0 for missing in null]
    powers = manymod.powmod([3] * 50, make([abs(e) for e in y]), 1009, secret=True)
    assert powers == [pow(3, abs(e), 1009) for e in y]


def test_text_keeps_its_notation() -> None:
    column = pa.array(["0x10", "16", " +0XfF ", None, "-7"])
    assert manymod.addmod(column, 1, 1000).to_pylist() == ["0x11", "17", "0x100", None, "994"]


@pytest.mark.parametrize("bad", ["1.5", "", "ten", "1_000", "0x", "9" * 100_001])
def test_text_that_is_no_integer_is_named(bad: str) -> None:
    with pytest.raises(ValueError, match="^base: item 1 "):
        manymod.powmod(pa.array(["5", bad]), 2, 7)


def test_text_moduli_have_their_exact_width() -> None:
    """The bound on the limbs of text is one too high for some."""
    moduli = [2**64 - 1 - i for i in range(40)]
    result = manymod.mulmod(IntArray.from_ints(range(40)), 3, pa.array([str(n) for n in moduli]))
    assert result.limbs.shape == (40, 1)
    assert result.to_ints() == [3 * i for i in range(40)]
    assert manymod.mulmod(np.arange(2, dtype=np.uint64), 2, pa.array([str(2**64), "7"])).tolist() == [0, 2]


def test_chunks_stay() -> None:
    column = pa.chunked_array(
        [pa.array(["1", "2"]).dictionary_encode(), pa.array(["0x3"]).dictionary_encode()]
    )
    result = manymod.mulmod(column, 2, 7)
    assert [chunk.to_pylist() for chunk in result.chunks] == [["2", "4"], ["0x6"]]
    decimal = pa.chunked_array([[Decimal(5)], [Decimal(6), None]], pa.decimal128(5, 0))
    assert manymod.mulmod(decimal, 2, 7).to_pylist() == [3, 5, None]


def test_slices_and_their_offsets() -> None:
    for make, bits, signed, _ in ARROW.values():
        values = mixed(random.Random(5), 40, min(bits, 60), signed=signed)
        assert cells(manymod.addmod(make(values)[7:31], 0, 2**62)) == [v % 2**62 for v in values[7:31]]


def test_nulls_alone() -> None:
    for column in (pa.nulls(3), pl.Series("x", [None] * 3), pd.Series([None] * 3, dtype=object)):
        result, status = manymod.powmod(column, 5, 2**100, errors="status")
        assert cells(result) == [None] * 3
        assert status.tolist() == [Status.NOT_COMPUTED] * 3
        assert manymod.powmod([1, 2, 3], column, 7) == [None] * 3


def test_answers_that_do_not_fit_are_refused_before_computing() -> None:
    for column, modulus in (
        (pa.array([1], pa.int8()), 2**63 + 1),
        (pd.Series([1]), 2**63 + 1),
        (pl.Series([1]), 2**63 + 1),
        (pa.array([Decimal(1)], pa.decimal128(5, 0)), 10**38 + 1),
        (pa.array([Decimal(1)], pa.decimal256(5, 0)), 10**76 + 1),
    ):
        with pytest.raises(ValueError, match="results do not fit"):
            manymod.mulmod(column, 3, modulus)
        assert cells(manymod.mulmod(column, 3, modulus - 1)) == [3]
    for column in (pa.array([b"1"]), pl.Series([b"1"]), pd.Series([1], dtype="UInt8")):
        with pytest.raises(ValueError, match="negative"):
            manymod.mulmod(column, 3, -7)


def test_series_keep_their_index_and_name() -> None:
    series = pd.Series([5, 6], index=["a", "b"], name="n")
    result = manymod.powmod(series, 2, 7)
    pd.testing.assert_series_equal(result, pd.Series([4, 1], index=["a", "b"], name="n"))
    missing = manymod.mulmod(series, pd.Series([3, None], dtype="Int64", index=["a", "b"]), 7)
    pd.testing.assert_series_equal(missing, pd.Series([1, pd.NA], index=["a", "b"], name="n", dtype="Int64"))
    assert manymod.powmod(pl.Series("n", [5, 6]), 2, 7).name == "n"
    assert manymod.powmod(pd.Index([5, 6], name="i"), 2, 7).equals(pd.Index([4, 1]))
    assert manymod.powmod(pd.array([5, None]), 2, 7).tolist() == [4, pd.NA]
    assert manymod.powmod(pd.Series([True, False]), 2, 7).tolist() == [1, 0]
    with pytest.raises(ValueError, match="base and exp are Series of different indices"):
        manymod.powmod(series, pd.Series([1, 2]), 7)
    assert manymod.powmod(series, pd.Series([1, 2]).array, 7).tolist() == [5, 1]


def test_columns_in_place_and_in_other_calls() -> None:
    series = pd.Series([5, 6])
    out = np.empty(2, np.int64)
    assert manymod.powmod(series, 2, 7, out=out) is out
    assert out.tolist() == [4, 1]
    assert manymod.Plan("powmod", modulus=7)(series, 2).tolist() == [4, 1]
    assert manymod.FixedBase(3, 7).powmod(pl.Series([1, 2])).to_list() == [3, 2]


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pd.Series([1.0, 2.0]), "floats, which are exact up to"),
        (pd.Series([1.0, None], dtype="Float64"), "floats, which are exact up to"),
        (pl.Series([1.0]), "floats, which are exact up to"),
        (pd.Series(["a"], dtype=object), "element 0 is not an integer: str"),
        (pd.Series(pd.to_datetime(["2024-01-01"])), "datetime64"),
        (pd.Series([0, 1], dtype="Sparse[int64]"), "Sparse"),
        (pl.Series([1], dtype=pl.Int128), "Int128 is not taken: cast it"),
        (pl.Series([[1]]), "none of integers"),
        (pd.MultiIndex.from_tuples([(1, 2)]), "several values in each row"),
        (pd.DataFrame({"a": [1]}), "is a table: give one of its columns"),
        (pl.DataFrame({"a": [1]}), "is a table: give one of its columns"),
        (pa.table({"a": [1]}), "is a table: give one of its columns"),
        (pa.record_batch({"a": [1]}), "is a table: give one of its columns"),
    ],
)
def test_columns_that_are_not_taken(column: Any, why: str) -> None:
    with pytest.raises(TypeError, match=f"^x: .*{why}"):
        manymod.negmod(column, 7)


def test_arrays_by_the_arrow_interface() -> None:
    class Producer:
        def __arrow_c_array__(self, schema: Any = None) -> Any:
            return pa.array([b"\2", None]).__arrow_c_array__(schema)

    assert manymod.powmod(Producer(), 2, 7).to_pylist() == [b"\4", None]


def test_without_pyarrow() -> None:
    """Columns of integers and objects need none, and the others say so."""
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd, polars as pl, manymod
print(manymod.powmod(pd.Series([5, None], dtype="Int64"), 2, 7).tolist())
print(manymod.powmod(pd.Series([2**70], dtype=object), 2, 7).tolist())
print(manymod.powmod(pl.Series([5, None]), 2, 7).to_list())
try:
    manymod.powmod(pl.Series(["5"]), 2, 7)
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240
    )
    assert done.stdout.splitlines()[:3] == ["[4, <NA>]", f"[{2**140 % 7}]", "[4, None]"]
    assert "pip install pyarrow" in done.stdout


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string(), pa.decimal128(9, 0)])
def test_no_moduli_at_all(kind: Any) -> None:
    """The widest of none is not looked for in an item that there is not."""
    answer = manymod.addmod(5, pd.Series([], dtype="int64"), pa.array([], kind))
    assert (len(answer), answer.dtype) == (0, np.int64)


@pytest.mark.parametrize(
    ("kind", "hidden"),
    [
        (pa.int64(), -9),
        (pa.uint64(), 2**64 - 1),
        (pa.large_binary(), b"\xff" * 100),
        (pa.binary(9), b"\xff" * 9),
        (pa.large_string(), "-0x" + "f" * 100),
        (pa.string(), "no integer"),
        (pa.decimal128(38, 0), -(10**30)),
    ],
    ids=str,
)
def test_what_is_under_nulls_does_not_matter(kind: pa.DataType, hidden: Any) -> None:
    """Neither a sign there nor the length of a value."""
    text, raw = pa.types.is_large_string(kind) or pa.types.is_string(kind), "binary" in str(kind)
    size = 9 if pa.types.is_fixed_size_binary(kind) else 1
    five, seven = (str(n) if text else n.to_bytes(size, "big") if raw else n for n in (5, 7))
    whole = pa.array([five, hidden, seven], kind)
    _, *buffers = whole.buffers()
    moduli = pa.Array.from_buffers(kind, 3, [pa.py_buffer(b"\5"), *buffers])
    assert moduli.to_pylist() == [five, None, seven]
    assert manymod.mulmod(pa.array([1, 2, 3]), 3, moduli).to_pylist() == [3, None, 2]
    assert manymod.mulmod(moduli, 1, 5).null_count == 1
    assert whole.to_pylist() == [five, hidden, seven]


@pytest.mark.parametrize("kind", [pa.large_binary(), pa.large_string(), pa.binary(), pa.string()], ids=str)
def test_no_items_and_no_offsets(kind: pa.DataType) -> None:
    empty = pa.py_buffer(b"")
    column = pa.Array.from_buffers(kind, 0, [None, empty, empty])
    column.validate(full=True)
    assert len(manymod.mulmod(column, 2, 7)) == 0
