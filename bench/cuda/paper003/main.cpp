// SPDX-License-Identifier: Apache-2.0
// paper003: points of elliptic curves on CUDA device 0 by one thread for each, as in tables 3 to 5 and
// section 3.3 of Giorgi, Izard, Tisserand, "Comparison of modular arithmetic algorithms on GPUs". Rows of the
// report: bench/cuda/README.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../device_facts.hpp"
#include "../json.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "../timer.hpp"
#include "forms.hpp"
#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "instances.hpp"

// The compiled kernels.cu, put into the program.
asm(".pushsection .rodata, \"a\"\n.balign 64\nmm_paper003:\n.incbin \"" MM_PAPER003_IMAGE
    "\"\n.byte 0\n.popsection");
extern "C" const unsigned char mm_paper003[];  // NOLINT(readability-identifier-naming): the assembler's

namespace manymod::bench::paper003 {
namespace {

using ecc::giorgi::Operation;
using ecc::giorgi::PointJob;

constexpr const char* kDescription =
    "Measure point additions, doublings and scalar multiplications by one thread for each, with operands in "
    "local, shared and register memory. All results are compared with the host's.";
constexpr unsigned kPaperBlocks = 64, kPaperBlock = 16;
/// More than any kernel here has resident on a multiprocessor.
constexpr std::size_t kMostThreads = 2048;

/// The numbers of a technique for one width.
struct Form {
  std::string name;
  unsigned words, block, radix_bits;
  unsigned (*shared_words)(unsigned threads, unsigned numbers);
};

template <class Technique, unsigned kWords>
Form form(const char* name) {
  using Numbers = ecc::giorgi::Numbers<Technique, kWords>;
  return {name, kWords, kBlock<Technique>, Numbers::kRadixBits, Numbers::shared_words};
}

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
#define FORM(name, words) form<name, words>(#name),
      MM_PAPER003_FORMS(FORM)
#undef FORM
  };
  return all;
}

/// What is measured of each form.
struct Measured {
  const char* name;
  Operation operation;
  const char* scalars;  ///< "each": one for each item; "shared": one for all; "" where there is none
  const char* digits;   ///< storage of w-NAF digits: "basic", "packed" or ""
  bool any_a;           ///< also on the curve with any a
};
constexpr Measured kMeasured[] = {
    {"multiply", Operation::multiply, "", "", false},
    {"add", Operation::add, "", "", false},
    {"twice", Operation::twice, "", "", true},
    {"right_to_left", Operation::right_to_left, "each", "", true},
    {"right_to_left", Operation::right_to_left, "shared", "", false},
    {"naf2", Operation::naf2, "each", "basic", false},
    {"naf2", Operation::naf2, "each", "packed", false},
    {"naf2", Operation::naf2, "shared", "packed", false},
    {"naf3", Operation::naf3, "each", "basic", false},
    {"naf3", Operation::naf3, "each", "packed", false},
    {"naf3", Operation::naf3, "shared", "packed", false},
};

struct Options : CommonOptions {
  std::vector<unsigned> bits;
  std::vector<std::string> forms;
};

void add_options(CLI::App& command, Options& options) {
  add_list(command, "--bits", options.bits, "Widths (default: all)")->check(CLI::PositiveNumber);
  add_list(command, "--form", options.forms, "Forms, such as radix32_registers (default: all)");
}

template <class T>
bool is_wanted(const std::vector<T>& wanted, const T& one) {
  return wanted.empty() || std::ranges::find(wanted, one) != wanted.end();
}

class Measurements {
 public:
  Measurements(const Options& options, cuda::Device& device)
      : options_(options),
        device_(device),
        stream_(device),
        timer_(stream_),
        stride_(kMostThreads * device.properties().multiprocessors) {
    device.call(device.api().module_load_data, &module_, static_cast<const void*>(mm_paper003));
  }

  void run() {
    for (const NamedCurve& curve : kCurves) {
      if (!is_wanted(options_.bits, curve.bits)) continue;
      measure(curve);
      save_report(options_, *this);
    }
  }

  [[nodiscard]] bool all_right() const { return wrong_ == 0; }

  [[nodiscard]] Json report() const {
    Json document = report_of(device_, options_.quick);
    document["clock_source"] = timer_.clock_source();
    document["method"] =
        "kernels alone, medians; `launch` full: one wave of resident threads, paper: 64 blocks of 16 "
        "threads; "
        "nanoseconds of an operation: the time of the kernel by all operations of all threads; every result "
        "compared with the chord and tangent law on the host";
    document["rows"] = rows_;
    return document;
  }

 private:
  struct Operands {
    gpu::DeviceBuffer p, q, each, shared, result;
  };

  const Options& options_;
  cuda::Device& device_;
  cuda::Stream stream_;
  Timer timer_;
  std::size_t stride_;
  cuda::ModuleHandle module_ = nullptr;  ///< as long as the process
  std::size_t wrong_ = 0;
  std::vector<Json> rows_;

  [[nodiscard]] cuda::Kernel kernel(const std::string& name) const {
    cuda::FunctionHandle function = nullptr;
    device_.call(device_.api().module_get_function, &function, module_, name.c_str());
    return {device_, function, name};
  }

  [[nodiscard]] gpu::DeviceBuffer upload(const Words& words) const {
    gpu::DeviceBuffer buffer(device_, words.size() * sizeof(std::uint32_t));
    stream_.copy_to_device(buffer.data(), words.data(), buffer.bytes());
    stream_.synchronize();
    return buffer;
  }

  void measure(const NamedCurve& curve) {
    const Instances instances(curve);
    const Words p = instances.points(false, stride_);
    const Operands operands{upload(p), upload(instances.points(true, stride_)),
                            upload(instances.scalars(false, stride_)),
                            upload(instances.scalars(true, stride_)),
                            gpu::DeviceBuffer(device_, p.size() * sizeof(std::uint32_t))};
    for (const Form& form : forms()) {
      if (32 * form.words != curve.bits || !is_wanted(options_.forms, form.name)) continue;
      for (const Measured& measured : kMeasured) {
        if (!curve.a_is_minus_three && !measured.any_a) continue;
        measure(curve, instances, operands, form, measured);
      }
    }
  }

  void measure(const NamedCurve& curve, const Instances& instances, const Operands& operands,
               const Form& form, const Measured& measured) {
    const bool shared_scalar = std::string(measured.scalars) == "shared";
    const HostCurve& host = instances.curve();
    Words constants = host.p();
    const Words square = host.power_of_two(2 * form.radix_bits);
    constants.insert(constants.end(), host.a().begin(), host.a().end());
    constants.insert(constants.end(), square.begin(), square.end());
    const gpu::DeviceBuffer on_device = upload(constants);
    PointJob job{
        .curve = on_device.as<std::uint32_t>(),
        .p = operands.p.as<std::uint32_t>(),
        .q = operands.q.as<std::uint32_t>(),
        .scalars = (shared_scalar ? operands.shared : operands.each).as<std::uint32_t>(),
        .result = operands.result.as<std::uint32_t>(),
        .count = 0,
        .stride = static_cast<std::uint32_t>(stride_),
        .words = form.words,
        .bits = curve.bits,
        .steps = measured.operation == Operation::multiply ? Instances::kProducts : Instances::kSteps,
        .a_is_minus_three = curve.a_is_minus_three,
        .packed = std::string(measured.digits) == "packed"};
    const cuda::Kernel kernel =
        this->kernel("paper003_" + form.name + "_" + measured.name + "_" + std::to_string(form.words));
    for (const bool paper : {false, true}) {
      const unsigned block = paper ? kPaperBlock : form.block;
      const std::size_t shared =
          form.shared_words(block, ecc::giorgi::numbers_of(measured.operation)) * sizeof(std::uint32_t);
      const unsigned resident = kernel.blocks_per_multiprocessor(block, shared);
      const unsigned grid = paper ? kPaperBlocks : resident * device_.properties().multiprocessors;
      job.count = grid * block;
      stream_.set_bytes(operands.result.data(), 0xff, operands.result.bytes());
      const Timing timing =
          timer_.measure([&] { kernel.launch(stream_, gpu::LaunchShape{grid, block, shared}, job); },
                         {options_.quick ? 0.02 : 0.1, 2, 10});
      Words found(3 * stride_ * form.words);
      stream_.copy_to_host(found.data(), operands.result.data(), found.size() * sizeof(std::uint32_t));
      stream_.synchronize();
      const std::size_t wrong = instances.wrong(measured.operation, shared_scalar, found, job.count, stride_);
      record(curve, form, measured, kernel, {grid, block, shared}, job, timing, wrong, paper);
    }
  }

  void record(const NamedCurve& curve, const Form& form, const Measured& measured, const cuda::Kernel& kernel,
              const gpu::LaunchShape& launch, const PointJob& job, const Timing& timing, std::size_t wrong,
              bool paper) {
    const bool repeated = std::string(measured.scalars).empty();
    const double operations = static_cast<double>(job.count) * (repeated ? job.steps : 1);
    Json row;
    row["curve"] = curve.name;
    row["bits"] = curve.bits;
    row["a_is_minus_three"] = curve.a_is_minus_three;
    row["form"] = form.name;
    row["operation"] = measured.name;
    if (!repeated) row["scalars"] = measured.scalars;
    if (*measured.digits != '\0') row["digits"] = measured.digits;
    row["launch"] = paper ? "paper" : "full";
    row["grid"] = launch.grid;
    row["block"] = launch.block;
    row["shared_bytes"] = launch.shared_bytes;
    row["registers"] = kernel.registers();
    row["local_bytes"] = kernel.local_bytes();
    row["items"] = job.count;
    if (repeated) row["steps"] = job.steps;
    row["milliseconds"] = timing.median * 1e3;
    row["repetitions"] = timing.repetitions;
    row["mhz"] = timing.mhz;
    row["per_second"] = operations / timing.median;
    row["nanoseconds"] = timing.median * 1e9 / operations;
    row["checked"] = job.count;
    row["wrong"] = wrong;
    rows_.push_back(std::move(row));
    wrong_ += wrong;
    std::printf("%-16s %-18s %-14s %-7s %-7s %-6s %10.4f M/s%s\n", curve.name, form.name.c_str(),
                measured.name, measured.scalars, measured.digits, paper ? "paper" : "full",
                operations / timing.median / 1e6, wrong == 0 ? "" : "  WRONG");
    std::fflush(stdout);
  }
};

int run(const Options& options) {
  Measurements measurements(options, cuda::device(0));
  measurements.run();
  const bool written = save_report(options, measurements);
  return written && measurements.all_right() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench::paper003

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<paper003::Options>(paper003::kDescription, count, arguments, paper003::add_options,
                                         paper003::run);
}
