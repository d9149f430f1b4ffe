// SPDX-License-Identifier: Apache-2.0
// The main function of every benchmark program here, and the options that they share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace manymod::bench {

struct CommonOptions {
  bool quick = false;
  std::string json;
};

/// Add an option that takes several values, separated by commas.
template <class T>
CLI::Option* add_list(CLI::App& command, const std::string& name, T& values, const std::string& description) {
  return command.add_option(name, values, description)->delimiter(',');
}

/// Run a benchmark program and return its exit status: what `run(options)` returns, 2 for wrong arguments,
/// and EXIT_FAILURE for an exception. `Options` derives from CommonOptions; `add_options(command, options)`
/// adds the options of this program.
template <class Options, class AddOptions, class Run>
int program_main(const std::string& description, int count, char** arguments, AddOptions add_options,
                 Run run) {
  CLI::App command(description);
  Options options;
  command.add_flag("--quick", options.quick, "Measure for a shorter time, and fewer cases");
  command.add_option("--json", options.json, "Write the report to this file");
  add_options(command, options);
  try {
    command.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? EXIT_SUCCESS : 2;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", command.get_name().c_str(), error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace manymod::bench
