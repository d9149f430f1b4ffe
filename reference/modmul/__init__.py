# SPDX-License-Identifier: Apache-2.0
"""Modular multiplication and division, word by word, with the names of ``src/modmul``."""
