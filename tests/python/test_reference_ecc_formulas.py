# SPDX-License-Identifier: Apache-2.0
"""The oracle's point formulas over all pairs of points of tiny curves, and their counts of operations."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest
from reference.ecc.curves import EDWARDS448, EDWARDS25519, P256, SECP256K1, Edwards, Point, Weierstrass
from reference.ecc.formulas import affine, complete, edwards, jacobian, ladder, xyzz
from reference.ecc.formulas.forms import from_form, prepared, to_form
from reference.ecc.formulas.formula import Formula
from reference.ecc.groups import AffineGroup, EdwardsGroup, multiply, multiply_edwards
from reference.ecc.numbers import CarriedField, PrimeField
from reference.ecc.tiny import (
    TINY_A0,
    TINY_A3,
    TINY_COFACTOR,
    TINY_EDWARDS,
    TINY_EDWARDS_8,
    TINY_EDWARDS_A1,
    TINY_GENERAL,
    edwards_points,
    weierstrass_points,
)
from reference.field import Field

WEIERSTRASS_FORMULAS = [row for rows in (affine, jacobian, xyzz, complete) for row in rows.FORMULAS.values()]
EDWARDS_FORMULAS = list(edwards.FORMULAS.values())


def ids(rows: list[Formula]) -> list[str]:
    return [row.name for row in rows]


def constants(curve: Weierstrass | Edwards) -> dict[str, int]:
    if isinstance(curve, Edwards):
        return {"d": curve.d, "d2": 2 * curve.d}
    return {"a": curve.a, "b": curve.b, "b3": 3 * curve.b, "b4": 4 * curve.b}


def curves_for(row: Formula) -> list[Weierstrass]:
    """Return the tiny curves that a formula is for."""
    if "a3" in row.name or row.name == "dbl-2001-b":
        return [TINY_A3]
    if "a0" in row.name or row.name == "dbl-2009-l":
        return [TINY_A0]
    curves = [TINY_A0, TINY_A3, TINY_GENERAL, TINY_COFACTOR]
    # The complete additions have exceptions where there are points of order 2.
    return curves[:3] if row.name.startswith("complete.add") else curves


def call(row: Formula, f: PrimeField, curve: Weierstrass | Edwards, points: list[Point], scale: int) -> Point:
    """Return a formula's result; its operands have different Z."""
    operands: list[object] = []
    for i, (form, point) in enumerate(zip(row.points, [*points, None], strict=False)):
        z = pow(scale, i + 1, curve.p)
        if form == "inverse":
            first, second = points[0], points[-1]
            assert first is not None
            assert second is not None
            denominator = 2 * first[1] if len(points) == 1 else second[0] - first[0]
            operands.append(f(pow(denominator, -1, curve.p)))
        elif form == "prepared":
            assert point is not None
            operands.append(prepared(point, constants(curve)["d2"], curve.p, f))
        else:
            operands.append(to_form(form, point, z, curve.p, f))
    trailing = [f.curve_constant(constants(curve)[name]) for name in row.constants]
    f.reset()
    result = row.compute(*operands, *trailing)
    if row.result == "affine":
        return int(result[0]), int(result[1])
    return from_form(row.result, [int(x) for x in result], curve.p)


def is_exceptional(row: Formula, points: list[Point]) -> bool:
    """Return whether the table excepts these points (or their form has no infinity)."""
    forms = row.points
    if any(
        point is None and form in {"affine", "inverse"} for form, point in zip(forms, points, strict=False)
    ):
        return True
    if row.name == "affine.add":
        return None in points or points[0][0] == points[1][0]  # type: ignore[index]
    if row.name == "affine.double":
        return points[0] is None or points[0][1] == 0
    if row.exceptions == "none" or row.name.startswith("complete"):
        return False
    return None in points or points[0] == points[1]


@pytest.mark.parametrize("row", WEIERSTRASS_FORMULAS, ids=ids(WEIERSTRASS_FORMULAS))
def test_all_points_of_weierstrass_curves(row: Formula) -> None:
    for curve in curves_for(row):
        group, f = AffineGroup(curve), curve.field
        points = weierstrass_points(curve)
        operands = sum(form != "inverse" for form in row.points)
        tested = 0
        for i, chosen in enumerate(product(points, repeat=operands)):
            if is_exceptional(row, list(chosen)):
                continue
            expected = group.sqr(chosen[0]) if operands == 1 else group.mul(*chosen)
            assert call(row, f, curve, list(chosen), 2 + i % 5) == expected
            assert f.taken() == row.cost
            tested += 1
        assert tested > len(points) // 2


@pytest.mark.parametrize("row", EDWARDS_FORMULAS, ids=ids(EDWARDS_FORMULAS))
def test_all_points_of_edwards_curves(row: Formula) -> None:
    one = row.points[0] == "edwards" or row.name.endswith("a1")
    curves = [TINY_EDWARDS_A1] if one else [TINY_EDWARDS, TINY_EDWARDS_8]
    for curve in curves:
        group, f = EdwardsGroup(curve), curve.field
        for i, chosen in enumerate(product(edwards_points(curve), repeat=len(row.points))):
            if row.name == "add-2008-hwcd-4":
                continue
            expected = group.sqr(chosen[0]) if len(chosen) == 1 else group.mul(*chosen)
            operands: list[Point] = list(chosen)
            assert call(row, f, curve, operands, 2 + i % 5) == expected
            assert f.taken() == row.cost


@pytest.mark.parametrize("curve", [TINY_EDWARDS, TINY_EDWARDS_8])
def test_dedicated_edwards_addition_fails_only_by_zero(curve: Edwards) -> None:
    """Its result is right, or has Z = 0 where P - Q or P + Q has an order of 1, 2 or 4."""
    group, f = EdwardsGroup(curve), curve.field
    row = edwards.FORMULAS["add-2008-hwcd-4"]
    small = {p for p in edwards_points(curve) if group.sqr(group.sqr(p)) == (0, 1)}
    failures = 0
    for p, q in product(edwards_points(curve), repeat=2):
        result = call(row, f, curve, [p, q], 3)
        assert f.taken() == row.cost
        if result is None:
            assert group.mul(p, group.inv(q)) in small or group.mul(p, q) in small
            failures += 1
        else:
            assert result == group.mul(p, q)
    assert failures >= len(edwards_points(curve))


@pytest.mark.parametrize("name", ["add-1998-cmo-2", "add-2007-bl", "madd-2007-bl", "madd"])
def test_exceptions_of_jacobian_additions(name: str) -> None:
    """P + P gives (0, 0, 0), P + (-P) the right infinity, and an operand at infinity a wrong one."""
    row, curve = jacobian.FORMULAS[name], TINY_A3
    f, group = curve.field, AffineGroup(TINY_A3)
    for point in weierstrass_points(curve)[1:]:
        p = to_form("jacobian", point, 5, curve.p, f)
        for q, expected in ((point, (0, 0, 0)), (group.inv(point), None)):
            other = to_form(row.points[1], q, 3, curve.p, f)
            result = tuple(int(x) for x in row.compute(p, other))
            assert result[2] == 0
            if expected is not None:
                assert result == expected
            else:
                assert result[0] != 0
        infinity = to_form("jacobian", None, 1, curve.p, f)
        result = tuple(int(x) for x in row.compute(infinity, to_form(row.points[1], point, 3, curve.p, f)))
        assert result[2] == 0


def test_ladder_step_over_all_points() -> None:
    """On a Montgomery curve that is birational to the tiny Edwards curve: every pair with a difference."""
    curve = TINY_EDWARDS
    p = curve.p
    # u = (1 + y) / (1 - y), A = 2 (a + d) / (a - d).
    a_mont = 2 * (curve.a + curve.d) * pow(curve.a - curve.d, -1, p) % p
    a24 = (a_mont - 2) * pow(4, -1, p)
    group, f = EdwardsGroup(curve), curve.field
    row = ladder.FORMULAS["ladder.step"]

    def u(point: tuple[int, int]) -> int | None:
        return (1 + point[1]) * pow(1 - point[1], -1, p) % p if point[1] != 1 else None

    for first, difference in product(edwards_points(curve), repeat=2):
        if u(difference) in {None, 0}:
            continue
        second = group.mul(first, difference)
        pair = [(f(3), f(0)) if x is None else (f(3 * x), f(3)) for x in (u(first), u(second))]
        x1 = u(difference)
        assert x1 is not None
        f.reset()
        x2, z2, x3, z3 = row.compute(*pair, f(x1), f.curve_constant(a24))
        assert f.taken() == row.cost
        assert from_form("xz", [int(x2), 1, int(z2)], p) == _x_only(u(group.sqr(first)), int(z2), p)
        assert from_form("xz", [int(x3), 1, int(z3)], p) == _x_only(u(group.mul(first, second)), int(z3), p)


def _x_only(x: int | None, z: int, p: int) -> Point:
    return None if x is None else (x, pow(z, -1, p))


@pytest.mark.parametrize("curve", [TINY_A0, TINY_A3, TINY_GENERAL, TINY_COFACTOR])
def test_weierstrass_ladder_over_all_points(curve: Weierstrass) -> None:
    group, f, p = AffineGroup(curve), curve.field, curve.p
    a, b4 = f.curve_constant(curve.a), f.curve_constant(4 * curve.b)
    add, double = (ladder.FORMULAS[f"ladder.{name}_weierstrass"] for name in ("add", "double"))
    for first, difference in product(weierstrass_points(curve), repeat=2):
        if difference is None or difference[0] == 0:
            continue
        second = group.mul(first, difference)
        pair = [to_form("xz", point, 4, p, f) for point in (first, second)]
        f.reset()
        x, z = (int(v) for v in add.compute(*pair, f(difference[0]), a, b4))
        assert f.taken() == add.cost
        total = group.mul(first, second)
        assert (z == 0) == (total is None)
        assert total is None or x * pow(z, -1, p) % p == total[0]
        f.reset()
        x, z = (int(v) for v in double.compute(pair[0], a, b4))
        assert f.taken() == double.cost
        total = group.sqr(first)
        assert (z == 0) == (total is None)
        assert total is None or x * pow(z, -1, p) % p == total[0]


def test_counts_that_sources_state() -> None:
    """M and S of the Explicit-Formulas Database and of the papers; paper 003 counts 16 and 9."""
    stated = {
        "add-1998-cmo-2": (12, 4), "add-2007-bl": (11, 5), "madd-2007-bl": (7, 4), "madd": (8, 3),
        "dbl-1998-cmo-2": (3, 6), "dbl-2007-bl": (1, 8), "dbl-2001-b": (3, 5), "dbl-2009-l": (2, 5),
        "mdbl-2007-bl": (1, 5), "add-2008-s": (12, 2), "madd-2008-s": (8, 2), "dbl-2008-s-1": (6, 4),
        "mdbl-2008-s-1": (4, 3), "complete.add": (12, 0), "complete.double": (8, 3),
        "complete.add_a3": (12, 0), "complete.double_a3": (8, 3),
        "complete.add_a0": (12, 0), "complete.double_a0": (6, 2),
        "affine.add": (2, 1), "affine.double": (2, 2), "add-2008-hwcd-3": (8, 0), "dbl-2008-hwcd": (4, 4),
        "add-2008-hwcd-4": (8, 0), "add-2007-bl edwards": (10, 1), "dbl-2007-bl edwards": (3, 4),
        "add-2008-hwcd a1": (9, 0), "dbl-2008-hwcd a1": (4, 4),
    }  # fmt: skip
    rows = {row.name: row.cost for row in WEIERSTRASS_FORMULAS + EDWARDS_FORMULAS}
    assert {name: (rows[name].mul, rows[name].sqr) for name in stated} == stated
    assert sum(stated["add-1998-cmo-2"]) == 16
    assert sum(stated["dbl-1998-cmo-2"]) == 9


TINY_OF = {"P-256": TINY_A3, "secp256k1": TINY_A0}
FIELDS = [Field.scalar, Field.row32, lambda n: Field.in_lanes(n, 52)]


@pytest.mark.parametrize("make", FIELDS, ids=["scalar", "row32", "lanes"])
def test_formulas_keep_to_the_contract_of_fields(make: Callable[[int], Field]) -> None:
    """Over numbers with magnitudes formulas give the same points; few weak normalisations are needed."""
    draw = random.Random(7)
    for curve in (P256, SECP256K1):
        group = AffineGroup(curve)
        p, q = (multiply(curve, draw.getrandbits(64) | 1, curve.generator) for _ in range(2))
        for row in WEIERSTRASS_FORMULAS[2:]:
            if TINY_OF[curve.name] not in curves_for(row):
                continue
            numbers = CarriedField(make(curve.p))
            operands = [
                to_form(form, point, 77, curve.p, numbers)
                for form, point in zip(row.points, (p, q), strict=False)
            ]
            trailing = [numbers(constants(curve)[name]) for name in row.constants]
            result = row.compute(*operands, *trailing)
            expected = group.sqr(p) if len(row.points) == 1 else group.mul(p, q)
            assert from_form(row.result, [int(x) for x in result], curve.p) == expected
            assert numbers.weak <= 12


def test_formulas_of_the_large_edwards_curves() -> None:
    draw = random.Random(8)
    for curve, name, double in (
        (EDWARDS25519, "add-2008-hwcd-3", "dbl-2008-hwcd"),
        (EDWARDS448, "add-2007-bl edwards", "dbl-2007-bl edwards"),
        (EDWARDS448, "add-2008-hwcd a1", "dbl-2008-hwcd a1"),
    ):
        group, f = EdwardsGroup(curve), curve.field
        p, q = (multiply_edwards(curve, draw.getrandbits(64), curve.generator) for _ in range(2))
        assert call(edwards.FORMULAS[name], f, curve, [p, q], 99) == group.mul(p, q)
        assert call(edwards.FORMULAS[double], f, curve, [p], 99) == group.sqr(p)
