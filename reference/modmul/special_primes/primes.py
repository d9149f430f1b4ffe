# SPDX-License-Identifier: Apache-2.0
"""Which model computes modulo which prime in which radix, and the multiplications that it takes.

``ifma_count`` and ``muludq_count`` count vpmadd52 and vpmuludq of eight and four instances, ``words_count``
IMAD.WIDE. ``ifma_rest`` are the additions, shifts and masks beside, and ``words_rest`` the additions with
carry and funnel shifts: what a multiplication costs where they share ports with the multiplier. Generic
Montgomery multiplication takes 2 L^2 + 2 L^2 + L vpmadd52 for L digits of 52 bits: 105 and 85 for 256 bits,
264 and 208 for 384 bits, 495 and 385 for 521 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reference.modmul.special_primes.folding import Folding
from reference.modmul.special_primes.halved_mersenne import HalvedMersenne
from reference.modmul.special_primes.machine import Ifma, Muludq
from reference.modmul.special_primes.sparse_montgomery import SparseMontgomery
from reference.modmul.special_primes.words import (
    FoldedWords,
    P256Words,
    P384Words,
    P521Words,
    Sm2Words,
    WordField,
)

DigitField = Folding | SparseMontgomery | HalvedMersenne
Count = tuple[int, int]
"""Multiplications of a product and of a square."""

P256_TERMS = ((1, 256), (-1, 224), (1, 192), (1, 96))
SM2_TERMS = ((1, 256), (-1, 224), (-1, 96), (1, 64))
P384_TERMS = ((1, 384), (-1, 128), (-1, 96), (1, 32))
CURVE448_TERMS = ((1, 448), (-1, 224))


@dataclass(frozen=True)
class SpecialPrime:
    """A prime and its models, made anew at each call so that counters start at 0.

    Without a model in words, their counts are 0: no GPU computes modulo the prime.
    """

    name: str
    p: int
    ifma: Callable[[], DigitField]
    muludq: Callable[[], DigitField]
    words: Callable[[], WordField] | None
    ifma_count: Count
    muludq_count: Count
    words_count: Count
    ifma_rest: Count
    words_rest: Count


PRIMES = (
    SpecialPrime(
        "secp256k1",
        2**256 - 2**32 - 977,
        lambda: Folding(256, 2**32 + 977, Ifma()),
        lambda: Folding(256, 2**32 + 977, Muludq()),
        lambda: FoldedWords(977, with_word=True),
        (62, 42),
        (92, 56),
        (73, 45),
        (24, 32),
        (60, 72),
    ),
    SpecialPrime(
        "2^255 - 19",
        2**255 - 19,
        lambda: Folding(255, 19, Ifma()),
        lambda: Folding(255, 19, Muludq()),
        lambda: FoldedWords(38, with_word=False),
        (61, 41),
        (91, 55),
        (72, 44),
        (24, 32),
        (58, 70),
    ),
    SpecialPrime(
        "P-256",
        2**256 - 2**224 + 2**192 + 2**96 - 1,
        lambda: SparseMontgomery(P256_TERMS, Ifma()),
        lambda: SparseMontgomery(P256_TERMS, Muludq()),
        P256Words,
        (80, 60),
        (81, 45),
        (64, 36),
        (22, 30),
        (88, 100),
    ),
    SpecialPrime(
        "SM2",
        2**256 - 2**224 - 2**96 + 2**64 - 1,
        lambda: SparseMontgomery(SM2_TERMS, Ifma()),
        lambda: SparseMontgomery(SM2_TERMS, Muludq()),
        Sm2Words,
        (70, 50),
        (81, 45),
        (64, 36),
        (27, 35),
        (107, 119),
    ),
    SpecialPrime(
        "P-384",
        2**384 - 2**128 - 2**96 + 2**32 - 1,
        lambda: SparseMontgomery(P384_TERMS, Ifma()),
        lambda: SparseMontgomery(P384_TERMS, Muludq()),
        P384Words,
        (192, 136),
        (196, 105),
        (144, 78),
        (53, 67),
        (217, 237),
    ),
    SpecialPrime(
        "P-521",
        2**521 - 1,
        lambda: HalvedMersenne(Ifma(), 11),
        lambda: Folding(521, 1, Muludq(), headroom=3),
        P521Words,
        (241, 131),
        (324, 171),
        (289, 153),
        (53, 73),
        (118, 148),
    ),
    SpecialPrime(
        "2^448 - 2^224 - 1",
        2**448 - 2**224 - 1,
        lambda: SparseMontgomery(CURVE448_TERMS, Ifma()),
        lambda: SparseMontgomery(CURVE448_TERMS, Muludq()),
        None,
        (198, 126),
        (256, 136),
        (0, 0),
        (51, 67),
        (0, 0),
    ),
)
