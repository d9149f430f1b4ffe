// SPDX-License-Identifier: Apache-2.0
// Element-wise operations of one group of threads of the kernels of division32 (job.hpp).
//
// Timing: variable-time. Sums and differences take longer where an operand of the warp is not below its
// modulus, products where a modulus is short.
#pragma once

#include <cstdint>

#include "modmul/division32/row_access.cuda.hpp"
#include "repr/lane_words.cuda.hpp"

namespace manymod::division32 {

/// Computes item `item` < job.count. kOwn: items have their own moduli.
template <class Group, unsigned kPerThread, bool kOwn>
class Item : RowAccess<Group, kPerThread, kOwn> {
  using Access = RowAccess<Group, kPerThread, kOwn>;
  using Access::arithmetic_, Access::finish, Access::group_, Access::job_, Access::read;
  using typename Access::Modulus, typename Access::Number;

 public:
  /// `memory` as in Division.
  MM_DEVICE Item(const Group& group, LaneMemory memory, const Job& job, std::uint32_t item)
      : Access(group, memory, job, item, item) {}

  /// Stores x y + z if `stores`.
  MM_DEVICE void multiply(bool stores) const {
    const Number x = read(job_.x);
    // A square reads its operand once.
    const Number y = job_.y.width == 0 ? x : read(job_.y);
    const Number z = read(job_.z);
    const typename Access::Reducer by = this->reducer();
    finish(arithmetic_.product(x, y, z, by.fold, by.divisor), by.kind, stores);
  }

  /// Stores x + y or x - y if `stores`.
  MM_DEVICE void add_or_subtract(bool stores) const {
    Number x = read(job_.x), y = read(job_.y);
    const Modulus n = this->read_modulus();
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
  [[nodiscard]] MM_DEVICE bool below(const Number& a, const Number& n) const {
    Number difference;
    return lane_words::subtract_masked<kPerThread>(group_, difference.word, a.word, n.word, 0xffffffffu) != 0;
  }

  MM_DEVICE void reduce(Number& x, Number& y, const Modulus& n) const {
    const typename Access::Divisor divisor = this->divisor_of(n);
    MM_ROLLED
    for (unsigned i = 0; i < 2; ++i) {
      const Number reduced = arithmetic_.residue(x, divisor);
      x = y;
      y = reduced;
    }
  }
};

}  // namespace manymod::division32
