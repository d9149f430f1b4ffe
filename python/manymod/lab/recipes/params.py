# SPDX-License-Identifier: Apache-2.0
"""Parameters of a way to measure (`Row.measures`), as recipes read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import manymod
from manymod.lab.machine import Machine

__all__ = ["Params", "device_of", "is_one_thread", "threads_of"]

Params = Mapping[str, Any]


def threads_of(params: Params) -> int:
    """CPU threads of a call."""
    return int(params.get("threads") or manymod.get_threads())


def is_one_thread(params: Params) -> bool:
    """Whether a call runs on one thread of the CPU alone, so that its processor time is its time."""
    return bool(params["on"] == "cpu" and threads_of(params) == 1)


def device_of(params: Params, machine: Machine) -> str:
    """Name of the device that a call runs on.

    Raises:
        Unavailable: if it is a GPU and there is none that could be used.
    """
    return "cpu" if params["on"] == "cpu" else machine.require_gpu().name
