// SPDX-License-Identifier: Apache-2.0
// x^y mod n for odd n and y >= 0.
#include <array>
#include <optional>

#include "modexp/windows.hpp"
#include "modmul/lanes/group.hpp"
#include "modmul/lanes/operations.hpp"

namespace manymod::lanes {
namespace {

class PowerRun {
 public:
  explicit PowerRun(const BucketRun& run)
      : run_(run), job_(run.job), group_(run.kernels, run.job, run.limbs, shared_moduli(run.job)) {
    if (job_.may_follow_exponent()) {
      schedule_ = best_sliding_schedule(job_.y.magnitude(0));
    }
  }

  void run() {
    for (std::size_t first = 0; first < run_.items.size(); first += group_.lanes()) {
      if (job_.stop.requested()) return;
      group_.assign(run_.items.subspan(first, std::min(group_.lanes(), run_.items.size() - first)));
      const Multiplier m = group_.multiplier();
      element_.require(m.words());
      group_.load_montgomery(element_.data(), job_.x);
      if (!raise(m)) return;
      group_.leave_montgomery(element_.data(), element_.data());
      group_.store(element_.data());
    }
  }

 private:
  const BucketRun& run_;
  const Job& job_;
  Group group_;
  std::optional<SlidingSchedule> schedule_;  ///< of the one public exponent of a batch
  limbs::Buffer element_;
  limbs::Buffer workspace_;

  /// element_ = element_^exponent lane by lane; false if stopped.
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
