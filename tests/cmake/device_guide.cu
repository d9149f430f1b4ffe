// SPDX-License-Identifier: Apache-2.0
// Kernels that docs/device.md shows in part; the test of the installed library compiles them.
#include <cstddef>
#include <cstdint>
#include <manymod/device/modular.cuh>
#include <manymod/device/points.cuh>

namespace groups {

constexpr unsigned kThreads = 4;
using Field = manymod::device::Modulus<1024, kThreads>;

__global__ void squares(const std::uint32_t* n, const std::uint32_t* a, std::uint32_t* r, unsigned count) {
  const unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / kThreads;
  const unsigned item = group < count ? group : count - 1;
  const std::size_t at = std::size_t{item} * Field::kWords;
  const Field field(Field::words(n + at));
  const auto square = field.sqr(field.to_montgomery(field.load(a + at)));
  field.store(r + at, field.from_montgomery(square), group < count);
}

}  // namespace groups

namespace working_memory {

using Field = manymod::device::Modulus<1024>;

__global__ void squares(const std::uint32_t* n, const std::uint32_t* a, std::uint32_t* r) {
  const std::size_t at = std::size_t{blockIdx.x * blockDim.x + threadIdx.x} * Field::kWords;
  extern __shared__ std::uint32_t shared[];
  const Field field(Field::words(n + at), Field::thread_memory(shared));
  const auto square = field.sqr(field.to_montgomery(field.load(a + at)));
  field.store(r + at, field.from_montgomery(square));
}

}  // namespace working_memory

using Curve = manymod::device::Secp256k1;

// (x, y) = k G for scalars and coordinates of Curve::kOrderWords and Curve::kWords words an item.
__global__ void public_keys(const std::uint32_t* k, std::uint32_t* x, std::uint32_t* y, unsigned count) {
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= count) return;
  const auto point = Curve::multiply(Curve::generator(), k + std::size_t{item} * Curve::kOrderWords);
  const auto affine = Curve::to_affine(point);
  Curve::Field::store(x + std::size_t{item} * Curve::kWords, affine.x);
  Curve::Field::store(y + std::size_t{item} * Curve::kWords, affine.y);
}
