# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Limbs = NDArray[np.uint64]
_Signs = NDArray[np.uint8] | None
_Progress = Callable[[int, int], Any] | None

def scan_ints(sequence: Sequence[Any]) -> tuple[Sequence[Any], int, bool, bool]: ...
def int_widths(sequence: Sequence[Any], widths: NDArray[np.uint32]) -> None: ...
def split_runs(widths: list[NDArray[np.uint32]], fixed_bytes: int, budget_bytes: int) -> list[int]: ...
def ints_to_limbs(sequence: Sequence[Any], start: int, limbs: _Limbs, negative: _Signs) -> None: ...
def limbs_to_ints(limbs: _Limbs, negative: _Signs) -> list[int]: ...
def limbs_to_mpz(limbs: _Limbs, negative: _Signs) -> list[Any]: ...
def mpz_methods() -> tuple[str, str]: ...
def bytes_to_limbs(bytes: NDArray[np.uint8], limbs: _Limbs) -> None: ...
def limbs_to_bytes(limbs: _Limbs, bytes: NDArray[np.uint8]) -> None: ...
def bytes_list_to_limbs(sequence: Sequence[bytes], limbs: _Limbs) -> None: ...
def bit_lengths(limbs: _Limbs, out: NDArray[np.int64]) -> None: ...
def compare(x: _Limbs, x_negative: _Signs, y: _Limbs, y_negative: _Signs, out: NDArray[np.int8]) -> None: ...

class Plan:
    def __init__(
        self,
        op: int,
        timing: int,
        modulus_kind: int,
        modulus_bits: int,
        device: str | None,
        variant: str | None,
        threads: int,
    ) -> None: ...
    @property
    def variant(self) -> str: ...
    def run(
        self,
        count: int,
        terms: int,
        x: _Limbs | None,
        x_negative: _Signs,
        y: _Limbs | None,
        y_negative: _Signs,
        modulus: _Limbs,
        modulus_negative: _Signs,
        result: _Limbs,
        result_negative: _Signs,
        status: NDArray[np.uint8],
        progress: _Progress,
        first: int,
        total: int,
    ) -> int: ...

class FixedBase:
    def __init__(
        self,
        base: _Limbs,
        base_negative: _Signs,
        modulus: _Limbs,
        modulus_negative: _Signs,
        timing: int,
        exponent_bits: int,
        device: str | None,
        variant: str | None,
        threads: int,
    ) -> None: ...
    @property
    def variant(self) -> str: ...
    def run(
        self,
        count: int,
        y: _Limbs,
        y_negative: _Signs,
        result: _Limbs,
        result_negative: _Signs,
        status: NDArray[np.uint8],
        progress: _Progress,
        first: int,
        total: int,
    ) -> int: ...

def get_threads() -> int: ...
def set_threads(threads: int) -> int: ...
def devices() -> list[dict[str, Any]]: ...
def variants() -> list[dict[str, Any]]: ...
def version() -> str: ...
def status_message(status: int) -> str: ...
