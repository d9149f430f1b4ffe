// SPDX-License-Identifier: Apache-2.0
// What the pipes that a technique's products go through allow: clocks of one multiprocessor for a Montgomery
// multiplication and a squaring, if such a pipe never waited and nothing else took time.
//
// W = 32-bit words, D = 16-bit digits and L = 52-bit digits of the modulus. A reduction takes as many
// products as a multiplication, and one for each digit of the quotient.
//
//   technique          products of a multiplication   of a squaring                  a clock   pipe
//   row32              2 W^2 + W                      W (W + 1) / 2 + W^2 + W        32        IMAD.WIDE
//   fios, radix 2^32   2 W^2 + W                      W (W + 1) / 2 + W^2 + W        32        IMAD.WIDE
//   fios, radix 2^16   2 D^2 + D                      D (D + 1) / 2 + D^2 + D        64        IMAD
//   two_pass16         8 W^2 + 2 W                    2 W^2 + W + 4 W^2 + 2 W        64        IMAD
//   dpf52              2 L^2 + L                      L (L + 1) / 2 + L^2 + L        64 / 3    FP64
//
// dpf52's products take 3 instructions of FP64 (of 64 a clock), 2 integer additions (64) and 5 places of
// issue (128): modmul/dpf52/columns.cuda.hpp. Rates are those of compute capability 8.0, 9.0 and 10.0 (CUDA
// C++ Programming Guide, arithmetic instructions); IMAD.WIDE's is measured. Numbers shorter than a shape's
// are counted by their own length: what a shape computes in vain lowers its percentage.
//
// rns has two pipes, and a squaring costs what a multiplication does. With n channels in each of its bases
// (docs/rns.md, "Matrix products over bytes"):
//
//   IMAD     8 n products with high words (IMAD.WIDE, IMAD.HI) and 7 n low ones take (8 n) / 32 + (7 n) / 64
//            clocks, with one modulus (6 n) / 32 + (8 n) / 64. Both kinds go through one pipe, where the wide
//            ones take two places. (Where quotients are at hand, up to 1536 bits, n high ones are low.)
//   tensor   two matrices of bytes (modmul/rns/layout.hpp), each byte of which is multiplied once for each
//            instance, of 4096 products of bytes a clock (wgmma of sm_90). Rows of zeros that fill up a step
//            of 32 bytes along K are counted: they keep the pipe as busy as others.
//   IMAD.WIDE and tensor
//            the sum of both without low products: products of matrices and those with high words exclude
//            each other (measured on an H200: their rates add up to 100 %).
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "modmul/rns/constants.hpp"

namespace manymod::bench {

/// Clocks of a multiprocessor, at least.
struct PipeLimit {
  std::string_view pipe;
  double mul = 0;
  double sqr = 0;
};

/// `words`: of the widest modulus of the kernel. Per channel: products with a high word, those without one
/// (docs/rns.md, "Matrix products over bytes").
constexpr double rns_wide_clocks(unsigned words, bool one_modulus) {
  const rns::ConstantsLayout sizes = rns::sizes_of(32 * words);
  return sizes.channels * (!one_modulus ? 8 : sizes.has_roots() ? 5 : 6) / 32.0;
}
constexpr double rns_low_clocks(unsigned words, bool one_modulus) {
  const rns::ConstantsLayout sizes = rns::sizes_of(32 * words);
  return sizes.channels * (one_modulus && !sizes.has_roots() ? 8 : 7) / 64.0;
}

/// Both extension matrices.
constexpr double rns_matrix_bytes(unsigned words) {
  return 2 * static_cast<double>(rns::sizes_of(32 * words).extension().bytes());
}

/// `name` of a gpu::Technique. The first is the narrowest.
inline std::vector<PipeLimit> pipe_limits(std::string_view name, unsigned bits, bool one_modulus) {
  const double words = (bits + 31) / 32;
  if (name.starts_with("rns")) {
    const unsigned whole_words = (bits + 31) / 32;
    const double wide = rns_wide_clocks(whole_words, one_modulus);
    const double imad = wide + rns_low_clocks(whole_words, one_modulus);
    const double tensor = rns_matrix_bytes(whole_words) / 4096, both = wide + tensor;
    return {{"IMAD.WIDE and tensor", both, both}, {"IMAD", imad, imad}, {"tensor", tensor, tensor}};
  }
  if (name.starts_with("fios.radix16")) {
    const double digits = 2 * words, reduction = digits * digits + digits;
    return {{"IMAD", (digits * digits + reduction) / 64, (digits * (digits + 1) / 2 + reduction) / 64}};
  }
  if (name.starts_with("two_pass16")) {
    const double reduction = 4 * words * words + 2 * words;
    return {{"IMAD", (4 * words * words + reduction) / 64, (2 * words * words + words + reduction) / 64}};
  }
  if (name.starts_with("dpf52")) {
    // 52 L - 2 bits: modmul/dpf52/shapes.cuda.hpp
    const double digits = (bits + 2 + 51) / 52, reduction = digits * digits + digits;
    return {
        {"FP64", (digits * digits + reduction) * 3 / 64, (digits * (digits + 1) / 2 + reduction) * 3 / 64}};
  }
  const double reduction = words * words + words;
  return {{"IMAD.WIDE", (words * words + reduction) / 32, (words * (words + 1) / 2 + reduction) / 32}};
}

}  // namespace manymod::bench
