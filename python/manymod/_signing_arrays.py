# SPDX-License-Identifier: Apache-2.0
"""Arrays of messages to be signed by a service, and the answer in their kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manymod._byte_items import Items, Kind, bytes_answer, common_count, present_rows, source_of
from manymod._key_indices import broadcast, key_numbers, length, taken
from manymod._series import check_labels
from manymod.errors import Status, _item_error
from manymod.plan import checked_errors

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ArraysOfRequests"]


class ArraysOfRequests:
    """Messages, their keys, and the memory of the signatures.

    Args:
        messages: what to sign.
        keys: as `Signer.submit_many` has them.
        errors: likewise.
        key_count: how many keys there are.
        width_of: as in `_batch_signer.Scheme`.
        one_size: likewise.

    Attributes:
        part: how many messages there are, without those that are null.
    """

    def __init__(
        self,
        messages: Items,
        keys: Any,
        errors: str,
        *,
        key_count: int,
        width_of: Callable[[Any, bool], tuple[int, int]],
        one_size: bool,
    ) -> None:
        self._errors = checked_errors(errors)
        indices, labels = key_numbers(keys, key_count)
        count = common_count({"messages": messages.count, "key_indices": length(indices)})
        check_labels({"messages": messages.labels, "key_indices": labels})
        source = source_of(count, messages)
        if source.kind is Kind.ROWS and not one_size:
            source = Items(Kind.LIST, source.count, ())
        self._source, self._scalar, self._one_size = source, count is None, one_size
        self._total = 1 if count is None else count
        self._width, row = width_of(indices, source.kind is Kind.ROWS)
        self._null, self._present = present_rows(source, messages)
        if self._present is not None:
            messages, indices = messages.take(self._present), taken(indices, self._present)
        self.part = self._total if self._present is None else len(self._present)
        self._messages, self._keys = messages, broadcast(indices, self.part)
        # The service writes every row.
        self._rows = np.empty((self.part, row), np.uint8)
        self._sizes, self._status = np.zeros(self.part, np.uint64), np.zeros(self.part, np.uint8)

    def of_service(
        self,
    ) -> tuple[
        NDArray[np.uint32] | None,
        Any,
        NDArray[np.int64] | None,
        NDArray[np.uint8],
        NDArray[np.uint64],
        NDArray[np.uint8],
    ]:
        """The arrays, as the extension takes them."""
        return (
            self._keys,
            self._messages.block,
            self._messages.offsets,
            self._rows,
            self._sizes,
            self._status,
        )

    def finish(self) -> tuple[Any, BaseException | None]:
        """The answer, or the exception in its place, once all are answered."""
        rows, sizes, status = self._rows[:, : self._width], self._sizes, self._status
        if self._present is not None:
            rows, sizes, status = (self._whole(part) for part in (rows, sizes, status))
            status[self._null] = Status.NOT_COMPUTED
        rows = np.ascontiguousarray(rows)
        result = bytes_answer(self._source, rows, sizes, self._null, None, one_size=self._one_size)
        if self._errors == "status":
            return (result, Status(int(status[0])) if self._scalar else status), None
        bad = status != 0
        if self._null is not None:
            bad &= ~self._null
        return result, (_item_error("sign", bad, status, result, self._scalar) if bad.any() else None)

    def _whole(self, part: NDArray[Any]) -> NDArray[Any]:
        """The items that are present, among zeros."""
        whole = np.zeros((self._total, *part.shape[1:]), part.dtype)
        whole[self._present] = part
        return whole
