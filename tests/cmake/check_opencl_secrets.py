#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check PTX of the OpenCL kernels for timing that depends on secrets.

PTX is what NVIDIA's OpenCL driver returns as a program's binary. A data-flow analysis of each kernel reports
the following if they depend on secrets: branches, addresses, predicates of loads and stores; and calls and
instructions that are not on the list of ptx_code.py, such as divisions.

Secret are all values that are loaded from global memory, but through the pointers that PUBLIC names, all
values in local and shared memory, and all values computed from these. Public are the job (the kernel's first
parameter), numbers of work-items, and values loaded through pointers that the job has at the offsets of
PUBLIC. Code that constant-time calls skip, because a byte of the job is 1 in them (TRUE), is not analysed.

Usage: check_opencl_secrets.py FILE...: PTX, or binaries of the library's cache (MANYMOD_OPENCL_CACHE).
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import ptx_code as ptx

LEAVING = {"bra", "ret", "exit"}
#: Offsets in the job of pointers to public data, by the kernel's name: a program's steps and
#: the constants of bases (gpu/program/program.hpp); the items' indices, and which rows are left out
#: (gpu/kernels/rows.cuda.hpp); a curve's numbers and the multiples of its generator (ecc/device/jobs.hpp).
PUBLIC = {
    "mm_copy_rows": {16, 40, 72},
    "mm_*": set(),
    "division32_*": set(),
    "ecc_*": {24, 120},
    "rns_float_*": {0, 1128},
    "*": {0},
}
#: Offsets in the job of 64-bit words that are no pointers.
NUMBERS = {"mm_copy_rows": {8, 32, 64}, "*": set()}
#: Offsets of bytes that are 1 in constant-time calls: ProgramJob::scan.
TRUE = {"mm_*": set(), "division32_*": set(), "ecc_*": set(), "*": {1116}}
#: What precedes a binary in a file of the cache: a magic of 8 bytes, and a digest
#: (gpu/opencl/binary_cache.cpp).
MAGIC, HEADER = b"manymod1", 40
#: A word of the job at an offset that is not known.
ANY = -1

ADDRESS = re.compile(r"\[\s*([%\w$.]+)\s*(?:\+\s*(-?\d+))?\s*\]")


def matching(table: dict[str, set[int]], name: str) -> set[int]:
    """Return the entry of the first pattern that the name matches."""
    return next(entry for pattern, entry in table.items() if fnmatch.fnmatchcase(name, pattern))


@dataclass(frozen=True)
class Value:
    """What a register may hold."""

    secret: bool = False
    #: Offsets in the job of pointers that it is computed from.
    fields: frozenset[int] = frozenset()
    #: Its distance from the job's address; ANY if it varies; None if it is no such address.
    job: int | None = None
    #: None if it is not known.
    constant: int | None = None

    def joined(self, other: Value) -> Value:
        """Return what may be either of them."""
        if self == other:
            return self
        job = self.job if self.job == other.job else ANY if None not in (self.job, other.job) else None
        constant = self.constant if self.constant == other.constant else None
        mixed = (self.job is None) != (other.job is None)  # an address that is not always the job's
        return Value(self.secret or other.secret or mixed, self.fields | other.fields, job, constant)


State = dict[str, Value]
UNKNOWN = Value()


class Analysis:
    """The data flow through one kernel."""

    def __init__(self, kernel: ptx.Kernel) -> None:
        self.kernel = kernel
        self.public, self.true, self.numbers = (
            matching(table, kernel.name) for table in (PUBLIC, TRUE, NUMBERS)
        )
        self.leaders = set(kernel.labels.values()) | {
            at + 1 for at, one in enumerate(kernel.code) if one.name in LEAVING
        }
        self.findings: dict[int, list[str]] = {}
        self.secret_loads = 0

    def run(self) -> list[str]:
        """Return the findings in the order of the code."""
        before: dict[int, State] = {0: {}}
        work = {0} if self.kernel.code else set()
        while work:
            at = min(work)
            work.remove(at)
            state = dict(before[at])
            while True:
                one = self.kernel.code[at]
                self.findings[at] = self.judge(state, one)
                self.step(state, one)
                at += 1
                if at in self.leaders or at >= len(self.kernel.code):
                    break
            for target in self.successors(state, at - 1):
                if target not in before:
                    before[target] = dict(state)
                    work.add(target)
                elif merge(before[target], state):
                    work.add(target)
        return [finding for at in sorted(self.findings) for finding in self.findings[at]]

    def successors(self, state: State, at: int) -> list[int]:
        """Return what may follow an instruction, as far as constants decide it."""
        one, runs = self.kernel.code[at], self.runs(state, self.kernel.code[at])
        targets = []
        if one.name == "bra" and runs is not False:
            targets.append(self.kernel.labels[one.operands[0]])
        if one.name not in LEAVING or runs is not True:
            targets.append(at + 1)
        return [target for target in targets if target < len(self.kernel.code)]

    def runs(self, state: State, one: ptx.Instruction) -> bool | None:
        """Whether the guard lets it run; None if that is unknown."""
        if not one.guard:
            return True
        constant = state.get(one.guard, UNKNOWN).constant
        return None if constant is None else (constant != 0) != one.negated

    # What instructions compute.

    def operand(self, state: State, text: str) -> Value:
        """Return the value of an operand that is no address in brackets."""
        if re.fullmatch(r"-?\d+|0[xX][0-9a-fA-F]+U?", text):
            return Value(constant=int(text.rstrip("U"), 0))
        if text in self.kernel.parameters:
            return UNKNOWN
        names = ptx.registers(text)
        if len(names) == 1 and text == names[0]:
            return state.get(text, UNKNOWN)
        return self.combined([state.get(name, UNKNOWN) for name in names])

    @staticmethod
    def combined(sources: list[Value]) -> Value:
        """Return what is known of any function of the sources."""
        fields = frozenset[int]().union(*(source.fields for source in sources))
        return Value(any(source.secret for source in sources), fields)

    def address(self, state: State, text: str) -> tuple[Value, int]:
        """Return the base of an address, and the constant that is added to it."""
        match = ADDRESS.fullmatch(text)
        if match is None:
            return Value(secret=True), 0
        return self.operand(state, match[1]), int(match[2] or 0)

    def loaded(self, state: State, one: ptx.Instruction) -> Value:
        base, offset = self.address(state, one.operands[1])
        if "param" in one.modifiers:
            first = re.fullmatch(rf"\[{re.escape(self.kernel.parameters[0])}\]", one.operands[1])
            return Value(job=0 if first else None)
        if base.job is not None:
            at = ANY if base.job == ANY else base.job + offset
            is_pointer = one.modifiers[-1] in {"u64", "s64", "b64"} and at not in self.numbers
            fields = frozenset({at}) if is_pointer else frozenset[int]()
            return Value(base.secret, fields, constant=1 if at in self.true else None)
        public = "global" in one.modifiers and bool(base.fields) and base.fields <= self.public
        self.secret_loads += not public
        return Value(base.secret or not public)

    def computed(self, state: State, one: ptx.Instruction) -> Value:
        sources = [self.operand(state, text) for text in one.sources]
        if one.name in {"mov", "cvta"} and len(sources) == 1:
            return sources[0]
        value = self.combined(sources)
        jobs = [source.job for source in sources if source.job is not None]
        if not jobs:
            return Value(value.secret, value.fields, constant=self.folded(one, sources))
        # What is added to the job's address selects a word of it.
        others = [source.constant for source in sources if source.job is None]
        if one.name == "add" and len(jobs) == 1 and jobs[0] != ANY and others[0] is not None:
            return Value(value.secret, value.fields, job=jobs[0] + others[0])
        return Value(value.secret, value.fields, job=ANY)

    @staticmethod
    def folded(one: ptx.Instruction, sources: list[Value]) -> int | None:
        """Return what instructions that lead from a constant byte to a predicate compute."""
        numbers = [source.constant for source in sources if source.constant is not None]
        if len(numbers) != len(sources):
            return None
        if one.name == "setp" and len(numbers) == 2 and one.modifiers[0] in {"eq", "ne"}:
            return int((numbers[0] == numbers[1]) == (one.modifiers[0] == "eq"))
        if one.name == "and" and len(numbers) == 2:
            return numbers[0] & numbers[1]
        if one.name == "cvt" and 0 <= numbers[0] < 128:
            return numbers[0]
        if one.name == "not" and one.modifiers == ("pred",):
            return 1 - numbers[0]
        return None

    def step(self, state: State, one: ptx.Instruction) -> None:
        """Change the state as the instruction does."""
        runs = self.runs(state, one)
        if runs is False or not one.results:
            return
        value = self.loaded(state, one) if one.name in {"ld", "ldu"} else self.computed(state, one)
        for register in one.results:
            if runs:
                state[register] = value
                continue
            either = value.joined(state.get(register, value))
            secret = either.secret or state.get(one.guard, UNKNOWN).secret
            state[register] = Value(secret, either.fields, either.job, either.constant)

    # What observers see.

    def judge(self, state: State, one: ptx.Instruction) -> list[str]:
        """Return the findings in one instruction."""
        if self.runs(state, one) is False:
            return []
        found = []
        secret_guard = bool(one.guard) and state.get(one.guard, UNKNOWN).secret
        if one.name in {"call", "brx"}:
            found.append("a call or an indirect branch")
        elif one.name not in ptx.CONSTANT_TIME and any(
            self.operand(state, text).secret for text in one.sources
        ):
            found.append("an instruction whose time may depend on a secret")
        if one.name in LEAVING | {"bar", "barrier"} and secret_guard:
            found.append("a branch depends on a secret")
        if one.name in {"ld", "ldu", "st"} and "param" not in one.modifiers:
            if secret_guard:
                found.append("whether memory is accessed depends on a secret")
            if self.address(state, one.operands[1 if one.results else 0])[0].secret:
                found.append("an address depends on a secret")
        return [f"{finding}: {one.text}" for finding in found]


def merge(into: State, other: State) -> bool:
    """Join two states. Return whether that changed the first one."""
    changed = False
    for register, value in other.items():
        own = into.get(register)
        joined = value if own is None else own.joined(value)
        if joined != own:
            into[register] = joined
            changed = True
    return changed


def check(text: str, source: str) -> int:
    """Print the findings in a module. Return their number."""
    count = 0
    kernels = ptx.kernels(text)
    for kernel in kernels:
        analysis = Analysis(kernel)
        findings = analysis.run()
        if analysis.secret_loads == 0:
            findings.append("the analysis found no secrets")
        for finding in findings:
            print(f"{kernel.name}: {finding}")
        count += len(findings)
    if not kernels:
        print(f"{source}: no kernels")
    return count + (not kernels)


def main() -> int:
    """Check the files that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    count = 0
    for file in parser.parse_args().files:
        data = file.read_bytes()
        text = (data[HEADER:] if data.startswith(MAGIC) else data).rstrip(b"\0")
        count += check(text.decode("utf-8", "replace"), str(file))
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
