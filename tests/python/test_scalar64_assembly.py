# SPDX-License-Identifier: Apache-2.0
"""The generated assembly of scalar64.adx branches on sizes and addresses memory by pointers alone.

An abstract run over the text: pointers, counts and arithmetic on them are public; whatever comes out of
memory or a multiplication is secret, and so is what is computed from it. No conditional jump may use flags
that a secret set, and no address may contain a secret register.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

GENERATOR = Path(__file__).resolve().parents[2] / "src" / "modmul" / "scalar64" / "mont_adx_gen.py"

# By routine: the argument registers that hold pointers or sizes; the others (n0, carry, bit) are data.
PUBLIC_ARGUMENTS = {
    "mul": {"rdi", "rsi", "rdx", "rcx"},
    "sqr": {"rdi", "rsi", "rdx"},
    "product_tile": {"rdi", "rsi", "rdx", "rcx"},
    "square_tile": {"rdi", "rsi", "rdx"},
    "double_add_squares": {"rdi", "rsi", "rdx"},
    "redc_tile": {"rdi", "rsi", "rcx"},
    "subtract_bit": {"rdi", "rsi", "rdx", "rcx"},
}
ALIASES = {"eax": "rax", "ebx": "rbx", "ecx": "rcx", "edx": "rdx", "ebp": "rbp"}
ALIASES |= {f"r{i}d": f"r{i}" for i in range(8, 16)}
WITH_CARRY = {"adcq", "sbbq", "adcxq", "adoxq"}
ARITHMETIC = WITH_CARRY | {"addq", "subq", "andl", "shrq", "imulq", "decq", "negq", "testq"}
NEUTRAL = {"jmp", "ret", "endbr64", "pushq", "popq"}
FLAGS = "flags"
LOOP_CARRIED = {"rdi", "rsi", "rcx", "rbp"}  # the registers that loops count and address with
CONDITIONAL = re.compile(r"^j(?!mp|rcxz)[a-z]+$")


def register(operand: str) -> str | None:
    if not operand.startswith("%"):
        return None
    name = operand[1:]
    return ALIASES.get(name, name)


def split_operands(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)] if text else []


class Taint:
    """Secret registers (and flags, and stack slots) while one routine runs."""

    def __init__(self, routine: str) -> None:
        public = PUBLIC_ARGUMENTS[re.sub(r"_\d+$", "", routine)] | {"rsp"}
        arguments = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"}
        self.secret: set[str] = arguments - public
        self.violations: list[str] = []

    def is_secret(self, operand: str) -> bool:
        if operand.startswith("$"):
            return False
        name = register(operand)
        return name in self.secret if name is not None else True  # memory holds data

    def check_addresses(self, line: str, operands: list[str]) -> None:
        for operand in operands:
            for name in re.findall(r"%(\w+)", operand) if "(" in operand else []:
                if ALIASES.get(name, name) in self.secret:
                    self.violations.append(f"secret address: {line}")

    def assign(self, target: str, secret: bool) -> None:
        name = register(target)
        if name is None:
            return
        self.secret.discard(name)
        if secret:
            self.secret.add(name)

    def step(self, line: str) -> None:
        mnemonic, _, rest = line.partition(" ")
        operands = split_operands(rest.strip())
        self.check_addresses(line, operands)
        if CONDITIONAL.match(mnemonic) or mnemonic == "jrcxz":
            if ("rcx" if mnemonic == "jrcxz" else FLAGS) in self.secret:
                self.violations.append(f"branch on a secret: {line}")
        elif mnemonic in ARITHMETIC:
            self.arithmetic(mnemonic, operands)
        elif mnemonic == "xorl" and operands[0] == operands[1]:
            self.assign(operands[1], False)
            self.secret.discard(FLAGS)
        elif mnemonic in {"movq", "movl"}:
            self.assign(operands[1], self.is_secret(operands[0]))
        elif mnemonic == "leaq":
            self.assign(operands[1], False)
        elif mnemonic in {"mulx", "cmovcq"}:
            for target in operands[1:]:
                self.assign(target, True)
        elif mnemonic not in NEUTRAL:
            self.violations.append(f"instruction outside the allow-list: {line}")

    def arithmetic(self, mnemonic: str, operands: list[str]) -> None:
        secret = any(self.is_secret(operand) for operand in operands)
        secret |= mnemonic in WITH_CARRY and FLAGS in self.secret
        if mnemonic != "testq":
            self.assign(operands[-1], secret)
        self.set_flags(secret)

    def set_flags(self, secret: bool) -> None:
        self.secret.discard(FLAGS)
        if secret:
            self.secret.add(FLAGS)


def routines(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for raw in text.splitlines():
        line = raw.strip()
        if (start := re.match(r"^mm_scalar64_adx_(\w+):$", line)) is not None:
            current = found.setdefault(start.group(1), [])
        elif line and current is not None and not line.startswith((".", "#")) and not line.endswith(":"):
            current.append(line)
    return found


def violations(routine: str, lines: list[str]) -> list[str]:
    """Two passes: what a loop's body leaves secret is secret where the body begins again."""
    first = Taint(routine)
    for line in lines:
        first.step(line)
    second = Taint(routine)
    for line in lines:
        second.step(line)
        # The callee-saved registers and accumulators that a loop carries keep what the first pass found.
        second.secret |= first.secret & LOOP_CARRIED
    return sorted(set(first.violations) | set(second.violations))


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("generated") / "mont.adx.S"
    subprocess.run([sys.executable, str(GENERATOR), str(target)], check=True)
    return target.read_text(encoding="ascii")


def test_every_routine_is_checked(assembly: str) -> None:
    names = {re.sub(r"_\d+$", "", name) for name in routines(assembly)}
    assert names == set(PUBLIC_ARGUMENTS)


def test_no_branch_and_no_address_depends_on_data(assembly: str) -> None:
    found = [
        f"{name}: {text}" for name, lines in routines(assembly).items() for text in violations(name, lines)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        (["movq (%rsi), %rax", "testq %rax, %rax", "jnz .Lsomewhere"], "branch on a secret"),
        (["movq (%rsi), %rcx", "movq (%rdi,%rcx,8), %rax"], "secret address"),
        (["mulx (%rsi), %rax, %rbx", "movq %rbx, %rcx", "jrcxz .Lsomewhere"], "branch on a secret"),
        (["divq %rcx"], "outside the allow-list"),
    ],
)
def test_the_check_finds_what_it_looks_for(planted: list[str], message: str) -> None:
    found = violations("mul_4", planted)
    assert len(found) == 1
    assert message in found[0]
