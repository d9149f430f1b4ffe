# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication with centred half words whose digits are found by sums: the OpenCL kernels.

Sources: H. L. Garner, *The Residue Number System* (IRE Transactions on Electronic Computers EC-8, 1959) for
the digits; the rest as :mod:`reference.modmul.rns_float.centred`. Ranges and proofs are in
docs/rns/floating_point.md, "OpenCL"; equation numbers are that page's. Every operation is one of
:class:`reference.modmul.rns_float.binary_float.BinaryFloat`; those that must not round are asserted not to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from reference.modmul.rns_float.binary_float import BinaryFloat
from reference.modmul.rns_float.centred import reduce

#: Products that are added between two reductions.
BURST = 4


def centred(c: int, m: int) -> int:
    """Return the residue of least magnitude of an odd modulus."""
    return (c + m // 2) % m - m // 2


@dataclass(frozen=True)
class SummedMontgomery:
    """Products modulo n with R = M_B for numbers below 2^bits, of bases of odd primes above 2^(bits + 2)."""

    b: Sequence[int]
    a: Sequence[int]
    n: int
    f: BinaryFloat = field(default_factory=BinaryFloat)

    def residues(self, base: Sequence[int], x: int) -> list[int]:
        """Return the centred residues of a number."""
        return [centred(x, m) for m in base]

    def product(self, m: int, x: int, y: int) -> int:
        """``x y mod m``."""
        return reduce(self.f, m, self.f.exact(self.f.mul(x, y)))

    def add_products(self, m: int, start: int, digits: Sequence[int], constants: Sequence[int]) -> int:
        """Add digits times constants to a reduced number, with a reduction after each burst."""
        total = start
        for first in range(0, len(digits), BURST):
            for d, c in zip(digits[first : first + BURST], constants[first : first + BURST], strict=True):
                total = self.f.exact(self.f.fma(d, c, total))
            total = reduce(self.f, m, total)
        return total

    def digits(self, base: Sequence[int], x_over_places: Sequence[int]) -> list[int]:
        """Return the mixed radix digits of x from x / P_j modulo m_j: equation (12)."""
        found: list[int] = []
        for j, m in enumerate(base):
            inverse = pow(math.prod(base[:j]), -1, m)
            constants = [centred(-math.prod(base[:i]) * inverse, m) for i in range(j)]
            found.append(self.add_products(m, x_over_places[j], found, constants))
        return found

    def extended(self, source: Sequence[int], digits: Sequence[int], target: Sequence[int]) -> list[int]:
        """Return the residues in another base of the number with these digits."""
        places = [math.prod(source[:i]) for i in range(len(source))]
        return [self.add_products(m, 0, digits, [centred(p, m) for p in places]) for m in target]

    def over_places(self, base: Sequence[int], factor: int) -> list[int]:
        """Return factor / P_j modulo m_j."""
        return [centred(factor * pow(math.prod(base[:j]), -1, m), m) for j, m in enumerate(base)]

    def mul(
        self, x: tuple[list[int], list[int]], y: tuple[list[int], list[int]]
    ) -> tuple[list[int], list[int]]:
        """``x y / M_B mod n``, by residues in B and in A."""
        radix = math.prod(self.b)
        of_n = [
            centred(-c * pow(self.n, -1, m), m)
            for c, m in zip(self.over_places(self.b, 1), self.b, strict=True)
        ]
        t = [
            self.product(m, self.product(m, p, q), c)
            for m, p, q, c in zip(self.b, x[0], y[0], of_n, strict=True)
        ]
        sums = self.extended(self.b, self.digits(self.b, t), self.a)
        w = []
        for m, p, q, s in zip(self.a, x[1], y[1], sums, strict=True):
            inverse = pow(radix, -1, m)
            first = self.f.exact(self.f.mul(self.product(m, p, q), centred(inverse, m)))
            both = self.f.exact(self.f.fma(s, centred(self.n * inverse, m), first))
            w.append(reduce(self.f, m, both))
        scaled = [
            self.product(m, c, v) for m, c, v in zip(self.a, self.over_places(self.a, 1), w, strict=True)
        ]
        return self.extended(self.a, self.digits(self.a, scaled), self.b), w

    def element(self, x: int) -> tuple[list[int], list[int]]:
        """Return the residues of x in both bases."""
        return self.residues(self.b, x), self.residues(self.a, x)

    def integer(self, x: tuple[list[int], list[int]]) -> int:
        """Return the number in [0, n) of which x, abs < n, has the residues."""
        scaled = [
            self.product(m, c, v) for m, c, v in zip(self.a, self.over_places(self.a, 1), x[1], strict=True)
        ]
        places = (math.prod(self.a[:i]) for i in range(len(self.a)))
        value = sum(d * p for d, p in zip(self.digits(self.a, scaled), places, strict=True))
        assert abs(value) < self.n
        return value % self.n
