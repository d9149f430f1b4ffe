// SPDX-License-Identifier: Apache-2.0
// pipe_overlap: which instructions a multiprocessor of compute capability 9.0 runs while its tensor cores
// make products of bytes, on CUDA device 0. Rows of the report: bench/cuda/README.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../device_facts.hpp"
#include "../json.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "../timer.hpp"
#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "job.hpp"

// The compiled kernels.cu, put into the program.
asm(".pushsection .rodata, \"a\"\n.balign 64\nmm_pipe_overlap:\n.incbin \"" MM_PIPE_OVERLAP_IMAGE
    "\"\n.byte 0\n.popsection");
extern "C" const unsigned char mm_pipe_overlap[];  // NOLINT(readability-identifier-naming): the assembler's

namespace manymod::bench {
namespace {

constexpr unsigned kCapability = 90;
constexpr unsigned kInside[] = {1, 2, 3, 4, 6, 8};  // bodies beside a product of the same warp
constexpr const char* kDescription =
    "Measure products of bytes on tensor cores (wgmma) together with instructions of one kind or two, on a "
    "GPU of compute capability 9.0.";

const std::vector<std::string> kKinds = {
#define KIND(name, ...) #name,
    MM_OVERLAP_KINDS(KIND)
#undef KIND
};

struct Options : CommonOptions {
  std::vector<std::string> kinds = kKinds;
};

void add_options(CLI::App& command, Options& options) {
  add_list(command, "--kind", options.kinds, "Kinds of instructions (default: all)")
      ->check(CLI::IsMember(kKinds));
}

/// Of one multiprocessor in one clock.
struct Rates {
  double instructions = 0;  ///< of threads
  double products = 0;      ///< of bytes
};

/// What the warpgroups of a block do.
struct Setting {
  unsigned product_groups = 0;
  unsigned other_groups = 0;  ///< with instructions alone
  unsigned inside = 0;        ///< bodies of instructions beside each product of a warpgroup
};

class Measurements {
 public:
  Measurements(const Options& options, cuda::Device& device)
      : options_(options),
        device_(device),
        stream_(device),
        blocks_(device.properties().multiprocessors),
        results_(device, sizeof(OverlapResult) * kOverlapGroups * blocks_) {
    if (device.compute_capability() != kCapability) {
      throw std::runtime_error("wants a GPU of compute capability 9.0");
    }
    device.call(device.api().module_load_data, &module_, static_cast<const void*>(mm_pipe_overlap));
  }

  void run() {
    measure_products();
    for (const std::string& kind : options_.kinds) measure_kind(kind);
  }

  [[nodiscard]] Json report() const {
    Json document = report_of(device_, options_.quick);
    document["method"] =
        "one block of 128-thread warpgroups on each multiprocessor, by its cycle counter; wgmma "
        "m64n48k32 of unsigned bytes, left operand in registers, 4 to a product; medians over "
        "multiprocessors and repetitions";
    document["rows"] = rows_;
    return document;
  }

 private:
  const Options& options_;
  cuda::Device& device_;
  cuda::Stream stream_;
  unsigned blocks_;
  gpu::DeviceBuffer results_;
  cuda::ModuleHandle module_ = nullptr;             ///< as long as the process
  double products_alone_[kOverlapGroups + 1] = {};  ///< by the number of warpgroups
  std::vector<Json> rows_;

  [[nodiscard]] cuda::Kernel kernel(const std::string& kind) const {
    cuda::FunctionHandle function = nullptr;
    const std::string name = "pipe_overlap_" + kind;
    device_.call(device_.api().module_get_function, &function, module_, name.c_str());
    return {device_, function, name};
  }

  [[nodiscard]] Rates rates(const cuda::Kernel& kernel, const Setting& setting) const {
    const unsigned groups = setting.product_groups + setting.other_groups;
    // No second block would fit.
    const gpu::LaunchShape shape{blocks_, groups * kOverlapThreads, device_.properties().shared_per_block};
    const std::uint64_t clocks = options_.quick ? 100'000 : 400'000;
    const OverlapJob job{results_.as<OverlapResult>(), clocks, setting.product_groups, setting.inside};
    std::vector<double> instructions, products;
    for (unsigned repetition = 0; repetition < (options_.quick ? 3U : 7U); ++repetition) {
      stream_.set_bytes(results_.data(), 0, results_.bytes());
      kernel.launch(stream_, shape, job);
      std::vector<OverlapResult> results(kOverlapGroups * blocks_);
      stream_.copy_to_host(results.data(), results_.data(), results_.bytes());
      stream_.synchronize();
      if (repetition == 0) continue;  // to warm up
      for (unsigned block = 0; block < blocks_; ++block) {
        const Rates rates = rates_of(&results[std::size_t{block} * kOverlapGroups], setting);
        instructions.push_back(rates.instructions);
        products.push_back(rates.products);
      }
    }
    return {median_of(std::move(instructions)), median_of(std::move(products))};
  }

  static Rates rates_of(const OverlapResult* block, const Setting& setting) {
    constexpr double kRoundBodies = double{kOverlapRound} * kOverlapBody * kOverlapThreads;
    constexpr double kRoundProducts = double{kOverlapRound} * kOverlapProduct;
    Rates rates;
    for (unsigned group = 0; group < setting.product_groups + setting.other_groups; ++group) {
      const double rounds =
          static_cast<double>(block[group].rounds) / static_cast<double>(block[group].clocks);
      const bool products = group < setting.product_groups;
      rates.instructions += rounds * kRoundBodies * (products ? setting.inside : 1);
      if (products) rates.products += rounds * kRoundProducts;
    }
    return rates;
  }

  void measure_products() {
    const cuda::Kernel any = kernel(kKinds.front());
    std::printf("products of bytes a clock of a multiprocessor, by warpgroups:");
    for (unsigned groups = 1; groups <= kOverlapGroups; ++groups) {
      products_alone_[groups] = rates(any, {groups, 0, 0}).products;
      Json row;
      row["mode"] = "products";
      row["product_groups"] = groups;
      row["products_per_clock"] = products_alone_[groups];
      rows_.push_back(std::move(row));
      std::printf("  %u: %.0f", groups, products_alone_[groups]);
    }
    std::printf("\n");
  }

  void measure_kind(const std::string& kind) {
    const cuda::Kernel measured = kernel(kind);
    double alone[kOverlapGroups + 1] = {};
    std::printf("%s: instructions a clock of a multiprocessor, by warpgroups:", kind.c_str());
    for (unsigned groups = 1; groups <= kOverlapGroups; ++groups) {
      alone[groups] = rates(measured, {0, groups, 0}).instructions;
      Json row;
      row["mode"] = "instructions";
      row["kind"] = kind;
      row["other_groups"] = groups;
      row["instructions_per_clock"] = alone[groups];
      rows_.push_back(std::move(row));
      std::printf("  %u: %.1f", groups, alone[groups]);
    }
    std::printf("\n");
    for (unsigned products = 1; products < kOverlapGroups; ++products) {
      for (unsigned others = 1; products + others <= kOverlapGroups; ++others) {
        measure_beside(kind, measured, {products, others, 0}, alone);
      }
    }
    for (unsigned groups = 1; groups <= kOverlapGroups; ++groups) {
      for (const unsigned bodies : kInside) measure_inside(kind, measured, {groups, 0, bodies}, alone);
    }
  }

  // Some warpgroups have products, others instructions.
  void measure_beside(const std::string& kind, const cuda::Kernel& measured, const Setting& setting,
                      const double* alone) {
    const Rates both = rates(measured, setting);
    const double instructions = 100 * both.instructions / alone[setting.other_groups];
    const double products = 100 * both.products / products_alone_[setting.product_groups];
    Json row;
    row["mode"] = "beside";
    row["kind"] = kind;
    row["product_groups"] = setting.product_groups;
    row["other_groups"] = setting.other_groups;
    row["products_per_clock"] = both.products;
    row["instructions_per_clock"] = both.instructions;
    row["percent_of_products"] = products;
    row["percent_of_instructions"] = instructions;
    rows_.push_back(std::move(row));
    std::printf("  %u of products beside %u: %.0f and %.1f a clock, %.0f %% and %.0f %% of alone\n",
                setting.product_groups, setting.other_groups, both.products, both.instructions, products,
                instructions);
  }

  // Each warpgroup has both: clocks of a multiprocessor for one product and the instructions beside it.
  void measure_inside(const std::string& kind, const cuda::Kernel& measured, const Setting& setting,
                      const double* alone) {
    const unsigned groups = setting.product_groups, instructions = setting.inside * kOverlapBody;
    const double together = kOverlapProduct / rates(measured, setting).products;
    const double product = kOverlapProduct / products_alone_[groups];
    const double others = instructions * kOverlapThreads / alone[groups];
    const double hidden = 100 * (product + others - together) / std::min(product, others);
    Json row;
    row["mode"] = "inside";
    row["kind"] = kind;
    row["product_groups"] = groups;
    row["instructions_per_product"] = instructions;
    row["clocks"] = together;
    row["clocks_of_product"] = product;
    row["clocks_of_instructions"] = others;
    row["percent_hidden"] = hidden;
    rows_.push_back(std::move(row));
    std::printf("  %u with both: a product and %u take %.0f clocks, %.0f and %.0f alone: %.0f %% hidden\n",
                groups, instructions, together, product, others, hidden);
  }
};

int run(const Options& options) {
  Measurements measurements(options, cuda::device(0));
  measurements.run();
  const bool written = save_report(options, measurements);
  return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<Options>(kDescription, count, arguments, add_options, run);
}
