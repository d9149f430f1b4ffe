// SPDX-License-Identifier: Apache-2.0
// How one group of threads of the kernels of division32 (job.hpp) reads operands and moduli, and stores
// results.
#pragma once

#include <cstdint>

#include "arch/cuda/memory.cuda.hpp"
#include "core/modulus_class.hpp"
#include "modmul/division32/division.cuda.hpp"
#include "modmul/division32/job.hpp"

namespace manymod::division32 {

/// The rows of item `item`, whose result is row `result` < job.count. kOwn: items have their own moduli.
template <class Group, unsigned kPerThread, bool kOwn>
class RowAccess {
 public:
  using Arithmetic = Division<Group, kPerThread>;
  using Number = typename Arithmetic::Number;
  using Divisor = typename Arithmetic::Divisor;
  static constexpr unsigned kWords = Arithmetic::kWords;

 protected:
  struct Modulus {
    Number number;
    std::uint32_t bits = 0;  ///< of an own modulus
    ModulusClass kind = ModulusClass::compute;
  };

  /// What products are reduced by: a divisor, and F or what equals it (Division::product).
  struct Reducer {
    Divisor divisor;
    Number fold;
    ModulusClass kind = ModulusClass::compute;
  };

  Group group_;
  Arithmetic arithmetic_;
  const Job& job_;
  std::uint32_t item_, result_;

  /// `memory` as in Division.
  MM_DEVICE RowAccess(const Group& group, LaneMemory memory, const Job& job, std::uint32_t item,
                      std::uint32_t result)
      : group_(group), arithmetic_(group, memory), job_(job), item_(item), result_(result) {}

  [[nodiscard]] MM_DEVICE Number read(const Rows& rows, std::uint32_t term = 0) const {
    const std::uint32_t* const row = rows.words == nullptr
                                         ? job_.shared[rows.shared]
                                         : rows.words + item_ * rows.stride + term * rows.term_stride;
    Number r = {};
    if (rows.quads) {
      read_chunks<4>(r, row, rows.width);
    } else {
      read_chunks<2>(r, row, rows.width);
    }
    return r;
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

  [[nodiscard]] MM_DEVICE Divisor divisor_of(const Modulus& n) const {
    if constexpr (kOwn) {
      return arithmetic_.divisor_of(n.number, n.bits);
    } else {
      return shared_divisor();
    }
  }

  [[nodiscard]] MM_DEVICE Reducer reducer() const {
    Reducer r;
    if constexpr (kOwn) {
      const Modulus n = read_modulus();
      r.divisor = divisor_of(n);
      r.fold = arithmetic_.fold_of(r.divisor);
      r.kind = n.kind;
    } else {
      r.divisor = shared_divisor();
      r.fold = arithmetic_.load([this](unsigned j) { return job_.divisor.fold[j]; });
    }
    return r;
  }

  /// Stores the residue, or 0 where there is none, and the class of an own modulus.
  MM_DEVICE void finish(const Number& r, ModulusClass kind, bool stores) const {
    if (!stores) return;
    const bool good = kind == ModulusClass::compute;
    if constexpr (kOwn) {
      if (job_.kinds != nullptr && group_.lane() == 0) {
        job_.kinds[item_] = kind;
        if (!good) *job_.failed = 1;
      }
    }
    std::uint32_t* const row = job_.result + result_ * job_.result_stride;
    if (job_.result_quads) {
      store_chunks<4>(row, r, good);
    } else {
      store_chunks<2>(row, r, good);
    }
  }

 private:
  [[nodiscard]] MM_DEVICE unsigned first_word() const { return group_.lane() * kPerThread; }

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

  [[nodiscard]] MM_DEVICE Divisor shared_divisor() const {
    Divisor d;
    d.minus = arithmetic_.load([this](unsigned j) { return job_.divisor.minus[j]; });
    d.reciprocal = job_.divisor.reciprocal;
    d.shift = job_.divisor.shift;
    return d;
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
