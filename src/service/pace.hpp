// SPDX-License-Identifier: Apache-2.0
// How large the batches of an operation should be, from the rate at which its requests arrive and from what
// batches of different sizes took.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace manymod::service {

using Clock = std::chrono::steady_clock;

/// Not thread-safe.
class Pace {
 public:
  /// `concurrent`: batches that are computed at the same time.
  explicit Pace(std::size_t concurrent) : concurrent_(static_cast<double>(concurrent)) {}

  void arrived(std::size_t requests, Clock::time_point now);
  void computed(std::size_t requests, Clock::duration time, Clock::time_point now);
  /// Notes the number of requests without an answer, including those that are being computed.
  void outstanding(std::size_t requests, Clock::time_point now);
  /// Notes for which share of the time in which they could have run threads waited for a processor
  /// (RunQueue).
  void waited_for_processor(double share);

  /// The smallest batch that keeps the service at kUtilisation or below: with a rate of r requests a second
  /// and T(b) seconds for a batch of b, r T(b) / b <= kUtilisation concurrent. Requests beyond one would only
  /// add latency. If no size that was measured is enough, the one with the best throughput.
  ///
  /// If threads have to wait for a processor, the machine is saturated: the batch size of best throughput, or
  /// an untried one, is then wanted even if smaller batches keep up, but never more than the recent maximum
  /// of outstanding requests.
  [[nodiscard]] std::size_t wanted(Clock::time_point now) const;
  /// The largest batch worth computing: beyond the size with the best throughput its first requests would
  /// wait for nothing. Larger ones are tried if the largest one that was measured is the best, and, while the
  /// service cannot keep up, also if it is not: a GPU may begin to pay at sizes far above those at which the
  /// CPU gains no more, and the first batch of a size may have been slow only because it loaded kernels.
  [[nodiscard]] std::size_t most(Clock::time_point now) const;

 private:
  static constexpr std::size_t kOctaves = 32;
  static constexpr double kUtilisation = 0.7;
  static constexpr double kSmoothing = 0.25;    ///< weight of the newest measurement
  static constexpr double kMemory = 20e-3;      ///< seconds over which the rate is averaged
  static constexpr double kNegligible = 1.05;   ///< throughputs within this factor are as good
  static constexpr double kLongestTrial = 0.1;  ///< seconds that a trial may be expected to take
  static constexpr double kTrialShare = 0.005;  ///< share of the time that trials of one octave may take

  static constexpr double kCrowdMemory = 0.1;  ///< seconds in which a peak of outstanding requests falls by e
  static constexpr double kSaturated =
      0.2;  ///< share of waiting above which other work needs the processors, too

  [[nodiscard]] double rate(Clock::time_point now) const;
  [[nodiscard]] double crowd(Clock::time_point now) const;
  /// The smallest octave (batches of 2^i to 2^(i+1) - 1 requests) that keeps the service at kUtilisation or
  /// below; kOctaves if none is known to.
  [[nodiscard]] std::size_t sufficient_octave(Clock::time_point now) const;
  /// Seconds for each request in batches of octave `i`; infinite where none was computed.
  [[nodiscard]] double cost(std::size_t i) const;
  /// The batch size wanted if other work needs the processors, too.
  [[nodiscard]] std::size_t wanted_by_all(Clock::time_point now) const;
  [[nodiscard]] std::size_t largest_octave() const;  ///< that was measured
  /// Whether octave `i` was measured at least twice, and so lately that another trial, in which requests take
  /// as long as in the best batches, `each` seconds, would exceed kTrialShare.
  [[nodiscard]] bool measured_lately(std::size_t i, double each, Clock::time_point now) const;
  /// The smallest octave above the best one that may be tried now; the best one if there is none.
  [[nodiscard]] std::size_t octave_to_try(Clock::time_point now) const;
  /// The smallest octave whose throughput is within kNegligible of the best; 0 without measurements.
  [[nodiscard]] std::size_t best_octave() const;

  double concurrent_;
  double waited_share_ = 0;
  double crowd_ = 0;  ///< decaying maximum of outstanding requests, at crowded_
  Clock::time_point crowded_{};
  double rate_ = 0;  ///< requests a second, at last_
  Clock::time_point last_{};
  std::array<double, kOctaves> cost_{};                 ///< by floor(log2(size)); 0: not measured
  std::array<Clock::time_point, kOctaves> measured_{};  ///< when it was last
  std::array<bool, kOctaves> twice_{};                  ///< whether it was more than once
};

}  // namespace manymod::service
