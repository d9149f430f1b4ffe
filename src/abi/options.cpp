// SPDX-License-Identifier: Apache-2.0
#include "abi/options.hpp"

#include <string>

#include "abi/enum_value.hpp"
#include "core/status_error.hpp"
#include "core/thread_pool.hpp"

namespace manymod {

unsigned checked_threads(unsigned threads) {
  if (threads <= kMaxThreads) return threads;
  throw StatusError(MM_ERR_ARGUMENT, "threads is " + std::to_string(threads) + ", expected 0 to " +
                                         std::to_string(kMaxThreads));
}

Operation checked_operation(const mm_op& op) {
  const long long value = enum_value(op);
  if (value < 0 || value >= MM_OP_COUNT)
    throw StatusError(MM_ERR_ARGUMENT, "op " + std::to_string(value) + " is not an operation");
  return static_cast<Operation>(value);
}

TimingClass checked_timing(const mm_timing& timing) {
  const long long value = enum_value(timing);
  if (value != MM_TIMING_PUBLIC && value != MM_TIMING_SECRET) {
    throw StatusError(MM_ERR_ARGUMENT, "timing " + std::to_string(value) + " is not a timing class");
  }
  return static_cast<TimingClass>(value);
}

bool checked_shared(const mm_modulus_kind& kind) {
  const long long value = enum_value(kind);
  if (value != MM_MODULUS_EACH && value != MM_MODULUS_SHARED) {
    throw StatusError(MM_ERR_ARGUMENT, "modulus_kind " + std::to_string(value) + " is not a modulus kind");
  }
  return value == MM_MODULUS_SHARED;
}

}  // namespace manymod
