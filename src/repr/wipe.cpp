// SPDX-License-Identifier: Apache-2.0
#include "repr/wipe.hpp"

namespace manymod {

// Not inline: the array must lie where the functions called before had theirs.
template <std::size_t kBytes>
void wipe_stack() {
  unsigned char frame[kBytes];
  wipe_bytes(frame, sizeof frame);
}

template void wipe_stack<16384>();
template void wipe_stack<65536>();

}  // namespace manymod
