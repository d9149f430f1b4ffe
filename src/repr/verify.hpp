// SPDX-License-Identifier: Apache-2.0
// Range checks of a VERIFY build (CMake option MANYMOD_VERIFY): a number outside the range that its function
// states aborts the program at the call. Other builds do not evaluate the condition.
#pragma once

#if MANYMOD_VERIFY && defined(__CUDA_ARCH__)
#include <cstdio>

#define MANYMOD_VERIFY_RANGE(condition)                                    \
  do {                                                                     \
    if (!(condition)) {                                                    \
      printf("%s:%d: out of range: %s\n", __FILE__, __LINE__, #condition); \
      __trap();                                                            \
    }                                                                      \
  } while (false)
#elif MANYMOD_VERIFY
#include <cstdio>
#include <cstdlib>

#define MANYMOD_VERIFY_RANGE(condition)                                                  \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: out of range: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
#else
#define MANYMOD_VERIFY_RANGE(condition) static_cast<void>(0)
#endif
