# SPDX-License-Identifier: Apache-2.0
"""Disassembled x86-64 code: objdump's text as functions, instructions and operands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = [
    "ARGUMENTS",
    "MEMORY",
    "REGISTERS",
    "VECTORS",
    "VECTOR_SLOTS",
    "Function",
    "Instruction",
    "functions",
    "parameters",
]

PREFIXES = {"rep", "repz", "notrack", "data16", "cs", "bnd", "lock", "ds", "es", "{evex}"}


def _register_names() -> dict[str, str]:
    names = {}
    for full, short in (("ax", "a"), ("bx", "b"), ("cx", "c"), ("dx", "d")):
        for name in (f"r{full}", f"e{full}", full, f"{short}l", f"{short}h"):
            names[name] = f"r{full}"
    for full in ("si", "di", "bp", "sp"):
        for name in (f"r{full}", f"e{full}", full, f"{full}l"):
            names[name] = f"r{full}"
    for number in range(8, 16):
        for suffix in ("", "d", "w", "b"):
            names[f"r{number}{suffix}"] = f"r{number}"
    return names


REGISTERS = _register_names()
for _number in range(32):
    for _width in "xyz":
        REGISTERS[f"{_width}mm{_number}"] = f"v{_number}"
#: Of pointers and integers, in the order of parameters.
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
VECTORS = {f"v{number}" for number in range(32)}
VECTOR_SLOTS = {"x": 2, "y": 4, "z": 8}  # of 8 bytes
MEMORY = re.compile(r"^(?:%\ws:)?(-?0x[0-9a-f]+|-?\d+)?\((%\w+)?(?:,(%\w+),\d)?\)")


@dataclass(frozen=True)
class Instruction:
    """One line of a disassembly."""

    address: int
    mnemonic: str
    operands: tuple[str, ...]
    text: str
    symbol: str = ""  # what a relocation refers to


@dataclass
class Function:
    """A function's instructions in order of their addresses."""

    name: str
    code: list[Instruction] = field(default_factory=list)


def split_operands(text: str) -> tuple[str, ...]:
    """Split at the commas outside of parentheses."""
    return tuple(part.strip() for part in re.split(r",(?![^(]*\))", text)) if text else ()


def split_relocation(text: str) -> tuple[str, str]:
    """Return the instruction, and the symbol of the relocation that objdump -r -w writes behind it."""
    found = re.search(r"\s[0-9a-f]+: R_X86_64_\w+\s+(\S.*?)([-+]0x[0-9a-f]+)?$", text)
    return (text[: found.start()], found.group(1)) if found is not None else (text, "")


def functions(disassembly: str) -> Iterator[Function]:
    """Yield the functions of objdump's text."""
    current: Function | None = None
    for line in disassembly.splitlines():
        if (start := re.match(r"^[0-9a-f]+ <(.*)>:$", line)) is not None:
            if current is not None:
                yield current
            current = Function(start.group(1))
        elif current is not None and (found := re.match(r"^\s*([0-9a-f]+):\s+(\S.*)$", line)) is not None:
            code, symbol = split_relocation(found.group(2))
            words = code.split("#")[0].split()
            while len(words) > 1 and words[0] in PREFIXES:
                words.pop(0)
            rest = re.sub(r"<.*>", "", " ".join(words[1:])).strip()
            current.code.append(
                Instruction(
                    int(found.group(1), 16),
                    words[0],
                    split_operands(rest),
                    f"{found.group(1)}: {code.strip()}",
                    symbol,
                )
            )
    if current is not None:
        yield current


def parameters(name: str) -> list[str]:
    """Return the parameter types of a demangled function."""
    name = re.sub(r"( const)?( \[clone.*\])?$", "", name.replace("(anonymous namespace)", "unnamed"))
    if not name.endswith(")"):
        return []
    types: list[str] = []
    depth, end = 0, len(name) - 1
    for at in range(len(name) - 1, -1, -1):
        depth += {")": 1, "}": 1, ">": 1, "(": -1, "{": -1, "<": -1}.get(name[at], 0)
        if depth == 0 or (depth == 1 and name[at] == ","):
            types.insert(0, name[at + 1 : end].strip())
            end = at
        if depth == 0:
            return types
    return []
