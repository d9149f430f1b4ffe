// SPDX-License-Identifier: Apache-2.0
// The operations that the load generators ask for, by the names of their command lines.
#pragma once

#include <map>
#include <string>

#include "client/client.hpp"

namespace manymod::signd {

inline const std::map<std::string, Scheme>& schemes() {
  static const std::map<std::string, Scheme> all{{"sign_pss", {Operation::sign_pss, MM_SHA256}},
                                                 {"sign_pkcs1", {Operation::sign_pkcs1, MM_SHA256}},
                                                 {"sign_ecdsa", {Operation::sign_ecdsa, MM_SHA256}},
                                                 {"sign_eddsa", {Operation::sign_eddsa}}};
  return all;
}

}  // namespace manymod::signd
