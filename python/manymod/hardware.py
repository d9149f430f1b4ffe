# SPDX-License-Identifier: Apache-2.0
"""The devices and variants of this build, and the number of CPU threads."""

from __future__ import annotations

from dataclasses import dataclass

from manymod import _core
from manymod.plan import OPERATIONS, checked_threads, clear_plans

__all__ = ["Device", "Variant", "devices", "get_threads", "set_threads", "variants"]


@dataclass(frozen=True)
class Device:
    """One device.

    Attributes:
        name: ``"cpu"``, ``"cuda:0"``.
        model: the maker's name of it.
        backend: ``"cpu"`` or ``"cuda"``.
        features: instruction sets or compute capability; also ``"unknown-in-MANYMOD_HIDE_CPU:NAME"`` for
            each name in that environment variable that is no feature.
        units: CPUs this process may run on, or multiprocessors of a GPU.
        memory_bytes: physical memory, 0 if unknown.
    """

    name: str
    model: str
    backend: str
    features: tuple[str, ...]
    units: int
    memory_bytes: int


@dataclass(frozen=True)
class Variant:
    """One variant: technique + backend + shape.

    Attributes:
        name: what ``variant=`` takes, such as ``"scalar64.adx"``.
        technique: how it represents and multiplies numbers.
        backend: ``"cpu"`` or ``"cuda"``.
        public_ops: operations it offers in timing class public.
        secret_ops: operations it offers in timing class secret.
        min_bits: narrowest modulus in bits.
        max_bits: widest modulus in bits.
        instances: instances computed side by side by one thread or thread group.
        threads_per_instance: 1 on CPUs, lanes of a group on GPUs.
        needs: hardware features it needs.
        summary: one line about it.
        usable: whether it can run here.
        reason: why not, empty if usable.
    """

    name: str
    technique: str
    backend: str
    public_ops: tuple[str, ...]
    secret_ops: tuple[str, ...]
    min_bits: int
    max_bits: int
    instances: int
    threads_per_instance: int
    needs: tuple[str, ...]
    summary: str
    usable: bool
    reason: str


def devices() -> list[Device]:
    """All devices found; the CPU is the first.

    >>> devices()[0].name
    'cpu'
    """
    return [Device(**{**record, "features": tuple(record["features"].split())}) for record in _core.devices()]


def _operations(mask: int) -> tuple[str, ...]:
    return tuple(name for name, number in OPERATIONS.items() if mask >> number & 1)


def variants() -> list[Variant]:
    """All variants of this build, with whether and why not they can run here.

    >>> any(variant.usable and "powmod" in variant.secret_ops for variant in variants())
    True
    """
    return [
        Variant(
            **{
                **record,
                "public_ops": _operations(record["public_ops"]),
                "secret_ops": _operations(record["secret_ops"]),
                "needs": tuple(record["needs"].split()),
            }
        )
        for record in _core.variants()
    ]


def get_threads() -> int:
    """Number of CPU threads used where a call does not say: by default the CPUs this process may run on."""
    return _core.get_threads()


def set_threads(threads: int) -> int:
    """Set the number of CPU threads used where a call does not say.

    Args:
        threads: 1 to 1024; 0 restores the default.

    Returns:
        The new number.

    Raises:
        ValueError: if `threads` is out of range.
        TypeError: if `threads` is not an integer.
    """
    number = _core.set_threads(checked_threads(threads))
    clear_plans()
    return number
