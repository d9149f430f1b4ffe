# SPDX-License-Identifier: Apache-2.0
"""Settings and fixtures of all tests here."""

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# The tests of RSA need its packages and a build that has it; all others, such as those of GPUs, run without.
with contextlib.suppress(ImportError, pytest.skip.Exception):
    from tests.python.signer_support import expected, gate

    __all__ = ["expected", "gate"]

# OpenCL drivers compile each kernel that is used, and do not survive a fork: only tests that start a program
# of their own use them.
os.environ["MANYMOD_HIDE_OPENCL"] = "1"

# Tests do not time: a busy machine, or a package that the first example imports, is no failure.
settings.register_profile("manymod", deadline=None)
settings.load_profile("manymod")

# Tests send these to themselves and to programs that they start, but a caller may have had them ignored:
# nohup, or a shell that runs the tests in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def own_rows() -> Iterator[None]:
    """This build's own tuning table before and after a test."""
    import manymod

    manymod.load_tuning(None)
    yield
    manymod.load_tuning(None)


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The limbs of converted ints that have 77777 among them."""
    import manymod

    seen: list[Any] = []
    original = manymod._core.ints_to_limbs

    def watched(sequence: Any, start: int, limbs: Any, negative: Any) -> None:
        original(sequence, start, limbs, negative)
        if 77777 in sequence:
            seen.append(limbs)

    monkeypatch.setattr(manymod._core, "ints_to_limbs", watched)
    return seen
