# SPDX-License-Identifier: Apache-2.0
"""Jobs of `manymod.tables` over the tables of Polars, Spark and DuckDB.

>>> import polars as pl
>>> from manymod import frames, tables
>>> job = tables.OperationJob(
...     operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "3", "mod": "101"}
... )
>>> frames.polars_frame(pl.DataFrame({"b": [2, 5]}), job).rows()
[(2, 8, 'ok'), (5, 24, 'ok')]

Needs pyarrow, and whichever of the three is used. Errors of rows are in the status column; a name that does
not fit the columns raises `OperandError`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from manymod._extras import missing_extra

try:
    import pyarrow as pa
except ImportError as _error:
    raise missing_extra("manymod.frames", "arrow") from _error

from manymod.tables import BatchLimits, Job, OperandError, TableFunction

if TYPE_CHECKING:
    import polars as pl

    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

__all__ = ["duckdb_function", "polars_frame", "spark_frame"]


#: Types of Polars that Arrow's C interface does not have: `to_arrow` fails, or makes addresses of objects.
_NOT_IN_ARROW = {"Int128", "UInt128", "Object"}


def polars_frame(frame: Frame, job: Job, limits: BatchLimits | None = None) -> Frame:
    """Return a frame with the results and statuses of a job.

    Args:
        frame: a DataFrame, or a LazyFrame, which stays lazy: the streaming engine passes it in pieces.
        job: what is done with every row.
        limits: rows that are computed at a time.

    Raises:
        OperandError: if a name does not fit the columns, or Arrow has no columns of a type.
        TypeError: if the frame is none of Polars.
    """
    import polars as pl  # noqa: PLC0415 - one of several packages, any of which may be absent

    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"a {type(frame).__name__} is neither a DataFrame nor a LazyFrame of Polars")
    for name, dtype in frame.collect_schema().items():
        if unfit := _NOT_IN_ARROW.intersection(_kinds(dtype)):
            raise OperandError(f"column {name}: Arrow has no {unfit.pop()}: cast it, such as to String")
    function = TableFunction(job, limits)

    def mapped(rows: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame(function(rows.to_arrow(compat_level=pl.CompatLevel.oldest())))

    if isinstance(frame, pl.DataFrame):
        return mapped(frame)
    schema = mapped(pl.DataFrame(schema=frame.collect_schema())).schema
    pushdowns = dict.fromkeys(("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False)
    return frame.map_batches(mapped, schema=schema, streamable=True, **pushdowns)


def _kinds(dtype: Any) -> Iterator[str]:
    """Iterate over the names of a type of Polars and of those within it."""
    yield str(dtype.base_type())
    if (inner := getattr(dtype, "inner", None)) is not None:
        yield from _kinds(inner)
    for field in getattr(dtype, "fields", ()):
        yield from _kinds(field.dtype)


def spark_frame(frame: Any, job: Job, limits: BatchLimits | None = None) -> Any:
    """Return a DataFrame of Spark with the results and statuses of a job, by ``mapInArrow``.

    Args:
        frame: a ``pyspark.sql.DataFrame``.
        job: what is done with every row. Of a job with keys, `ring` is a function that returns them, which is
            called once here, for the columns of the result, and once by every task; the keys are never
            pickled.
        limits: rows that are computed at a time.

    Raises:
        OperandError: if a name does not fit the columns.
    """
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema  # noqa: PLC0415

    function = TableFunction(job, limits)
    # Spark's Arrow batches have times in UTC, which its function has to be told from Spark 4.2 on.
    told = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    schema = from_arrow_schema(function.output_schema(to_arrow_schema(frame.schema, **told)))
    return frame.mapInArrow(TableFunction(job, limits).over, schema)


def duckdb_function(
    connection: Any, name: str, job: Job, columns: Mapping[str, Any], *, repeatable: bool = True
) -> None:
    """Make a job a function of SQL, of columns to structures of the result and the status.

    Args:
        connection: a ``duckdb.DuckDBPyConnection``.
        name: of the function.
        job: what is done with every row; its operands are names of `columns`.
        columns: Arrow types of the arguments, by the names that the job knows them by, in their order.
        repeatable: the result depends on the arguments alone, unlike that of a randomised signature.

    >>> import duckdb, pyarrow as pa
    >>> from manymod import tables
    >>> job = tables.OperationJob(
    ...     operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "3", "mod": "n"}
    ... )
    >>> connection = duckdb.connect()
    >>> duckdb_function(connection, "cube", job, {"b": pa.int64(), "n": pa.int64()})
    >>> connection.sql("SELECT cube(5, 101).result, cube(5, 0).status").fetchall()
    [(24, 'zero_modulus')]
    """
    function = TableFunction(job)
    schema = pa.schema(list(columns.items()))
    added = range(len(schema), len(schema) + 2)
    output = function.output_schema(schema)

    def call(*arrays: Any) -> Any:
        cells = [array.cast(dtype) for array, dtype in zip(arrays, schema.types, strict=True)]
        answers = function(pa.table(cells, schema=schema))
        parts = [answers.column(index).combine_chunks() for index in added]
        return pa.StructArray.from_arrays(parts, fields=[output.field(index) for index in added])

    # DuckDB counts the parameters.
    kind = inspect.Parameter.POSITIONAL_ONLY
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(f"column{index}", kind) for index in range(len(schema))]
    )
    types = connection.from_arrow(output.empty_table()).types
    results = connection.struct_type({output.field(index).name: types[index] for index in added})
    connection.create_function(
        name,
        call,
        types[: len(schema)],
        results,
        type="arrow",
        null_handling="special",
        side_effects=not repeatable,
    )
