# SPDX-License-Identifier: Apache-2.0
"""What the drivers of gpu_curve_drivers/ measure: the operations of each peer and their answers' forms."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIBRARIES", "OPERATIONS", "Library", "Operation"]

#: Operations of manymod's, which those of the peers are compared with.
OPERATIONS = ("base", "multiply", "sign", "verify")


@dataclass(frozen=True)
class Operation:
    """An operation of a peer.

    Answers come as "montgomery": points, two little-endian numbers in Montgomery form; "numbers": two
    little-endian numbers; "compressed": points; "word" and "byte": verdicts.
    """

    same_as: str
    form: str
    constant_time: bool
    note: str


@dataclass(frozen=True)
class Library:
    """A peer's curve and operations, and batches beside those of all: gECC shares inversions among items."""

    curve: str
    operations: dict[str, Operation]
    more_items: tuple[int, ...] = ()


LIBRARIES = {
    "gecc": Library(
        "SM2",
        {
            "base": Operation(
                "base",
                "montgomery",
                False,
                "an addition of 2^i G for every bit that is set, as in its unbatched signatures; by a kernel "
                "of the driver's, as gECC has no such multiples alone",
            ),
            "base_as_benchmarked": Operation(
                "base",
                "montgomery",
                False,
                "fixedPMulByCombinedDAA as its benchmarks call it: in batches, adds one and the same point "
                "for every bit that is set",
            ),
            "multiply": Operation(
                "multiply",
                "montgomery",
                False,
                "scalarMulByCombinedDAA: double and add in affine coordinates with inversions in batches; an "
                "addition is computed for every bit and stored for those that are set",
            ),
            "sign": Operation(
                "sign",
                "numbers",
                False,
                "sign_exec without its batched multiples: nonces given, inversions in batches, additions of "
                "2^i G; no check",
            ),
            "sign_as_benchmarked": Operation(
                "sign",
                "numbers",
                False,
                "sign_exec_for_random_inputs as its benchmark calls it, with the multiples of "
                "base_as_benchmarked",
            ),
            "verify": Operation(
                "verify",
                "word",
                False,
                "verify_exec without its batched multiples; compares e + x with r modulo p and adds points "
                "of which it made x alone",
            ),
            "verify_as_benchmarked": Operation(
                "verify",
                "word",
                False,
                "verify_exec_for_random_input as its benchmark calls it, with the multiples of "
                "base_as_benchmarked",
            ),
        },
        more_items=(1 << 22,),
    ),
    "ultrafast": Library(
        "secp256k1",
        {
            "base": Operation(
                "base",
                "compressed",
                False,
                "scalar_mul_generator_w8, and compressed points",
            ),
            "base_ct": Operation(
                "base",
                "compressed",
                True,
                "ct_generator_mul, which its calls for public keys use, and compressed points",
            ),
            "multiply": Operation("multiply", "compressed", False, "scalar_mul, and compressed points"),
            "multiply_ct": Operation("multiply", "compressed", True, "ct_scalar_mul, and compressed points"),
            "sign_ct": Operation(
                "sign", "numbers", True, "ct_ecdsa_sign: nonces by RFC 6979, low s; no check"
            ),
            "verify": Operation("verify", "byte", False, "ecdsa_verify of strictly parsed signatures"),
        },
    ),
}
