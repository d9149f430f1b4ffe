// SPDX-License-Identifier: Apache-2.0
// Times CGBN's kernels of one width on one device; see README.md beside this.
//
// cgbn_driver BITS OPERANDS RESULTS SECONDS REPETITIONS BLOCK[,BLOCK..]
//
// OPERANDS holds, each as little-endian 32-bit words and as many numbers of each: bases, exponents, moduli,
// R^2 mod moduli. RESULTS receives the results for them, shape after shape, in the order of the report on
// standard output.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cgbn_shapes.hpp"

namespace peers {
namespace {

constexpr unsigned kWordBits = 32;
constexpr unsigned kOperands = 4;  // numbers of an item
/// Enough that what a launch costs does not count, at every width.
constexpr unsigned kProducts = 1000;
/// A run is of whole waves, as many as take the time asked for within these limits.
constexpr unsigned kLeastWaves = 2, kMostWaves = 64;
/// Long enough that the launch does not count, short enough that the clock stays what the load made it.
constexpr long long kClockCycles = 1 << 22;
/// Share of the best rate over one wave below which a shape is not measured further.
constexpr double kHopeless = 0.8;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Words in device memory.
class Buffer {
 public:
  explicit Buffer(std::size_t words) : words_(words) {
    check(cudaMalloc(&data_, words * sizeof(std::uint32_t)), "allocation");
  }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), words_(other.words_) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { cudaFree(data_); }

  std::uint32_t* data() const { return data_; }

  /// Fills the buffer with copies of some words.
  void tile(const std::uint32_t* source, std::size_t count) {
    const std::size_t first = std::min(count, words_);
    check(cudaMemcpy(data_, source, first * sizeof *source, cudaMemcpyHostToDevice), "copy");
    for (std::size_t at = first; at < words_;) {
      const std::size_t next = std::min(at, words_ - at);
      check(cudaMemcpy(data_ + at, data_, next * sizeof *source, cudaMemcpyDeviceToDevice), "copy");
      at += next;
    }
  }

  void clear() { check(cudaMemset(data_, 0xff, words_ * sizeof(std::uint32_t)), "clear"); }

  std::vector<std::uint32_t> read(std::size_t count) const {
    std::vector<std::uint32_t> words(count);
    check(cudaMemcpy(words.data(), data_, count * sizeof words[0], cudaMemcpyDeviceToHost), "copy");
    return words;
  }

 private:
  std::uint32_t* data_ = nullptr;
  std::size_t words_;
};

/// The time between two points of the stream.
class Stopwatch {
 public:
  Stopwatch() {
    check(cudaEventCreate(&start_), "event");
    check(cudaEventCreate(&stop_), "event");
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }

  void start() { check(cudaEventRecord(start_), "event"); }
  float milliseconds() {
    check(cudaEventRecord(stop_), "event");
    check(cudaEventSynchronize(stop_), "kernel");
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, start_, stop_), "event");
    return elapsed;
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

struct Options {
  unsigned bits;
  std::string operands, results;
  double seconds;
  unsigned repetitions;
  std::vector<unsigned> blocks;
};

Options parse(int count, char** arguments) {
  if (count != 7) {
    throw std::invalid_argument(
        "usage: cgbn_driver BITS OPERANDS RESULTS SECONDS REPETITIONS BLOCK[,BLOCK..]");
  }
  Options options{static_cast<unsigned>(std::stoul(arguments[1])),
                  arguments[2],
                  arguments[3],
                  std::stod(arguments[4]),
                  static_cast<unsigned>(std::stoul(arguments[5])),
                  {}};
  std::istringstream blocks(arguments[6]);
  for (std::string block; std::getline(blocks, block, ',');) {
    options.blocks.push_back(static_cast<unsigned>(std::stoul(block)));
    if (options.blocks.back() == 0 || options.blocks.back() % 32 != 0) {
      throw std::invalid_argument("a block is not of whole warps");
    }
  }
  return options;
}

template <unsigned... kBits>
std::vector<Shape> shapes_of(unsigned bits) {
  std::vector<Shape> found;
  static_cast<void>(((bits == kBits && (found = shapes<kBits>(), true)) || ...));
  if (found.empty()) throw std::invalid_argument("no kernels of this width are compiled in");
  return found;
}

/// Operands of one width, the same number of each kind.
struct Operands {
  std::vector<std::uint32_t> words;
  std::size_t words_each;  ///< of one kind of all items

  const std::uint32_t* kind(unsigned index) const { return words.data() + index * words_each; }
};

Operands read_operands(const Options& options) {
  std::ifstream file(options.operands, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t item = kOperands * options.bits / 8;
  if (bytes.empty() || bytes.size() % item != 0) throw std::runtime_error("the operands are not whole items");
  Operands operands{std::vector<std::uint32_t>(bytes.size() / sizeof(std::uint32_t)), 0};
  std::memcpy(operands.words.data(), bytes.data(), bytes.size());
  operands.words_each = operands.words.size() / kOperands;
  return operands;
}

/// A shape at a number of threads per block, and how it did.
struct Run {
  Shape shape;
  unsigned block;
  cudaFuncAttributes attributes{};
  unsigned blocks_per_multiprocessor = 0;
  unsigned instances = 0;
  std::vector<float> milliseconds{};
  std::optional<std::size_t> differing_copy{};  ///< first instance unlike another of its item

  double rate() const { return instances / static_cast<double>(milliseconds.back()); }
  unsigned instances_of(unsigned blocks) const { return blocks * (block / shape.threads_per_instance); }
};

class Bench {
 public:
  Bench(const Options& options, const Operands& operands)
      : options_(options), operands_(operands), words_(options.bits / kWordBits) {
    check(cudaGetDeviceProperties(&device_, 0), "device");
  }

  void measure(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
      for (const unsigned block : options_.blocks) add(shape, block);
    }
    unsigned most = 0;
    for (const Run& run : runs_) most = std::max(most, kMostWaves * wave(run));
    // Half of the free memory is left to the kernels' local memory.
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "device");
    most = static_cast<unsigned>(
        std::min<std::size_t>(most, free / 2 / ((kOperands + 1) * words_ * sizeof(std::uint32_t))));
    allocate(most);
    finish("setup");
    for (Run& run : runs_) screen(run, most);
    finish("screening");
    std::vector<Run*> hopeful;
    for (Run& run : runs_) {
      if (run.rate() >= kHopeless * best(run.shape.operation)) hopeful.push_back(&run);
    }
    for (Run* run : hopeful) choose_instances(*run, most);
    for (unsigned i = 0; i < options_.repetitions; ++i) {
      for (Run* run : hopeful) run->milliseconds.push_back(launch(*run));
      megahertz_.push_back(clock());
    }
    finish("measurement");
    std::ofstream results(options_.results, std::ios::binary);
    for (Run& run : runs_) write_results(run, results);
    if (!results.flush()) throw std::runtime_error("the results could not be written");
    finish("results");
  }

  void report(std::ostream& out) const {
    int runtime = 0, driver = 0, maximum = 0;
    check(cudaRuntimeGetVersion(&runtime), "version");
    check(cudaDriverGetVersion(&driver), "version");
    check(cudaDeviceGetAttribute(&maximum, cudaDevAttrClockRate, 0), "device");
    out << "{\"card\": \"" << device_.name << "\", \"capability\": \"" << device_.major << '.'
        << device_.minor << "\", \"multiprocessors\": " << device_.multiProcessorCount
        << ", \"maximum_mhz\": " << maximum / 1000 << ", \"cuda_runtime\": " << runtime
        << ", \"cuda_of_driver\": " << driver << ", \"bits\": " << options_.bits << ", \"megahertz\": [";
    write_list(megahertz_, out);
    out << "], \"seconds\": {";
    const char* comma = "";
    for (const auto& [part, seconds] : seconds_) {
      out << std::exchange(comma, ", ") << '"' << part << "\": " << seconds;
    }
    out << "}, \"runs\": [";
    const char* separator = "";
    for (const Run& run : runs_) {
      out << std::exchange(separator, ", ");
      report_run(run, out);
    }
    out << "]}\n";
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Notes how long a part of the work took, from the end of the last.
  void finish(const char* part) {
    const Clock::time_point now = Clock::now();
    seconds_.emplace_back(part, std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

  void add(const Shape& shape, unsigned block) {
    Run run{shape, block};
    int blocks = 0;
    check(cudaFuncGetAttributes(&run.attributes, shape.kernel), "kernel");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shape.kernel, static_cast<int>(block), 0),
          "kernel");
    if (blocks == 0) return;  // more registers than a multiprocessor has for a block of this size
    run.blocks_per_multiprocessor = static_cast<unsigned>(blocks);
    runs_.push_back(run);
  }

  /// Instances that fill the device once.
  unsigned wave(const Run& run) const {
    return run.instances_of(run.blocks_per_multiprocessor *
                            static_cast<unsigned>(device_.multiProcessorCount));
  }

  void allocate(unsigned instances) {
    for (unsigned i = 0; i <= kOperands; ++i) buffers_.emplace_back(std::size_t{instances} * words_);
    for (unsigned i = 0; i < kOperands; ++i) buffers_[i].tile(operands_.kind(i), operands_.words_each);
  }

  float launch(const Run& run) {
    const Arguments arguments{buffers_[0].data(), buffers_[1].data(), buffers_[2].data(), buffers_[3].data(),
                              buffers_[4].data(), run.instances,      kProducts};
    const unsigned blocks = run.instances / (run.block / run.shape.threads_per_instance);
    watch_.start();
    run.shape.kernel<<<blocks, run.block>>>(arguments);
    check(cudaGetLastError(), "launch");
    return watch_.milliseconds();
  }

  /// Frequency of the multiprocessors just after a load, in MHz.
  float clock() {
    watch_.start();
    spin<<<1, 1>>>(kClockCycles);
    check(cudaGetLastError(), "launch");
    return static_cast<float>(kClockCycles) / 1000 / watch_.milliseconds();
  }

  /// Runs one wave, once to warm up.
  void screen(Run& run, unsigned most) {
    if (wave(run) > most) throw std::runtime_error("too little device memory");
    run.instances = wave(run);
    launch(run);
    run.milliseconds = {launch(run)};
  }

  double best(Operation operation) const {
    double rate = 0;
    for (const Run& run : runs_) {
      if (run.shape.operation == operation) rate = std::max(rate, run.rate());
    }
    return rate;
  }

  void choose_instances(Run& run, unsigned most) {
    const double wanted = 1000 * options_.seconds / static_cast<double>(run.milliseconds.back());
    const auto waves = static_cast<unsigned>(std::clamp<double>(wanted + 1, kLeastWaves, kMostWaves));
    run.instances = std::min(waves, most / wave(run)) * wave(run);
    run.milliseconds.clear();
  }

  /// Repeats a run and writes what it computed from each item, of which all copies should have the same.
  void write_results(Run& run, std::ostream& file) {
    buffers_[kOperands].clear();
    launch(run);
    const std::size_t count = std::size_t{run.instances} * words_;
    const std::size_t distinct = results_of(run) * words_;
    const auto results = buffers_[kOperands].read(count);
    for (std::size_t at = distinct; at < count && !run.differing_copy; ++at) {
      if (results[at] != results[at - distinct]) run.differing_copy = at / words_;
    }
    file.write(reinterpret_cast<const char*>(results.data()),
               static_cast<std::streamsize>(distinct * sizeof results[0]));
  }

  void report_run(const Run& run, std::ostream& out) const {
    const bool is_power = run.shape.operation == Operation::power;
    out << "{\"operation\": \"" << (is_power ? "power" : "chain")
        << "\", \"threads_per_instance\": " << run.shape.threads_per_instance
        << ", \"threads_per_block\": " << run.block << ", \"window_bits\": " << run.shape.window_bits
        << ", \"converts\": " << (run.shape.converts ? "true" : "false")
        << ", \"registers\": " << run.attributes.numRegs
        << ", \"local_bytes\": " << run.attributes.localSizeBytes
        << ", \"blocks_per_multiprocessor\": " << run.blocks_per_multiprocessor
        << ", \"instances\": " << run.instances << ", \"results\": " << results_of(run)
        << ", \"products\": " << (is_power ? 0 : kProducts)
        << ", \"differing_copy\": " << (run.differing_copy ? std::to_string(*run.differing_copy) : "null")
        << ", \"milliseconds\": [";
    write_list(run.milliseconds, out);
    out << "]}";
  }

  static void write_list(const std::vector<float>& values, std::ostream& out) {
    const char* separator = "";
    for (const float value : values) out << std::exchange(separator, ", ") << value;
  }

  std::size_t results_of(const Run& run) const {
    return std::min<std::size_t>(run.instances, operands_.words_each / words_);
  }

  const Options& options_;
  const Operands& operands_;
  std::size_t words_;
  cudaDeviceProp device_{};
  Stopwatch watch_;
  std::vector<Buffer> buffers_;
  std::vector<Run> runs_;
  std::vector<float> megahertz_;
  Clock::time_point last_ = Clock::now();
  std::vector<std::pair<const char*, double>> seconds_;
};

}  // namespace
}  // namespace peers

int main(int count, char** arguments) try {
  const peers::Options options = peers::parse(count, arguments);
  const auto shapes = peers::shapes_of<128, 256, 384, 512, 1024, 1536, 2048, 3072, 4096>(options.bits);
  const peers::Operands operands = peers::read_operands(options);
  peers::Bench bench(options, operands);
  bench.measure(shapes);
  bench.report(std::cout);
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::cerr << "cgbn_driver: " << error.what() << '\n';
  return EXIT_FAILURE;
}
