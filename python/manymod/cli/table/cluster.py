# SPDX-License-Identifier: Apache-2.0
"""`--ray`: a table command whose rows are computed by the actors of a Ray cluster, from files to files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from manymod import tables
from manymod._starting import EndsAtOnce
from manymod.cli.interrupt import InterruptGuard
from manymod.cli.options import STANDARD_STREAM, Option
from manymod.cli.progress import RowProgress
from manymod.errors import DeviceError

__all__ = ["RAY_OPTIONS", "Cluster", "ClusterRun", "cluster_of"]

RAY_OPTIONS: list[Option] = [
    click.option(
        "--ray",
        is_flag=True,
        help="Compute in a Ray cluster, that of RAY_ADDRESS or one on this machine. TABLE is a Parquet file "
        "or a folder of them, and OUT becomes a folder of them.",
    ),
    click.option(
        "--ray-workers",
        type=click.IntRange(1),
        metavar="N",
        help="Actors of --ray, of --threads CPU threads (1 by default), which share the GPUs; "
        "else as many as there is room for.",
    ),
]


@dataclass(frozen=True)
class Cluster:
    """What the options say about actors.

    Attributes:
        count: their number; None: as many as there is room for.
        threads: CPU threads of each.
        gpus: whether each has a GPU; None: if there are any.
    """

    count: int | None
    threads: int
    gpus: bool | None


def cluster_of(options: Mapping[str, Any]) -> Cluster | None:
    """Return what the options of a table command say about a cluster, checked; None without `--ray`."""
    if not options["ray"]:
        if options["ray_workers"] is not None:
            raise click.UsageError("--ray-workers is for --ray")
        return None
    if STANDARD_STREAM in {options["table"], options["output"]}:
        raise click.UsageError("--ray reads and writes files, no standard streams")
    for name in ("table", "output"):
        _check_parquet(options[name], options["input_format" if name == "table" else "output_format"])
    if options["output"].exists():
        raise click.UsageError(f"{options['output']} exists, and --ray makes a folder there: remove it first")
    if options["output"].resolve().is_relative_to(options["table"].resolve()):
        raise click.UsageError(f"{options['output']} would be among the files of TABLE: write elsewhere")
    device: str = options["device"]
    if device.startswith("cuda:"):
        raise click.UsageError("--ray gives every actor a GPU of its own: --device cuda")
    gpus = {"auto": None, "cuda": True}.get(device, False)
    return Cluster(options["ray_workers"], options["threads"] or 1, gpus)


def _check_parquet(path: Path, given: str | None) -> None:
    found = given or tables.EXTENSIONS.get(path.suffix.lower(), "parquet")
    if found != "parquet":
        raise click.UsageError(f"--ray is for Parquet, and {path} is {found}")


class ClusterRun:
    """A run in a cluster.

    Args:
        cluster: its actors.
        arguments: keywords of `manymod.ray.parquet_to_parquet`.
        progress: whether a bar is shown.
    """

    def __init__(self, cluster: Cluster, arguments: Mapping[str, Any], progress: bool) -> None:
        self._cluster = cluster
        self._arguments = arguments
        self._progress = progress
        self._done = 0
        self._finished = False

    def run(self, job: tables.Job) -> tables.Tally:
        """Run a job, and return what became of it."""
        bar = RowProgress(Console(stderr=True), job.name, self._progress)

        def advance(done: int, total: int | None) -> None:
            self._done = done
            bar(done, total)

        # The package is imported only where it is asked for, and says what to install.
        with EndsAtOnce():
            from manymod.ray import Workers, connected, gpu_share, parquet_to_parquet  # noqa: PLC0415

        cluster = self._cluster
        with InterruptGuard() as guard, connected(quiet=True), bar:
            share = gpu_share(cluster.count)
            if cluster.gpus and not share:
                raise DeviceError("the Ray cluster has no GPU")
            gpus = 0.0 if cluster.gpus is False else share
            workers = Workers(count=cluster.count, threads=cluster.threads, gpus=gpus)
            tally = parquet_to_parquet(job, workers=workers, progress=advance, **self._arguments)
            self._finished = True
            guard.ignore()
        return tally

    def kept(self) -> str:
        """What a run that did not finish has left, and how to go on; nothing if it has left nothing."""
        if self._finished:
            return "the output is complete"
        if not self._done:
            return ""
        return f"{self._done:,} rows are kept: the same command with --resume continues"
