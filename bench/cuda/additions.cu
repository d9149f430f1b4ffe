// SPDX-License-Identifier: Apache-2.0
// Chains of modular additions and subtractions by fios's arithmetic, with operands in registers, shared or
// local memory: the first half of table 1 of Giorgi, Izard, Tisserand, "Comparison of modular arithmetic
// algorithms on GPUs".
#include <type_traits>

#include "addition_job.hpp"
#include "modmul/fios/arithmetic.cuda.hpp"
#include "modmul/fios/digits.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::bench {
namespace {

extern __shared__ std::uint32_t shared_words[];

template <unsigned kDigitBits, class Place, unsigned kWords>
class Chain {
  using Digit = fios::Radix<kDigitBits>;
  static constexpr unsigned kDigits = 32 * kWords / kDigitBits;
  static constexpr bool kShared = std::is_same_v<Place, fios::InSharedMemory>;
  using Operations = fios::Arithmetic<Digit, Place, kDigits>;

  struct Digits {
    std::uint32_t digit[kDigits];
    __device__ std::uint32_t operator[](unsigned j) const { return digit[j]; }
    __device__ std::uint32_t& operator[](unsigned j) { return digit[j]; }
  };
  using Operand = std::conditional_t<kShared, LaneMemory, Digits>;

  static __device__ __forceinline__ Operand load(const std::uint32_t* words, unsigned index) {
    Operand r{};
    if constexpr (kShared) r = {shared_words + index * kDigits * blockDim.x + threadIdx.x, blockDim.x};
#pragma unroll
    for (unsigned j = 0; j < kDigits; ++j) r[j] = Digit::digit(words, j);
    return r;
  }

 public:
  static __device__ __forceinline__ void run(const AdditionJob& job) {
    const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= job.count) return;
    const std::size_t row = static_cast<std::size_t>(item) * job.width;
    Operand x = load(job.x + row, 0);
    const Operand y = load(job.y + row, 1);
    const Operand n = load(job.n + row, 2);
    if (job.subtract != 0) {
#pragma unroll 1
      for (std::uint32_t step = 0; step < job.steps; ++step) Operations::subtract(x, x, y, n);
    } else {
#pragma unroll 1
      for (std::uint32_t step = 0; step < job.steps; ++step) Operations::add(x, x, y, n);
    }
#pragma unroll
    for (unsigned j = 0; j < kWords; ++j) job.result[row + j] = Digit::word(x, j);
    for (unsigned j = kWords; j < job.width; ++j) job.result[row + j] = 0;
  }
};

}  // namespace
}  // namespace manymod::bench

#define KERNEL(form, digit_bits, place, words)                                              \
  extern "C" __global__ void __launch_bounds__(128)                                         \
      bench_add_##form##_##words(const __grid_constant__ manymod::bench::AdditionJob job) { \
    manymod::bench::Chain<digit_bits, manymod::fios::place, words>::run(job);               \
  }
#define FORM(form, digit_bits, place) \
  KERNEL(form, digit_bits, place, 5)  \
  KERNEL(form, digit_bits, place, 6)  \
  KERNEL(form, digit_bits, place, 7)  \
  KERNEL(form, digit_bits, place, 8)  \
  KERNEL(form, digit_bits, place, 12)

MM_BENCH_ADDITION_FORMS(FORM)
