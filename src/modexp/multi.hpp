// SPDX-License-Identifier: Apache-2.0
// Products of powers: interleaved sliding windows (Straus 1964; Moller 2001) for few terms, buckets
// (Pippenger 1976) for many. Variable-time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "modexp/windows.hpp"

namespace manymod {

/// How a product of `terms` powers with exponents of `bits` bits is computed.
struct MultiPlan {
  bool buckets = false;   ///< Pippenger; else Straus
  std::size_t width = 1;  ///< window width
};

/// The cheaper method by multiplication counts:
///   Straus:    terms 2^(w-1) + terms bits/(w+1) + bits
///   Pippenger: ceil(bits/w) (terms + 2^(w+1)) + bits
/// Straus's tables (terms 2^(w-1) residues) and Pippenger's buckets (2^w) must fit in `max_residues`, except
/// that w = 1 is always allowed.
MultiPlan plan_multi(std::size_t terms, std::size_t bits, std::size_t max_residues);

/// Limbs of workspace for multi_power.
template <Monoid M>
std::size_t multi_workspace(const M& m, const MultiPlan& plan, std::size_t terms) {
  const std::size_t entries =
      plan.buckets ? (std::size_t{1} << plan.width) + 1 : (terms << (plan.width - 1)) + 1;
  return entries * m.words();
}

namespace detail {

template <Monoid M>
bool straus(const M& m, Limb* r, const Limb* bases, std::span<const std::span<const Limb>> exponents,
            std::size_t width, Limb* workspace, const StopToken& stop) {
  /// The next step of a term: a multiplication when `position` squarings are left.
  struct Next {
    std::size_t position, term, step;
    bool operator<(const Next& other) const { return position < other.position; }
  };
  const std::size_t words = m.words();
  const std::size_t terms = exponents.size();
  const std::size_t per_term = std::size_t{1} << (width - 1);
  Limb* scratch = workspace + terms * per_term * words;
  std::vector<SlidingSchedule> schedules(terms);
  std::priority_queue<Next> queue;
  for (std::size_t term = 0; term < terms; ++term) {
    SlidingSchedule& schedule = schedules[term] = sliding_schedule(exponents[term], width, stop);
    odd_powers(m, workspace + term * per_term * words, bases + term * words, schedule.table_entries, scratch);
    std::size_t position = schedule.final_squarings;
    for (const SlidingSchedule::Step& step : schedule.steps) position += step.squarings;
    if (!schedule.steps.empty()) queue.push({position, term, 0});
    if (stop.requested()) return false;
  }
  m.set_one(r);
  std::size_t position = queue.empty() ? 0 : queue.top().position;
  while (!queue.empty()) {
    Next next = queue.top();
    queue.pop();
    if (!square_times(m, r, position - next.position, stop)) return false;
    position = next.position;
    const std::vector<SlidingSchedule::Step>& steps = schedules[next.term].steps;
    m.mul(r, r, workspace + (next.term * per_term + steps[next.step].index) * words);
    if (++next.step == steps.size()) continue;
    next.position -= steps[next.step].squarings;
    queue.push(next);
  }
  return square_times(m, r, position, stop);
}

template <Monoid M>
bool pippenger(const M& m, Limb* r, const Limb* bases, std::span<const std::span<const Limb>> exponents,
               std::size_t bits, std::size_t width, Limb* workspace, const StopToken& stop) {
  const std::size_t words = m.words();
  const std::size_t buckets = std::size_t{1} << width;
  Limb* running = workspace;  // slot 0 is free: digit 0 has no bucket
  Limb* sum = workspace + buckets * words;
  std::vector<char> used(buckets);
  m.set_one(r);
  for (std::size_t window = (bits + width - 1) / width; window-- > 0;) {
    if (stop.requested()) return false;
    if (!square_times(m, r, width, stop)) return false;
    std::fill(used.begin(), used.end(), char{0});
    for (std::size_t term = 0; term < exponents.size(); ++term) {
      const std::uint32_t digit = recoding::LimbBits(exponents[term])(window * width, width);
      if (digit == 0) continue;
      if (stop.requested()) return false;
      Limb* bucket = workspace + digit * words;
      if (used[digit] != 0) {
        m.mul(bucket, bucket, bases + term * words);
      } else {
        std::copy_n(bases + term * words, words, bucket);
        used[digit] = 1;
      }
    }
    // sum = product of bucket[d]^d: the product of the running products of all buckets from d up.
    m.set_one(running);
    m.set_one(sum);
    bool any = false;
    for (std::size_t digit = buckets - 1; digit > 0; --digit) {
      if (stop.requested()) return false;
      if (used[digit] != 0) {
        m.mul(running, running, workspace + digit * words);
        any = true;
      }
      if (any) m.mul(sum, sum, running);
    }
    if (any) m.mul(r, r, sum);
  }
  return true;
}

}  // namespace detail

/// r = product of bases[t]^exponents[t]. `bases` holds exponents.size() elements; m has one lane; exponents
/// are below 2^bits. @return false, with r unusable, if a stop was requested. Variable-time.
template <Monoid M>
bool multi_power(const M& m, const MultiPlan& plan, Limb* r, const Limb* bases,
                 std::span<const std::span<const Limb>> exponents, std::size_t bits, Limb* workspace,
                 const StopToken& stop) {
  return plan.buckets ? detail::pippenger(m, r, bases, exponents, bits, plan.width, workspace, stop)
                      : detail::straus(m, r, bases, exponents, plan.width, workspace, stop);
}

}  // namespace manymod
