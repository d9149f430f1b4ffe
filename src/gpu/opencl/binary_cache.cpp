// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/binary_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/environment.hpp"

namespace manymod::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "manymod1";  // the last character changes with the format
constexpr std::size_t kNameDigits = 2 * sizeof(Sha256Digest);

// The names of all files of a cache: a key's digits and an ending.
std::string name_of(const Sha256Digest& key, const char* ending) { return hex_text(key) + "." + ending; }

// Whether a file of that name is the cache's: the folder, which its user chooses, may have others.
bool is_name(std::string_view name) {
  return name.find_first_not_of("0123456789abcdef") == kNameDigits && name[kNameDigits] == '.';
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Whether it is a file that nobody else can write to: a kernel planted by another user could read this
  /// process's data.
  [[nodiscard]] bool is_own(std::size_t& bytes) const {
    struct stat status{};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return false;
    bytes = static_cast<std::size_t>(status.st_size);
    return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }

  [[nodiscard]] bool read_all(std::span<std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
      if (got <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

  [[nodiscard]] bool write_all(std::span<const std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
      if (put <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return true;
  }

 private:
  int descriptor_;
};

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Digest of magic, key and contents, so that a renamed file is rejected.
Sha256Digest seal(const Sha256Digest& key, std::span<const std::uint8_t> binary) {
  Sha256Sum hash;
  hash.add(kMagic);
  hash.add(key);
  hash.add(binary);
  return hash.digest();
}

constexpr std::size_t kHeader = kMagic.size() + sizeof(Sha256Digest);

// Whether the folder exists and nobody else can write to it.
bool is_private(const fs::path& folder) {
  struct stat status{};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_private(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder.parent_path(), failure);
  return mkdir(folder.c_str(), S_IRWXU) == 0 || is_private(folder);
}

}  // namespace

BinaryCache BinaryCache::of_environment() {
  const char* const chosen = environment_variable("MANYMOD_OPENCL_CACHE");
  if (chosen != nullptr && *chosen != '\0') {
    return BinaryCache(std::string_view(chosen) == "off" ? fs::path() : fs::path(chosen));
  }
  // The base directory specification has relative paths ignored.
  const char* const base = environment_variable("XDG_CACHE_HOME");
  if (base != nullptr && *base == '/') return BinaryCache(fs::path(base) / "manymod" / "opencl");
  const char* const home = environment_variable("HOME");
  if (home == nullptr || *home != '/') return BinaryCache({});
  return BinaryCache(fs::path(home) / ".cache" / "manymod" / "opencl");
}

std::optional<std::vector<std::uint8_t>> BinaryCache::load(const Sha256Digest& key) const {
  if (folder_.empty() || !is_private(folder_)) return std::nullopt;
  const File found(open(file(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::size_t bytes = 0;
  if (!found.is_own(bytes) || bytes < kHeader || bytes > kMostBytes) return std::nullopt;
  std::vector<std::uint8_t> all(bytes);
  if (!found.read_all(all)) return std::nullopt;
  const std::span<const std::uint8_t> binary = std::span(all).subspan(kHeader);
  const Sha256Digest expected = seal(key, binary);
  if (!std::ranges::equal(std::span(all).first(kMagic.size()), bytes_of(kMagic)) ||
      !std::ranges::equal(std::span(all).subspan(kMagic.size(), expected.size()), expected)) {
    return std::nullopt;
  }
  futimens(found.descriptor(), nullptr);  // for `trim`
  all.erase(all.begin(), all.begin() + kHeader);
  return all;
}

void BinaryCache::store(const Sha256Digest& key, std::span<const std::uint8_t> binary) const {
  if (folder_.empty() || !make_private(folder_)) return;
  std::string temporary = (folder_ / name_of(key, "XXXXXX")).string();
  const File written(mkostemp(temporary.data(), O_CLOEXEC));  // with access for the owner alone
  if (written.descriptor() < 0) return;
  const bool complete = written.write_all(bytes_of(kMagic)) && written.write_all(seal(key, binary)) &&
                        written.write_all(binary);
  if (!complete || rename(temporary.c_str(), file(key).c_str()) != 0) unlink(temporary.c_str());
  trim();
}

fs::path BinaryCache::file(const Sha256Digest& key) const { return folder_ / name_of(key, "bin"); }

void BinaryCache::remove(const Sha256Digest& key) const {
  if (!folder_.empty()) unlink(file(key).c_str());
}

void BinaryCache::trim() const {
  struct Entry {
    fs::file_time_type used;
    fs::path path;
    std::uintmax_t bytes;
  };
  std::vector<Entry> entries;
  std::error_code failure;
  for (fs::directory_iterator at(folder_, failure), end; !failure && at != end; at.increment(failure)) {
    if (!is_name(at->path().filename().native())) continue;
    std::error_code gone;  // another process may remove files, too
    const fs::file_time_type used = at->last_write_time(gone);
    const std::uintmax_t bytes = gone ? 0 : at->file_size(gone);
    if (!gone) entries.push_back({used, at->path(), bytes});
  }
  std::ranges::sort(entries, std::ranges::greater(), &Entry::used);
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    bytes += entries[i].bytes;
    std::error_code gone;
    if (i >= kMostFiles || bytes > kMostBytes) fs::remove(entries[i].path, gone);
  }
}

}  // namespace manymod::opencl
