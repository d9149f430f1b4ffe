// SPDX-License-Identifier: Apache-2.0
// Plans and calls of the C ABI as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace manymod::python {

/// Add Plan and FixedBase to the extension module.
void bind_call(nanobind::module_& module);

/// Add threads, devices, variants and the version to the extension module.
void bind_hardware(nanobind::module_& module);

/// Text that a file, a driver or the environment has a part in, as a str. Bytes that are not UTF-8 appear as
/// \xNN, so that it can be shown everywhere.
nanobind::str readable(std::string_view text);

/// The Python exception of a failed call, whose class is defined in manymod.errors.
nanobind::object call_error(int status, const std::string& message);

/// Throw it.
[[noreturn]] void throw_call_error(int status, const std::string& message);
/// The same with the message of mm_last_error(), or else that of the status.
[[noreturn]] void throw_call_error(int status);

/// The object of class T, which Python names `name`. @throws nb::type_error
template <class T>
T& object_of(nanobind::handle object, const char* name) {
  T* found = nullptr;
  if (!nanobind::try_cast<T*>(object, found) || found == nullptr) {
    throw nanobind::type_error((std::string("must be of type ") + name).c_str());
  }
  return *found;
}

}  // namespace manymod::python
