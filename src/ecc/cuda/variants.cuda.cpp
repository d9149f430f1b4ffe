// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/variants.cuda.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ecc/cuda/any_curve.cuda.hpp"
#include "ecc/cuda/tables.cuda.hpp"
#include "ecc/device/engine.hpp"

namespace manymod::ecc::cuda {
namespace {

template <class C>
CurveKernels curve_kernels(CurveId id, const char* name, mm_hash hash) {
  return {id,   name,         C::kWords, 2, C::kRowWords, C::Scalars::kElementWords, C::Scalars::kRadixBits,
          hash, base_table<C>};
}

CurveKernels curve25519_kernels(CurveId id, const char* name, unsigned entry_elements) {
  using C = Edwards25519;
  return {id,
          name,
          C::kWords,
          entry_elements,
          C::kRowWords,
          C::Scalars::kElementWords,
          C::Scalars::kRadixBits,
          MM_HASH_NONE,
          base_table_edwards<C>};
}

template <class C>
CurveKernels any_kernels(const char* name, mm_hash hash) {
  return {CurveId::custom,   name,          C::kWords, 2, C::kWords, C::kWords, 32 * C::kWords, hash,
          base_table_any<C>, 32 * C::kWords};
}

bool offers(const Curve& curve) { return find_curve_kernels(curve) != nullptr; }

/// @throws gpu::DeviceError
std::unique_ptr<const PointEngine> make(const Curve& curve, std::span<const unsigned> gpus) {
  return make_engine(curve, open_devices(Backend::cuda, gpus), make_host(curve));
}

constexpr EngineKind kCuda{.variant = kName, .backend = Backend::cuda};

}  // namespace

const CurveKernels* find_curve_kernels(const Curve& curve) {
  static const std::array kAll{
      curve_kernels<P256>(CurveId::p256, "p256", MM_SHA256),
      curve_kernels<P384>(CurveId::p384, "p384", MM_SHA384),
      curve_kernels<P521>(CurveId::p521, "p521", MM_SHA512),
      curve_kernels<Secp256k1>(CurveId::secp256k1, "secp256k1", MM_SHA256),
      curve_kernels<Sm2>(CurveId::sm2, "sm2", MM_HASH_NONE),
      curve25519_kernels(CurveId::ed25519, "ed25519", 3),
      curve25519_kernels(CurveId::x25519, "x25519", 0),
  };
  static const std::array kForAny{
      any_kernels<Any256>("any256", MM_SHA256), any_kernels<Any384>("any384", MM_SHA384),
      any_kernels<Any512>("any512", MM_SHA512), any_kernels<Any640>("any640", MM_SHA512)};
  const auto found = std::ranges::find(kAll, curve.id, &CurveKernels::id);
  if (found != kAll.end()) return &*found;
  const bool is_odd = (curve.n[0] & curve.cofactor[0] & 1) != 0;
  if (curve.form != MM_ECC_WEIERSTRASS || !is_odd) return nullptr;
  // A table of wide windows of a shorter order has n G = infinity among its affine points.
  if (curve.field_bits < kMinFieldBits || curve.order_bits <= kWideWindow) return nullptr;
  const auto fits = [&](const CurveKernels& kernels) { return kernels.words >= 2 * curve.limbs(); };
  const auto any = std::ranges::find_if(kForAny, fits);
  return any == kForAny.end() ? nullptr : &*any;
}

Variant variant() {
  return {kName, Backend::cuda, [] { return runs_here(Backend::cuda); }, offers, make};
}

std::unique_ptr<const PointEngine> make_engine(const Curve& curve, std::span<gpu::Device* const> devices,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window) {
  return make_engine(kCuda, curve, devices, *find_curve_kernels(curve), std::move(host), wide_window);
}

}  // namespace manymod::ecc::cuda
