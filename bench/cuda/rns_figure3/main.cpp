// SPDX-License-Identifier: Apache-2.0
// rns_figure3: figure 3 of Moss, Page, Smart, "Toward Acceleration of RSA Using 3D Graphics Hardware", on
// this card: powers of 1024 bits with one exponent of weight 512, throughput against the number of instances,
// for implementations A to E; with the binary method, as there, and with windows.
//
// Every kernel's first answers are compared with the processor's, and all of them with the other kernels'.
// Moduli that share a factor with a kernel's M_B are counted as refused and left out of the comparison, not
// out of the time. Rows: bench/cuda/README.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../device_facts.hpp"
#include "../json.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "../timer.hpp"
#include "batch.hpp"
#include "candidates.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/driver.hpp"
#include "gpu/engine/launch.hpp"
#include "gpu/program/programs.hpp"
#include "modexp/windows.hpp"

// The compiled kernels.cu, put into the program.
asm(".pushsection .rodata, \"a\"\n.balign 64\nmm_rns_figure3:\n.incbin \"" MM_RNS_FIGURE3_IMAGE
    "\"\n.byte 0\n.popsection");
extern "C" const unsigned char mm_rns_figure3[];  // NOLINT(readability-identifier-naming): the assembler's

namespace manymod::bench {
namespace {

constexpr unsigned kBits = 1024;
constexpr std::size_t kPaperWindow = 4;  // of its implementation on the processor
constexpr std::size_t kChecked = 16;
// The paper's 23552 instances fill a texture of half words, 47104 one of full words.
const std::vector<std::size_t> kBatches = {32, 128, 512, 2048, 8192, 23552, 47104, 94208};
const std::vector<std::size_t> kQuickBatches = {32, 2048};
constexpr const char* kDescription =
    "Measure powers with one exponent on residue number systems of binary32 channels, by number of "
    "instances.";

struct Options : CommonOptions {
  unsigned bits = kBits;
  std::vector<std::size_t> batches;  ///< empty: kBatches or kQuickBatches
};

void add_options(CLI::App& command, Options& options) {
  command.add_option("--bits", options.bits, "Width of the moduli")
      ->check(CLI::IsMember({512, 1024, 2048}))
      ->capture_default_str();
  add_list(command, "--batches", options.batches, "Instances of a launch")->check(CLI::PositiveNumber);
}

/// The batches to measure, in ascending order.
std::vector<std::size_t> batches_of(const Options& options) {
  std::vector<std::size_t> batches = options.batches;
  if (batches.empty()) batches = options.quick ? kQuickBatches : kBatches;
  std::ranges::sort(batches);
  return batches;
}

struct Method {
  const char* name;
  std::size_t width;  ///< of the sliding window, 1: the binary method
};

class Figure {
 public:
  Figure(const Options& options, cuda::Device& device)
      : options_(options),
        batches_(batches_of(options)),
        device_(device),
        stream_(device),
        timer_(stream_),
        batch_(stream_, options.bits, batches_.back()),
        expected_(batch_.powers_on_cpu(std::min(kChecked, batch_.count()))) {
    const SlidingSchedule best = best_sliding_schedule(batch_.exponent());
    methods_ = {{"binary", 1}, {"sliding window of 4 bits", kPaperWindow}, {"best sliding window", 0}};
    if (options.quick) methods_.pop_back();
    std::printf("%u bits, up to %zu instances, %zu multiplications at best\n", options.bits, batch_.count(),
                best.operations());
  }

  /// @return whether all was measured and right
  bool run() {
    measure_cpu();
    for (const Candidate& candidate : library_candidates(options_.bits)) {
      measure(candidate, [&] { return device_.kernel(candidate.shape.kernel); });
      save_report(options_, *this);
    }
    if (options_.bits == kBits) {
      for (const Candidate& candidate : loaded_candidates()) {
        measure(candidate, [&] { return own_kernel(candidate.shape.kernel); });
        save_report(options_, *this);
      }
    }
    complete_ = true;
    return wrong_ == 0 && failed_ == 0;
  }

  [[nodiscard]] Json report() const {
    Json document = report_of(device_, options_.quick);
    document["complete"] = complete_;
    document["bits"] = options_.bits;
    document["mhz_from"] = timer_.clock_source();
    document["method"] =
        "kernels alone, by events; medians; one exponent, half of its bits set; an odd modulus to each "
        "instance; answers compared with the CPU library's and other kernels'";
    document["wrong"] = wrong_;
    document["failed"] = failed_;
    document["rows"] = rows_;
    return document;
  }

 private:
  const Options& options_;
  std::vector<std::size_t> batches_;
  cuda::Device& device_;
  cuda::Stream stream_;
  Timer timer_;
  Batch batch_;
  Limbs expected_;
  std::vector<Method> methods_;
  std::optional<cuda::ModuleHandle> module_;  // as long as the process
  std::vector<std::uint32_t> others_;         // answers of a kernel that refuses nothing
  std::vector<Json> rows_;
  unsigned wrong_ = 0, failed_ = 0;
  bool complete_ = false;

  [[nodiscard]] cuda::Kernel own_kernel(const char* name) {
    if (!module_) {
      module_.emplace();
      device_.call(device_.api().module_load_data, &*module_, static_cast<const void*>(mm_rns_figure3));
    }
    cuda::FunctionHandle function = nullptr;
    device_.call(device_.api().module_get_function, &function, *module_, name);
    return {device_, function, name};
  }

  void measure_cpu() {
    const std::size_t items = options_.quick ? 64 : 1024;
    for (const unsigned threads : {1U, 0U}) {
      const double seconds = batch_.seconds_on_cpu(items, threads);
      Json row;
      row["implementation"] = "CPU";
      row["threads"] = threads == 0 ? "all" : "1";
      row["instances"] = items;
      row["milliseconds"] = seconds * 1e3;
      row["microseconds_per_power"] = seconds * 1e6 / static_cast<double>(items);
      row["per_second"] = static_cast<double>(items) / seconds;
      rows_.push_back(std::move(row));
    }
  }

  template <class Find>
  void measure(const Candidate& candidate, const Find& kernel) {
    if (device_.lost()) return;
    try {
      for (const Method& method : methods_) Measurement(*this, candidate, kernel(), method).run();
    } catch (const cuda::DriverError& error) {
      ++failed_;
      Json row;
      row["implementation"] = candidate.implementation;
      row["kernel"] = candidate.shape.kernel;
      row["failed"] = error.what();
      rows_.push_back(std::move(row));
      std::printf("FAILED: %s: %s\n", candidate.shape.kernel, error.what());
    }
  }

  /// One kernel and method at all numbers of instances.
  class Measurement {
   public:
    Measurement(Figure& figure, const Candidate& candidate, cuda::Kernel kernel, const Method& method)
        : figure_(figure),
          candidate_(candidate),
          kernel_(std::move(kernel)),
          method_(method),
          program_(gpu::sliding_window_program(candidate.shape.radix_bits, schedule())) {
      const Batch& batch = figure.batch_;
      const std::size_t rows = batch.count() * batch.words() * sizeof(std::uint32_t);
      steps_ = brought(program_.steps.data(), program_.steps.size() * sizeof(gpu::Step));
      const gpu::Piece whole{0, 0, static_cast<std::uint32_t>(program_.steps.size())};
      whole_ = brought(&whole, sizeof whole);
      constants_ = brought(candidate.constants.data(), candidate.constants.size());
      squared_radix_ =
          brought(candidate.squared_radix.data(), candidate.squared_radix.size() * sizeof(std::uint32_t));
      start_ = gpu::DeviceBuffer(device(), rows);
      results_ = gpu::DeviceBuffer(device(), rows);
      refused_ = gpu::DeviceBuffer(device(), batch.count());
      claimed_ = gpu::DeviceBuffer(device(), sizeof(std::uint32_t));
      const gpu::LaunchShape launch = launch_for(batch.count());
      table_ = gpu::DeviceBuffer(device(), std::size_t{launch.grid} * launch.block * program_.slots *
                                               candidate.shape.lane_words * sizeof(std::uint32_t));
    }

    void run() {
      std::printf("%-2s %-28s %-26s", candidate_.implementation.c_str(), candidate_.shape.kernel,
                  method_.name);
      for (const std::size_t items : figure_.batches_) measure(items);
      std::printf("\n");
      std::fflush(stdout);
    }

   private:
    Figure& figure_;
    const Candidate& candidate_;
    cuda::Kernel kernel_;
    const Method& method_;
    gpu::Program program_;
    gpu::DeviceBuffer steps_, whole_, constants_, squared_radix_, start_, results_, refused_, claimed_,
        table_;

    [[nodiscard]] cuda::Device& device() const { return figure_.device_; }

    [[nodiscard]] SlidingSchedule schedule() const {
      const Limbs& exponent = figure_.batch_.exponent();
      return method_.width == 0 ? best_sliding_schedule(exponent) : sliding_schedule(exponent, method_.width);
    }

    [[nodiscard]] gpu::DeviceBuffer brought(const void* data, std::size_t bytes) const {
      gpu::DeviceBuffer buffer(device(), bytes);
      figure_.stream_.copy_to_device(buffer.data(), data, bytes);
      figure_.stream_.synchronize();
      return buffer;
    }

    // As the engine launches: no more blocks than run at a time.
    [[nodiscard]] gpu::LaunchShape launch_for(std::size_t items) const {
      const gpu::Shape& shape = candidate_.shape;
      const unsigned processors = device().properties().multiprocessors;
      const std::size_t lanes = items * shape.threads, per_processor = (lanes + processors - 1) / processors;
      gpu::LaunchShape launch;
      launch.block = static_cast<unsigned>(
          std::min<std::size_t>(shape.block, (per_processor + shape.step - 1) / shape.step * shape.step));
      launch.shared_bytes = gpu::shared_bytes(shape, launch.block);
      const unsigned resident =
          kernel_.blocks_per_multiprocessor(launch.block, launch.shared_bytes) * processors;
      if (resident == 0) {
        throw cuda::DriverError(cuda::Fault::other, static_cast<int>(device().index()),
                                std::string(shape.kernel) + " does not fit a multiprocessor");
      }
      launch.grid =
          static_cast<unsigned>(std::min<std::size_t>(resident, (lanes + launch.block - 1) / launch.block));
      return launch;
    }

    void queue(const gpu::LaunchShape& launch, std::size_t items) const {
      const Batch& batch = figure_.batch_;
      gpu::ResidueJob start;
      start.modulus = batch.moduli();
      start.words = batch.words();
      if (candidate_.squared_radix.empty()) {
        const unsigned radix_bits = candidate_.shape.radix_bits;
        start.zero_bits = radix_bits + gpu::start_power(radix_bits).bits - 32 * (batch.words() - 2);
      } else {
        start.value = {squared_radix_.as<std::uint32_t>(),
                       static_cast<std::uint32_t>(candidate_.squared_radix.size()), 0};
      }
      start.count = static_cast<std::uint32_t>(items);
      start.result = start_.as<std::uint32_t>();
      start.result_width = batch.words();
      gpu::launch_residue(figure_.stream_, start);

      gpu::ProgramJob job;
      job.steps = steps_.as<gpu::Step>();
      job.step_count = static_cast<std::uint32_t>(program_.steps.size());
      job.count = static_cast<std::uint32_t>(items);
      job.modulus = batch.moduli();
      job.start = {start_.as<std::uint32_t>(), batch.words(), batch.words()};
      job.operands[0] = batch.bases();
      job.result = results_.as<std::uint32_t>();
      job.result_width = batch.words();
      job.table = table_.as<std::uint32_t>();
      job.constants = constants_.data();
      job.pieces = whole_.as<gpu::Piece>();
      if (!candidate_.squared_radix.empty()) job.refused = refused_.as<std::uint8_t>();
      if (items * candidate_.shape.threads > std::size_t{launch.grid} * launch.block) {
        job.claimed = claimed_.as<std::uint32_t>();
        figure_.stream_.set_bytes(job.claimed, 0, sizeof(std::uint32_t));
      }
      kernel_.launch(figure_.stream_, launch, job);
    }

    void measure(std::size_t items) {
      const gpu::LaunchShape launch = launch_for(items);
      figure_.stream_.set_bytes(results_.data(), 0, results_.bytes());
      figure_.stream_.set_bytes(refused_.data(), 0, refused_.bytes());
      const Effort effort = figure_.options_.quick ? Effort{0.01, 1, 3} : Effort{0.2, 2, 9};
      const Timing timing = figure_.timer_.measure([&] { queue(launch, items); }, effort);
      const double each = timing.median / static_cast<double>(items);
      Json row;
      row["implementation"] = candidate_.implementation;
      row["form"] = candidate_.form;
      row["specialised"] = candidate_.specialised;
      row["kernel"] = candidate_.shape.kernel;
      row["exponentiation"] = method_.name;
      row["instances"] = items;
      row["milliseconds"] = timing.median * 1e3;
      row["best_milliseconds"] = timing.best * 1e3;
      row["microseconds_per_power"] = each * 1e6;
      row["per_second"] = 1 / each;
      row["repetitions"] = timing.repetitions;
      row["mhz"] = timing.mhz;
      row["block"] = launch.block;
      row["grid"] = launch.grid;
      row["registers"] = kernel_.registers();
      row["local_bytes"] = kernel_.local_bytes();
      check(items, row);
      figure_.rows_.push_back(std::move(row));
      std::printf("  %zu: %.1f k/s", items, 1e-3 / each);
    }

    void check(std::size_t items, Json& row) {
      const std::size_t words = figure_.batch_.words();
      std::vector<std::uint32_t> found(items * words);
      std::vector<std::uint8_t> refused(items);
      figure_.stream_.copy_to_host(found.data(), results_.data(), found.size() * sizeof(std::uint32_t));
      figure_.stream_.copy_to_host(refused.data(), refused_.data(), items);
      figure_.stream_.synchronize();
      std::size_t refusals = 0, checked = 0, compared = 0, wrong = 0;
      for (std::size_t i = 0; i < items; ++i) {
        if (refused[i] != 0) {
          ++refusals;
          continue;
        }
        bool right = true;
        for (std::size_t j = 0; j < words; ++j) {
          const std::uint32_t word = found[i * words + j];
          if (i < kChecked)
            right &=
                word == static_cast<std::uint32_t>(figure_.expected_[(i * words + j) / 2] >> (32 * (j % 2)));
          if (i * words < figure_.others_.size()) right &= word == figure_.others_[i * words + j];
        }
        checked += i < kChecked ? 1 : 0;
        compared += i * words < figure_.others_.size() ? 1 : 0;
        wrong += right ? 0 : 1;
      }
      row["refused"] = refusals;
      row["checked"] = checked;
      row["compared"] = compared;
      row["wrong"] = wrong;
      if (wrong > 0) {
        ++figure_.wrong_;
        std::printf("\nWRONG: %s, %zu instances: %zu of them\n", candidate_.shape.kernel, items, wrong);
      } else if (refusals == 0 && found.size() > figure_.others_.size()) {
        figure_.others_ = std::move(found);
      }
    }
  };
};

int run(const Options& options) {
  cuda::Device& device = cuda::device(0);
  Figure figure(options, device);
  const bool right = figure.run();
  const bool written = save_report(options, figure);
  return right && written ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<Options>(kDescription, count, arguments, add_options, run);
}
