# SPDX-License-Identifier: Apache-2.0
"""The status of every row of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manymod.errors import Status

__all__ = ["OK", "STATUS_NAMES", "RowStatuses"]

#: Names of item statuses by their numbers.
STATUS_NAMES = {int(status): status.name.lower() for status in Status}
OK = STATUS_NAMES[Status.OK]


class RowStatuses:
    """A status for each row: ``"ok"``, or the first thing that was found wrong with it."""

    def __init__(self, count: int, problems: Mapping[int, str] | None = None) -> None:
        self._codes = np.zeros(count, np.int32)
        self._names = [OK]
        for row, name in (problems or {}).items():
            self._codes[row] = self._code(name)

    def _code(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def mark(self, where: NDArray[np.bool_] | None, name: str, start: int = 0) -> None:
        """Give rows the status `name` where they are still ok; `where` begins at row `start`."""
        if where is None or not where.any():
            return
        codes = self._codes[start : start + len(where)]
        codes[where & (codes == 0)] = self._code(name)

    def mark_row(self, row: int, name: str) -> None:
        """Give a row the status `name` if it is still ok."""
        if not self._codes[row]:
            self._codes[row] = self._code(name)

    def mark_items(self, statuses: NDArray[np.uint8], start: int = 0) -> None:
        """Give the rows from `start` on the `Status` of their items, where they are still ok."""
        for number in np.unique(statuses):
            if number:
                self.mark(statuses == number, STATUS_NAMES[int(number)], start)

    def ok(self) -> NDArray[np.bool_]:
        """Return which rows are ok."""
        found: NDArray[np.bool_] = self._codes == 0
        return found

    def bad(self) -> list[tuple[int, str]]:
        """Return index and status of the rows that are not ok, in order."""
        return [(int(row), self._names[self._codes[row]]) for row in np.flatnonzero(self._codes)]

    def names(self) -> list[str]:
        """Return the status of every row."""
        return [self._names[code] for code in self._codes.tolist()]

    def column(self) -> Any:
        """Return the statuses as an Arrow array of text."""
        indices = pa.array(self._codes, pa.int32())
        return pa.DictionaryArray.from_arrays(indices, pa.array(self._names)).dictionary_decode()
