// SPDX-License-Identifier: Apache-2.0
// Releasing the GIL and taking it again, in threads that the interpreter may not wait for.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

namespace manymod::python {

/// Call python(), which takes the GIL or runs code that may take it, and return its result. On input:
/// python() throws no C++ exception.
///
/// When the interpreter exits, CPython up to 3.13 ends a daemon thread that takes the GIL by pthread_exit.
/// glibc unwinds its stack for that as for an exception, and ends the whole process where a frame catches
/// everything and does not throw it again, as those between a callback and the C ABI do, or is noexcept, as
/// destructors are. Such a thread rests until the process is gone, which is what CPython 3.14 lets it do.
template <typename Python>
auto until_exit(Python&& python) {
  try {
    return python();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
  }
}

/// Take the GIL with a thread state that PyEval_SaveThread has returned.
inline void take_gil(PyThreadState* thread) {
  until_exit([&] { PyEval_RestoreThread(thread); });
}

/// The GIL is released while this lives.
class ReleasedGil {
 public:
  ReleasedGil() : thread_(PyEval_SaveThread()) {}
  ~ReleasedGil() { take_gil(thread_); }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* thread_;
};

}  // namespace manymod::python
