# SPDX-License-Identifier: Apache-2.0
"""Batches of byte strings of every accepted kind, and answers of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from manymod import _arrow, _core
from manymod._answer import check_writable
from manymod._limbs import refuse_mask
from manymod._series import Column, open_column
from manymod.errors import Status, _item_error

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Items",
    "Kind",
    "Places",
    "Results",
    "Verdicts",
    "answer_or_error",
    "bytes_answer",
    "check_out",
    "check_verdict_errors",
    "common_count",
    "direct_out",
    "items",
    "present_rows",
    "source_of",
]


class Kind(Enum):
    """What a batch was given as, and so what the answer is made as."""

    SCALAR = "bytes"
    LIST = "list of bytes"
    OBJECTS = "1-D object array"
    ROWS = "uint8[N, W]"
    ARROW = "Arrow binary"


@dataclass
class Items:
    """N byte strings, or one for every item (``count`` None)."""

    kind: Kind
    count: int | None
    #: A tuple of bytes-like objects; uint8[N, W]; or, with `offsets`, the bytes of an Arrow array.
    block: Any
    offsets: NDArray[np.int64] | None = None
    null: NDArray[np.bool_] | None = None
    #: The Arrow array that the items come from, of one chunk; None for other kinds.
    array: Any = None
    #: Lengths of the chunks of a ChunkedArray, None for any other array.
    chunk_lengths: list[int] | None = field(default=None)
    #: Makes the caller's column of pandas or polars from an array; None where the caller gave none.
    wrap: Callable[[Any], Any] | None = None
    #: The index of a pandas Series, None for anything else.
    labels: Any = None
    #: Whether `block` is a copy of the caller's bytes, which `wipe` zeroes.
    copied: bool = False

    def take(self, rows: NDArray[np.intp]) -> Items:
        """These items alone."""
        if self.count is None:
            return self
        if self.kind is Kind.ARROW:
            result = _of_arrow(self.array.take(_arrow_indices(rows)))
            result.copied = True
            return result
        if isinstance(self.block, np.ndarray):
            return Items(self.kind, len(rows), self.block[rows], copied=True)
        return Items(self.kind, len(rows), tuple(self.block[row] for row in rows))

    def wipe(self) -> None:
        """Zero the bytes where they are a copy."""
        if self.copied and len(self.block):
            np.frombuffer(self.block, np.uint8).fill(0)


def _arrow_indices(rows: NDArray[np.intp]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.array(rows)


def _of_arrow(array: Any) -> Items:
    """Items of an Arrow array of binary, large_binary, fixed_size_binary or null."""
    import pyarrow as pa  # noqa: PLC0415

    null = _arrow.null_mask(array)
    if pa.types.is_fixed_size_binary(array.type):
        return Items(Kind.ARROW, len(array), _arrow.binary_rows(array), null=null, array=array)
    data, offsets = _arrow.slices(array.cast(pa.large_binary()))
    return Items(Kind.ARROW, len(array), data, offsets, null, array)


def _from_arrow(name: str, column: Any) -> Items:
    import pyarrow as pa  # noqa: PLC0415

    array, chunk_lengths, copied = _arrow.plain(column)
    kinds = pa.types
    if _arrow.is_text(array):
        raise TypeError(
            f"{name}: {array.type} is text: cast it to binary for its UTF-8 (in pandas, .str.encode('utf-8'))"
        )
    if not (
        kinds.is_binary(array.type)
        or kinds.is_large_binary(array.type)
        or kinds.is_fixed_size_binary(array.type)
        or kinds.is_null(array.type)
    ):
        raise TypeError(f"{name}: Arrow type {array.type} is no binary type")
    result = _of_arrow(array)
    result.chunk_lengths, result.copied = chunk_lengths, copied
    return result


def _from_column(name: str, column: Column) -> Items:
    """The items of a column of pandas or polars."""
    if isinstance(column.values, np.ndarray):
        result = _from_numpy(name, column.values)
        if column.null is not None:
            result.null = column.null
            result.block = tuple(
                b"" if null else item for item, null in zip(result.block, column.null, strict=True)
            )
    else:
        result = _from_arrow(name, column.values)
    result.wrap, result.labels = column.wrap, column.labels
    return result


def _from_numpy(name: str, array: NDArray[Any]) -> Items:
    if array.ndim == 1 and array.dtype.kind == "O":
        return Items(Kind.OBJECTS, len(array), _unmasked(name, array.tolist()))
    if array.dtype.kind == "S":
        raise TypeError(f"{name}: {array.dtype} drops zero bytes at the end: make it with dtype=object")
    if array.ndim != 2 or array.dtype != np.uint8:
        raise TypeError(f"{name}: {array.dtype}{list(array.shape)} is not uint8[N, W]")
    rows = np.asarray(array)  # of subclasses, as numpy.matrix is one, the rows may be matrices too
    if rows.shape[1] and (rows.strides[1] != 1 or rows.strides[0] < rows.shape[1]):
        # A single row counts as contiguous whatever its stride: ascontiguousarray() would not copy it.
        return Items(Kind.ROWS, len(rows), np.array(rows, order="C"), copied=True)
    return Items(Kind.ROWS, len(rows), rows)


def _unmasked(name: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """The elements as a tuple; a TypeError if one is a masked array, whose buffer has no mask."""
    block, all_bytes = _core.taken_items(values if type(values) in {list, tuple} else tuple(values))
    if not all_bytes and any(issubclass(kind, ma.MaskedArray) for kind in set(map(type, block))):
        for item, value in enumerate(block):
            refuse_mask(f"{name}: item {item}", value)
    return block


def items(name: str, value: Any) -> Items:
    """Return the items of `value`.

    Raises:
        TypeError: if it is of no accepted kind. Elements of a list are looked at by the call.
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        return Items(Kind.SCALAR, None, (value,))
    if isinstance(value, np.ndarray):
        refuse_mask(name, value)
        return _from_numpy(name, value)
    column = open_column(name, value)
    if column is not None:
        return _from_column(name, column)
    arrow = _arrow.as_arrow(name, value)
    if arrow is not None:
        return _from_arrow(name, arrow)
    if isinstance(value, Sequence) and not isinstance(value, str):
        block = _unmasked(name, value)
        return Items(Kind.LIST, len(block), block)
    raise TypeError(
        f"{name}: {type(value).__name__} is none of bytes, list of bytes, array of them, uint8[N, W], Arrow "
        "binary array, column of pandas or polars"
    )


def common_count(named: dict[str, int | None]) -> int | None:
    """The number of items that all batches have, None where all of them stand for every item.

    Raises:
        ValueError: if they differ.
    """
    counts = {*named.values()} - {None}
    if len(counts) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in named.items() if count is not None)
        raise ValueError(f"batches of different lengths: {listed}")
    return counts.pop() if counts else None


def check_out(out: Any, kind: Kind, count: int, width: int) -> None:
    """Raise ValueError where `out` cannot hold the answer."""
    if kind is Kind.LIST:
        if not isinstance(out, list) or len(out) != count:
            raise ValueError(f"out must be a list of {count} elements")
    elif kind is not Kind.ROWS:
        raise ValueError(f"out cannot be used with {kind.value}")
    elif not isinstance(out, np.ndarray) or out.shape != (count, width) or out.dtype != np.uint8:
        raise ValueError(f"out must be uint8[{count}, {width}]")
    else:
        check_writable(out)


@dataclass
class Places:
    """Arrays for what a call computes: statuses and, if the operation has them, rows, their sizes, flags."""

    status: NDArray[np.uint8]
    rows: NDArray[np.uint8] | None = None
    sizes: NDArray[np.uint64] | None = None
    flags: NDArray[np.uint8] | None = None


class Results(Places):
    """Results of a call while they are made: rows, their sizes and statuses.

    `sized`: whether the sizes are wanted; without them, results of one size are written faster.
    """

    def __init__(self, count: int, width: int, out: NDArray[np.uint8] | None, *, sized: bool) -> None:
        self.rows: NDArray[np.uint8] = np.zeros((count, width), np.uint8) if out is None else out
        self.sizes = np.zeros(count, np.uint64) if sized else None
        self.status = np.empty(count, np.uint8)
        self.status.fill(Status.NOT_COMPUTED)  # np.full would take 3 us more, much of a call with one item

    def part(self, count: int) -> Self:
        """Room for some of the results, for `put`."""
        return type(self)(count, self.rows.shape[1], None, sized=self.sizes is not None)

    def put(self, present: NDArray[np.intp], part: Self) -> None:
        """Take the results of the items `present`."""
        self.rows[present], self.status[present] = part.rows, part.status
        if self.sizes is not None and part.sizes is not None:
            self.sizes[present] = part.sizes


class Verdicts(Places):
    """Verdicts of a call while they are made: a flag and a status for each item `present` (None: all)."""

    def __init__(self, count: int, present: NDArray[np.intp] | None) -> None:
        self._all, self._present = count, present
        self.count = count if present is None else len(present)
        # The answer is these arrays themselves where it can be: to provide fresh memory for others takes the
        # system longer than to fill them.
        self._valid, self.status = np.zeros(self.count, np.bool_), np.empty(self.count, np.uint8)
        self.flags: NDArray[np.uint8] = self._valid.view(np.uint8)

    def answer(self, source: Items, null: NDArray[np.bool_] | None, errors: str, *, scalar: bool) -> Any:
        """Verdicts in the kind of `source`, alone for ``errors="false"``; else as `answer_or_error`."""
        verdicts = _flags_answer(source, self._of_all(self._valid, False), null)
        if errors == "false":
            return verdicts
        statuses = self._of_all(self.status, Status.NOT_COMPUTED)
        return answer_or_error("verify", verdicts, statuses, null, errors, scalar=scalar)

    def _of_all(self, values: NDArray[Any], absent: int) -> NDArray[Any]:
        """An element for each item: `absent` for those that are not present."""
        if self._present is None:
            return values
        result = np.full(self._all, absent, values.dtype)
        result[self._present] = values
        return result


def bytes_answer(
    source: Items,
    rows: NDArray[np.uint8],
    sizes: NDArray[np.uint64] | None,
    null: NDArray[np.bool_] | None,
    out: Any,
    *,
    one_size: bool,
    wiped: bool = False,
) -> Any:
    """Results in the kind of `source`: the first ``sizes[i]`` bytes of each row, or rows, without sizes.

    `one_size`: whether results by keys of one size have one size. `wiped`: whether the caller overwrites the
    rows afterwards, so that the answer must not share their memory; not for answers of kind ROWS.
    """
    if source.kind is Kind.ROWS or sizes is None:
        if out is None:
            return rows
        if out is not rows:
            out[:] = rows
        return out
    if source.kind is Kind.ARROW:
        fixed = one_size and _are_of_one_size(rows, sizes, null)
        array = _arrow_answer(source.array.type, rows, sizes, null, fixed=fixed, copied=wiped)
        return _wrapped(_rechunked(array, source), source)
    values: list[Any] = _core.rows_to_bytes(rows, sizes)
    if source.kind is Kind.SCALAR:
        return values[0]
    for i in () if null is None else np.flatnonzero(null):
        values[i] = None
    if source.kind is Kind.OBJECTS:
        return _wrapped(_objects(values), source)
    if out is None:
        return values
    out[:] = values
    return out


def _objects(values: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _wrapped(array: Any, source: Items) -> Any:
    return array if source.wrap is None else source.wrap(array)


def _are_of_one_size(
    rows: NDArray[np.uint8], sizes: NDArray[np.uint64], null: NDArray[np.bool_] | None
) -> bool:
    """Whether results are as long as the rows, where there are any: not where all items failed."""
    results = sizes[sizes != 0]
    asked = len(sizes) if null is None else int((~null).sum())
    return bool((results == rows.shape[1]).all()) and (len(results) > 0 or asked == 0)


def _arrow_answer(
    dtype: Any,
    rows: NDArray[np.uint8],
    sizes: NDArray[np.uint64],
    null: NDArray[np.bool_] | None,
    *,
    fixed: bool,
    copied: bool,
) -> Any:
    """An Arrow array of results, over the memory of the rows where it can be unless `copied`."""
    import pyarrow as pa  # noqa: PLC0415

    count, width = rows.shape
    if fixed and pa.types.is_fixed_size_binary(dtype):
        return _arrow.fixed_size_binary(rows.copy() if copied else rows, null)
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    if not copied and (sizes == width).all():
        data = rows.reshape(-1)
    else:
        data = rows[np.arange(width, dtype=np.uint64) < sizes[:, None]]
    return _arrow.variable(dtype, offsets, data, null)


def answer_or_error(
    name: str,
    answer: Any,
    status: NDArray[np.uint8],
    null: NDArray[np.bool_] | None,
    errors: str,
    *,
    scalar: bool,
) -> Any:
    """Return the answer of a call, with the statuses for ``errors="status"``; else raise for bad items.

    Args:
        name: of the operation in messages.
        answer: what the call returns.
        status: a `Status` for each item.
        null: where an operand is null, which is no error; None if nowhere.
        errors: ``"status"``, or ``"raise"``.
        scalar: whether there is one item, given as such, and so one status.

    Raises:
        ItemError: if an item that is not null has a status.
    """
    if errors == "status":
        return answer, (Status(int(status[0])) if scalar else status)
    bad = status != 0
    if null is not None:
        bad &= ~null
    if bad.any():
        raise _item_error(name, bad, status, answer, scalar)
    return answer


def check_verdict_errors(errors: str) -> None:
    """Raise ValueError unless `errors` says what becomes of signatures that cannot be checked."""
    if errors not in ("false", "raise", "status"):
        raise ValueError(f"errors must be 'false', 'raise' or 'status', not {errors!r}")


def _flags_answer(source: Items, flags: NDArray[np.bool_], null: NDArray[np.bool_] | None) -> Any:
    """Verdicts in the kind of `source`."""
    if source.kind is Kind.SCALAR:
        return bool(flags[0])
    if source.kind is Kind.ARROW:
        import pyarrow as pa  # noqa: PLC0415

        return _wrapped(_rechunked(pa.array(flags, mask=null), source), source)
    if source.kind is Kind.OBJECTS and source.wrap is not None:
        return source.wrap(flags if null is None else ma.MaskedArray(flags, null))
    if source.kind is Kind.ROWS or (source.kind is Kind.OBJECTS and null is None):
        return flags
    verdicts: list[bool | None] = flags.tolist()
    for i in () if null is None else np.flatnonzero(null):
        verdicts[i] = None
    return _objects(verdicts) if source.kind is Kind.OBJECTS else verdicts


def _rechunked(array: Any, source: Items) -> Any:
    return array if source.chunk_lengths is None else _arrow.rechunk(array, source.chunk_lengths)


def source_of(count: int | None, *operands: Items, one_size: bool = True) -> Items:
    """The operand that decides the kind of the answer: the first batch; a list if only indices are many.

    A list also stands for ``uint8[N, W]`` where results have not `one_size`.
    """
    batch = next((given for given in operands if given.count is not None), operands[0])
    if (batch.count is None and count is not None) or (not one_size and batch.kind is Kind.ROWS):
        return Items(Kind.LIST, count, ())
    return batch


def present_rows(source: Items, *operands: Items) -> tuple[NDArray[np.bool_] | None, NDArray[np.intp] | None]:
    """Where an operand is null, and the positions of the other items; None for both where none is null."""
    null = _arrow.merged_nulls(given.null for given in operands)
    if null is None:
        return None, None
    if source.kind is Kind.ROWS:
        raise ValueError(f"an operand has nulls, which results as {source.kind.value} cannot hold")
    return null, np.flatnonzero(~null)


def direct_out(out: Any, operands: Iterable[Items]) -> NDArray[np.uint8] | None:
    """`out` itself, where the library may write there while it reads the operands."""
    if not isinstance(out, np.ndarray) or not out.flags.c_contiguous:
        return None
    return None if any(_may_overlap(out, given.block) for given in operands) else out


def _may_overlap(out: NDArray[np.uint8], block: Any) -> bool:
    """Whether writing to `out` may change the bytes of items."""
    if isinstance(block, tuple):  # all but bytes may be views of any memory
        return not {*map(type, block)} <= {bytes}
    return isinstance(block, np.ndarray) and np.may_share_memory(out, block)
