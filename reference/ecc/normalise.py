# SPDX-License-Identifier: Apache-2.0
"""Many inversions by one, with zeros masked: affine coordinates of batches, and additions in affine form.

Source: Montgomery 1987, section 10.3.1; ``reference/modinv/simultaneous.py`` is the same for composite
moduli.

A single 0 among the factors makes the product 0, and every inverse of the batch with it: a point at infinity,
or one chosen by an attacker, would spoil its neighbours. So a 0 is replaced by 1 under a mask before the
product, and its own result is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.ecc.formulas import affine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.ecc.curves import Point, Weierstrass
    from reference.ecc.groups import Jacobian
    from reference.ecc.numbers import PrimeField, Residue


def invert_all(f: PrimeField, values: Sequence[Residue], chain: int | None = None) -> list[Residue]:
    """Inverses, 0 for 0: ``3 (N - 1)`` multiplications and one inversion.

    ``chain``: how many values one thread multiplies; the products of the threads are treated likewise.

    >>> from reference.ecc.numbers import PrimeField
    >>> f = PrimeField(13)
    >>> invert_all(f, [f(2), f(0), f(5)]), f.inversions
    ([7, 0, 8], 1)
    """
    assert chain is None or chain > 1
    if not values:
        return []
    if chain is not None and len(values) > chain:
        masked = [value if value else f(1) for value in values]
        groups = [masked[i : i + chain] for i in range(0, len(masked), chain)]
        prefixes = [_prefixes(group) for group in groups]
        inverses = invert_all(f, [prefix[-1] for prefix in prefixes], chain)
        found = [
            inverse
            for group, prefix, product in zip(groups, prefixes, inverses, strict=True)
            for inverse in _peel(group, prefix, product)
        ]
    else:
        masked = [value if value else f(1) for value in values]
        prefix = _prefixes(masked)
        found = _peel(masked, prefix, prefix[-1].inverse())
    return [inverse if value else f(0) for value, inverse in zip(values, found, strict=True)]


def _prefixes(values: Sequence[Residue]) -> list[Residue]:
    products = [values[0]]
    for value in values[1:]:
        products.append(products[-1] * value)
    return products


def _peel(values: Sequence[Residue], prefix: Sequence[Residue], inverse: Residue) -> list[Residue]:
    """Inverses of all values from that of their product, from the last to the first."""
    result = [inverse] * len(values)
    for i in range(len(values) - 1, 0, -1):
        result[i] = inverse * prefix[i - 1]
        inverse = inverse * values[i]
    result[0] = inverse
    return result


def affine_all(f: PrimeField, points: Sequence[Jacobian]) -> list[Point]:
    """Affine coordinates of Jacobian points, ``None`` where Z is 0: 6 M + 1 S a point."""
    inverses = invert_all(f, [z for _, _, z in points])
    result: list[Point] = []
    for (x, y, z), inverse in zip(points, inverses, strict=True):
        square = inverse.sqr()
        result.append((int(x * square), int(y * (square * inverse))) if z else None)
    return result


def add_all(curve: Weierstrass, pairs: Sequence[tuple[Point, Point]]) -> list[Point]:
    """Sums of pairs of affine points with one inversion, doublings, infinity and opposites among them.

    The denominator is x2 - x1, or 2 y1 where the points are equal; it is 0 where the sum is infinity, or
    where an operand is infinity, and is masked then.
    """
    f = curve.field
    a = f.curve_constant(curve.a)
    denominators = []
    for p, q in pairs:
        if p is None or q is None:
            denominators.append(f(0))
        elif p == q:
            denominators.append(2 * f(p[1]))
        else:
            denominators.append(f(q[0]) - f(p[0]))
    sums: list[Point] = []
    for (p, q), inverse in zip(pairs, invert_all(f, denominators), strict=True):
        if p is None or q is None:
            sums.append(q if p is None else p)
        elif not inverse:
            sums.append(None)
        else:
            first, second = (f(p[0]), f(p[1])), (f(q[0]), f(q[1]))
            x, y = affine.double(first, inverse, a) if p == q else affine.add(first, second, inverse)
            sums.append((int(x), int(y)))
    return sums
