// SPDX-License-Identifier: Apache-2.0
// The main program of a harness without libFuzzer: run the seeds, then mutations of them and random bytes,
// for some seconds.
//
//   HARNESS [--seconds N] [--seed S] FILE_OR_FOLDER...
//
// Where an input fails, it is written to the file failed-HARNESS in the working folder. The next run accepts
// that file.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/choices.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// AddressSanitizer calls it before it stops the program.
extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

using manymod::fuzz::Bytes;
using manymod::fuzz::LimbSource;

constexpr std::size_t kLongestInput = 4096;
constexpr std::size_t kRandomBytes = 256;
constexpr unsigned kSecondsOfAnInput = 60;

// What keep_input() writes; set before an input runs.
std::string failed_path;
Bytes current;

void keep_input() {
  std::FILE* const file = std::fopen(failed_path.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(current.data(), 1, current.size(), file);
  std::fclose(file);
  std::fprintf(stderr, "the input is in %s\n", failed_path.c_str());
}

void on_signal(int number) {
  keep_input();
  std::fprintf(stderr, number == SIGALRM ? "an input takes longer than a minute\n" : "stopped\n");
  std::_Exit(1);
}

void run(const Bytes& input) {
  current = input;
  alarm(kSecondsOfAnInput);
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

void mutate_once(Bytes& input, const std::vector<Bytes>& seeds, LimbSource& source) {
  const auto position = [&] { return static_cast<std::ptrdiff_t>(source.random() % (input.size() + 1)); };
  const auto any_byte = [&] { return static_cast<std::uint8_t>(source.limb()); };
  switch (source.random() % 6) {
    case 0:  // a bit
      if (input.empty()) return;
      input[source.random() % input.size()] ^= static_cast<std::uint8_t>(1U << source.random() % 8);
      return;
    case 1:  // a byte
      if (input.empty()) return;
      input[source.random() % input.size()] = any_byte();
      return;
    case 2:  // some bytes more
      input.insert(input.begin() + position(), 1 + source.random() % 8, any_byte());
      return;
    case 3: {  // some bytes fewer
      const auto from = input.begin() + position();
      const auto most = static_cast<std::uint64_t>(input.end() - from);
      input.erase(from, from + static_cast<std::ptrdiff_t>(std::min(most, source.random() % 16)));
      return;
    }
    case 4: {  // a part of it again
      const Bytes part(input.begin() + position(), input.end());
      input.insert(input.begin() + position(), part.begin(), part.end());
      return;
    }
    default: {  // the end of another seed
      const Bytes& other = seeds[source.random() % seeds.size()];
      const auto from = static_cast<std::ptrdiff_t>(source.random() % (other.size() + 1));
      input.resize(static_cast<std::size_t>(position()));
      input.insert(input.end(), other.begin() + from, other.end());
      return;
    }
  }
}

Bytes random_bytes(std::size_t size, LimbSource& source) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(source.random());
  return bytes;
}

// A mutation of a seed, or random bytes.
Bytes next_input(const std::vector<Bytes>& seeds, LimbSource& source) {
  if (source.random() % 3 == 0) return random_bytes(source.random() % kRandomBytes, source);
  Bytes input = seeds[source.random() % seeds.size()];
  for (std::uint64_t steps = 1 + source.random() % 8; steps > 0; --steps) mutate_once(input, seeds, source);
  if (input.size() > kLongestInput) input.resize(kLongestInput);
  return input;
}

Bytes file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The files in order of their names, and two inputs of no harness in particular.
std::vector<Bytes> read_seeds(const std::vector<std::filesystem::path>& given, LimbSource& source) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : given) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds{{}};
  for (const auto& path : files) seeds.push_back(file_bytes(path));
  seeds.push_back(random_bytes(kRandomBytes, source));
  return seeds;
}

}  // namespace

int main(int count, char** arguments) {
  long seconds = 0;
  unsigned long long seed = 1;
  std::vector<std::filesystem::path> given;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--seconds" && i + 1 < count) {
      seconds = std::strtol(arguments[++i], nullptr, 10);
    } else if (word == "--seed" && i + 1 < count) {
      seed = std::strtoull(arguments[++i], nullptr, 10);
    } else {
      given.emplace_back(word);
    }
  }
  failed_path = "failed-" + std::filesystem::path(arguments[0]).filename().string();
  __sanitizer_set_death_callback(keep_input);
  std::signal(SIGABRT, on_signal);
  std::signal(SIGALRM, on_signal);
  LimbSource source(seed);
  const std::vector<Bytes> seeds = read_seeds(given, source);
  for (const Bytes& input : seeds) run(input);
  unsigned long long inputs = seeds.size();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (; std::chrono::steady_clock::now() < end; ++inputs) run(next_input(seeds, source));
  std::printf("%llu inputs, seed %llu\n", inputs, seed);
  return 0;
}
