// SPDX-License-Identifier: Apache-2.0
// One group of threads of the kernels of division32 (job.hpp).
//
// Timing: variable-time. Sums and differences take longer where an operand of the warp is not below its
// modulus, products where a modulus is short.
#pragma once

#include <cstdint>

#include "arch/cuda/memory.cuda.hpp"
#include "core/modulus_class.hpp"
#include "modmul/division32/division.cuda.hpp"
#include "modmul/division32/job.hpp"

namespace manymod::division32 {

/// Computes item `item` < job.count. kOwn: items have their own moduli.
template <class Group, unsigned kPerThread, bool kOwn>
class Item {
  using Arithmetic = Division<Group, kPerThread>;
  using Number = typename Arithmetic::Number;
  using Divisor = typename Arithmetic::Divisor;
  static constexpr unsigned kWords = Arithmetic::kWords;

 public:
  /// `memory` as in Division.
  MM_DEVICE Item(const Group& group, LaneMemory memory, const Job& job, std::uint32_t item)
      : group_(group), arithmetic_(group, memory), job_(job), item_(item) {}

  /// Stores the product of x and y if `stores`.
  MM_DEVICE void multiply(bool stores) const {
    const Number x = read(job_.x);
    // A square reads its operand once.
    const Number y = job_.y.width == 0 ? x : read(job_.y);
    if constexpr (kOwn) {
      const Modulus n = read_modulus();
      const Divisor divisor = arithmetic_.divisor_of(n.number, n.bits);
      finish(arithmetic_.product(x, y, arithmetic_.fold_of(divisor), divisor), n.kind, stores);
    } else {
      const Number fold = arithmetic_.load([this](unsigned j) { return job_.divisor.fold[j]; });
      finish(arithmetic_.product(x, y, fold, shared_divisor()), ModulusClass::compute, stores);
    }
  }

  /// Stores x + y or x - y if `stores`.
  MM_DEVICE void add_or_subtract(bool stores) const {
    Number x = read(job_.x), y = read(job_.y);
    const Modulus n = read_modulus();
    // All groups of the warp compare both operands: `||` would let some of them skip the second comparison.
    const bool x_below = below(x, n.number);
    const bool y_below = below(y, n.number);
    if (group_.any_in_warp(!x_below || !y_below)) reduce(x, y, n);
    Number r;
    if (job_.operation == RowOperation::add) {
      const std::uint32_t overflow =
          lane_words::add_masked<kPerThread>(group_, r.word, x.word, y.word, 0xffffffffu);
      lane_words::reduce_once<kPerThread>(group_, r.word, r.word, n.number.word, overflow);
    } else {
      const std::uint32_t borrow =
          lane_words::subtract_masked<kPerThread>(group_, r.word, x.word, y.word, 0xffffffffu);
      lane_words::add_masked<kPerThread>(group_, r.word, r.word, n.number.word, 0 - borrow);
    }
    finish(r, n.kind, stores);
  }

 private:
  Group group_;
  Arithmetic arithmetic_;
  const Job& job_;
  std::uint32_t item_;

  struct Modulus {
    Number number;
    std::uint32_t bits = 0;  ///< of an own modulus
    ModulusClass kind = ModulusClass::compute;
  };

  [[nodiscard]] MM_DEVICE unsigned first_word() const { return group_.lane() * kPerThread; }

  [[nodiscard]] MM_DEVICE Number read(const Rows& rows) const {
    const std::uint32_t* const row =
        rows.words == nullptr ? job_.shared[rows.shared] : rows.words + item_ * rows.stride;
    Number r = {};
    if (rows.quads) {
      read_chunks<4>(r, row, rows.width);
    } else {
      read_chunks<2>(r, row, rows.width);
    }
    return r;
  }

  template <unsigned kChunk>
  MM_DEVICE void read_chunks(Number& r, const std::uint32_t* row, std::uint32_t width) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; j += kChunk) {
      if (first_word() + j >= width) continue;
      const cuda::Chunk<kChunk> chunk = cuda::load_chunk<kChunk>(row + first_word() + j);
      MM_UNROLL
      for (unsigned i = 0; i < kChunk; ++i) r.word[j + i] = chunk.word[i];
    }
  }

  /// An own modulus of 0 is replaced by 1, so that all items can be computed.
  [[nodiscard]] MM_DEVICE Modulus read_modulus() const {
    Modulus n;
    n.number = read(job_.modulus);
    if constexpr (kOwn) {
      n.bits = arithmetic_.bit_length(n.number);
      if (n.bits == 0) n.kind = ModulusClass::zero;
      if (n.bits > job_.modulus_bits) n.kind = ModulusClass::too_wide;
      if (n.bits == 0) {
        n.bits = 1;
        n.number.word[0] = group_.lane() == 0 ? 1 : 0;
      }
    }
    return n;
  }

  [[nodiscard]] MM_DEVICE Divisor shared_divisor() const {
    Divisor d;
    d.minus = arithmetic_.load([this](unsigned j) { return job_.divisor.minus[j]; });
    d.reciprocal = job_.divisor.reciprocal;
    d.shift = job_.divisor.shift;
    return d;
  }

  [[nodiscard]] MM_DEVICE bool below(const Number& a, const Number& n) const {
    Number difference;
    return lane_words::subtract_masked<kPerThread>(group_, difference.word, a.word, n.word, 0xffffffffu) != 0;
  }

  MM_DEVICE void reduce(Number& x, Number& y, const Modulus& n) const {
    Divisor divisor;
    if constexpr (kOwn) {
      divisor = arithmetic_.divisor_of(n.number, n.bits);
    } else {
      divisor = shared_divisor();
    }
    MM_ROLLED
    for (unsigned i = 0; i < 2; ++i) {
      const Number reduced = arithmetic_.residue(x, divisor);
      x = y;
      y = reduced;
    }
  }

  MM_DEVICE void finish(const Number& r, ModulusClass kind, bool stores) const {
    if (!stores) return;
    const bool good = kind == ModulusClass::compute;
    if constexpr (kOwn) {
      if (group_.lane() == 0) {
        job_.kinds[item_] = kind;
        if (!good) *job_.failed = 1;
      }
    }
    std::uint32_t* const row = job_.result + item_ * job_.result_stride;
    if (job_.result_quads) {
      store_chunks<4>(row, r, good);
    } else {
      store_chunks<2>(row, r, good);
    }
  }

  template <unsigned kChunk>
  MM_DEVICE void store_chunks(std::uint32_t* row, const Number& r, bool good) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; j += kChunk) {
      if (first_word() + j >= job_.result_width) continue;
      cuda::Chunk<kChunk> chunk;
      MM_UNROLL
      for (unsigned i = 0; i < kChunk; ++i) chunk.word[i] = good ? r.word[j + i] : 0;
      cuda::store_chunk<kChunk>(row + first_word() + j, chunk);
    }
    const cuda::Chunk<2> zeros = {};
    MM_ROLLED
    for (std::uint32_t j = kWords + 2 * group_.lane(); j < job_.result_width; j += 2 * Group::kSize) {
      cuda::store_chunk<2>(row + j, zeros);
    }
  }
};

}  // namespace manymod::division32
