# SPDX-License-Identifier: Apache-2.0
"""mpz_powm and mpz_powm_sec of a GMP shared library, called on prepared numbers through ctypes."""

from __future__ import annotations

import ctypes
import ctypes.util
import time
from collections.abc import Callable, Sequence

__all__ = ["GmpLibrary"]


class _Mpz(ctypes.Structure):
    """GMP's `mpz_t`."""

    _fields_ = (("alloc", ctypes.c_int), ("size", ctypes.c_int), ("limbs", ctypes.c_void_p))


class GmpLibrary:
    """A GMP found by path, or the system's. Raises OSError where there is none."""

    def __init__(self, path: str | None = None) -> None:
        name = path or ctypes.util.find_library("gmp") or "libgmp.so.10"
        self._library = ctypes.CDLL(name)
        self.path = name
        self.version = ctypes.c_char_p.in_dll(self._library, "__gmp_version").value or b"?"

    def _function(self, name: str) -> Callable[..., None]:
        function = self._library[f"__gmpz_{name}"]
        function.restype = None
        return function

    def number(self, value: int) -> _Mpz:
        """A GMP integer; it lives until `clear`."""
        number = _Mpz()
        self._function("init")(ctypes.byref(number))
        content = abs(value).to_bytes((value.bit_length() + 7) // 8 or 1, "little")
        size = ctypes.c_size_t
        self._function("import")(ctypes.byref(number), size(len(content)), -1, size(1), 0, size(0), content)
        return number

    def value(self, number: _Mpz) -> int:
        """The Python integer of a GMP integer that is not negative."""
        content = ctypes.create_string_buffer(8 * abs(number.size) or 8)
        self._function("export")(
            content, None, -1, ctypes.c_size_t(1), 0, ctypes.c_size_t(0), ctypes.byref(number)
        )
        return int.from_bytes(content.raw, "little")

    def clear(self, numbers: Sequence[_Mpz]) -> None:
        """Free GMP integers."""
        for number in numbers:
            self._function("clear")(ctypes.byref(number))

    def power_loop(
        self, items: Sequence[tuple[int, int, int]], secret: bool
    ) -> tuple[Callable[[], list[_Mpz]], Callable[[], None]]:
        """A loop of one call per (base, exponent, modulus), and what frees its numbers."""
        function = self._function("powm_sec" if secret else "powm")
        numbers = [self.number(value) for item in items for value in (0, *item)]
        references = [ctypes.byref(number) for number in numbers]
        calls = [tuple(references[i : i + 4]) for i in range(0, len(references), 4)]
        results = numbers[::4]

        def loop() -> list[_Mpz]:
            for call in calls:
                function(*call)
            return results

        return loop, lambda: self.clear(numbers)

    def call_overhead_ns(self) -> float:
        """Nanoseconds of one call through ctypes with operands of one limb, 3^1 mod 7."""
        loop, free = self.power_loop([(3, 1, 7)] * 2000, secret=False)
        times = []
        for _ in range(5):
            start = time.perf_counter_ns()
            loop()
            times.append((time.perf_counter_ns() - start) / 2000)
        free()
        return min(times)
