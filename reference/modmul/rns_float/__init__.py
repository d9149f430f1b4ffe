# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication in residue number systems on floating-point units (technique ``rns_float``).

Theory, bounds and proofs: docs/rns/floating_point.md. Bases and base extensions are
those of :mod:`reference.modmul.rns`.

=====================  ==============================================================================
module                 contents
=====================  ==============================================================================
``binary_float``       binary floating point of any precision, with every rounding error known
``channels``           the four representations of a residue in the paper of Moss, Page and Smart
``staged``             Montgomery multiplication over such channels, in the six stages of that paper
``centred``            the arithmetic of the CUDA kernels: remainders of either sign, no corrections
``summed``             the multiplication of the OpenCL kernels: digits by sums of products
=====================  ==============================================================================
"""
