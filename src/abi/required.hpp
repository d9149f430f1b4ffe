// SPDX-License-Identifier: Apache-2.0
// Pointers that a caller of the C ABI must give.
#pragma once

#include <string>

#include "abi/struct_size.hpp"
#include "core/status_error.hpp"

namespace manymod {

/// What `pointer` points to; `what` names it.
/// @throws StatusError MM_ERR_NULL
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) throw StatusError(MM_ERR_NULL, std::string(what) + " is NULL");
  return *pointer;
}

/// The struct in this version's size, see struct_from_caller.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT
template <class T>
T required_struct(const T* pointer, const char* what) {
  return struct_from_caller(required(pointer, what), what);
}

}  // namespace manymod
