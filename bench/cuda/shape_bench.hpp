// SPDX-License-Identifier: Apache-2.0
// Measurements of one kernel shape at one width; each makes a row of the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/engine/technique.hpp"
#include "instances.hpp"
#include "json.hpp"
#include "pipe_limits.hpp"
#include "shape_run.hpp"
#include "timer.hpp"

namespace manymod::bench {

/// The report, and how much trouble the measurements take.
struct Session {
  const cuda::Stream& stream;
  Timer& timer;
  bool quick = false;
  std::vector<unsigned> windows;  ///< of powers; empty: a choice for each width
  std::vector<Json> rows;
  std::vector<double> mhz;  ///< of all rows
  unsigned wrong = 0;       ///< rows
  unsigned failed = 0;      ///< shapes that could not be measured
  double last_rate = 0;     ///< of the last row

  [[nodiscard]] Effort effort() const { return quick ? Effort{0.01, 1, 3} : Effort{0.15, 3, 9}; }
};

class ShapeBench {
 public:
  ShapeBench(Session& session, const Instances& instances, Checker& checker, const gpu::Technique& technique,
             const gpu::Shape& shape, const gpu::DeviceBuffer& results);

  /// Chains of multiplications and of squarings on a full device: `mul`, `sqr`.
  void measure_chains();
  /// Powers on a full device, public and secret: `power`.
  void measure_powers();
  /// Public powers of an eighth to four times the items that the device works on at a time, launched as by
  /// the engine: `batch`.
  void measure_batches();
  /// Powers of all instances, which those of other kernels are then compared with.
  void compute_others();
  /// Secret powers of few items, launched as by the engine: `latency`.
  void measure_latency(const std::vector<std::size_t>& batches);
  /// Secret powers of `items` items after 1 and after 100 launches: `sustained`.
  void measure_sustained(std::size_t items);
  /// A chain of multiplications by 64 blocks of 16 threads: `mul_1024`.
  void measure_small_grid();
  /// One launch of multiplications and one of squarings.
  void launch_for_profile();

  static constexpr std::size_t kSmallGridItems = 1024;

  /// Wider powers take seconds: less of them is measured.
  static constexpr unsigned kWidestUsual = 4096;
  /// The largest batch of measure_batches, in items that the device works on at a time.
  static constexpr unsigned most_waves(unsigned bits) { return bits <= kWidestUsual ? 4 : 1; }

  /// Powers are measured with so many instances for each that the device works on at a time: a batch as users
  /// have it, of which the launch and the last warps are a small part.
  static constexpr unsigned power_waves(unsigned bits) {
    return bits <= 512 ? 8 : bits <= kWidestUsual ? 2 : 1;
  }

 private:
  struct Choice {
    unsigned blocks = 1;  ///< on a multiprocessor
    Json tried;           ///< items a second by blocks
  };
  // What a row's numbers are computed from.
  struct Result {
    Timing timing;
    std::size_t items = 0;
    double operations = 1;             ///< of an item
    double products = 1;               ///< Montgomery multiplications and squarings of an operation
    double set_up = 0;                 ///< seconds that do not count
    std::vector<double> limit_clocks;  ///< of a multiprocessor, for one operation, by pipe
  };

  Session& session_;
  const Instances& instances_;
  Checker& checker_;
  const gpu::Technique& technique_;
  ShapeRun run_;
  unsigned occupancy_;
  std::vector<PipeLimit> limits_;

  [[nodiscard]] std::string title() const;
  [[nodiscard]] Json row(const char* operation) const;
  void finish(Json row, const Result& result, Verdict verdict);
  void set_limits(Json& row, const Result& result, double clocks) const;
  [[nodiscard]] double matrix_bytes_per_product() const;
  [[nodiscard]] std::size_t threads_of(unsigned blocks) const;
  Choice choose_blocks(const std::function<Timing(unsigned)>& measure) const;
  [[nodiscard]] gpu::Program power_program(unsigned window, bool secret) const;
  [[nodiscard]] Result power_result(const gpu::Program& program, const Timing& timing,
                                    std::size_t items) const;
  [[nodiscard]] unsigned engine_window(bool secret) const;
  [[nodiscard]] std::vector<unsigned> windows(bool secret) const;
  void queue_power(const gpu::LaunchShape& launch, std::size_t items) const;
  std::uint32_t chain_length();
  [[nodiscard]] Timing time_chain(bool squares, const Choice& choice, std::uint32_t steps,
                                  const Effort& effort);
  void measure_chain(bool squares, const Choice& choice, std::uint32_t steps);
  void measure_power(unsigned window, bool secret, const Choice& choice);
};

}  // namespace manymod::bench
