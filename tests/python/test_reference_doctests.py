# SPDX-License-Identifier: Apache-2.0
"""The examples in the oracle's docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
import reference

MODULES = sorted(module.name for module in pkgutil.walk_packages(reference.__path__, "reference."))


def test_modules_are_found() -> None:
    assert "reference.modmul.scalar64" in MODULES


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
