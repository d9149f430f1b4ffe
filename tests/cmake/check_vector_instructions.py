#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the machine code of the vector kernels for timing that depends on secrets, and for stores that fault.

Every instruction must be on the list below: no gathers, no scatters, no compression, no instruction that
turns vectors or masks into flags. A data-flow analysis of every function also reports conditional jumps,
addresses and divisors that depend on data.

Public are the arguments of a function (pointers and sizes), constants, what is computed from them or stored
on the stack, and the members of the records of RECORDS, which hold pointers to words and sizes. Data are
masks, vectors, results of calls, and whatever else is loaded through a pointer: words, and what lies behind a
pointer that a record holds. Three kinds of pointers lead further. What lies behind "open" ones is public at
any depth: constants of a prime, fields, exponents. A "block" (PointBlock) is a record whose first member is
open. A "holder" (kernels of points) has the address of a block, and behind it a field, which is open.

The stack is data where the function has not stored anything, and where a called function may have: from an
address on that it was given. Only words that the function itself stored there from general registers stay
what they were, unless they are the first: they may be spilled registers behind an array.

Stores by masks, also those of variable-time techniques, must not fault where a mask excludes the words of an
inaccessible page: the arrays of callers may end there. Masked extractions to memory do (exception type E6NF
in Intel's manual), and compilers may make them of an extraction and a masked store.

Usage: check_vector_instructions.py OBJDUMP OBJECT...
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Sequence

from x86_code import MEMORY, REGISTERS, VECTOR_SLOTS, VECTORS, Function, Instruction, functions, parameters
from x86_state import Place, State, slot_at

VECTOR_OBJECT = re.compile(r"\.(avx2|avx512f|avx512ifma)\.cpp\.o(bj)?$")
#: Techniques whose every operation is variable-time.
VARIABLE_TIME = re.compile(r"/modmul/division52/")

ALLOWED = re.compile(
    r"""^(
      # moves, widenings, shuffles with constant patterns
      v?mov(dqa|dqu)(32|64)? | v?mov(ap|up)[sd] | vmov[dq] | vpmov[sz]x\w+ | vpmovm2[bwdq]
    | vpmov[bwdq]2m | vpmov(qd|dw)
    | v(p?broadcast|perm|p?shuf|p?unpck|extract|insert|pinsr|pextr|p?align|p?blend)\w+
    | vzeroupper | vmovddup
      # arithmetic whose time depends on the vector width only
    | vp(add|sub|mul|madd52|sll|srl|sra|rol|ror|and|or|xor|andn|ternlog|min|max|abs)\w*
    | v(add|sub|mul|fmadd|fmsub|fnmadd|fnmsub|and|andn|or|xor)\w*[sp]d | v(and|andn|or|xor)ps
    | vcvt(uqq2pd|qq2pd|dq2pd|udq2pd|pd2qq|pd2uqq|ttpd2uqq)
      # comparisons that yield vectors or masks, and masks
    | vpcmp\w+ | vptestn?m[bwdq] | v?cmp\w+pd
    | k(mov|add|and|andn|or|xor|xnor|not|shiftl|shiftr|unpck)[bwdq]{1,2}
      # the control word of dpf52.avx2
    | vldmxcsr | vstmxcsr
      # general registers; the data-flow analysis finds uses that must not depend on data
    | mov\w* | lea | push | pop | xchg | (add|sub|adc|sbb|and|or|xor|not|neg|inc|dec|cmp|test|imul)[bwlq]?
    | mul | mulx | div | cqto | cltq | cltd
    | (shl|shr|sar|rol|ror|shlx|shrx|sarx|rorx|shld|shrd|bt|bts)[bwlq]?
    | andn | bextr | bzhi | set\w+ | cmov\w+
    | j\w+ | call | ret | leave | nop\w* | endbr64 | stos | movs | ud2
    )$""",
    re.VERBOSE,
)
# A masked extraction to memory.
FAULTING_STORE = re.compile(r"\bvextract[fi]\d+x\d+\s.*\)\{%k\d\}")
WITHOUT_EFFECT = {"ret", "nop", "nopl", "nopw", "endbr64", "vzeroupper", "ud2"}
WITHOUT_EFFECT |= {"vldmxcsr", "vstmxcsr", "cqto", "cltq", "cltd"}

# Types whose members are pointers to words and sizes, none of them a word of a number.
RECORDS = re.compile(
    r"::(lanes::(Pair|SelectShare|PointKernels<[^&]*>::Batch|EdwardsBlock|EdwardsKernels<[^&]*>::Batch)"
    r"|radix29::ProductScanning<[^&]*>::Operands"
    r"|ifma52::unnamed::(SquareColumns|ProductColumns|(NoShadow|SelectShadow<[^&]*>)::Work))( const)?[*&]$"
)
BLOCK = re.compile(r"::lanes::PointBlock( const)?[*&]$")
FIELD = r"manymod::(field::InlinedLaneField|montgomery_lanes::LaneArithmetic)<"
OPEN = re.compile(rf"^({FIELD}.*>|manymod::montgomery_lanes::Constants|std::vector<unsigned long.*>) const&$")
# Classes by their member functions.
HOLDER_MEMBER = re.compile(r"^(void )?manymod::ecc::lanes::(PointKernels|LanePoints)<")
OPEN_MEMBER = re.compile(rf"^(void )?{FIELD}")
# Functions for public numbers alone: their branches and addresses may depend on them.
PUBLIC = re.compile(
    r"^(void )?manymod::ecc::lanes::(EdwardsComparison|EdwardsSums|HalfScalars|LaneRows|PointSums)<"
)
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
RETURNING_TARGET = {"memset", "memcpy", "memmove"}  # return their first argument
CALLER_SAVED = {*ARGUMENTS, "rax", "r10", "r11"}
FLAG_SETTERS = re.compile(
    r"^(add|sub|adc|sbb|and|or|xor|neg|inc|dec|cmp|test|imul|mul|sh[lr]d?|sar|rol|ror|bt|bts|andn|bzhi|bextr)[bwlq]?$"
)
# Instructions whose last operand is not read.
WRITE_ONLY = re.compile(r"^(sh[lr]x|sarx|rorx|andn|bextr|bzhi)[lq]?$")
# Registers of four bytes.
NARROW = re.compile(r"^%(e\w\w|r\d+d)$")
FLAG_USERS = re.compile(r"^(adc|sbb)[bwlq]?$|^set|^cmov")


@functools.cache
def is_allowed(mnemonic: str) -> bool:
    """Whether the instruction is on the list."""
    return ALLOWED.match(mnemonic) is not None


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


def is_jump_through_table(one: Instruction) -> bool:
    """Whether the instruction jumps to an address that it reads."""
    return one.mnemonic == "jmp" and bool(one.operands) and one.operands[0].startswith("*")


class Analysis:
    """The data flow through one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.violations: set[str] = set()
        self.index = {one.address: at for at, one in enumerate(function.code)}

    def run(self) -> set[str]:
        """Return the violations."""
        code = self.function.code
        start = State.at_entry(VECTORS, kinds_of_arguments(self.function.name))
        leaders = self.leaders()
        before: dict[int, State] = {0: start} if code else {}
        work = list(before)
        while work:
            at = work.pop()
            after = before[at].copy()
            self.step(after, code[at])
            while (targets := self.successors(at)) == [at + 1] and at + 1 not in leaders:
                at += 1
                self.step(after, code[at])
            certain = not is_jump_through_table(code[at])
            for target in targets:
                if target not in before:
                    before[target] = after.copy()
                    work.append(target)
                elif before[target].merge(after, certain):
                    work.append(target)
        return self.violations

    def leaders(self) -> set[int]:
        """Return where the state must be kept: at instructions that jumps lead to."""
        jumps = (at for at, one in enumerate(self.function.code) if one.mnemonic.startswith("j"))
        return {target for at in jumps for target in self.successors(at)}

    def successors(self, at: int) -> list[int]:
        one = self.function.code[at]
        following = [at + 1] if at + 1 < len(self.function.code) else []
        if one.mnemonic in {"ret", "ud2"}:
            return []
        if not one.mnemonic.startswith("j"):
            return following
        targets: list[int] = []
        if one.operands and re.fullmatch(r"[0-9a-f]+", one.operands[0]):
            target = self.index.get(int(one.operands[0], 16))
            targets = [target] if target is not None else []
        elif is_jump_through_table(one):
            targets = list(range(len(self.function.code)))  # a jump table: anywhere in the function
        return targets if one.mnemonic == "jmp" else following + targets

    def report(self, what: str, one: Instruction) -> None:
        self.violations.add(f"{what}: {one.text}")

    def slots(self, state: State, operand: str, width: int = 1) -> set[str]:
        """Return the stack slots of `width` times 8 bytes that an operand names, or none."""
        place = self.place(state, operand)
        return {slot_at(place, step) for step in range(width)} if place is not None else set()

    def place(self, state: State, operand: str) -> Place | None:
        """The place on the stack that an operand in memory names."""
        found = MEMORY.match(operand)
        if found is None or found.group(3) is not None or found.group(2) is None:
            return None
        base = state.places.get(REGISTERS.get(found.group(2)[1:], ""))
        return (base[0], base[1] + int(found.group(1) or "0", 16)) if base is not None else None

    def is_data(self, state: State, operand: str, width: int = 1) -> bool:
        """Whether the operand, in memory of `width` times 8 bytes, may depend on data."""
        operand = operand.split("{")[0]
        if operand.startswith("$"):
            return False
        if operand.startswith("%"):
            name = operand[1:]
            return REGISTERS[name] in state.data if name in REGISTERS else True
        slots = self.slots(state, operand, width)
        if slots:
            return not slots <= state.clean
        found = MEMORY.match(operand)
        if found is None:
            return False  # an absolute address
        base = found.group(2)
        if base is None or base == "%rip":
            return False  # a table of constants
        # The table may be the index, and what is added to it the base.
        registers = {REGISTERS.get(name[1:], "") for name in (base, found.group(3)) if name is not None}
        return registers.isdisjoint(state.kinds)

    def kind(self, state: State, operand: str, width: int = 1) -> str | None:
        """Return what the operand's value points to, if that is known."""
        operand = operand.split("{")[0]
        if operand.startswith("%"):
            return state.kinds.get(REGISTERS.get(operand[1:], ""))
        if (found := MEMORY.match(operand)) is None:
            return None
        if found.group(2) == "%rip":
            return "record"  # the address of constants, from the table of addresses
        if slots := self.slots(state, operand, width):
            return next((state.kinds[slot] for slot in sorted(slots) if slot in state.kinds), None)
        if found.group(2) is None:
            return None
        base = state.kinds.get(REGISTERS.get(found.group(2)[1:], ""))
        if found.group(3) is not None:  # at an unknown offset
            return "open" if base == "open" else None
        return kind_of_member(base, int(found.group(1) or "0", 16))

    def check_addresses(self, state: State, one: Instruction) -> None:
        for operand in one.operands:
            found = MEMORY.match(operand)
            for name in (found.group(2), found.group(3)) if found is not None else ():
                if name is None or name == "%rip":
                    continue
                if REGISTERS.get(name[1:]) in VECTORS:
                    self.report("address in a vector", one)
                elif REGISTERS[name[1:]] in state.data and not one.mnemonic.startswith(("lea", "nop")):
                    self.report("address depends on data", one)

    def put(self, state: State, target: str, data: bool, kind: str | None = None) -> None:
        """Store a value in a register or a stack slot."""
        target = target.split("{")[0]
        if not target.startswith("%"):
            state.store(self.slots(state, target), data=data, kind=kind)
            return
        name = REGISTERS.get(target[1:])
        if name is None:
            return
        state.data.discard(name)
        state.kinds.pop(name, None)
        state.places.pop(name, None)
        if data:
            state.data.add(name)
        if kind is not None:
            state.kinds[name] = kind

    def vector(self, state: State, one: Instruction) -> None:
        """Vectors are public if all their sources are."""
        operands = one.operands
        widths = [VECTOR_SLOTS[found.group(1)] for found in re.finditer(r"%([xyz])mm", one.text)]
        width = max(widths, default=1)
        sources = operands[:-1] if one.mnemonic.startswith(("vmov", "vpbroadcast")) else operands
        if re.match(r"^vp?(xor|sub)", one.mnemonic) and len(operands) == 3 and operands[0] == operands[1]:
            sources = ()
        elif (
            len(operands) == 3 and "{" not in operands[2] and not one.mnemonic.startswith(("vfm", "vpmadd52"))
        ):
            sources = operands[:2]
        data = any(self.is_data(state, operand, width) for operand in sources) or "{%k" in one.text
        # Compilers store pointers in vector registers.
        kinds = (self.kind(state, operand, width) for operand in sources)
        kind = next((found for found in kinds if found is not None), None)
        slots = self.slots(state, operands[-1].split("{")[0], width)
        if not slots:
            self.put(state, operands[-1], data, kind)
            return
        state.store(slots, data=data, kind=kind)

    def step(self, state: State, one: Instruction) -> None:
        """Apply the effect of the instruction to the state."""
        name, operands = one.mnemonic, one.operands
        if not is_allowed(name):
            self.report("not on the list", one)
            return
        self.check_addresses(state, one)
        if name.startswith("j"):
            self.jump(state, one)
        elif name == "call":
            self.call(state, one)
        elif name in {"push", "pop", "leave"}:
            self.stack(state, name, operands)
        elif name in {"stos", "movs"}:
            if "rcx" in state.data:
                self.report("length depends on data", one)
        elif name.startswith("k"):
            self.put(state, operands[-1], not operands[-1].startswith("%k"))
        elif name.startswith("v") and name not in WITHOUT_EFFECT:
            self.vector(state, one)
        elif name not in WITHOUT_EFFECT:
            self.general(state, one)

    def call(self, state: State, one: Instruction) -> None:
        """What a called function returns is data, and so is what it may have stored."""
        target, place = "rdi" in state.data, state.places.get("rdi")
        given = {slot_at(place) for name, place in state.places.items() if name in ARGUMENTS}
        for slot in given | state.given:
            state.forget(slot)
        state.data |= {"rax", "rdx", *VECTORS}
        for register in CALLER_SAVED:
            state.kinds.pop(register, None)
            state.places.pop(register, None)
        if one.symbol in RETURNING_TARGET and not target:
            state.data.discard("rax")
            if place is not None:
                state.places["rax"] = place

    def stack(self, state: State, name: str, operands: tuple[str, ...]) -> None:
        """push, pop and leave"""
        if name == "leave":
            if "rbp" in state.places:
                state.places["rsp"] = state.places["rbp"]
            name, operands = "pop", ("%rbp",)
        base, offset = state.places.get("rsp", ("other", 0))
        if name == "push":
            place = self.value_place(state, operands[0])
            data, kind = self.is_data(state, operands[0]), self.kind(state, operands[0])
            state.places["rsp"] = (base, offset - 8)
            pushed = slot_at((base, offset - 8))
            state.store({pushed}, data=data, kind=kind)
            state.spilled.add(pushed)
            self.keep_place(state, "(%rsp)", place)
            return
        slot = slot_at((base, offset))
        place = state.places.get(slot)
        self.put(state, operands[0], slot not in state.clean, state.kinds.get(slot))
        self.keep_place(state, operands[0], place)
        state.places["rsp"] = (base, offset + 8)

    def value_place(self, state: State, operand: str) -> Place | None:
        """The place on the stack that the operand's value points to."""
        names = {REGISTERS.get(operand[1:], "")} if operand.startswith("%") else self.slots(state, operand)
        return state.places.get(names.pop()) if len(names) == 1 else None

    def keep_place(self, state: State, target: str, place: Place | None) -> None:
        """The target holds an address of the stack, which whoever reads memory may have kept."""
        if place is None:
            return
        names = {REGISTERS[target[1:]]} if target.startswith("%") else self.slots(state, target)
        for name in names:
            state.places[name] = place
        if not target.startswith("%"):
            state.given.add(slot_at(place))

    def jump(self, state: State, one: Instruction) -> None:
        """Jumps through tables, and conditional jumps."""
        if one.mnemonic == "jmp":
            if one.operands[0].startswith("*") and self.is_data(state, one.operands[0][1:]):
                self.report("jump depends on data", one)
        elif ("rcx" if one.mnemonic in {"jrcxz", "jecxz"} else "flags") in state.data:
            self.report("branch depends on data", one)

    def general(self, state: State, one: Instruction) -> None:
        """Instructions on general registers."""
        name, operands = one.mnemonic, one.operands
        if name == "div":
            if any(self.is_data(state, operand) for operand in (*operands, "%rax", "%rdx")):
                self.report("division of data", one)
        elif name == "lea":
            self.address(state, operands)
        elif name.startswith("mov"):
            self.move(state, one)
        elif name == "xchg":
            data = any(self.is_data(state, operand) for operand in operands)
            for operand in operands:
                self.put(state, operand, data)
        elif name in {"mul", "mulx"} or (name == "imul" and len(operands) == 1):
            implicit = "%rdx" if name == "mulx" else "%rax"
            data = self.is_data(state, operands[0]) or self.is_data(state, implicit)
            for register in operands[1:] if name == "mulx" else ("%rax", "%rdx"):
                self.put(state, register, data)
            self.set_flags(state, one, data)
        else:
            self.arithmetic(state, one)

    def move(self, state: State, one: Instruction) -> None:
        """mov between registers and memory"""
        source, target = one.operands
        place = self.value_place(state, source)
        self.put(state, target, self.is_data(state, source), self.kind(state, source))
        if source.startswith("%"):
            state.spilled |= self.slots(state, target)
            if NARROW.match(source):
                state.narrow |= self.slots(state, target)
        self.keep_place(state, target, place)

    def address(self, state: State, operands: tuple[str, ...]) -> None:
        """lea"""
        found = MEMORY.match(operands[0])
        parts = [part for part in (found.group(2), found.group(3)) if part] if found is not None else []
        data = any(part != "%rip" and self.is_data(state, part) for part in parts)
        kind = "record" if "%rip" in parts else self.kind_of_address(state, operands[0], parts)
        place = self.place(state, operands[0])
        self.put(state, operands[1], data, kind)
        if place is not None:
            state.places[REGISTERS[operands[1][1:]]] = place

    def kind_of_address(self, state: State, operand: str, parts: Sequence[str]) -> str | None:
        found = MEMORY.match(operand)
        offset = int(found.group(1) or "0", 16) if found is not None and len(parts) == 1 else 1
        kinds = (self.kind(state, part) for part in parts)
        return kind_within(next((kind for kind in kinds if kind is not None), None), offset)

    def arithmetic(self, state: State, one: Instruction) -> None:
        """Instructions that combine their operands and flags into the last operand and flags."""
        name, operands = one.mnemonic, one.operands
        reads_target = not (WRITE_ONLY.match(name) or (name.startswith("imul") and len(operands) == 3))
        sources = operands if reads_target else operands[:-1]
        data = any(self.is_data(state, operand) for operand in sources)
        if re.match(r"^(xor|sub)[lq]?$", name) and operands[0] == operands[1]:
            data = False
        elif name.startswith("set"):
            data = "flags" in state.data
        elif FLAG_USERS.match(name):
            data = data or "flags" in state.data
        kinds = [kind for operand in operands if (kind := self.kind(state, operand)) is not None]
        kind = kinds[0] if kinds and name.startswith(("add", "sub", "cmov")) else None
        if not name.startswith("cmov"):
            kind = kind_within(kind, 1)
        self.set_flags(state, one, data)
        if re.match(r"^(cmp|test|bt)[bwlq]?$", name):
            return
        place = self.value_place(state, operands[-1])
        self.put(state, operands[-1], data, kind)
        if place is not None and operands[0].startswith("$") and operands[-1].startswith("%"):
            step = int(operands[0][1:], 16)
            step -= (step >> 63) << 64
            if name in {"add", "sub"}:
                state.places[REGISTERS[operands[-1][1:]]] = (
                    place[0],
                    place[1] + (step if name == "add" else -step),
                )
            elif name == "and" and operands[-1] == "%rsp":
                state.places["rsp"] = ("other", 0)

    def set_flags(self, state: State, one: Instruction, data: bool) -> None:
        """Flags depend on what the instruction computed."""
        if FLAG_SETTERS.match(one.mnemonic):
            state.data.discard("flags")
            if data:
                state.data.add("flags")


def violations(disassembly: str) -> list[str]:
    """Return the violations in the functions of a disassembly, one line each."""
    found: list[str] = []
    for function in functions(disassembly):
        if PUBLIC.search(function.name):
            continue
        found += [f"{function.name}: {text}" for text in sorted(Analysis(function).run())]
    return found


def faulting_stores(disassembly: str) -> list[str]:
    """Return the masked stores of a disassembly that fault for words which their masks exclude."""
    return [f"masked store that may fault: {store}" for store in FAULTING_STORE.findall(disassembly)]


def main(objdump: str, paths: list[str]) -> int:
    """Print each violation; return 1 if there is one, or nothing to check."""
    checked = [path for path in paths if VECTOR_OBJECT.search(path)]
    failed = not checked
    if failed:
        print("no object file of a vector technique")
    for path in checked:
        text = subprocess.run(
            [objdump, "-d", "-C", "-w", "-r", "--no-show-raw-insn", path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        found = faulting_stores(text)
        if not VARIABLE_TIME.search(path):
            found += violations(text)
        for line in found:
            print(f"{path}: {line}")
        failed = failed or bool(found)
    print(f"{len(checked)} object files checked")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
