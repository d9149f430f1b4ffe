# SPDX-License-Identifier: Apache-2.0
"""Rates of sums, differences, products and squares of arrays, beside a copy of the same bytes."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import manymod
from manymod._limbs import Limbs, limbs_for
from manymod.cli.bench.contenders import elapsed
from manymod.cli.bench.operands import odd_moduli, residues

__all__ = ["OPERATIONS", "SMALL_ITEMS", "Case", "Settings", "measure", "operands_of"]

#: Operations, the number of operands of each, and what Python computes.
OPERATIONS: dict[str, tuple[int, Callable[[int, int, int], int]]] = {
    "addmod": (2, lambda x, y, _: x + y),
    "submod": (2, lambda x, y, _: x - y),
    "negmod": (1, lambda x, _, __: -x),
    "mulmod": (2, lambda x, y, _: x * y),
    "sqrmod": (1, lambda x, _, __: x * x),
    "fmamod": (3, lambda x, y, z: x * y + z),
}
#: Items of a short call, all of whose results are checked.
SMALL_ITEMS = 1000


@dataclass(frozen=True)
class Case:
    """An operation, a width, a modulus kind, whether the arrays are in GPU memory, and the timing class."""

    op: str
    bits: int
    shared: bool
    resident: bool
    secret: bool = False

    @property
    def arity(self) -> int:
        """Operands beside the modulus."""
        return OPERATIONS[self.op][0]

    @property
    def limbs(self) -> int:
        """Limbs of a number."""
        return limbs_for(self.bits)

    @property
    def item_bytes(self) -> int:
        """Bytes of an item that are read and written."""
        return 8 * self.limbs * (self.arity + (1 if self.shared else 2))


@dataclass(frozen=True)
class Settings:
    """How to measure: for arrays in host memory, on `device`."""

    device: str
    items: int
    seconds: float
    seed: int = 1
    threads: int = 0


def operands_of(case: Case, count: int, seed: int) -> list[Limbs]:
    """Random x, y and z, below random odd moduli that have the length of the case."""
    source = np.random.default_rng(seed)
    operands = [residues(source, count, case.bits) for _ in range(3)]
    return [*operands, odd_moduli(source, 1 if case.shared else count, case.bits)]


def _median_seconds(call: Callable[[], Any], seconds: float) -> float:
    """The median of five calls at least, after one to warm up."""
    call()
    times: list[float] = []
    while len(times) < 5 or (sum(times) < seconds and len(times) < 1000):
        times.append(elapsed(call)[0])
    return statistics.median(times)


def _checked(case: Case, arrays: list[Limbs], answer: Limbs) -> None:
    """Compare the first and the last items, as many as a short call has, with Python's."""
    count = len(answer)
    chosen = sorted({*range(min(count, SMALL_ITEMS)), *range(max(0, count - SMALL_ITEMS), count)})
    x, y, z, n = (
        manymod.IntArray.from_limbs(np.ascontiguousarray(a[chosen] if len(a) > 1 else a)).to_ints()
        for a in arrays
    )
    found = manymod.IntArray.from_limbs(np.ascontiguousarray(answer[chosen])).to_ints()
    compute = OPERATIONS[case.op][1]
    for i, value in enumerate(found):
        if value != compute(x[i], y[i], z[i]) % n[i if len(n) > 1 else 0]:
            raise ArithmeticError(f"{case.op} {case.bits} bits: item {chosen[i]} is wrong")


def _timed(case: Case, settings: Settings, count: int) -> float:
    """Seconds of a call, whose results are checked."""
    arrays = operands_of(case, count, settings.seed)
    modulus: Any = manymod.IntArray.from_limbs(arrays[-1])
    operands: list[Any] = [manymod.IntArray.from_limbs(array) for array in arrays[: case.arity]]
    out: Any = manymod.IntArray.from_limbs(np.zeros((count, case.limbs), dtype=np.uint64))
    if case.shared:
        modulus = modulus.to_ints()[0]
    if case.resident:
        operands = [manymod.to_device(operand) for operand in operands]
        modulus = modulus if case.shared else manymod.to_device(modulus)
        out = manymod.to_device(out)
    used = list(operands)
    kind: dict[str, Any] = {"modulus": modulus} if case.shared else {"modulus_bits": case.bits}
    if not case.shared:
        used.append(modulus)
    device = "auto" if case.resident else settings.device
    plan = manymod.Plan(case.op, device=device, secret=case.secret, threads=settings.threads, **kind)
    seconds = _median_seconds(lambda: plan(*used, out=out), settings.seconds)
    _checked(case, arrays, out.numpy() if case.resident else out.limbs)
    return seconds


def measure(case: Case, settings: Settings) -> dict[str, Any]:
    """Items a second, bytes a second, and the microseconds of a call with `SMALL_ITEMS` items."""
    seconds = _timed(case, settings, settings.items)
    small = _timed(case, settings, SMALL_ITEMS)
    return {
        "op": case.op,
        "bits": case.bits,
        "modulus": "shared" if case.shared else "each",
        "arrays": "resident" if case.resident else "host",
        "timing": "secret" if case.secret else "public",
        "items": settings.items,
        "items_per_second": settings.items / seconds,
        "bytes_per_second": settings.items * case.item_bytes / seconds,
        "small_call_us": small * 1e6,
        "checked": True,
    }
