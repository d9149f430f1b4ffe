#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare everything that a device computes on curves with what the CPU computes.

    python tools/check_curves.py --device cuda --items 20000

Each case is one call of the package, made on both devices with the same operands: public keys, points in
every encoding, multiples, sums, signatures, verdicts, recovered keys and shared secrets, on named curves and
on curves of users. Some operands are damaged, so that results and statuses of good and bad items are
compared. A case runs with one item, with few and with `--items`. Hedged signatures are random: the CPU
verifies them.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from manymod import VariantError, ecc

#: Curves of users: p = 1 mod 2^96, the widest p, and twisted Edwards curves.
OWN_CURVES: dict[str, Callable[[], ecc.Curve]] = {
    "P-224": lambda: ecc.Curve(
        p=2**224 - 2**96 + 1,
        a=2**224 - 2**96 - 2,
        b=0xB4050A850C04B3ABF54132565044B0B7D7BFD8BA270B39432355FFB4,
        generator=(
            0xB70E0CBD6BB4BF7F321390B94A03C1D356C21122343280D6115C1D21,
            0xBD376388B5F723FB4C22DFE6CD4375A05A07476444D5819985007E34,
        ),
        n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D,
    ),
    "own curve of 640 bits": lambda: ecc.Curve(
        p=int(
            "8fa662c21fea48ec01e70ffecb29e0d10003c52bcb27ea875375001b06c01d35c66e8fc0017823a9"
            "16e075c93d0f7e7f7c30a169514be34d525ccc6309d780d4bae285cf8ce7c5047c2e480cd06d6a63",
            16,
        ),
        a=int(
            "13b8cd709e444301879f7c4253efe6d2204c829c190ab4625f0cbd0bc8e1db2a0df1bb64edadb427"
            "5ce8325e1f2e4c42e5d454dab071f56921a166a0d52e35c8aa0b26cb471d71f71ddf68685968c9ba",
            16,
        ),
        b=int(
            "3d07ff36742644fa5b0cad8126588f7c6adeee215469c66eb084d36632d69bd8a0c6022df44683fd"
            "459048d7292407ac6d486e5f90ba9a0a87353336e6bbf9775a52f122090b8da63d4f0849d66a549d",
            16,
        ),
        generator=(
            1,
            int(
                "265e76ac846bc414bc6007e39620c54b6fb18d8cf717b10dffe4db2f6af61b2012af0fb9eb7f21c9"
                "ee3a8fea3fe2e4ca5ddfb495b16ad7585f9fda6e0be08769cef34cf355c1ec0cf7b98142935d3c1f",
                16,
            ),
        ),
        n=int(
            "8fa662c21fea48ec01e70ffecb29e0d10003c52bcb27ea875375001b06c01d35c66e8fc0017823a9"
            "31e667403e41ec2304d842b8576e1ef08b6ff9b3ca97be7ed613c7cc91406ef288693d5e1a84ec39",
            16,
        ),
    ),
    "E-222": lambda: ecc.Curve(
        form="edwards",
        p=2**222 - 117,
        a=1,
        b=160102,
        generator=(2705691079882681090389589001251962954446177367541711474502428610129, 28),
        n=1684996666696914987166688442938726735569737456760058294185521417407,
        cofactor=4,
    ),
    "Curve41417": lambda: ecc.Curve(
        form="edwards",
        p=2**414 - 17,
        a=1,
        b=3617,
        generator=(
            int(
                "17319886477121189177719202498822615443556957307604340815256226171904769976866975"
                "908866528699294134494857887698432266169206165"
            ),
            34,
        ),
        n=2**411 - 33364140863755142520810177694098385178984727200411208589594759,
        cofactor=8,
    ),
}
NAMES = [*(curve.name for curve in ecc.named_curves()), *OWN_CURVES]
#: Items of the shorter calls: one, and more than a warp.
FEW = (1, 33)
#: GPUs hash messages of up to 256 bytes themselves.
LONGEST_MESSAGE = 300
STATUSES = {"errors": "status"}


@dataclass(frozen=True)
class Case:
    """A call of a curve's method: each operand is a list with an entry for each item."""

    method: str
    operands: Sequence[Sequence[Any]]
    options: dict[str, Any] = field(default_factory=dict)
    #: What tells this case from others with the same method and options.
    note: str = ""

    def run(self, curve: ecc.Curve, items: int, device: str) -> Any:
        """Call the method for the first items on a device."""
        operands = (list(operand[:items]) for operand in self.operands)
        return getattr(curve, self.method)(*operands, device=device, **self.options)

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.method}({options}) {self.note}".rstrip()


class Operands:
    """Operands of the calls on a curve, computed by the CPU."""

    def __init__(self, curve: ecc.Curve, items: int, source: random.Random) -> None:
        self.curve, self.items, self.source = curve, items, source
        self.messages = [source.randbytes(source.randrange(LONGEST_MESSAGE + 1)) for _ in range(items)]
        self.scalars = self._scalars()

    def compressed(self, points: Sequence[bytes]) -> list[bytes]:
        """Give points in the shorter encoding, which is the only one on Edwards curves."""
        if self.curve.form == "edwards":
            return list(points)
        return list(self.curve.points(list(points), "compressed", device="cpu"))

    def pairs(self) -> tuple[list[bytes], list[bytes]]:
        """Give private keys and their public keys."""
        pairs = self.curve.generate(self.items, device="cpu")
        secrets, keys = ([row.tobytes() for row in rows] for rows in pairs)
        return secrets, keys

    def damaged(self, rows: Sequence[bytes]) -> list[bytes]:
        """Flip a bit of every seventh row, and shorten one."""
        result = []
        for item, row in enumerate(rows):
            changed = bytearray(row)
            if item % 7 == 3:
                changed[self.source.randrange(len(changed))] ^= 1 << self.source.randrange(8)
            result.append(bytes(changed[:-1] if item == 4 else changed))
        return result

    def points(self) -> list[bytes]:
        """Give points of the generator's group."""
        scalars = [self.source.randrange(1, 2**self.curve.order_bits) for _ in range(self.items)]
        return list(self.curve.multiply(scalars, device="cpu"))

    def _scalars(self) -> list[int]:
        size, order = 8 * self.curve.scalar_bytes, self.curve.order_bits
        edges = [0, 1, 2, 3, 2 ** (order - 1), 2**order - 1, 2**size - 1]
        return (edges + [self.source.randrange(2**size) for _ in range(self.items)])[: self.items]


def point_cases(operands: Operands) -> Iterator[Case]:
    """Encodings, multiples and sums of points."""
    points, others, scalars = operands.points(), operands.points(), operands.scalars
    weierstrass = operands.curve.form == "weierstrass"
    for given, note in ((points, ""), (operands.compressed(points), "of compressed points")):
        yield Case("points", (operands.damaged(given),), STATUSES, note)
        yield Case("multiply", (scalars, operands.damaged(given)), STATUSES, note)
        yield Case("add", (given, operands.damaged(others)), STATUSES, note)
    for encoding in ("compressed", "x") if weierstrass else ():
        yield Case("points", (points,), STATUSES | {"encoding": encoding})
    yield Case("multiply", (scalars,), STATUSES, "of the generator")
    doubled = [
        other if item % 5 else point for item, (point, other) in enumerate(zip(points, others, strict=True))
    ]
    yield Case("add", (points, doubled), STATUSES, "some of them equal")
    size = 8 * operands.curve.scalar_bytes
    kinds = {
        "random": scalars,
        "equal": [operands.source.randrange(2**size)] * operands.items,
        "short": [operands.source.randrange(40) for _ in scalars],
    }
    for kind, numbers in kinds.items():
        yield Case(
            "msm", (numbers, [points[item // 2] for item in range(operands.items)]), {}, f"{kind} scalars"
        )


def key_cases(operands: Operands) -> Iterator[Case]:
    """Public keys and shared secrets."""
    secrets, keys = operands.pairs()
    weierstrass = operands.curve.form == "weierstrass"
    for encoding in ("uncompressed", "compressed", "x") if weierstrass else ("uncompressed",):
        yield Case("public_keys", (operands.damaged(secrets),), STATUSES | {"encoding": encoding})
    if operands.curve.form == "edwards":
        return
    for algorithm in (None, "sha256"):
        options = STATUSES | {"algorithm": algorithm}
        yield Case("exchange", (operands.damaged(secrets), operands.damaged(keys[::-1])), options)
    if weierstrass:
        peers = operands.damaged(operands.compressed(keys[::-1]))
        yield Case("exchange", (secrets, peers), STATUSES, "with compressed keys")
    if operands.curve.name == "SM2":
        ephemeral, sent = operands.pairs()
        others = (keys[::-1], operands.damaged(sent[::-1]))
        yield Case("sm2_exchange", (secrets, ephemeral, *others), STATUSES | {"confirm": True})


def signing_options(curve: ecc.Curve) -> Iterator[dict[str, Any]]:
    """Give options of signatures that key and message determine."""
    yield {}
    if curve.form == "edwards":
        yield {"context": b"context"}
        return
    yield {"encoding": "der"}
    if curve.name == "secp256k1":
        yield {"scheme": "bip340"}
    if curve.name == "SM2":
        yield {"scheme": "ecdsa"}
    else:
        yield {"algorithm": "sha512"}


def verifying(keys: list[bytes], options: dict[str, Any]) -> list[bytes]:
    """Give public keys as their scheme has them: by BIP 340 x alone."""
    return [key[1:33] for key in keys] if options.get("scheme") == "bip340" else keys


def signature_cases(operands: Operands) -> Iterator[Case]:
    """Signatures, verdicts and recovered keys."""
    curve, messages = operands.curve, operands.messages
    secrets, keys = operands.pairs()
    for options in signing_options(curve):
        yield Case("sign", (operands.damaged(secrets), messages), STATUSES | options)
        signatures = list(curve.sign(secrets, messages, device="cpu", **options))
        given = operands.damaged(signatures)
        forms = {"": verifying(keys, options)}
        if curve.form == "weierstrass" and forms[""] is keys:
            forms["compressed keys"] = operands.compressed(keys)
        policies = ("rfc8032", "strict", "zip215") if curve.form == "edwards" else (None,)
        for form, public in forms.items():
            for policy in policies:
                chosen = options | ({"policy": policy} if policy else {})
                yield Case("verify", (public, given, messages), STATUSES | chosen, form)
                yield Case(
                    "verify", (operands.damaged(public), signatures, messages), STATUSES | chosen, form
                )
            if policies[-1] == "zip215" or "scheme" in options:
                yield Case("verify_all", (public, signatures, messages), chosen, form)
    if curve.form == "weierstrass" and curve.coordinate_bytes == curve.scalar_bytes:
        yield from recovery_cases(operands, secrets)


def recovery_cases(operands: Operands, secrets: list[bytes]) -> Iterator[Case]:
    """Signatures that are not verified, with what recovers keys, and the keys."""
    curve, messages = operands.curve, operands.messages
    how: dict[str, Any] = {"encoding": "recoverable"} | ({"scheme": "ecdsa"} if curve.name == "SM2" else {})
    yield Case("sign", (secrets, messages), STATUSES | how | {"check": False})
    signatures = list(curve.sign(secrets, messages, device="cpu", **how))
    for encoding in ("uncompressed", "compressed"):
        yield Case("recover", (operands.damaged(signatures), messages), STATUSES | {"encoding": encoding})


def plain(answer: Any) -> Any:
    """Give an answer in types that `==` compares as a whole."""
    if isinstance(answer, tuple):
        return [plain(part) for part in answer]
    return answer.tolist() if hasattr(answer, "tolist") else answer


def differences(curve: ecc.Curve, device: str, items: int, source: random.Random) -> Iterator[str]:
    """Name the cases that a device answers otherwise than the CPU."""
    operands = Operands(curve, items, source)
    for case in cases_of(operands):
        for count in (*(few for few in FEW if few < items), items):
            found, expected = (plain(case.run(curve, count, where)) for where in (device, "cpu"))
            if found != expected:
                yield f"{case} of {count} items: different"
    if curve.signature_bytes and curve.form == "weierstrass":
        yield from hedged_differences(operands, device)


def cases_of(operands: Operands) -> Iterator[Case]:
    """Give the cases of what a curve has."""
    curve = operands.curve
    if curve.form != "montgomery":
        yield from point_cases(operands)
    if curve.form != "edwards" or curve.signature_bytes:
        yield from key_cases(operands)
    if curve.signature_bytes:
        yield from signature_cases(operands)


def hedged_differences(operands: Operands, device: str) -> Iterator[str]:
    """Name the schemes whose hedged signatures, made by a device, are not valid for the CPU."""
    curve, messages = operands.curve, operands.messages
    secrets, keys = operands.pairs()
    for options in signing_options(curve):
        signatures = curve.sign(secrets, messages, device=device, nonces="hedged", **options)
        if not all(curve.verify(verifying(keys, options), signatures, messages, device="cpu", **options)):
            case = Case("sign", (), {"nonces": "hedged"} | options)
            yield f"{case} of {operands.items} items: not valid for the CPU"


def curve_named(name: str) -> ecc.Curve:
    """Give a curve of `NAMES`."""
    return OWN_CURVES[name]() if name in OWN_CURVES else ecc.Curve.named(name)


def timed(name: str, found: Iterator[str]) -> int:
    """Print what is different, or why nothing could be compared; return how many differences there are."""
    begin = time.perf_counter()
    try:
        lines = list(found)
    except VariantError as error:
        print(f"{name}: {error}")
        return 0
    print("\n".join(f"{name}: {line}" for line in lines) or f"{name}: equal", end=" ")
    print(f"({time.perf_counter() - begin:.1f} s)", flush=True)
    return len(lines)


def main() -> int:
    """Compare all curves; return 1 if there is a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--curves", nargs="+", default=NAMES, choices=NAMES, metavar="NAME")
    arguments = parser.parse_args()
    source = random.Random(7)
    failures = 0
    for name in arguments.curves:
        curve = curve_named(name)
        failures += timed(name, differences(curve, arguments.device, arguments.items, source))
    return int(failures != 0)


if __name__ == "__main__":
    raise SystemExit(main())
