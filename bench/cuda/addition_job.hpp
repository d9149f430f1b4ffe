// SPDX-License-Identifier: Apache-2.0
// What the kernels of additions.cu are given.
#pragma once

#include <cstdint>

namespace manymod::bench {

/// For each item i < count: result = x + steps y, or x - steps y, modulo n, one after the other. Numbers are
/// rows of `width` words; x, y < n.
struct AdditionJob {
  const std::uint32_t* x;
  const std::uint32_t* y;
  const std::uint32_t* n;
  std::uint32_t* result;
  std::uint32_t width;
  std::uint32_t count;
  std::uint32_t steps;
  std::uint32_t subtract;
};

}  // namespace manymod::bench

/// FORM(name, bits of a digit, place), as modmul/fios names them.
#define MM_BENCH_ADDITION_FORMS(FORM)      \
  FORM(radix16_registers, 16, InRegisters) \
  FORM(radix16_shared, 16, InSharedMemory) \
  FORM(radix16_local, 16, InLocalMemory)   \
  FORM(radix32_registers, 32, InRegisters) \
  FORM(radix32_shared, 32, InSharedMemory) \
  FORM(radix32_local, 32, InLocalMemory)
