// SPDX-License-Identifier: Apache-2.0
// Measurements of one kernel shape at one width; each makes a row of the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "instances.hpp"
#include "json_object.hpp"
#include "modmul/device/technique.hpp"
#include "shape_run.hpp"
#include "timer.hpp"

namespace manymod::bench {

/// The report, and how much trouble the measurements take.
struct Session {
  const cuda::Stream& stream;
  Timer& timer;
  bool quick = false;
  std::vector<JsonObject> rows;
  std::vector<double> mhz;  ///< of all rows
  unsigned wrong = 0;       ///< rows
  unsigned failed = 0;      ///< shapes that could not be measured

  [[nodiscard]] Effort effort() const { return quick ? Effort{0.01, 1, 3} : Effort{0.15, 3, 9}; }
};

class ShapeBench {
 public:
  ShapeBench(Session& session, const Instances& instances, Checker& checker,
             const device::Technique& technique, const device::Shape& shape,
             const cuda::DeviceBuffer& results);

  /// Chains of multiplications and of squarings on a full device: `mul`, `sqr`.
  void measure_chains();
  /// Powers on a full device, public and secret: `power`.
  void measure_powers();
  /// Secret powers of few items, launched as by the engine: `latency`.
  void measure_latency(const std::vector<std::size_t>& batches);
  /// Secret powers of `items` items after 1 and after 100 launches: `sustained`.
  void measure_sustained(std::size_t items);
  /// A chain of multiplications by 64 blocks of 16 threads: `mul_1024`.
  void measure_small_grid();
  /// One launch of multiplications and one of squarings.
  void launch_for_profile();

  static constexpr std::size_t kSmallGridItems = 1024;

  /// Powers are measured with so many instances for each that the device works on at a time: a batch as users
  /// have it, of which the launch and the last warps are a small part.
  static constexpr unsigned power_waves(unsigned bits) { return bits <= 512 ? 8 : 2; }

 private:
  struct Choice {
    unsigned blocks = 1;  ///< on a multiprocessor
    JsonObject tried;     ///< items a second by blocks
  };
  // What a row's numbers are computed from.
  struct Result {
    Timing timing;
    std::size_t items = 0;
    double operations = 1;    ///< of an item
    double limit_clocks = 0;  ///< of a multiprocessor, for one operation
  };

  Session& session_;
  const Instances& instances_;
  Checker& checker_;
  const device::Technique& technique_;
  ShapeRun run_;
  unsigned occupancy_;

  [[nodiscard]] std::string title() const;
  [[nodiscard]] JsonObject row(const char* operation) const;
  void finish(JsonObject row, const Result& result, const Verdict& verdict);
  [[nodiscard]] std::size_t threads_of(unsigned blocks) const;
  Choice choose_blocks(const std::function<Timing(unsigned)>& measure) const;
  [[nodiscard]] device::Program power_program(unsigned window, bool secret) const;
  [[nodiscard]] double power_limit(const device::Program& program) const;
  void queue_power(const cuda::LaunchShape& launch, std::size_t items) const;
  std::uint32_t chain_length();
  void measure_chain(bool squares, const Choice& choice, std::uint32_t steps);
  void measure_power(unsigned window, bool secret, const Choice& choice);
};

}  // namespace manymod::bench
