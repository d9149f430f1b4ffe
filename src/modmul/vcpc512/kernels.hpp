// SPDX-License-Identifier: Apache-2.0
// Technique vcpc512: one instance across 512-bit vectors, carries handed on from round to round.
//
// Source: Y. Zhao, W. Pan, J. Lin, P. Liu, C. Xue, F. Zheng, "PhiRSA: Exploiting the Computing Power of
// Vector Instructions on Intel Xeon Phi for RSA", section 4 and Algorithm 3 (vector carry propagation chains,
// VCPC).
//
// The element is the canonical array of little-endian 64-bit limbs, padded to whole vectors: S is V = L / 8
// vectors of sixteen 32-bit elements, and a multiplication is 16 V rounds of
//
//   S += A b_i (two chains);  q = S[0] mu mod 2^32;  S += M q (two chains);  S >>= one 32-bit element.
//
// What stands for the instructions of Xeon Phi (Knights Corner) that AVX-512 lacks:
//
// * vpmulld / vpmulhud (low and high halves of sixteen products): vpmuludq on the even and on the odd
//   elements of A. A 64-bit product of an even element covers elements 2j and 2j + 1 and is added before the
//   shift; the product of odd element 2j + 1 covers the same two places after the shift. So a round still has
//   four chains, A_even b, M_even q | shift | A_odd b, M_odd q, of one multiplication a vector each: the
//   paper's count.
// * vpadcd (add with carry in, carry out): a product is at most (2^32 - 1)^2 = 2^64 - 2^33 + 1, so pending
//   carries are first added to it without overflow; then S is added, and vpcmpuq yields the mask of the
//   carries out. Three instructions: masked vpsubq of -1 (or vpaddq of 1), vpaddq, vpcmpuq.
//
// A carry out of 64-bit element j belongs two 32-bit elements higher, where the shifts of two rounds bring
// element j of the same chain: the chains of even and of odd rounds are kept apart, eight masks of 8 bits a
// vector. Two ways to keep them, chosen by measurement:
//
// * V <= 3, as in the paper: in mask registers (those beyond the seven usable ones are spilled by kmov), and
//   chain M_even's pending carry enters q through a write mask: q = S[0] mu, + mu where the mask is set.
//   17 V + 4 instructions a round and the spills.
// * V >= 4: 8 V masks no longer fit, and each spilled one costs a kmov load on a vector port. Each mask is
//   instead added at once to a vector of carries that the first product after the next shifts takes in. No
//   carry is then pending on element 0 when q is formed. 18 V + 4 instructions a round, without spills.
//
// The paper's instructions come to 9 V + 4 a round.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::vcpc512 {

/// Widest modulus: 8 vectors.
inline constexpr std::size_t kMaxBits = 4096;
inline constexpr std::size_t kLimbsPerVector = 8;

#if MANYMOD_X86_64
/// G = 1, w = 64, headroom 0: an element is fully reduced, 0 <= value < n, and results of mul and sqr are
/// < n (the paper's final subtraction). In: a, b < n, or a < R and b <= n. No scratch.
const lanes::Kernels& avx512f_kernels();
#endif

}  // namespace manymod::vcpc512
