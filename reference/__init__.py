# SPDX-License-Identifier: Apache-2.0
"""Slow, plain Python oracle of manymod's algorithms.

Every module follows one published algorithm step by step, on explicit machine words of any size, and
asserts the ranges its proof relies on. The folder names are those of ``src/``. Nothing here is meant to be
fast or free of timing leaks: it is what the compiled code is compared with, and what explains it.
"""
