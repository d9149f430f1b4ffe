// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "manymod/service.h"
#include "service/histogram.hpp"

namespace manymod::service {

/// What mm_service_statistics describes, except the current state. Not thread-safe.
struct Statistics {
  std::uint64_t accepted = 0, computed = 0, failed = 0, cancelled = 0, expired = 0, refused = 0, batches = 0;
  std::uint64_t batch_sizes[32] = {};
  Histogram queued, computing, answered;

  void count_batch(std::size_t requests, std::chrono::nanoseconds time) {
    ++batches;
    ++batch_sizes[std::min<std::size_t>(31, static_cast<std::size_t>(std::bit_width(requests)) - 1)];
    computing.add(time);
  }

  [[nodiscard]] mm_service_statistics snapshot() const {
    mm_service_statistics all{};
    all.accepted = accepted;
    all.computed = computed;
    all.failed = failed;
    all.cancelled = cancelled;
    all.expired = expired;
    all.refused = refused;
    all.batches = batches;
    std::copy_n(batch_sizes, 32, all.batch_sizes);
    all.queued = times(queued);
    all.computing = times(computing);
    all.answered = times(answered);
    return all;
  }

 private:
  static mm_service_times times(const Histogram& histogram) {
    return {histogram.quantile(0.5), histogram.quantile(0.95), histogram.quantile(0.99), histogram.max()};
  }
};

}  // namespace manymod::service
