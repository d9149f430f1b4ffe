# SPDX-License-Identifier: Apache-2.0
"""Writes mont.adx.S: Montgomery multiplication and squaring on 64-bit limbs with mulx, adcx and adox.

Assembly, because compilers do not keep two carry chains (CF by adcx, OF by adox) alive at once, and inline
assembly with 15 live registers does not compile in every build mode. Generated, so that one source serves
every size.

Operands wider than MAX_TILE limbs are processed in tiles of W limbs, 1 <= W <= MAX_TILE. One row adds the
product of a tile and one limb (the multiplier, in rdx) and one more limb (the feed) to the accumulator P of W
limbs, and shifts the sum down by one limb:

    feed + P + tile * rdx  ->  low limb (stored), P[0..W-1]

A row does not overflow: with feed < 2^64, P < 2^(64W) and tile < 2^(64W),
P + tile*rdx + feed <= (2^(64W) - 1) + (2^(64W) - 1)(2^64 - 1) + 2^64 - 1 = 2^(64(W+1)) - 1.

Montgomery reduction of a product T < R^2, R = 2^(64L), takes the low half alone: q = (T mod R + M n)/R <= n,
M < R, fits L limbs by the same bound, and the result is T div R + q (separated operand scanning: Koc, Acar,
Kaliski, "Analyzing and comparing Montgomery multiplication algorithms", 1996, section 4). n is odd and
n0 = -n^-1 mod 2^64.

Routines (System V x86-64 calling convention; t is a work array):

    mm_scalar64_adx_mul_L(r, a, b, n, n0)   L = 1..8, r = a b / R mod n, r < n; a <= n or b <= n
    mm_scalar64_adx_sqr_L(r, a, n, n0)      L = 1..8, r = a^2 / R mod n, r < n; a <= n
    mm_scalar64_adx_product_tile_W(t, tile, b, count)
                                            t[0..count+W) = t[0..count) + tile[0..W) * b[0..count)
    mm_scalar64_adx_square_tile_W(t, a, count)
                                            t[0..count+2W) = t[0..count+W) + sum of a_i a_j 2^(64(i+j)) over
                                            i < W, i < j < W + count
    mm_scalar64_adx_double_add_squares(t, a, count)
                                            t[0..2 count) = 2 t + sum of a_i^2 2^(128 i)
    mm_scalar64_adx_redc_tile_W(t, n, n0, limbs, carry) -> carry
                                            t += M n, M < 2^(64W) such that t[0..W) becomes 0, and then
                                            t[0..W) = M. The carry passed in is added at limb `limbs`; the
                                            carry returned has the weight of limb `limbs + W`
    mm_scalar64_adx_subtract_bit(r, a, n, count, bit)
                                            r = a - bit * n mod 2^(64 count), bit <= 1

Aliasing: r may be a or b; t overlaps no operand. Timing: every routine is constant-time; it depends on sizes
only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

PREFIX = "mm_scalar64_adx_"
MAX_TILE = 8
MIN_TILE = 1
ACC = [f"%r{8 + i}" for i in range(MAX_TILE)]
T, V = "%rax", "%rbx"
CALLEE_SAVED = ["%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15"]


class Assembly:
    """Collects lines of assembly."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def emit(self, *instructions: str) -> None:
        """Append instructions."""
        self.lines += [f"\t{text}" for text in instructions]

    def label(self, name: str) -> None:
        """Append a label."""
        self.lines.append(f"{name}:")

    def function(self, name: str, frame_bytes: int, body: Callable[[str], None]) -> None:
        """Emit one global function. `body` receives the prefix of its local labels."""
        symbol = PREFIX + name
        self.lines += [
            f"\t.globl {symbol}",
            f"\t.hidden {symbol}",
            f"\t.type {symbol}, @function",
            "\t.p2align 5",
        ]
        self.label(symbol)
        self.emit(".cfi_startproc", "endbr64")
        for i, register in enumerate(CALLEE_SAVED):
            self.emit(
                f"pushq {register}",
                f".cfi_def_cfa_offset {16 + 8 * i}",
                f".cfi_offset {register}, {-16 - 8 * i}",
            )
        saved = 8 + 8 * len(CALLEE_SAVED)
        if frame_bytes:
            self.emit(f"subq ${frame_bytes}, %rsp", f".cfi_def_cfa_offset {saved + frame_bytes}")
        body(f".L{symbol}")
        if frame_bytes:
            self.emit(f"addq ${frame_bytes}, %rsp", f".cfi_def_cfa_offset {saved}")
        for i, register in reversed(list(enumerate(CALLEE_SAVED))):
            self.emit(f"popq {register}", f".cfi_restore {register}", f".cfi_def_cfa_offset {8 + 8 * i}")
        self.emit("ret", ".cfi_endproc", f".size {symbol}, .-{symbol}")


def first_row(asm: Assembly, width: int, tile: str, low: str) -> None:
    """P = tile * rdx div 2^64; the low limb is stored to `low`. P is not read."""
    asm.emit(f"mulx ({tile}), {T}, {ACC[0]}", f"movq {T}, {low}")
    for i in range(1, width):
        asm.emit(f"mulx {8 * i}({tile}), {T}, {ACC[i]}", f"{'adcq' if i > 1 else 'addq'} {T}, {ACC[i - 1]}")
    if width > 1:
        asm.emit(f"adcq $0, {ACC[width - 1]}")


def row_steps(asm: Assembly, width: int, tile: str) -> None:
    """Columns 1..W of a row. On input: the carries of column 0 are in CF and OF, its high half in P[0]."""
    for i in range(1, width):
        asm.emit(
            f"adcxq {ACC[i]}, {ACC[i - 1]}",
            f"mulx {8 * i}({tile}), {V}, {ACC[i]}",
            f"adoxq {V}, {ACC[i - 1]}",
        )
    asm.emit("movl $0, %eax", f"adcxq {T}, {ACC[width - 1]}", f"adoxq {T}, {ACC[width - 1]}")


def row(asm: Assembly, width: int, tile: str, emit_to: str | None, feed: str | None = None) -> None:
    """P = (P + feed + tile * rdx) div 2^64; the low limb is stored to `emit_to`, or dropped if None."""
    asm.emit("xorl %eax, %eax", f"mulx ({tile}), {V}, {T}")
    if feed is not None:
        asm.emit(f"adcxq {feed}, {V}", f"adoxq {ACC[0]}, {V}")
    else:
        asm.emit(f"adcxq {ACC[0]}, {V}")
    if emit_to is not None:
        asm.emit(f"movq {V}, {emit_to}")
    asm.emit(f"movq {T}, {ACC[0]}")
    row_steps(asm, width, tile)


def reduction_row(asm: Assembly, width: int, modulus: str, n0: str, keep_quotient: str | None = None) -> None:
    """P = (P + m n) / 2^64 with m = P[0] n0 mod 2^64."""
    asm.emit(f"movq {ACC[0]}, %rdx", f"imulq {n0}, %rdx")
    if keep_quotient is not None:
        asm.emit(f"movq %rdx, {keep_quotient}")
    row(asm, width, modulus, None)


def triangle(asm: Assembly, width: int, source: str, target: Callable[[int], str], preload: bool) -> None:
    """Sum of the off-diagonal products a_i a_j, i < j < W, of the limbs at `source`.

    Columns 1..W-1 are stored to target(column), after adding its old value if `preload`; columns W..2W-1 stay
    in P[column mod W]. Row i updates columns 2i+1..i+W, which are distinct modulo W.
    """
    acc = [ACC[c % width] for c in range(2 * width)]
    if preload:
        for c in range(1, width):
            asm.emit(f"movq {target(c)}, {acc[c]}")
    else:
        for c in range(2, width):
            asm.emit(f"xorl {acc[c]}d, {acc[c]}d")
    for i in range(width - 1):
        asm.emit(f"movq {8 * i}({source}), %rdx", "xorl %eax, %eax")
        for j in range(i + 1, width):
            column = i + j
            last = j == width - 1
            fresh = not preload and i == 0 and j == 1
            high = acc[column + 1] if last else V
            asm.emit(f"mulx {8 * j}({source}), {acc[column] if fresh else T}, {high}")
            if not fresh:
                asm.emit(f"adcxq {T}, {acc[column]}")
            if last:
                asm.emit("movl $0, %eax", f"adcxq {T}, {high}", f"adoxq {T}, {high}")
            else:
                asm.emit(f"adoxq {V}, {acc[column + 1]}")
        for column in (2 * i + 1, 2 * i + 2):
            if column < width:
                asm.emit(f"movq {acc[column]}, {target(column)}")
    asm.emit(f"xorl {acc[2 * width - 1]}d, {acc[2 * width - 1]}d")


def emit_final_reduction(asm: Assembly, limbs: int, high: Callable[[int], str]) -> None:
    """r = P + high, minus n if that is n or more. rdi = r, rcx = n. On input: P + high < 2n."""
    for i in range(limbs):
        asm.emit(f"{'adcq' if i else 'addq'} {high(i)}, {ACC[i]}")
    asm.emit("sbbq %rax, %rax")
    for i in range(limbs):
        asm.emit(f"movq {ACC[i]}, {8 * i}(%rdi)")
    for i in range(limbs):
        asm.emit(f"{'sbbq' if i else 'subq'} {8 * i}(%rcx), {ACC[i]}")
    # CF = 1: the sum had no carry out and was below n, so it is kept. (With a carry out, it is above n.)
    asm.emit("sbbq $0, %rax")
    for i in range(limbs):
        asm.emit(f"cmovcq {8 * i}(%rdi), {ACC[i]}", f"movq {ACC[i]}, {8 * i}(%rdi)")


def stack(index: int) -> str:
    """Return the operand for limb `index` of the stack frame."""
    return f"{8 * index}(%rsp)"


def emit_unrolled_multiply(asm: Assembly, limbs: int) -> None:
    """Emit mul_L: rdi = r, rsi = a, rdx = b, rcx = n, r8 = n0."""
    n0 = stack(2 * limbs)

    def body(_: str) -> None:
        asm.emit(f"movq %r8, {n0}", "movq %rdx, %rbp", "movq (%rbp), %rdx")
        first_row(asm, limbs, "%rsi", stack(0))
        for j in range(1, limbs):
            asm.emit(f"movq {8 * j}(%rbp), %rdx")
            row(asm, limbs, "%rsi", stack(j))
        for i in range(limbs):
            asm.emit(f"movq {ACC[i]}, {stack(limbs + i)}")
        emit_reduce_stack(asm, limbs, n0)

    asm.function(f"mul_{limbs}", 8 * (2 * limbs + 1), body)


def emit_reduce_stack(asm: Assembly, limbs: int, n0: str) -> None:
    """r = stack[0..2L) / R mod n; rdi = r, rcx = n."""
    for i in range(limbs):
        asm.emit(f"movq {stack(i)}, {ACC[i]}")
    for _ in range(limbs):
        reduction_row(asm, limbs, "%rcx", n0)
    emit_final_reduction(asm, limbs, lambda i: stack(limbs + i))


def emit_unrolled_square(asm: Assembly, limbs: int) -> None:
    """Emit sqr_L: rdi = r, rsi = a, rdx = n, rcx = n0."""
    n0 = stack(2 * limbs)

    def body(_: str) -> None:
        asm.emit(f"movq %rcx, {n0}", "movq %rdx, %rcx")
        if limbs == 1:
            asm.emit(
                "movq (%rsi), %rdx", f"mulx %rdx, {T}, {V}", f"movq {T}, {stack(0)}", f"movq {V}, {stack(1)}"
            )
        else:
            triangle(asm, limbs, "%rsi", stack, preload=False)
            emit_unrolled_double_add_squares(asm, limbs)
        emit_reduce_stack(asm, limbs, n0)

    asm.function(f"sqr_{limbs}", 8 * (2 * limbs + 1), body)


def emit_unrolled_double_add_squares(asm: Assembly, limbs: int) -> None:
    """stack[0..2L) = 2 * (columns 1..L-1 on the stack, L..2L-1 in P) + the squares of the limbs at rsi."""
    asm.emit("xorl %ebp, %ebp")
    for i in range(limbs):
        asm.emit(f"movq {8 * i}(%rsi), %rdx", f"mulx %rdx, {T}, {V}")
        for column, square in ((2 * i, T), (2 * i + 1, V)):
            if column == 0:
                asm.emit(f"movq {square}, {stack(0)}")
                continue
            if column < limbs:
                asm.emit(f"movq {stack(column)}, %rdx")
                value = "%rdx"
            else:
                value = ACC[column % limbs]
            asm.emit(f"adcxq {value}, {value}", f"adoxq {square}, {value}", f"movq {value}, {stack(column)}")


def emit_row_loop(asm: Assembly, width: int, loop: str) -> None:
    """Rows of the tile at rsi with rbp > 0 multipliers at rcx; rdi points to the feed of the current row."""
    asm.emit(".p2align 4")
    asm.label(loop)
    asm.emit("movq (%rcx), %rdx")
    row(asm, width, "%rsi", "(%rdi)", feed="(%rdi)")
    asm.emit("leaq 8(%rcx), %rcx", "leaq 8(%rdi), %rdi", "decq %rbp", f"jnz {loop}")


def store_accumulator(asm: Assembly, width: int, target: str) -> None:
    """Store P[0..W) at the pointer `target`."""
    for i in range(width):
        asm.emit(f"movq {ACC[i]}, {8 * i}({target})")


def emit_product_tile(asm: Assembly, width: int) -> None:
    """Emit product_tile_W: rdi = t, rsi = tile, rdx = b, rcx = count > 0."""

    def body(label: str) -> None:
        asm.emit("movq %rcx, %rbp", "movq %rdx, %rcx")
        for i in range(width):
            asm.emit(f"xorl {ACC[i]}d, {ACC[i]}d")
        emit_row_loop(asm, width, f"{label}_rows")
        store_accumulator(asm, width, "%rdi")

    asm.function(f"product_tile_{width}", 0, body)


def emit_square_tile(asm: Assembly, width: int) -> None:
    """Emit square_tile_W: rdi = t, rsi = a, rdx = count >= 0, the limbs of a above the tile."""

    def body(label: str) -> None:
        asm.emit("movq %rdx, %rbp")
        triangle(asm, width, "%rsi", lambda column: f"{8 * column}(%rdi)", preload=True)
        asm.emit(
            f"leaq {8 * width}(%rsi), %rcx",
            f"leaq {8 * width}(%rdi), %rdi",
            "testq %rbp, %rbp",
            f"jz {label}_end",
        )
        emit_row_loop(asm, width, f"{label}_rows")
        asm.label(f"{label}_end")
        store_accumulator(asm, width, "%rdi")

    asm.function(f"square_tile_{width}", 0, body)


def emit_redc_tile(asm: Assembly, width: int) -> None:
    """Emit redc_tile_W: rdi = t, rsi = n, rdx = n0, rcx = limbs >= W, r8 = carry."""
    n0, carry = stack(0), stack(1)

    def body(label: str) -> None:
        asm.emit(f"movq %rdx, {n0}", f"movq %r8, {carry}", "movq %rcx, %rbp")
        for i in range(width):
            asm.emit(f"movq {8 * i}(%rdi), {ACC[i]}")
        for j in range(width):
            reduction_row(asm, width, "%rsi", n0, keep_quotient=f"{8 * j}(%rdi)")
        asm.emit(f"leaq {8 * width}(%rsi), %rcx", "movq %rdi, %rsi", f"leaq {8 * width}(%rdi), %rdi")
        asm.emit(f"subq ${width}, %rbp", f"jz {label}_end")
        emit_row_loop(asm, width, f"{label}_rows")
        asm.label(f"{label}_end")
        asm.emit(f"movq {carry}, %rdx", "negq %rdx")
        for i in range(width):
            asm.emit(f"adcq {8 * i}(%rdi), {ACC[i]}", f"movq {ACC[i]}, {8 * i}(%rdi)")
        asm.emit("movl $0, %eax", "adcq $0, %rax")

    asm.function(f"redc_tile_{width}", 16, body)


def emit_loop_by_four(asm: Assembly, label: str, step: Callable[[int], None], advance: Iterable[str]) -> None:
    """Loop that runs a step rcx > 0 times, unrolled by four, and preserves CF and OF.

    `step(k)` emits the step at k limbs above the pointers; `advance` holds templates of lea instructions that
    advance the pointers by `limbs` limbs. jrcxz and lea affect no flags.
    """
    advance = list(advance)
    asm.emit("movq %rcx, %rbp", "andl $3, %ebp", "shrq $2, %rcx", "leaq 1(%rcx), %rcx", "leaq 1(%rbp), %rbp")
    asm.emit("xorl %eax, %eax", f"jmp {label}_test4", ".p2align 4")
    asm.label(f"{label}_four")
    for k in range(4):
        step(k)
    asm.emit(*(text.format(limbs=4) for text in advance))
    asm.label(f"{label}_test4")
    asm.emit("leaq -1(%rcx), %rcx", f"jrcxz {label}_fours_done", f"jmp {label}_four")
    asm.label(f"{label}_fours_done")
    asm.emit("movq %rbp, %rcx", f"jmp {label}_test1")
    asm.label(f"{label}_one")
    step(0)
    asm.emit(*(text.format(limbs=1) for text in advance))
    asm.label(f"{label}_test1")
    asm.emit("leaq -1(%rcx), %rcx", f"jrcxz {label}_done", f"jmp {label}_one")
    asm.label(f"{label}_done")


def emit_double_add_squares(asm: Assembly) -> None:
    """Emit double_add_squares: rdi = t, rsi = a, rdx = count > 0."""

    def step(k: int) -> None:
        asm.emit(f"movq {8 * k}(%rsi), %rdx", f"mulx %rdx, {T}, {V}")
        for offset, square in ((16 * k, T), (16 * k + 8, V)):
            asm.emit(
                f"movq {offset}(%rdi), %r8",
                "adcxq %r8, %r8",
                f"adoxq {square}, %r8",
                f"movq %r8, {offset}(%rdi)",
            )

    def body(label: str) -> None:
        asm.emit("movq %rdx, %rcx")
        emit_loop_by_four(asm, label, step, ["leaq 16*{limbs}(%rdi), %rdi", "leaq 8*{limbs}(%rsi), %rsi"])

    asm.function("double_add_squares", 0, body)


def emit_subtract_bit(asm: Assembly) -> None:
    """Emit subtract_bit: rdi = r, rsi = a, rdx = n, rcx = count > 0, r8 = bit.

    mulx multiplies n by the bit without affecting the borrow in CF.
    """

    def step(k: int) -> None:
        asm.emit(
            f"mulx {8 * k}(%r9), {T}, {V}",
            f"movq {8 * k}(%rsi), %r8",
            f"sbbq {T}, %r8",
            f"movq %r8, {8 * k}(%rdi)",
        )

    def body(label: str) -> None:
        asm.emit("movq %rdx, %r9", "movq %r8, %rdx")
        pointers = ("%rdi", "%rsi", "%r9")
        emit_loop_by_four(asm, label, step, [f"leaq 8*{{limbs}}({p}), {p}" for p in pointers])

    asm.function("subtract_bit", 0, body)


def generate() -> str:
    """Return the text of mont.adx.S."""
    asm = Assembly()
    asm.lines += ["# Generated by mont_adx_gen.py; do not edit.", "\t.text"]
    for limbs in range(1, MAX_TILE + 1):
        emit_unrolled_multiply(asm, limbs)
        emit_unrolled_square(asm, limbs)
    for width in range(MIN_TILE, MAX_TILE + 1):
        emit_product_tile(asm, width)
        emit_square_tile(asm, width)
        emit_redc_tile(asm, width)
    emit_double_add_squares(asm)
    emit_subtract_bit(asm)
    asm.lines.append('\t.section .note.GNU-stack,"",@progbits')
    return "\n".join(asm.lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as output:
        output.write(generate())
