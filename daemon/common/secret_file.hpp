// SPDX-License-Identifier: Apache-2.0
// Files with keys, passwords and PINs.
#pragma once

#include <string>
#include <string_view>

#include "common/secret_bytes.hpp"

namespace manymod::signd {

/// The content of a file. @throws std::runtime_error that names it
SecretBytes read_secret_file(const std::string& path);
/// The first line of a text, without its end.
inline std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace manymod::signd
