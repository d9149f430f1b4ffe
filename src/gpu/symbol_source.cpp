// SPDX-License-Identifier: Apache-2.0
#include "gpu/symbol_source.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace manymod::gpu {

void* SymbolSource::find(const char* name) const {
  if (std::find(hidden_.begin(), hidden_.end(), name) != hidden_.end()) return nullptr;
  const auto replaced = replaced_.find(name);
  return replaced != replaced_.end() ? replaced->second : dlsym(library_, name);
}

void* SymbolSource::require(const char* name) {
  void* const symbol = find(name);
  if (symbol == nullptr) missing_ += (missing_.empty() ? "" : " ") + std::string(name);
  return symbol;
}

}  // namespace manymod::gpu
