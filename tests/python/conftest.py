# SPDX-License-Identifier: Apache-2.0
"""Settings and fixtures of all tests here."""

from hypothesis import settings
from tests.python.signer_support import expected, gate

__all__ = ["expected", "gate"]

# Tests do not time: a busy machine, or a package that the first example imports, is no failure.
settings.register_profile("manymod", deadline=None)
settings.load_profile("manymod")
