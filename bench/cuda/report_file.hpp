// SPDX-License-Identifier: Apache-2.0
// Facts of a report that every program states, and the writing of report files.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "json.hpp"

namespace manymod::bench {

/// The version of the NVIDIA driver, "" where there is none.
inline std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

/// The time in UTC, in ISO 8601.
inline std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm fields{};
  gmtime_r(&time, &fields);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &fields)};
}

/// The value of the environment variable MANYMOD_COMMIT, "" where it is not set.
inline std::string commit() {
  const char* const name = std::getenv("MANYMOD_COMMIT");
  return name == nullptr ? "" : name;
}

/// Write a report to `path`. Returns whether that succeeded.
inline bool write_report(const std::string& path, const Json& report) {
  std::ofstream file(path);
  file << report.dump(1) << '\n';
  file.close();
  if (file) return true;
  std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return false;
}

/// Write bench.report() to options.json if that is set. Benchmarks also call this in between, so that a run
/// that is cut off leaves what it measured.
template <class Options, class Bench>
bool save_report(const Options& options, const Bench& bench) {
  return options.json.empty() || write_report(options.json, bench.report());
}

}  // namespace manymod::bench
