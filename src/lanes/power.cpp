// SPDX-License-Identifier: Apache-2.0
// x^y mod n for odd n and y >= 0, one group of lanes after another.
#include <array>
#include <optional>

#include "lanes/group.hpp"
#include "lanes/operations.hpp"
#include "modexp/windows.hpp"

namespace manymod::lanes {
namespace {

class PowerRun {
 public:
  explicit PowerRun(const BucketRun& run)
      : run_(run), job_(run.job), group_(run.kernels, run.job, run.limbs, shared_moduli(run.job)) {
    if (job_.may_follow_exponent()) {
      schedule_ = best_sliding_schedule(job_.y.magnitude(0), job_.stop);
      split_off_last_product();
    }
  }

  /// Computes all items, one group of lanes after another.
  void run() {
    for (std::size_t first = 0; first < run_.items.size(); first += group_.lanes()) {
      if (job_.stop.requested()) return;
      group_.assign(run_.items.subspan(first, std::min(group_.lanes(), run_.items.size() - first)));
      const Multiplier m = group_.multiplier();
      element_.require(m.words());
      group_.load_montgomery(element_.data(), job_.x);
      if (!raise(m)) return;
      if (ends_with_base_) {
        multiply_by_base(m);
      } else {
        group_.from_montgomery(element_.data(), element_.data());
      }
      if (job_.stop.was_requested()) return;
      group_.store(element_.data());
    }
  }

 private:
  const BucketRun& run_;
  const Job& job_;
  Group group_;
  std::optional<SlidingSchedule> schedule_;  ///< of the exponent that all items share, if it is public
  bool ends_with_base_ = false;  ///< the schedule lacks its last product: see split_off_last_product
  limbs::Buffer element_;
  limbs::Buffer base_;
  limbs::Buffer workspace_;

  /// If the schedule ends with a multiplication by the base, removes that step and sets ends_with_base_. The
  /// multiplication can then take the base as a plain residue, which also leaves Montgomery form: one
  /// multiplication less, of 19 for the exponent 2^16 + 1.
  void split_off_last_product() {
    SlidingSchedule& schedule = *schedule_;
    ends_with_base_ = job_.x.negative == nullptr && schedule.steps.size() > 1 &&
                      schedule.steps.back().index == 0 && schedule.final_squarings == 0;
    if (!ends_with_base_) return;
    schedule.final_squarings = schedule.steps.back().squarings;
    schedule.steps.pop_back();
  }

  /// element_ = element_ x mod n, out of Montgomery form, 0 <= element_ < n, exact digits.
  void multiply_by_base(const Multiplier& m) {
    base_.require(m.words());
    if (group_.fits(job_.x)) {
      // x < R and element_ < 2 n: the product is below 3 n.
      group_.load_plain(base_.data(), job_.x);
      m.mul(element_.data(), base_.data(), element_.data());
      group_.reduce(element_.data(), element_.data());
      return;
    }
    group_.load_montgomery(base_.data(), job_.x);
    m.mul(element_.data(), element_.data(), base_.data());
    group_.from_montgomery(element_.data(), element_.data());
  }

  /// element_ = element_^exponent lane by lane, without a last product that was split off. @return false if a
  /// stop was requested.
  bool raise(const Multiplier& m) {
    if (schedule_) {
      workspace_.require(sliding_window_workspace(m, *schedule_));
      return sliding_window_power(m, element_.data(), element_.data(), *schedule_, workspace_.data(),
                                  job_.stop);
    }
    const bool secret = job_.timing == TimingClass::secret;
    std::array<std::span<const Limb>, kMaxLanes> exponents;
    std::size_t bits = secret ? job_.y.width * kLimbBits : 0;
    for (std::size_t lane = 0; lane < m.lanes(); ++lane) {
      exponents[lane] = job_.y.magnitude(group_.item(lane));
      if (!secret) bits = std::max(bits, limbs::bit_length_var(exponents[lane]));
    }
    const std::size_t width = secret
                                  ? secret_window_width(m, bits, kScanCost / static_cast<double>(m.digits()))
                                  : fixed_window_width(bits, 0);
    workspace_.require(fixed_window_workspace(m, width));
    return fixed_window_power(m, element_.data(), element_.data(), std::span(exponents).first(m.lanes()),
                              bits, width, job_.timing, workspace_.data(), job_.stop);
  }
};

}  // namespace

void run_power(const BucketRun& run) { PowerRun(run).run(); }

}  // namespace manymod::lanes
