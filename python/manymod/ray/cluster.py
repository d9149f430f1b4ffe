# SPDX-License-Identifier: Apache-2.0
"""The cluster that this process is connected to."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import warnings
from collections.abc import Iterator
from typing import Any

import ray

__all__ = ["connected", "gpu_share"]

#: Bytes of shared memory for objects of a cluster of our own: descriptions of pieces, never rows.
_OBJECT_STORE = 100 << 20
#: Ray's setting of how often it looks for a cluster at host:port. By default it does so 20 times, of up to 41
#: seconds each. At an address ray://host:port it gives up after 30 seconds.
_TRIES = "RAY_gcs_server_port_wait_time_s"
#: Ray has resources in units of 1 / 10,000.
_GRAIN = 10_000


@contextlib.contextmanager
def connected(*, quiet: bool = False) -> Iterator[None]:
    """Connect to a cluster: the one there is a connection to, that of RAY_ADDRESS, or one on this machine.

    A cluster on this machine has little shared memory, enough for `parquet_to_parquet`. A connection that is
    made here ends with the context.

    Nobody answering at RAY_ADDRESS is an error within a minute: Ray waits for 41 seconds, and for 30 at an
    address ray://host:port. Its own settings change that: RAY_gcs_server_port_wait_time_s, the number of
    times that it waits, and RAY_py_gcs_connect_timeout_s, or RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S.

    Args:
        quiet: Ray's Python code writes nothing to the terminal.

    Raises:
        ConnectionError: if there is no cluster at RAY_ADDRESS, or none that this version of Ray can join.
    """
    if ray.is_initialized():
        yield
        return
    settings: dict[str, Any] = {}
    if quiet:
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        settings = {"logging_level": logging.ERROR, "log_to_driver": False}
    address = os.environ.get("RAY_ADDRESS", "")
    if address not in {"", "local"}:
        _join(address, settings, quiet)
    else:
        local = {"address": "local", "object_store_memory": _OBJECT_STORE, "include_dashboard": False}
        ray.init(**settings, **local)
    try:
        yield
    finally:
        ray.shutdown()


def _join(address: str, settings: dict[str, Any], quiet: bool) -> None:
    """Connect to the cluster of RAY_ADDRESS."""
    with _one_try(), warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore")  # what Ray warns of is in its error, too
        try:
            ray.init(**settings)
        except (ConnectionError, RuntimeError, ValueError) as error:  # ValueError: it is no address at all
            raise ConnectionError(f"the Ray cluster of RAY_ADDRESS, {address}: {error}") from error


@contextlib.contextmanager
def _one_try() -> Iterator[None]:
    """Let Ray look for a cluster once, unless the environment says how often."""
    if _TRIES in os.environ:
        yield
        return
    os.environ[_TRIES] = "1"
    try:
        yield
    finally:
        del os.environ[_TRIES]


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
