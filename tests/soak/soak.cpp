// SPDX-License-Identifier: Apache-2.0
// Random calls of the C interface from several threads and from forked children, for as long as you like,
// some of them while allocations of the library fail. The calls and the checks of their results are those of
// the fuzzing harnesses. Between rounds the process must have the same memory, descriptors and threads.
//
//   manymod_soak [--seconds N] [--seed S] [--threads N]
//
// Allocations fail where tests/soak/failing_allocations.cpp is preloaded.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fuzz/choices.hpp"
#include "manymod/manymod.h"

// The harnesses, by their names in the build.
extern "C" int manymod_fuzz_calls(const std::uint8_t* data, std::size_t size);
extern "C" int manymod_fuzz_rsa_calls(const std::uint8_t* data, std::size_t size);
extern "C" int manymod_fuzz_ecc_calls(const std::uint8_t* data, std::size_t size);

namespace {

using manymod::fuzz::Bytes;
using manymod::fuzz::LimbSource;
using manymod::fuzz::require;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRounds = 12;
constexpr std::size_t kWarmUpRounds = 4;
constexpr std::size_t kSlackBytes = std::size_t{24} << 20;
// Threads that wait for jobs are started as they are needed, up to so many.
constexpr std::size_t kSlackThreads = 8;
constexpr std::size_t kLongestInput = 300;
constexpr unsigned kSecondsOfAChild = 60;
constexpr int kInputsOfAChild = 20;
// Of eight inputs one is for curves, which take longest, two are for RSA, and the others for moduli.
constexpr std::uint64_t kOthers = 7;
// In rounds one after the other, one of so many allocations fails; 0: none.
constexpr std::uint32_t kFailing[] = {0, 1000, 100, 0, 20};

std::uint64_t seed = 1;
std::atomic<std::uint64_t> inputs_run{0}, children_run{0};
thread_local std::uint64_t current_input = 0;

// The library that lets allocations fail, if it is preloaded.
struct FailingAllocations {
  int (*watch)(const char*) = nullptr;
  void (*set)(std::uint32_t, std::uint64_t) = nullptr;
  std::uint64_t (*count)() = nullptr;

  FailingAllocations() {
    load(watch, "failing_allocations_watch");
    load(set, "failing_allocations_set");
    load(count, "failing_allocations_count");
  }

 private:
  template <class Function>
  static void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
};
FailingAllocations failing;

// Threads share the library's memory, so that one meets the failures of another: since the round began.
std::uint64_t failed_before = 0;
bool some_failed() { return failing.count() != failed_before; }

void on_abort(int) {
  std::fprintf(stderr, "soak: seed %llu, input %llu\n", static_cast<unsigned long long>(seed),
               static_cast<unsigned long long>(current_input));
}

// Run the input of a number. Its bytes follow from the number and the seed.
void run_input(std::uint64_t number, bool may_use_libcrypto = true) {
  current_input = number;
  LimbSource source(seed * 0x9E3779B97F4A7C15 + number);
  Bytes input(source.random() % kLongestInput);
  for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(source.random());
  const std::uint64_t choice = may_use_libcrypto ? source.random() % 8 : kOthers;
  const auto call = choice == 0   ? manymod_fuzz_ecc_calls
                    : choice <= 2 ? manymod_fuzz_rsa_calls
                                  : manymod_fuzz_calls;
  call(input.data(), input.size());
}

// A child of a process with threads computes like any other process, except RSA and curves: a thread of the
// parent may hold a lock of libcrypto at the fork, which nobody releases in the child.
void run_child(std::uint64_t number) {
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    alarm(kSecondsOfAChild);
    for (int i = 0; i < kInputsOfAChild; ++i) {
      run_input(number * kInputsOfAChild + static_cast<std::uint64_t>(i), false);
    }
    _exit(0);
  }
  int status = 0;
  require(waitpid(child, &status, 0) == child, "waitpid");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "child " + std::to_string(number) + " ended with status " + std::to_string(status));
  ++children_run;
}

void run_thread(std::uint64_t first, std::uint64_t step, Clock::time_point end) {
  for (std::uint64_t number = first; Clock::now() < end; number += step) {
    if (number % 256 == 0) run_child(number);
    run_input(number);
    ++inputs_run;
  }
}

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct Usage {
  std::size_t bytes = 0, descriptors = 0, threads = 0;

  static Usage now() {
    malloc_trim(0);
    std::size_t whole = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> whole >> resident;
    return {resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), entries("/proc/self/fd"),
            entries("/proc/self/task")};
  }
  Usage greater(const Usage& other) const {
    return {std::max(bytes, other.bytes), std::max(descriptors, other.descriptors),
            std::max(threads, other.threads)};
  }
  std::string text() const {
    return std::to_string(bytes >> 20) + " MiB, " + std::to_string(descriptors) + " descriptors, " +
           std::to_string(threads) + " threads";
  }
};

void run_round(std::uint64_t round, std::uint64_t threads, std::chrono::duration<double> time) {
  if (failing.set != nullptr) {
    failed_before = failing.count();
    failing.set(kFailing[round % std::size(kFailing)], seed + round);
  }
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  std::vector<std::thread> running;
  for (std::uint64_t i = 0; i < threads; ++i) {
    running.emplace_back(run_thread, (round << 32) + i + 1, threads, end);
  }
  for (std::thread& thread : running) thread.join();
  if (failing.set != nullptr) failing.set(0, 0);
}

std::uint64_t number_after(int& i, int count, char** arguments) {
  return i + 1 < count ? std::strtoull(arguments[++i], nullptr, 10) : 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t seconds = 60;
  std::uint64_t threads = 4;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--seconds") seconds = number_after(i, count, arguments);
    if (word == "--seed") seed = number_after(i, count, arguments);
    if (word == "--threads") threads = number_after(i, count, arguments);
  }
  std::signal(SIGABRT, on_abort);
  if (failing.watch != nullptr) {
    require(failing.watch("/libmanymod.so") == 1, "the library is not loaded");
    manymod::fuzz::allocations_failed = some_failed;
  }
  // What is made once is made before allocations fail.
  mm_variant_info info{};
  info.struct_size = sizeof info;
  require(mm_variant_get(0, &info) == MM_OK, "mm_variant_get");
  manymod_fuzz_calls(nullptr, 0);
  manymod_fuzz_rsa_calls(nullptr, 0);
  manymod_fuzz_ecc_calls(nullptr, 0);
  Usage usual;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    run_round(round, threads, std::chrono::duration<double>(static_cast<double>(seconds) / kRounds));
    const Usage usage = Usage::now();
    std::printf("round %2llu: %llu inputs, %s\n", static_cast<unsigned long long>(round) + 1,
                static_cast<unsigned long long>(inputs_run), usage.text().c_str());
    std::fflush(stdout);
    if (round < kWarmUpRounds) {
      usual = usual.greater(usage);
      continue;
    }
    require(usage.bytes <= usual.bytes + kSlackBytes, "memory grows: it was " + usual.text());
    require(usage.descriptors <= usual.descriptors, "descriptors are left open: it was " + usual.text());
    require(usage.threads <= usual.threads + kSlackThreads, "threads are left: it was " + usual.text());
  }
  const std::uint64_t failures = failing.count == nullptr ? 0 : failing.count();
  require(failing.count == nullptr || failures != 0, "no allocation has failed");
  std::printf("%llu inputs, %llu children, %llu failed allocations, seed %llu\n",
              static_cast<unsigned long long>(inputs_run), static_cast<unsigned long long>(children_run),
              static_cast<unsigned long long>(failures), static_cast<unsigned long long>(seed));
  return 0;
}
