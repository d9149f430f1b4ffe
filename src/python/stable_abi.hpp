// SPDX-License-Identifier: Apache-2.0
// What the extension uses of CPython and the stable ABI leaves out. In a build for one version of Python (no
// Py_LIMITED_API) it calls CPython directly. One extension for all versions from 3.12 on finds what it needs
// when it is imported, among the symbols that the interpreter exports, and checks it with known values:
// importing it into a Python that differs fails, so that no int is read wrongly.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace manymod::python {

namespace nb = nanobind;

#if defined(Py_LIMITED_API)
// By CPython's names, as pointers. The first four, of PEP 757, are null before Python 3.14 and the next one
// is from then on.
struct PyLongExport {
  std::int64_t value;
  std::uint8_t negative;
  Py_ssize_t ndigits;
  const void* digits;
  std::uintptr_t reserved;
};
struct PyLongWriter;
extern int (*PyLong_Export)(PyObject*, PyLongExport*);
extern void (*PyLong_FreeExport)(PyLongExport*);
extern PyLongWriter* (*PyLongWriter_Create)(int, Py_ssize_t, void**);
extern PyObject* (*PyLongWriter_Finish)(PyLongWriter*);
extern PyObject* (*_PyLong_New)(Py_ssize_t);
extern int (*PyGILState_Check)();

/// Whether ints are read and written by the functions of PEP 757.
inline bool exports_digits() { return PyLong_Export != nullptr; }

/// Find all of these. @throws nb::import_error if this Python does not have them, or its ints differ
void find_python_functions();
#else
inline void find_python_functions() {}
#endif

/// The name that the class was defined with, for messages. Its attribute `__name__` may be anything, or
/// raise, where a metaclass has one. @throws nb::python_error
inline std::string type_name(nb::handle value) {
#if PY_VERSION_HEX >= 0x030B0000
  const nb::object name = nb::steal(PyType_GetName(Py_TYPE(value.ptr())));
  if (!name.is_valid()) throw nb::python_error();
  return nb::borrow<nb::str>(name).c_str();
#else
  const std::string name = Py_TYPE(value.ptr())->tp_name;
  return name.substr(name.rfind('.') + 1);
#endif
}

/// The elements of a list or tuple, borrowed; no Python code may run while they are used.
class Elements {
 public:
  explicit Elements(PyObject* sequence)
#if defined(Py_LIMITED_API)
      : sequence_(sequence), item_(PyList_Check(sequence) ? &PyList_GetItem : &PyTuple_GetItem) {
  }
  PyObject* operator[](Py_ssize_t i) const { return item_(sequence_, i); }

 private:
  PyObject* sequence_;
  PyObject* (*item_)(PyObject*, Py_ssize_t);
#else
      : items_(PySequence_Fast_ITEMS(sequence)) {
  }
  PyObject* operator[](Py_ssize_t i) const { return items_[i]; }

 private:
  PyObject* const* items_;
#endif
};

}  // namespace manymod::python
