# SPDX-License-Identifier: Apache-2.0
"""Settings of all tests here."""

from hypothesis import settings

# Tests do not time: a busy machine, or a package that the first example imports, is no failure.
settings.register_profile("manymod", deadline=None)
settings.load_profile("manymod")
