# SPDX-License-Identifier: Apache-2.0
"""Long work on one wide operand stops: Ctrl-C and exceptions of `progress` are looked for in its middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import manymod

N = 2**16384 - 105
WIDE = 2**100_000_000 - 12345

CALLS: dict[str, Callable[..., Any]] = {
    "base": lambda **how: manymod.powmod(WIDE, 3, N, **how),
    "base, secret": lambda **how: manymod.powmod(WIDE, 3, N, secret=True, **how),
    "bases": lambda **how: manymod.powmod([WIDE] * 8, 3, N, **how),
    "bases, secret": lambda **how: manymod.powmod([WIDE] * 8, 3, N, secret=True, **how),
    "base, even modulus": lambda **how: manymod.powmod(WIDE, 3, N - 1, **how),
    "sum": lambda **how: manymod.addmod([WIDE] * 4, WIDE, N, **how),
    "sum, secret": lambda **how: manymod.addmod(WIDE, 1, N, secret=True, **how),
    "product": lambda **how: manymod.mulmod([WIDE] * 4, WIDE, N, **how),
    "products": lambda **how: manymod.mulmod([WIDE] * 8, [7] * 8, N, **how),
    "inverse": lambda **how: manymod.invmod([WIDE] * 4, N, **how),
    "bases of products": lambda **how: manymod.multi_powmod([WIDE] * 4, [3] * 4, N, **how),
    "exponent": lambda **how: manymod.powmod(3, WIDE, N, **how),
    "exponents of products": lambda **how: manymod.multi_powmod([2, 3], [WIDE, WIDE - 1], N, **how),
}


class StopError(Exception):
    """Of the progress function."""


@pytest.mark.parametrize("name", CALLS)
def test_calls_stop_within_an_operand(name: str) -> None:
    """The callback that a call makes at its end comes too late to stop it."""
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        raise StopError

    with pytest.raises(StopError):
        CALLS[name](progress=stop)
    assert len(seen) == 1
    assert seen[0][0] < seen[0][1]
