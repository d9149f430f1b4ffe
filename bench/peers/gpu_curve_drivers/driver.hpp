// SPDX-License-Identifier: Apache-2.0
// What the drivers of this folder share: operands, times and the report on standard output.
//
// DRIVER OPERANDS RESULTS REPETITIONS ITEMS[,ITEMS..]
//
// OPERANDS holds rows of the numbers of `Row`, each as 32 little-endian bytes. RESULTS receives, run after
// run in the order of the report, what the library computed for the first items, in the library's own form.
// The report is a line of JSON about the device and one for each run, as soon as it is done.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

using Number = std::uint32_t[8];

/// An item: a private key, a nonce, a public key (which is another one's), a digest below the group's order,
/// and a signature of the digest under the public key. Of every seventh item from the fourth on, r is spoilt.
struct Row {
  Number secret, nonce, x, y, digest, r, s;
};

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Milliseconds of work on the default stream, by events, from an idle device to an idle device.
inline double milliseconds(const std::function<void()>& work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  check(cudaDeviceSynchronize(), "work before");
  check(cudaEventRecord(begin), "event");
  work();
  check(cudaEventRecord(end), "event");
  check(cudaEventSynchronize(end), "work");
  float elapsed = 0;
  check(cudaEventElapsedTime(&elapsed, begin, end), "event");
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
  return elapsed;
}

/// Milliseconds of a call that begins and ends on the host, by the host's clock.
inline double call_milliseconds(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  check(cudaDeviceSynchronize(), "call");
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// What the command line asked for, and the report.
class Driver {
 public:
  Driver(int count, char** arguments) {
    if (count != 5) throw std::runtime_error("usage: DRIVER OPERANDS RESULTS REPETITIONS ITEMS[,ITEMS..]");
    std::ifstream operands(arguments[1], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(operands)), {});
    rows_.resize(bytes.size() / sizeof(Row));
    if (rows_.empty()) throw std::runtime_error("no operands");
    std::copy_n(bytes.data(), rows_.size() * sizeof(Row), reinterpret_cast<char*>(rows_.data()));
    results_.open(arguments[2], std::ios::binary);
    repetitions_ = std::atoi(arguments[3]);
    std::istringstream items(arguments[4]);
    for (std::string item; std::getline(items, item, ',');)
      items_.push_back(static_cast<std::uint32_t>(std::stoul(item)));
    print_device();
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<std::uint32_t>& items() const { return items_; }

  /// Repeat `once`, which returns the milliseconds of one run.
  [[nodiscard]] std::vector<double> repeat(const std::function<double()>& once) const {
    std::vector<double> times;
    for (int i = 0; i < repetitions_; ++i) times.push_back(once());
    return times;
  }

  /// Add a run to the report: `results` are those of the first items, `differing` one whose result is not
  /// that of an earlier item with the same operands (-1: none), `calls` the times with copies from and to the
  /// host.
  void report(const std::string& operation, std::uint32_t items, const std::string& shape,
              const std::vector<double>& kernels, const std::vector<double>& calls,
              const std::string& results, std::int64_t differing) {
    results_.write(results.data(), static_cast<std::streamsize>(results.size())).flush();
    std::cout << "{\"operation\": \"" << operation << "\", \"items\": " << items << ", \"shape\": \"" << shape
              << "\", \"milliseconds\": " << list(kernels) << ", \"call_milliseconds\": " << list(calls)
              << ", \"bytes\": " << results.size() << ", \"differing\": " << differing << "}" << std::endl;
  }

 private:
  static void print_device() {
    cudaDeviceProp device;
    int runtime = 0, of_driver = 0;
    check(cudaGetDeviceProperties(&device, 0), "device");
    check(cudaRuntimeGetVersion(&runtime), "version");
    check(cudaDriverGetVersion(&of_driver), "version");
    std::cout << "{\"card\": \"" << device.name << "\", \"multiprocessors\": " << device.multiProcessorCount
              << ", \"cuda_runtime\": " << runtime << ", \"cuda_of_driver\": " << of_driver << "}"
              << std::endl;
  }

  static std::string list(const std::vector<double>& values) {
    std::ostringstream text;
    for (std::size_t i = 0; i < values.size(); ++i) text << (i == 0 ? "" : ", ") << values[i];
    return "[" + text.str() + "]";
  }

  std::vector<Row> rows_;
  std::vector<std::uint32_t> items_;
  int repetitions_ = 0;
  std::ofstream results_;
};

/// The program of a driver.
inline int run_driver(int count, char** arguments, void (*measure)(Driver&)) {
  try {
    Driver driver(count, arguments);
    measure(driver);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace peers
