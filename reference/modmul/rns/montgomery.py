# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication in a residue number system, and exponentiation by fixed windows.

Sources
-------
- A. Moss, D. Page, N. P. Smart, *Toward Acceleration of RSA Using 3D Graphics Hardware* (IMA CC 2007),
  algorithm 1; S. Kawamura et al., *Cox-Rower Architecture* (EUROCRYPT 2000); K. C. Posch, R. Posch, *Modulo
  Reduction in Residue Number Systems* (1995).

Form
----
Two bases, products M_B and M_A; the Montgomery radix is M_B. An element is an integer below c N, known by its
residues in both. ``t = x y (-1/N) mod M_B`` exists in B alone and is extended to A, where
``w = (x y + t N) / M_B`` follows; w is extended back. The constant c, and what the bases have to satisfy, are
in docs/rns/theory.md and :func:`reference.modmul.rns.bases.conditions`.

Printed slips: the radix of algorithm 1 is |B|, where section 3.2 and the heading say |A|; a term of the CRT
in section 3.1 is the cofactor |B| / B[i] times the coordinate, where B[i] is printed for the factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from reference.modexp.windows import power_fixed
from reference.modmul.rns.bases import BasePair, Residues, check_bases, check_modulus

if TYPE_CHECKING:
    from collections.abc import Sequence


class Element(NamedTuple):
    """An element: its residues in A, with a redundant channel last where there is one, and in B."""

    a: Residues
    b: Residues


@dataclass(frozen=True)
class RnsMontgomery:
    """Arithmetic modulo N on elements below c N; a monoid in the sense of :mod:`reference.modexp.monoid`."""

    pair: BasePair
    n: int

    def __post_init__(self) -> None:
        """Reject bases and moduli that the proof does not cover."""
        check_bases(self.pair)
        check_modulus(self.pair, self.n)

    @cached_property
    def _negative_inverse(self) -> Residues:
        return self.pair.b.residues(pow(-self.n, -1, self.pair.radix))

    @cached_property
    def _inverse_radix(self) -> Residues:
        return tuple(pow(self.pair.radix, -1, m) for m in self.pair.a.moduli)

    def element(self, x: int) -> Element:
        """The element of an integer 0 <= x < M_B, M_A."""
        assert 0 <= x < min(self.pair.radix, self.pair.from_a.source.product)
        return Element(self.pair.a.residues(x), self.pair.b.residues(x))

    def integer(self, x: Element) -> int:
        """The integer that the residues in both bases represent."""
        value = self.pair.b.value(x.b)
        assert self.pair.a.residues(value) == x.a, "the bases disagree"
        return value

    def is_element(self, x: Element) -> bool:
        """Whether the integer is below c N."""
        return self.integer(x) < self.pair.bound * self.n

    def product(self, x: Element, y: Element) -> Element:
        """Algorithm 1: ``w = (x y + t' N) / M_B``, t' = t + j M_B from the extension.

        w < (x y / (M_B N) + 1 + excess) N; each factor may exceed c N as long as this stays below c N.
        """
        a, b = self.pair.a, self.pair.b
        t = b.mul(b.mul(x.b, y.b), self._negative_inverse)
        t_a = self.pair.from_b.extend(t, a)
        v = a.add(a.mul(x.a, y.a), a.mul(t_a, a.residues(self.n)))
        w = a.mul(v, self._inverse_radix)
        return Element(w, self.pair.from_a.extend(w, b))

    def mul(self, a: Element, b: Element) -> Element:
        """``a b / M_B mod N``, below c N, for a, b < c N."""
        assert self.is_element(a) and self.is_element(b)
        w = self.product(a, b)
        assert self.is_element(w)
        return w

    def sqr(self, a: Element) -> Element:
        """``a^2 / M_B mod N``."""
        return self.mul(a, a)

    def one(self) -> Element:
        """M_B mod N."""
        return self.element(self.pair.radix % self.n)

    def select(self, table: Sequence[Element], index: int) -> Element:
        """The entry at ``index``."""
        return table[index]

    def encode(self, x: int) -> Element:
        """Montgomery form of ``0 <= x < min(M_A, M_B)``, which need not be reduced modulo N.

        The product with M_B^2 mod N is below ``(x / M_B + 1 + excess) N``, below c N where
        ``x <= (c - 1 - excess) M_B``.
        """
        assert x <= (self.pair.bound - 1 - self.pair.from_b.excess) * self.pair.radix
        w = self.product(self.element(x), self.element(self.pair.radix**2 % self.n))
        assert self.is_element(w)
        return w

    def decode(self, x: Element) -> int:
        """The integer in [0, N) whose Montgomery form x is.

        The product with 1 is below ``(c / M_B + 1 + excess) N``: one subtraction where that is at most 2 N.
        """
        assert self.is_element(x)
        w = self.integer(self.product(x, self.element(1)))
        assert w < (self.pair.bound / self.pair.radix + 1 + self.pair.from_b.excess) * self.n
        return w % self.n

    def power(self, base: int, exponent: int, bits: int | None = None, width: int | None = None) -> int:
        """``base^exponent mod N`` by fixed windows over ``bits`` bits of the exponent.

        >>> from reference.modmul.rns.bases import Base
        >>> from reference.modmul.rns.extension import MixedRadix
        >>> bases = MixedRadix(Base((13, 11, 7))), MixedRadix(Base((17, 19, 5)))
        >>> RnsMontgomery(BasePair.of(*bases, bits=7), 101).power(3, 100)
        1
        """
        length = exponent.bit_length() if bits is None else bits
        return self.decode(power_fixed(self, self.encode(base), exponent, length, width))
