// SPDX-License-Identifier: Apache-2.0
// Times of queued work by events, and the frequency of the multiprocessors right after it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "median.hpp"

namespace manymod::bench {

struct Effort {
  double seconds = 0;  ///< of all repetitions, about
  unsigned least = 1;  ///< repetitions
  unsigned most = 1;
};

struct Timing {
  double median = 0;  ///< seconds
  double best = 0;
  double mhz = 0;  ///< median
  unsigned repetitions = 0;
};

/// Reads a multiprocessor's cycle counter and the device's nanosecond timer over a fraction of a millisecond.
/// Its kernel is PTX, as the library has none of that kind; where the driver cannot compile it, the frequency
/// is the device's nominal one.
class ClockMeter {
 public:
  explicit ClockMeter(cuda::Device& device);
  void queue(const cuda::Stream& stream) const;
  /// After the stream is done.
  [[nodiscard]] double mhz() const;
  [[nodiscard]] const char* source() const { return kernel_ ? kMeasured : kNominal; }

 private:
  static constexpr const char* kMeasured = "a kernel after each repetition: %clock64 by %globaltimer";
  static constexpr const char* kNominal = "CU_DEVICE_ATTRIBUTE_CLOCK_RATE";

  struct Argument {
    std::uint64_t* result;
    std::uint64_t nanoseconds;
  };
  std::optional<cuda::Kernel> kernel_;
  double nominal_mhz_;
  gpu::DeviceBuffer result_;
  gpu::PinnedBuffer host_;
};

class Timer {
 public:
  explicit Timer(const cuda::Stream& stream);
  /// What `queue` puts on the stream; once before, to warm up.
  Timing measure(const std::function<void()>& queue, const Effort& effort);
  /// So many times before, then so many repetitions.
  Timing measure_after(const std::function<void()>& queue, unsigned warm_ups, unsigned repetitions);
  [[nodiscard]] const char* clock_source() const { return clock_.source(); }

 private:
  const cuda::Stream& stream_;
  cuda::Event start_, stop_;
  ClockMeter clock_;

  double once(const std::function<void()>& queue);
};

}  // namespace manymod::bench
