# SPDX-License-Identifier: Apache-2.0
"""Shared libraries of others by ctypes: prepared operands, and loops of nothing but calls."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manymod.cli.bench.gmp import GmpLibrary
from manymod.lab.machine import Machine
from manymod.lab.model import RowError, Unavailable
from manymod.lab.peers.numbers import compare, powers

__all__ = ["Loop", "crypto_mb_powers", "gmp_powers", "openssl_powers", "secp256k1_keys"]

#: A loop, its operations, and a text that tells the library's version.
Loop = tuple[Callable[[], Any], int, str]


def _load(name: str, how: str, machine: Machine) -> ctypes.CDLL:
    """A library by the linker's name, or from the folder of programs.

    Raises:
        Unavailable: if it is not there; the message says how to get it.
    """
    folders = [] if machine.programs is None else [machine.programs]
    places = [str(path) for folder in folders for path in sorted(Path(folder).glob(f"lib{name}.so*"))]
    refused = ""
    for place in filter(None, [*places, ctypes.util.find_library(name)]):
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            refused = f" ({error})"
    raise Unavailable(f"lib{name} is not there{refused}: {how}")


def gmp_powers(bits: int, _machine: Machine) -> Loop:
    """`mpz_powm_sec` in a loop."""
    try:
        library = GmpLibrary()
    except (OSError, ValueError, AttributeError):
        raise Unavailable("libgmp is not there: apt install libgmp10, or build it for this CPU") from None
    items = powers(bits)
    loop, _free = library.power_loop(items, secret=True)
    compare("GMP", [library.value(number) for number in loop()], items)
    return loop, len(items), f"GMP {library.version.decode()}, {library.path}"


class _Crypto:
    """Numbers of libcrypto."""

    def __init__(self, machine: Machine) -> None:
        self.library = _load("crypto", "apt install libssl3", machine)
        self.context = self._pointer("BN_CTX_new")

    def _pointer(self, function: str, *arguments: Any) -> ctypes.c_void_p:
        call = self.library[function]
        call.restype = ctypes.c_void_p
        return ctypes.c_void_p(call(*arguments))

    def number(self, value: int) -> ctypes.c_void_p:
        """A BIGNUM, which lives as long as the process."""
        content = value.to_bytes(-(-value.bit_length() // 8) or 1, "big")
        return self._pointer("BN_bin2bn", content, len(content), None)

    def value(self, number: ctypes.c_void_p, bits: int) -> int:
        """The integer of a BIGNUM."""
        content = ctypes.create_string_buffer(bits // 8)
        self.library.BN_bn2binpad(number, content, len(content))
        return int.from_bytes(content.raw, "big")

    def montgomery(self, modulus: ctypes.c_void_p) -> ctypes.c_void_p:
        """Montgomery constants of a modulus."""
        found = self._pointer("BN_MONT_CTX_new")
        self.library.BN_MONT_CTX_set(found, modulus, self.context)
        return found

    def version(self) -> str:
        """As the library has it."""
        self.library.OpenSSL_version.restype = ctypes.c_char_p
        return str(self.library.OpenSSL_version(0).decode())


def openssl_powers(bits: int, machine: Machine) -> Loop:
    """`BN_mod_exp_mont_consttime` in a loop, with constants of the moduli."""
    crypto = _Crypto(machine)
    items = powers(bits)
    calls = []
    for base, exponent, modulus in items:
        n = crypto.number(modulus)
        operands = (crypto.number(base), crypto.number(exponent), n)
        calls.append((crypto.number(0), *operands, crypto.context, crypto.montgomery(n)))
    power = crypto.library.BN_mod_exp_mont_consttime

    def loop() -> None:
        for call in calls:
            power(*call)

    loop()
    compare("OpenSSL", [crypto.value(call[0], bits) for call in calls], items)
    return loop, len(items), crypto.version()


_LANES = 8


def crypto_mb_powers(bits: int, machine: Machine) -> Loop:
    """`mbx_exp_mb8`, eight at a time."""
    library = _load(
        "crypto_mb",
        "build Intel's cryptography-primitives (bench/peers/README.md), or take libcrypto_mb.so of "
        "PyPI's ipp-crypto, with the libraries of intel-cmplr-lib-rt on LD_LIBRARY_PATH",
        machine,
    )
    if library.mbx_is_crypto_mb_applicable(ctypes.c_int64(0)) == 0:
        raise Unavailable("crypto_mb needs AVX-512 IFMA")
    items = powers(bits)
    words = bits // 64
    buffer = ctypes.create_string_buffer(library.mbx_exp_BufferSize(bits))
    results: list[Any] = []
    calls = []
    for at in range(0, len(items), _LANES):
        group = items[at : at + _LANES]
        outputs = [(ctypes.c_uint64 * words)() for _ in group]
        columns = [
            [
                (ctypes.c_uint64 * words).from_buffer_copy(value.to_bytes(8 * words, "little"))
                for value in column
            ]
            for column in zip(*group, strict=True)
        ]
        pointers = [
            (ctypes.c_void_p * _LANES)(*map(ctypes.addressof, column)) for column in (outputs, *columns)
        ]
        results += outputs
        out, base, exponent, modulus = pointers
        calls.append((out, base, exponent, bits, modulus, bits, buffer, len(buffer)))
        _alive.extend([outputs, *columns])
    power = library.mbx_exp_mb8

    def loop() -> None:
        for call in calls:
            if power(*call) != 0:
                raise RowError("mbx_exp_mb8 failed")

    loop()
    compare("crypto_mb", [int.from_bytes(bytes(result), "little") for result in results], items)
    return loop, len(items), "crypto_mb"


#: Operands and results whose addresses libraries were given.
_alive: list[Any] = []

_SECP256K1_SIGN = 1 | 1 << 9
_KEYS = 64


def secp256k1_keys(_bits: int, machine: Machine) -> Loop:
    """`secp256k1_ec_pubkey_create` in a loop: k G, constant-time."""
    library = _load("secp256k1", "apt install libsecp256k1-1", machine)
    library.secp256k1_context_create.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.secp256k1_context_create(_SECP256K1_SIGN))
    secrets = [os.urandom(32) for _ in range(_KEYS)]
    keys = [ctypes.create_string_buffer(64) for _ in secrets]
    create = library.secp256k1_ec_pubkey_create

    def loop() -> None:
        for key, secret in zip(keys, secrets, strict=True):
            create(context, key, secret)

    loop()
    serialised = ctypes.create_string_buffer(65)
    size = ctypes.c_size_t(65)
    library.secp256k1_ec_pubkey_serialize(context, serialised, ctypes.byref(size), keys[0], 2)
    from manymod.ecc import SECP256K1  # noqa: PLC0415 (only this row needs it)

    if bytes(serialised.raw) != SECP256K1.multiply(int.from_bytes(secrets[0], "big")):
        raise RowError("libsecp256k1: a public key is wrong")
    return loop, _KEYS, "libsecp256k1"
