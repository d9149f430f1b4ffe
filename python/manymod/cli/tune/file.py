# SPDX-License-Identifier: Apache-2.0
"""The tuning file: the rows that were measured, with those that are kept of it and of the table in use."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import manymod
from manymod.cli.tune.choice import MAX_BITS
from manymod.tables import OutputFile

__all__ = ["MAGIC", "Base", "Group", "base_of", "complete_rows", "file_text", "output_file", "write_file"]

#: First field of a tuning file.
MAGIC = "manymod-tuning"
#: An operation, and whether it is in constant time.
Group = tuple[str, bool]


@dataclass(frozen=True)
class Base:
    """What a file is made of besides what is measured.

    Attributes:
        rows: for each group those of the file that is there already, or of the table in use if it has none.
        own: those of the file, among them rows of variants that this build does not have.
        processor: where these were measured.
    """

    rows: Sequence[manymod.TuningRow]
    own: Sequence[manymod.TuningRow] = ()
    processor: str = ""

    def kept(
        self, rows: Iterable[manymod.TuningRow], measured: Iterable[manymod.TuningRow]
    ) -> list[manymod.TuningRow]:
        """Which of the rows are the file's, cut to fewer widths or not; those just measured may be equal."""
        own = {_whole(row) for row in self.own} - {_whole(row) for row in measured}
        return [row for row in rows if _whole(row) in own]


def base_of(output: Path) -> Base:
    """What a tuning file begins with. One that is there already becomes the table in use.

    Raises:
        TuningError: if it is malformed, or MANYMOD_TUNING names another file that is missing or malformed.
    """
    named = os.environ.get("MANYMOD_TUNING")
    if named and not Path(named).exists() and Path(named).resolve() == output.resolve():
        manymod.load_tuning(None)
    in_use = manymod.tuning().rows
    if not output.exists():
        return Base(in_use)
    processor = manymod.load_tuning(output).processor
    own = _rows_of(output)
    groups = {_group(row) for row in own}
    return Base([*own, *(row for row in in_use if _group(row) not in groups)], own, processor)


def _rows_of(path: Path) -> list[manymod.TuningRow]:
    """The rows of a file that the library has read without an error."""
    lines = [line for line in path.read_text("ascii").splitlines() if line and not line.startswith("#")]
    rows = []
    for line in lines[1:]:
        op, timing, *numbers, variant, evidence = line.split("\t")
        least, most, items = map(int, numbers)
        rows.append(manymod.TuningRow(op, timing == "secret", least, most, items, variant, evidence))
    return rows


def _group(row: manymod.TuningRow) -> Group:
    return row.op, row.secret


def _backend(variant: str) -> str:
    """The backend of a variant by its name, so that those of another build have theirs, too."""
    return next((part for part in variant.split(".") if part in {"cuda", "opencl"}), "cpu")


def _whole(row: manymod.TuningRow) -> manymod.TuningRow:
    """A row for all widths: what rows that are cut from one have in common."""
    return replace(row, min_bits=1, max_bits=MAX_BITS)


def complete_rows(
    measured: Sequence[manymod.TuningRow],
    reach: Mapping[Group, Mapping[int, tuple[int, int]]],
    base: Base,
    backend: str,
    some_widths: bool = False,
) -> list[manymod.TuningRow]:
    """All rows of a file: those measured, and those of the base that they do not take the place of.

    Measured rows take the place of all of their group for the devices of their backend. A file would take the
    place of the table in use for the other devices, too, so that its rows are kept for these. Rows for GPUs
    come first: theirs are the large numbers of items.

    Args:
        measured: those of `backend`.
        reach: the widths that each measured one speaks for, by group.
        base: what is kept.
        backend: what was measured.
        some_widths: widths were chosen, so that the file's rows for the others are kept.
    """
    rows: list[manymod.TuningRow] = []
    for group, ranges in reach.items():
        new = [row for row in measured if _group(row) == group]
        before = [row for row in base.rows if _group(row) == group]
        others = [row for row in before if _backend(row.variant) != backend]
        old = [row for row in base.own if _group(row) == group and row not in others] if some_widths else []
        covered = {range_: _segment(bits, range_, old) for bits, range_ in ranges.items()}
        new = [part for row in new for part in _narrowed(row, covered)]
        new += [part for row in old for part in _outside(row, covered.values())]
        rows += [*new, *others] if backend != "cpu" else [*others, *new]
    return [*rows, *(row for row in base.own if _group(row) not in reach)]


def _segment(bits: int, within: tuple[int, int], rows: Sequence[manymod.TuningRow]) -> tuple[int, int]:
    """The widths around a measured one, and in its range, that no row begins or ends between."""
    begins = [row.min_bits for row in rows] + [row.max_bits + 1 for row in rows]
    return (
        max([within[0], *(begin for begin in begins if begin <= bits)]),
        min([within[1], *(begin - 1 for begin in begins if begin > bits)]),
    )


def _narrowed(
    row: manymod.TuningRow, covered: Mapping[tuple[int, int], tuple[int, int]]
) -> list[manymod.TuningRow]:
    """The part of a measured row that is for the widths covered; its own are within one of the ranges."""
    ((begin, end),) = (part for (least, most), part in covered.items() if least <= row.min_bits <= most)
    begin, end = max(begin, row.min_bits), min(end, row.max_bits)
    return [replace(row, min_bits=begin, max_bits=end)] if begin <= end else []


def _outside(row: manymod.TuningRow, covered: Iterable[tuple[int, int]]) -> list[manymod.TuningRow]:
    """The parts of a row that are for other widths than those covered."""
    parts = []
    least = row.min_bits
    for begin, end in sorted(covered):
        if begin > row.max_bits:
            break
        if least < begin:
            parts.append(replace(row, min_bits=least, max_bits=begin - 1))
        least = max(least, end + 1)
    if least <= row.max_bits:
        parts.append(replace(row, min_bits=least))
    return parts


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
        TableError: if it cannot be written.
        FileExistsError: as `output_file`.
    """
    output_file(path).write(text.encode("ascii"))
