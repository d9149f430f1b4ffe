// SPDX-License-Identifier: Apache-2.0
// Checks of results that valgrind takes for secret.
#pragma once

#include <valgrind/memcheck.h>

#include <cstdio>
#include <cstdlib>

namespace manymod::ctgrind {

/// The value, as one that branches may depend on.
inline bool declassified(bool secret) {
  auto copy = static_cast<unsigned char>(secret);
  VALGRIND_MAKE_MEM_DEFINED(&copy, sizeof copy);
  return copy != 0;
}

/// Ends the program unless the condition holds.
inline void require(bool condition, const char* what) {
  if (declassified(condition)) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

}  // namespace manymod::ctgrind
