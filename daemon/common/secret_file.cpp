// SPDX-License-Identifier: Apache-2.0
#include "common/secret_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "common/descriptor.hpp"

namespace manymod::signd {

SecretBytes read_secret_file(const std::string& path) {
  constexpr std::size_t kMaxFileBytes = 1U << 20;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw std::runtime_error(path + " cannot be opened");
  SecretBytes bytes(kMaxFileBytes);
  for (std::size_t size = 0; size < bytes.size();) {
    const ssize_t got = read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::runtime_error(path + " cannot be read");
    if (got == 0) {
      bytes.shorten(size);
      return bytes;
    }
    size += static_cast<std::size_t>(got);
  }
  throw std::runtime_error(path + " is too long");
}

}  // namespace manymod::signd
