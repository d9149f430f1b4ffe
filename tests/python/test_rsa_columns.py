# SPDX-License-Identifier: Apache-2.0
"""RSA calls on columns of pandas, polars and Arrow, and key indices of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.python.rsa_support import private_key

import manymod
from manymod import rsa

HOW = ("pkcs1v15", "sha256")
MESSAGES = [b"one", b"", b"three", b"four"]


@pytest.fixture(scope="module")
def ring() -> rsa.KeyRing:
    return rsa.KeyRing([private_key(1024, number) for number in range(3)])


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "pandas objects": lambda v: pd.Series(v, dtype=object, name="m", index=range(3, 3 + len(v))),
    "pandas Arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.binary()), name="m"),
    "polars": lambda v: pl.Series("m", v, pl.Binary),
    "polars objects": lambda v: pl.Series("m", v, pl.Object),
    "dictionary": lambda v: pa.array(v, pa.binary()).dictionary_encode(),
    "numpy objects": lambda v: np.array([*v, None], object)[:-1],
}


def cells(column: Any) -> list[Any]:
    found = column.to_pylist() if isinstance(column, pa.Array) else list(column)
    return [None if cell is pd.NA else cell for cell in found]


@pytest.mark.parametrize(
    ("name", "nulls"), [(name, nulls) for name in COLUMNS for nulls in (False, name != "numpy objects")]
)
def test_columns_of_bytes(ring: rsa.KeyRing, name: str, nulls: bool) -> None:
    messages: list[Any] = [MESSAGES[0], None, *MESSAGES[2:]] if nulls else MESSAGES
    column = COLUMNS[name](messages)
    signatures = ring.sign(column, 1, *HOW)
    assert type(signatures) is (type(column) if name != "dictionary" else pa.BinaryArray)
    assert cells(signatures) == [None if m is None else ring.sign(m, 1, *HOW) for m in messages]
    verdicts = ring.verify(signatures, column, 1, *HOW)
    assert cells(verdicts) == [None if m is None else True for m in messages]
    texts = ring.encrypt(column, 2, "oaep")
    assert cells(ring.decrypt(texts, 2, "oaep")) == messages
    if isinstance(column, pd.Series):
        assert signatures.index.equals(column.index)
        assert (signatures.name, verdicts.name) == ("m", "m")


KEYS = {
    "list": [2, 0, None, 1],
    "floats of pandas": pd.Series([2, 0, None, 1]),
    "nullable": pd.Series([2, 0, None, 1], dtype="Int64"),
    "objects": np.array([2, 0, None, 1], object),
    "objects of pandas": pd.Series([2, 0, None, 1.0], dtype=object),
    "Arrow": pa.array([2, 0, None, 1], pa.int32()),
    "dictionary": pa.array([2, 0, None, 1]).dictionary_encode(),
    "chunks": pa.chunked_array([[2, 0], [None, 1]]),
    "polars": pl.Series([2, 0, None, 1]),
    "floats": np.array([2, 0, np.nan, 1]),
    "negative": np.array([2, 0, -1, 1], np.int8),
    "too high": [2, 0, 3, 1],
    "far too high": [2, 0, 2**70, 1],
    "unsigned": np.array([2, 0, 2**64 - 1, 1], np.uint64),
}


@pytest.mark.parametrize("kind", KEYS)
def test_key_indices_of_every_kind(ring: rsa.KeyRing, kind: str) -> None:
    """An item whose key is missing has a status, in every operation."""
    keys = KEYS[kind]
    signatures, statuses = ring.sign(MESSAGES, keys, *HOW, errors="status")
    assert statuses.tolist() == [0, 0, manymod.Status.RSA_KEY, 0]
    assert signatures == [
        ring.sign(MESSAGES[i], key, *HOW) if key < 3 else b"" for i, key in enumerate((2, 0, 3, 1))
    ]
    assert ring.verify(signatures, MESSAGES, keys, *HOW) == [True, True, False, True]
    verdicts, statuses = ring.verify(signatures, MESSAGES, keys, *HOW, errors="status")
    assert (verdicts, statuses.tolist()) == ([True, True, False, True], [0, 0, manymod.Status.RSA_KEY, 0])
    with pytest.raises(manymod.ItemValueError, match="no such key.*: item 2$") as caught:
        ring.verify(signatures, MESSAGES, keys, *HOW, errors="raise")
    assert caught.value.result == [True, True, False, True]


def test_verify_raises_for_what_it_could_not_check_alone(ring: rsa.KeyRing) -> None:
    good = ring.sign(MESSAGES, 0, *HOW)
    bad = [good[1], *good[1:]]
    assert ring.verify(bad, MESSAGES, 0, *HOW, errors="raise") == [False, True, True, True]
    assert private_key(1024).public_key().verify(bad, MESSAGES, *HOW, errors="raise") == [
        False,
        True,
        True,
        True,
    ]
    with pytest.raises(manymod.ItemValueError, match="wrong length.*: item 1$"):
        ring.verify(good[:2], [bytes(32), b"short"], 0, "pkcs1v15", rsa.Prehashed("sha256"), errors="raise")
    with pytest.raises(ValueError, match="'false', 'raise' or 'status'"):
        ring.verify(good, MESSAGES, 0, *HOW, errors="ignore")  # type: ignore[call-overload]
    nulls = pa.array([*good[:2], None])
    assert ring.verify(nulls, MESSAGES[:3], 0, *HOW, errors="raise").to_pylist() == [True, True, None]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ([0.5], "item 0 is 0.5, no integer"),
        (pd.Series([1.0, 0.25]), "item 1 is 0.25, no integer"),
        (["a"], "1-D sequence of integers"),
        (np.array([None, "a"], object), "item 1 is 'a', no integer"),
        (pa.array(["key"]), "text: give the positions"),
        ([True], "1-D sequence of integers"),
        ([1, True], "1-D sequence of integers"),
        (pl.Series([True, None]), "1-D sequence of integers"),
        (pd.Series([True, None], dtype="boolean"), "1-D sequence of integers"),
        (pd.Series([True, None], dtype=object), "item 0 is True, no integer"),
        (np.ma.MaskedArray([0, 1], [False, True]), "masked"),
        ([[0]], "1-D sequence of integers"),
        (pd.DataFrame({"key": [0]}), "is a table"),
    ],
)
def test_key_indices_that_are_not_taken(ring: rsa.KeyRing, keys: Any, why: str) -> None:
    with pytest.raises(TypeError, match=f"key_indices.*{why}"):
        ring.sign([b"a"] * 2, keys, *HOW)


def test_series_of_different_indices(ring: rsa.KeyRing) -> None:
    messages = pd.Series([b"a", b"b"], index=[1, 0])
    with pytest.raises(ValueError, match="messages and key_indices are Series of different indices"):
        ring.sign(messages, pd.Series([0, 1]), *HOW)
    assert ring.sign(messages, pd.Series([0, 1], index=[1, 0]), *HOW).index.tolist() == [1, 0]


def test_bytes_of_numpy_are_not_taken(ring: rsa.KeyRing) -> None:
    with pytest.raises(TypeError, match="drops zero bytes at the end"):
        ring.sign(np.array([b"a\0"]), 0, *HOW)
