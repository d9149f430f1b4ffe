# SPDX-License-Identifier: Apache-2.0
"""An output folder that many processes fill with whole files, and that appears when all are there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from manymod.tables import OutputFile, PartsError, TableError, Tally
from manymod.tables.sources import naming

__all__ = ["ShardFolder", "read_tally", "shard_path", "write_tally"]

JOB = "job.json"
_SHARD = re.compile(r"part-\d{6,}\.parquet")
_READ_AT_A_TIME = 1 << 20


def shard_path(folder: Path, index: int) -> Path:
    """Return the place of the output of a piece."""
    return folder / f"part-{index:06d}.parquet"


def _tally_path(folder: Path, index: int) -> Path:
    return folder / f"part-{index:06d}.json"


def _checksum(shard: Path, tally: Mapping[str, Any]) -> str:
    """Return one checksum of an output and of its tally, so that neither counts without the other."""
    digest = hashlib.sha256(json.dumps(tally, sort_keys=True).encode())
    with shard.open("rb") as file:
        while block := file.read(_READ_AT_A_TIME):
            digest.update(block)
    return digest.hexdigest()


def write_tally(folder: Path, index: int, tally: Tally) -> None:
    """Keep that the output of a piece is there, and its checksum, durably. The file appears as a whole.

    Raises:
        TableError: if the output cannot be read, or the file cannot be written.
    """
    shard, content = shard_path(folder, index), asdict(tally)
    with naming(shard):
        kept = {"tally": content, "sha256": _checksum(shard, content)}
    OutputFile(_tally_path(folder, index)).write(json.dumps(kept).encode())


def read_tally(folder: Path, index: int) -> Tally | None:
    """Return what is kept of the output of a piece, None if either is not there or damaged."""
    try:
        kept = json.loads(_tally_path(folder, index).read_bytes())
        found = kept["tally"]
        if kept["sha256"] != _checksum(shard_path(folder, index), found):
            return None
        bad_rows = [(row, status) for row, status in found["bad_rows"]]
        return Tally(**{**found, "bad_rows": bad_rows})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


class ShardFolder:
    """The folder OUT.parts, which becomes OUT.

    Args:
        output: OUT, which there must not be yet.
        fingerprint: what the contents depend on.
        resume: begin with what an interrupted run has left.
        restart: discard it.

    Attributes:
        path: where the shards are written. Only the user can read them until they are all there.

    Raises:
        TableError: if OUT exists, or cannot be written.
        PartsError: if there are parts that cannot, or may not, be used.
    """

    def __init__(
        self, output: Path, fingerprint: Mapping[str, Any], *, resume: bool = False, restart: bool = False
    ) -> None:
        self._output = output
        self.path = output.with_name(output.name + ".parts").absolute()
        if output.exists():
            raise TableError(
                f"{output} exists, and a folder is to be made there: remove it, or write elsewhere"
            )
        text = json.dumps(fingerprint, sort_keys=True, default=str)
        with naming(self.path):
            if self.path.exists():
                self._check_old(text, resume, restart)
            self.path.mkdir(mode=0o700, exist_ok=resume)
            self._lock = self._locked()
            (self.path / JOB).write_text(text, encoding="utf-8")

    def _check_old(self, text: str, resume: bool, restart: bool) -> None:
        """Discard the parts of another run, or find out whether they are those of this one."""
        job = self.path / JOB
        if not job.is_file():
            raise PartsError(f"{self.path} is no folder of parts: remove it, or write elsewhere")
        if restart:
            self._locked().close()
            shutil.rmtree(self.path)
        elif not resume:
            raise PartsError(
                f"{self.path} has parts of an unfinished run: use --resume to continue, or --restart to "
                "begin again"
            )
        elif job.read_text(encoding="utf-8") != text:
            raise PartsError(
                f"{self.path} has parts of another job, other keys, or another table: use --restart to begin "
                "again"
            )

    def _locked(self) -> IO[bytes]:
        file = open(self.path / JOB, "ab")  # noqa: SIM115 - closed by close()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise PartsError(f"{self.path} is in use by another run") from error
        return file

    def finish(self) -> None:
        """Remove what is no shard, and put the folder in place."""
        with naming(self._output):
            for entry in self.path.iterdir():
                if not _SHARD.fullmatch(entry.name):
                    entry.unlink()
            mask = os.umask(0)
            os.umask(mask)
            self.path.chmod(0o777 & ~mask)
            self.path.rename(self._output)

    def close(self) -> None:
        """Let others use the parts; remove the folder if there are none."""
        self._lock.close()
        if self.path.exists() and {entry.name for entry in self.path.iterdir()} == {JOB}:
            with contextlib.suppress(OSError):
                shutil.rmtree(self.path)
