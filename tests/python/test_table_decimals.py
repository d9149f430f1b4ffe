# SPDX-License-Identifier: Apache-2.0
"""Tables with columns of decimals, of every scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.python.cli_support import read_arrow, run, write_arrow
from tests.python.test_table_inputs import as_int, run_over


@pytest.mark.parametrize(
    "dtype", [pa.decimal128(9, 2), pa.decimal256(60, 40), pa.decimal128(5, -2), pa.decimal128(38, 37)]
)
def test_columns_of_decimals_hold_whole_numbers(tmp_path: Path, dtype: Any) -> None:
    texts = ["3", "2.5", None, "-4"] if dtype.scale > 0 else ["300", None, "-400", "0"]
    array = pa.array(texts, pa.string()).cast(pa.decimal128(38, 37) if dtype.scale == 37 else dtype)
    finished, rows = run_over(tmp_path, {"b": array, "n": pa.array(["1009"] * 4)}, "arrow")
    assert finished.code == 3
    expected = {None: ("base_is_null", None), "2.5": ("base_not_an_integer", None)}
    for text, row in zip(texts, rows, strict=True):
        wanted = expected.get(text) or ("ok", str(int(text or 0) ** 2 % 1009))
        assert (row["status"], row["result"]) == wanted


def decimals_of(dtype: Any, words: list[int]) -> Any:
    """An array of decimals 10^-scale words, which need not be among those that Arrow converts."""
    size = dtype.bit_width // 8
    raw = b"".join(word.to_bytes(size, "little", signed=True) for word in words)
    return pa.Array.from_buffers(dtype, len(words), [None, pa.py_buffer(raw)])


@pytest.mark.parametrize(
    ("dtype", "status"),
    [
        (pa.decimal256(76, -10), "ok"),
        (pa.decimal128(38, -40), "ok"),
        (pa.decimal128(5, -2000), "ok"),
        (pa.decimal128(5, -(10**9)), "base_not_an_integer"),  # as texts of so many digits
    ],
)
def test_decimals_of_more_digits_than_arrow_converts(tmp_path: Path, dtype: Any, status: str) -> None:
    words, n = [3, -(10**dtype.precision - 1), 0], 1_000_000_007
    source, out = tmp_path / "in.arrow", tmp_path / "out.arrow"
    write_arrow(source, pa.table({"b": decimals_of(dtype, words), "n": pa.array([n] * 3)}))
    finished = run("powmod", source, "-o", out, "--base", "b", "--exp", 2, "--mod", "n")
    assert finished.code == (0 if status == "ok" else 3)
    assert read_arrow(out)["status"].to_pylist() == [status] * 3
    if status == "ok":
        expected = [(word * 10**-dtype.scale) ** 2 % n for word in words]
        assert [as_int(value) for value in read_arrow(out)["result"].to_pylist()] == expected


@pytest.mark.parametrize("dtype", [pa.decimal128(5, 5), pa.decimal256(76, 76), pa.decimal128(5, 7)])
def test_decimals_below_one(tmp_path: Path, dtype: Any) -> None:
    columns = {"b": decimals_of(dtype, [0, 3, -3]), "n": pa.array(["7"] * 3)}
    finished, rows = run_over(tmp_path, columns, "csv")
    assert finished.code == 3
    assert [row["status"] for row in rows] == ["ok", *["base_not_an_integer"] * 2]
    assert rows[0]["result"] == "0"


@pytest.mark.parametrize("after", ["csv", "jsonl"])
def test_decimals_without_texts_are_refused(tmp_path: Path, after: str) -> None:
    columns = {"b": decimals_of(pa.decimal128(5, -39), [3]), "n": pa.array(["7"])}
    finished, _ = run_over(tmp_path, columns, after)
    assert finished.code == 1
    assert "column b of type decimal128(5, -39) cannot be written" in finished.err
