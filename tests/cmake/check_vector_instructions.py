#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the machine code of the vector kernels for timing that depends on secrets.

Every instruction must be on the list below: no gathers, no scatters, no compression, no instruction that
turns vectors or masks into flags. A data-flow analysis of every function also reports conditional jumps,
addresses and divisors that depend on data. Public are the arguments of a function (pointers and sizes),
constants, and values that are computed from them or stored on the stack. Data are masks, the arguments that
are vectors, and all values that are loaded through a pointer to words. Pointers to any other type refer to
records of pointers and sizes, which are public.

Usage: check_vector_instructions.py OBJDUMP OBJECT...
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

VECTOR_OBJECT = re.compile(r"\.(avx2|avx512f|avx512ifma)\.cpp\.o(bj)?$")

ALLOWED = re.compile(
    r"""^(
      # moves, widenings, shuffles with constant patterns
      v?mov(dqa|dqu)(32|64)? | v?mov(ap|up)[sd] | vmov[dq] | vpmov[sz]x\w+ | vpmovm2[bwdq] | vpmov(qd|dw)
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
PREFIXES = {"rep", "repz", "notrack", "data16", "cs", "bnd", "lock", "ds", "es"}
WITHOUT_EFFECT = {"push", "ret", "nop", "nopl", "nopw", "endbr64", "vzeroupper", "leave", "ud2"}
WITHOUT_EFFECT |= {"vldmxcsr", "vstmxcsr", "cqto", "cltq", "cltd"}

# Functions whose records hold pointers to records.
NESTED_RECORDS = re.compile(r"SelectShadow|::sqr_select")
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
CALLER_SAVED = {*ARGUMENTS, "rax", "r10", "r11"}
FLAG_SETTERS = re.compile(
    r"^(add|sub|adc|sbb|and|or|xor|neg|inc|dec|cmp|test|imul|mul|sh[lr]d?|sar|rol|ror|bt|bts|andn|bzhi|bextr)[bwlq]?$"
)
FLAG_USERS = re.compile(r"^(adc|sbb)[bwlq]?$|^set|^cmov")


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


@dataclass
class Function:
    """A function's instructions in order of their addresses."""

    name: str
    code: list[Instruction] = field(default_factory=list)


@dataclass
class State:
    """The registers and stack slots that depend on data or point to records before an instruction."""

    data: set[str] = field(default_factory=set)  # registers, "flags", stack slots ("rsp+8")
    records: set[str] = field(default_factory=set)  # registers and stack slots

    def copy(self) -> State:
        return State(set(self.data), set(self.records))

    def merge(self, other: State) -> bool:
        """Take the union with another state; return whether it adds anything."""
        data, records = self.data | other.data, self.records | other.records
        changed = len(data) + len(records) > len(self.data) + len(self.records)
        self.data, self.records = data, records
        return changed


def split_operands(text: str) -> tuple[str, ...]:
    """Split at the commas outside of parentheses."""
    return tuple(part.strip() for part in re.split(r",(?![^(]*\))", text)) if text else ()


def functions(disassembly: str) -> Iterator[Function]:
    """Yield the functions of objdump's text."""
    current: Function | None = None
    for line in disassembly.splitlines():
        if (start := re.match(r"^[0-9a-f]+ <(.*)>:$", line)) is not None:
            if current is not None:
                yield current
            current = Function(start.group(1))
        elif current is not None and (found := re.match(r"^\s*([0-9a-f]+):\s+(\S.*)$", line)) is not None:
            words = found.group(2).split("#")[0].split()
            while len(words) > 1 and words[0] in PREFIXES:
                words.pop(0)
            rest = re.sub(r"<.*>", "", " ".join(words[1:])).strip()
            current.code.append(
                Instruction(int(found.group(1), 16), words[0], split_operands(rest), line.strip())
            )
    if current is not None:
        yield current


def parameters(name: str) -> list[str]:
    """Return the parameter types of a demangled function."""
    name = re.sub(r" \[clone.*\]$| const$", "", name.replace("(anonymous namespace)", "unnamed"))
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


def records_among_arguments(name: str) -> set[str]:
    """Return the registers that hold pointers and references to records, which are not words or vectors."""
    registers = iter(ARGUMENTS)
    records = set()
    for kind in parameters(name):
        if not re.search(r"[*&]$|\(&\) \[", kind):
            if re.fullmatch(r"(unsigned |long |int|bool|char)+", kind + " "):
                next(registers, None)
            continue
        register = next(registers, None)
        words = re.match(r"(unsigned (long|int|char)|bool|(long long|double) __vector)", kind)
        if register is not None and (words is None or re.search(r"\*.*[&*]", kind)):
            records.add(register)
    return records


class Analysis:
    """The data flow through one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.violations: set[str] = set()
        self.index = {one.address: at for at, one in enumerate(function.code)}
        self.frame = "rbp" if any(one.text.endswith("mov    %rsp,%rbp") for one in function.code[:12]) else ""

    def run(self) -> set[str]:
        """Return the violations."""
        start = State(set(VECTORS), records_among_arguments(self.function.name))
        before: dict[int, State] = {0: start} if self.function.code else {}
        work = list(before)
        while work:
            at = work.pop()
            after = before[at].copy()
            self.step(after, self.function.code[at])
            for target in self.successors(at):
                if target not in before:
                    before[target] = after.copy()
                    work.append(target)
                elif before[target].merge(after):
                    work.append(target)
        return self.violations

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
        elif one.operands and one.operands[0].startswith("*"):
            targets = list(range(len(self.function.code)))  # a jump table: anywhere in the function
        return targets if one.mnemonic == "jmp" else following + targets

    def report(self, what: str, one: Instruction) -> None:
        self.violations.add(f"{what}: {one.text}")

    def slot(self, operand: str) -> str | None:
        """The stack slot an operand names."""
        found = MEMORY.match(operand)
        if found is None or found.group(3) is not None or found.group(2) is None:
            return None
        base = REGISTERS.get(found.group(2)[1:])
        if base not in {"rsp", self.frame}:
            return None
        return f"{base}{int(found.group(1) or '0', 16):+d}"

    def slots(self, operand: str, width: int) -> set[str]:
        """Return the stack slots of `width` times 8 bytes, or none."""
        slot = self.slot(operand)
        if slot is None:
            return set()
        return {f"{slot[:3]}{int(slot[3:]) + 8 * step:+d}" for step in range(width)}

    def is_data(self, state: State, operand: str, width: int = 1) -> bool:
        """Whether the operand, in memory of `width` times 8 bytes, depends on data."""
        operand = operand.split("{")[0]
        if operand.startswith("$"):
            return False
        if operand.startswith("%"):
            name = operand[1:]
            return REGISTERS[name] in state.data if name in REGISTERS else True
        slots = self.slots(operand, width)
        if slots:
            return not slots.isdisjoint(state.data)
        found = MEMORY.match(operand)
        if found is None:
            return False  # an absolute address
        base = found.group(2)
        if base is None or base == "%rip":
            return False  # a table of constants
        return REGISTERS.get(base[1:], "") not in state.records

    def is_record(self, state: State, operand: str, width: int = 1) -> bool:
        if operand.startswith("%"):
            return REGISTERS.get(operand[1:], "") in state.records
        return not self.slots(operand, width).isdisjoint(state.records)

    def loads_record(self, state: State, operand: str) -> bool:
        """Whether a pointer to a record is loaded from a record."""
        found = MEMORY.match(operand)
        if found is None or found.group(2) is None or self.slot(operand) is not None:
            return False
        nested = NESTED_RECORDS.search(self.function.name) is not None
        return nested and REGISTERS.get(found.group(2)[1:], "") in state.records

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

    def put(self, state: State, target: str, data: bool, record: bool = False) -> None:
        target = target.split("{")[0]
        name = REGISTERS.get(target[1:]) if target.startswith("%") else self.slot(target)
        if name is None:
            return
        state.data.discard(name)
        state.records.discard(name)
        if data:
            state.data.add(name)
        if record:
            state.records.add(name)

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
        record = any(self.is_record(state, operand, width) for operand in sources)
        slots = self.slots(operands[-1].split("{")[0], width)
        if not slots:
            self.put(state, operands[-1], data, record)
            return
        state.data -= slots
        state.records -= slots
        if data:
            state.data |= slots
        if record:
            state.records |= slots

    def step(self, state: State, one: Instruction) -> None:
        """Apply the effect of the instruction to the state."""
        name, operands = one.mnemonic, one.operands
        if ALLOWED.match(name) is None:
            self.report("not on the list", one)
            return
        self.check_addresses(state, one)
        if name.startswith("j"):
            self.jump(state, one)
        elif name == "call":
            state.data -= CALLER_SAVED
            state.records -= CALLER_SAVED
        elif name == "pop":
            self.put(state, operands[0], False)
        elif name in {"stos", "movs"}:
            if "rcx" in state.data:
                self.report("length depends on data", one)
        elif name.startswith("k"):
            self.put(state, operands[-1], not operands[-1].startswith("%k"))
        elif name.startswith("v") and name not in WITHOUT_EFFECT:
            self.vector(state, one)
        elif name not in WITHOUT_EFFECT:
            self.general(state, one)

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
            record = self.is_record(state, operands[0]) or self.loads_record(state, operands[0])
            self.put(state, operands[1], self.is_data(state, operands[0]), record)
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

    def address(self, state: State, operands: tuple[str, ...]) -> None:
        """lea"""
        found = MEMORY.match(operands[0])
        parts = [part for part in (found.group(2), found.group(3)) if part] if found is not None else []
        data = any(part != "%rip" and self.is_data(state, part) for part in parts)
        record = any(part == "%rip" or self.is_record(state, part) for part in parts)
        self.put(state, operands[1], data, record)

    def arithmetic(self, state: State, one: Instruction) -> None:
        """Instructions that combine their operands and flags into the last operand and flags."""
        name, operands = one.mnemonic, one.operands
        data = any(self.is_data(state, operand) for operand in operands)
        if re.match(r"^(xor|sub)[lq]?$", name) and operands[0] == operands[1]:
            data = False
        elif name.startswith("set"):
            data = "flags" in state.data
        elif FLAG_USERS.match(name):
            data = data or "flags" in state.data
        record = name.startswith(("add", "sub", "cmov")) and any(
            self.is_record(state, operand) for operand in operands
        )
        self.set_flags(state, one, data)
        if not re.match(r"^(cmp|test|bt)[bwlq]?$", name):
            self.put(state, operands[-1], data, record)

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
        found += [f"{function.name}: {text}" for text in sorted(Analysis(function).run())]
    return found


def main(objdump: str, paths: list[str]) -> int:
    """Print each violation; return 1 if there is one, or nothing to check."""
    checked = [path for path in paths if VECTOR_OBJECT.search(path)]
    failed = not checked
    if failed:
        print("no object file of a vector technique")
    for path in checked:
        text = subprocess.run(
            [objdump, "-d", "-C", "-w", "--no-show-raw-insn", path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        found = violations(text)
        for line in found:
            print(f"{path}: {line}")
        failed = failed or bool(found)
    print(f"{len(checked)} object files checked")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
