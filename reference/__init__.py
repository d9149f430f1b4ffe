# SPDX-License-Identifier: Apache-2.0
"""Slow, plain Python oracle of manymod's algorithms.

Every module follows one published algorithm step by step, on explicit machine words of any size, and
asserts the ranges that its proof relies on. The folder names are those of ``src/``. The code is neither fast
nor constant-time: the compiled code is compared with it, and it explains the compiled code.
"""
