# SPDX-License-Identifier: Apache-2.0
"""Facts of variants, from the registry, by name."""

from __future__ import annotations

import functools

import manymod

__all__ = ["comparison_only", "technique", "threads_per_instance", "wants_fast_doubles"]


@functools.cache
def _variants() -> dict[str, manymod.Variant]:
    return {variant.name: variant for variant in manymod.variants()}


def technique(name: str) -> str:
    """Return a variant's technique; empty for any other name, such as that of the CPU's times."""
    variant = _variants().get(name)
    return "" if variant is None else variant.technique


def threads_per_instance(name: str) -> int:
    """Return the threads that compute one instance."""
    return _variants()[name].threads_per_instance


def comparison_only(name: str) -> bool:
    """Return whether a variant is registered to be compared with others."""
    variant = _variants().get(name)
    return variant is not None and variant.comparison_only


def wants_fast_doubles(name: str) -> bool:
    """Return whether a variant is left out where FP64 is much slower than FP32."""
    variant = _variants().get(name)
    return variant is not None and variant.wants_fast_doubles
