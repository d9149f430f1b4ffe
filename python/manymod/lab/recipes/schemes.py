# SPDX-License-Identifier: Apache-2.0
"""Private operations of RSA, and points of the curves of paper 003, by calls of the public interface."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import manymod
from manymod._extras import missing_extra
from manymod.lab.catalogue import document
from manymod.lab.machine import Machine
from manymod.lab.model import RowError, Unavailable
from manymod.lab.recipes.params import Params, device_of, is_one_thread, threads_of
from manymod.lab.work import Plan, Work, sampler

__all__ = ["paper_curve", "point", "private_key", "rsa"]


#: Items for each thread of a CPU, and on a GPU: those of the tables in docs/performance.md.
RSA_ITEMS, RSA_ITEMS_ON_GPU = 64, 1 << 17
POINT_ITEMS, POINT_ITEMS_ON_GPU = 1024, 1 << 18
_SEED = 1


@functools.cache
def private_key(bits: int) -> Any:
    """A fresh key of the cryptography package, one for each size.

    Raises:
        Unavailable: if the package is not installed.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric import rsa as peer  # noqa: PLC0415 (optional)
    except ImportError:
        raise Unavailable(str(missing_extra("RSA", "bench"))) from None
    return peer.generate_private_key(65537, bits)


def rsa(params: Params, machine: Machine, _plan: Plan) -> list[Work]:
    """Whole private operations with one key, without padding: blinding, two powers, recombination, check."""
    from manymod.rsa import KeyRing, PrivateKey  # noqa: PLC0415 (a build may lack it)

    device, threads = device_of(params, machine), threads_of(params)
    try:
        key = PrivateKey.from_cryptography(private_key(params["bits"]))
    except (manymod.ManymodError, ValueError) as error:
        raise Unavailable(f"RSA-{params['bits']}: {error}") from error
    ring = KeyRing([key], device=device, threads=threads)
    default = RSA_ITEMS * threads if device == "cpu" else RSA_ITEMS_ON_GPU
    count, width = int(params.get("batch", default)), key.modulus_bytes
    numbers = np.random.default_rng(_SEED).integers(0, 256, (count, width), np.uint8)
    numbers[:, 0] = 0  # below the modulus
    results = ring.raw_private(numbers)
    if not np.array_equal(key.public_key().raw(results), numbers):
        raise RowError(f"RSA-{params['bits']}: a private operation is wrong")
    facts = {
        "device": device,
        "batch": count,
        "checked": count,
        "operations_per_call": count,
        **({"threads": threads} if device == "cpu" else {}),
    }
    call = functools.partial(ring.raw_private, numbers, out=results)
    return [Work(ring.variant_for(0, count), sampler(call, count, one_thread=is_one_thread(params)), facts)]


@functools.cache
def paper_curve(bits: int) -> Any:
    """The brainpool curve of a width of paper 003, with a = -3."""
    from manymod.ecc import Curve  # noqa: PLC0415 (only rows of curves need it)

    numbers = document("003")["curves"][str(bits)]
    x, y = (int(text, 16) for text in numbers["generator"])
    p, a, b, n = (int(numbers[name], 16) for name in "pabn")
    return Curve(p=p, a=a, b=b, n=n, generator=(x, y))


def _double(curve: Any, point: bytes) -> bytes:
    """2 P by the chord and tangent law in Python's integers."""
    numbers = document("003")["curves"][str(curve.field_bits)]
    p, a = int(numbers["p"], 16), int(numbers["a"], 16)
    width = curve.coordinate_bytes
    x, y = (int.from_bytes(point[at : at + width], "big") for at in (1, 1 + width))
    slope = (3 * x * x + a) * pow(2 * y, -1, p) % p
    u = (slope * slope - 2 * x) % p
    v = (slope * (x - u) - y) % p
    return b"\x04" + u.to_bytes(width, "big") + v.to_bytes(width, "big")


def point(params: Params, machine: Machine, _plan: Plan) -> list[Work]:
    """Sums (`add`), doublings (`twice`) and multiples of points, from affine points to affine points."""
    device, threads = device_of(params, machine), threads_of(params)
    curve = paper_curve(params["bits"])
    count = POINT_ITEMS * threads if device == "cpu" else POINT_ITEMS_ON_GPU
    source = np.random.default_rng(_SEED)
    scalars = source.integers(0, 256, (count, curve.scalar_bytes), np.uint8)
    options: dict[str, Any] = {"device": device, "threads": threads}
    points = curve.multiply(scalars, **options)
    sums = curve.add(points, points, **options)
    checked = range(0, count, count // 4)
    if any(sums[at].tobytes() != _double(curve, points[at].tobytes()) for at in checked):
        raise RowError(f"{curve.name}: a doubled point is wrong")
    if params["operation"] == "multiple":
        # k (2 P) = 2 (k P)
        multiples = curve.multiply(scalars, sums, **options)
        doubled = curve.add(*[curve.multiply(scalars, points, **options)] * 2, **options)
        if not np.array_equal(multiples, doubled):
            raise RowError(f"{curve.name}: a multiple of a point is wrong")
        call = functools.partial(curve.multiply, scalars, points, out=sums, **options)
    else:
        others = np.roll(points, 1, axis=0) if params["operation"] == "add" else points
        call = functools.partial(curve.add, points, others, out=sums, **options)
    facts = {
        "device": device,
        "batch": count,
        "checked": count if params["operation"] == "multiple" else len(checked),
        "operations_per_call": count,
        **({"threads": threads} if device == "cpu" else {}),
    }
    return [
        Work(f"curves, {params['operation']}", sampler(call, count, one_thread=is_one_thread(params)), facts)
    ]
