// SPDX-License-Identifier: Apache-2.0
// Sanitizers multiply the time of tests: those that take long then leave out some of their sizes.
#pragma once

namespace manymod {

#if defined(MANYMOD_SANITIZED)
inline constexpr bool kBriefTests = true;
#else
inline constexpr bool kBriefTests = false;
#endif

}  // namespace manymod
