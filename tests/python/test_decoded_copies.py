# SPDX-License-Identifier: Apache-2.0
"""Copies of Arrow arrays without encodings are zeroed after calls with secrets, callers' arrays are not."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.python.rsa_support import private_key

import manymod
from manymod import DeviceError, _arrow, _arrow_operands, ecc

NUMBERS = [77777, 5, 77777, 3]
INTEGERS = pa.array(NUMBERS, pa.uint64())
TYPES = {
    "integers": INTEGERS,
    "text": pa.array([str(number) for number in NUMBERS]),
    "decimals": pa.array([Decimal(number) for number in NUMBERS], pa.decimal128(38, 0)),
    "binary": pa.array([number.to_bytes(4, "big") for number in NUMBERS], pa.binary()),
    "binary of one size": pa.array([number.to_bytes(32, "big") for number in NUMBERS], pa.binary(32)),
}
ENCODINGS: dict[str, Callable[[pa.Array], Any]] = {
    "dictionary": lambda array: array.dictionary_encode(),
    "runs": pc.run_end_encode,
    "chunks": lambda array: pa.chunked_array([array[:1], array[1:]]),
    "chunks of dictionaries": lambda array: pa.chunked_array(
        [array[:1].dictionary_encode(), array[1:].dictionary_encode()]
    ),
    "one chunk": lambda array: pa.chunked_array([array.dictionary_encode()]),
}


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[pa.Array]:
    """The copies that reading Arrow arrays makes."""
    seen: list[pa.Array] = []
    decoded, plain = _arrow._decoded, _arrow.plain

    def watched_decoded(array: Any) -> Any:
        result, copied = decoded(array)
        if copied:
            seen.append(result)
        return result, copied

    def watched_plain(column: Any) -> Any:
        result = plain(column)
        if result.copied:
            seen.append(result.array)
        return result

    monkeypatch.setattr(_arrow, "_decoded", watched_decoded)
    monkeypatch.setattr(_arrow, "plain", watched_plain)
    return seen


def check_zeroed(copies: list[pa.Array]) -> None:
    assert copies
    assert not any(any(bytes(copy.buffers()[-1])) for copy in copies)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", TYPES)
def test_operands(kind: str, encoding: str, copies: list[pa.Array]) -> None:
    column = ENCODINGS[encoding](TYPES[kind])
    before = column.to_pylist()
    expected = [pow(2, number, 1009) for number in NUMBERS]
    assert manymod.powmod([2] * 4, column, 1009, secret=True) == expected
    assert manymod.powmod([2] * 4, 3, column, secret=True) == [8 % number for number in NUMBERS]
    fixed = manymod.FixedBase(2, 1009, exponent_bits=256, secret=True)
    assert len(fixed.powmod(column)) == 4
    assert manymod.summod(column, 1009, secret=True) == sum(NUMBERS) % 1009
    assert manymod.prodmod([[2, 3]] * 4, column, secret=True) == [6 % number for number in NUMBERS]
    with pytest.raises(ValueError, match="odd"):
        manymod.powmod([2] * 4, column, 1010, secret=True)
    with pytest.raises(DeviceError, match="cuda:99"):
        manymod.to_device(column, "cuda:99")
    check_zeroed(copies)
    assert column.to_pylist() == before


@pytest.mark.parametrize("kind", ["booleans", "decimals", "short decimals"])
def test_conversions_on_the_way(kind: str, copies: list[pa.Array], monkeypatch: pytest.MonkeyPatch) -> None:
    """Booleans and short decimals are read as wider types, and decimals as limbs, of which few are kept."""
    if kind == "booleans":
        numbers, column = [1, 0, 1], pa.array([True, False, True])
    elif kind == "decimals":
        numbers, column = NUMBERS, TYPES["decimals"]
    elif hasattr(pa, "decimal64"):  # since pyarrow 19
        numbers, column = NUMBERS, TYPES["decimals"].cast(pa.decimal64(10, 0))
    else:
        pytest.skip("this pyarrow has no short decimals")
    limbs: list[Any] = []
    widened, to_limbs = _arrow_operands._widened, manymod._core.words_to_limbs

    def watched_widened(array: Any) -> Any:
        result = widened(array)
        if result is not array:
            copies.append(result)
        return result

    def watched_to_limbs(words: Any, made: Any, signs: Any) -> None:
        to_limbs(words, made, signs)
        limbs.append(made)

    monkeypatch.setattr(_arrow_operands, "_widened", watched_widened)
    monkeypatch.setattr(manymod._core, "words_to_limbs", watched_to_limbs)
    before = column.to_pylist()
    for given in (column, pa.chunked_array([column[:1], column[1:]])):
        expected = [pow(2, number, 1009) for number in numbers]
        assert manymod.powmod([2] * len(numbers), given, 1009, secret=True) == expected
    check_zeroed(copies)
    assert len(limbs) == (0 if kind == "booleans" else 2)
    assert not any(made.any() for made in limbs)
    assert column.to_pylist() == before


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary(32)], ids=str)
def test_private_keys(dtype: pa.DataType, encoding: str, copies: list[pa.Array]) -> None:
    values = [number.to_bytes(32, "big") for number in NUMBERS]
    secrets = ENCODINGS[encoding](pa.array(values, dtype))
    assert ecc.P256.public_keys(secrets).to_pylist() == ecc.P256.public_keys(values)
    signatures = ecc.P256.sign(secrets, pa.array([b"message"] * 4), nonces=secrets)
    assert signatures.to_pylist() == ecc.P256.sign(values, [b"message"] * 4, nonces=values)
    check_zeroed(copies)
    assert secrets.to_pylist() == values


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_plaintexts(encoding: str, copies: list[pa.Array]) -> None:
    key = private_key(1024)
    messages = ENCODINGS[encoding](TYPES["binary"])
    ciphertexts = key.public_key().encrypt(messages, "oaep")
    check_zeroed(copies)
    assert key.decrypt(ciphertexts, "oaep").to_pylist() == messages.to_pylist()
    assert messages.to_pylist() == TYPES["binary"].to_pylist()


@pytest.mark.parametrize("dtype", [pa.binary_view(), pa.string_view()], ids=str)
def test_views(dtype: pa.DataType, copies: list[pa.Array]) -> None:
    """Their copies are large arrays; the memory that the views point to is the caller's."""
    texts = ["0" * 20 + str(number) for number in NUMBERS]
    numbers = [number.to_bytes(20, "big") for number in NUMBERS]
    values: list[Any] = list(texts if dtype == pa.string_view() else numbers)
    for column in (
        pa.array(values, dtype),
        pa.chunked_array([pa.array(values[:1], dtype), pa.array(values[1:], dtype)]),
    ):
        assert manymod.powmod([2] * 4, column, 1009, secret=True) == [
            pow(2, number, 1009) for number in NUMBERS
        ]
        assert column.to_pylist() == values
    check_zeroed(copies)


def test_other_calls_leave_their_arrays(copies: list[pa.Array]) -> None:
    """Copies of public operands are not zeroed, and arrays without encodings are the caller's own."""
    column = INTEGERS.dictionary_encode()
    assert manymod.powmod([2] * 4, column, 1009) == [pow(2, number, 1009) for number in NUMBERS]
    assert [copy.to_pylist() for copy in copies] == [NUMBERS] * 2
    assert manymod.powmod([2] * 4, INTEGERS, 1009, secret=True) == [
        pow(2, number, 1009) for number in NUMBERS
    ]
    assert INTEGERS.to_pylist() == NUMBERS
    assert len(copies) == 2
