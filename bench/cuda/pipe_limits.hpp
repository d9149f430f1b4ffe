// SPDX-License-Identifier: Apache-2.0
// What the pipe that a technique's products go through allows: clocks of one multiprocessor for a Montgomery
// multiplication and a squaring, if that pipe never waited and nothing else took time.
//
// W = 32-bit words, D = 16-bit digits and L = 52-bit digits of the modulus. A reduction takes as many
// products as a multiplication, and one for each digit of the quotient.
//
//   technique          products of a multiplication   of a squaring                  a clock   pipe
//   row32              2 W^2 + W                      W (W + 1) / 2 + W^2 + W        32        IMAD.WIDE
//   fios, radix 2^32   2 W^2 + W                      as a multiplication            32        IMAD.WIDE
//   fios, radix 2^16   2 D^2 + D                      as a multiplication            64        IMAD
//   two_pass16         8 W^2 + 2 W                    2 W^2 + W + 4 W^2 + 2 W        64        IMAD
//   dpf52              2 L^2 + L                      L (L + 1) / 2 + L^2 + L        64 / 3    FP64
//
// dpf52's products take 3 instructions of FP64 (of 64 a clock), 2 integer additions (64) and 5 places of
// issue (128): modmul/dpf52/columns.cuda.hpp. Rates are those of compute capability 8.0, 9.0 and 10.0 (CUDA
// C++ Programming Guide, arithmetic instructions); IMAD.WIDE's is measured. Numbers shorter than a shape's
// are counted by their own length: what a shape computes in vain lowers its percentage.
#pragma once

#include <string_view>

namespace manymod::bench {

/// Clocks of a multiprocessor, at least.
struct PipeLimit {
  std::string_view pipe;
  double mul = 0;
  double sqr = 0;
};

/// `name` of a device::Technique.
constexpr PipeLimit pipe_limit(std::string_view name, unsigned bits) {
  const double words = (bits + 31) / 32;
  if (name.starts_with("fios.radix16")) {
    const double digits = 2 * words, products = 2 * digits * digits + digits;
    return {"IMAD", products / 64, products / 64};
  }
  if (name.starts_with("two_pass16")) {
    const double reduction = 4 * words * words + 2 * words;
    return {"IMAD", (4 * words * words + reduction) / 64, (2 * words * words + words + reduction) / 64};
  }
  if (name.starts_with("dpf52")) {
    // 52 L - 2 bits: modmul/dpf52/shapes.cuda.hpp
    const double digits = (bits + 2 + 51) / 52, reduction = digits * digits + digits;
    return {"FP64", (digits * digits + reduction) * 3 / 64, (digits * (digits + 1) / 2 + reduction) * 3 / 64};
  }
  const double reduction = words * words + words, mul = (words * words + reduction) / 32;
  if (name.starts_with("fios")) return {"IMAD.WIDE", mul, mul};
  return {"IMAD.WIDE", mul, (words * (words + 1) / 2 + reduction) / 32};
}

}  // namespace manymod::bench
