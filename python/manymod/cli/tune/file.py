# SPDX-License-Identifier: Apache-2.0
"""The tuning file: the rows that were measured, with those that are kept of the table in use."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import manymod
from manymod.tables import OutputFile

__all__ = ["MAGIC", "complete_rows", "file_text", "output_file", "table_in_use", "write_file"]

#: First field of a tuning file.
MAGIC = "manymod-tuning"


def table_in_use(output: Path) -> manymod.Tuning:
    """The table in use; this build's own where MANYMOD_TUNING names the file that is yet to be made.

    Raises:
        TuningError: if MANYMOD_TUNING names another file that is missing, or one that is malformed.
    """
    named = os.environ.get("MANYMOD_TUNING")
    if named and not Path(named).exists() and Path(named).resolve() == output.resolve():
        manymod.load_tuning(None)
    return manymod.tuning()


def complete_rows(
    measured: Sequence[manymod.TuningRow],
    groups: Iterable[tuple[str, bool]],
    kept: Sequence[manymod.TuningRow],
    backend: str,
) -> list[manymod.TuningRow]:
    """Rows for each of the `groups`, operations and timing classes, that speak for every kind of device.

    The measured ones are those of `backend`; those of the others are kept from the table in use, which a
    file would otherwise take the place of. Rows for GPUs come first: theirs are the large numbers of items.
    """
    backends = {variant.name: variant.backend for variant in manymod.variants()}
    rows: list[manymod.TuningRow] = []
    for op, secret in dict.fromkeys(groups):
        own = [row for row in measured if (row.op, row.secret) == (op, secret)]
        others = [
            row
            for row in kept
            if (row.op, row.secret) == (op, secret) and backends.get(row.variant, backend) != backend
        ]
        rows += [*own, *others] if backend != "cpu" else [*others, *own]
    return rows


def _printable(text: str) -> str:
    """Printable ASCII, as the file's format wants it."""
    return "".join(char if " " <= char <= "~" else "?" for char in text)


def _line(row: manymod.TuningRow) -> str:
    timing = "secret" if row.secret else "public"
    numbers = (str(row.min_bits), str(row.max_bits), str(row.min_items))
    return "\t".join((row.op, timing, *numbers, row.variant, _printable(row.evidence)))


def file_text(
    rows: Iterable[manymod.TuningRow], processor: str, how: str, remarks: Iterable[str] = ()
) -> str:
    """The tuning file of these rows, measured on `processor`; `remarks` are for people."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    lines = [
        "\t".join((MAGIC, "1", _printable(processor), date)),
        f"# manymod {manymod.__version__}, {how}. Fields: operation, timing class, least and most",
        "# modulus bits, least number of items, variant, measurement. The first row that can run is used.",
    ]
    comments = (f"# {_printable(remark)}" for remark in remarks)
    return "\n".join([*lines, *map(_line, rows), *comments]) + "\n"


def output_file(path: Path) -> OutputFile:
    """Return the place of a tuning file that can be written.

    Raises:
        TableError: if no file can be written there.
        FileExistsError: if there is something else than a tuning file.
    """
    output = OutputFile(path)
    if path.exists():
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC.encode():
                raise FileExistsError(f"{path} exists and is no tuning file")
    return output


def write_file(path: Path, text: str) -> None:
    """Write all of a tuning file or nothing.

    Raises:
        TableError, FileExistsError: as `output_file`.
        OSError: if it cannot be written.
    """
    output_file(path).write(text.encode("ascii"))
