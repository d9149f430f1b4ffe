// SPDX-License-Identifier: Apache-2.0
// Sums, dot products and products of the terms of an item by one group of threads of the kernels of
// division32 (job.hpp).
//
// A group takes every `parts`-th term, so that neighbouring groups read neighbouring rows. Sums are added up
// exactly and reduced once. All groups of a launch take as many rounds, since those of a warp compute
// together: where a group has no term in the last one, it takes 0, or 1 as a factor.
//
// Timing: variable-time, as in item.cuda.hpp.
#pragma once

#include <cstdint>

#include "modmul/division32/row_access.cuda.hpp"

namespace manymod::division32 {

/// Computes result `result` < job.count. kOwn: items have their own moduli.
template <class Group, unsigned kPerThread, bool kOwn>
class TermItem : RowAccess<Group, kPerThread, kOwn> {
  using Access = RowAccess<Group, kPerThread, kOwn>;
  using Access::arithmetic_, Access::finish, Access::group_, Access::job_;
  using typename Access::Arithmetic, typename Access::Number, typename Access::Reducer;

 public:
  /// `memory` as in Division.
  MM_DEVICE TermItem(const Group& group, LaneMemory memory, const Job& job, std::uint32_t result)
      : Access(group, memory, job, result / job.parts, result), part_(result % job.parts) {}

  /// Stores the sum of the terms if `stores`.
  MM_DEVICE void add(bool stores) const {
    typename Arithmetic::Sum sum;
    MM_ROLLED
    for (std::uint32_t round = 0; round < rounds(); ++round) arithmetic_.add(sum, term(job_.x, round, 0));
    const typename Access::Modulus n = this->read_modulus();
    finish(arithmetic_.residue(sum, this->divisor_of(n)), n.kind, stores);
  }

  /// Stores the dot product, or the product of the terms, if `stores`.
  MM_DEVICE void multiply(bool stores) const {
    if (job_.operation == RowOperation::dot) {
      dot(stores);
    } else {
      product(stores);
    }
  }

 private:
  std::uint32_t part_;

  [[nodiscard]] MM_DEVICE std::uint32_t rounds() const { return (job_.terms + job_.parts - 1) / job_.parts; }

  /// The group's term of that round; `none` where it has none.
  [[nodiscard]] MM_DEVICE Number term(const Rows& rows, std::uint32_t round, std::uint32_t none) const {
    const std::uint32_t index = round * job_.parts + part_;
    const bool exists = index < job_.terms;
    Number r = this->read(rows, exists ? index : part_);
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) {
      r.word[j] = exists ? r.word[j] : j == 0 && group_.lane() == 0 ? none : 0;
    }
    return r;
  }

  MM_DEVICE void dot(bool stores) const {
    typename Arithmetic::ProductSum sum;
    MM_ROLLED
    for (std::uint32_t round = 0; round < rounds(); ++round) {
      const Number x = term(job_.x, round, 0);
      arithmetic_.add_product(sum, x, term(job_.y, round, 0));
    }
    const Reducer by = this->reducer();
    finish(arithmetic_.residue(sum, by.fold, by.divisor), by.kind, stores);
  }

  // The first factor is reduced by the product with the second one, which is 1 if there is none.
  MM_DEVICE void product(bool stores) const {
    const Reducer by = this->reducer();
    const Number zero = {};
    Number r = term(job_.x, 0, 1);
    std::uint32_t round = 1;
    MM_ROLLED
    do {
      r = arithmetic_.product(r, term(job_.x, round, 1), zero, by.fold, by.divisor);
    } while (++round < rounds());
    finish(r, by.kind, stores);
  }
};

}  // namespace manymod::division32
