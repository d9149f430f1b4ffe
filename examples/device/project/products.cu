// SPDX-License-Identifier: Apache-2.0
// r = a b mod n for a batch, on a GPU.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>
#include <manymod/device/modular.cuh>

using Field = manymod::device::Modulus<256>;  // moduli of up to 256 bits, one thread each

// Arrays of Field::kWords 32-bit words an item, the least significant first.
__global__ void products(const std::uint32_t* n, const std::uint32_t* a, const std::uint32_t* b,
                         std::uint32_t* r, unsigned count) {
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= count) return;
  const std::size_t at = std::size_t{item} * Field::kWords;
  const Field field(Field::words(n + at));
  const auto x = field.to_montgomery(field.load(a + at));
  const auto y = field.to_montgomery(field.load(b + at));
  field.store(r + at, field.from_montgomery(field.mul(x, y)));
}

int main() {
  constexpr unsigned kCount = 1000, kWords = Field::kWords;
  const std::size_t bytes = std::size_t{kCount} * kWords * sizeof(std::uint32_t);
  std::uint32_t *n, *a, *b, *r;  // managed memory: the host and the GPU use the same pointers
  for (std::uint32_t** array : {&n, &a, &b, &r}) {
    if (cudaMallocManaged(array, bytes) != cudaSuccess) {
      std::puts("no GPU");
      return 77;
    }
  }
  for (unsigned item = 0; item < kCount; ++item) {
    for (unsigned word = 0; word < kWords; ++word) {
      n[item * kWords + word] = 0xffffffff;  // n = 2^256 - 1, a = 2^224, b = 2^32 (item + 1)
      a[item * kWords + word] = word == 7;
      b[item * kWords + word] = word == 1 ? item + 1 : 0;
    }
  }
  products<<<(kCount + 127) / 128, 128>>>(n, a, b, r, kCount);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::puts(cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  for (unsigned item = 0; item < kCount; ++item) {  // 2^256 = 1 mod n, so that r = item + 1
    if (r[item * kWords] != item + 1) return 1;
  }
  std::printf("%u products\n", kCount);
  return 0;
}
