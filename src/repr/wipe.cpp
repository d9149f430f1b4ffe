// SPDX-License-Identifier: Apache-2.0
#include "repr/wipe.hpp"

namespace manymod {

// Not inline: the array must lie where the functions called before had theirs.
WipedStack::~WipedStack() {
  unsigned char frame[kBytes];
  wipe_bytes(frame, sizeof frame);
}

}  // namespace manymod
