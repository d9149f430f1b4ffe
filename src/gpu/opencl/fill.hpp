// SPDX-License-Identifier: Apache-2.0
// Setting bytes of a device's memory. NVIDIA's driver (580.159, H100) numbers the patterns of
// clEnqueueFillBuffer from the beginning of the memory on, and keeps these numbers in 32 bits with a sign:
// with a pattern of one byte, a fill behind the first 2 GiB stops the device by a wrong access or runs
// forever, and behind 4 GiB it sets other bytes, without an error. Patterns are therefore as long as OpenCL
// allows, so that 256 GiB can be filled, and the bytes that make up no pattern are copied from the host.
#pragma once

#include <array>
#include <cstddef>

namespace manymod::opencl {

/// Bytes of the longest pattern of clEnqueueFillBuffer. Offset and size of a fill are multiples of it.
inline constexpr std::size_t kPatternBytes = 128;

using Pattern = std::array<unsigned char, kPatternBytes>;

/// That many bytes of one value. They live forever, so that commands may read them at any time.
const Pattern& pattern_of(unsigned char value);

/// Bytes [begin, end) of a memory, of which [begin, first) and [last, end) are shorter than a pattern, and
/// [first, last) consists of whole ones.
struct FillRanges {
  std::size_t begin, first, last, end;
};
FillRanges fill_ranges(std::size_t begin, std::size_t bytes);

/// The least number of bytes, `bytes` or more, that consists of whole patterns.
constexpr std::size_t whole_patterns(std::size_t bytes) {
  return (bytes + kPatternBytes - 1) / kPatternBytes * kPatternBytes;
}

}  // namespace manymod::opencl
