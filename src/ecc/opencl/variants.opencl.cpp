// SPDX-License-Identifier: Apache-2.0
#include "ecc/opencl/variants.opencl.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "ecc/device/engine.hpp"
#include "gpu/device_error.hpp"
#include "gpu/opencl/backend.hpp"
#include "gpu/opencl/requirements.hpp"
#include "modmul/reduced_radix/shapes.opencl.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::opencl {
namespace {

using device::CurveKernels;

/// Bits of a window of k G and k P, and the entries of its table (points.clh).
constexpr unsigned kWindow = 4, kEntries = 1U << (kWindow - 1);
/// n < R / 2^kHeadroomBits (field.clh).
constexpr unsigned kHeadroomBits = 4, kDigitBits = 29;

/// Append the digits of the element x R mod p.
void append_element(std::vector<std::uint32_t>& to, std::vector<Limb> x, const Curve& curve) {
  const unsigned digits = digit_count(curve.field_bits);
  for (unsigned i = 0; i < kDigitBits * digits; ++i) limbs::add_mod(x, x, x, curve.p);
  for (std::size_t i = 0; i < digits; ++i) to.push_back(limbs::extract_bits(x, i * kDigitBits, kDigitBits));
}

/// For window i of a scalar, 1 to kEntries times 2^(kWindow i) G (points.clh).
std::vector<std::uint32_t> base_table(const Curve& curve) {
  const std::size_t windows = curve.order_bits / kWindow + 1, count = windows * kEntries,
                    size = curve.scalar_limbs(), limbs = curve.limbs();
  std::vector<Limb> factors, power(size), x(count * limbs), y(x);
  std::vector<std::uint8_t> infinity(count);
  power[0] = 1;
  for (std::size_t window = 0; window < windows; ++window) {
    std::vector<Limb> multiple(size);
    for (unsigned i = 0; i < kEntries; ++i) {
      limbs::add_mod(multiple, multiple, power, curve.n);
      factors.insert(factors.end(), multiple.begin(), multiple.end());
    }
    limbs::add_mod(power, multiple, multiple, curve.n);  // 2 kEntries = 2^kWindow
  }
  const bool has_infinity = curve.form != MM_ECC_EDWARDS;
  device::make_host(curve)->multiply_base({x.data(), y.data(), has_infinity ? infinity.data() : nullptr},
                                          {factors.data(), size}, {0, count}, TimingClass::public_, {});
  std::vector<std::uint32_t> table;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::vector<Limb>* const numbers : {&x, &y}) {
      const auto from = numbers->begin() + static_cast<std::ptrdiff_t>(i * limbs);
      append_element(table, {from, from + static_cast<std::ptrdiff_t>(limbs)}, curve);
    }
  }
  return table;
}

/// Whether a = value modulo p, for 0, 1, -1, or -3.
bool has_a(const Curve& curve, int value) {
  std::vector<Limb> number(curve.limbs());
  number[0] = static_cast<Limb>(std::abs(value));
  if (value < 0) limbs::negate_mod(number, number, curve.p);
  return number == curve.a;
}

/// The form and what is known of a, as kernels.cl has it.
const char* kind_of_a(const Curve& curve) {
  if (curve.form == MM_ECC_MONTGOMERY) return "montgomery";
  if (curve.form == MM_ECC_EDWARDS) return has_a(curve, -1) ? "minus" : has_a(curve, 1) ? "one" : "twisted";
  return has_a(curve, 0) ? "zero" : has_a(curve, -3) ? "three" : "any";
}

/// Known answers have multiples of the generator up to the 40th, finite and not opposite to each other.
constexpr std::size_t kMinOrderBits = 8;

bool offers(const Curve& curve) {
  // The formulas for Weierstrass curves are complete on those of odd order.
  const bool is_complete = curve.form != MM_ECC_WEIERSTRASS || (curve.n[0] & curve.cofactor[0] & 1) != 0;
  return is_complete && curve.field_bits >= kMinFieldBits && curve.field_bits <= kMaxFieldBits &&
         curve.order_bits >= kMinOrderBits;
}

std::shared_ptr<const Requirements> requirements(const std::string& common_name) {
  return manymod::opencl::requirements(common_name, manymod::opencl::DeviceKind::any);
}

std::string obstacle(unsigned device_index, const std::string& common_name) {
  return requirements(common_name)
      ->obstacle("opencl:" + std::to_string(device_index),
                 manymod::opencl::OpenclTraits(device_index, false));
}

/// Leaves devices out that cannot be opened, or whose drivers do not compile the curve's kernels rightly.
/// @throws gpu::DeviceError if none is left
std::unique_ptr<const PointEngine> make(const Curve& curve, std::span<const unsigned> gpus) {
  static const device::TestedKernels kTested{&manymod::opencl::backend(), obstacle};
  CurveKernels kernels = kernels_for(curve);
  const std::string name = kernels.common_name();
  const bool takes_secrets = requirements(name)->secret_obstacle().empty();
  // Kernels of several queues may wait for each other, as NVIDIA's do.
  constexpr std::size_t kGranuleParts = 2;
  const device::EngineKind kind{kName, Backend::opencl, takes_secrets, &kTested, kGranuleParts};
  std::vector<gpu::Device*> devices = device::open_devices(Backend::opencl, gpus);
  const unsigned first = gpus.front();
  std::erase_if(devices, [&](gpu::Device* device) { return !obstacle(device->index(), name).empty(); });
  if (devices.empty()) {
    throw gpu::DeviceError(manymod::opencl::backend().name(), gpu::Fault::wrong_results,
                           static_cast<int>(first), std::string(kName) + " " + obstacle(first, name));
  }
  return device::make_engine(kind, curve, devices, std::move(kernels), device::make_host(curve));
}

}  // namespace

unsigned digit_count(std::size_t field_bits) {
  const auto needed = static_cast<unsigned>((field_bits + kHeadroomBits + kDigitBits - 1) / kDigitBits);
  if (needed <= 19) return needed;
  return 28;
}

CurveKernels kernels_for(const Curve& curve) {
  const auto words = static_cast<unsigned>(2 * curve.limbs());
  static_assert(reduced_radix::digit_bits(28) == kDigitBits);
  return {.id = CurveId::custom,
          .name = kind_of_a(curve) + std::to_string(curve.field_bits),
          .words = words,
          .entry_elements = 0,
          .row_words = words,
          .scalar_words = words,
          .scalar_radix_bits = 0,
          .hash = MM_HASH_NONE,
          .base_table = base_table,
          .field_radix_bits = kDigitBits * digit_count(curve.field_bits),
          .points_only = true,
          .source = "ecc/opencl/kernels",
          .definitions = std::string(" -DMM_A_") + kind_of_a(curve) +
                         " -DMM_FIELD_BITS=" + std::to_string(curve.field_bits),
          .bucket_source = "ecc/opencl/buckets"};
}

Variant variant() {
  return {kName, Backend::opencl, [] { return device::runs_here(Backend::opencl); }, offers, make};
}

}  // namespace manymod::ecc::opencl
