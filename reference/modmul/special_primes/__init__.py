# SPDX-License-Identifier: Apache-2.0
"""Arithmetic modulo special primes on machine words, instruction by instruction as in compiled code.

``primes.py`` lists which model serves which prime in which radix, with the multiplications of each.
"""
