# SPDX-License-Identifier: Apache-2.0
"""Rates of sums and products of lists of mpz, in turns with loops of gmpy2."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import manymod
from manymod.cli.bench.contenders import elapsed
from manymod.cli.bench.elementwise import Case, Settings, operands_of

__all__ = ["LOOPS", "measure_lists"]

#: What a program of gmpy2 does with lists x, y, z and moduli n.
LOOPS: dict[str, Callable[[Any, Any, Any, Any], list[Any]]] = {
    "addmod": lambda x, y, _, n: [(a + b) % m for a, b, m in zip(x, y, n, strict=True)],
    "submod": lambda x, y, _, n: [(a - b) % m for a, b, m in zip(x, y, n, strict=True)],
    "negmod": lambda x, _, __, n: [-a % m for a, m in zip(x, n, strict=True)],
    "mulmod": lambda x, y, _, n: [a * b % m for a, b, m in zip(x, y, n, strict=True)],
    "sqrmod": lambda x, _, __, n: [a * a % m for a, m in zip(x, n, strict=True)],
    "fmamod": lambda x, y, z, n: [(a * b + c) % m for a, b, c, m in zip(x, y, z, n, strict=True)],
}


def measure_lists(case: Case, settings: Settings) -> dict[str, Any]:
    """Items a second of a call and of a loop, medians of three turns at least; results are compared."""
    import gmpy2  # noqa: PLC0415 - an extra

    lists = [
        [gmpy2.mpz(value) for value in manymod.IntArray.from_limbs(limbs).to_ints()]
        for limbs in operands_of(case, settings.items, settings.seed)
    ]
    operands, moduli = lists[:-1], lists[-1]
    repeated = moduli * settings.items if case.shared else moduli
    x, y, z = operands
    loop = LOOPS[case.op]
    kind: dict[str, Any] = {"modulus": moduli[0]} if case.shared else {"modulus_bits": case.bits}
    plan: Callable[..., Any] = manymod.Plan(case.op, device="cpu", threads=settings.threads, **kind)
    used = [*operands[: case.arity], *(() if case.shared else (moduli,))]
    if plan(*used) != loop(x, y, z, repeated):
        raise ArithmeticError(f"{case.op} {case.bits} bits: lists have another result than gmpy2")
    times: list[tuple[float, float]] = []
    while len(times) < 3 or sum(map(sum, times)) < settings.seconds:
        own, peer = elapsed(lambda: plan(*used)), elapsed(lambda: loop(x, y, z, repeated))
        times.append((own[0], peer[0]))
    ours, theirs = (settings.items / statistics.median(column) for column in zip(*times, strict=True))
    return {
        "op": case.op,
        "bits": case.bits,
        "modulus": "shared" if case.shared else "each",
        "arrays": "lists of mpz",
        "items": settings.items,
        "items_per_second": ours,
        "gmpy2_items_per_second": theirs,
        "vs_gmpy2": ours / theirs,
        "checked": True,
    }
