# SPDX-License-Identifier: Apache-2.0
"""Bad items, bad arguments, out=."""

from __future__ import annotations

import pickle
from datetime import date
from decimal import Decimal
from typing import Any

import gmpy2
import numpy as np
import pyarrow as pa
import pytest

import manymod
from manymod import (
    DeviceError,
    IntArray,
    ItemError,
    ItemValueError,
    ItemZeroDivisionError,
    Status,
    VariantError,
)

TOO_WIDE = (1 << 16384) + 1


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("powmod", (2, 3, 0)),
        ("powmod", (2, -1, 4)),
        ("powmod", (0, -1, 5)),
        ("invmod", (2, 4)),
        ("invmod", (2, 0)),
        ("mulmod", (2, 3, 0)),
        ("addmod", (2, 3, 0)),
        ("submod", (2, 3, 0)),
        ("negmod", (2, 0)),
        ("sqrmod", (2, 0)),
    ],
)
def test_raises_what_python_raises(name: str, operands: tuple[int, ...]) -> None:
    python: dict[str, Any] = {
        "powmod": pow,
        "invmod": lambda x, n: pow(x, -1, n),
        "mulmod": lambda x, y, n: x * y % n,
        "addmod": lambda x, y, n: (x + y) % n,
        "submod": lambda x, y, n: (x - y) % n,
        "negmod": lambda x, n: -x % n,
        "sqrmod": lambda x, n: x * x % n,
    }
    with pytest.raises((ValueError, ZeroDivisionError)) as theirs:
        python[name](*operands)
    function = getattr(manymod, name)
    scalar_and_batch: tuple[Any, Any] = (operands, [[5, operands[0]], *[[3, n] for n in operands[1:]]])
    for given in scalar_and_batch:
        with pytest.raises(type(theirs.value)) as ours:
            function(*given)
        error: Any = ours.value
        assert isinstance(error, ItemError)
        if name in {"powmod", "invmod"}:
            assert str(error).startswith(str(theirs.value))
    assert error.indices == [1]
    assert error.statuses[0] == 0
    assert error.result == [python[name](5, *[3] * (len(operands) - 1)), 0]
    assert str(error).endswith(": item 1")


def test_message_names_items() -> None:
    with pytest.raises(
        ItemValueError, match=r"not invertible for the given modulus: items 0, 2; 1 more items"
    ):
        manymod.powmod([2, 3, 2, 3], -1, [4, 4, 4, 0])
    with pytest.raises(ItemZeroDivisionError, match=r"items 0, 1, 2, 3, 4, 5, 6, 7 and 92 more$") as caught:
        manymod.mulmod([1] * 100, 1, 0)
    assert caught.value.indices == list(range(100))


def test_item_error_pickles() -> None:
    with pytest.raises(ItemValueError) as caught:
        manymod.invmod([1, 2], 4)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is ItemValueError
    assert (str(copy), copy.indices, copy.result) == (str(caught.value), [1], [1, 0])
    assert copy.statuses.tolist() == [0, 2]


@pytest.mark.parametrize("shared", [False, True])
def test_modulus_too_wide(shared: bool) -> None:
    n = TOO_WIDE if shared else [7, TOO_WIDE, 1 << 16383]
    result, status = manymod.mulmod([3, 4, 5], 6, n, errors="status")
    expected = [Status.MODULUS_TOO_WIDE] * 3 if shared else [Status.OK, Status.MODULUS_TOO_WIDE, Status.OK]
    assert status.tolist() == expected
    assert result == ([0, 0, 0] if shared else [4, 0, 30])
    with pytest.raises(ValueError, match="16384"):
        manymod.mulmod(3, 4, TOO_WIDE)


def test_even_modulus_in_class_secret() -> None:
    assert manymod.powmod_sec([2, 2], 3, [10, 11], errors="status")[1].tolist() == [Status.EVEN_MODULUS, 0]
    assert manymod.invmod_sec([3, 3], [10, 11], errors="status")[1].tolist() == [Status.EVEN_MODULUS, 0]
    with pytest.raises(ValueError, match="odd"):
        manymod.powmod(2, 3, 10, secret=True)


def test_lengths_are_checked_first() -> None:
    with pytest.raises(ValueError, match="lengths differ: base has 2 items, exp has 3"):
        manymod.powmod([1, 2], [1, 2, 3], 0)
    with pytest.raises(ValueError, match="lengths differ: x has 2 items, mod has 1"):
        manymod.mulmod(np.zeros((2, 1), np.uint64), 3, [5])


@pytest.mark.parametrize(
    "bad",
    [1.5, "12", b"12", None, {1, 2}, object(), np.zeros(3), np.zeros((2, 2), np.int64), np.zeros((2, 2, 2))],
)
def test_operands_of_no_accepted_kind(bad: Any) -> None:
    with pytest.raises(TypeError, match="exp"):
        manymod.powmod([1, 2], bad, 7)


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pa.array([1.5]), "floats"),
        (pa.array([Decimal("1.50")]), "fractions: cast it to scale 0"),
        (pa.array([date(2024, 1, 1)]), "none of integers"),
        (pa.array([[1]]), "none of integers"),
    ],
)
def test_arrow_types(column: Any, why: str) -> None:
    with pytest.raises(TypeError, match=rf"x: Arrow type .* {why}"):
        manymod.mulmod(column, 3, 7)


def test_bad_elements_are_named() -> None:
    with pytest.raises(TypeError, match="mod: element 1 is not an integer: str"):
        manymod.powmod([1, 2], 3, [5, "7"])
    with pytest.raises(TypeError, match="base: element 0 is not an integer: NoneType"):
        manymod.powmod(np.array([None, 2]), 3, 5)


def test_arguments() -> None:
    with pytest.raises(ValueError, match="errors"):
        manymod.powmod(1, 2, 3, errors="ignore")  # type: ignore[call-overload]
    with pytest.raises(VariantError, match="nosuch"):
        manymod.powmod(1, 2, 3, variant="nosuch")
    with pytest.raises(DeviceError):
        manymod.powmod(1, 2, 3, device="cuda")
    with pytest.raises(DeviceError):
        manymod.powmod(1, 2, 3, device="abacus")
    with pytest.raises(ValueError, match="threads"):
        manymod.powmod(1, 2, 3, threads=-1)
    with pytest.raises(ValueError, match="threads"):
        manymod.set_threads(-1)
    with pytest.raises(ValueError, match="threads"):
        manymod.mulmod([1], 2, 3, threads=10**12)
    with pytest.raises(ValueError, match="threads must be 0 .* to 1024, not 1025"):
        manymod.FixedBase(2, 3, threads=1025)
    assert manymod.mulmod([1], 2, 3, threads=1024) == [2]


def test_forced_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    assert manymod.Plan("powmod", modulus_bits=64, variant="scalar64.generic").variant == "scalar64.generic"
    monkeypatch.setenv("MANYMOD_VARIANT", "scalar64.generic")
    assert manymod.Plan("powmod", modulus_bits=64).variant == "scalar64.generic"
    assert manymod.powmod(3, 5, 7) == 5
    monkeypatch.setenv("MANYMOD_VARIANT", "nosuch")
    with pytest.raises(VariantError, match="MANYMOD_VARIANT.*nosuch|nosuch.*MANYMOD_VARIANT"):
        manymod.powmod(3, 5, 7)
    assert manymod.powmod(3, 5, 7, variant="scalar64.generic") == 5


def test_a_forced_variant_without_a_device_says_so() -> None:
    names = (v.name for v in manymod.variants() if v.backend == "opencl" and "powmod" in v.public_ops)
    name = next(names)
    with pytest.raises(
        VariantError, match=rf"'{name}' \(argument\) cannot be used: no OpenCL device found; "
    ):
        manymod.powmod(2, 3, 7, variant=name)


def test_variants_of_the_environment_that_are_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANYMOD_VARIANT", "\udcff")
    with pytest.raises(VariantError, match=r"no variant named '\\xff' \(MANYMOD_VARIANT\)"):
        manymod.powmod(3, 5, 7)


@pytest.mark.parametrize(
    ("end", "shown"), [("\0", r"\\x00"), ("\0more", r"\\x00more"), ("\udcff", r"\\udcff")]
)
def test_names_do_not_end_before_other_characters(end: str, shown: str) -> None:
    calls: list[Any] = [
        lambda **options: manymod.powmod(2, 3, 7, **options),
        lambda **options: manymod.Plan("powmod", modulus=7, **options),
        lambda **options: manymod.FixedBase(2, 7, **options),
    ]
    for call in calls:
        with pytest.raises(VariantError, match=f"no variant named 'scalar64.generic{shown}'"):
            call(variant="scalar64.generic" + end)
        with pytest.raises(DeviceError, match=f"unknown device 'cpu{shown}'"):
            call(device="cpu" + end)


def limbs(*values: int) -> Any:
    return IntArray.from_ints(values).limbs


def test_out_of_every_kind() -> None:
    x = [3, 2**70, 5]
    n = 2**89 - 1
    expected = [value * 7 % n for value in x]
    into: Any = [None] * 3
    assert manymod.mulmod(x, 7, n, out=into) is into
    assert into == expected
    into = np.empty((3, 2), np.uint64)
    assert manymod.mulmod(limbs(*x), 7, n, out=into) is into
    assert IntArray.from_limbs(into).to_ints() == expected
    into = np.empty((3, 12), np.uint8)
    assert manymod.mulmod(IntArray.from_ints(x).to_bytes(), 7, n, out=into) is into
    assert IntArray.from_bytes(into).to_ints() == expected
    into = np.empty(3, object)
    assert manymod.mulmod(np.array(x, object), 7, n, out=into) is into
    assert into.tolist() == expected
    into = np.empty(3, np.int64)
    assert manymod.mulmod(np.array([3, 4, 5]), 7, 11, out=into) is into
    assert into.tolist() == [10, 6, 2]
    array = IntArray.from_ints([0, 0, 2**100])
    assert manymod.mulmod(IntArray.from_ints(x), -7, -n, out=array) is array
    assert array.to_ints() == [value * -7 % -n for value in x]


def test_out_may_be_an_operand() -> None:
    for kind in (np.uint64, np.uint8):
        rows: Any = np.random.default_rng(2).integers(0, 256, (9, 4)).astype(kind)
        expected = manymod.sqrmod(rows, rows | 1)
        moduli = rows | 1
        assert manymod.sqrmod(rows, moduli, out=rows) is rows
        assert np.array_equal(rows, expected)
    column = np.arange(9)
    assert manymod.addmod(column, column, 7, out=column).tolist() == [2 * i % 7 for i in range(9)]
    array = IntArray.from_ints([2, 3, 4])
    assert manymod.powmod(array, array, 1009, out=array).to_ints() == [4, 27, 256]


@pytest.mark.parametrize("dtype", [np.uint64, np.uint8])
def test_out_must_not_overlap_otherwise(dtype: Any) -> None:
    rows = np.ones((9, 1), dtype)
    for part in (rows[1:], rows[8:0:-1]):
        with pytest.raises(ValueError, match=r"overlap|contiguous"):
            manymod.sqrmod(rows[:8], 7, out=part)


@pytest.mark.parametrize(
    ("x", "out"),
    [
        ([1, 2], [0]),
        ([1, 2], (0, 0)),
        ([1, 2], np.zeros(2, object)),
        (limbs(1, 2), np.zeros((2, 2), np.uint64)),
        (limbs(1, 2), np.zeros((1, 1), np.uint64)),
        (limbs(1, 2), np.zeros((2, 1), np.int64)),
        (limbs(1, 2), [0, 0]),
        (limbs(1, 2), np.zeros((4, 1), np.uint64)[::-2]),
        (limbs(1, 2), np.frombuffer(bytes(16), np.uint64).reshape(2, 1)),
        (IntArray.from_ints([1, 2]), np.zeros((2, 1), np.uint64)),
        (np.zeros((2, 1), np.uint8), np.zeros((2, 2), np.uint8)),
        (np.zeros(2, np.int32), np.zeros(2, np.int32)),
        (np.zeros(2, object), np.zeros(3, object)),
        (pa.array([1, 2]), np.zeros(2, np.int64)),
        (1, [0]),
    ],
)
def test_out_must_fit(x: Any, out: Any) -> None:
    with pytest.raises(ValueError, match="out"):
        manymod.mulmod(x, 3, 7, out=out)


@pytest.mark.parametrize(
    ("x", "dtype", "width"),
    [([1, 2, 3], np.int64, ()), (np.ones((3, 2), np.uint8), np.uint8, (1,)), ([1, 2, 3], object, ())],
)
def test_out_holds_every_item(x: Any, dtype: Any, width: tuple[int, ...]) -> None:
    """Items of `out` that share memory, or that a mask hides, would not be the results."""
    given = np.asarray(x, x.dtype if isinstance(x, np.ndarray) else dtype)
    one = np.zeros(width, dtype)
    shared = np.lib.stride_tricks.as_strided(one, (3, *width), (0, *one.strides))
    with pytest.raises(ValueError, match="share memory"):
        manymod.addmod(given, 1, 7, out=shared)
    with pytest.raises(ValueError, match="masked array"):
        manymod.addmod(given, 1, 7, out=np.ma.zeros((3, *width), dtype))
    backwards = np.zeros((6, *width), dtype)[::-2]
    assert manymod.addmod(given, 1, 7, out=backwards) is backwards
    assert backwards.tolist() == manymod.addmod(given, 1, 7).tolist()


def test_progress_is_a_function() -> None:
    wrong: Any = "show"
    with pytest.raises(TypeError, match="progress must be a function of two numbers, not str"):
        manymod.powmod([2], 3, 7, progress=wrong)
    with pytest.raises(TypeError, match="progress must be a function of two numbers, not str"):
        manymod.summod([2], 7, progress=wrong)


def test_raise_leaves_the_good_items_in_out() -> None:
    into = [0, 0, 0]
    with pytest.raises(ItemValueError):
        manymod.invmod([3, 2, 5], 8, out=into)
    assert into == [3, 0, 5]


def test_mpz_results_are_mpz() -> None:
    result = manymod.powmod([gmpy2.mpz(2), 3], 5, 7)
    assert [type(value) for value in result] == [gmpy2.mpz] * 2


def test_plan_arguments() -> None:
    with pytest.raises(ValueError, match="either"):
        manymod.Plan("powmod")
    with pytest.raises(ValueError, match="either"):
        manymod.Plan("powmod", modulus=7, modulus_bits=3)
    with pytest.raises(ValueError, match="op must be"):
        manymod.Plan("sqrtmod", modulus=7)
    for bits in (0, -1, 16385):
        with pytest.raises(ValueError, match="modulus_bits"):
            manymod.Plan("powmod", modulus_bits=bits)
    with pytest.raises(ValueError, match="single"):
        manymod.Plan("powmod", modulus=[7, 8])
    with pytest.raises(TypeError, match="base, exp, mod"):
        manymod.Plan("powmod", modulus_bits=64)([1], [2])
    with pytest.raises(TypeError, match="takes x, got 2"):
        manymod.Plan("negmod", modulus=5)([1], [2])
    with pytest.raises(VariantError):
        manymod.Plan("mulmod", modulus=5, secret=True, variant="row32.cuda.t1")


def test_plan_with_a_bad_modulus() -> None:
    for modulus in (0, np.zeros((), np.uint64)):
        with pytest.raises(ValueError, match="must not be 0"):
            manymod.Plan("powmod", modulus=modulus)
    with pytest.raises(ValueError, match="16385 bits"):
        manymod.Plan("powmod", modulus=TOO_WIDE)
    with pytest.raises(ValueError, match="odd"):
        manymod.Plan("powmod", modulus=10, secret=True)
    assert manymod.Plan("powmod", modulus=10)([3], 2) == [9]


def test_plan_operands_by_name() -> None:
    plan = manymod.Plan("powmod", modulus_bits=64)
    assert plan(base=[2], exp=10, mod=1000) == plan([2], mod=1000, exp=10) == [24]
    bad: Any
    for bad in ({"base": 2}, {"modulus": 7}):
        with pytest.raises(TypeError, match="base, exp, mod"):
            plan([2], 3, **bad)


def test_pickled_plans_work_and_secret_ones_are_refused() -> None:
    plan = pickle.loads(pickle.dumps(manymod.Plan("powmod", modulus=1009, variant="scalar64.generic")))
    assert (plan([2], 3), plan.variant) == ([8], "scalar64.generic")
    assert pickle.loads(pickle.dumps(manymod.Plan("mulmod", modulus_bits=64)))(3, 4, 5) == 2
    fixed = pickle.loads(pickle.dumps(manymod.FixedBase(3, 1009, exponent_bits=70)))
    assert (fixed.powmod([5]), fixed.exponent_bits) == ([243], 70)
    for secret in (manymod.Plan("powmod", modulus=7, secret=True), manymod.FixedBase(3, 7, secret=True)):
        with pytest.raises(TypeError, match="secret .* cannot be pickled"):
            pickle.dumps(secret)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("threads", {"threads": 1.5}),
        ("threads", {"threads": None}),
        ("variant", {"variant": 5}),
        ("device", {"device": 0}),
        ("secret", {"secret": "0"}),
        ("secret", {"secret": 0.5}),
        ("secret", {"secret": 1}),
        ("secret", {"secret": None}),
        ("modulus_bits", {"modulus_bits": 2048.0}),
        ("modulus_bits", {"modulus_bits": "2048"}),
    ],
)
def test_options_of_another_type(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"^{name} must be"):
        manymod.Plan("powmod", **{"modulus_bits": 64, **options})
    if name != "modulus_bits":
        with pytest.raises(TypeError, match=f"^{name} must be"):
            manymod.powmod(2, 3, 5, **options)
        with pytest.raises(TypeError, match=f"^{name} must be"):
            manymod.FixedBase(2, 5, **options)


def test_numpy_bools_are_bools() -> None:
    flags: list[Any] = [np.True_, np.False_]
    for secret in flags:
        assert manymod.powmod([3], 2, 7, secret=secret) == [2]
        assert manymod.Plan("powmod", modulus=7, secret=secret).secret is bool(secret)
        assert manymod.FixedBase(3, 7, secret=secret).secret is bool(secret)


def test_choices_of_another_type() -> None:
    unhashable: Any = []
    for call in (
        lambda: manymod.powmod([2], 3, 7, errors=unhashable),
        lambda: manymod.Plan(unhashable, modulus=7),
        lambda: IntArray.from_bytes([b"a"], unhashable),
        lambda: IntArray.from_ints([1]).to_bytes(byteorder=unhashable),
    ):
        with pytest.raises(ValueError, match=r"must be .*, not \[\]"):
            call()


@pytest.mark.parametrize("bits", [0, -1, (1 << 20) + 1, 1 << 70])
def test_lengths_of_exponents_are_bounded(bits: int) -> None:
    with pytest.raises(ValueError, match=rf"exponent_bits must be 1 to 1048576, not {bits}$"):
        manymod.FixedBase(3, 7, exponent_bits=bits)


def test_ints_are_what_they_are_as_indices() -> None:
    class Odd(int):
        def __int__(self) -> int:
            return 99

    assert manymod.powmod(Odd(3), Odd(2), Odd(1000)) == 9
    assert manymod.powmod([Odd(3)], Odd(2), 1000) == [9]


def test_set_threads_arguments() -> None:
    with pytest.raises(TypeError, match="threads must be an integer, not NoneType"):
        manymod.set_threads(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="to 1024"):
        manymod.set_threads(1025)
    with pytest.raises(ValueError, match="to 1024"):
        manymod.Plan("powmod", modulus=7, threads=1025)


def test_one_row_of_a_2d_array_stands_for_every_item() -> None:
    x = limbs(3, 2**70, 5)
    n = 2**89 - 1
    expected = [pow(value, 2**66 + 1, n) for value in (3, 2**70, 5)]
    for secret in (False, True):
        exp, mod = limbs(2**66 + 1), limbs(n)
        assert IntArray.from_limbs(manymod.powmod(x, exp, mod, secret=secret)).to_ints() == expected
        assert IntArray.from_limbs(exp).to_ints() == [2**66 + 1]
        assert IntArray.from_limbs(mod).to_ints() == [n]
    as_bytes = IntArray.from_ints([n]).to_bytes()
    assert manymod.mulmod([1, 2, 3], as_bytes, 7) == [i * n % 7 for i in (1, 2, 3)]
    assert manymod.powmod(limbs(2), [1, 2, 3], as_bytes) == [2, 4, 8]
    assert manymod.addmod(limbs(2), limbs(3), 7).tolist() == [[5]]
    assert manymod.multi_powmod([[2], [3]], [[2], [3]], limbs(5)) == [4, 2]
    with pytest.raises(ValueError, match=r"1-D array, .*uint64\[1, L\]"):
        manymod.mulmod(x, 3, np.zeros(2, np.uint64))


# Older versions of NumPy announce that __index__ of its bools will go.
@pytest.mark.filterwarnings("ignore:In future, it will be an error for 'np.bool")
def test_masked_arrays_and_unordered_collections_are_refused() -> None:
    masked: Any = np.ma.MaskedArray([1, 2], mask=[False, True])
    with pytest.raises(TypeError, match="x is a numpy masked array"):
        manymod.mulmod(masked, 3, 7)
    for unordered in ((i for i in (1, 2)), {1, 2}, {1: 2}):
        with pytest.raises(TypeError, match=r"is not a sequence: give list\(\.\.\.\)"):
            manymod.mulmod(unordered, 3, 7)
    assert manymod.mulmod([np.True_, 2], np.True_, 7) == [1, 2]


def test_rows_of_multi_powmod_are_named() -> None:
    with pytest.raises(TypeError, match="bases: row 1 is not a sequence of integers: int"):
        manymod.multi_powmod([[3], 2], [[3], [2]], 9)
    with pytest.raises(TypeError, match="exps: row 1, term 2 is not an integer: str"):
        manymod.multi_powmod([[3], [1, 2, 3]], [[3], [1, 2, "a"]], 9)
    assert manymod.multi_powmod([2, 3], [2, 3], [9]) == 0
    with pytest.raises(ValueError, match="1 products, mod has 2"):
        manymod.multi_powmod([2, 3], [2, 3], [9, 8])


def test_out_may_be_a_view_of_an_intarray() -> None:
    array = IntArray.from_ints([2, 3, 4])
    part = array[:2]
    manymod.mulmod(array[:2], 1, -9, out=array[:2])
    assert array.to_ints() == [-7, -6, 4]
    assert part.to_ints() == [-7, -6]
    array = IntArray.from_ints([-2, 3, 4])
    part = array[:2]
    manymod.mulmod(part, 1, 9, out=part)
    assert array.to_ints() == [7, 3, 4]
    assert part.to_ints() == [7, 3]
