#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the machine code of the vector kernels for timing that depends on secrets, and for stores that fault.

Every instruction must be on the list below: no gathers, no scatters, no compression, no instruction that
turns vectors or masks into flags. A data-flow analysis of every function also reports conditional jumps,
addresses and divisors that depend on data; x86_data_flow.py and x86_pointers.py say what data are.

Stores by masks, also those of variable-time techniques, must not fault where a mask excludes the words of an
inaccessible page: the arrays of callers may end there. Masked extractions to memory do (exception type E6NF
in Intel's manual), and compilers may make them of an extraction and a masked store.

The data-flow analysis knows how GCC names functions and spills registers. With --instructions-only, for code
of other compilers, the list and the stores alone are checked.

Usage: check_vector_instructions.py [--instructions-only] OBJDUMP OBJECT...

OBJDUMP is GNU's: that of LLVM writes other mnemonics.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys

from x86_code import functions
from x86_data_flow import Analysis

VECTOR_OBJECT = re.compile(r"\.(avx2|avx512f|avx512ifma)\.cpp\.o(bj)?$")
#: Techniques whose every operation is variable-time.
VARIABLE_TIME = re.compile(r"/modmul/division52/")

ALLOWED = re.compile(
    r"""^(
      # moves, widenings, narrowings, shuffles with constant patterns
      v?mov(dqa|dqu)(32|64)? | v?mov(ap|up)[sd] | vmov([dq]|ss) | vpmov[sz]x\w+ | vpmovm2[bwdq]
    | vpmov[bwdq]2m | vpmov(qd|dw) | vpack[su]s(dw|wb)
    | v(p?broadcast|perm|p?shuf|p?unpck|extract|insert|pinsr|pextr|p?align|p?blend)\w+
    | vzeroupper | vmovddup
      # arithmetic whose time depends on the vector width only
    | vp(add|sub|mul|madd52|sll|srl|sra|rol|ror|and|or|xor|andn|ternlog|min|max|abs)\w*
    | v(add|sub|mul|fmadd|fmsub|fnmadd|fnmsub|and|andn|or|xor)\w*[sp]d | v(and|andn|or|xor)ps
    | vcvt(uqq2pd|qq2pd|dq2pd|udq2pd|pd2qq|pd2uqq|tpd2uqq)
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
# Functions for public numbers alone: their branches and addresses may depend on them.
PUBLIC = re.compile(
    r"^(void )?manymod::ecc::lanes::(EdwardsComparison|EdwardsSums|HalfScalars|LaneRows|PointSums)<"
)


@functools.cache
def is_allowed(mnemonic: str) -> bool:
    """Whether the instruction is on the list."""
    return ALLOWED.match(mnemonic) is not None


def violations(disassembly: str, *, instructions_only: bool = False) -> list[str]:
    """Return the violations in the functions of a disassembly, one line each."""
    found: list[str] = []
    for function in functions(disassembly):
        if PUBLIC.search(function.name):
            continue
        of_function = (
            {f"not on the list: {one.text}" for one in function.code if not is_allowed(one.mnemonic)}
            if instructions_only
            else Analysis(function, is_allowed).run()
        )
        found += [f"{function.name}: {text}" for text in sorted(of_function)]
    return found


def faulting_stores(disassembly: str) -> list[str]:
    """Return the masked stores of a disassembly that fault for words which their masks exclude."""
    return [f"masked store that may fault: {store}" for store in FAULTING_STORE.findall(disassembly)]


def main(objdump: str, paths: list[str], *, instructions_only: bool) -> int:
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
            found += violations(text, instructions_only=instructions_only)
        for line in found:
            print(f"{path}: {line}")
        failed = failed or bool(found)
    print(f"{len(checked)} object files checked")
    return int(failed)


if __name__ == "__main__":
    options = [argument for argument in sys.argv[1:] if argument == "--instructions-only"]
    objdump, *paths = [argument for argument in sys.argv[1:] if argument not in options]
    sys.exit(main(objdump, paths, instructions_only=bool(options)))
