# SPDX-License-Identifier: Apache-2.0
"""What a job is: work that is bound to the columns of a source, and then done batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manymod.tables.batches import Batch, Source

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Computed", "Job", "RowProgress", "Work"]

#: Called with the number of rows done and in all, as far as that is known.
RowProgress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Computed:
    """A batch of the output.

    Attributes:
        rows: the record batch.
        bad: index and status of the rows that are not ok, in order.
        hints: what may be wrong with the options or the table as a whole, a sentence each.
    """

    rows: Any
    bad: list[tuple[int, str]]
    hints: tuple[str, ...] = ()


class Work(ABC):
    """A job that is bound to a source.

    Batches are independent of each other: they may be computed in any order, by several threads, or by copies
    of the job that other processes bind to a source of the same schema.

    Attributes:
        schema: the Arrow schema of the output.
    """

    schema: Any

    @abstractmethod
    def compute(self, batch: Batch, progress: RowProgress | None = None) -> Computed:
        """Compute a batch. `progress` is called with rows of the batch, about ten times a second."""


class Job(ABC):
    """Something to do with every row of a table."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What is done, for people."""

    def loaded(self) -> Self:
        """Return the job with its keys in this process; itself, where it has none to load."""
        return self

    @abstractmethod
    def bind(self, source: Source) -> Work:
        """Return the work on the rows of a source.

        Raises:
            OperandError: if a name does not fit the columns.
        """

    @abstractmethod
    def fingerprint(self) -> dict[str, Any]:
        """Return what results depend on apart from the table, ready for JSON."""
