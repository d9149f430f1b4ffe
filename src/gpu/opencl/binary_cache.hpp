// SPDX-License-Identifier: Apache-2.0
// Compiled kernels in files, since drivers take seconds to compile one.
//
// A file is a hint: one that is missing, damaged, of another format or of another owner is as good as none,
// and failures to write it are ignored. Each file has a header with the digest of its contents.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "core/sha256.hpp"

namespace manymod::opencl {

class BinaryCache {
 public:
  /// Most files, and most bytes of all of them; the least recently used ones are removed. Files that the
  /// cache did not make are neither counted nor removed.
  static constexpr std::size_t kMostFiles = 1000;
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{512} << 20;

  /// In the folder, which is created with the first file. Empty: there is no cache.
  explicit BinaryCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// In the folder of the environment variable MANYMOD_OPENCL_CACHE; none if that is "off", or if the process
  /// has privileges of its own. By default XDG_CACHE_HOME/manymod/opencl or ~/.cache/manymod/opencl.
  static BinaryCache of_environment();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  [[nodiscard]] std::optional<std::vector<std::uint8_t>> load(const Sha256Digest& key) const;
  void store(const Sha256Digest& key, std::span<const std::uint8_t> binary) const;
  void remove(const Sha256Digest& key) const;

 private:
  std::filesystem::path folder_;

  [[nodiscard]] std::filesystem::path file(const Sha256Digest& key) const;
  void trim() const;
};

}  // namespace manymod::opencl
