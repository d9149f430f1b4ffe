// SPDX-License-Identifier: Apache-2.0
// Powers and chains of Montgomery multiplications by CGBN, for numbers of PEER_BITS bits.
#include "cgbn_shapes.hpp"

// CGBN's header asks for GMP in the host's pass, which here needs only the kernels' names; and in the
// device's pass it leaves out the host functions that it would define once per translation unit.
#if defined(__CUDA_ARCH__)
#include "cgbn/cgbn.h"
#endif

namespace peers {
namespace {

constexpr unsigned kBits = PEER_BITS;
constexpr unsigned kWordBits = 32;

/// CGBN's division, and so its conversion to Montgomery form, takes no more words per thread than an instance
/// has threads. Its other functions do: there R^2 mod modulus comes with the operands.
template <unsigned kThreads>
constexpr bool kDivides = kBits / kWordBits <= kThreads * kThreads;

__device__ unsigned instance_of_thread(unsigned threads) {
  return (blockIdx.x * blockDim.x + threadIdx.x) / threads;
}

#if defined(__CUDA_ARCH__)

template <unsigned kThreads>
using Context = cgbn_context_t<kThreads>;
template <unsigned kThreads>
using Env = cgbn_env_t<Context<kThreads>, kBits>;

template <class Env>
__device__ typename Env::cgbn_t load(const Env& env, std::uint32_t* numbers, unsigned index) {
  typename Env::cgbn_t number;
  cgbn_load(env, number, reinterpret_cast<cgbn_mem_t<kBits>*>(numbers) + index);
  return number;
}

template <class Env>
__device__ void store(const Env& env, std::uint32_t* numbers, unsigned index,
                      const typename Env::cgbn_t& number) {
  cgbn_store(env, reinterpret_cast<cgbn_mem_t<kBits>*>(numbers) + index, number);
}

/// Sets y = xR mod modulus and returns -1/modulus mod 2^32.
template <class Env>
__device__ std::uint32_t to_montgomery(const Env& env, typename Env::cgbn_t& y, const typename Env::cgbn_t& x,
                                       const typename Env::cgbn_t& modulus, const Arguments& arguments,
                                       unsigned index) {
  if constexpr (kDivides<Env::TPI>) {
    return cgbn_bn2mont(env, y, x, modulus);
  } else {
    const std::uint32_t inverse = 0 - cgbn_binary_inverse_ui32(env, cgbn_get_ui32(env, modulus));
    cgbn_mont_mul(env, y, x, load(env, arguments.radix_squared, index), modulus, inverse);
    return inverse;
  }
}

#endif

/// The fixed-window power of CGBN's own examples. The modulus is odd and its top bit is set, base < modulus.
template <unsigned kThreads, unsigned kWindow>
__global__ void power(Arguments arguments) {
#if defined(__CUDA_ARCH__)
  const unsigned index = instance_of_thread(kThreads);
  if (index >= arguments.instances) return;
  const Context<kThreads> context(cgbn_no_checks);
  const Env<kThreads> env(context);
  using Number = typename Env<kThreads>::cgbn_t;
  const Number modulus = load(env, arguments.modulus, index), exponent = load(env, arguments.exponent, index);

  typename Env<kThreads>::cgbn_local_t powers[1U << kWindow];
  Number x = load(env, arguments.base, index), factor;
  cgbn_negate(env, factor, modulus);  // R mod modulus, as the modulus is more than R/2
  cgbn_store(env, powers, factor);
  const std::uint32_t inverse = to_montgomery(env, factor, x, modulus, arguments, index);
  cgbn_store(env, powers + 1, factor);
  cgbn_set(env, x, factor);
#pragma nounroll
  for (unsigned i = 2; i < 1U << kWindow; ++i) {
    cgbn_mont_mul(env, x, x, factor, modulus, inverse);
    cgbn_store(env, powers + i, x);
  }

  constexpr unsigned kTop = (kBits - 1) / kWindow * kWindow;
  cgbn_load(env, x, powers + cgbn_extract_bits_ui32(env, exponent, kTop, kBits - kTop));
#pragma nounroll
  for (unsigned position = kTop; position > 0;) {
#pragma nounroll
    for (unsigned i = 0; i < kWindow; ++i) cgbn_mont_sqr(env, x, x, modulus, inverse);
    position -= kWindow;
    cgbn_load(env, factor, powers + cgbn_extract_bits_ui32(env, exponent, position, kWindow));
    cgbn_mont_mul(env, x, x, factor, modulus, inverse);
  }
  cgbn_mont2bn(env, x, x, modulus, inverse);
  store(env, arguments.result, index, x);
#endif
}

template <unsigned kThreads>
__global__ void chain(Arguments arguments) {
#if defined(__CUDA_ARCH__)
  const unsigned index = instance_of_thread(kThreads);
  if (index >= arguments.instances) return;
  const Context<kThreads> context(cgbn_no_checks);
  const Env<kThreads> env(context);
  using Number = typename Env<kThreads>::cgbn_t;
  const Number modulus = load(env, arguments.modulus, index);
  Number x = load(env, arguments.base, index), factor;
  const std::uint32_t inverse = to_montgomery(env, factor, x, modulus, arguments, index);
#pragma nounroll
  for (unsigned i = 0; i < arguments.products; ++i) cgbn_mont_mul(env, x, x, factor, modulus, inverse);
  store(env, arguments.result, index, x);
#endif
}

template <unsigned kThreads>
void add_shapes(std::vector<Shape>& shapes) {
  // Else words would be padded: more work for the same number.
  if constexpr (kBits % (kThreads * kWordBits) == 0) {
    shapes.push_back({Operation::chain, kThreads, 0, kDivides<kThreads>, chain<kThreads>});
    shapes.push_back({Operation::power, kThreads, 5, kDivides<kThreads>, power<kThreads, 5>});
    // The windows with the fewest multiplications where that is not 5.
    if constexpr (kBits <= 256)
      shapes.push_back({Operation::power, kThreads, 4, kDivides<kThreads>, power<kThreads, 4>});
    if constexpr (kBits >= 2048)
      shapes.push_back({Operation::power, kThreads, 6, kDivides<kThreads>, power<kThreads, 6>});
  }
}

}  // namespace

template <>
std::vector<Shape> shapes<PEER_BITS>() {
  std::vector<Shape> all;
  add_shapes<4>(all);
  add_shapes<8>(all);
  add_shapes<16>(all);
  add_shapes<32>(all);
  return all;
}

}  // namespace peers
