// SPDX-License-Identifier: Apache-2.0
// Pointers that must not be NULL.
#pragma once

#include <string>

#include "abi/struct_size.hpp"
#include "core/status_error.hpp"

namespace manymod {

/// `what` is the pointer's name in the message. @throws StatusError MM_ERR_NULL
inline void check_not_null(const void* pointer, const char* what) {
  if (pointer == nullptr) throw StatusError(MM_ERR_NULL, std::string(what) + " is NULL");
}

/// The object that `pointer` points to. @throws StatusError MM_ERR_NULL
template <class T>
T& required(T* pointer, const char* what) {
  check_not_null(pointer, what);
  return *pointer;
}

/// The struct in the size of this version, see struct_from_caller.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT
template <class T>
T required_struct(const T* pointer, const char* what) {
  return struct_from_caller(required(pointer, what), what);
}

}  // namespace manymod
