# SPDX-License-Identifier: Apache-2.0
"""JSON lines in, the same lines with two more members out; everything else is kept letter by letter."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from manymod.tables.batches import Batch
from manymod.tables.json_rows import is_object
from manymod.tables.operands import BAD_LINE, OutputNames
from manymod.tables.status import RowStatuses
from manymod.tables.writers import FINISHED_LINES

__all__ = ["LineOutput"]


class LineOutput:
    """Puts result and status into lines.

    Attributes:
        schema: the Arrow schema of finished lines.
    """

    schema = FINISHED_LINES

    def __init__(self, names: OutputNames) -> None:
        self._keys = (json.dumps(names.result), json.dumps(names.status))

    def assemble(self, batch: Batch, results: Iterable[str | None], statuses: RowStatuses) -> Any:
        """Return the lines of a batch with their results, which are JSON or None, and statuses."""
        names = statuses.names()
        lines = [
            self._line(line, result or "null", names[index], is_object(batch.problems.get(index)))
            for index, (line, result) in enumerate(
                zip(batch.rows.column(0).to_pylist(), results, strict=True)
            )
        ]
        return pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], schema=self.schema)

    def _line(self, line: str, result: str, status: str, whole: bool) -> str:
        members = f'{self._keys[0]}: {result}, {self._keys[1]}: "{status}"'  # a status is a plain word
        if not whole:
            return f'{{"{BAD_LINE}": {json.dumps(line, ensure_ascii=False)}, {members}}}'
        body = line[:-1].rstrip()
        return body + ("" if body == "{" else ", ") + members + "}"
