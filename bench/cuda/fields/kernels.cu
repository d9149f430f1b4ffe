// SPDX-License-Identifier: Apache-2.0
// Chains of operations of fields in device code, by one thread for each instance: modulo special primes, and
// modulo the same primes as any other modulus by Montgomery multiplication.
#include "field/device.cuda.hpp"
#include "field/special.cuda.hpp"
#include "job.hpp"

namespace manymod::bench {
namespace {

extern __shared__ std::uint32_t shared_words[];

template <class Prime>
struct Special {
  using Field = field::SpecialField<Prime>;
  static __device__ __forceinline__ Field make(const FieldJob& /*job*/) { return Field(); }
};

template <class Technique, unsigned kBits>
struct General {
  using Field = field::DeviceField<kBits, 1, Technique>;
  static_assert(Field::kSharedWords <= kFieldSharedWords);
  static __device__ __forceinline__ Field make(const FieldJob& job) {
    return Field(integers::Words(job.prime, job.width), LaneMemory{shared_words + threadIdx.x, blockDim.x},
                 cuda::ThreadGroup<1>());
  }
};

#define PRIME(name, bits, Prime)                         \
  using special_##name = Special<special_primes::Prime>; \
  using row32_##name = General<field::Row32, bits>;      \
  using dpf52_##name = General<field::Dpf52, bits>;
MM_FIELD_PRIMES(PRIME)
#undef PRIME

struct Step {
  template <class Field, class Element>
  static __device__ __forceinline__ void mul(const Field& f, Element& x, const Element& y) {
    f.mul(x, x, y);
  }
  template <class Field, class Element>
  static __device__ __forceinline__ void sqr(const Field& f, Element& x, const Element& /*y*/) {
    f.sqr(x, x);
  }
  template <class Field, class Element>
  static __device__ __forceinline__ void add(const Field& f, Element& x, const Element& y) {
    f.add(x, x, y);
  }
  template <class Field, class Element>
  static __device__ __forceinline__ void sub(const Field& f, Element& x, const Element& y) {
    f.sub(x, x, y);
  }
};

template <class Made, class Apply>
__device__ __forceinline__ void chain(const FieldJob& job, Apply apply) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= job.count) return;
  const std::size_t row = std::size_t{item} * job.width;
  const auto f = Made::make(job);
  typename Made::Field::Element x, y;
  f.from_limbs(x, integers::Words(job.x + row, job.width));
  f.from_limbs(y, integers::Words(job.y + row, job.width));
#pragma unroll 1
  for (std::uint32_t step = 0; step < job.steps; ++step) apply(f, x, y);
  f.to_limbs(integers::WordsOut(job.result + row, job.width), x);
}

}  // namespace
}  // namespace manymod::bench

#define KERNEL(technique, prime, operation)                                                             \
  extern "C" __global__ void __launch_bounds__(manymod::bench::kFieldThreads)                           \
      field_##technique##_##prime##_##operation(const __grid_constant__ manymod::bench::FieldJob job) { \
    manymod::bench::chain<manymod::bench::technique##_##prime>(                                         \
        job, [](const auto& f, auto& x, const auto& y) { manymod::bench::Step::operation(f, x, y); });  \
  }
#define PRIME(name, bits, Prime) MM_FIELD_KERNELS(KERNEL, name)
MM_FIELD_PRIMES(PRIME)
