# SPDX-License-Identifier: Apache-2.0
"""Whether times tell secrets: calls on two kinds of secrets in random order, compared by Welch's t.

After Reparaz, Balasch, Verbauwhede: Dude, is my code constant time? DATE 2017.
"""

from __future__ import annotations

import gc
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod.rsa import KeyRing, Padding, PrivateKey

__all__ = ["NOTHING_SEEN", "largest_t", "measure_timing"]

#: Where times do not depend on the kind, |t| is below this in all but one of 10^5 comparisons.
NOTHING_SEEN = 4.5
#: Shares of the times that are compared, the shortest of them: interrupts make the longest ones.
_CROPS = (0.5, 0.7, 0.9, 0.97, 0.99, 1.0)
#: Inputs of each kind, used cyclically.
_INPUTS = 64


@dataclass(frozen=True)
class _Comparison:
    """One call, and inputs of two kinds for it."""

    name: str
    kinds: tuple[str, str]
    call: Callable[[Any], Any]
    inputs: tuple[list[Any], list[Any]]


def _welch(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    if min(len(a), len(b)) < 2:
        return 0.0
    variance = a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
    return float((a.mean() - b.mean()) / np.sqrt(variance)) if variance > 0 else 0.0


def largest_t(times: NDArray[np.float64], kinds: NDArray[np.bool_]) -> float:
    """Welch's t of the times of one kind and the other, the largest in magnitude of several crops."""
    found = [
        _welch(times[short & ~kinds], times[short & kinds])
        for short in (times <= np.quantile(times, crop) for crop in _CROPS)
    ]
    return max(found, key=abs)


def _times(comparison: _Comparison, samples: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    kinds = np.random.default_rng().integers(2, size=samples).astype(np.bool_)
    times = np.empty(samples)
    for position, kind in enumerate(kinds.tolist()):
        given = comparison.inputs[kind][position % _INPUTS]
        begin = time.perf_counter_ns()
        comparison.call(given)
        times[position] = time.perf_counter_ns() - begin
    return times, kinds


def _random_numbers(key: PrivateKey, batch: int) -> list[bytes]:
    return [secrets.randbelow(key.n).to_bytes(key.modulus_bytes, "big") for _ in range(batch)]


def _power_comparison(bits: int, batch: int, secret: bool) -> _Comparison:
    """The powers of a private operation: by exponents with a single one, and of ones alone.

    Variable-time powers do take different times: the control that shows whether a difference would be seen.
    """
    half = bits // 2
    modulus = secrets.randbits(half) | 1 << (half - 1) | 1

    def inputs(exponent: int) -> list[Any]:
        return [([secrets.randbelow(modulus) for _ in range(batch)], exponent) for _ in range(_INPUTS)]

    return _Comparison(
        "power" if secret else "public power (control)",
        ("one 1", "all 1"),
        lambda given: manymod.powmod(given[0], given[1], modulus, secret=secret, device="cpu", threads=1),
        (inputs(1 << (half - 1)), inputs((1 << half) - 1)),
    )


def _raw_comparison(key: PrivateKey, batch: int, blinding: bool) -> _Comparison:
    ring = KeyRing([key], device="cpu", threads=1, blinding=blinding)
    fixed = (2).to_bytes(key.modulus_bytes, "big")
    return _Comparison(
        "raw" if blinding else "raw, not blinded",
        ("fixed number", "random"),
        ring.raw_private,
        (
            [[bytes(bytearray(fixed)) for _ in range(batch)] for _ in range(_INPUTS)],
            [_random_numbers(key, batch) for _ in range(_INPUTS)],
        ),
    )


def _spoiled(key: PrivateKey, ciphertexts: list[bytes], index: int) -> list[bytes]:
    """Ciphertexts of the same encoded messages with one bit of a byte flipped."""
    encoded = [bytearray(number) for number in key.raw(ciphertexts)]
    for number in encoded:
        number[index] ^= 1
    return list(key.public_key().raw([bytes(number) for number in encoded]))


def _oaep_comparison(key: PrivateKey, batch: int) -> _Comparison:
    """Two flaws: a first byte that is not 0, which Manger's attack looks for, and wrong hashes."""
    ring = KeyRing([key], device="cpu", threads=1)
    how = Padding("oaep")
    good = [key.public_key().encrypt([b"secret"] * batch, how) for _ in range(_INPUTS)]
    return _Comparison(
        "OAEP",
        ("first byte", "hash"),
        lambda given: ring.decrypt(given, None, how, errors="status"),
        ([_spoiled(key, each, 0) for each in good], [_spoiled(key, each, -1) for each in good]),
    )


def _pkcs1v15_comparison(key: PrivateKey, batch: int) -> _Comparison:
    ring = KeyRing([key], device="cpu", threads=1)
    public = key.public_key()
    return _Comparison(
        "PKCS#1 v1.5",
        ("good padding", "bad"),
        lambda given: ring.decrypt(given, None, "pkcs1v15"),
        (
            [public.encrypt([b"secret"] * batch, "pkcs1v15") for _ in range(_INPUTS)],
            [_random_numbers(key, batch) for _ in range(_INPUTS)],
        ),
    )


def _comparisons(key: PrivateKey, batch: int) -> list[_Comparison]:
    return [
        _power_comparison(key.key_size, batch, secret=False),
        _power_comparison(key.key_size, batch, secret=True),
        _raw_comparison(key, batch, blinding=True),
        _raw_comparison(key, batch, blinding=False),
        _oaep_comparison(key, batch),
        _pkcs1v15_comparison(key, batch),
    ]


def _row(comparison: _Comparison, bits: int, batch: int, samples: int) -> dict[str, Any]:
    _times(comparison, _INPUTS)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        times, kinds = _times(comparison, samples)
    finally:
        if was_enabled:
            gc.enable()
    return {
        "operation": comparison.name,
        "bits": bits,
        "batch": batch,
        "kinds": list(comparison.kinds),
        "samples": [int((~kinds).sum()), int(kinds.sum())],
        "median_us": [float(np.median(times[kinds == kind])) / 1e3 for kind in (False, True)],
        "t": largest_t(times, kinds),
    }


def measure_timing(key: PrivateKey, batches: Sequence[int], samples: int) -> list[dict[str, Any]]:
    """Rows of all comparisons, on one thread of the CPU."""
    return [
        _row(comparison, key.key_size, batch, samples)
        for batch in batches
        for comparison in _comparisons(key, batch)
    ]
