# SPDX-License-Identifier: Apache-2.0
"""The state of the data-flow analysis of check_device_secrets.py before an instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sass_code as sass
from sass_constants import Constant, Constants
from sass_lanes import Low, LowBits

LOCAL_SLOTS = 1024  # words of local memory that are tracked separately
LOCAL = ((1 << LOCAL_SLOTS) - 1) << sass.REGISTER_BITS

#: The bit of a predicate, and whether the literal is its negation.
Literal = tuple[int, bool]


def members(target: int, facts: Mapping[int, object]) -> list[int]:
    """Return the bits of `target` that `facts` has an entry of."""
    if target.bit_count() > len(facts):
        return [at for at in facts if target >> at & 1]
    found = []
    while target:
        at = target.bit_length() - 1
        target ^= 1 << at
        if at in facts:
            found.append(at)
    return found


@dataclass(frozen=True)
class Value:
    """The properties of a value, see State."""

    secret: bool = False
    listed: bool = False
    constant: Constant | None = None
    low: Low | None = None


@dataclass
class State:
    """What is known before an instruction.

    Sets are of bits: those of registers (sass_code.py), then those of words of local memory.
    """

    secret: int = 0  # depends on secrets; registers that were never written do not
    listed: int = 0  # computed from a pointer to public data on every path that leads here
    constants: Constants = field(default_factory=dict)
    low: LowBits = field(default_factory=dict)  # of registers, see sass_lanes.py
    public_if: dict[Literal, int] = field(default_factory=dict)  # of `secret`: public if the literal holds
    copies: dict[int, Literal] = field(default_factory=dict)  # predicates that equal another literal

    def copy(self) -> State:
        return State(
            self.secret,
            self.listed,
            dict(self.constants),
            dict(self.low),
            dict(self.public_if),
            dict(self.copies),
        )

    def original(self, predicate: int, negated: bool) -> Literal:
        """Return the literal that the predicate's is a copy of, or itself."""
        at, opposite = self.copies.get(predicate, (predicate, False))
        return at, negated != opposite

    def merge(self, other: State) -> bool:
        """Keep the properties that hold in both states; return whether any is lost."""
        secret, listed = self.secret | other.secret, self.listed & other.listed
        constants = {at: value for at, value in self.constants.items() if other.constants.get(at) == value}
        low = {at: value for at, value in self.low.items() if other.low.get(at) == value}
        changed = (secret, listed) != (self.secret, self.listed) or len(constants) < len(self.constants)
        changed = changed or len(low) < len(self.low)
        public_if = {}
        for literal in self.public_if.keys() | other.public_if.keys():
            public_if[literal] = secret & ~(self.secret_if(literal) | other.secret_if(literal))
            changed = changed or self.public_if.get(literal, 0) & ~public_if[literal] != 0
        copies = {at: original for at, original in self.copies.items() if other.copies.get(at) == original}
        changed = changed or len(copies) < len(self.copies)
        self.secret, self.listed, self.low = secret, listed, low
        self.constants, self.public_if, self.copies = constants, public_if, copies
        return changed

    def secret_if(self, literal: Literal | None) -> int:
        """Return the secret registers if the literal holds."""
        return self.secret & ~self.public_if.get(literal, 0) if literal is not None else self.secret

    def put(self, target: int, value: Value, literal: Literal | None = None, partly: bool = False) -> None:
        """Set `target` to `value` if the literal holds; with `partly`, it may also keep its old value."""
        self._put_if(target, value, literal, partly)
        clear = 0 if literal is not None or partly else target
        self.secret = (self.secret & ~clear) | (target if value.secret else 0)
        if literal is not None:  # public in both cases
            opposite = literal[0], not literal[1]
            self.secret &= ~(self.public_if.get(literal, 0) & self.public_if.get(opposite, 0))
        if not value.listed:
            self.listed &= ~target
        elif clear:
            self.listed |= target
        for at in members(target, self.constants):
            del self.constants[at]
        for at in [at for at, (of, _) in self.copies.items() if (target >> at | target >> of) & 1]:
            del self.copies[at]
        first = (target & -target).bit_length() - 1
        if value.constant is not None and clear:
            self.constants[first] = value.constant
        for at in members(target, self.low):
            if clear or at != first or self.low[at] != value.low:
                del self.low[at]
        if value.low is not None and clear:
            self.low[first] = value.low

    def _put_if(self, target: int, value: Value, literal: Literal | None, partly: bool) -> None:
        otherwise = None
        if literal is not None:
            otherwise = (literal[0], not literal[1])
            self.public_if[otherwise] = self.public_if.get(otherwise, 0) | (target & ~self.secret)
            if not value.secret and not partly:
                self.public_if[literal] = self.public_if.get(literal, 0) | target
        for at in list(self.public_if):
            if target >> at[0] & 1:
                del self.public_if[at]
            elif value.secret and at != otherwise:
                self.public_if[at] &= ~target
