# SPDX-License-Identifier: Apache-2.0
"""The message of a feature whose optional packages are not installed.

It names the packages, since manymod itself may have been installed from a folder, where its extras cannot be
asked for by name.
"""

from __future__ import annotations

__all__ = ["EXTRAS", "extra_of", "missing_extra"]

#: Packages of each extra besides those of the extras that it includes; the first extra that has a package is
#: the one to name.
EXTRAS = {
    "arrow": ("pyarrow",),
    "cli": ("click", "rich"),
    "ray": ("ray[data]",),
    "rsa": ("cryptography",),
    "bench": ("gmpy2",),
}
#: Extras that an extra includes.
_INCLUDED = {"cli": ("arrow",), "ray": ("arrow",), "bench": ("arrow", "cli", "rsa")}


def missing_extra(feature: str, extra: str) -> ImportError:
    """Return the error of a feature whose extra is not installed.

    >>> missing_extra("the manymod command", "cli").msg
    'the manymod command needs packages that are not installed: pip install pyarrow click rich'
    """
    packages = [package for name in (*_INCLUDED.get(extra, ()), extra) for package in EXTRAS[name]]
    return ImportError(
        f"{feature} needs packages that are not installed: pip install {' '.join(packages)}", name=extra
    )


def extra_of(error: ImportError) -> str | None:
    """Return the extra whose package a failed import wanted, None if it is a package of no extra.

    >>> extra_of(ImportError(name="rich.console")), extra_of(ImportError(name="os"))
    ('cli', None)
    """
    package = (error.name or "").partition(".")[0]
    if package in EXTRAS:
        return package
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)
