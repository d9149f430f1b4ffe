// SPDX-License-Identifier: Apache-2.0
// What every report says of when and where it was made, and writing it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace manymod::bench {

/// Of the NVIDIA driver, "" where there is none.
inline std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

inline std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm fields{};
  gmtime_r(&time, &fields);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &fields)};
}

/// The environment's MANYMOD_COMMIT.
inline std::string commit() {
  const char* const name = std::getenv("MANYMOD_COMMIT");
  return name == nullptr ? "" : name;
}

inline bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return true;
  std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return false;
}

/// Write bench.report() to options.json, if one is asked for: also in between, so that a run that is cut off
/// leaves what it measured.
template <class Options, class Bench>
bool save_report(const Options& options, const Bench& bench) {
  return options.json.empty() || write_file(options.json, bench.report());
}

}  // namespace manymod::bench
