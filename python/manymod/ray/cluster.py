# SPDX-License-Identifier: Apache-2.0
"""The cluster that this process is connected to."""

from __future__ import annotations

import contextlib
import logging
import math
import os
from collections.abc import Iterator
from typing import Any

import ray

__all__ = ["connected", "gpu_share"]

#: Bytes of shared memory for objects of a cluster of our own: descriptions of pieces, never rows.
_OBJECT_STORE = 100 << 20
#: Ray has resources in units of 1 / 10,000.
_GRAIN = 10_000


@contextlib.contextmanager
def connected(*, quiet: bool = False) -> Iterator[None]:
    """Connect to a cluster: the one there is a connection to, that of RAY_ADDRESS, or one on this machine.

    A cluster on this machine has little shared memory, enough for `parquet_to_parquet`. A connection that is
    made here ends with the context.

    Args:
        quiet: Ray writes nothing to the terminal.

    Raises:
        ConnectionError: if there is no cluster at RAY_ADDRESS.
    """
    if ray.is_initialized():
        yield
        return
    settings: dict[str, Any] = {}
    if quiet:
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        settings = {"logging_level": logging.ERROR, "log_to_driver": False}
    if "RAY_ADDRESS" not in os.environ:
        settings |= {"address": "local", "object_store_memory": _OBJECT_STORE, "include_dashboard": False}
    try:
        ray.init(**settings)
    except ValueError as error:  # no address at all; of one that does not answer Ray raises a ConnectionError
        raise ConnectionError(f"the Ray cluster of RAY_ADDRESS: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def gpu_share(actors: int | None) -> float:
    """Return the share of a GPU that each of so many actors gets, 1 at most; 0: there is none.

    Args:
        actors: None: as many as there are GPUs.
    """
    total = int(ray.cluster_resources().get("GPU", 0))
    if not total:
        return 0.0
    together = math.ceil((actors or total) / total)
    return math.floor(_GRAIN / together) / _GRAIN
