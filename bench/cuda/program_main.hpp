// SPDX-License-Identifier: Apache-2.0
// What main does in every benchmark program here.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

namespace manymod::bench {

/// The exit status of `program`. parse() makes its options (CommonOptions and more), run(options) returns the
/// status. Wrong arguments (std::invalid_argument) are answered
/// with the usage and 2.
template <class Parse, class Run>
int program_main(const char* program, const char* usage, Parse parse, Run run) {
  try {
    const auto options = parse();
    if (options.help) {
      std::fputs(usage, stdout);
      return EXIT_SUCCESS;
    }
    return run(options);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\n%s", program, error.what(), usage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace manymod::bench
