# SPDX-License-Identifier: Apache-2.0
"""Powers, chains of multiplications, and products modulo n, by calls of the public interface."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import manymod
from manymod._limbs import limbs_for
from manymod.cli.bench.contenders import elapsed
from manymod.cli.bench.operands import full_length, odd_moduli, residues
from manymod.cli.tune.facts import threads_per_instance
from manymod.lab.limits import Operations, cpu_limit, gpu_limit, power_operations
from manymod.lab.machine import Machine
from manymod.lab.model import Unavailable
from manymod.lab.recipes.operands import check, integers, placed
from manymod.lab.recipes.params import Params, device_of, is_one_thread, threads_of
from manymod.lab.work import Plan, Sampler, Work, sampler

__all__ = ["chain", "power", "product"]

#: Stands for the library's own choice where a technique's name is expected.
LIBRARY = "library"
#: Steps of a chain, as in figure 8 of the two-pass paper.
STEPS = {128: 10000}
USUAL_STEPS = 1000
#: Distance in bits of the ones in the exponent of a chain with multiplications: no window of up to so many
#: bits has two of them.
SPACING = 8
#: Items for each thread of a CPU, by width: whole vectors, of which some are in flight.
ITEMS_PER_THREAD = {1024: 64, 2048: 32}
FEWEST_ITEMS = 16
#: Items for each thread of one product, which is short.
ITEMS_PER_CALL = 1024
#: First number of items on a GPU, the factor between numbers that are tried, and the gain that ends it.
FIRST_ON_GPU, STEP, FULL = 8192, 4, 1.05
MOST_ITEMS = 1 << 20
#: Variants of a GPU that take this many times as long as the best for the first number stay behind.
NEAR = 2.0
MOST_BYTES = 1 << 28
_SEED = 1


def _variants(params: Params, op: str, machine: Machine) -> list[str | None]:
    """Names of variants that can run a row here; None is the library's choice.

    Raises:
        Unavailable: if there are none; the message says what would be needed.
    """
    bits, wanted = params["bits"], params.get("variants")
    if params["on"] == "cuda":
        machine.require_gpu()
    techniques = params.get("techniques", ())
    if LIBRARY in techniques:
        return [None]
    known = [
        variant
        for variant in manymod.variants()
        if variant.backend == params["on"]
        and (variant.name in wanted if wanted else variant.technique in techniques)
        and ("form" not in params or f".{params['form']}." in variant.name)
        and params.get("threads_per_instance", variant.threads_per_instance) == variant.threads_per_instance
    ]
    named = ", ".join(wanted or techniques)
    if not known:
        raise Unavailable(f"this build has no {named} for {params['on']}: comparison kernels left out?")
    fitting = [
        variant
        for variant in known
        if op in (variant.secret_ops if params.get("secret") else variant.public_ops)
        and variant.min_bits <= bits <= variant.max_bits
    ]
    if not fitting:
        raise Unavailable(f"{named} does not compute {op} at {bits} bits")
    usable = [variant.name for variant in fitting if variant.usable]
    if not usable:
        raise Unavailable(f"{fitting[0].name}: {fitting[0].reason}")
    return list(usable)


def _counts(params: Params, machine: Machine) -> Iterator[int]:
    """Numbers of items to try, upwards; one alone where the row says how many."""
    if "batch" in params:
        yield int(params["batch"])
    elif params["on"] == "cpu":
        yield threads_of(params) * next(
            (items for most, items in ITEMS_PER_THREAD.items() if params["bits"] <= most), FEWEST_ITEMS
        )
    elif "per_multiprocessor" in params:
        yield int(params["per_multiprocessor"]) * machine.require_gpu().units
    else:
        count = FIRST_ON_GPU
        while count <= MOST_ITEMS and count * params["bits"] // 8 <= MOST_BYTES:
            yield count
            count *= STEP


#: A call, and what compares some items of its result and tells how many.
_Call = tuple[Callable[[], Any], Callable[[Any], int]]
#: From a number of items to a call that computes them.
_Make = Callable[[int], _Call]


def _full(make: _Make, params: Params, machine: Machine, plan: Plan) -> tuple[int, Callable[[], Any], int]:
    """The number of items at which the rate grows no more, its call, and how many results were compared.

    Raises:
        Unavailable: if one call takes longer than it may.
    """
    best: tuple[float, int, Callable[[], Any], int] | None = None
    counts = list(_counts(params, machine))
    for count in counts:
        call, compare = make(count)
        taken, result = elapsed(call)
        checked = compare(result)
        if taken > plan.longest and len(counts) == 1:
            raise Unavailable(f"one call takes longer than {plan.longest:g} s, the limit of this run")
        if len(counts) > 1:
            taken, _ = elapsed(call)
        rate = count / taken
        grows = best is None or rate > best[0] * FULL
        if best is None or rate > best[0]:
            best = (rate, count, call, checked)
        if not grows or taken * STEP > plan.longest:
            break
    assert best is not None  # noqa: S101 (there is at least one number of items)
    return best[1:]


def _limit(params: Params, name: str, operation: str, machine: Machine) -> Callable[[float], float | None]:
    """Operations a second by the clock in MHz."""
    bits, per_operation = params["bits"], params.get("powers_per_operation", 1)
    counts = {"power": power_operations(bits), "multiply": Operations(1, 0), "square": Operations(0, 1)}
    if params["on"] == "cpu":
        return lambda _mhz: _divided(cpu_limit(operation, bits, threads_of(params)), per_operation)
    units = machine.require_gpu().units
    return lambda mhz: gpu_limit(name, bits, counts[operation], units, mhz) if operation in counts else None


def _sampler(params: Params, call: Callable[[], Any], operations: float) -> Sampler:
    return sampler(call, operations, one_thread=is_one_thread(params))


def _divided(value: float | None, by: float) -> float | None:
    return None if value is None else value / by


def _facts(params: Params, device: str, count: int, checked: int, **more: Any) -> dict[str, Any]:
    threads = {"threads": threads_of(params)} if device == "cpu" else {}
    return {"device": device, "batch": count, "checked": checked, **threads, **more}


def _plan(op: str, params: Params, variant: str | None, device: str) -> manymod.Plan:
    return manymod.Plan(
        op,
        modulus_bits=params["bits"],
        secret=bool(params.get("secret")),
        device=device,
        variant=variant,
        threads=threads_of(params),
    )


def _caller(plan: manymod.Plan, operands: Sequence[Any]) -> Callable[[], Any]:
    """A call that keeps its last result as `result`."""
    kept: dict[str, Any] = {}

    def call() -> Any:
        kept["out"] = plan(*operands, out=kept.get("out"))
        return kept["out"]

    return call


def _half_weight(bits: int) -> int:
    """An exponent of `bits` bits, half of which are 1."""
    places = np.random.default_rng(_SEED).permutation(bits - 1)[: bits // 2 - 1]
    return sum(1 << int(place) for place in places) | 1 << (bits - 1)


@functools.lru_cache(maxsize=2)
def _power_operands(bits: int, count: int, device: str, shared_exponent: bool) -> tuple[Any, ...]:
    """Base, exponent and modulus on the host, and as a plan takes them; alike for all variants."""
    source = np.random.default_rng(_SEED)
    x, n = residues(source, count, bits), odd_moduli(source, count, bits)
    if shared_exponent:
        exponent = _half_weight(bits)
        y = np.frombuffer(exponent.to_bytes(8 * limbs_for(bits), "little"), np.uint64).reshape(1, -1)
        return (x, y, n), [placed(x, device), exponent, placed(n, device)]
    y = full_length(source, count, bits)
    return (x, y, n), [placed(array, device) for array in (x, y, n)]


def _powers(params: Params, device: str, planned: manymod.Plan, count: int) -> _Call:
    shared = bool(params.get("shared_exponent"))
    (x, y, n), operands = _power_operands(params["bits"], count, device, shared)

    def right(rows: Sequence[int]) -> list[int]:
        return list(map(pow, integers(x, rows), integers(y, rows), integers(n, rows)))

    return _caller(planned, operands), lambda result: check(planned.variant, result, right, count)


def _hopeful(
    planned: Sequence[manymod.Plan], make: Callable[[manymod.Plan, int], _Call]
) -> list[manymod.Plan]:
    """Of a GPU's variants those that are near the best for some items: only they are tried with more."""
    if len(planned) <= 2:
        return list(planned)
    taken = []
    for one in planned:
        call, _ = make(one, FIRST_ON_GPU)
        call()
        taken.append(elapsed(call)[0])
    return [one for one, seconds in zip(planned, taken, strict=True) if seconds <= NEAR * min(taken)]


def power(params: Params, machine: Machine, plan: Plan) -> list[Work]:
    """Powers with a modulus for each item and exponents as long, or one exponent of which half is ones.

    `powers_per_operation`: two of half the width stand for a private operation of RSA.
    """
    device = device_of(params, machine)
    per_operation = int(params.get("powers_per_operation", 1))
    plans = [_plan("powmod", params, name, device) for name in _variants(params, "powmod", machine)]
    make = functools.partial(_powers, params, device)
    works = []
    for planned in plans if device == "cpu" else _hopeful(plans, make):
        count, call, checked = _full(functools.partial(make, planned), params, machine, plan)
        name = planned.variant_for(count)
        for _ in range(int(params.get("warm_up", 0))):
            call()
        facts = _facts(params, device, count, checked, operations_per_call=count / per_operation)
        if device != "cpu":
            facts["threads_per_instance"] = threads_per_instance(name)
        limit = _limit(params, name, "power", machine)
        works.append(Work(name, _sampler(params, call, count / per_operation), facts, limit))
    return works


def _chain_exponents(steps: int) -> tuple[int, int]:
    """Exponents of so many squarings each, without and with multiplications: one for every `SPACING` bits.

    >>> [bin(e) for e in _chain_exponents(16)]
    ['0b10000000000000000', '0b10000000100000001']
    """
    return 1 << steps, sum(1 << at for at in range(0, steps + 1, SPACING))


def _difference(with_products: Callable[[], Any], squares: Callable[[], Any], products: float) -> Any:
    """Samples of multiplications: what a chain with them takes longer than one without."""

    def sample(seconds: float) -> float:
        calls, difference, start = 0, 0.0, time.perf_counter()
        while True:
            begin = time.perf_counter()
            with_products()
            middle = time.perf_counter()
            squares()
            end = time.perf_counter()
            calls += 1
            difference += (middle - begin) - (end - middle)
            if end - start >= seconds:
                # Noise may exceed what is measured: such a sample says nothing, and counts as slow.
                return calls * products / max(difference, (end - start) / 64)

    return sample


def chain(params: Params, machine: Machine, plan: Plan) -> list[Work]:
    """Chains of squarings, or of multiplications, in Montgomery form (`operation`): powers by one exponent.

    x^(2^k) is k squarings. With a one in every eighth bit of the exponent there are k / 8 multiplications,
    too, whatever the sliding window, and the difference of both powers is theirs.
    """
    bits, device = params["bits"], device_of(params, machine)
    steps = STEPS.get(bits, USUAL_STEPS) // SPACING * SPACING
    exponents = dict(zip(("square", "multiply"), _chain_exponents(steps), strict=True))
    works = []
    for variant in _variants(params, "powmod", machine):
        planned = _plan("powmod", params, variant, device)

        def make(count: int, kind: str, planned: manymod.Plan = planned) -> _Call:
            source = np.random.default_rng(_SEED)
            x, n = residues(source, count, bits), odd_moduli(source, count, bits)
            call = _caller(planned, [placed(x, device), exponents[kind], placed(n, device)])

            def right(rows: Sequence[int]) -> list[int]:
                return [
                    pow(a, exponents[kind], m)
                    for a, m in zip(integers(x, rows), integers(n, rows), strict=True)
                ]

            return call, lambda result: check(planned.variant, result, right, count)

        squares_of = functools.partial(make, kind="square")
        count, squares, checked = _full(squares_of, params, machine, plan)
        name = planned.variant_for(count)
        facts = _facts(params, device, count, checked, steps=steps, operations_per_call=count * steps)
        limit = _limit(params, name, params["operation"], machine)
        if params["operation"] == "square":
            works.append(Work(name, _sampler(params, squares, count * steps), facts, limit))
            continue
        with_products, compare = make(count, "multiply")
        facts["checked"] += compare(with_products())
        facts["derived"] = "difference of two chains"
        products = count * steps / SPACING
        works.append(Work(name, _difference(with_products, squares, products), facts, limit))
    return works


def product(params: Params, machine: Machine, plan: Plan) -> list[Work]:
    """Calls of `addmod` or `mulmod`, from numbers to numbers, with one modulus for all items."""
    bits, op, device = params["bits"], params["op"], device_of(params, machine)
    params = {"batch": ITEMS_PER_CALL * threads_of(params), **params}
    (modulus,) = integers(odd_moduli(np.random.default_rng(_SEED), 1, bits), [0])
    works = []
    for variant in _variants(params, op, machine):
        planned = manymod.Plan(
            op, modulus=modulus, device=device, variant=variant, threads=threads_of(params)
        )

        def make(count: int, planned: manymod.Plan = planned) -> _Call:
            source = np.random.default_rng(_SEED)
            x, y = (residues(source, count, bits) for _ in range(2))
            call = _caller(planned, [placed(x, device), placed(y, device)])

            def right(rows: Sequence[int]) -> list[int]:
                pairs = zip(integers(x, rows), integers(y, rows), strict=True)
                return [(a * b if op == "mulmod" else a + b) % modulus for a, b in pairs]

            return call, lambda result: check(planned.variant, result, right, count)

        count, call, checked = _full(make, params, machine, plan)
        name = planned.variant_for(count)
        facts = _facts(params, device, count, checked, operations_per_call=count)
        works.append(Work(name, _sampler(params, call, count), facts, _limit(params, name, op, machine)))
    return works
