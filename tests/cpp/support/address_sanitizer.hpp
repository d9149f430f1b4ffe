// SPDX-License-Identifier: Apache-2.0
// MM_ADDRESS_SANITIZER is defined in a build by AddressSanitizer of either compiler.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define MM_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MM_ADDRESS_SANITIZER 1
#endif
#endif
