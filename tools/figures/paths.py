# SPDX-License-Identifier: Apache-2.0
"""What happens to a call: from its arguments to the threads that compute it, and inside an exponentiation."""

from __future__ import annotations

from figures.svg import Picture

__all__ = ["PATHS"]


def call_path() -> Picture:
    """An exponentiation's path through threads."""
    picture = Picture(640, 640, "A call's path: plan, buckets, chunks, places, threads")
    picture.box(190, 20, 260, 40, "grey", "call: N bases, exponents, moduli", "small")
    picture.line([(320, 60), (320, 82)], arrow=True)
    picture.box(190, 86, 260, 40, "grey", "checks; plan with its variants", "small")
    picture.line([(320, 126), (320, 148)], arrow=True)
    picture.words(24, 172, "buckets", style="bold small")
    picture.words(24, 188, "by limbs of the modulus", style="dim small")
    for bucket, (x, width, words) in enumerate(
        ((190, 90, "512 bits"), (284, 150, "1024 bits"), (438, 120, "2048 bits"))
    ):
        picture.box(x, 152, width, 40, ("blue", "orange", "green")[bucket], words, "small")
    picture.line([(358, 192), (358, 216)], arrow=True)
    picture.words(24, 240, "chunks", style="bold small")
    picture.words(24, 256, "whole vectors or waves", style="dim small")
    for chunk in range(7):
        picture.box(
            190 + chunk * 54,
            220,
            50 if chunk < 6 else 28,
            40,
            "orange",
            str(chunk) if chunk < 6 else "tail",
            "small",
        )
    picture.line([(270, 260), (180, 300)], arrow=True)
    picture.line([(430, 260), (480, 300)], arrow=True)
    picture.words(24, 324, "places", style="bold small")
    picture.box(90, 304, 210, 36, "grey", "CPU: pool of threads", "small")
    picture.box(370, 304, 240, 36, "grey", "a GPU: 3 or more threads feed it", "small")
    for thread in range(4):
        picture.box(90 + thread * 54, 360, 48, 60, "blue", f"T{thread}", "small")
    picture.words(195, 440, "each thread: one chunk,", "middle", "small")
    picture.words(195, 458, "8 or 16 items a vector", "middle", "small")
    for stage, words in enumerate(
        ("gather to pinned memory", "copy", "kernel: warps, groups of threads", "copy back, store")
    ):
        picture.box(370, 360 + stage * 40, 240, 32, "green" if stage == 2 else "grey", words, "small")
    picture.line([(195, 468), (195, 540), (250, 560)], arrow=True)
    picture.line([(490, 520), (490, 540), (420, 560)], arrow=True)
    picture.box(190, 564, 280, 40, "grey", "results and statuses, at their items' places", "small")
    picture.words(24, 628, "If a GPU fails, its chunk goes to the next place.", style="dim small")
    return picture


def windows() -> Picture:
    """Fixed windows with selection, as constant-time powers have them."""
    picture = Picture(640, 360, "Fixed windows: five squarings, a selection and a multiplication")
    picture.words(24, 30, "The exponent in windows of 5 bits", style="bold")
    for window, bits in enumerate(("10110", "00111", "11000", "00001", "01101")):
        picture.box(24 + window * 96, 44, 90, 30, "orange" if window == 1 else "grey", bits, "small")
    picture.words(508, 64, "..", style="small")
    picture.line([(165, 74), (165, 108)], arrow=True)
    picture.words(24, 132, "table, made once: x^0, x^1, .. x^31", style="small")
    for entry in range(32):
        picture.box(24 + entry * 18.4, 142, 16, 28, "orange" if entry == 7 else "blue")
    picture.words(
        24,
        192,
        "all 32 entries are read, masks keep one: addresses do not depend on the exponent",
        style="dim small",
    )
    picture.line([(160, 200), (160, 226), (496, 226), (496, 244)], arrow=True)
    for step in range(5):
        picture.box(24 + step * 84, 250, 70, 36, "green", "square", "small")
        picture.line([(94 + step * 84, 268), (106 + step * 84, 268)], arrow=True)
    picture.box(446, 250, 100, 36, "purple", "multiply", "small")
    picture.line([(546, 268), (580, 268), (580, 306), (12, 306), (12, 268), (22, 268)], arrow=True)
    picture.words(24, 340, "Variable-time calls use sliding windows over odd powers, and skip what is zero.")
    return picture


PATHS = {"call_path": call_path, "windows": windows}
