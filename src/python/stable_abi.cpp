// SPDX-License-Identifier: Apache-2.0
#include "python/stable_abi.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "python/pyint.hpp"

namespace manymod::python {

int (*PyLong_Export)(PyObject*, PyLongExport*) = nullptr;
void (*PyLong_FreeExport)(PyLongExport*) = nullptr;
PyLongWriter* (*PyLongWriter_Create)(int, Py_ssize_t, void**) = nullptr;
PyObject* (*PyLongWriter_Finish)(PyLongWriter*) = nullptr;
PyObject* (*_PyLong_New)(Py_ssize_t) = nullptr;
int (*PyGILState_Check)() = nullptr;

namespace {

struct KnownInt {
  const char* hex;
  bool negative;
  Limb limbs[3];
};

// Values of both signs, zero, one and several digits: they distinguish the expected layout from any other.
constexpr KnownInt kKnownInts[] = {
    {"0", false, {}},
    {"1", false, {1}},
    {"-3fffffff", true, {0x3fffffff}},
    {"40000000", false, {0x40000000}},
    {"-fedcba9876543210", true, {0xfedcba9876543210}},
    {"-8000000000000000deadbeefcafef00d0123456789abcdef",
     true,
     {0x0123456789abcdef, 0xdeadbeefcafef00d, 0x8000000000000000}},
};

template <class Function>
void find(Function*& function, const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  static_assert(sizeof found == sizeof function);
  std::memcpy(&function, &found, sizeof found);
}

bool converts(const KnownInt& known) {
  constexpr std::size_t kWidth = std::extent_v<decltype(known.limbs)>;
  const nb::object value = nb::steal(PyLong_FromString(known.hex, nullptr, 16));
  if (!value.is_valid()) return false;
  Limb limbs[kWidth];
  bool negative = false;
  if (!read_int(value.ptr(), limbs, kWidth, &negative)) return false;
  if (negative != known.negative || !std::equal(limbs, limbs + kWidth, known.limbs)) return false;
  const nb::object written = nb::steal(write_int(limbs, kWidth, negative));
  return written.is_valid() && PyObject_RichCompareBool(written.ptr(), value.ptr(), Py_EQ) == 1;
}

}  // namespace

void find_python_functions() {
  find(PyLong_Export, "PyLong_Export");
  find(PyLong_FreeExport, "PyLong_FreeExport");
  find(PyLongWriter_Create, "PyLongWriter_Create");
  find(PyLongWriter_Finish, "PyLongWriter_Finish");
  find(_PyLong_New, "_PyLong_New");
  find(PyGILState_Check, "PyGILState_Check");
  const bool complete = exports_digits() ? PyLong_FreeExport != nullptr && PyLongWriter_Create != nullptr &&
                                               PyLongWriter_Finish != nullptr
                                         : _PyLong_New != nullptr;
  if (!complete || PyGILState_Check == nullptr ||
      !std::all_of(std::begin(kKnownInts), std::end(kKnownInts), converts)) {
    PyErr_Clear();
    throw nb::import_error(
        "this Python stores its integers in another way than manymod's wheel expects; build manymod "
        "from source: pip install --no-binary manymod manymod");
  }
}

}  // namespace manymod::python
