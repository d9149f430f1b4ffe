# SPDX-License-Identifier: Apache-2.0
"""From times to choices, and from choices to a tuning file."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import manymod
from manymod.cli.tune_run import Case, Times

__all__ = ["MAGIC", "Choice", "choices", "file_text", "width_ranges", "write_file"]

#: First field of a tuning file.
MAGIC = "manymod-tuning"
MAX_BITS = 16384
#: A variant within this factor of the best counts as best: differences below it are noise.
AS_GOOD = 1.05


@dataclass(frozen=True)
class Choice:
    """The variant for `min_items` to `max_items` items (None: and more), with times at `count` items."""

    variant: str
    min_items: int
    max_items: int | None
    count: int
    item_ns: float
    runner_up: str | None
    runner_up_ns: float | None

    @property
    def ratio(self) -> float | None:
        """Time of the runner-up over the choice's."""
        return None if self.runner_up_ns is None else self.runner_up_ns / self.item_ns

    def evidence(self, bits: int) -> str:
        """The measurement in a line."""
        text = f"{bits} bits, {self.count} items: {self.item_ns:,.0f} ns an item"
        if self.ratio is None:
            return text
        return f"{text}; {self.runner_up} {self.runner_up_ns:,.0f} ns ({self.ratio:.2f}x)"


def _choice(times: Times, name: str, band: Sequence[int], last: bool) -> Choice:
    count = band[-1]
    others = {other: by_count[count] for other, by_count in times.items() if other != name}
    runner_up = min(others, key=others.__getitem__) if others else None
    return Choice(
        variant=name,
        min_items=band[0],
        max_items=None if last else count,
        count=count,
        item_ns=times[name][count],
        runner_up=runner_up,
        runner_up_ns=others[runner_up] if runner_up is not None else None,
    )


def choices(times: Times) -> list[Choice]:
    """The best variants by number of items, for large batches first.

    The best for the largest number is the choice down to the least for which it is as good as any; then the
    best for the next smaller number, and so on down to one item.
    """
    counts = sorted(next(iter(times.values())))
    best = {count: min(by_count[count] for by_count in times.values()) for count in counts}
    found: list[Choice] = []
    end = len(counts)
    while end > 0:
        name = min(times, key=lambda variant: times[variant][counts[end - 1]])
        begin = end
        while begin > 0 and times[name][counts[begin - 1]] <= AS_GOOD * best[counts[begin - 1]]:
            begin -= 1
        found.append(_choice(times, name, counts[begin:end], last=not found))
        end = begin
    return found


def width_ranges(widths: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The moduli that each measured width speaks for: up to midway to its neighbours."""
    ordered = sorted(set(widths))
    ends = [(low + high) // 2 for low, high in itertools.pairwise(ordered)] + [MAX_BITS]
    begins = [1, *(end + 1 for end in ends[:-1])]
    return {width: (begin, end) for width, begin, end in zip(ordered, begins, ends, strict=True)}


def _printable(text: str) -> str:
    """Printable ASCII, as the file's format wants it."""
    return "".join(char if " " <= char <= "~" else "?" for char in text)


def file_text(results: Mapping[Case, Sequence[Choice]]) -> str:
    """The tuning file that makes these choices."""
    model = next(device.model for device in manymod.devices() if device.name == "cpu")
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    lines = [
        "\t".join((MAGIC, "1", _printable(model), date)),
        f"# manymod {manymod.__version__}, one thread. Fields: operation, timing class, least and most",
        "# modulus bits, least number of items, variant, measurement. The first row that can run is used.",
    ]
    ranges: dict[tuple[str, bool], dict[int, tuple[int, int]]] = {}
    for op, secret in {(case.op, case.secret) for case in results}:
        widths = [case.bits for case in results if (case.op, case.secret) == (op, secret)]
        ranges[op, secret] = width_ranges(widths)
    for case, chosen in results.items():
        begin, end = ranges[case.op, case.secret][case.bits]
        for choice in chosen:
            numbers = (str(begin), str(end), str(choice.min_items))
            lines.append(
                "\t".join((case.op, case.timing, *numbers, choice.variant, choice.evidence(case.bits)))
            )
    return "\n".join(lines) + "\n"


def write_file(path: Path, text: str) -> None:
    """Write all of a tuning file or nothing.

    Raises:
        FileExistsError: if there is something else than a tuning file at `path`.
        OSError: if it cannot be written.
    """
    if path.exists():
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC.encode():
                raise FileExistsError(f"{path} exists and is no tuning file")
    handle, temporary = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # noqa: PTH101 (as other files: it holds no secret)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise
