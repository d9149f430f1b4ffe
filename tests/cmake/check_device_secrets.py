#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the machine code of the CUDA kernels for timing that depends on secrets.

A data-flow analysis of every kernel for sm_90a reports the following if they depend on secrets:

- jumps, calls, returns and convergence points of threads, and their predicates; barriers and the counts of
  asynchronous copies;
- addresses, also of constants; predicates of loads and stores, since an observer sees whether memory is
  accessed as well as where; lanes and masks of shuffles. A lane may be secret if it is the thread's own
  number modulo 4: such shuffles take the same time whatever the lanes are (docs/rns/kernels.md).

It also reports instructions that are not on the lists of sass_code.py, whose time may depend on their
operands or which the analysis does not know.

Secret are all values that are loaded through pointers or from shared memory, and all values computed from
them, carries and predicates included. Public are the kernel's argument, the numbers of threads and blocks,
values loaded through the pointers that LAYOUTS names, and copies of these in local memory. LAYOUTS is a
program that prints JSON: for patterns of kernel names, the offsets in their argument of pointers to public
data ("public") and of bytes that are 1 in constant-time calls ("true"). Code that is skipped because of such
a byte is not analysed.

DECLASSIFIED lists patterns of kernels that declassify values computed from secrets, with the reason after
`#`, and patterns with one kind of finding (`pattern: finding # reason`) that is harmless in these kernels.
All other code is analysed.

Usage: check_device_secrets.py CUOBJDUMP LAYOUTS DECLASSIFIED FATBIN...
"""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import sass_code as sass
from sass_constants import Constant, copied, fold
from sass_lanes import Low, low_bits
from sass_state import LOCAL, LOCAL_SLOTS, Literal, State, Value

ARCHITECTURE = "sm_90a"
ARGUMENT = 0x210  # of a kernel for sm_90, in constant bank 0
STACK_POINTER = 0x28  # in constant bank 0
MOST_CALLS = 8  # within each other
ADDRESS = re.compile(r"\[(R\d+)?\+?(-?0x[0-9a-f]+)?\]")


Place = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """Offsets in a kernel's argument."""

    public: tuple[int, ...] = ()  # pointers to public data
    true: tuple[int, ...] = ()  # bytes that are 1


class Analysis:
    """The data flow through one kernel."""

    def __init__(self, text: str, layout: Layout) -> None:
        self.layout = layout
        self.code = [one for line in text.splitlines() if (one := sass.decode(line)) is not None]
        self.index = {one.address: at for at, one in enumerate(self.code)}
        self.leaders = {0}
        for at, one in enumerate(self.code):
            if one.name in {"BRA", "CALL", "EXIT", "RET"}:
                self.leaders |= {at + 1, self.index.get(one.target() or 0, 0)}
        self.findings: dict[int, str] = {}
        # By place: the instruction, after those to which the calls on the way to it return. Each call of a
        # function is analysed by itself, as the registers that it keeps are other ones' secrets elsewhere.
        self.before: dict[Place, State] = {}
        self.loads_secrets = False

    def run(self) -> list[str]:
        """Return the findings in the order of their addresses."""
        self.before = {(0,): State()} if self.code else {}
        work = set(self.before)
        while work:
            # The innermost calls first, so that their results are known.
            place = max(work, key=lambda one: (len(one), -one[-1]))
            work.remove(place)
            state = self.before[place].copy()
            calls, at = place[:-1], place[-1]
            while True:
                self.step(state, self.code[at])
                at += 1
                if at in self.leaders or at >= len(self.code):
                    break
            for target in self.successors(state, calls, at - 1):
                if target not in self.before:
                    self.before[target] = state.copy()
                    work.add(target)
                elif self.before[target].merge(state):
                    work.add(target)
        return [self.findings[address] for address in sorted(self.findings)]

    def report(self, what: str, one: sass.Instruction) -> None:
        self.findings[one.address] = f"{what}: {one.text}"

    def runs(self, state: State, one: sass.Instruction) -> bool | None:
        """Whether the instruction's predicate lets it run; None if that is unknown."""
        if one.guard < 0:
            return True
        known = state.constants.get(one.guard)
        return None if known is None else (known.value == 0) == one.negated

    def successors(self, state: State, calls: Place, at: int) -> list[Place]:
        """Return what may follow the last instruction of a block, which `calls` led to."""
        one = self.code[at]
        runs = self.runs(state, one)
        following = [(*calls, at + 1)]
        if one.name not in {"BRA", "CALL", "EXIT", "RET"} or runs is False:
            return self.inside(following, one)
        targets: list[Place] = []
        if one.name == "RET":
            targets = [calls] if calls else []
        elif one.name != "EXIT":
            target = one.target()
            entry = self.index.get(target, -1) if target is not None else -1
            if one.name == "CALL" and len(calls) >= MOST_CALLS:
                entry = -1
            targets = [(*calls, at + 1, entry) if one.name == "CALL" else (*calls, entry)]
            # A predicate of its own, or of other threads.
            if one.name != "CALL" and (len(one.operands) > 1 or one.modifiers):
                runs = None
        return self.inside(targets if runs else following + targets, one)

    def inside(self, targets: list[Place], one: sass.Instruction) -> list[Place]:
        if any(not 0 <= target[-1] < len(self.code) for target in targets):
            self.report("leads out of the kernel", one)
        return [target for target in targets if 0 <= target[-1] < len(self.code)]

    def step(self, state: State, one: sass.Instruction) -> None:
        """Apply the effect of the instruction to the state."""
        runs = self.runs(state, one)
        if runs is False:
            return
        literal = state.original(one.guard, one.negated) if runs is None else None
        guard = 1 << one.guard if literal is not None else 0
        secret = state.secret_if(literal)
        if one.name in sass.ARITHMETIC:
            self.arithmetic(state, one, literal)
        elif one.name in sass.CONTROL:
            if secret & (guard | one.reads):
                self.report("branch depends on a secret", one)
        elif one.name in sass.MEMORY:
            if secret & (guard | one.addresses):
                self.report("address depends on a secret", one)
            self.access(state, one, literal)
        elif one.name in sass.WAITS:
            if secret & (guard | one.addresses | one.reads):
                self.report("wait or copy depends on a secret", one)
            # An exchange returns the previous, secret value.
            state.put(one.writes, Value(secret="EXCH" in one.modifiers), literal)
        else:
            self.report("not on the list", one)

    def arithmetic(self, state: State, one: sass.Instruction, literal: Literal | None) -> None:
        secret = state.secret_if(literal)
        reads = self.reads(state, one) | (1 << literal[0] if literal is not None else 0)
        if secret & one.addresses:  # of a constant
            self.report("address depends on a secret", one)
        if one.name == "SHFL" and self.has_secret_lane(state, one, secret):
            self.report("lane depends on a secret", one)
        value = Value(
            bool(secret & reads),
            bool(state.listed & one.reads) or ("c[" in one.text and self.reads_listed(one)),
            fold(one, state.constants) if state.constants else None,
            low_bits(one, state.low, state.constants),
        )
        state.put(one.writes, value, literal)
        original = copied(one) if literal is None else None
        copy = sass.bit(one.operands[0]) if original is not None else None
        if original is not None and copy is not None and not one.writes >> original[0] & 1:
            state.copies[copy] = state.original(*original)

    def has_secret_lane(self, state: State, one: sass.Instruction, secret: int) -> bool:
        """Whether a lane is secret that is not the thread's own number modulo 4, or a mask is."""
        lane, shape = one.sources[1:3]
        if secret & sass.registers(shape):
            return True
        at = sass.bit(lane)
        own = (
            at is not None and state.low.get(at) is Low.OWN and one.modifiers == ("IDX",) and shape == "0x1f"
        )
        return bool(secret & sass.registers(lane)) and not own

    def reads(self, state: State, one: sass.Instruction) -> int:
        """The registers that the result depends on: only one for a selection with a known predicate."""
        if one.name in {"SEL", "USEL"}:
            predicate = sass.bit(one.sources[2].lstrip("!"))
            known = state.constants.get(predicate) if predicate is not None else None
            if known is not None:
                return sass.registers(one.sources[(known.value == 0) != one.sources[2].startswith("!")])
        return one.reads

    def reads_listed(self, one: sass.Instruction) -> bool:
        """Whether the instruction reads a pointer to public data from the argument."""
        offsets = [
            int(offset or "0", 16) - ARGUMENT
            for bank, register, offset in sass.CONSTANT.findall(one.text)
            if int(bank, 16) == 0 and register in {"", "RZ", "URZ"}
        ]
        return any(at <= offset < at + 8 for offset in offsets for at in self.layout.public)

    def access(self, state: State, one: sass.Instruction, literal: Literal | None) -> None:
        """Loads and stores."""
        name = one.name
        if name in sass.CONSTANT_LOADS:
            state.put(one.writes, self.parameter(one), literal)
        elif name in {"STL", "LDL"}:
            self.local(state, one, literal)
        elif name in sass.STORES | sass.ATOMICS:
            self.store(state, one, literal)
        elif name in {"LDS"} | sass.MATRIX_LOADS or not self.of_public(state, one):
            self.loads_secrets = True
            state.put(one.writes, Value(secret=True), literal)
        else:
            state.put(one.writes, Value(), literal)

    def store(self, state: State, one: sass.Instruction, literal: Literal | None) -> None:
        """Stores and atomic operations."""
        public = one.name != "STS" and self.of_public(state, one)
        if public and state.secret_if(literal) & one.reads:
            self.report("public data become secret", one)
        state.put(one.writes, Value(secret=not public), literal)
        # A generic address may be one of local memory.
        if one.name == "ST":
            state.put(LOCAL, self.kept(state, one.reads), literal, partly=True)

    def of_public(self, state: State, one: sass.Instruction) -> bool:
        """Whether an address is computed from a pointer to public data."""
        address = sass.registers(one.sources[0].rpartition("[")[2])
        return bool(state.listed & address)

    def parameter(self, one: sass.Instruction) -> Value:
        """The value that is loaded from constant memory."""
        found = sass.CONSTANT.fullmatch(one.sources[0])
        if found is None:
            self.report("not understood", one)
            return Value(secret=True)
        constant = None
        if int(found[1], 16) == 0 and found[2] is None:
            offset = int(found[3] or "0", 16)
            if offset - ARGUMENT in self.layout.true and one.modifiers == ("U8",):
                constant = Constant(1)
            elif offset == STACK_POINTER and not one.modifiers:
                constant = Constant(0, stack=True)
        return Value(listed=self.reads_listed(one), constant=constant)

    def kept(self, state: State, places: int) -> Value:
        """The value of registers or words of local memory together."""
        return Value(
            bool(state.secret & places),
            bool(state.listed & places),
            low=state.low.get(places.bit_length() - 1) if places.bit_count() == 1 else None,
        )

    def local(self, state: State, one: sass.Instruction, literal: Literal | None) -> None:
        """Loads and stores of local memory; words at known offsets in the stack are tracked separately."""
        slots = self.slots(state, one)
        if one.name == "STL":
            if not slots:
                state.put(LOCAL, self.kept(state, one.reads), literal, partly=True)
            for slot, register in zip(slots, sass.words_of(one.sources[1], len(slots)), strict=True):
                state.put(slot, self.kept(state, register), literal)
        elif not slots:
            state.put(one.writes, Value(secret=True), literal)
        else:
            values = [self.kept(state, slot) for slot in slots]
            for register, value in zip(sass.words_of(one.operands[0], len(slots)), values, strict=True):
                state.put(register, value, literal)

    def slots(self, state: State, one: sass.Instruction) -> list[int]:
        """The words of local memory that are loaded or stored, each as a set; none if they are unknown."""
        found = ADDRESS.fullmatch(one.operands[0 if one.name == "STL" else 1])
        base = sass.bit(found[1] or "") if found is not None else None
        known = state.constants.get(base) if base is not None else None
        if found is None or known is None or not known.stack:
            return []
        # The stack grows downwards.
        depth = -(known.value + int(found[2] or "0", 16)) % (1 << 32)
        words = sass.memory_words(one.modifiers)
        if depth % 4 != 0 or not words <= depth // 4 <= LOCAL_SLOTS:
            return []
        return [1 << (sass.REGISTER_BITS + depth // 4 - 1 - word) for word in range(words)]


def findings(kernel: str, text: str, layout: Layout) -> list[str]:
    """Return the findings in a kernel, one line each."""
    analysis = Analysis(text, layout)
    found = analysis.run()
    if not found and not analysis.loads_secrets:
        found = ["loads nothing that is secret"]
    return [f"{kernel}: {line}" for line in found]


def layouts(program: str) -> dict[str, Layout]:
    """Return the layouts that a program prints, by patterns of kernels' names."""
    printed: dict[str, dict[str, list[int]]] = json.loads(
        subprocess.run([program], check=True, capture_output=True, text=True).stdout
    )
    return {
        pattern: Layout(tuple(offsets.get("public", ())), tuple(offsets.get("true", ())))
        for pattern, offsets in printed.items()
    }


def reasons(text: str) -> dict[str, str]:
    """Return the patterns of a list of declassified kernels or findings, with their reasons."""
    listed = {}
    for line in text.splitlines():
        pattern, _, reason = (part.strip() for part in line.partition("#"))
        if pattern and not reason:
            raise ValueError(f"{pattern}: no reason given")
        if pattern:
            listed[pattern] = reason
    return listed


def of_kernel(kernel: str, by_pattern: dict[str, Layout]) -> Layout:
    """Return the layout of the first matching pattern, else one without public data."""
    return next(
        (layout for pattern, layout in by_pattern.items() if fnmatch.fnmatchcase(kernel, pattern)), Layout()
    )


def disassembly(cuobjdump: str, fatbin: str) -> dict[str, str]:
    """Return the text of each kernel of a fat binary."""
    # cuobjdump looks for nvdisasm.
    path = f"{Path(cuobjdump).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [cuobjdump, "-sass", "-arch", ARCHITECTURE, fatbin]
    printed = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"PATH": path}
    )
    return dict(sass.kernels(printed.stdout))


def main(cuobjdump: str, layout_program: str, declassified: str, fatbins: list[str]) -> int:
    """Print each finding; return 1 if there is one, or nothing to check."""
    if not Path(cuobjdump).exists():
        print(
            f"no disassembler {cuobjdump}: install cuobjdump and nvdisasm of CUDA, or pip install '.[test]'"
        )
        return 1
    by_pattern = layouts(layout_program)
    allowed = reasons(Path(declassified).read_text(encoding="utf-8"))
    texts: dict[str, str] = {}
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        disassembled = list(threads.map(functools.partial(disassembly, cuobjdump), fatbins))
    for fatbin, found in zip(fatbins, disassembled, strict=True):
        if not found or found.keys() & texts.keys():
            print(f"{fatbin}: no kernels for {ARCHITECTURE}, or some twice")
            return 1
        texts |= found
    with ProcessPoolExecutor() as pool:
        outcomes = pool.map(
            findings, texts, texts.values(), [of_kernel(kernel, by_pattern) for kernel in texts]
        )
        outcome = dict(zip(texts, outcomes, strict=True))
    return report(outcome, allowed)


def covers(declassified: str, kernel: str, line: str) -> bool:
    """Whether an entry of the list, with or without a kind of finding, covers that finding in a kernel."""
    pattern, _, kind = (part.strip() for part in declassified.partition(":"))
    return fnmatch.fnmatchcase(kernel, pattern) and line.startswith(f"{kernel}: {kind}")


def report(outcome: dict[str, list[str]], allowed: dict[str, str]) -> int:
    """Print the findings that are not declassified, and entries that cover no finding."""
    failed = 0
    idle = set(allowed)
    for kernel, lines in outcome.items():
        covering = [[entry for entry in allowed if covers(entry, kernel, line)] for line in lines]
        idle -= {entry for entries in covering for entry in entries}
        left = [line for line, entries in zip(lines, covering, strict=True) if not entries]
        if left:
            print("\n".join(left))
            failed += 1
    for entry in sorted(idle):
        print(f"{entry}: declassified, but nothing is found")
    print(f"{len(outcome)} kernels checked, {failed} with findings")
    return int(failed > 0 or bool(idle))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
