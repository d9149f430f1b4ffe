# SPDX-License-Identifier: Apache-2.0
"""Arithmetic modulo special primes on machine words, as the compiled code does it, instruction by instruction.

``primes.py`` lists which model serves which prime in which radix, with the multiplications of each.
"""
