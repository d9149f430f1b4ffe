// SPDX-License-Identifier: Apache-2.0
// Sanitizers make tests several times slower; in their builds, slow tests omit some of their sizes.
#pragma once

namespace manymod {

#if defined(MANYMOD_SANITIZED)
inline constexpr bool kBriefTests = true;
#else
inline constexpr bool kBriefTests = false;
#endif

}  // namespace manymod
