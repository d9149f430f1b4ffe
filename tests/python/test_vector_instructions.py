# SPDX-License-Identifier: Apache-2.0
"""The check of the vector kernels' machine code finds what it looks for, and lets pass what is harmless."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "cmake" / "check_vector_instructions.py"
MUL = "ns::(anonymous namespace)::mul(unsigned long*, unsigned long const*, unsigned long)"


@pytest.fixture(scope="module")
def check() -> Any:
    spec = importlib.util.spec_from_file_location("check_vector_instructions", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def disassembly(name: str, lines: list[str]) -> str:
    body = [f"  {4 * at:x}:\t{line}" for at, line in enumerate([*lines, "ret"])]
    return "\n".join([f"0000000000000000 <{name}>:", *body, ""])


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        (["mov (%rsi),%rax", "test %rax,%rax", "je 0 <mul>"], "branch depends on data"),
        (["kmovb %k1,%eax", "cmp $0x3,%eax", "jb 0 <mul>"], "branch depends on data"),
        (["vmovq %xmm0,%rax", "mov (%rdi,%rax,8),%rcx"], "address depends on data"),
        (["mov (%rsi),%rax", "lea (%rdi,%rax,8),%rcx", "vmovdqa64 (%rcx),%zmm0"], "address depends on data"),
        (["vmovdqa64 %zmm1,0x40(%rsp)", "mov 0x48(%rsp),%rax", "mov (%rax),%rcx"], "address depends on data"),
        (
            ["mov (%rsi),%eax", "mov %rax,0x8(%rsp)", "mov 0x8(%rsp),%rcx", "mov (%rcx),%rax"],
            "address depends",
        ),
        (["mov (%rsi),%rax", "xor %edx,%edx", "div %rcx"], "division of data"),
        (["mov (%rsi),%rax", "jmp *(%rdi,%rax,8)"], "depends on data"),
        (["cmp %rdx,%rax", "add (%rsi),%rcx", "adc $0x0,%rax", "jne 0 <mul>"], "branch depends on data"),
        (["vpgatherqq (%rsi,%zmm1,8),%zmm0{%k1}"], "not on the list"),
        (["vpscatterqq %zmm0,(%rsi,%zmm1,8){%k1}"], "not on the list"),
        (["kortestb %k1,%k1"], "not on the list"),
        (["vptest %ymm0,%ymm0"], "not on the list"),
        (["vpmovmskb %ymm0,%eax"], "not on the list"),
        (["vpcompressq %zmm0,%zmm1{%k1}"], "not on the list"),
        (["vdivpd %zmm0,%zmm1,%zmm2"], "not on the list"),
    ],
)
def test_finds_what_depends_on_data(check: Any, planted: list[str], message: str) -> None:
    found = check.violations(disassembly(MUL, planted))
    assert found
    assert message in found[0]


def test_finds_a_branch_on_what_a_loop_carries(check: Any) -> None:
    loop = ["test %rax,%rax", "je 10 <mul+0x10>", "mov (%rsi),%rax", "jmp 0 <mul>"]
    assert any("branch depends on data" in line for line in check.violations(disassembly(MUL, loop)))


@pytest.mark.parametrize(
    ("name", "harmless"),
    [
        (MUL, ["vpmadd52luq (%rsi),%zmm1,%zmm0", "add $0x40,%rsi", "cmp %rdx,%rsi", "jne 0 <mul>"]),
        (MUL, ["mov %rdx,0x8(%rsp)", "mov 0x8(%rsp),%rax", "mov (%rdi,%rax,8),%rcx"]),
        (MUL, ["mov (%rsi),%rax", "xor %eax,%eax", "mov (%rdi,%rax,8),%rcx"]),
        (MUL, ["vmovq %rdi,%xmm0", "vmovq %xmm0,%rax", "mov (%rax),%rcx"]),
        (MUL, ["mov (%rsi),%rax", "cmp (%rdi),%rax", "sbb %rcx,%rcx", "and %rax,%rcx", "mov %rcx,(%rdi)"]),
        (MUL, ["kmovb %k1,%eax", "add %eax,%ecx", "kmovb %ecx,%k2"]),
        ("f(ns::Operands const&)", ["mov 0x8(%rdi),%rax", "mov (%rax),%rcx"]),
        ("f(unsigned long* const (&) [2])", ["mov 0x8(%rdi),%rax", "mov (%rax),%rcx"]),
    ],
)
def test_lets_pass_what_is_public(check: Any, name: str, harmless: list[str]) -> None:
    assert check.violations(disassembly(name, harmless)) == []


def test_without_vector_objects_it_fails(check: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main("objdump", ["plan.cpp.o"]) == 1
    assert "no object file" in capsys.readouterr().out
