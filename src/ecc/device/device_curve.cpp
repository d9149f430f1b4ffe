// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/device_curve.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "repr/limbs.hpp"

namespace manymod::ecc::device {
namespace {

/// The words of numbers, one after the other.
std::vector<std::uint32_t> rows_of(const std::vector<std::vector<Limb>>& numbers) {
  std::vector<std::uint32_t> r;
  for (const std::vector<Limb>& number : numbers) {
    for (const Limb limb : number) {
      r.push_back(static_cast<std::uint32_t>(limb));
      r.push_back(static_cast<std::uint32_t>(limb >> 32));
    }
  }
  return r;
}

/// 2^exponent mod n.
std::vector<Limb> power_of_two(std::span<const Limb> n, unsigned exponent) {
  std::vector<Limb> r(n.size(), 0);
  r[0] = 1;
  for (unsigned i = 0; i < exponent; ++i) limbs::add_mod(r, r, r, n);
  return r;
}

/// The scalars (2 i + 1) 2^(w j) mod n for windows j of w bits, in rows of n.size() limbs: what the kernels
/// compute the table of wide windows from.
std::vector<Limb> wide_table_scalars(std::span<const Limb> n, unsigned order_bits, unsigned w) {
  const unsigned windows = window_count(order_bits, w);
  const std::size_t entries = std::size_t{1} << (w - 1);
  std::vector<Limb> rows, base(n.size(), 0), multiple, twice(n.size());
  rows.reserve(windows * entries * n.size());
  base[0] = 1;
  for (unsigned window = 0; window < windows; ++window) {
    multiple = base;
    limbs::add_mod(twice, base, base, n);
    for (std::size_t i = 0; i < entries; ++i) {
      rows.insert(rows.end(), multiple.begin(), multiple.end());
      limbs::add_mod(multiple, multiple, twice, n);
    }
    for (unsigned i = 0; i < w; ++i) limbs::add_mod(base, base, base, n);
  }
  return rows;
}

/// x - 2.
std::vector<Limb> less_two(std::vector<Limb> x) {
  std::vector<Limb> two(x.size());
  two[0] = 2;
  limbs::sub(x, x, two);
  return x;
}

/// (a - 2) / 4: an integer on the named curves, and users cannot make other Montgomery curves.
std::vector<Limb> ladder_constant(const Curve& curve) {
  const std::vector<Limb> less = less_two(curve.a);
  std::vector<Limb> r(less.size());
  limbs::shift_right_bits(r, less, 2);
  return r;
}

}  // namespace

gpu::KernelId CurveKernels::kernel(const std::string& part) const {
  return {common_name() + "_" + part, source, source.empty() ? "" : definitions + " -DMM_PART_" + part};
}

gpu::KernelId CurveKernels::bucket_kernel(const std::string& part) const {
  return {"ecc_rows_" + part, bucket_source, bucket_source.empty() ? "" : " -DMM_PART_" + part};
}

bool has_schemes(const CurveKernels& kernels, const Curve& curve) {
  if (kernels.points_only) return false;
  if (!kernels.for_any_curve()) return true;
  return curve.has_cofactor_one() && curve.scalar_limbs() == curve.limbs() &&
         kernels.words == 2 * curve.limbs();
}
bool derives_nonces(const CurveKernels& kernels, const Curve& curve) {
  const bool has_own_length = !kernels.for_any_curve() || curve.scalar_bytes() == 4 * kernels.words;
  return kernels.hash != MM_HASH_NONE && has_own_length;
}

bool decodes(const CurveKernels& kernels, const Curve& curve) {
  if (!kernels.for_any_curve()) return curve.form != MM_ECC_MONTGOMERY;
  return has_schemes(kernels, curve) && curve.p[0] % 4 == 3;
}

std::uint32_t chain_threads(std::uint32_t count, unsigned multiprocessors, unsigned launches) {
  // As many threads as keep the multiprocessors busy, then longer chains. With 512 threads on each there were
  // twice as many blocks that invert, and signing on P-256 3 % slower.
  const std::uint32_t busy = std::max(1U, multiprocessors * 256 / launches);
  return std::min(count, std::max(busy, (count + kMaxChain - 1) / kMaxChain));
}

DeviceCurve::DeviceCurve(gpu::Device& device, const Curve& curve, const CurveKernels& kernels,
                         unsigned wide_window, unsigned streams)
    : device_(device), kernels_(kernels), wide_window_(wide_window), streams_(streams) {
  // Ladders need no tables, and where kernels are for one curve no numbers either.
  const bool is_ladder = curve.form == MM_ECC_MONTGOMERY;
  if (is_ladder && !kernels.for_any_curve()) return;
  const std::unique_ptr<gpu::Stream> stream = device_.make_stream();
  numbers_ = upload(*stream, rows_of(kernels.for_any_curve() ? numbers_of_any(curve) : numbers_of(curve)));
  if (is_ladder) return;
  base_table_ = upload(*stream, kernels.base_table(curve));
  if (kernels.entry_elements != 0) make_wide_table(*stream, curve);
}

CurveNumbers DeviceCurve::numbers() const {
  const auto* const words = numbers_.as<std::uint32_t>();
  if (words == nullptr) return {};  // see the constructor
  if (!kernels_.for_any_curve()) {
    const auto row = [&](std::size_t index) { return words + index * kernels_.row_words; };
    return {row(0), row(1), row(2)};
  }
  CurveNumbers r = given_;
  r.rows = words;
  r.b = words + std::size_t{CurveNumbers::kB} * kernels_.words;
  r.order = words + std::size_t{CurveNumbers::kRows} * kernels_.words;
  r.radix_squared = r.order + r.scalar_words;
  return r;
}

const gpu::Kernel& DeviceCurve::kernel(const char* part) const {
  return device_.kernel(kernels_.kernel(part));
}

template <class Job>
void DeviceCurve::launch_items(const gpu::Stream& stream, const char* part, const Job& job) const {
  if (job.count == 0) return;
  kernel(part).launch(stream, {(job.count + kPointBlock - 1) / kPointBlock, kPointBlock, 0}, job);
}

template <class Job>
void DeviceCurve::launch_chains(const gpu::Stream& stream, const char* part, Job job) const {
  if (job.count == 0) return;
  job.threads = chain_threads(job.count, device_.properties().multiprocessors, streams_);
  kernel(part).launch(stream, {(job.threads + kChainBlock - 1) / kChainBlock, kChainBlock, 0}, job);
}

void DeviceCurve::multiply_base(const gpu::Stream& stream, PointJob job) const {
  job.curve = numbers();
  job.table = base_table_.as<std::uint32_t>();
  launch_items(stream, "base", job);
}
void DeviceCurve::multiply(const gpu::Stream& stream, PointJob job) const {
  job.curve = numbers();
  launch_items(stream, "multiply", job);
}
void DeviceCurve::multiply_two(const gpu::Stream& stream, PointJob job) const {
  job.curve = numbers();
  job.table = (kernels_.entry_elements == 0 ? base_table_ : wide_table_).as<std::uint32_t>();
  job.window = wide_window_;
  launch_items(stream, "two", job);
}
void DeviceCurve::ladder(const gpu::Stream& stream, PointJob job) const {
  if (kernels_.for_any_curve()) job.curve = numbers();
  launch_items(stream, "ladder", job);
}
void DeviceCurve::check(const gpu::Stream& stream, PointJob job) const {
  job.curve = numbers();
  launch_items(stream, "check", job);
}
void DeviceCurve::affine(const gpu::Stream& stream, AffineJob job) const {
  job.curve = numbers();
  launch_chains(stream, "affine", job);
}
void DeviceCurve::nonces(const gpu::Stream& stream, NonceJob job) const {
  job.curve = numbers();
  launch_items(stream, job.extra.words == nullptr ? "nonce" : "hedged", job);
}
void DeviceCurve::sign(const gpu::Stream& stream, SignJob job) const {
  job.curve = numbers();
  launch_chains(stream, "sign", job);
}
void DeviceCurve::combine(const gpu::Stream& stream, CombineJob job) const {
  job.curve = numbers();
  launch_items(stream, "combine", job);
}
void DeviceCurve::verification_scalars(const gpu::Stream& stream, VerifyScalarsJob job) const {
  job.curve = numbers();
  launch_chains(stream, "scalars", job);
}
void DeviceCurve::compare(const gpu::Stream& stream, VerifyCompareJob job) const {
  job.curve = numbers();
  launch_items(stream, "compare", job);
}

void DeviceCurve::expand_keys(const gpu::Stream& stream, ExpandJob job) const {
  job.curve = numbers();
  launch_items(stream, "expand", job);
}
void DeviceCurve::hash_to_scalars(const gpu::Stream& stream, HashJob job) const {
  job.curve = numbers();
  launch_items(stream, "hash", job);
}
void DeviceCurve::digest(const gpu::Stream& stream, const DigestJob& job) const {
  launch_items(stream, "digest", job);
}
void DeviceCurve::sign_sm2(const gpu::Stream& stream, SignJob job) const {
  job.curve = numbers();
  launch_chains(stream, "dsa_sign", job);
}
void DeviceCurve::compare_cofactored(const gpu::Stream& stream, CofactorJob job) const {
  job.curve = numbers();
  launch_items(stream, "cofactored", job);
}
void DeviceCurve::decode(const gpu::Stream& stream, DecodeJob job) const {
  job.curve = numbers();
  launch_items(stream, "decode", job);
}
void DeviceCurve::sum_terms(const gpu::Stream& stream, SumJob job) const {
  job.curve = numbers();
  launch_items(stream, "terms", job);
}
void DeviceCurve::sum_points(const gpu::Stream& stream, SumJob job) const {
  job.curve = numbers();
  launch_items(stream, "points", job);
}

template <class Values>
gpu::DeviceBuffer DeviceCurve::upload(const gpu::Stream& stream, const Values& values) const {
  gpu::DeviceBuffer r(device_, values.size() * sizeof(values[0]));
  stream.copy_to_device(r.data(), values.data(), r.bytes());
  stream.synchronize();
  return r;
}

std::vector<std::vector<Limb>> DeviceCurve::numbers_of(const Curve& curve) const {
  return {curve.n, power_of_two(curve.n, 2 * kernels_.scalar_radix_bits), curve.b};
}

std::vector<std::vector<Limb>> DeviceCurve::numbers_of_any(const Curve& curve) {
  given_.scalar_words = static_cast<std::uint32_t>(2 * curve.scalar_limbs());
  given_.row_words = static_cast<std::uint32_t>(2 * curve.limbs());
  given_.a_is_zero = std::ranges::all_of(curve.a, [](Limb limb) { return limb == 0; }) ? 1 : 0;
  given_.order_bits = static_cast<std::uint32_t>(curve.order_bits);
  const std::vector<Limb> b = curve.form == MM_ECC_MONTGOMERY ? ladder_constant(curve) : curve.b;
  std::vector<Limb> b3(b);
  for (unsigned i = 1; i < 3; ++i) limbs::add_mod(b3, b3, b, curve.p);
  // In the order of CurveNumbers::Row.
  std::vector<std::vector<Limb>> numbers{
      curve.p, power_of_two(curve.p, 2 * kernels_.field_radix_bits), curve.a, b3, b, less_two(curve.p)};
  for (std::vector<Limb>& number : numbers) number.resize(kernels_.words / 2);
  numbers.insert(numbers.end(), {curve.n, power_of_two(curve.n, 2 * kernels_.scalar_radix_bits)});
  return numbers;
}

void DeviceCurve::make_wide_table(const gpu::Stream& stream, const Curve& curve) {
  const std::vector<Limb> scalars =
      wide_table_scalars(curve.n, static_cast<unsigned>(curve.order_bits), wide_window_);
  const auto count = static_cast<std::uint32_t>(scalars.size() / curve.n.size());
  const gpu::DeviceBuffer rows = upload(stream, scalars);
  const std::size_t column = std::size_t{count} * kernels_.words * sizeof(std::uint32_t);
  const gpu::DeviceBuffer points(device_, 3 * column), scratch(device_, column);
  wide_table_ = gpu::DeviceBuffer(device_, kernels_.entry_elements * column);
  PointJob multiples;
  multiples.count = count;
  multiples.scalar = {rows.as<std::uint32_t>(), static_cast<std::uint32_t>(2 * curve.n.size())};
  multiples.result = points.as<std::uint32_t>();
  multiply_base(stream, multiples);
  AffineJob entries;
  entries.count = count;
  entries.point = points.as<std::uint32_t>();
  entries.scratch = scratch.as<std::uint32_t>();
  entries.entries = wide_table_.as<std::uint32_t>();
  affine(stream, entries);
  stream.synchronize();
}

}  // namespace manymod::ecc::device
