# SPDX-License-Identifier: Apache-2.0
"""The data flow through a function of x86-64 code: which jumps, addresses and divisors depend on data.

Public are the arguments of a function (pointers and sizes), constants, what is computed from them or stored
on the stack, and what x86_pointers.py says of members of records. Data are masks, vectors, results of calls,
and whatever else is loaded through a pointer: words, and what lies behind a pointer that a record holds.

The stack is data where the function has not stored anything, and where a called function may have: from an
address on that it was given. Only words that the function itself stored there from general registers stay
what they were, unless they are the first: they may be spilled registers behind an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from x86_code import ARGUMENTS, MEMORY, REGISTERS, VECTOR_SLOTS, VECTORS, Function, Instruction
from x86_pointers import kind_of_member, kind_within, kinds_of_arguments
from x86_state import Place, State, slot_at

__all__ = ["Analysis"]

WITHOUT_EFFECT = {"ret", "nop", "nopl", "nopw", "endbr64", "vzeroupper", "ud2"}
WITHOUT_EFFECT |= {"vldmxcsr", "vstmxcsr", "cqto", "cltq", "cltd"}
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


def is_jump_through_table(one: Instruction) -> bool:
    """Whether the instruction jumps to an address that it reads."""
    return one.mnemonic == "jmp" and bool(one.operands) and one.operands[0].startswith("*")


class Analysis:
    """The data flow through one function. Instructions that are not allowed are reported and left out."""

    def __init__(self, function: Function, is_allowed: Callable[[str], bool]) -> None:
        self.function = function
        self.is_allowed = is_allowed
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
        if not self.is_allowed(name):
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
