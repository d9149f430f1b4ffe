# SPDX-License-Identifier: Apache-2.0
"""Throughput of one operation at one width, alternating between all contenders."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import manymod
from manymod.cli.bench.contenders import elapsed
from manymod.cli.bench.gmp import GmpLibrary
from manymod.cli.bench.operands import Item, random_items

try:
    import gmpy2
except ImportError:
    gmpy2 = None

__all__ = ["INCLUDED", "Case", "Contender", "Settings", "measure"]

#: What the time of each contender includes.
INCLUDED = {
    "manymod": "one call, limb arrays in and out, 1 thread",
    "manymod_threads": "one call, limb arrays in and out, all threads asked for",
    "manymod_mpz": "one call, lists of mpz in and out, 1 thread",
    "gmpy2": "a loop of calls, mpz in and out",
    "python": "a loop of calls, int in and out",
    "gmp": "a loop of mpz_powm calls through ctypes on prepared mpz_t, call overhead included",
}


@dataclass(frozen=True)
class Case:
    """An operation (powmod, powmod_sec, mulmod), a width, and one modulus per item or a shared one."""

    op: str
    bits: int
    shared: bool

    @property
    def secret(self) -> bool:
        """Whether it is constant-time."""
        return self.op == "powmod_sec"

    @property
    def modulus(self) -> str:
        """Modulus kind."""
        return "shared" if self.shared else "each"

    def oracle(self, x: int, y: int, n: int) -> int:
        """The right answer."""
        return x * y % n if self.op == "mulmod" else pow(x, y, n)


@dataclass(frozen=True)
class Settings:
    """How to measure."""

    threads: int
    variant: str | None
    seconds: float
    repetitions: int
    check: bool
    gmp: GmpLibrary | None
    seed: int = 1


@dataclass
class Contender:
    """A library that takes its turn: `loop` computes `count` items, `read` makes ints of its answer."""

    name: str
    count: int
    loop: Callable[[], Any]
    read: Callable[[Any], Sequence[int]]
    free: Callable[[], None] = lambda: None


def _items(case: Case, count: int, seed: int) -> list[Item]:
    return random_items(case.bits, count, shared=case.shared, powers=case.op != "mulmod", seed=seed)


def _manymod_call(
    case: Case, operands: tuple[Any, Any, Any], threads: int, variant: str | None
) -> Callable[[], Any]:
    words: dict[str, Any] = {"threads": threads, "variant": variant}
    if case.op == "mulmod":
        return lambda: manymod.mulmod(*operands, **words)
    return lambda: manymod.powmod(*operands, secret=case.secret, **words)


def _limbs(case: Case, items: Sequence[Item]) -> tuple[Any, Any, Any]:
    x, y, n = zip(*items, strict=True)
    return (
        manymod.IntArray.from_ints(x),
        manymod.IntArray.from_ints(y),
        n[0] if case.shared else manymod.IntArray.from_ints(n),
    )


def _peer_loops(case: Case, settings: Settings) -> dict[str, Callable[[Sequence[Item]], Contender]]:
    def python(items: Sequence[Item]) -> Contender:
        if case.op == "mulmod":
            return Contender("python", len(items), lambda: [x * y % n for x, y, n in items], list)
        x, y, n = zip(*items, strict=True)
        return Contender("python", len(items), lambda: list(map(pow, x, y, n)), list)

    def with_gmpy2(items: Sequence[Item]) -> Contender:
        x, y, n = (list(map(gmpy2.mpz, column)) for column in zip(*items, strict=True))
        if case.op == "mulmod":
            return Contender(
                "gmpy2", len(items), lambda: list(map(operator.mod, map(operator.mul, x, y), n)), list
            )
        function = gmpy2.powmod_sec if case.secret else gmpy2.powmod
        return Contender("gmpy2", len(items), lambda: list(map(function, x, y, n)), list)

    def with_gmp(items: Sequence[Item]) -> Contender:
        library = settings.gmp
        assert library is not None  # noqa: S101 (offered only where there is a library)
        loop, free = library.power_loop(items, case.secret)
        return Contender("gmp", len(items), loop, lambda answer: list(map(library.value, answer)), free)

    peers: dict[str, Callable[[Sequence[Item]], Contender]] = {}
    if gmpy2 is not None:
        peers["gmpy2"] = with_gmpy2
    if settings.gmp is not None and case.op != "mulmod":
        peers["gmp"] = with_gmp
    if not case.secret:
        peers["python"] = python
    return peers


def _peers(case: Case, settings: Settings) -> list[Contender]:
    """Peers, each with about `seconds` of work."""
    contenders = []
    for make in _peer_loops(case, settings).values():
        trial = make(_items(case, 1, settings.seed))
        once = min(elapsed(trial.loop)[0] for _ in range(3))
        trial.free()
        count = max(1, min(20_000, round(settings.seconds / once)))
        contenders.append(make(_items(case, count, settings.seed)))
    return contenders


def _batch_size(case: Case, settings: Settings) -> int:
    """A batch with about `seconds` of work for one thread, a multiple of 64."""
    loop = _manymod_call(case, _limbs(case, _items(case, 64, settings.seed)), 1, settings.variant)
    loop()
    per_item = min(elapsed(loop)[0] for _ in range(3)) / 64
    return 64 * max(1, min(625, round(settings.seconds / per_item / 64)))


def _own(case: Case, settings: Settings, count: int) -> list[Contender]:
    items = _items(case, count, settings.seed)
    operands = _limbs(case, items)
    one = _manymod_call(case, operands, 1, settings.variant)
    contenders = [Contender("manymod", count, one, lambda answer: answer.to_ints())]
    if settings.threads > 1:
        many = _manymod_call(case, operands, settings.threads, settings.variant)
        contenders.append(Contender("manymod_threads", count, many, lambda answer: answer.to_ints()))
    if gmpy2 is not None:
        x, y, n = (list(map(gmpy2.mpz, column)) for column in zip(*items, strict=True))
        mpz = _manymod_call(case, (x, y, n[0] if case.shared else n), 1, settings.variant)
        contenders.append(Contender("manymod_mpz", count, mpz, list))
    return contenders


def _check(case: Case, contender: Contender, answer: Any, seed: int) -> None:
    values = contender.read(answer)
    items = _items(case, contender.count, seed)
    for index in {0, contender.count // 2, contender.count - 1}:
        if int(values[index]) != case.oracle(*items[index]):
            raise ArithmeticError(f"{contender.name}: {case.op} {case.bits} bits: item {index} is wrong")


def _latency_us(case: Case, settings: Settings) -> float:
    """Microseconds of a call with one item, limb arrays in and out."""
    loop = _manymod_call(case, _limbs(case, _items(case, 1, settings.seed)), 1, settings.variant)
    times = [elapsed(loop)[0] for _ in range(20)]
    return statistics.median(times) * 1e6


def measure(case: Case, settings: Settings) -> dict[str, Any]:
    """Rates (items a second, medians), ratios (medians over the repetitions), batch size and latency."""
    batch = _batch_size(case, settings)
    contenders = [*_own(case, settings, batch), *_peers(case, settings)]
    rates: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for repetition in range(settings.repetitions + 1):
        for contender in contenders:
            taken, answer = elapsed(contender.loop)
            if repetition:
                rates[contender.name].append(contender.count / taken)
            elif settings.check:
                _check(case, contender, answer, settings.seed)
    for contender in contenders:
        contender.free()
    return {
        "op": case.op,
        "bits": case.bits,
        "modulus": case.modulus,
        "batch": batch,
        "rates": {name: statistics.median(values) for name, values in rates.items()},
        "samples": {contender.name: contender.count for contender in contenders},
        "ratios": _ratios(rates),
        "latency_us": _latency_us(case, settings),
        "checked": settings.check,
    }


def _ratios(rates: dict[str, list[float]]) -> dict[str, float]:
    pairs = {
        "mpz_vs_gmpy2": ("manymod_mpz", "gmpy2"),
        "limbs_vs_gmpy2": ("manymod", "gmpy2"),
        "limbs_vs_gmp": ("manymod", "gmp"),
        "limbs_vs_python": ("manymod", "python"),
        "threads_vs_one": ("manymod_threads", "manymod"),
    }
    return {
        name: statistics.median(a / b for a, b in zip(rates[own], rates[peer], strict=True))
        for name, (own, peer) in pairs.items()
        if own in rates and peer in rates
    }
