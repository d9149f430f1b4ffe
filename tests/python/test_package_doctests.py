# SPDX-License-Identifier: Apache-2.0
"""The examples in the package's docstrings run."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = [
    "manymod",
    *(
        f"manymod.{name}"
        for name in (
            "_extras",
            "arithmetic",
            "asynchronous",
            "fixed_base",
            "frames",
            "hardware",
            "intarray",
            "multi",
            "plan",
            "powers",
            "rsa",
            "rsa.padding",
            "rsa.public_key",
            "tables",
            "ray",
            "tables.columns",
            "tables.mapping",
            "tables.operations",
        )
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failed, attempted = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert attempted > 0
    assert failed == 0
