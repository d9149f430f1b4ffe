// SPDX-License-Identifier: Apache-2.0
#include "core/environment.hpp"

#include <cstdlib>

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#include <unistd.h>
#endif

namespace manymod {

bool has_elevated_privileges() {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;  // as secure_getenv, which not every C library has
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
  return issetugid() != 0;
#else
  return false;
#endif
}

const char* environment_variable(const char* name) {
  return has_elevated_privileges() ? nullptr : std::getenv(name);
}

}  // namespace manymod
