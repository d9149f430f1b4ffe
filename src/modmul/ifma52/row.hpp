// SPDX-License-Identifier: Apache-2.0
// One instance across 512-bit vectors by IFMA, for latency: digits of 52 bits side by side, V = ceil(L / 8)
// vectors of eight.
//
// Round i of L adds A b_i and a multiple of n that clears the lowest digit, and shifts right by one digit.
// What bounds a single instance is the way from one quotient digit to the next. Here it is one broadcast and
// one vpmadd52lo (with the shift beside it, 8 cycles), because all rounds but the last two reduce by a
// multiple of n that needs no multiplication for its quotient digits:
//
//   W = 2^52, m = n k0 with k0 = -n^-1 mod W, so m = -1 mod W and m' = (m + 1) / W is an integer, m' <= n;
//   q = T mod W;  (T + q m) / W = (T - q) / W + q m'.
//
// The quotient digit is the lowest digit itself, vpmadd52 ignores the bits above it, and the carry of the
// cleared digit is T_0 >> 52. (Montgomery-friendly moduli: M. Knezevic, F. Vercauteren, I. Verbauwhede,
// "Speeding Up Bipartite Modular Multiplication", 2010; here as an inner step, so that operands stay below
// 2n.)
//
// Bound. The last two rounds take n itself: with q_i < W,
//   r = (a b + sum of q_i W^i m (i < L - 2) + sum of q_i W^i n (i >= L - 2)) / R
//     < a b / R + n / W + n.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::ifma52 {

#if MANYMOD_X86_64

/// G = 1, w = 52, R >= 8n: a, b < 2n + n / W give r < 1.6 n, and a < R, b <= n give r < 2n + n / W. Digits
/// are exact.
///
/// The modulus block has more words than other techniques': n (L words), k0, and m' (8 V words), which
/// `prepare` computes from n and k0. No scratch.
const lanes::Kernels& row_kernels();

#endif

}  // namespace manymod::ifma52
