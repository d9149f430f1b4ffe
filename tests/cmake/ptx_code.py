# SPDX-License-Identifier: Apache-2.0
"""Texts of PTX kernels as lists of instructions, for check_opencl_secrets.py."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\((.*?)\)[^{]*\{(.*?)\n\}", re.DOTALL)
PARAMETER = re.compile(r"\.param\s[^,]*?([\w$]+)\s*(?:\[\d+\])?\s*(?:,|$)", re.DOTALL)
LABEL = re.compile(r"^([$\w]+):\s*(.*)$", re.DOTALL)
GUARD = re.compile(r"^@(!?)(%[\w$]+)\s+(.*)$", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

#: Instructions whose time does not depend on their operands, as far as NVIDIA documents it.
CONSTANT_TIME = frozenset(
    [
        "abs",
        "add",
        "addc",
        "and",
        "bar",
        "barrier",
        "bfe",
        "bfi",
        "bfind",
        "bra",
        "brev",
        "clz",
        "cnot",
        "cvt",
        "cvta",
        "exit",
        "fma",
        "ld",
        "ldu",
        "lop3",
        "mad",
        "mad24",
        "madc",
        "max",
        "membar",
        "min",
        "mov",
        "mul",
        "mul24",
        "neg",
        "not",
        "or",
        "popc",
        "prmt",
        "ret",
        "sad",
        "selp",
        "set",
        "setp",
        "shf",
        "shl",
        "shr",
        "slct",
        "st",
        "sub",
        "subc",
        "xor",
    ]
)
#: Their first operand is not written.
WITHOUT_RESULT = frozenset({"st", "bar", "barrier", "bra", "ret", "exit", "membar"})


@dataclass(frozen=True)
class Instruction:
    """One instruction: ``name`` is ``ld``, ``modifiers`` are ``global`` and ``u32``."""

    text: str
    name: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""
    negated: bool = False

    @property
    def results(self) -> tuple[str, ...]:
        """The registers that are written; a result may be a vector {a, b} or a pair a|b."""
        return () if self.name in WITHOUT_RESULT or not self.operands else registers(self.operands[0])

    @property
    def sources(self) -> tuple[str, ...]:
        """The operands that are read, addresses included."""
        return self.operands if self.name in WITHOUT_RESULT else self.operands[1:]


@dataclass
class Kernel:
    """A kernel's parameters, in order, its instructions, and where its labels are."""

    name: str
    parameters: list[str]
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def registers(text: str) -> tuple[str, ...]:
    """Return the registers that an operand names."""
    return tuple(re.findall(r"%[\w$.]+", text))


def split_operands(text: str) -> tuple[str, ...]:
    """Split at commas that are not within braces."""
    parts = re.findall(r"(?:\{[^}]*\}|[^,{])+", text)
    return tuple(part.strip() for part in parts if part.strip())


def instruction(text: str) -> Instruction:
    """Decode one statement without its semicolon."""
    guard, negated, rest = "", False, text
    if match := GUARD.match(text):
        negated, guard, rest = match[1] == "!", match[2], match[3]
    opcode, _, operands = rest.partition(" ")
    name, *modifiers = opcode.split(".")
    return Instruction(text, name, tuple(modifiers), split_operands(operands), guard, negated)


def kernels(text: str) -> list[Kernel]:
    """Return the kernels of a PTX module."""
    found = []
    for name, parameters, body in ENTRY.findall(COMMENT.sub("", text)):
        kernel = Kernel(name, PARAMETER.findall(parameters + ","))
        for statement in re.split(r"[;\n](?=\s|$)", body):
            line = " ".join(statement.replace(";", " ").split())
            while match := LABEL.match(line):
                kernel.labels[match[1]] = len(kernel.code)
                line = match[2].strip()
            if line and not line.startswith("."):
                kernel.code.append(instruction(line))
        found.append(kernel)
    return found
