# SPDX-License-Identifier: Apache-2.0
"""What point formulas compute with: residues that count operations, and numbers with carried magnitudes.

A formula is written once, for any :class:`Number`. Over :class:`PrimeField` its operations are counted and
compared with its source. Over :class:`CarriedField` it runs on ``reference/field.py``: the contract of
``src/field/field.hpp`` is checked, and the weak normalisations that the formula needs are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from reference.field import MAX_MAGNITUDE, MAX_PRODUCT

if TYPE_CHECKING:
    from reference.field import Element, Field

N = TypeVar("N", bound="Number")


class Number(Protocol):
    """An element of a field. ``k * x`` with a small integer k stands for additions."""

    def __add__(self: N, other: N, /) -> N:
        """``self + other``."""
        ...

    def __sub__(self: N, other: N, /) -> N:
        """``self - other``."""
        ...

    def __mul__(self: N, other: N, /) -> N:
        """``self other``."""
        ...

    def __rmul__(self: N, k: int, /) -> N:
        """``k self`` by additions, for a small ``k >= 1``."""
        ...

    def __neg__(self: N, /) -> N:
        """``-self``."""
        ...

    def sqr(self: N, /) -> N:
        """``self^2``."""
        ...


@dataclass(frozen=True)
class Cost:
    """Operations of a formula: M, S, multiplications by a curve constant, additions and the like."""

    mul: int = 0
    sqr: int = 0
    constant: int = 0
    add: int = 0

    def __str__(self) -> str:
        return f"{self.mul}M+{self.sqr}S+{self.constant}c+{self.add}a"


def chain_additions(k: int) -> int:
    """Additions that ``k x`` takes by doubling and adding.

    >>> [chain_additions(k) for k in (1, 2, 3, 4, 8)]
    [0, 1, 2, 2, 3]
    """
    assert k >= 1
    return k.bit_length() - 1 + k.bit_count() - 1


@dataclass
class PrimeField:
    """Residues modulo a prime p, and how many operations they took.

    >>> f = PrimeField(13)
    >>> x = f(5)
    >>> int(x.sqr() * x - 3 * x), str(f.taken())
    (6, '1M+1S+0c+3a')
    """

    p: int
    mul: int = field(default=0, init=False)
    sqr: int = field(default=0, init=False)
    constant: int = field(default=0, init=False)
    add: int = field(default=0, init=False)
    inversions: int = field(default=0, init=False)

    def __call__(self, value: int) -> Residue:
        """The residue of any integer."""
        return Residue(self, value % self.p, False)

    def curve_constant(self, value: int) -> Residue:
        """A residue whose products are counted as multiplications by a constant."""
        return Residue(self, value % self.p, True)

    def taken(self) -> Cost:
        """What was counted since the last :meth:`reset`."""
        return Cost(self.mul, self.sqr, self.constant, self.add)

    def reset(self) -> None:
        """Count from 0 again."""
        self.mul = self.sqr = self.constant = self.add = self.inversions = 0

    def sqrt(self, a: int) -> int | None:
        """A square root of a, or ``None``: one power for p = 3 mod 4 and p = 5 mod 8, else Tonelli-Shanks.

        >>> [PrimeField(13).sqrt(a) for a in (0, 3, 4, 5)]
        [0, 9, 11, None]
        """
        p = self.p
        a %= p
        if p % 4 == 3:
            root = pow(a, (p + 1) // 4, p)
        elif p % 8 == 5:
            root = pow(a, (p + 3) // 8, p)
            if root * root % p != a:
                root = root * pow(2, (p - 1) // 4, p) % p
        else:
            root = _tonelli_shanks(a, p)
        return root if root * root % p == a else None


def _tonelli_shanks(a: int, p: int) -> int:
    """A square root of a modulo a prime p = 1 mod 4 if there is one, else any residue."""
    if a == 0 or pow(a, (p - 1) // 2, p) != 1:
        return 0
    odd, twos = p - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    non_residue = next(z for z in range(2, p) if pow(z, (p - 1) // 2, p) == p - 1)
    generator = pow(non_residue, odd, p)
    root, rest = pow(a, (odd + 1) // 2, p), pow(a, odd, p)
    while rest != 1:
        order, square = 0, rest
        while square != 1:
            order, square = order + 1, square * square % p
        step = pow(generator, 1 << (twos - order - 1), p)
        root, generator, twos = root * step % p, step * step % p, order
        rest = rest * generator % p
    return root


class Residue:
    """An element of a :class:`PrimeField`."""

    __slots__ = ("field", "is_constant", "value")

    def __init__(self, owner: PrimeField, value: int, is_constant: bool = False) -> None:
        self.field, self.value, self.is_constant = owner, value, is_constant

    def __int__(self) -> int:
        return self.value

    def __bool__(self) -> bool:
        return self.value != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Residue) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return str(self.value)

    def __add__(self, other: Residue) -> Residue:
        self.field.add += 1
        return Residue(self.field, (self.value + other.value) % self.field.p)

    def __sub__(self, other: Residue) -> Residue:
        self.field.add += 1
        return Residue(self.field, (self.value - other.value) % self.field.p)

    def __neg__(self) -> Residue:
        self.field.add += 1
        return Residue(self.field, -self.value % self.field.p)

    def __mul__(self, other: Residue) -> Residue:
        if self.is_constant or other.is_constant:
            self.field.constant += 1
        else:
            self.field.mul += 1
        return Residue(self.field, self.value * other.value % self.field.p)

    def __rmul__(self, k: int) -> Residue:
        self.field.add += chain_additions(k)
        return Residue(self.field, self.value * k % self.field.p)

    def sqr(self) -> Residue:
        """``self^2``."""
        self.field.sqr += 1
        return Residue(self.field, self.value * self.value % self.field.p)

    def inverse(self) -> Residue:
        """``1 / self``, and 0 for 0, as an inversion by a power gives."""
        self.field.inversions += 1
        p = self.field.p
        return Residue(self.field, pow(self.value, -1, p) if self.value else 0)


@dataclass
class CarriedField:
    """Numbers over a field with magnitudes; ``weak`` counts the weak normalisations that were needed."""

    arithmetic: Field
    weak: int = field(default=0, init=False)

    def __call__(self, value: int) -> Carried:
        """The element that stands for an integer, of magnitude 1."""
        return Carried(self, self.arithmetic.from_int(value))


class Carried:
    """An element with its magnitude; operations normalise operands that would breach the contract."""

    __slots__ = ("element", "owner")

    def __init__(self, owner: CarriedField, element: Element) -> None:
        self.owner, self.element = owner, element

    def __int__(self) -> int:
        return self.owner.arithmetic.to_int(self.element)

    def normalized(self) -> Carried:
        """The same number with magnitude 1."""
        self.owner.weak += 1
        return Carried(self.owner, self.owner.arithmetic.normalize_weak(self.element))

    def __add__(self, other: Carried) -> Carried:
        a, b = self, other
        while a.element.magnitude + b.element.magnitude > MAX_MAGNITUDE:
            a, b = (a.normalized(), b) if a.element.magnitude >= b.element.magnitude else (a, b.normalized())
        return Carried(self.owner, self.owner.arithmetic.add(a.element, b.element))

    def __sub__(self, other: Carried) -> Carried:
        a, b = self, other
        if b.element.magnitude > 4:
            b = b.normalized()
        k = next(k for k in (1, 2, 4) if k >= b.element.magnitude)
        if a.element.magnitude + k > MAX_MAGNITUDE:
            a = a.normalized()
        return Carried(self.owner, self.owner.arithmetic.sub(a.element, b.element, k))

    def __neg__(self) -> Carried:
        return Carried(self.owner, self.owner.arithmetic.zero()) - self

    def __mul__(self, other: Carried) -> Carried:
        a, b = self, other
        while a.element.magnitude * b.element.magnitude > MAX_PRODUCT:
            a, b = (a.normalized(), b) if a.element.magnitude >= b.element.magnitude else (a, b.normalized())
        return Carried(self.owner, self.owner.arithmetic.mul(a.element, b.element))

    def __rmul__(self, k: int) -> Carried:
        total = self
        for bit in f"{k:b}"[1:]:
            total = total + total
            if bit == "1":
                total = total + self
        return total

    def sqr(self) -> Carried:
        """``self^2``."""
        a = self
        if a.element.magnitude**2 > MAX_PRODUCT:
            a = a.normalized()
        return Carried(self.owner, self.owner.arithmetic.sqr(a.element))
