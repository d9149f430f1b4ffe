// SPDX-License-Identifier: Apache-2.0
// Technique vcpc512: Montgomery multiplication of one instance across 512-bit vectors, with carries passed
// from round to round ("vector carry propagation chains").
//
// Source: Y. Zhao, W. Pan, J. Lin, P. Liu, C. Xue, F. Zheng, "PhiRSA: Exploiting the Computing Power of
// Vector Instructions on Intel Xeon Phi for RSA", section 4 and Algorithm 3.
//
// An element is the canonical array of little-endian 64-bit limbs, padded to whole vectors. The sum S is V =
// L / 8 vectors of sixteen 32-bit elements, and a multiplication is 16 V rounds of
//
//   S += A b_i (two chains);  q = S[0] mu mod 2^32;  S += M q (two chains);  S >>= one 32-bit element.
//
// Xeon Phi (Knights Corner) has instructions that AVX-512 lacks. They are replaced as follows:
//
// * vpmulld and vpmulhud (low and high halves of sixteen products): vpmuludq on the even and on the odd
// elements of A. The 64-bit product of an even element 2j covers elements 2j and 2j + 1 and is added before
// the shift; the product of the odd element 2j + 1 covers the same two positions after the shift. A round
// therefore still has four chains, A_even b, M_even q | shift | A_odd b, M_odd q, with one multiplication per
// vector each: the paper's count.
// * vpadcd (add with carry in and carry out): a product is at most (2^32 - 1)^2 = 2^64 - 2^33 + 1, so a
// pending carry can be added to it without overflow. Then S is added, and vpcmpuq yields the mask of carries
// out. Three instructions: masked vpsubq of -1 (or vpaddq of 1), vpaddq, vpcmpuq.
//
// A carry out of 64-bit element j has the weight of a position two 32-bit elements higher. After the shifts
// of two rounds, element j of the same chain is at that position. Chains of even and of odd rounds are
// therefore kept apart: eight masks of 8 bits per vector. There are two ways to store them, chosen by
// measurement:
//
// * V <= 3, as in the paper: in mask registers (those beyond the seven usable ones are spilled by kmov). The
// pending carry of chain M_even enters q through a write mask: q = S[0] mu, + mu where the mask is set. 17 V
// + 4 instructions per round, plus the spills.
// * V >= 4: 8 V masks no longer fit, and each spilled mask costs a kmov load on a vector port. Each mask is
// instead added at once to a vector of counts, which the first product after the following shifts takes in.
// No carry is pending on element 0 when q is formed. 18 V + 4 instructions per round, without spills.
//
// The paper's instructions amount to 9 V + 4 per round.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::vcpc512 {

/// Widest modulus, in bits: 8 vectors.
inline constexpr std::size_t kMaxBits = 4096;
inline constexpr std::size_t kLimbsPerVector = 8;

#if MANYMOD_X86_64
/// The kernel table: G = 1, w = 64, headroom 0. An element is fully reduced, 0 <= value < n, and so are the
/// results of mul and sqr (by the paper's final subtraction). On input: a, b < n, or a < R and b <= n. No
/// scratch. Timing: constant-time.
const lanes::Kernels& avx512f_kernels();
#endif

}  // namespace manymod::vcpc512
