// SPDX-License-Identifier: Apache-2.0
// Calls of the C ABI that run with the GIL released and let Python handle signals on the way.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <string>

#include "manymod/manymod.h"

namespace manymod::python {

namespace nb = nanobind;

/// What the progress callback needs. It runs on the calling thread, whose state is saved while the GIL is
/// free.
struct Watch {
  PyObject* progress = nullptr;  ///< callable, or nullptr
  std::size_t first = 0;         ///< items of the whole job done before this call
  std::size_t total = 0;         ///< items of the whole job
  PyThreadState* thread = nullptr;
};

/// Lets Python handle signals, then tells the user; a Python error (KeyboardInterrupt, say) stops the call.
inline int on_progress(std::size_t done, std::size_t, void* user) {
  auto* watch = static_cast<Watch*>(user);
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
}

/// `call()` with the GIL released. Throws what Python code that it called on the way raised.
template <typename Run>
mm_status run_watched(Watch& watch, Run&& call) {
  watch.thread = PyEval_SaveThread();
  const mm_status status = call();
  PyEval_RestoreThread(watch.thread);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return status;
}

/// An optional name as the C ABI takes it.
inline const char* text_or_null(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

}  // namespace manymod::python
