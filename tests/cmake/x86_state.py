# SPDX-License-Identifier: Apache-2.0
"""What is known of registers and of the stack between two instructions of x86-64 code."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Place", "State", "slot_at"]

SLOT_BYTES = 8
MOST_STACK_ARGUMENTS = 16

#: A place on the stack: "entry" or "other", and the distance from there in bytes.
Place = tuple[str, int]


@functools.cache
def slot_at(place: Place, step: int = 0) -> str:
    """Return the name of the slot `step` slots above a place."""
    return f"{place[0]}{place[1] + SLOT_BYTES * step:+d}"


@functools.cache
def place_of(slot: str) -> Place:
    """Return the place that a slot names."""
    return slot[:5], int(slot[5:])


@functools.cache
def neighbours(slot: str) -> frozenset[str]:
    """Return the slots, of any size, that may share a byte with this one."""
    base, at = place_of(slot)
    return frozenset(slot_at((base, at + step)) for step in range(1 - SLOT_BYTES, SLOT_BYTES))


@dataclass
class State:
    """What is known before an instruction.

    A slot is a place on the stack, by its distance from the stack pointer when the function was entered
    ("entry-16") or after it was aligned ("other+32").
    """

    data: set[str] = field(default_factory=set)  # registers and "flags" that may depend on data
    kinds: dict[str, str] = field(default_factory=dict)  # what registers and slots with pointers point to
    clean: set[str] = field(default_factory=set)  # stack slots that hold nothing that depends on data
    spilled: set[str] = field(default_factory=set)  # slots that were stored from general registers
    narrow: set[str] = field(default_factory=set)  # those of them of four bytes
    given: set[str] = field(default_factory=set)  # slots whose addresses other functions may have kept
    places: dict[str, Place] = field(default_factory=dict)  # registers and slots that point to the stack

    def copy(self) -> State:
        return State(
            set(self.data),
            dict(self.kinds),
            set(self.clean),
            set(self.spilled),
            set(self.narrow),
            set(self.given),
            dict(self.places),
        )

    def merge(self, other: State, certain: bool) -> bool:
        """Keep what holds in both states; return whether that is less than before.

        If it is not certain that the other state leads here, only its data are added: a jump through a table
        may lead to any instruction, but most of them have other predecessors.
        """
        before = self.copy()
        self.data |= other.data
        self.given |= other.given
        if not certain:
            return self != before
        self.kinds = {name: kind for name, kind in self.kinds.items() if other.kinds.get(name) == kind}
        self.clean &= other.clean
        self.spilled &= other.spilled
        self.narrow &= other.narrow
        self.places = {
            register: place for register, place in self.places.items() if other.places.get(register) == place
        }
        return self != before

    @staticmethod
    def at_entry(data: Iterable[str], kinds: dict[str, str]) -> State:
        """Return the state in which a function is entered. Arguments on the stack are pointers and sizes."""
        arguments = {slot_at(("entry", 0), step) for step in range(1, MOST_STACK_ARGUMENTS + 1)}
        return State(set(data), dict(kinds), clean=arguments, places={"rsp": ("entry", 0)})

    def store(self, slots: set[str], *, data: bool, kind: str | None) -> None:
        """Store a value in stack slots."""
        self.spilled -= slots
        self.narrow -= slots
        for slot in slots:
            self.places.pop(slot, None)
            self.kinds.pop(slot, None)
        if not data:
            self.clean |= slots
        else:
            near = self.clean.intersection(itertools.chain.from_iterable(map(neighbours, slots)))
            self.clean -= {slot for slot in near if any(self.reaches(one, slot) for one in slots)}
        if kind is not None:
            self.kinds |= dict.fromkeys(slots, kind)

    def reaches(self, stored: str, slot: str) -> bool:
        """Whether eight bytes from the slot `stored` on share one with another slot."""
        (base, at), (other_base, other_at) = place_of(stored), place_of(slot)
        size = SLOT_BYTES // 2 if slot in self.narrow else SLOT_BYTES
        return base == other_base and other_at - SLOT_BYTES < at < other_at + size

    def forget(self, first: str) -> None:
        """Other code may have stored to the stack from the slot `first` on."""
        base, offset = place_of(first)
        for slot in set(self.clean):
            of_slot, at = place_of(slot)
            if slot == first or (of_slot == base and at > offset and slot not in self.spilled):
                self.clean.discard(slot)
                self.kinds.pop(slot, None)
                self.places.pop(slot, None)
