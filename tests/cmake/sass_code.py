# SPDX-License-Identifier: Apache-2.0
"""Reader of SASS, the machine code of NVIDIA GPUs, as cuobjdump prints it for sm_90.

A set of registers is an integer with one bit for each register: R0 to R254 are bits 0 to 254, the uniform
registers UR0 .. start at bit 256, predicates P0 .. at 512, uniform predicates UP0 .. at 520. RZ and PT,
which are constant, have no bit.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

FIRST = {"R": 0, "UR": 256, "P": 512, "UP": 520}
# All predicates of a kind.
PREDICATES = {"PR": 0x7F << FIRST["P"], "UPR": 0x7F << FIRST["UP"]}
REGISTER_BITS = 544

# Words of an address: a copy's barrier follows the place that it copies to; a matrix has descriptors.
ADDRESS_WORDS = {"UBLKCP": 2, "IGMMA": 4}

# Jumps, exits, convergence points, waits for memory and tensor cores, and what orders accesses of several
# blocks to memory: CCTL.IVALL drops what the L1 cache holds. BAR.RED combines predicates of its threads: like
# the other operands of a barrier they must be public, and so the result that B2R reads is public.
CONTROL = {"BRA", "EXIT", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "YIELD", "NOP", "CALL", "RET", "BAR"}
CONTROL |= {"MEMBAR", "FENCE", "WARPGROUP", "DEPBAR", "LDGDEPBAR", "CCTL", "ERRBAR", "CGAERRBAR"}
# Barriers in shared memory, which threads and copies wait for: addresses, counts and phases must be public.
# Then their state, the progress of copies and other threads, is public too.
BARRIERS = {"SYNCS"}
# Copies from global to shared memory: both addresses and the size must be public.
COPIES = {"UBLKCP", "LDGSTS"}
LOADS = {"LD", "LDG", "LDS", "LDL"}
STORES = {"ST", "STG", "STS", "STL"}
CONSTANT_LOADS = {"LDC", "ULDC"}
ATOMICS = {"ATOMG"}
# Products of matrices of which one is in shared memory. They are asynchronous, but no instruction accesses
# their results before they are complete.
MATRIX_LOADS = {"IGMMA"}
MEMORY = LOADS | STORES | CONSTANT_LOADS | ATOMICS | MATRIX_LOADS
WAITS = BARRIERS | COPIES
DOUBLES = {"DADD", "DMUL", "DFMA", "DSETP"}
COMPARISONS = {"ISETP", "UISETP", "FSETP", "DSETP", "PLOP3", "UPLOP3"}
# Instructions that read only registers. The time of each is independent of the values of its operands.
ARITHMETIC = COMPARISONS | DOUBLES
ARITHMETIC |= set(
    re.findall(
        r"\w+",
        """
        IADD3 IMAD IDP LEA LOP3 SEL SHF MOV PRMT VIADD VIMNMX VIADDMNMX IMNMX IABS FLO POPC BREV SGXT BMSK
        FADD FMUL FFMA FSEL FCHK HFMA2 MUFU IMMA I2F F2I CS2R S2R S2UR R2UR P2R R2P B2R VOTE VOTEU ELECT
        REDUX SHFL
        UMOV UIADD3 UIMAD ULEA ULOP3 UPRMT USHF USEL UFLO UPOPC UBREV USGXT UBMSK UP2UR BMOV
        """,
    )
)

LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?)(U?P[0-9T])\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
REGISTER = re.compile(r"(?<![\w.])(UR|R|UP|P)(\d+)(\.64)?")
CONSTANT = re.compile(r"(?<!\w)c\[(0x[0-9a-f]+)\]\[(?:(U?R\w+)\+?)?(0x[0-9a-f]+)?\]")
PREDICATE = re.compile(r"U?P[0-9T]")


@dataclass(frozen=True)
class Instruction:
    """One instruction and the registers that it reads and writes."""

    address: int
    guard: int  # the bit of its predicate, or -1
    negated: bool  # it runs where the predicate is false
    name: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    text: str
    destinations: int = 0  # how many operands it writes
    reads: int = 0
    writes: int = 0
    addresses: int = 0  # registers of the address that it loads from or stores to

    @functools.cached_property
    def sources(self) -> tuple[str, ...]:
        return self.operands[self.destinations :]

    def target(self) -> int | None:
        """The target of a jump."""
        last = self.operands[-1] if self.operands else ""
        return int(last, 16) if re.fullmatch(r"0x[0-9a-f]+", last) else None


@functools.cache
def bit(register: str) -> int | None:
    """Return the bit of a register's name; None for constant ones."""
    found = re.fullmatch(r"(UR|R|UP|P)(\d+)", register)
    return FIRST[found[1]] + int(found[2]) if found is not None else None


@functools.cache
def immediate(operand: str) -> int | None:
    """Return the value of an immediate operand or of a register that is always zero; None for others."""
    if operand in {"RZ", "URZ"}:
        return 0
    return int(operand, 16) if re.fullmatch(r"-?0x[0-9a-f]+", operand) else None


@functools.cache
def registers(operand: str, words: int = 1) -> int:
    """Return the registers in an operand of `words` words; addresses state their size themselves."""
    found = 0
    for kind, number, wide in REGISTER.findall(operand):
        count = 2 if wide else words if kind in {"R", "UR"} else 1
        found |= ((1 << count) - 1) << (FIRST[kind] + int(number))
    return found | PREDICATES.get(operand, 0)


def words_of(operand: str, words: int) -> list[int]:
    """Return the registers of an operand of `words` words, each a set; empty ones of RZ."""
    all_of_them = registers(operand, words)
    first = all_of_them & -all_of_them
    return [first << word for word in range(words)]


@functools.cache
def memory_words(modifiers: tuple[str, ...]) -> int:
    """Return the size of a load or store; less than a word counts as one."""
    return 4 if "128" in modifiers else 2 if "64" in modifiers else 1


def matrix_words(name: str, modifiers: tuple[str, ...]) -> tuple[int, ...]:
    """Return the words of a product of matrices' result and sources; none for another instruction."""
    if name not in {"IMMA", "IGMMA"} or not modifiers:
        return ()
    if name == "IMMA":
        return (4, 4, 2, 4) if modifiers[0] == "16832" else ()
    found = re.fullmatch(r"64x(\d+)x32", modifiers[0])
    if found is not None:
        sums = int(found[1]) // 2  # of 64 rows, over 128 threads
        return (sums, 4, 4, sums)
    return ()


@functools.cache
def _destination_words(name: str, modifiers: tuple[str, ...]) -> int:
    if sizes := matrix_words(name, modifiers):
        return sizes[0]
    if name in MEMORY | BARRIERS:
        return memory_words(modifiers)
    wide = (
        name in DOUBLES
        or (name == "UIADD3" and "64" in modifiers)
        or "WIDE" in modifiers
        or (name == "CS2R" and "32" not in modifiers)
        or (name == "I2F" and "F64" in modifiers)
        or (name == "F2I" and not {"U64", "S64"}.isdisjoint(modifiers))
    )
    return 2 if wide else 1


@functools.cache
def _source_words(name: str, modifiers: tuple[str, ...], index: int) -> int:
    """Return the size of the source `index`, predicates not counted."""
    if sizes := matrix_words(name, modifiers):
        return sizes[1 + index] if 1 + index < len(sizes) else 1
    if name in MEMORY | BARRIERS:
        return memory_words(modifiers)
    wide = (
        name in DOUBLES
        or (name == "UIADD3" and "64" in modifiers)
        or ("WIDE" in modifiers and index == 2)
        or (name == "I2F" and not {"U64", "S64"}.isdisjoint(modifiers))
        or (name == "F2I" and "F64" in modifiers)
    )
    return 2 if wide else 1


@functools.cache
def _destinations(name: str, operands: tuple[str, ...]) -> int:
    """Return how many of the operands, from the first on, are written."""
    if name in STORES | CONTROL | COPIES or not operands:
        return 0
    if name == "B2R":
        return len(operands)
    if name == "ELECT":
        return 2
    if name in COMPARISONS | ATOMICS | {"SHFL", "LOP3", "ULOP3"} and PREDICATE.fullmatch(operands[0]):
        return 2
    if name in {"VOTE", "VOTEU"}:
        return 1 if PREDICATE.fullmatch(operands[0]) else 2
    count = 1
    # Carry-out predicates follow the result, before the first source.
    if not PREDICATE.fullmatch(operands[0]) and name in {"IADD3", "UIADD3", "IMAD", "UIMAD", "LEA", "ULEA"}:
        while count < len(operands) and PREDICATE.fullmatch(operands[count]):
            count += 1
    return count


def decode(line: str) -> Instruction | None:
    """Return the instruction in a line; None if there is none."""
    found = LINE.match(line)
    if found is None:
        return None
    address, negation, predicate, full_name, rest = found.groups()
    name, *modifiers_list = full_name.split(".")
    modifiers = tuple(modifiers_list)
    if name in {"IMMA", "IGMMA"} and not matrix_words(name, modifiers):
        name = full_name  # of a size that is not known
    operands = tuple(part.strip().replace(".reuse", "") for part in rest.split(",")) if rest else ()
    guard = bit(predicate) if predicate is not None else None
    never = guard is None and negation == "!"
    if never:
        name, operands = "NOP", ()
    destinations = _destinations(name, operands)
    reads = writes = addresses = 0
    for operand in operands[:destinations]:
        writes |= registers(operand, _destination_words(name, modifiers))
    index = 0
    for operand in operands[destinations:]:
        if "[" in operand:
            addresses |= registers(operand, ADDRESS_WORDS.get(name, 1))
        else:
            reads |= registers(operand, _source_words(name, modifiers, index))
        index += 0 if re.fullmatch(r"!?U?P[0-9T]", operand) else 1
    if name in {"P2R", "R2P"} and re.fullmatch(r"0x[0-9a-f]+", operands[-1]):
        # The mask selects the predicates; the other bits of P2R's result are those of its source.
        others = ~(int(operands[-1], 16) << FIRST["P"]) & PREDICATES["PR"]
        reads, writes = reads & ~others, writes & ~others
    return Instruction(
        int(address, 16),
        -1 if guard is None else guard,
        negation == "!",
        name,
        modifiers,
        operands,
        line.split(";")[0].strip(),
        destinations,
        reads,
        writes,
        addresses,
    )


def kernels(disassembly: str) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the functions of cuobjdump's text."""
    parts = re.split(r"^\s+Function : (\S+)$", disassembly, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)
