# SPDX-License-Identifier: Apache-2.0
"""Residue number systems: where residues are, and what an extension of the base is."""

from __future__ import annotations

from figures.svg import Picture

__all__ = ["RESIDUES"]

KINDS = ("blue", "orange", "green", "purple")


def rns_warp() -> Picture:
    """Which thread of a warp owns which channels of which instances."""
    picture = Picture(
        640, 420, "16 instances of a warp: each quad owns two, each of its threads every fourth channel"
    )
    picture.words(24, 30, "A warp: 16 instances (rows), n channels (columns)", style="bold")
    for channel in range(12):
        picture.words(131 + channel * 36, 56, str(channel), "middle", "dim small")
    for instance in range(16):
        y = 64 + instance * 18
        mine = instance % 8 == 2
        picture.words(104, y + 13, f"instance {instance}", "end", "small" if mine else "dim small")
        for channel in range(12):
            picture.box(114 + channel * 36, y, 33, 15, KINDS[channel % 4] if mine else "grey")
    for group in range(1, 3):
        x = 114 + group * 144 - 1.5
        picture.line([(x, 60), (x, 352)])
    picture.words(556, 112, "quad 2", style="small bold")
    picture.words(556, 256, "quad 2", style="small bold")
    for thread, kind in enumerate(KINDS):
        picture.box(24 + thread * 100, 366, 18, 16, kind)
        picture.words(48 + thread * 100, 379, f"thread {thread}", style="small")
    picture.words(
        24,
        406,
        "A tensor core gives a quad these rows and columns, so that nothing is moved.",
    )
    return picture


def rns_extension() -> Picture:
    """A base extension as a product of matrices of bytes."""
    picture = Picture(640, 330, "A base extension as a matrix product over bytes")
    picture.words(24, 30, "From base A to base B, for 16 instances at once", style="bold")
    picture.box(24, 60, 150, 100, "blue")
    picture.words(99, 104, "coordinates", "middle")
    picture.words(99, 122, "16 × 4 n bytes", "middle", "small")
    picture.words(191, 116, "×", "middle", "bold")
    picture.box(210, 50, 190, 120, "grey")
    picture.words(305, 104, "fixed matrix", "middle")
    picture.words(305, 122, "4 n × 4 n bytes", "middle", "small")
    picture.words(417, 116, "=", "middle", "bold")
    picture.box(436, 60, 180, 100, "orange")
    picture.words(526, 104, "byte sums", "middle")
    picture.words(526, 122, "16 × 4 n, 32 bits each", "middle", "small")
    picture.line([(526, 166), (526, 200)], arrow=True)
    picture.box(346, 206, 270, 44, "green", "residues in B: reduced by threads")
    picture.line([(99, 166), (99, 228), (340, 228)], arrow=True)
    picture.words(110, 220, "rank: how often the product", style="dim small")
    picture.words(110, 246, "of the base is too much", style="dim small")
    picture.words(
        24, 284, "Tensor cores multiply. While they work on one tile of columns, the threads reduce"
    )
    picture.words(
        24, 304, "the one before. A Montgomery multiplication has two such extensions, A to B and back."
    )
    return picture


def mixed_radix() -> Picture:
    """The triangle of mixed radix digits, as in `rns_float`."""
    picture = Picture(640, 320, "Mixed radix digits from residues: a triangle of subtractions and products")
    picture.words(24, 30, "Residues of one number modulo m1 .. m5, a channel in each column", style="bold")
    for channel in range(5):
        picture.words(206 + channel * 90, 62, f"m{channel + 1}", "middle", "dim small")
        for step in range(channel + 1):
            kind = "orange" if step == channel else "blue"
            words = f"d{step + 1}" if step == channel else "(r - d) / m"
            picture.box(166 + channel * 90, 70 + step * 36, 80, 28, kind, words, "small")
    for step in range(5):
        picture.words(150, 89 + step * 36, f"step {step + 1}", "end", "small")
    picture.words(24, 276, "x = d1 + d2 m1 + d3 m1 m2 + ..: no rank, but each step waits for the one before.")
    picture.words(
        24, 300, "Channels have up to 12 bits (half words) or 24 bits (full words) in single precision."
    )
    return picture


def cox_rower() -> Picture:
    """An extension of the base by a block: channels of two threads, and what they exchange."""
    picture = Picture(640, 330, "A base extension by the threads of a block, two for each channel")
    picture.words(24, 30, "Coordinates of one number in shared memory, one of each channel", style="bold")
    for channel in range(8):
        picture.box(24 + channel * 74, 44, 66, 28, "orange", f"xi{channel + 1}", "small")
    for channel in range(4):
        left = 24 + channel * 148
        picture.line([(left + 66, 72), (left + 66, 104)], arrow=True)
        picture.words(left + 66, 122, f"channel {channel + 1}", "middle", "dim small")
        for thread, terms in enumerate(("xi1 .. xi4", "xi5 .. xi8")):
            picture.box(left, 132 + thread * 36, 132, 28, "blue", f"terms of {terms}", "small")
        picture.line([(left + 66, 200), (left + 66, 220)], arrow=True)
        picture.box(left, 220, 132, 28, "green", "residue: sum", "small")
    picture.words(24, 280, "Threads keep their constants in registers and add up their terms; a shuffle")
    picture.words(24, 304, "joins the two sums. A Montgomery multiplication has two such extensions.")
    return picture


RESIDUES = {
    "rns_warp": rns_warp,
    "rns_extension": rns_extension,
    "mixed_radix": mixed_radix,
    "cox_rower": cox_rower,
}
