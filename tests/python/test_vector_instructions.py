# SPDX-License-Identifier: Apache-2.0
"""The check of the vector kernels' machine code finds what it looks for, and lets pass what is harmless."""

from __future__ import annotations

import check_vector_instructions as check
import pytest

MUL = "ns::(anonymous namespace)::mul(unsigned long*, unsigned long const*, unsigned long)"


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
        # What a function returns, in memory too, and what it stored.
        (["call 0 <f>", "test %rax,%rax", "je 0 <mul>"], "branch depends on data"),
        (["call 0 <f>", "vmovq %xmm0,%rax", "mov (%rdi,%rax,8),%rcx"], "address depends on data"),
        (
            ["lea 0x10(%rsp),%rdi", "call 0 <f>", "mov 0x18(%rsp),%rax", "test %rax,%rax", "je 0 <mul>"],
            "branch depends on data",
        ),
        (
            [
                "movq $0x0,0x18(%rsp)",
                "lea 0x10(%rsp),%rdi",
                "call 0 <f>",
                "cmpq $0x1,0x18(%rsp)",
                "je 0 <mul>",
            ],
            "branch depends on data",
        ),
        (
            [
                "mov %rdx,0x10(%rsp)",
                "lea 0x10(%rsp),%rdi",
                "call 0 <f>",
                "cmpq $0x1,0x10(%rsp)",
                "je 0 <mul>",
            ],
            "branch depends on data",
        ),
        (
            [
                "movq $0x0,0x18(%rsp)",
                "lea 0x18(%rsp),%rax",
                "mov %rax,0x40(%rsp)",
                "xor %edi,%edi",
                "call 0 <f>",
                "mov 0x18(%rsp),%rax",
                "mov (%rdi,%rax,8),%rcx",
            ],
            "address depends on data",
        ),
        (
            ["mov 0x18(%rsp),%rax", "sub $0x40,%rsp", "mov 0x20(%rsp),%rax", "test %rax,%rax", "je 0 <mul>"],
            "branch",
        ),
        (
            ["mov (%rsi),%rax", "push %rax", "pop %rcx", "test %rcx,%rcx", "je 0 <mul>"],
            "branch depends on data",
        ),
        (
            [
                "movq $0x0,-0x10(%rsp)",
                "mov (%rsi),%eax",
                "mov %eax,-0xc(%rsp)",
                "cmpq $0x0,-0x10(%rsp)",
                "je 0 <mul>",
            ],
            "branch depends on data",
        ),
    ],
)
def test_finds_what_depends_on_data(planted: list[str], message: str) -> None:
    found = check.violations(disassembly(MUL, planted))
    assert found
    assert message in found[0]


SHARE = "ns::(anonymous namespace)::copy(manymod::lanes::SelectShare const&)"


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        (SHARE, ["mov 0x20(%rdi),%rax", "mov (%rax),%ecx", "test %ecx,%ecx", "je 0 <copy>"]),
        (SHARE, ["mov (%rdi),%rax", "mov 0x8(%rax),%rax", "mov (%rdi,%rax,8),%rcx"]),
        ("ns::f(ns::Element const&)", ["mov 0x8(%rdi),%rax", "test %rax,%rax", "je 0 <f>"]),
        ("ns::f(unsigned long (&) [4])", ["mov 0x8(%rdi),%rax", "test %rax,%rax", "je 0 <f>"]),
        ("ns::f(std::array<unsigned long, 4ul>&)", ["cmpq $0x0,(%rdi)", "je 0 <f>"]),
    ],
)
def test_finds_words_behind_records(name: str, planted: list[str]) -> None:
    assert any("depends on data" in line for line in check.violations(disassembly(name, planted)))


def test_finds_a_branch_on_what_a_loop_carries() -> None:
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
        (SHARE, ["mov 0x8(%rdi),%rax", "mov (%rax),%rcx"]),
        (SHARE, ["mov 0x10(%rdi),%rax", "cmp %rax,0x18(%rdi)", "je 0 <copy>"]),
        (
            MUL,
            [
                "mov %rsi,-0x8(%rsp)",
                "lea -0x40(%rsp),%rdi",
                "call 0 <f>",
                "mov -0x8(%rsp),%rax",
                "mov (%rax),%rcx",
            ],
        ),
        (MUL, ["call 0 <mul+0x4>\t1: R_X86_64_PLT32\tmemset-0x4", "mov (%rax),%rcx", "vmovdqa (%rax),%ymm0"]),
        (MUL, ["push %rbx", "mov %rdx,%rbx", "call 0 <f>", "cmp $0x1,%rbx", "je 100 <f>", "pop %rbx"]),
        (
            MUL,
            [
                "push %rbp",
                "mov %rsp,%rbp",
                "and $0xffffffffffffffc0,%rsp",
                "mov %rdx,-0x8(%rbp)",
                "mov -0x8(%rbp),%rax",
                "mov (%rdi,%rax,8),%rcx",
                "leave",
            ],
        ),
        (MUL, ["mov 0x8(%rsp),%rax", "mov (%rax),%rcx"]),
    ],
)
def test_lets_pass_what_is_public(name: str, harmless: list[str]) -> None:
    assert check.violations(disassembly(name, harmless)) == []


def test_instructions_alone() -> None:
    """Without the data-flow analysis the list still holds."""
    code = disassembly(MUL, ["mov (%rsi),%rax", "test %rax,%rax", "je 0 <mul>", "vptest %ymm0,%ymm0"])
    (found,) = check.violations(code, instructions_only=True)
    assert "not on the list: c: vptest" in found


def test_finds_masked_stores_that_may_fault() -> None:
    stores = ["vextracti64x4 $0x1,%zmm2,0x40(%rax){%k3}", "vextractf32x4 $0x0,%ymm2,(%rax,%rbx,8){%k1}"]
    found = check.faulting_stores(disassembly(MUL, stores))
    assert [line.rsplit(": ", 1)[-1] for line in found] == stores
    harmless = [
        "vextracti64x4 $0x1,%zmm2,0x40(%rax)",
        "vextracti64x4 $0x1,%zmm2,%ymm3{%k3}{z}",
        "vmovdqu64 %ymm2,0x40(%rax){%k3}",
    ]
    assert check.faulting_stores(disassembly(MUL, harmless)) == []


def test_without_vector_objects_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main("objdump", ["plan.cpp.o"], instructions_only=False) == 1
    assert "no object file" in capsys.readouterr().out
