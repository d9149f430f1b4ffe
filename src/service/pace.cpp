// SPDX-License-Identifier: Apache-2.0
#include "service/pace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace manymod::service {
namespace {

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

/// Seconds that a batch of octave `i` takes at most, with so many seconds for each request.
double longest_time(std::size_t i, double each) { return std::ldexp(each, static_cast<int>(i) + 1); }

std::size_t octave(std::size_t requests) { return static_cast<std::size_t>(std::bit_width(requests)) - 1; }

}  // namespace

double Pace::rate(Clock::time_point now) const {
  return rate_ * std::exp(-std::max(0.0, seconds(now - last_)) / kMemory);
}

void Pace::arrived(std::size_t requests, Clock::time_point now) {
  rate_ = rate(now) + static_cast<double>(requests) / kMemory;
  last_ = std::max(last_, now);
}

void Pace::computed(std::size_t requests, Clock::duration time, Clock::time_point now) {
  const double each = seconds(time) / static_cast<double>(requests);
  const std::size_t i = std::min(octave(requests), kOctaves - 1);
  const bool known = cost_[i] != 0;
  cost_[i] = measured_lately(i, cost_[best_octave()], now) ? cost_[i] + kSmoothing * (each - cost_[i]) : each;
  measured_[i] = now;
  twice_[i] = known;
}

double Pace::crowd(Clock::time_point now) const {
  return crowd_ * std::exp(-std::max(0.0, seconds(now - crowded_)) / kCrowdMemory);
}

void Pace::outstanding(std::size_t requests, Clock::time_point now) {
  crowd_ = std::max(static_cast<double>(requests), crowd(now));
  crowded_ = std::max(crowded_, now);
}

void Pace::waited_for_processor(double share) { waited_share_ += kSmoothing * (share - waited_share_); }

double Pace::cost(std::size_t i) const {
  return cost_[i] == 0 ? std::numeric_limits<double>::infinity() : cost_[i];
}

std::size_t Pace::best_octave() const {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kOctaves; ++i) best = std::min(best, cost(i));
  std::size_t i = 0;
  while (cost(i) > best * kNegligible) ++i;
  return i;
}

std::size_t Pace::sufficient_octave(Clock::time_point now) const {
  const double load = rate(now) / (kUtilisation * concurrent_);
  std::size_t i = 0;
  while (i < kOctaves && !(load * cost(i) <= 1)) ++i;
  return i;
}

std::size_t Pace::largest_octave() const {
  std::size_t largest = kOctaves - 1;
  while (largest > 0 && cost_[largest] == 0) --largest;
  return largest;
}

bool Pace::measured_lately(std::size_t i, double each, Clock::time_point now) const {
  return twice_[i] && kTrialShare * seconds(now - measured_[i]) < longest_time(i, each);
}

std::size_t Pace::octave_to_try(Clock::time_point now) const {
  const std::size_t best = best_octave(), last = std::min(largest_octave() + 1, kOctaves - 1);
  const double each = cost_[best];
  for (std::size_t i = best + 1; i <= last && longest_time(i, each) <= kLongestTrial; ++i) {
    if (!measured_lately(i, each, now)) return i;
  }
  return best;
}

std::size_t Pace::wanted_by_all(Clock::time_point now) const {
  const auto crowd = static_cast<std::size_t>(std::max(1L, std::lround(this->crowd(now))));
  const std::size_t next = octave_to_try(now);
  const bool tried = cost_[0] != 0 && crowd >> next != 0;
  return std::min(crowd, std::size_t{1} << (tried ? next : best_octave()));
}

std::size_t Pace::wanted(Clock::time_point now) const {
  if (waited_share_ > kSaturated) return wanted_by_all(now);
  const std::size_t sufficient = sufficient_octave(now);
  return std::size_t{1} << (sufficient < kOctaves ? sufficient : best_octave());
}

std::size_t Pace::most(Clock::time_point now) const {
  const std::size_t best = best_octave();
  const bool may_pay =
      best == largest_octave() || sufficient_octave(now) == kOctaves || waited_share_ > kSaturated;
  return (std::size_t{2} << (may_pay ? octave_to_try(now) : best)) - 1;
}

}  // namespace manymod::service
