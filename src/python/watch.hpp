// SPDX-License-Identifier: Apache-2.0
// Calls of the C ABI with the GIL released, during which Python handles signals and receives progress.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <string>

#include "manymod/manymod.h"
#include "python/gil.hpp"

namespace manymod::python {

namespace nb = nanobind;

/// Data of the progress callback, which runs on the calling thread, whose thread state is saved while the GIL
/// is released.
struct Watch {
  PyObject* progress = nullptr;  ///< a callable, or null
  std::size_t first = 0;         ///< items of the whole job that were computed before this call
  std::size_t total = 0;         ///< items of the whole job
  PyThreadState* thread = nullptr;
};

/// An mm_progress_fn: lets Python handle signals, then calls the user's callback. A Python exception, such as
/// KeyboardInterrupt, stops the call.
inline int on_progress(std::size_t done, std::size_t, void* user) {
  auto* watch = static_cast<Watch*>(user);
  return until_exit([&] {
    PyEval_RestoreThread(watch->thread);
    bool failed = PyErr_CheckSignals() != 0;
    if (!failed && watch->progress != nullptr) {
      PyObject* answer =
          PyObject_CallFunction(watch->progress, "nn", static_cast<Py_ssize_t>(watch->first + done),
                                static_cast<Py_ssize_t>(watch->total));
      failed = answer == nullptr;
      Py_XDECREF(answer);
    }
    watch->thread = PyEval_SaveThread();
    return failed ? 1 : 0;
  });
}

/// Run call() with the GIL released. Rethrows the exception of the Python code that the progress callback
/// called.
template <typename Run>
mm_status run_watched(Watch& watch, Run&& call) {
  watch.thread = PyEval_SaveThread();
  const mm_status status = call();
  take_gil(watch.thread);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return status;
}

/// An optional string for the C ABI: null if it is absent.
inline const char* text_or_null(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

}  // namespace manymod::python
