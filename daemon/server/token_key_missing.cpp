// SPDX-License-Identifier: Apache-2.0
// In the place of token_key.cpp, in builds without the header of PKCS#11.
#include <stdexcept>

#include "server/token_key.hpp"

namespace manymod::signd {

SecretBytes read_token_key(const TokenConfig&) {
  throw std::runtime_error("this build has no PKCS#11: install p11-kit's headers and build it again");
}

}  // namespace manymod::signd
