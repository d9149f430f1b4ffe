// SPDX-License-Identifier: Apache-2.0
#include "service/pace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace manymod::service {
namespace {

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::size_t octave(std::size_t requests) { return static_cast<std::size_t>(std::bit_width(requests)) - 1; }

}  // namespace

double Pace::rate(Clock::time_point now) const {
  return rate_ * std::exp(-std::max(0.0, seconds(now - last_)) / kMemory);
}

void Pace::arrived(std::size_t requests, Clock::time_point now) {
  rate_ = rate(now) + static_cast<double>(requests) / kMemory;
  last_ = std::max(last_, now);
}

void Pace::computed(std::size_t requests, Clock::duration time) {
  const double each = seconds(time) / static_cast<double>(requests);
  double& known = cost_[std::min(octave(requests), kOctaves - 1)];
  known = known == 0 ? each : known + kSmoothing * (each - known);
}

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

std::size_t Pace::wanted(Clock::time_point now) const {
  const std::size_t sufficient = sufficient_octave(now);
  return std::size_t{1} << (sufficient < kOctaves ? sufficient : best_octave());
}

std::size_t Pace::most(Clock::time_point now) const {
  const std::size_t best = best_octave();
  std::size_t largest = kOctaves - 1;
  while (largest > 0 && cost_[largest] == 0) --largest;
  const bool may_pay = best == largest || sufficient_octave(now) == kOctaves;
  const double trial = std::ldexp(cost_[largest], static_cast<int>(largest) + 2);
  const bool tried = may_pay && largest + 1 < kOctaves && trial <= kLongestTrial;
  return (std::size_t{2} << (tried ? largest + 1 : best)) - 1;
}

}  // namespace manymod::service
