// SPDX-License-Identifier: Apache-2.0
// fields: rates of operations in prime fields on CUDA device 0, by one thread for each instance. Rows of the
// report: bench/cuda/README.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_facts.hpp"
#include "../json.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "../timer.hpp"
#include "field/special.cuda.hpp"
#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "job.hpp"

// The compiled kernels.cu, put into the program.
asm(".pushsection .rodata, \"a\"\n.balign 64\nmm_fields:\n.incbin \"" MM_FIELDS_IMAGE
    "\"\n.byte 0\n.popsection");
extern "C" const unsigned char mm_fields[];  // NOLINT(readability-identifier-naming): the assembler's

namespace manymod::bench {
namespace {

constexpr const char* kDescription =
    "Measure multiplication, squaring, addition and subtraction modulo the primes of common curves on a GPU: "
    "with reductions of their own, and as any other modulus. Results are compared with the host's.";
constexpr unsigned kCompared = 64;  ///< items that the host computes too

const std::vector<std::string> kTechniques = {"special", "row32", "dpf52"};
const std::vector<std::string> kOperations = {"mul", "sqr", "add", "sub"};

using Words = std::vector<std::uint32_t>;

struct Prime {
  std::string name;
  unsigned bits, width;
  Words words;
  /// The host's results of a job on host memory, for its first items.
  void (*compute)(const FieldJob& job, const std::string& operation);
};

template <class Field>
void compute_on_host(const FieldJob& job, const std::string& operation) {
  const Field f;
  for (std::uint32_t item = 0; item < job.count; ++item) {
    const std::size_t row = std::size_t{item} * job.width;
    typename Field::Element x, y;
    f.from_limbs(x, integers::Words(job.x + row, job.width));
    f.from_limbs(y, integers::Words(job.y + row, job.width));
    for (std::uint32_t step = 0; step < job.steps; ++step) {
      if (operation == "mul") f.mul(x, x, y);
      if (operation == "sqr") f.sqr(x, x);
      if (operation == "add") f.add(x, x, y);
      if (operation == "sub") f.sub(x, x, y);
    }
    f.to_limbs(integers::WordsOut(job.result + row, job.width), x);
  }
}

template <class P>
Prime prime(const char* name, unsigned bits) {
  Prime r{name, bits, P::kWords + P::kWords % 2, {}, compute_on_host<field::SpecialField<P>>};
  for (unsigned j = 0; j < r.width; ++j) r.words.push_back(j < P::kWords ? P::word(j) : 0);
  return r;
}

const std::vector<Prime>& primes() {
  static const std::vector<Prime> all{
#define PRIME(name, bits, Class) prime<special_primes::Class>(#name, bits),
      MM_FIELD_PRIMES(PRIME)
#undef PRIME
  };
  return all;
}

struct Options : CommonOptions {
  std::vector<std::string> primes, techniques = kTechniques, operations = kOperations;
};

void add_options(CLI::App& command, Options& options) {
  for (const Prime& prime : primes()) options.primes.push_back(prime.name);
  add_list(command, "--prime", options.primes, "Primes (default: all)")->check(CLI::IsMember(options.primes));
  add_list(command, "--technique", options.techniques, "Techniques (default: all)")
      ->check(CLI::IsMember(kTechniques));
  add_list(command, "--op", options.operations, "Operations (default: all)")
      ->check(CLI::IsMember(kOperations));
}

/// Wide products of 32-bit words in an operation, at least; 0 for sums.
unsigned wide_products(const Prime& prime, const std::string& operation) {
  const unsigned words = (prime.bits + 31) / 32;
  if (operation == "mul") return words * words;
  return operation == "sqr" ? words * (words + 1) / 2 : 0;
}

class Measurements {
 public:
  Measurements(const Options& options, cuda::Device& device)
      : options_(options), device_(device), stream_(device), timer_(stream_) {
    device.call(device.api().module_load_data, &module_, static_cast<const void*>(mm_fields));
  }

  void run() {
    for (const Prime& prime : primes()) {
      if (std::ranges::find(options_.primes, prime.name) == options_.primes.end()) continue;
      for (const std::string& operation : options_.operations) measure(prime, operation);
    }
  }

  [[nodiscard]] bool all_right() const { return wrong_ == 0; }

  [[nodiscard]] Json report() const {
    Json document = report_of(device_, options_.quick);
    document["clock_source"] = timer_.clock_source();
    document["method"] =
        "chains of dependent operations, one thread an instance, kernels alone; medians; clocks of a "
        "multiprocessor for an operation; the limit is one wide product of 32-bit words a clock and lane of "
        "32; results compared with the host's";
    document["rows"] = rows_;
    return document;
  }

 private:
  const Options& options_;
  cuda::Device& device_;
  cuda::Stream stream_;
  Timer timer_;
  cuda::ModuleHandle module_ = nullptr;  ///< as long as the process
  unsigned wrong_ = 0;
  std::vector<Json> rows_;

  [[nodiscard]] cuda::Kernel kernel(const std::string& name) const {
    cuda::FunctionHandle function = nullptr;
    device_.call(device_.api().module_get_function, &function, module_, name.c_str());
    return {device_, function, name};
  }

  /// Items of random words, some of them all ones.
  [[nodiscard]] static Words operands(const Prime& prime, std::uint32_t count, unsigned seed) {
    std::mt19937 generate(seed);
    Words r(std::size_t{count} * prime.width);
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] = i % 7 == 0 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(generate());
      if (i % prime.width >= prime.bits / 32) r[i] = 0;
    }
    return r;
  }

  [[nodiscard]] gpu::DeviceBuffer upload(const Words& words) const {
    gpu::DeviceBuffer buffer(device_, words.size() * sizeof(std::uint32_t));
    stream_.copy_to_device(buffer.data(), words.data(), buffer.bytes());
    stream_.synchronize();
    return buffer;
  }

  void measure(const Prime& prime, const std::string& operation) {
    const unsigned multiprocessors = device_.properties().multiprocessors;
    const std::uint32_t count = multiprocessors * 2048 * (options_.quick ? 1 : 4);
    const Words x = operands(prime, count, 1), y = operands(prime, count, 2);
    FieldJob job{x.data(),
                 y.data(),
                 prime.words.data(),
                 nullptr,
                 std::min(count, kCompared),
                 options_.quick ? 200U : 1000U,
                 prime.width};
    Words expected(std::size_t{job.count} * prime.width);
    job.result = expected.data();
    prime.compute(job, operation);

    const gpu::DeviceBuffer device_x = upload(x), device_y = upload(y), n = upload(prime.words);
    const gpu::DeviceBuffer result(device_, x.size() * sizeof(std::uint32_t));
    job.x = device_x.as<std::uint32_t>();
    job.y = device_y.as<std::uint32_t>();
    job.prime = n.as<std::uint32_t>();
    job.result = result.as<std::uint32_t>();
    job.count = count;
    for (const std::string& technique : options_.techniques) {
      stream_.set_bytes(result.data(), 0, result.bytes());
      const Timing timing = time(technique, prime, operation, job);
      Words found(expected.size());
      stream_.copy_to_host(found.data(), result.data(), found.size() * sizeof(std::uint32_t));
      stream_.synchronize();
      record(technique, prime, operation, job, timing, found == expected);
    }
  }

  Timing time(const std::string& technique, const Prime& prime, const std::string& operation,
              const FieldJob& job) {
    const cuda::Kernel measured = kernel("field_" + technique + "_" + prime.name + "_" + operation);
    const unsigned shared = technique == "special" ? 0 : kFieldSharedWords * kFieldThreads * 4;
    const gpu::LaunchShape shape{(job.count + kFieldThreads - 1) / kFieldThreads, kFieldThreads, shared};
    return timer_.measure([&] { measured.launch(stream_, shape, job); },
                          {options_.quick ? 0.02 : 0.2, 3, 20});
  }

  void record(const std::string& technique, const Prime& prime, const std::string& operation,
              const FieldJob& job, const Timing& timing, bool right) {
    const double rate = static_cast<double>(job.count) * job.steps / timing.median;
    const double clocks = timing.mhz * 1e6 * device_.properties().multiprocessors / rate;
    const double limit = wide_products(prime, operation) / 32.0;
    Json row;
    row["technique"] = technique;
    row["prime"] = prime.name;
    row["operation"] = operation;
    row["per_second"] = rate;
    row["clocks"] = clocks;
    if (limit > 0) row["limit_clocks"] = limit;
    row["mhz"] = timing.mhz;
    row["right"] = right;
    rows_.push_back(std::move(row));
    if (!right) ++wrong_;
    std::printf("%-10s %-4s %-8s %8.2f G/s %6.2f clocks%s\n", prime.name.c_str(), operation.c_str(),
                technique.c_str(), rate / 1e9, clocks, right ? "" : "  WRONG");
  }
};

int run(const Options& options) {
  Measurements measurements(options, cuda::device(0));
  measurements.run();
  const bool written = save_report(options, measurements);
  return written && measurements.all_right() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<Options>(kDescription, count, arguments, add_options, run);
}
