// SPDX-License-Identifier: Apache-2.0
// Sums and differences of short residues at the speed of memory: carry chains in registers, and no
// conversion.
#include <array>
#include <utility>

#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

/// Numbers of more limbs do not stay in registers; the general functions are as fast as memory for them.
constexpr std::size_t kMostLimbs = 8;
/// Items between two looks at the request to stop, some microseconds.
constexpr std::size_t kItemsPerPoll = 256;

/// An operand, an item's integer at base + item step.
struct Source {
  const Limb* base;
  std::size_t step;
  explicit Source(const BatchView& view) : base(view.limbs), step(view.broadcast() ? 0 : view.stride) {}
  [[nodiscard]] const Limb* at(std::size_t item) const { return base + item * step; }
};

// One limb of a sum or difference with its carry or borrow, by comparisons: in chains of word::add_carry GCC
// 12 keeps the halves of its 128-bit sums in memory.
inline Limb add(Limb a, Limb b, Limb& carry) {
  const Limb sum = a + b;
  const Limb with_carry = sum + carry;
  carry = static_cast<Limb>(sum < a) | static_cast<Limb>(with_carry < sum);
  return with_carry;
}
inline Limb subtract_from(Limb a, Limb b, Limb& borrow) {
  const Limb difference = a - b;
  const Limb with_borrow = difference - borrow;
  borrow = static_cast<Limb>(a < b) | static_cast<Limb>(difference < borrow);
  return with_borrow;
}

/// r = x + y, or x - y if `subtract`, mod n. On input: any x, y. @return whether r < n; if not, which happens
/// for unreduced x or y only, r is not written. Aliasing: r may be x, y or n. Timing: variable.
template <std::size_t size, bool subtract>
inline bool combine(Limb* r, const Limb* x, const Limb* y, const Limb* n) {
  std::array<Limb, size> sum;
  Limb carry = 0;
  Limb wrap = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum[i] = subtract ? subtract_from(x[i], y[i], carry) : add(x[i], y[i], carry);
  }
  if constexpr (!subtract) {
    for (std::size_t i = 0; i < size; ++i) subtract_from(sum[i], n[i], wrap);
  }
  const Limb mask = word::mask_from_bit(subtract ? carry : carry | (wrap ^ 1));
  // A sum that is 2^(64 size) even without n is not congruent. An unreduced y that leaves a difference below
  // -n leaves 2^(64 size) + x - y + n, which is n or more.
  const bool wrapped = !subtract && (carry & (wrap ^ 1)) != 0;
  Limb chain = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Limb part = n[i] & mask;
    sum[i] = subtract ? add(sum[i], part, chain) : subtract_from(sum[i], part, chain);
  }
  const bool below = sum[size - 1] < n[size - 1] || limbs::less_var(sum, {n, size});
  if (wrapped || !below) return false;
  for (std::size_t i = 0; i < size; ++i) r[i] = sum[i];
  return true;
}

template <std::size_t size, bool subtract>
std::vector<std::size_t> run_of(const BucketRun& run, const Source& x, const Source& y) {
  const Job& job = run.job;
  const Source n(job.modulus);
  std::vector<std::size_t> rest;
  std::size_t until_poll = 0;
  for (const std::size_t item : run.items) {
    if (until_poll-- == 0) {
      if (job.stop.requested_now()) return {};
      until_poll = kItemsPerPoll;
    }
    Limb* const r = job.result.limbs + item * job.result.stride;
    if (combine<size, subtract>(r, x.at(item), y.at(item), n.at(item))) {
      job.status[item] = ItemStatus::ok;
    } else {
      rest.push_back(item);
    }
  }
  return rest;
}

template <bool subtract, std::size_t... zero_based>
std::vector<std::size_t> run_for(const BucketRun& run, const Source& x, const Source& y,
                                 std::index_sequence<zero_based...>) {
  constexpr std::array kFunctions{run_of<zero_based + 1, subtract>...};
  return kFunctions[run.limbs - 1](run, x, y);
}

bool is_plain(const BatchView& view, std::size_t limbs) {
  return view.negative == nullptr && view.width == limbs;
}

}  // namespace

bool are_short_sums(const BucketRun& run) {
  const Job& job = run.job;
  return run.limbs <= kMostLimbs && is_plain(job.x, run.limbs) &&
         (job.op == Operation::negmod || is_plain(job.y, run.limbs)) && job.modulus.negative == nullptr &&
         job.result.width == run.limbs && job.result.negative == nullptr;
}

std::vector<std::size_t> run_short_sums(const BucketRun& run) {
  static constexpr std::array<Limb, kMostLimbs> kZeros{};
  constexpr std::make_index_sequence<kMostLimbs> kSizes;
  const Job& job = run.job;
  const Source x(job.x);
  switch (job.op) {
    case Operation::addmod:
      return run_for<false>(run, x, Source(job.y), kSizes);
    case Operation::submod:
      return run_for<true>(run, x, Source(job.y), kSizes);
    default:
      return run_for<true>(run, Source({kZeros.data(), 1, run.limbs, run.limbs}), x, kSizes);
  }
}

}  // namespace manymod::scalar64
