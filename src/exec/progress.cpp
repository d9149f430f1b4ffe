// SPDX-License-Identifier: Apache-2.0
#include "exec/progress.hpp"

namespace manymod {

bool Progress::wants_stop(std::size_t done, std::size_t total) const {
  try {
    return callback(done, total, user) != 0;
  } catch (...) {
    return true;
  }
}

}  // namespace manymod
