# SPDX-License-Identifier: Apache-2.0
"""What a curve is: its numbers, names and sizes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from manymod import _core
from manymod.errors import UnsupportedError
from manymod.plan import checked_integer, library_name

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CurveDefinition"]

_FORMS = {
    "weierstrass": _core.MM_ECC_WEIERSTRASS,
    "edwards": _core.MM_ECC_EDWARDS,
    "montgomery": _core.MM_ECC_MONTGOMERY,
}


_AnyCurve = TypeVar("_AnyCurve", bound="CurveDefinition")


class CurveDefinition:
    """A named curve, or numbers that were checked to be one; `Curve` documents the arguments."""

    def __init__(
        self,
        *,
        p: int,
        a: int,
        b: int,
        generator: tuple[int, int],
        n: int,
        cofactor: int = 1,
        form: Literal["weierstrass", "edwards"] = "weierstrass",
    ) -> None:
        if form not in ("weierstrass", "edwards"):
            raise ValueError(f"form must be 'weierstrass' or 'edwards', not {form!r}")
        try:
            x, y = generator
        except (TypeError, ValueError):
            raise TypeError("generator must be a pair of coordinates: (x, y)") from None
        numbers = {"p": p, "a": a, "b": b, "x": x, "y": y, "n": n, "cofactor": cofactor}
        given = {name: checked_integer(name, value) for name, value in numbers.items()}
        for name, value in given.items():
            if value < 0:
                raise ValueError(f"{name} is negative")
        self._numbers: Any = (form, *given.values())
        encoded = {
            name: value.to_bytes((value.bit_length() + 7) // 8 or 1, "big") for name, value in given.items()
        }
        self.native = _core.EccCurve.create(_FORMS[form], **encoded)

    @classmethod
    def named(cls, name: str) -> Self:
        """The curve of this name, such as ``"P-256"``, ``"secp256r1"`` or ``"Ed25519"``.

        Raises:
            ValueError: if there is none.

        >>> from manymod.ecc import Curve
        >>> Curve.named("prime256v1")
        Curve.named('P-256')
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        if not _core.ecc_supported():
            return _of_name(cls, name)
        found = _core.EccCurve.find(library_name(name))
        if found is None:
            listed = ", ".join(curve.name for curve in _core.EccCurve.named())
            raise ValueError(f"no curve {name!r}: there are {listed}")
        return _of_name(cls, found.name)

    @functools.cached_property
    def native(self) -> _core.EccCurve:
        """The extension's curve."""
        found = _core.EccCurve.find(self._numbers)
        if found is None:
            raise UnsupportedError("this build of manymod has no curves: it was made without libcrypto")
        return found

    @property
    def name(self) -> str:
        """The curve's name, empty for one of your own."""
        return self._numbers if isinstance(self._numbers, str) else ""

    @property
    def form(self) -> str:
        """``"weierstrass"``, ``"edwards"`` or ``"montgomery"``."""
        return next(name for name, number in _FORMS.items() if number == self.native.form)

    @property
    def field_bits(self) -> int:
        """Bits of the field's prime."""
        return self.native.field_bits

    @property
    def order_bits(self) -> int:
        """Bits of the generator's order."""
        return self.native.order_bits

    @property
    def coordinate_bytes(self) -> int:
        """Bytes of a coordinate, and so of a shared secret."""
        return self.native.coordinate_bytes

    @property
    def scalar_bytes(self) -> int:
        """Bytes of a scalar, and of each half of a signature."""
        return self.native.scalar_bytes

    @property
    def secret_bytes(self) -> int:
        """Bytes of a private key."""
        return self.native.secret_bytes

    @property
    def public_bytes(self) -> int:
        """Bytes of a public key, and of the longest encoding of a point."""
        return self.native.public_bytes

    @property
    def signature_bytes(self) -> int:
        """Bytes of a raw signature; 0 where the curve has none."""
        return self.native.signature_bytes

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the name or the numbers."""
        return _restored, (type(self), self._numbers)

    def __eq__(self, other: object) -> bool:
        return self._numbers == other._numbers if isinstance(other, CurveDefinition) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        """Name or numbers."""
        if isinstance(self._numbers, str):
            return f"Curve.named({self._numbers!r})"
        form, p, a, b, x, y, n, cofactor = self._numbers
        return (
            f"Curve(p={p:#x}, a={a:#x}, b={b:#x}, generator=({x:#x}, {y:#x}), n={n:#x}, "
            f"cofactor={cofactor}, form={form!r})"
        )


def _of_name(cls: type[_AnyCurve], name: str) -> _AnyCurve:
    curve = object.__new__(cls)
    curve._numbers = name
    return curve


def _restored(cls: type[CurveDefinition], numbers: Any) -> CurveDefinition:
    if isinstance(numbers, str):
        return cls.named(numbers)
    form, p, a, b, x, y, n, cofactor = numbers
    return cls(p=p, a=a, b=b, generator=(x, y), n=n, cofactor=cofactor, form=form)
