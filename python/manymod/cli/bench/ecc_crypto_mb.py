# SPDX-License-Identifier: Apache-2.0
"""Intel's crypto_mb in `manymod bench ecc`: eight items a call, by ctypes, from operands that are prepared.

Its functions are bare: numbers in and numbers out, digests and nonces given, no check of a signature before
it leaves. `--crypto-mb` says where the library is; `bench/peers/crypto_mb.sh` builds it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod.ecc import Curve

__all__ = ["CryptoMb", "Operands", "load", "version"]

_LANES = 8
#: Bytes of a word of a number.
_WORD = 8
_NAMES = {"P-256": "nistp256", "P-384": "nistp384", "P-521": "nistp521", "SM2": "sm2"}
#: The identity of SM2's signers that manymod assumes, too.
_IDENTITY = np.frombuffer(b"1234567812345678", np.uint8)

#: The arguments of a call.
_Arguments = Sequence[Any]
_Rows = NDArray[np.uint8]


class _Version(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


@dataclass(frozen=True)
class Operands:
    """The items of a case, a multiple of eight, encoded as manymod takes them.

    Members that the operation does not have are not read. `messages` are digests of ECDSA, and messages of
    other schemes.
    """

    secrets: _Rows
    public_keys: _Rows
    others: _Rows
    messages: _Rows
    nonces: _Rows
    signatures: _Rows | None


def load(path: str | None) -> ctypes.CDLL | None:
    """The library at `path`, or that of the system; None if there is none, or if this CPU cannot run it.

    Raises:
        OSError: if there is none at `path`.
    """
    name = path or ctypes.util.find_library("crypto_mb")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    applicable = library.mbx_is_crypto_mb_applicable
    applicable.argtypes = (ctypes.c_uint64,)
    return library if applicable(0) else None


def version(library: ctypes.CDLL) -> str:
    """The library's version: major.minor.patch."""
    call = library.mbx_getversion
    call.restype = ctypes.POINTER(_Version)
    found = call().contents
    return f"{found.major}.{found.minor}.{found.patch}"


def _numbers(rows: _Rows) -> _Rows:
    """Big-endian numbers as little-endian ones of whole words."""
    width = -(-rows.shape[1] // _WORD) * _WORD
    return np.pad(rows[:, ::-1], ((0, 0), (0, width - rows.shape[1])))


def _big_endian(rows: _Rows, size: int) -> _Rows:
    """Little-endian numbers as big-endian ones of `size` bytes."""
    return rows[:, :size][:, ::-1]


class CryptoMb:
    """One operation on a curve: `loop` computes all items, `results` has them as manymod has its own."""

    def __init__(self, library: ctypes.CDLL, curve: Curve, op: str, operands: Operands) -> None:
        self._library, self._curve, self._op, self._given = library, curve, op, operands
        self.count = len(operands.secrets)
        self._size = (curve.field_bits + 7) // 8
        self._kept: list[_Rows] = []
        self._outputs: list[_Rows] = []
        function, arguments = self._call()
        # The arguments of each group's call: a list has an entry for each group, anything else serves all.
        groups = [
            tuple(argument[group] if isinstance(argument, list) else argument for argument in arguments)
            for group in range(self.count // _LANES)
        ]
        self._calls = [(function, group) for group in groups]

    @staticmethod
    def operations(curve: Curve) -> tuple[str, ...]:
        """The operations of `manymod bench ecc` that it has on a curve."""
        if curve.name == "X25519":
            return ("exchange", "public")
        if curve.name == "Ed25519":
            return ("sign", "verify", "public")
        return ("sign", "verify", "exchange", "public") if curve.name in _NAMES else ()

    def loop(self) -> list[int]:
        """Compute all items. Returns a status of each group: 0 where all of its items are good."""
        return [function(*arguments) for function, arguments in self._calls]

    def results(self) -> _Rows:
        """Signatures, shared secrets or public keys.

        Raises:
            ArithmeticError: if an item has none.
        """
        if any(self.loop()):
            raise ArithmeticError(f"crypto_mb: {self._op} on {self._curve.name} fails")
        outputs = self._outputs
        if self._op == "public" and self._curve.form == "weierstrass":
            outputs = [np.full((self.count, 1), 4, np.uint8)] + [
                _big_endian(rows, self._size) for rows in outputs
            ]
        return np.hstack(outputs)

    def _call(self) -> tuple[Callable[..., int], _Arguments]:
        """The function, and its arguments: a list of those of all groups, or the one of each."""
        given = self._given
        if self._curve.form == "weierstrass":
            return self._call_weierstrass()
        name, size = self._curve.name.lower(), self._size
        if self._op == "public":
            return self._function(f"{name}_public_key"), [self._out(size), self._in(given.secrets)]
        if self._op == "exchange":
            shared = [self._out(size), self._in(given.secrets), self._in(given.others)]
            return self._function(name), shared
        message = [self._in(given.messages), self._lengths(given.messages)]
        keys = self._in(given.public_keys)
        if self._op == "sign":
            signature = [self._out(size), self._out(size)]
            return self._function(f"{name}_sign"), [*signature, *message, self._in(given.secrets), keys]
        return self._function(f"{name}_verify"), [*self._signature(size), *message, keys]

    def _call_weierstrass(self) -> tuple[Callable[..., int], _Arguments]:
        name, size, given = _NAMES[self._curve.name], self._size, self._given
        secret = self._in(_numbers(given.secrets))
        if self._op == "public":
            words = -(-size // _WORD) * _WORD
            point = [self._out(words), self._out(words), None]
            return self._function(f"{name}_ecpublic_key"), [*point, secret, None]
        if self._op == "exchange":
            shared = [self._out(size), secret, *self._point(given.others), None]
            return self._function(f"{name}_ecdh"), shared
        message: list[Any] = [self._in(given.messages)]
        if name == "sm2":
            identity = np.tile(_IDENTITY, (self.count, 1))
            message = [self._in(identity), self._lengths(identity), *message, self._lengths(given.messages)]
        keys = self._point(given.public_keys)
        if self._op == "verify":
            verify = [*self._signature(size), *message, *keys, None]
            return self._function(f"{name}_ecdsa_verify"), verify
        sign = [self._out(size), self._out(size), *message, self._in(_numbers(given.nonces)), secret]
        if name == "sm2":
            sign += keys
        return self._function(f"{name}_ecdsa_sign"), [*sign, None]

    def _function(self, name: str) -> Callable[..., int]:
        call = self._library[f"mbx_{name}_mb8"]
        call.restype = ctypes.c_uint32
        return call

    def _in(self, rows: _Rows) -> list[Any]:
        """Pointers to the rows of each group."""
        kept = np.ascontiguousarray(rows)
        self._kept.append(kept)
        first, stride = kept.ctypes.data, kept.strides[0]
        places = [first + item * stride for item in range(self.count)]
        return [
            (ctypes.c_void_p * _LANES)(*places[group : group + _LANES])
            for group in range(0, self.count, _LANES)
        ]

    def _out(self, width: int) -> list[Any]:
        """The same for rows that become results."""
        self._outputs.append(np.zeros((self.count, width), np.uint8))
        return self._in(self._outputs[-1])

    def _lengths(self, rows: _Rows) -> Any:
        return (ctypes.c_int32 * _LANES)(*[rows.shape[1]] * _LANES)

    def _point(self, keys: _Rows) -> list[Any]:
        """Affine x and y of uncompressed keys, and None for z."""
        x, y = keys[:, 1 : 1 + self._size], keys[:, 1 + self._size :]
        return [self._in(_numbers(x)), self._in(_numbers(y)), None]

    def _signature(self, size: int) -> list[Any]:
        if self._given.signatures is None:
            raise ValueError("verification needs signatures")
        return [self._in(self._given.signatures[:, :size]), self._in(self._given.signatures[:, size:])]
