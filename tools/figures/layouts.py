# SPDX-License-Identifier: Apache-2.0
"""How each technique lays out its numbers, and in which order it computes their products."""

from __future__ import annotations

from collections.abc import Sequence

from figures.svg import Picture

__all__ = ["LAYOUTS"]

CELL = 44


def lanes() -> Picture:
    """Eight items side by side, as `ifma52`, `radix29` and `dpf52` have them on CPUs."""
    picture = Picture(640, 330, "Eight items in the lanes of vectors, a vector for each digit")
    for lane in range(8):
        picture.words(188 + lane * 52, 32, f"item {lane}", "middle", "small")
        for digit in range(5):
            kind = "blue" if digit == 2 else "grey"
            picture.box(164 + lane * 52, 44 + digit * 40, 48, 34, kind, f"d{digit}", "small")
    for digit in range(5):
        picture.words(150, 66 + digit * 40, f"digit {digit}", "end", "dim small")
    picture.line([(158, 120), (580, 120), (580, 162), (158, 162), (158, 120)], "frame")
    picture.words(590, 146, "one", style="small")
    picture.words(590, 160, "vector", style="small")
    picture.line([(188, 250), (188, 284)], arrow=True)
    picture.words(200, 272, "carries go from digit to digit, never from lane to lane", "start", "dim small")
    picture.words(164, 312, "A multiplication is the same instructions for all eight items.")
    return picture


def row() -> Picture:
    """One item across vectors, as `ifma52.row` and `vcpc512` have it."""
    picture = Picture(640, 280, "One item across the lanes of three vectors")
    for vector in range(3):
        picture.words(132, 58 + vector * 44, f"vector {vector}", "end", "dim small")
        for lane in range(8):
            digit = 8 * vector + lane
            kind = "orange" if digit == 0 else "blue"
            picture.box(144 + lane * 56, 36 + vector * 44, 52, 34, kind, f"d{digit}", "small")
    picture.line([(170, 26), (170, 16), (560, 16)])
    picture.words(566, 21, "q", style="bold")
    picture.words(24, 192, "A round adds x · y[i] and n · q to all vectors, then shifts by one digit.")
    picture.words(24, 216, "The quotient digit q comes from the lowest digit alone,")
    picture.words(24, 236, "and the next round waits for it: latency is the limit.")
    picture.words(
        24,
        262,
        "Sixteen lanes of 32-bit elements in vcpc512, eight of 52 bits in ifma52.row",
        "start",
        "dim small",
    )
    return picture


def parallelogram(picture: Picture, top: int, rows: Sequence[tuple[str, int, Sequence[str]]]) -> None:
    """Rows of partial products: a label, the column of the first cell, and the kind of each cell."""
    for number, (label, column, kinds) in enumerate(rows):
        y = top + number * 30
        picture.words(116, y + 17, label, "end", "small")
        for cell, kind in enumerate(kinds):
            # the least significant column is on the right
            picture.box(128 + (8 - column - cell) * CELL, y, CELL - 4, 25, kind)


def operand_scanning() -> Picture:
    """The orders of `scalar64` (separated) and `fios` (finely integrated)."""
    picture = Picture(640, 470, "Separated and finely integrated operand scanning")
    picture.words(24, 30, "Separated (scalar64): the whole product, then the reduction", style="bold")
    product = [(f"x · y{i}", i, ["blue"] * 4) for i in range(4)]
    reduction = [(f"n · q{i}", i, ["orange"] * 4) for i in range(4)]
    parallelogram(picture, 44, [*product, *reduction])
    picture.words(24, 318, "Finely integrated (fios): both in one loop, digit by digit", style="bold")
    for i in range(4):
        y = 332 + i * 30
        picture.words(116, y + 17, f"y{i}, q{i}", "end", "small")
        for cell in range(4):
            x = 128 + (8 - i - cell) * CELL
            picture.box(x, y, (CELL - 4) / 2, 25, "blue")
            picture.box(x + (CELL - 4) / 2, y, (CELL - 4) / 2, 25, "orange")
    picture.words(616, 462, "time runs down, weights grow to the left", "end", "dim small")
    return picture


def row32() -> Picture:
    """Even and odd products in accumulators of their own."""
    picture = Picture(640, 300, "A row of row32: even and odd products in two accumulators")
    at, step = 206, 52  # the left edge of the most significant word, and the distance of words
    for word in range(8):
        kind = "blue" if word % 2 == 0 else "orange"
        picture.box(at + (7 - word) * step, 30, step - 4, 30, kind, f"x{word}", "small")
    picture.words(140, 50, "x, 32-bit words", "end", "small")
    picture.words(140, 111, "even words", "end", "small")
    picture.words(140, 161, "odd words", "end", "small")
    for word in range(8):
        y, kind = (90, "blue") if word % 2 == 0 else (140, "orange")
        picture.box(at + (6 - word) * step, y, 2 * step - 4, 32, kind, f"x{word} · y", "small")
    picture.words(
        24, 210, "Each product has 64 bits. Those of even words do not overlap, so that one chain of"
    )
    picture.words(
        24, 230, "IMAD.WIDE with carries adds them all; those of odd words likewise, one word higher."
    )
    picture.words(24, 250, "The two sums are added once, at the end of the multiplication.")
    picture.words(24, 280, "up to 32 such products in a clock of a multiprocessor", "start", "dim small")
    return picture


def thread_group() -> Picture:
    """A number divided among the threads of a warp."""
    picture = Picture(640, 300, "A warp of 32 threads as eight groups of four, each with one number")
    kinds = ("blue", "grey", "grey", "grey", "grey", "grey", "grey", "grey")
    picture.words(24, 30, "A warp, 32 threads: eight items, four threads each", style="bold")
    for thread in range(32):
        picture.box(24 + thread * 18.4, 44, 16, 28, kinds[thread // 4])
    picture.line([(24, 78), (60, 130)])
    picture.line([(96, 78), (580, 130)])
    for thread in range(4):
        x = 60 + (3 - thread) * 132
        picture.words(x + 62, 146, f"thread {thread}", "middle", "small")
        for word in range(4):
            picture.box(x + (3 - word) * 31, 154, 29, 34, "blue", str(4 * thread + word), "small")
    for thread in range(3):
        x = 60 + (3 - thread) * 132
        picture.line([(x + 6, 200), (x - 40, 200)], arrow=True)
    picture.words(
        24,
        232,
        "Carries go to the next thread by a shuffle, or at the end by a ballot.",
    )
    picture.words(24, 256, "y[i] and the quotient digit are shuffled to all threads of the group.")
    picture.words(
        24,
        282,
        "1, 2, 4, .. 32 threads; more threads: less latency and fewer registers each",
        "start",
        "dim small",
    )
    return picture


def two_pass16() -> Picture:
    """Halves of 16 bits; products that do not start at a word boundary come first."""
    picture = Picture(640, 330, "Products of 16-bit halves, unaligned ones first")
    picture.words(24, 30, "Products of halves x[i] y[j] begin at bit 16 (i + j)", style="bold")
    for i in range(4):
        y = 46 + i * 36
        picture.words(92, y + 20, f"y{i}", "end", "small")
        for j in range(4):
            kind = "orange" if (i + j) % 2 else "blue"
            picture.box(104 + (6 - i - j) * 68, y, 64, 30, kind, f"x{j} y{i}", "small")
    picture.box(24, 212, 24, 20, "orange")
    picture.words(58, 228, "pass 1: between word boundaries; the sum is then shifted by 16 bits")
    picture.box(24, 242, 24, 20, "blue")
    picture.words(58, 258, "pass 2: at word boundaries, added to it")
    picture.words(
        24, 296, "No product is shifted by itself, which is what 16-bit multipliers (XMAD of Maxwell)"
    )
    picture.words(24, 316, "would otherwise cost.")
    return picture


def doubles() -> Picture:
    """The two halves of a product of doubles, as in `dpf52`."""
    picture = Picture(640, 320, "The high and the low half of a product of two 52-bit digits in doubles")
    picture.words(24, 30, "a · b, two digits of 52 bits", style="bold")
    picture.box(104, 44, 256, 34, "blue", "high 52 bits")
    picture.box(364, 44, 256, 34, "orange", "low 52 bits")
    for x, bit in ((104, "104"), (362, "52"), (620, "0")):
        picture.words(x, 96, bit, "middle", "dim small")
    picture.words(24, 130, "1", style="bold")
    picture.words(44, 130, "h = fma(a, b, 2^104), rounded toward zero: its fraction is the high half")
    picture.box(44, 142, 56, 28, "grey", "2^104", "small")
    picture.box(104, 142, 256, 28, "blue", "fraction of h", "small")
    picture.words(24, 204, "2", style="bold")
    picture.words(44, 204, "l = fma(a, b, 2^104 + 2^52 - h), exact: its fraction is the low half")
    picture.box(304, 216, 56, 28, "grey", "2^52", "small")
    picture.box(364, 216, 256, 28, "orange", "fraction of l", "small")
    picture.words(24, 278, "Bit patterns are added as 64-bit integers, column by column. Their exponents are")
    picture.words(24, 298, "constants, whose sum is subtracted beforehand.")
    return picture


def division() -> Picture:
    """Long division from the top down, as `division52` and `division32` do it."""
    picture = Picture(640, 320, "A product, then long division from the top down")
    cell = 60
    picture.words(24, 30, "The product, and a multiple of n subtracted for each quotient digit", style="bold")
    for digit in range(8):
        picture.box(136 + digit * cell, 44, cell - 4, 28, "blue")
    picture.words(124, 63, "x · y", "end", "small")
    for step in range(4):
        picture.words(124, 103 + step * 36, f"q{3 - step} · n", "end", "small")
        for digit in range(5):
            picture.box(136 + (step + digit) * cell, 84 + step * 36, cell - 4, 28, "orange")
    picture.line([(136, 84), (136, 232)], arrow=True)
    for digit in range(4):
        picture.box(136 + (4 + digit) * cell, 236, cell - 4, 28, "green")
    picture.words(360, 255, "remainder", "end", "small")
    picture.words(
        24,
        290,
        "The top of the remainder, times a short reciprocal, gives the next digit.",
    )
    picture.words(24, 308, "No Montgomery form, hence no conversions: single products, odd and even moduli.")
    return picture


LAYOUTS = {
    "lanes": lanes,
    "row": row,
    "operand_scanning": operand_scanning,
    "row32": row32,
    "thread_group": thread_group,
    "two_pass16": two_pass16,
    "doubles": doubles,
    "division": division,
}
