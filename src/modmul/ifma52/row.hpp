// SPDX-License-Identifier: Apache-2.0
// Kernels of technique ifma52 that spread one instance across 512-bit vectors, for low latency: L digits of
// 52 bits in V = ceil(L / 8) vectors of eight.
//
// Round i of L adds A b_i and a multiple of n that clears the lowest digit, then shifts right by one digit.
// The latency of a single instance is bounded by the dependency from one quotient digit to the next. Here
// that is one broadcast and one vpmadd52lo (8 cycles, with the shift in parallel), since every round but the
// last two reduces by a multiple m of n whose quotient digit needs no multiplication:
//
//   W = 2^52, m = n k0 with k0 = -n^-1 mod W, so m = -1 mod W and m' = (m + 1) / W is an integer, m' <= n;
//   q = T mod W;  (T + q m) / W = (T - q) / W + q m'.
//
// The quotient digit q is the lowest digit of T itself: vpmadd52 ignores the bits above it, and the carry out
// of the cleared digit is T_0 >> 52. (Such moduli are called Montgomery-friendly: M. Knezevic, F.
// Vercauteren, I. Verbauwhede, "Speeding Up Bipartite Modular Multiplication", 2010. Here m serves inner
// rounds only, so that results stay below 2 n + n / W.)
//
// Bound. The last two rounds reduce by n itself. With q_i < W,
//   r = (a b + sum of q_i W^i m (i < L - 2) + sum of q_i W^i n (i >= L - 2)) / R
//     < a b / R + n / W + n.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::ifma52 {

#if MANYMOD_X86_64

/// The kernel table: G = 1, w = 52, R >= 8 n. For a, b < 2 n + n / W the result is below 1.6 n; for a < R, b
/// <= n it is below 2 n + n / W. Digits are exact, that is below W. Timing: constant-time.
///
/// The modulus block has more words than that of other techniques: n (L words), k0 (1 word) and m' (8 V
/// words), which `prepare` computes from n and k0. No scratch.
const lanes::Kernels& row_kernels();

#endif

}  // namespace manymod::ifma52
