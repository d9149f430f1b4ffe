// SPDX-License-Identifier: Apache-2.0
// The functions of a driver library that was opened at run time.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace manymod::gpu {

/// Remembers which required symbols the library lacks.
class SymbolSource {
 public:
  /// The functions named in `hidden` are treated as missing, those in `replaced` are found there.
  explicit SymbolSource(void* library, std::span<const std::string> hidden = {},
                        std::map<std::string, void*> replaced = {})
      : library_(library), hidden_(hidden.begin(), hidden.end()), replaced_(std::move(replaced)) {}
  /// @return nullptr if the library has no such symbol
  [[nodiscard]] void* find(const char* name) const;
  /// As `find`; appends the name to `missing` if the library has no such symbol.
  [[nodiscard]] void* require(const char* name);
  [[nodiscard]] const std::string& missing() const { return missing_; }  ///< names, separated by spaces

 private:
  void* library_;
  std::vector<std::string> hidden_;
  std::map<std::string, void*> replaced_;
  std::string missing_;
};

/// A function of the library, and its name for messages.
template <class Returned, class... Parameters>
class DriverFunction {
 public:
  using Pointer = Returned (*)(Parameters...);
  DriverFunction(SymbolSource& source, const char* name)
      : name_(name), pointer_(reinterpret_cast<Pointer>(source.require(name))) {}
  DriverFunction(const SymbolSource& source, const char* name)
      : name_(name), pointer_(reinterpret_cast<Pointer>(source.find(name))) {}

  Returned operator()(Parameters... parameters) const { return pointer_(parameters...); }
  [[nodiscard]] const char* name() const { return name_; }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  const char* name_;
  Pointer pointer_;
};

}  // namespace manymod::gpu
