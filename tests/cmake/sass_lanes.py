# SPDX-License-Identifier: Apache-2.0
"""The two lowest bits of registers in SASS (sass_code.py), where the thread's number or constants give them.

Four neighbouring threads whose lanes for a shuffle have the two lowest bits of their own numbers read from
four different lanes, whatever the other bits are.
"""

from __future__ import annotations

import enum
import functools

import sass_code as sass
from sass_constants import Constants, lookup

__all__ = ["Low", "low_bits"]


class Low(enum.Enum):
    """What the two lowest bits are."""

    ZERO = "zero"
    OWN = "those of the thread's number"


#: By register.
LowBits = dict[int, Low]

# Blocks have one dimension, so that a thread's lane in its warp has the low bits of its number in the block.
THREAD_NUMBERS = {"SR_TID.X", "SR_LANEID"}


def low_bits(one: sass.Instruction, known: LowBits, constants: Constants) -> Low | None:
    """Return what is known of the first result of an instruction."""
    return _Reader(known, constants).result(one)


class _Reader:
    def __init__(self, known: LowBits, constants: Constants) -> None:
        self.known = known
        self.constants = constants

    def number(self, text: str) -> int | None:
        """The value of an operand that is a constant."""
        immediate = sass.immediate(text)
        if immediate is not None:
            return immediate
        at = sass.bit(text)
        constant = self.constants.get(at) if at is not None else None
        return constant.value if constant is not None and not constant.stack else None

    def operand(self, text: str) -> Low | None:
        number = self.number(text)
        if number is not None:
            return Low.ZERO if number % 4 == 0 else None
        at = sass.bit(text)
        return self.known.get(at) if at is not None else None

    def result(self, one: sass.Instruction) -> Low | None:
        name, sources = one.name, one.sources
        if name in {"S2R", "S2UR"}:
            return Low.OWN if sources[0] in THREAD_NUMBERS and name == "S2R" else None
        if name in {"MOV", "UMOV", "R2UR"}:
            return self.operand(sources[0])
        if name == "SEL":
            first, second = (self.operand(text) for text in sources[:2])
            return first if first is second else None
        if name in {"LOP3", "ULOP3"} and len(sources) >= 4:
            return self.logic(sources)
        if name == "VIADD" or (name in {"IADD3", "UIADD3"} and "X" not in one.modifiers):
            return self.total(sources)
        if name in {"SHF", "USHF"} and one.modifiers[:2] == ("L", "U32"):
            return self.shifted(sources[0], sources[1], sources[2])
        if name in {"LEA", "ULEA"} and not {"X", "HI"} & set(one.modifiers):
            return self.scaled(sources)
        if name in {"IMAD", "UIMAD"} and not {"X", "HI", "WIDE"} & set(one.modifiers):
            return self.product(sources)
        return None

    def total(self, sources: tuple[str, ...]) -> Low | None:
        """Return the class of a sum of at most one term that is not 0 modulo 4."""
        terms = [self.operand(text) for text in sources if not sass.PREDICATE.fullmatch(text.lstrip("!"))]
        others = [term for term in terms if term is not Low.ZERO]
        return Low.ZERO if not others else others[0] if len(others) == 1 else None

    def shifted(self, word: str, count: str, low: str) -> Low | None:
        """A word shifted to the left, with bits of `low` below."""
        by = self.number(count)
        if by is None or self.number(low) != 0:
            return None
        return Low.ZERO if by >= 2 else self.operand(word) if by == 0 else None

    def scaled(self, sources: tuple[str, ...]) -> Low | None:
        """a 2^k + b"""
        if len(sources) < 3:
            return None
        by = self.number(sources[2])
        return self.operand(sources[1]) if by is not None and by >= 2 else None

    def product(self, sources: tuple[str, ...]) -> Low | None:
        """a b + c"""
        a, b, c = sources[:3]
        numbers = [self.number(text) for text in (a, b)]
        if any(number is not None and number % 4 == 0 for number in numbers) or Low.ZERO in (
            self.operand(a),
            self.operand(b),
        ):
            return self.operand(c)
        factor = next((text for text, number in zip((b, a), numbers, strict=True) if number == 1), None)
        return self.total((factor, c)) if factor is not None else None

    def logic(self, sources: tuple[str, ...]) -> Low | None:
        """Bit by bit: LOP3's table of three words whose low bits are constants, the thread's, or unknown."""
        return _logic(int(sources[3], 16), tuple(self.kind(text) for text in sources[:3]))

    def kind(self, text: str) -> int | Low | None:
        """The two lowest bits of an operand that is a constant, else what is known of them."""
        number = self.number(text)
        return number & 3 if number is not None else self.operand(text)


@functools.cache
def _logic(table: int, words: tuple[int | Low | None, ...]) -> Low | None:
    found: set[Low | None] = set()
    for place in range(2):
        outcomes = {own: _outcomes(table, words, place, own) for own in (0, 1)}
        if outcomes == {0: {0}, 1: {0}}:
            found.add(Low.ZERO)
        elif outcomes == {0: {0}, 1: {1}}:
            found.add(Low.OWN)
        else:
            return None
    return found.pop() if len(found) == 1 else None


def _outcomes(table: int, words: tuple[int | Low | None, ...], place: int, own: int) -> set[int]:
    """The possible results at a place if the thread's number has the bit `own` there."""
    choices = [_bits(word, place, own) for word in words]
    return {lookup(table, [x, y, z], 1) for x in choices[0] for y in choices[1] for z in choices[2]}


def _bits(word: int | Low | None, place: int, own: int) -> set[int]:
    if isinstance(word, int):
        return {word >> place & 1}
    return {0} if word is Low.ZERO else {own} if word is Low.OWN else {0, 1}
