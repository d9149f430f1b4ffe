// SPDX-License-Identifier: Apache-2.0
// Switches from one stack to another. swapcontext() would make a system call for the signal mask each time,
// which is half of the time of tests whose lanes take turns; it is only for processors other than x86-64.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace manymod::test {

/// A suspended computation on a stack of its own, or on the thread's.
class FiberContext {
 public:
  /// Prepare a call of entry(argument), which must not return, on `size` bytes of stack from `bottom` on. In:
  /// size is a multiple of 16, and so is the address.
  void prepare(void* bottom, std::size_t size, void (*entry)(unsigned), unsigned argument);
  /// Suspend the caller as `from`, and resume `to`. Returns when `from` is resumed.
  static void switch_between(FiberContext& from, FiberContext& to);

 private:
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_{};
#endif
};

}  // namespace manymod::test
