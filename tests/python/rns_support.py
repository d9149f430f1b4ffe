# SPDX-License-Identifier: Apache-2.0
"""Bases and operands for the tests of the rns oracle."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

from reference.modmul.rns.bases import (
    Base,
)
from reference.modmul.rns.operands import Coordinates
from reference.modmul.rns.tensor import (
    ExtensionMatrix,
    TensorBases,
)
from reference.modmul.rns.words import largest_below

import rns_bases as tool

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def bases(bits: int) -> TensorBases:
    """The smallest bases of the largest primes below 2^31."""
    count = (bits + 11) // 31 + 1
    primes = list(itertools.islice(tool.primes_down_from((1 << 31) - 1), 2 * count))
    return TensorBases(Base(tuple(primes[::2])), Base(tuple(primes[1::2])), bits)


@functools.cache
def tensor(bits: int) -> TensorBases:
    """The bases of the compiled kernels."""
    tables: TensorBases = tool.bases_for("tensor", bits).tensor
    return tables


def largest_words(extension: ExtensionMatrix) -> list[int]:
    """The largest word of each channel of the operand."""
    operand = extension.operand
    bound = operand.cox.slack if isinstance(operand, Coordinates) else 1
    return [largest_below(bound, m) for m in operand.base.moduli]


def extreme_words(extension: ExtensionMatrix) -> list[list[int]]:
    """Words with the largest values, the largest bytes, the least, and mixtures of these."""
    largest = largest_words(extension)
    return [
        largest,
        [((x + 1 >> 24) - 1 << 24) + 0xFFFFFF for x in largest],
        [0xFFFFFF] * len(largest),
        [0] * len(largest),
        [x if i % 2 else 0 for i, x in enumerate(largest)],
    ]
