# SPDX-License-Identifier: Apache-2.0
"""What the pointers of a lane kernel lead to, by the types of its parameters and by its class.

Members of the records of RECORDS are public, as they are pointers to words and sizes; what lies behind those
pointers is data. Three kinds of pointers lead further. What lies behind "open" ones is public at any depth:
constants of a prime, fields, exponents. A "block" (PointBlock) is a record whose first member is open. A
"holder" (kernels of points) has the address of a block, and behind it a field, which is open.
"""

from __future__ import annotations

import re

from x86_code import ARGUMENTS, parameters

__all__ = ["kind_of_member", "kind_within", "kinds_of_arguments"]

# Types whose members are pointers to words and sizes, none of them a word of a number.
RECORDS = re.compile(
    r"::(lanes::(Pair|SelectShare|PointKernels<[^&]*>::Batch|EdwardsBlock|EdwardsKernels<[^&]*>::Batch)"
    r"|radix29::ProductScanning<[^&]*>::Operands"
    r"|ifma52::unnamed::(SquareColumns|ProductColumns|(NoSelection|InterleavedSelection<[^&]*>)::Work))"
    r"( const)?[*&]$"
)
BLOCK = re.compile(r"::lanes::PointBlock( const)?[*&]$")
FIELD = r"manymod::(field::InlinedLaneField|montgomery_lanes::LaneArithmetic)<"
OPEN = re.compile(rf"^({FIELD}.*>|manymod::montgomery_lanes::Constants|std::vector<unsigned long.*>) const&$")
# Classes by their member functions.
HOLDER_MEMBER = re.compile(r"^(void )?manymod::ecc::lanes::(PointKernels|LanePoints)<")
OPEN_MEMBER = re.compile(rf"^(void )?{FIELD}")


def kind_of_parameter(kind: str) -> str | None:
    """Return what a parameter of a type points to, if that is known."""
    for pattern, name in ((BLOCK, "block"), (OPEN, "open"), (RECORDS, "record")):
        if pattern.search(kind):
            return name
    return None


def kinds_of_arguments(name: str) -> dict[str, str]:
    """Return what is known of the registers that hold pointers and references."""
    registers = iter(ARGUMENTS)
    kinds: dict[str, str] = {}
    if re.search(r"\) const( \[clone.*\])?$", name):
        this = next(registers)
        for pattern, kind in ((HOLDER_MEMBER, "holder"), (OPEN_MEMBER, "open")):
            if pattern.search(name):
                kinds[this] = kind
    for parameter in parameters(name):
        if not re.search(r"[*&]$|\(&\) \[", parameter):
            if re.fullmatch(r"(unsigned |long |int|bool|char)+", parameter + " "):
                next(registers, None)
            continue
        register = next(registers, None)
        found = kind_of_parameter(parameter)
        if register is not None and found is not None:
            kinds[register] = found
    return kinds


def kind_of_member(kind: str | None, offset: int) -> str | None:
    """Return what a pointer leads to that is read at an offset of what another one points to."""
    if kind == "holder":
        return "block" if offset == 0 else "open"
    return "open" if kind == "open" or (kind == "block" and offset == 0) else None


def kind_within(kind: str | None, offset: int) -> str | None:
    """Return what a pointer to an offset of what another one points to points to."""
    if offset == 0 or kind not in {"holder", "block"}:
        return kind
    return "open" if kind == "holder" else "record"
