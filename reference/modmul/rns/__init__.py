# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication in residue number systems (technique ``rns``).

Theory, bounds and proofs: docs/rns/theory.md, whose sections and names of inequalities the modules use.

=====================  ==============================================================================
module                 contents
=====================  ==============================================================================
``bases``              bases, the Cox, and the inequalities that a pair of bases has to satisfy
``extension``          base extensions: mixed radix, Cox-Rower, stored residues, redundant modulus
``montgomery``         Montgomery multiplication (algorithm 1) over any pair of bases and extensions
``words``              one channel in 32-bit words: reductions, products, remainders of byte sums
``byte_matrix``        matrix products over bytes, as 8-bit tensor cores compute them
``operands``           the bytes that such a product takes, and estimates of their rank
``conversion``         between radix 2^8 and residues, both as matrix products
``tensor``             the data flow of the CUDA kernels, built of the modules above
``layout``             the tables of ``tensor`` as bytes in memory, as src/modmul/rns/layout.hpp has them
=====================  ==============================================================================

``montgomery`` needs ``bases`` and ``extension`` alone and is the place to begin.
"""
