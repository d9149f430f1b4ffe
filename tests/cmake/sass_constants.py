# SPDX-License-Identifier: Apache-2.0
"""Register values in SASS (sass_code.py) that are known before it runs."""

from __future__ import annotations

from dataclasses import dataclass

import sass_code as sass


@dataclass(frozen=True)
class Constant:
    """A word, or a predicate as 0 or 1."""

    value: int
    stack: bool = False  # an offset from the stack pointer at the start of the kernel


#: By register.
Constants = dict[int, Constant]


def compare(relation: str, a: int, b: int, signed: bool) -> bool | None:
    """Return the outcome of a comparison of words; None for an unknown relation."""
    if signed:
        a, b = ((word ^ 0x80000000) - 0x80000000 for word in (a, b))
    outcomes = {"EQ": a == b, "NE": a != b, "LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b}
    return outcomes.get(relation)


def lookup(table: int, words: list[int], size: int) -> int:
    """Return LOP3's result: bit by bit the entry of `table` that the bits of three words select."""
    a, b, c = words[:3]
    return sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(size))


def copied(one: sass.Instruction) -> tuple[int, bool] | None:
    """Return the predicate that the first result copies, and whether it is negated."""
    if one.name not in {"PLOP3", "UPLOP3"} or len(one.sources) < 4:
        return None
    inputs = one.sources[:3]
    read = {at for text in inputs if (at := sass.bit(text.lstrip("!"))) is not None}
    if len(read) != 1:
        return None
    at = read.pop()
    outcomes = []
    for value in (0, 1):
        known = [1 if sass.bit(text.lstrip("!")) is None else value for text in inputs]
        words = [word ^ text.startswith("!") for word, text in zip(known, inputs, strict=True)]
        outcomes.append(lookup(int(one.sources[3], 16), words, 1))
    return (at, outcomes == [1, 0]) if outcomes[0] != outcomes[1] else None


def fold(one: sass.Instruction, constants: Constants) -> Constant | None:
    """Return the first result of an instruction if constants and immediate operands determine it."""
    folding = _Folding(constants)
    result = folding.result(one)
    return result if folding.used else None


class _Folding:
    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.used = False

    def operand(self, text: str) -> Constant | None:
        """The value of an operand."""
        immediate = sass.immediate(text)
        if immediate is not None:
            return Constant(immediate & 0xFFFFFFFF)
        if text in {"!PT", "!UPT"}:
            return Constant(0)
        if text in {"PT", "UPT"}:
            return Constant(1)
        register = sass.bit(text.lstrip("!"))
        known = self.constants.get(register) if register is not None else None
        if known is None:
            return None
        self.used = True
        return Constant(1 - known.value) if text.startswith("!") else known

    def words(self, texts: tuple[str, ...]) -> list[int] | None:
        """The values of all operands; None if one is unknown or on the stack."""
        values = [self.operand(text) for text in texts]
        known = [value.value for value in values if value is not None and not value.stack]
        return known if len(known) == len(values) else None

    def result(self, one: sass.Instruction) -> Constant | None:
        name, sources = one.name, one.sources
        if name in {"MOV", "UMOV", "R2UR"}:
            return self.operand(sources[0])
        if name == "IMAD" and sources[:2] == ("RZ", "RZ") and one.modifiers in {("MOV", "U32"), ("U32",)}:
            return self.operand(sources[2])
        if name == "VIADD" or (name in {"IADD3", "UIADD3"} and one.destinations == 1 and not one.modifiers):
            return self.total(sources)
        if name == "P2R" and not one.modifiers:
            return self.packed(one)
        if name in {"LOP3", "ULOP3", "PLOP3"}:
            return self.logic(one)
        if name in {"ISETP", "UISETP"}:
            return self.comparison(one)
        return None

    def total(self, sources: tuple[str, ...]) -> Constant | None:
        values = [self.operand(text) for text in sources]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or sum(value.stack for value in known) > 1:
            return None
        return Constant(sum(value.value for value in known) & 0xFFFFFFFF, any(value.stack for value in known))

    def packed(self, one: sass.Instruction) -> Constant | None:
        """A word in which the bits of a mask are replaced by the predicates with their numbers."""
        word, mask = self.words(one.sources[1:]), self.words(one.sources[2:])
        if one.sources[0] != "PR" or word is None or mask is None:
            return None
        names = [f"P{at}" for at in range(7) if mask[0] >> at & 1]
        predicates = self.words(tuple(names))
        if predicates is None:
            return None
        bits = sum(value << int(name[1:]) for name, value in zip(names, predicates, strict=True))
        return Constant(word[0] & ~mask[0] | bits)

    def logic(self, one: sass.Instruction) -> Constant | None:
        words = self.words(one.sources[:4])
        if words is None or len(words) < 4:
            return None
        if one.name == "PLOP3":
            return Constant(lookup(words[3], words, 1))
        outcome = lookup(words[3], words, 32)
        if one.destinations == 1:
            return Constant(outcome)
        return Constant(int(outcome != 0)) if one.operands[1] in {"RZ", "URZ"} else None

    def comparison(self, one: sass.Instruction) -> Constant | None:
        words = self.words(one.sources)
        if words is None or len(words) != 3:
            return None
        outcome = compare(one.modifiers[0], words[0], words[1], "U32" not in one.modifiers)
        third = words[2] != 0
        if outcome is None or one.modifiers[-1] not in {"AND", "OR"}:
            return None
        return Constant(int(outcome and third if one.modifiers[-1] == "AND" else outcome or third))
