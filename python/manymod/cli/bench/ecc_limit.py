# SPDX-License-Identifier: Apache-2.0
"""How many vpmadd52 operations on curves take for eight items, as the variant ``lanes.ifma52`` computes them.

The count is of digit products alone, in the formulas of `src/ecc/formulas/` and the windows of
`src/ecc/lanes/`: carries, selections from tables, conversions, loads, hashes and arithmetic modulo the order
come on top. M, S: products and squares of the field; a difference of two products saves a reduction.

* k G: windows of 7 bits, an addition each. k P: windows of 5 bits; a table of 16 multiples; with the
  endomorphism of secp256k1 two additions and half of the doublings; on Edwards curves windows of 4 bits.
  u G + v P: both, one after the other.
* Verification of EdDSA: windows of 4 bits for both points, with scalars of half length, and of 11 bits for
  the generator, in two halves, all over the same doublings; roots for two points, and no inversion.
* Every result takes its share of one inversion: 20 M at most, with the complete addition at the end.
* A sum: buckets for signed digits, of a width of least cost.
* Public keys of X25519 and X448 are k G on Ed25519 and Ed448. X25519's ladder has digits of 51 bits, whose
  products by 19 (vpmullq) take the multiplier as long as vpmadd52 and are counted, too.
* Signing computes k G again as its check, and SM2 and EdDSA the public key, too; the check of EdDSA is a sum
  of two terms, one of them by 128 bits. Recovery and points on Edwards curves take a root of the field.

>>> from manymod.ecc import P256, SECP256K1
>>> instructions("public", P256, 1024), instructions("multiply", SECP256K1, 1024)
(30040, 88890)
"""

from __future__ import annotations

from dataclasses import dataclass

from manymod.ecc import ED448, ED25519, Curve

__all__ = ["LANES", "LIMIT", "LIMIT_TEXT", "instructions"]

#: Name of the loop whose rate is the limit.
LIMIT = "vpmadd52_zmm"
LIMIT_TEXT = (
    "vpmadd52 of the points of an operation on eight items, at their rate on registers in the same run"
)
#: Items in a vector.
LANES = 8
#: Bits of a window for multiples of the generator and of any point, and entries of the latter's table.
_BASE_WIDTH, _WIDTH, _ENTRIES = 7, 5, 16
#: The same for points on Edwards curves, and bits of a window of the generator in verifications.
_EDWARDS_WIDTH, _EDWARDS_ENTRIES, _WIDE_WIDTH = 4, 8, 11
#: Bits that the order of the group of an Edwards curve has besides those of the generator.
_COFACTOR_BITS = {"Ed25519": 3, "Ed448": 2}
#: Bits of each half of a scalar that the endomorphism of secp256k1 splits.
_HALF_BITS = 129
#: Most terms that one set of buckets adds up, by the bits of the field; 2^16 for fields that are not here.
_MOST_TERMS = {256: 1 << 14}
#: Items whose signatures one sum checks.
_CHECKED = 1024
#: A step of X25519's ladder: four products and one by u, four squares, the product with 121665, and the
#: carries of eleven factors (`reference/modmul/special_primes/redundant_25519.py`).
_STEP_25519 = 4 * 55 + 51 + 4 * 35 + 11 + 11
#: Products that stand for the share of a result in an inversion.
_SHARE = 20

#: vpmadd52 of a product, a square and a reduction that is saved: reference/modmul/special_primes/primes.py.
_SPECIAL = {
    "P-256": (80, 60, 30),
    "P-384": (192, 136, 64),
    "P-521": (242, 132, 0),
    "secp256k1": (62, 42, 12),
    "SM2": (70, 50, 20),
    "Ed25519": (61, 41, 0),
    "X25519": (61, 41, 0),
    "Ed448": (198, 126, 0),
    "X448": (198, 126, 0),
}
#: Curves with a = 0 and with a = -3, whose doublings take fewer products and squares.
_ZERO_A = ("secp256k1", "BN254", "BLS12-381")
_MINUS_THREE_A = ("P-256", "P-384", "P-521", "SM2")


@dataclass(frozen=True)
class _Costs:
    """vpmadd52 of the parts of an operation."""

    product: int
    square: int
    add: int
    double: int
    multiply: int
    base: int
    root: int


def _field(curve: Curve) -> tuple[int, int, int]:
    if curve.name in _SPECIAL:
        return _SPECIAL[curve.name]
    digits = -(-(curve.field_bits + 4) // 52)
    reduction = 2 * digits * digits + digits
    return 2 * digits * digits + reduction, digits * (digits + 1) + reduction, reduction


def _weierstrass(curve: Curve) -> _Costs:
    m, s, saved = _field(curve)
    add = 8 * m + 3 * s - saved
    products, squares = (
        (3, 4) if curve.name in _ZERO_A else (4, 4) if curve.name in _MINUS_THREE_A else (4, 6)
    )
    double = products * m + squares * s - saved
    halves = curve.name == "secp256k1"
    windows = -(-(_HALF_BITS if halves else curve.order_bits) // _WIDTH)
    additions = (2 if halves else 1) * windows - 1
    table = (_ENTRIES - 1) * add + _ENTRIES * ((4 if halves else 3) * m + s)
    multiply = _WIDTH * (windows - 1) * double + additions * add + table
    base = (-(-curve.order_bits // _BASE_WIDTH) - 1) * add
    return _Costs(m, s, add, double, multiply, base, curve.field_bits * s)


def _edwards(curve: Curve) -> _Costs:
    m, s, _ = _field(curve)
    prepared = (7 if curve.name == "Ed25519" else 8) * m
    windows = curve.order_bits // _EDWARDS_WIDTH + 1
    double = 3 * m + 4 * s
    multiply = (
        (windows - 1) * (_EDWARDS_WIDTH * double + m) + windows * prepared + _edwards_table(m, s, prepared)
    )
    base = -(-(curve.order_bits + 1) // _BASE_WIDTH) * prepared
    return _Costs(m, s, prepared, double, multiply, base, curve.field_bits * s + 10 * m)


def _edwards_table(m: int, s: int, prepared: int) -> int:
    """Half of the multiples are doubled, the others added; each is prepared by a product with 2 d."""
    half = _EDWARDS_ENTRIES // 2
    return half * 4 * (m + s) + (half - 1) * (prepared + m) + _EDWARDS_ENTRIES * m + m


def _eddsa_equation(curve: Curve, costs: _Costs) -> int:
    """The equation of a verification, with scalars of half length."""
    m, prepared = costs.product, costs.add
    windows = (curve.order_bits + _COFACTOR_BITS[curve.name]) // 2 // _EDWARDS_WIDTH + 1
    wide = curve.order_bits // 2 // _WIDE_WIDTH + 1
    doublings = max(windows * _EDWARDS_WIDTH, wide * _WIDE_WIDTH)
    points = windows * (2 * prepared + 2 * m) + 2 * _edwards_table(m, costs.square, prepared)
    return doublings * costs.double + points + wide * (2 * prepared + m)


def _weierstrass_sum(curve: Curve, costs: _Costs, terms: int) -> float:
    """vpmadd52 for each of `terms` terms: affine additions with a 256th part of an inversion each."""
    together = min(terms, _MOST_TERMS.get(curve.field_bits, 1 << 16))
    addition = 5 * costs.product + costs.square + curve.field_bits * costs.square / 256
    return addition * min(
        (curve.order_bits // width + 1) * (1 + (1 << width) / together) for width in range(2, 15)
    )


def _edwards_sum(costs: _Costs, terms: int, bits: int) -> float:
    """vpmadd52 for each of `terms` terms by scalars of `bits` bits; each lane has its own buckets."""
    vectors = max(1, min(terms // LANES, 1024))
    bucket = 2 * (costs.add + 2 * costs.product)
    return min(
        (bits // width + 1) * (costs.add + bucket * (1 << (width - 1)) / vectors) for width in range(3, 10)
    )


def instructions(op: str, curve: Curve, batch: int) -> int:
    """vpmadd52 of eight items in a batch.

    Args:
        op: an operation of `manymod bench ecc`, or multiply, a product k P.
        curve: a named curve.
        batch: the items of a call.
    """
    return round(_count(op, curve, batch))


def _count(op: str, curve: Curve, batch: int) -> float:
    if curve.form == "montgomery" and op == "public":
        return _count(op, ED25519 if curve.name == "X25519" else ED448, batch)
    if curve.form == "montgomery":
        m, s, _ = _field(curve)
        small = 2 * -(-(curve.field_bits + 4) // 52)
        step = _STEP_25519 if curve.name == "X25519" else 5 * m + 4 * s + small
        return curve.field_bits * step + _SHARE * m
    edwards = curve.form == "edwards"
    costs = _edwards(curve) if edwards else _weierstrass(curve)
    share = _SHARE * costs.product
    if op == "public":
        return costs.base + share
    if op in {"multiply", "exchange"}:
        return costs.multiply + share
    if op == "sum":
        if edwards:
            return costs.root + _edwards_sum(costs, batch, curve.order_bits)
        return _weierstrass_sum(curve, costs, batch)
    if op == "sign":
        if not edwards:
            return (3 if curve.name == "SM2" else 2) * (costs.base + share)
        checked = 2 * min(batch, _CHECKED)
        return 2 * (costs.base + share) + sum(
            _edwards_sum(costs, checked, bits) for bits in (128, curve.order_bits)
        )
    if edwards:
        return _eddsa_equation(curve, costs) + 2 * costs.root
    two = costs.multiply + costs.base + costs.add + share / 2
    return two + (costs.root if op == "recover" else 0)
