# SPDX-License-Identifier: Apache-2.0
"""A table through one modular operation."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manymod.cli.jsonlines import JsonLinesSource
from manymod.cli.operations import EngineOptions, Operation, run_batch
from manymod.cli.progress import RowProgress
from manymod.cli.shape import (
    NEGATIVE_RESULT,
    ColumnShape,
    LineShape,
    Operands,
    Shape,
    resolve_operand,
)
from manymod.cli.sources import Batch, Source, refuse_unreadable
from manymod.cli.table import TableJob, open_columns

__all__ = ["OperationJob"]


@dataclass(frozen=True, kw_only=True)
class OperationJob(TableJob):
    """A table command's operation. Operands are the texts given, by operand name."""

    operation: Operation
    operands: Mapping[str, str]
    engine: EngineOptions

    @property
    def name(self) -> str:
        """The operation's."""
        return self.operation.name

    def settings(self) -> dict[str, Any]:
        """Operation, operands and timing class."""
        return {
            "operation": self.operation.name,
            "operands": dict(self.operands),
            "timing class": "secret" if self.engine.secret else "public",
        }

    def open(self, stack: contextlib.ExitStack) -> tuple[Source, Shape]:
        """The source, closed by `stack`, and how its rows become the output's; every name is checked."""
        if self.input_format == "jsonl" and self.output_format == "jsonl":
            refuse_unreadable(self.table)
            lines = JsonLinesSource(self.table, self.limits())
            stack.callback(lines.close)
            names = lines.names()
            return lines, LineShape(names, self.operation, self._resolve(names), self.names)
        source = open_columns(self, stack)
        operands = self._resolve(list(source.schema.names))
        return source, ColumnShape(source.schema, self.operation, operands, self.names)

    def _resolve(self, names: list[str]) -> dict[str, str | int]:
        return {label: resolve_operand(text, names, f"--{label}") for label, text in self.operands.items()}

    def run_rows(
        self, shape: Shape, batch: Batch, first: int, progress: RowProgress
    ) -> tuple[Any, list[tuple[int, str]]]:
        """The output of a batch, and its bad rows."""
        operands = shape.operands(batch)
        count = batch.rows.num_rows
        good = [row for row in range(count) if row not in operands.problems]
        values = _select(operands, good, count)
        computed, names = run_batch(self.operation, values, len(good), self.engine, progress.advance)
        results: list[int | None] = [None] * count
        statuses = [operands.problems.get(row, "ok") for row in range(count)]
        signless = shape.writes_bytes()
        for row, value, name in zip(good, computed, names, strict=True):
            statuses[row] = NEGATIVE_RESULT if name == "ok" and signless and value < 0 else name
            results[row] = value if statuses[row] == "ok" else None
        bad = [(first + row + 1, status) for row, status in enumerate(statuses) if status != "ok"]
        return shape.output(batch, operands, results, statuses), bad


def _select(operands: Operands, rows: list[int], count: int) -> list[list[int] | int]:
    if len(rows) == count:
        return operands.values
    return [
        column if isinstance(column, int) else [column[row] for row in rows] for column in operands.values
    ]
