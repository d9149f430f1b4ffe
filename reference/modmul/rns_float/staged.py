# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication with Szabo-Tanaka extensions, stage by stage, over channels of any kind.

Source: A. Moss, D. Page, N. P. Smart, *Toward Acceleration of RSA Using 3D Graphics Hardware* (IMA CC 2007),
algorithm 2. Each stage is one rendering pass there, or one pass for each digit. Channels exchange digits as
plain integers; pairs of small moduli are joined for that and for nothing else.

Printed slip: stage 1 has ``s_A <- x_A y_B`` for ``x_A y_A``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from reference.modmul.rns.bases import Base, BasePair, Condition, check_bases, check_modulus, require
from reference.modmul.rns.extension import MixedRadix, mixed_radix_weights
from reference.modmul.rns_float.channels import Channel

R = TypeVar("R")
Vector = tuple[R, ...]
Both = tuple[Vector[R], Vector[R]]
"""The residues in A and in B."""


def channel_conditions(channels: Sequence[Channel[R]]) -> Iterator[Condition]:
    """Yield that every channel can load the digits of all others: "Digits between channels"."""
    largest = max(c.modulus for c in channels) - 1
    yield "digits between channels", all(largest <= c.largest_digit for c in channels)


@dataclass(frozen=True)
class StagedMontgomery(Generic[R]):
    """Arithmetic modulo N < 2^bits on integers below 2 N, in channels of the two bases."""

    b: tuple[Channel[R], ...]
    a: tuple[Channel[R], ...]
    n: int
    bits: int

    def __post_init__(self) -> None:
        """Reject bases and moduli that the proof does not cover."""
        check_bases(self.pair)
        require(channel_conditions([*self.a, *self.b]))
        check_modulus(self.pair, self.n)

    @cached_property
    def pair(self) -> BasePair:
        """The two bases with exact extensions."""
        bases = [Base(tuple(c.modulus for c in channels)) for channels in (self.b, self.a)]
        return BasePair.of(MixedRadix(bases[0]), MixedRadix(bases[1]), self.bits)

    def _constant(self, channels: Sequence[Channel[R]], x: int) -> Vector[R]:
        return tuple(c.load(x % c.modulus) for c in channels)

    def element(self, x: int) -> Both[R]:
        """The residues of an integer."""
        return self._constant(self.a, x), self._constant(self.b, x)

    def integer(self, x: Both[R]) -> int:
        """The integer that the residues in both bases represent."""
        bases = zip((self.pair.a, self.pair.b), (self.a, self.b), x, strict=True)
        in_a, in_b = (
            base.value([c.digit(r) for c, r in zip(channels, part, strict=True)])
            for base, channels, part in bases
        )
        assert in_a == in_b, "the bases disagree"
        return in_a

    @staticmethod
    def _mul(channels: Sequence[Channel[R]], x: Sequence[R], y: Sequence[R]) -> Vector[R]:
        return tuple(c.mul(u, v) for c, u, v in zip(channels, x, y, strict=True))

    @staticmethod
    def _digits(channels: Sequence[Channel[R]], x: Sequence[R]) -> list[int]:
        """Stages 2 and 5: residues to mixed radix digits."""
        remaining, digits = list(x), []
        for i, source in enumerate(channels):
            digits.append(source.digit(remaining[i]))
            for j in range(i + 1, len(channels)):
                channel = channels[j]
                difference = channel.sub(remaining[j], channel.load(digits[i]))
                inverse = channel.load(pow(source.modulus, -1, channel.modulus))
                remaining[j] = channel.mul(difference, inverse)
        return digits

    @staticmethod
    def _gather(digits: Sequence[int], source: Base, target: Sequence[Channel[R]]) -> Vector[R]:
        """Stages 3 and 6: digits times their places, in the channels of the other base."""
        places = mixed_radix_weights(source)
        result = []
        for channel in target:
            total = channel.load(0)
            for digit, place in zip(digits, places, strict=True):
                term = channel.mul(channel.load(digit), channel.load(place % channel.modulus))
                total = channel.add(total, term)
            result.append(total)
        return tuple(result)

    def mul(self, x: Both[R], y: Both[R]) -> Both[R]:
        """``x y / M_B mod N``, below 2 N, for x, y < 2 N."""
        assert max(self.integer(x), self.integer(y)) < 2 * self.n
        a, b = self.a, self.b
        s_a, s_b = self._mul(a, x[0], y[0]), self._mul(b, x[1], y[1])
        t_b = self._mul(b, s_b, self._constant(b, pow(-self.n, -1, self.pair.radix)))
        t_a = self._gather(self._digits(b, t_b), self.pair.b, a)
        u_a = self._mul(a, t_a, self._constant(a, self.n))
        v_a = tuple(c.add(s, u) for c, s, u in zip(a, s_a, u_a, strict=True))
        w_a = self._mul(a, v_a, tuple(c.load(pow(self.pair.radix, -1, c.modulus)) for c in a))
        w = w_a, self._gather(self._digits(a, w_a), self.pair.a, b)
        assert self.integer(w) < 2 * self.n
        return w
