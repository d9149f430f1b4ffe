# SPDX-License-Identifier: Apache-2.0
"""Operations on operands of every kind: right answers and statuses, and only documented exceptions."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gmpy2
import numpy as np
import pyarrow as pa
from tests.fuzz.choices import Choices, integer

import manymod
from manymod import FixedBase, IntArray, ItemValueError, ItemZeroDivisionError, Status

# Failures show their operands, however long.
sys.set_int_max_str_digits(0)

WIDEST = 260
MOST_ITEMS = 12
DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8", "?")


@dataclass(frozen=True)
class Given:
    """An operand and its integers: an int stands for all items; None: it is of no accepted kind."""

    value: Any
    ints: list[int] | int | None


def _signed(source: random.Random, bits: int) -> int:
    value = integer(source, bits)
    return -value if source.randrange(3) == 0 else value


def _scalar(choices: Choices, source: random.Random, count: int) -> Given:
    value = _signed(source, choices.among((64, 8, 0, 63, 65, 128, WIDEST)))
    if choices.one_in(8):
        value %= 128
        return Given(choices.among((np.int8, np.uint64, np.int32))(value), value)
    return Given(gmpy2.mpz(value) if choices.one_in(8) else value, value)


def _sequence(choices: Choices, source: random.Random, count: int) -> Given:
    bits = choices.among((64, 8, 0, 63, 65, 128, WIDEST))
    ints = [_signed(source, source.randrange(bits + 1)) for _ in range(count)]
    values: Any = (
        [gmpy2.mpz(x) if source.randrange(6) == 0 else x for x in ints] if choices.one_in(3) else ints
    )
    kind = choices.below(4)
    if kind == 1:
        values = tuple(values)
    elif kind == 2:
        values = np.array([*values, None], object)[:-1]
    return Given(values, ints)


def _small_integers(choices: Choices, source: random.Random, count: int) -> Given:
    dtype = np.dtype(choices.among(DTYPES))
    raw = source.randbytes(dtype.itemsize * 2 * count)
    values = np.frombuffer(raw, "u1") % 2 == 1 if dtype.kind == "b" else np.frombuffer(raw, dtype)
    values = values[::-1][:count] if choices.one_in(2) else values[::2][:count]
    if choices.one_in(2):
        values = np.array(values)
    return Given(values, [int(x) for x in values])


def _limbs(choices: Choices, source: random.Random, count: int) -> Given:
    width = 1 + choices.below(5)
    rows = 1 if choices.one_in(6) else count
    limbs = np.array([[integer(source, 64) for _ in range(width)] for _ in range(rows)], np.uint64).reshape(
        rows, width
    )
    ints = [sum(int(limb) << 64 * j for j, limb in enumerate(row)) for row in limbs]
    layout = choices.below(5)
    if layout == 1:
        limbs = np.asfortranarray(limbs)
    elif layout == 2:
        wide = np.zeros((2 * rows, width + 2), np.uint64)
        wide[::2, 1:-1] = limbs
        limbs = wide[::2, 1:-1]
    elif layout == 3:
        limbs = limbs.astype(">u8")
    elif layout == 4:
        limbs = np.ascontiguousarray(limbs[::-1])[::-1]
    limbs.flags.writeable = not choices.one_in(2)
    return Given(limbs, ints[0] if rows == 1 and count != 1 else ints)


def _bytes(choices: Choices, source: random.Random, count: int) -> Given:
    width = 1 + choices.below(40)
    rows = np.frombuffer(source.randbytes(count * width), np.uint8).reshape(count, width)
    ints = [int.from_bytes(row.tobytes(), "big") for row in rows]
    return Given(np.asfortranarray(rows) if choices.one_in(3) else rows, ints)


def _intarray(choices: Choices, source: random.Random, count: int) -> Given:
    ints = [_signed(source, choices.among((64, 130, 0))) for _ in range(count)]
    if choices.one_in(3):
        return Given(IntArray.from_ints([x for value in ints for x in (value, 7)])[::2], ints)
    return Given(IntArray.from_ints(ints), ints)


def _arrow(choices: Choices, source: random.Random, count: int) -> Given:
    if choices.one_in(2):
        width = 1 + choices.below(20)
        cells = [source.randbytes(width) for _ in range(count)]
        return Given(pa.array(cells, pa.binary(width)), [int.from_bytes(cell, "big") for cell in cells])
    kind = choices.among((pa.int64(), pa.uint8(), pa.int32(), pa.uint64()))
    bound = 1 << (kind.bit_width - 1)
    ints = [source.randrange(bound) for _ in range(count)]
    array = pa.array([*ints, 1], kind)[:-1]
    return Given(
        pa.chunked_array([array[: count // 2], array[count // 2 :]]) if choices.one_in(3) else array, ints
    )


def _wrong(choices: Choices, source: random.Random, count: int) -> Given:
    wrongs: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: 2.5,
        lambda: "7" * count,
        lambda: b"\x07" * count,
        lambda: [*range(1, count), 2.0],
        lambda: [*range(1, count), None],
        lambda: [*range(1, count), "3"],
        lambda: np.ones(count),
        lambda: np.ones((count, 2, 2), np.uint64),
        lambda: np.ones((count, 2), np.int64),
        lambda: np.ma.masked_array(np.ones(count, np.int64), [True] * count),
        lambda: {1: 2},
        lambda: (x for x in range(count)),
        lambda: {1, 2, 3},
        lambda: np.array(["3"] * count),
        lambda: np.array([1] * count, "m8[s]"),
        lambda: pa.array(["3"] * count),
        lambda: pa.array([1.5] * count),
        lambda: pa.array([1, None] * count),
        lambda: list(range(1, count + 3)),
        lambda: memoryview(b"abc"),
        lambda: object(),
        lambda: 1 << choices.below(17000),
        lambda: np.empty((count, 0), np.uint64),
        lambda: np.empty((count, 0), np.uint8),
    )
    return Given(choices.among(wrongs)(), None)


#: Kinds of operands whose answers hold every integer.
_HOLD_ALL = (list, tuple, int, np.integer, IntArray, type(gmpy2.mpz()))
_KINDS = (_scalar, _sequence, _small_integers, _limbs, _bytes, _intarray, _arrow)


def _operand(choices: Choices, count: int) -> Given:
    source = choices.source()
    make = _wrong if choices.one_in(16) else choices.among(_KINDS)
    return make(choices, source, count)


def _exponent(choices: Choices, count: int) -> Given:
    """An operand of at most 300 bits: longer ones cost time and reach nothing new."""
    given = _operand(choices, count)
    bits = [abs(x).bit_length() for x in _spread(given.ints, 1)] if given.ints is not None else [0]
    return given if max(bits, default=0) <= 320 else Given(3, 3)


def _spread(ints: list[int] | int, count: int) -> list[int]:
    return [ints] * count if isinstance(ints, int) else ints


def _power(base: int, exponent: int, modulus: int) -> int | None:
    try:
        return pow(base, exponent, modulus)
    except ValueError:
        return None


#: Number of operands before the modulus, and the result; None: not invertible.
OPERATIONS: dict[str, tuple[int, Callable[..., int | None]]] = {
    "addmod": (2, lambda x, y, n: (x + y) % n),
    "submod": (2, lambda x, y, n: (x - y) % n),
    "negmod": (1, lambda x, n: -x % n),
    "mulmod": (2, lambda x, y, n: x * y % n),
    "sqrmod": (1, lambda x, n: x * x % n),
    "powmod": (2, _power),
    "invmod": (1, lambda x, n: _power(x, -1, n)),
    "powmod_sec": (2, _power),
    "invmod_sec": (1, lambda x, n: _power(x, -1, n)),
}


def _expected(name: str, numbers: Sequence[int]) -> tuple[int, Status]:
    """Result and status of one item; the modulus is the last number."""
    modulus = numbers[-1]
    if modulus == 0:
        return 0, Status.ZERO_MODULUS
    if modulus.bit_length() > 16384:
        return 0, Status.MODULUS_TOO_WIDE
    if name.endswith("_sec") and modulus % 2 == 0:
        return 0, Status.EVEN_MODULUS
    value = OPERATIONS[name][1](*numbers)
    return (0, Status.NOT_INVERTIBLE) if value is None else (value, Status.OK)


def _ints_of(answer: Any) -> list[int]:
    """The integers of an answer of any kind."""
    if isinstance(answer, IntArray):
        return answer.to_ints()
    if isinstance(answer, (pa.Array, pa.ChunkedArray)):
        cells = answer.to_pylist()
        return [int.from_bytes(cell, "big") if isinstance(cell, bytes) else cell for cell in cells]
    if isinstance(answer, np.ndarray) and answer.ndim == 2:
        if answer.dtype == np.uint8:
            return [int.from_bytes(row.tobytes(), "big") for row in answer]
        return IntArray.from_limbs(answer).to_ints()
    return [int(value) for value in answer]


def _check_answer(
    answer: Any, statuses: Any, expected: list[tuple[int, Status]], scalars: bool, what: Callable[[], str]
) -> None:
    found = [int(answer)] if scalars else _ints_of(answer)
    assert found == [value for value, _ in expected], f"{what()}: {found}, expected {expected}"
    if statuses is not None:
        codes = [statuses] if scalars else list(statuses)
        assert codes == [status for _, status in expected], f"{what()}: statuses {codes}, expected {expected}"


def _call_options(choices: Choices) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if choices.one_in(4):
        options["threads"] = choices.below(3)
    if choices.one_in(4):
        options["device"] = choices.among(("cpu", "auto"))
    if choices.one_in(8):
        options["progress"] = lambda done, total: None
    if choices.one_in(8):
        options["out"] = choices.among((None, [0] * MOST_ITEMS, [], np.zeros((3, 3), np.uint64), "x"))
    return options


def _check_operation(choices: Choices, name: str) -> None:
    count = choices.below(MOST_ITEMS + 1)
    operands = [_operand(choices, count)]
    if OPERATIONS[name][0] == 2:
        operands.append((_exponent if "powmod" in name else _operand)(choices, count))
    operands.append(_operand(choices, count))
    options = _call_options(choices)
    with_statuses = choices.one_in(2)
    if with_statuses:
        options["errors"] = "status"

    def what() -> str:
        return f"{name}({', '.join(repr(given.value) for given in operands)}, {options})"

    right = all(given.ints is not None for given in operands)
    expected: list[tuple[int, Status]] = []
    scalars = all(isinstance(given.ints, int) for given in operands)
    if right:
        length = 1 if scalars else count
        columns = [_spread(given.ints, length) for given in operands if given.ints is not None]
        expected = [_expected(name, numbers) for numbers in zip(*columns, strict=True)]
        # One row of a 2-D array beside scalars only is a batch of one item.
        scalars = scalars and not any(np.ndim(given.value) for given in operands)
    try:
        answer = getattr(manymod, name)(*(given.value for given in operands), **options)
    except (ItemValueError, ItemZeroDivisionError) as error:
        assert not with_statuses, what()
        if right:
            bad = [index for index, (_, status) in enumerate(expected) if status]
            assert list(error.indices) == bad, f"{what()}: {error}, expected {expected}"
            _check_answer(error.result, None, expected, scalars, what)
        return
    except (TypeError, ValueError, manymod.VariantError) as error:
        # Answers of some kinds cannot hold every result, and `out` may not fit.
        assert not right or _may_be_refused(operands, options), f"{what()}: {error!r}"
        return
    if not right:
        return
    statuses = None
    if with_statuses:
        answer, statuses = answer
    else:
        assert all(status is Status.OK for _, status in expected), f"{what()}: {answer}, expected {expected}"
    _check_answer(answer, statuses, expected, scalars, what)


def _may_be_refused(operands: Sequence[Given], options: dict[str, Any]) -> bool:
    """Whether the answer's kind may not hold the results."""
    if options.get("out") is not None:
        return True
    if all(isinstance(given.value, _HOLD_ALL) or _is_objects(given.value) for given in operands):
        return False
    modulus = operands[-1].ints
    moduli = [modulus] if isinstance(modulus, int) else modulus or []
    return any(n < 0 or n.bit_length() > 62 for n in moduli)


def _is_objects(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object


def _check_products(choices: Choices) -> None:
    source = choices.source()
    count, terms = 1 + choices.below(6), choices.below(4)  # empty lists are one product
    bases = [[_signed(source, 130) for _ in range(terms)] for _ in range(count)]
    exps = [[_signed(source, 70) for _ in range(terms)] for _ in range(count)]
    moduli = [_signed(source, 129) for _ in range(count)]
    found, statuses = manymod.multi_powmod(bases, exps, moduli, errors="status")
    for i, (base, exp, modulus) in enumerate(zip(bases, exps, moduli, strict=True)):
        factors = [_power(b, e, modulus) if modulus else 0 for b, e in zip(base, exp, strict=True)]
        if modulus == 0:
            assert statuses[i] == Status.ZERO_MODULUS
        elif None in factors:
            assert (found[i], statuses[i]) == (0, Status.NOT_INVERTIBLE), (base, exp, modulus)
        else:
            value = 1 % modulus
            for factor in factors:
                value = value * (factor or 0) % modulus
            assert (found[i], statuses[i]) == (value, Status.OK), (base, exp, modulus)


def _check_fixed_base(choices: Choices) -> None:
    source = choices.source()
    base, modulus = _signed(source, 200), _signed(source, 150)
    secret = choices.one_in(3)
    try:
        powers = FixedBase(base, modulus, secret=secret, exponent_bits=1 + choices.below(200))
    except ValueError:
        assert modulus == 0 or (secret and modulus % 2 == 0), (base, modulus)
        return
    count = choices.below(5)
    exps = [_signed(source, powers.exponent_bits) for _ in range(count)]
    found, statuses = powers.powmod(exps, errors="status")
    expected = [_power(base, exp, modulus) for exp in exps]
    assert found == [value or 0 for value in expected], (base, exps, modulus)
    assert [code == Status.OK for code in statuses] == [value is not None for value in expected]


def check(data: bytes) -> None:
    """Run one input."""
    choices = Choices(data)
    name = choices.among((*OPERATIONS, "multi_powmod", "fixed_base"))
    if name == "multi_powmod":
        _check_products(choices)
    elif name == "fixed_base":
        _check_fixed_base(choices)
    else:
        _check_operation(choices, name)
