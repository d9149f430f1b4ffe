// SPDX-License-Identifier: Apache-2.0
// device_kernels: every shape of every technique on CUDA device 0, kernels alone, timed by events.
//
// Each instance has an odd modulus of its own with the top bit set; kernels for a modulus that all share have
// one. Every measured kernel's answers are
// compared with the CPU library's (a sample, with the last item) and powers also with other kernels' (all of
// them); a wrong answer marks its row, and the exit status is 1. Rows and their members:
// bench/cuda/README.md.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>

#include "addition_bench.hpp"
#include "device_facts.hpp"
#include "gpu/cuda/probe.hpp"
#include "gpu/cuda/requirements.hpp"
#include "gpu/engine/constants.hpp"
#include "gpu/engine/launch.hpp"
#include "gpu/nvidia.hpp"
#include "modmul/dpf52/variants.cuda.hpp"
#include "modmul/fios/variants.cuda.hpp"
#include "modmul/rns/variants.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"
#include "modmul/two_pass16/variants.cuda.hpp"
#include "options.hpp"
#include "program_main.hpp"
#include "report_file.hpp"
#include "shape_bench.hpp"

namespace manymod::bench {
namespace {

constexpr unsigned kWidths[] = {64,  128,  160,  192,  224,  256,  384,  512,
                                768, 1024, 1536, 2048, 3072, 4096, 6144, 8192};
constexpr unsigned kLatencyWidths[] = {1024, 2048};
const std::vector<std::size_t> kBatches = {1, 32, 128, 1024, 4096};
const std::vector<std::size_t> kQuickBatches = {1, 1024};
constexpr unsigned kQuickWidth = 4096;  // at most, where no width is asked for

// The parameters of "Faster Modular Exponentiation using Double Precision Floating Point Arithmetic on the
// GPU", table I.
struct WideSampleCase {
  unsigned bits, threads;
  std::size_t items_per_processor;
};
constexpr WideSampleCase kWideSampleCases[] = {{1024, 4, 192}, {1536, 8, 96}, {2048, 8, 96}};

struct Case {
  const gpu::Technique* technique;
  const gpu::Shape* shape;
};

unsigned widest_served(const gpu::Shape& shape) {
  unsigned bits = 0;
  for (const unsigned width : kWidths) {
    if (width <= 32 * shape.words) bits = width;
  }
  return bits;
}

// What is to be measured at one width.
struct WidthPlan {
  std::vector<Case> shapes;                             // on a full device
  std::vector<Case> latency;                            // each technique's and number of threads' shape
  std::vector<std::pair<Case, std::size_t>> sustained;  // with items per multiprocessor
};

using Width = std::pair<unsigned, Moduli>;

class Bench {
 public:
  Bench(const Options& options, cuda::Device& device)
      : options_(options),
        device_(device),
        stream_(device),
        timer_(stream_),
        session_{stream_, timer_, options.quick, options.windows, {}, {}, 0, 0, 0},
        additions_(session_, options) {}

  /// @return whether all was measured and right
  bool run() {
    for (const auto& [width, plan] : plans()) {
      try {
        run_width(width, plan);
      } catch (const std::runtime_error& error) {
        fail(std::to_string(width.first) + " bits", error);
      }
      save_report(options_, *this);
      if (device_.lost()) break;
    }
    complete_ = true;
    return session_.wrong == 0 && session_.failed == 0 && (options_.profile || !session_.rows.empty());
  }

  [[nodiscard]] Json report() const;

 private:
  const Options& options_;
  cuda::Device& device_;
  cuda::Stream stream_;
  Timer timer_;
  Session session_;
  AdditionBench additions_;
  bool complete_ = false;

  [[nodiscard]] std::vector<Case> cases(Moduli moduli) const {
    std::vector<Case> found;
    const unsigned capability = device_.compute_capability();
    const cuda::CudaTraits traits(capability, capability, gpu::full_rate_doubles(capability));
    for (const auto& forms :
         {row32::cuda_techniques(), dpf52::cuda_techniques(), two_pass16::cuda_techniques(),
          fios::cuda_techniques(), rns::cuda_techniques()}) {
      for (const gpu::Technique& technique : forms) {
        if (!options_.wants_technique(technique.folder, technique.name)) continue;
        if (!technique.requirements->obstacle("cuda:0", traits).empty()) continue;
        for (const gpu::Shape& shape : shapes_of(technique, moduli)) found.push_back({&technique, &shape});
      }
    }
    return found;
  }

  // Most techniques have no kernels of their own for a modulus that all instances share.
  static std::span<const gpu::Shape> shapes_of(const gpu::Technique& technique, Moduli moduli) {
    if (moduli == Moduli::each) return technique.shapes;
    if (technique.constants == nullptr) return {};
    return technique.constants->shared_shapes;
  }

  // As the engine chooses: of a technique's shapes with so many threads the one with the fewest words that
  // hold it.
  static std::vector<Case> engine_shapes(const std::vector<Case>& all, unsigned bits) {
    std::map<std::pair<const gpu::Technique*, unsigned>, Case> chosen;
    for (const Case& one : all) {
      if (32 * one.shape->words < bits) continue;
      Case& best = chosen.try_emplace({one.technique, one.shape->threads}, one).first->second;
      if (one.shape->words < best.shape->words) best = one;
    }
    std::vector<Case> shapes;
    for (const auto& [key, one] : chosen) shapes.push_back(one);
    return shapes;
  }

  [[nodiscard]] std::map<Width, WidthPlan> plans() const {
    std::map<Width, WidthPlan> plans;
    for (const Moduli moduli : {Moduli::each, Moduli::shared}) {
      if (!options_.wants_moduli(moduli == Moduli::each ? "each" : "shared")) continue;
      for (const Case& one : cases(moduli)) {
        const unsigned bits = widest_served(*one.shape);
        const bool brief = !options_.quick || !options_.bits.empty() || bits <= kQuickWidth;
        if (bits > 0 && brief && options_.wants_bits(bits)) plans[{bits, moduli}].shapes.push_back(one);
      }
    }
    if (!options_.profile && options_.wants_moduli("each")) add_papers_cases(plans);
    return plans;
  }

  void add_papers_cases(std::map<Width, WidthPlan>& plans) const {
    const std::vector<Case> all = cases(Moduli::each);
    for (const unsigned bits : kLatencyWidths) {
      if (options_.wants_bits(bits)) plans[{bits, Moduli::each}].latency = engine_shapes(all, bits);
    }
    for (const WideSampleCase& paper : kWideSampleCases) {
      if (options_.quick || !options_.wants_bits(paper.bits)) continue;
      for (const Case& one : engine_shapes(all, paper.bits)) {
        if (std::string_view(one.technique->folder) != "dpf52" || one.shape->threads != paper.threads)
          continue;
        plans[{paper.bits, Moduli::each}].sustained.emplace_back(one, paper.items_per_processor);
      }
    }
  }

  // Instances that the largest launch of the plan needs.
  [[nodiscard]] std::size_t instances_for(unsigned bits, const WidthPlan& plan) {
    const std::size_t processors = device_.properties().multiprocessors;
    std::size_t count = ShapeBench::kSmallGridItems;
    for (const Case& one : plan.shapes) {
      const gpu::Shape& shape = *one.shape;
      const std::size_t shared = gpu::shared_bytes(shape, shape.block);
      const std::size_t blocks = device_.kernel(shape.kernel).blocks_per_multiprocessor(shape.block, shared);
      const unsigned batch = options_.sweep ? ShapeBench::most_waves(bits) : 1;
      const std::size_t waves = std::max(batch, ShapeBench::power_waves(bits));
      count = std::max(count, waves * blocks * processors * shape.block / shape.threads);
    }
    if (!plan.latency.empty()) count = std::max(count, kBatches.back());
    for (const auto& [one, items] : plan.sustained) count = std::max(count, items * processors);
    return count;
  }

  void run_width(const Width& width, const WidthPlan& plan) {
    const auto [bits, moduli] = width;
    const Instances instances(stream_, bits, instances_for(bits, plan), moduli);
    const gpu::DeviceBuffer results(device_, instances.base().on_device.bytes());
    Checker checker(instances, options_.quick ? 4 : 16);
    const auto with = [&](const Case& one, const auto& measure) {
      if (device_.lost()) return;
      try {
        ShapeBench bench(session_, instances, checker, *one.technique, *one.shape, results);
        measure(bench);
      } catch (const std::runtime_error& error) {
        fail(one.shape->kernel, error);
      }
      std::fflush(stdout);
    };
    const auto is_checked_otherwise = [](const Case& one) { return one.technique->constants != nullptr; };
    if (!options_.profile && std::ranges::any_of(plan.shapes, is_checked_otherwise)) {
      with(plain_case(bits), [](ShapeBench& bench) { bench.compute_others(); });
    }
    for (const Case& one : plan.shapes) with(one, [&](ShapeBench& bench) { run_shape(one, bench); });
    for (const Case& one : plan.latency)
      with(one, [](ShapeBench& bench) { bench.measure_latency(kBatches); });
    for (const auto& [one, items] : plan.sustained) {
      const std::size_t all = items * device_.properties().multiprocessors;
      with(one, [&](ShapeBench& bench) { bench.measure_sustained(all); });
    }
    if (options_.profile || device_.lost() || moduli == Moduli::shared) return;
    if (options_.wants_technique("fios", "fios")) measure_cpu(instances);
    additions_.measure(instances, checker, results);
  }

  // What techniques with constants of their own are compared with.
  static Case plain_case(unsigned bits) {
    std::vector<Case> shapes;
    const gpu::Technique& technique = row32::cuda_techniques().front();
    for (const gpu::Shape& shape : technique.shapes) shapes.push_back({&technique, &shape});
    shapes = engine_shapes(shapes, bits);
    const auto has_groups = [](const Case& one) { return one.shape->threads >= 8; };
    return *std::ranges::find_if(shapes, has_groups);
  }

  void run_shape(const Case& one, ShapeBench& bench) const {
    if (options_.profile) return bench.launch_for_profile();
    std::printf("%-26s", one.shape->kernel);
    bench.measure_chains();
    bench.measure_powers();
    if (options_.sweep) bench.measure_batches();
    if (std::string_view(one.technique->folder) == "fios" && one.shape->threads == 1)
      bench.measure_small_grid();
    std::printf("\n");
  }

  // What `fios` is set beside.
  void measure_cpu(const Instances& instances) {
    constexpr unsigned kWidestOfFios = 512;
    if (instances.bits() > kWidestOfFios) return;
    for (const mm_op op : {MM_OP_MULMOD, MM_OP_ADDMOD}) {
      Json row;
      row["operation"] = op == MM_OP_MULMOD ? "cpu_mulmod" : "cpu_addmod";
      row["bits"] = instances.bits();
      row["instances"] = ShapeBench::kSmallGridItems;
      row["nanoseconds"] = cpu_nanoseconds(instances, ShapeBench::kSmallGridItems, op);
      session_.rows.push_back(std::move(row));
    }
  }

  void fail(const std::string& what, const std::exception& error) {
    ++session_.failed;
    Json row;
    row["operation"] = "failed";
    row["what"] = what;
    row["message"] = error.what();
    session_.rows.push_back(std::move(row));
    std::printf("\nFAILED: %s: %s\n", what.c_str(), error.what());
  }
};

Json Bench::report() const {
  Json document = report_of(device_, options_.quick);
  document["mhz"] = session_.mhz.empty() ? 0.0 : median_of(session_.mhz);
  document["mhz_from"] = timer_.clock_source();
  document["complete"] = complete_;
  document["method"] =
      "kernels alone, by events; medians; answers compared with the CPU library's and other kernels'";
  document["wrong"] = session_.wrong;
  document["failed"] = session_.failed;
  document["rows"] = session_.rows;
  return document;
}

int run(const Options& options) {
  cuda::Device& device = cuda::device(0);
  Bench bench(options, device);
  const bool right = bench.run();
  const bool written = save_report(options, bench);
  return right && written ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<Options>(kDescription, count, arguments, add_options, run);
}
