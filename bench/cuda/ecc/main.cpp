// SPDX-License-Identifier: Apache-2.0
// ecc: rates of point arithmetic and of ECDSA on CUDA device 0. Every result is compared with libcrypto's.
// Rows of the report: bench/cuda/README.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../device_facts.hpp"
#include "../json.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "../timer.hpp"
#include "calls.hpp"
#include "ecc/cuda/variants.cuda.hpp"

#include "ecc/endomorphism.hpp"
#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "oracle.hpp"

namespace manymod::bench {
namespace {

using ecc::device::DeviceCurve;

constexpr const char* kDescription =
    "Measure multiplications of points, and ECDSA, on a GPU: kernels alone, operands and results in its "
    "memory. Every result is compared with libcrypto's.";
constexpr std::size_t kDistinct = 256;  ///< items that a batch repeats

const std::vector<std::string> kOperations = {"base", "sign",   "sign_rfc6979", "multiply",
                                              "two",  "verify", "ladder"};

struct Curve {
  std::string name;
  ecc::CurveId id;
  std::string hash;  ///< of RFC 6979; "": none
  double mul, sqr;   ///< clocks of a multiprocessor, as the program fields measures them

  [[nodiscard]] bool is_25519() const { return id == ecc::CurveId::ed25519 || id == ecc::CurveId::x25519; }
  /// The kernels are those for any curve.
  [[nodiscard]] bool is_any() const {
    return id == ecc::CurveId::brainpool256r1 || id == ecc::CurveId::brainpool384r1 ||
           id == ecc::CurveId::brainpool512r1;
  }
  [[nodiscard]] bool offers(const std::string& operation) const {
    if (id == ecc::CurveId::x25519) return operation == "ladder";
    if (id == ecc::CurveId::ed25519)
      return operation == "base" || operation == "multiply" || operation == "two";
    if (operation == "sign_rfc6979") return !hash.empty();
    return operation != "ladder" && operation != "two";
  }
};
const std::vector<Curve> kCurves = {
    {"p256", ecc::CurveId::p256, "SHA256", 2.68, 2.08},
    {"secp256k1", ecc::CurveId::secp256k1, "SHA256", 2.64, 1.81},
    {"sm2", ecc::CurveId::sm2, "", 2.77, 2.2},
    {"p384", ecc::CurveId::p384, "SHA384", 5.5, 4.1},
    {"p521", ecc::CurveId::p521, "SHA512", 11.9, 6.72},
    {"ed25519", ecc::CurveId::ed25519, "", 2.61, 1.74},
    {"x25519", ecc::CurveId::x25519, "", 2.61, 1.74},
    {"brainpool256", ecc::CurveId::brainpool256r1, "SHA256", 4.28, 3.58},
    {"brainpool384", ecc::CurveId::brainpool384r1, "SHA384", 9.05, 7.45},
    // Not measured: by their 32-bit products, of which 32 take a clock.
    {"brainpool512", ecc::CurveId::brainpool512r1, "SHA512", 16.5, 12.8},
};

struct Options : CommonOptions {
  std::vector<std::string> curves, operations = kOperations;
  std::vector<std::uint32_t> batches;  ///< empty: waves of the device
  bool calls = false;                  ///< besides kernels
  bool on_gpu_only = false;            ///< calls are not measured on the processor
};

void add_options(CLI::App& command, Options& options) {
  for (const Curve& curve : kCurves) options.curves.push_back(curve.name);
  add_list(command, "--curve", options.curves, "Curves (default: all)")->check(CLI::IsMember(options.curves));
  add_list(command, "--op", options.operations, "Operations (default: all)")
      ->check(CLI::IsMember(kOperations));
  add_list(command, "--batches", options.batches, "Items of a call")->check(CLI::PositiveNumber);
  command.add_flag("--calls", options.calls,
                   "Calls from arrays to arrays on the host, after the kernels that they are compared with");
  command.add_flag("--gpu-only", options.on_gpu_only, "Do not measure calls on the processor");
}

/// Products and squarings of one item, without look-ups and sums.
struct Work {
  double mul = 0, sqr = 0;
};
Work work_of(const Curve& curve, const std::string& operation, unsigned bits) {
  using ecc::device::window_count;
  // a = 0, and an endomorphism, which takes a product for each digit of the second half of a scalar.
  const bool has_halves = curve.id == ecc::CurveId::secp256k1;
  // Additions of an affine point take 8 M + 3 S, doublings 4 M + 4 S or 3 M + 4 S; an affine form 6 M + 1 S.
  const double base = window_count(bits, ecc::device::kBaseWindow);
  const double wide = window_count(bits, ecc::device::kWideWindow);
  const double columns = window_count(has_halves ? ecc::kHalfBits : bits, ecc::device::kPointWindow);
  const double windows = has_halves ? 2 * columns : columns;
  const double doublings = ecc::device::kPointWindow * (columns - 1), entries = 8;
  if (operation == "ladder") return {255 * 5 + 4, 255 * 4};
  if (curve.is_any()) {
    // Complete formulas: additions 17 M, of an affine point 16 M, doublings 13 M + 3 S, a carry into a window
    // more; an affine form 5 M. k G has a complete addition only at its end.
    if (operation != "multiply" && operation != "verify")
      return {(base - 2) * 8 + 2 + 16 + 5, (base - 2) * 3 + 1};
    const double every = bits / ecc::device::kPointWindow + 1;
    const double every_doubling = every * ecc::device::kPointWindow;
    const double wide_part = operation == "verify" ? wide * 16 : 0;
    return {every_doubling * 13 + (every + entries - 1) * 17 + wide_part + 5, every_doubling * 3};
  }
  if (curve.is_25519()) {
    // Additions of a prepared point take 8 M, of a cached one 9 M, doublings 4 M + 4 S; an affine form 5 M.
    if (operation == "base") return {base * 8 + 5, 0};
    const double wide_part = operation == "two" ? wide * 8 : 0;
    return {doublings * 4 + (windows + entries) * 9 + wide_part + 5, doublings * 4};
  }
  const double products = doublings * (has_halves ? 3 : 4) + (has_halves ? columns : 0);
  const Work point{products + windows * 8 + entries * (12 + 6),
                   doublings * 4 + windows * 3 + entries * (4 + 1)};
  if (operation == "multiply") return {point.mul + 6, point.sqr + 1};
  if (operation == "verify") return {point.mul + wide * 8, point.sqr + wide * 3};
  return {base * 8 + 6, base * 3 + 1};
}

class Measurements {
 public:
  Measurements(const Options& options, cuda::Device& device)
      : options_(options), device_(device), stream_(device), timer_(stream_) {}

  void run() {
    for (const Curve& curve : kCurves) {
      if (std::ranges::find(options_.curves, curve.name) == options_.curves.end()) continue;
      if (options_.calls) {
        measure_calls_on(curve);
      } else {
        measure(curve, options_.batches);
      }
    }
  }

  [[nodiscard]] bool all_right() const { return wrong_ == 0; }

  [[nodiscard]] Json report() const {
    Json document = report_of(device_, options_.quick);
    document["clock_source"] = timer_.clock_source();
    document["method"] = options_.calls
                             ? "calls from arrays to arrays on the host, all threads; medians; the first "
                               "results compared with the processor's, and all signatures verified; rows of "
                               "kernels as without --calls"
                             : "kernels alone, operands and results in device memory; medians; the limit is "
                               "that of the products "
                               "and "
                               "squarings of an item at the rates that the program fields measures; every "
                               "result compared with "
                               "libcrypto's";
    document["rows"] = rows_;
    return document;
  }

 private:
  struct Batch {
    std::uint32_t count;
    unsigned stride;                                                                ///< words of a row
    gpu::DeviceBuffer secret, digest, nonce, public_x, public_y, r, s;              // operands
    gpu::DeviceBuffer points, scratch, x, y, out_r, out_s, flags, valid, on_curve;  // results
  };

  const Options& options_;
  cuda::Device& device_;
  cuda::Stream stream_;
  Timer timer_;
  unsigned wrong_ = 0;
  std::vector<Json> rows_;
  KernelRates rates_;  ///< of the curve that was measured last

  [[nodiscard]] gpu::DeviceBuffer repeat(const std::vector<Limb>& rows, std::uint32_t count,
                                         std::size_t limbs) const {
    gpu::DeviceBuffer buffer(device_, count * limbs * sizeof(Limb));
    std::vector<Limb> all(count * limbs);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = rows[i % rows.size()];
    stream_.copy_to_device(buffer.data(), all.data(), buffer.bytes());
    stream_.synchronize();
    return buffer;
  }
  [[nodiscard]] bool matches(const gpu::DeviceBuffer& found, const std::vector<Limb>& rows,
                             std::uint32_t count, std::size_t limbs) const {
    std::vector<Limb> all(count * limbs);
    stream_.copy_to_host(all.data(), found.data(), all.size() * sizeof(Limb));
    stream_.synchronize();
    std::size_t different = 0;
    for (std::size_t i = 0; i < all.size(); ++i) different += all[i] != rows[i % rows.size()] ? 1 : 0;
    return different == 0;
  }
  /// Every seventh item's r is another number, which is no valid signature.
  static bool is_spoilt(std::size_t item) { return item % 7 == 3; }

  void measure_calls_on(const Curve& named) {
    std::vector<std::size_t> batches(options_.batches.begin(), options_.batches.end());
    if (batches.empty()) batches = {10'000, 100'000, 1'000'000};
    // The kernels of as many items first: what the calls are compared with.
    measure(named, {device_.properties().multiprocessors * 512 * 16});
    bool right = true;
    const std::vector<Json> rows =
        measure_calls(ecc::named_curve(named.id).name, rates_, batches, options_.on_gpu_only, right);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    if (!right) std::printf("%s: WRONG\n", named.name.c_str()), ++wrong_;
  }

  void measure(const Curve& named, std::vector<std::uint32_t> batches) {
    rates_.clear();
    const ecc::Curve& curve = ecc::named_curve(named.id);
    const DeviceCurve on_device(device_, curve, *ecc::cuda::find_curve_kernels(curve));
    const EccItems items =
        named.is_25519() ? ecc_items_25519(curve, kDistinct) : ecc_items(curve, kDistinct, named.hash);
    if (batches.empty()) {
      const std::uint32_t wave = device_.properties().multiprocessors * 512;
      batches = options_.quick ? std::vector{wave * 8} : std::vector{wave / 4, wave, wave * 4, wave * 16};
    }
    for (const std::uint32_t count : batches) measure(named, on_device, items, count);
  }

  void measure(const Curve& named, const DeviceCurve& on_device, const EccItems& items, std::uint32_t count) {
    const ecc::Curve& curve = ecc::named_curve(named.id);
    const std::size_t limbs = curve.limbs(), row = limbs * sizeof(Limb);
    const auto buffer = [&](std::size_t bytes) { return gpu::DeviceBuffer(device_, count * bytes); };
    std::vector<Limb> spoilt = items.r;
    for (std::size_t i = 0; i < items.count; ++i) {
      if (is_spoilt(i)) spoilt[i * limbs] ^= 2;
    }
    const Batch batch{count,
                      on_device.kernels().row_words,
                      repeat(items.secret, count, limbs),
                      repeat(items.digest, count, limbs),
                      repeat(items.nonce, count, limbs),
                      repeat(items.public_x, count, limbs),
                      repeat(items.public_y, count, limbs),
                      repeat(spoilt, count, limbs),
                      repeat(items.s, count, limbs),
                      buffer(3 * row),
                      buffer(2 * row),
                      buffer(row),
                      buffer(row),
                      buffer(row),
                      buffer(row),
                      buffer(1),
                      buffer(1),
                      buffer(1)};
    for (const std::string& operation : options_.operations) {
      if (!named.offers(operation)) continue;
      const auto queue = [&] { enqueue(operation, on_device, batch); };
      const Timing timing = timer_.measure(queue, {options_.quick ? 0.03 : 0.15, 3, 10});
      record(named, operation, batch, timing, is_right(operation, items, batch, limbs));
    }
  }

  void enqueue(const std::string& operation, const DeviceCurve& curve, const Batch& b) const {
    using namespace ecc::device;  // NOLINT(google-build-using-namespace)
    const auto rows = [&](const gpu::DeviceBuffer& buffer) {
      return Rows{buffer.as<std::uint32_t>(), b.stride};
    };
    const auto out = [&](const gpu::DeviceBuffer& buffer) {
      return RowsOut{buffer.as<std::uint32_t>(), b.stride};
    };
    PointJob point;
    point.count = b.count;
    point.x = rows(b.public_x);
    point.y = rows(b.public_y);
    point.result = b.points.as<std::uint32_t>();
    point.scalar = rows(b.nonce);
    AffineJob affine;
    affine.count = b.count;
    affine.point = point.result;
    affine.scratch = b.scratch.as<std::uint32_t>();
    affine.x = out(b.x);
    affine.y = out(b.y);
    affine.infinity = b.flags.as<std::uint8_t>();
    if (operation == "ladder") {
      curve.ladder(stream_, point);
      affine.y.words = nullptr;
      curve.affine(stream_, affine);
    } else if (operation == "two") {
      point.base_scalar = rows(b.secret);
      curve.multiply_two(stream_, point);
      curve.affine(stream_, affine);
    } else if (operation == "multiply") {
      curve.multiply(stream_, point);
      curve.affine(stream_, affine);
    } else if (operation == "base") {
      curve.multiply_base(stream_, point);
      curve.affine(stream_, affine);
    } else if (operation == "verify") {
      curve.verification_scalars(stream_, {{},
                                           b.count,
                                           0,
                                           rows(b.digest),
                                           rows(b.r),
                                           rows(b.s),
                                           affine.scratch,
                                           out(b.out_r),
                                           out(b.out_s),
                                           b.valid.as<std::uint8_t>(),
                                           0});
      point.scalar = rows(b.out_s);
      point.base_scalar = rows(b.out_r);
      point.valid = b.on_curve.as<std::uint8_t>();
      stream_.set_bytes(b.on_curve.data(), 1, b.on_curve.bytes());
      curve.check(stream_, point);
      curve.multiply_two(stream_, point);
      curve.compare(stream_, {{}, b.count, point.result, rows(b.r), point.valid, b.valid.as<std::uint8_t>()});
    } else {
      Rows nonce = rows(b.nonce);
      stream_.set_bytes(b.valid.data(), 1, b.valid.bytes());
      if (operation == "sign_rfc6979") {
        nonce = rows(b.out_s);
        curve.nonces(
            stream_,
            {{}, b.count, rows(b.secret), rows(b.digest), {}, out(b.out_s), b.valid.as<std::uint8_t>()});
      }
      point.scalar = nonce;
      curve.multiply_base(stream_, point);
      curve.affine(stream_, affine);
      // With nonces in out_s, s goes to y's place, which is read before it is written.
      const bool derived = operation == "sign_rfc6979";
      curve.sign(stream_, {{},
                           b.count,
                           0,
                           nonce,
                           rows(b.secret),
                           rows(b.digest),
                           rows(b.x),
                           rows(b.y),
                           affine.scratch,
                           out(b.out_r),
                           out(derived ? b.points : b.out_s),
                           b.flags.as<std::uint8_t>(),
                           b.valid.as<std::uint8_t>(),
                           0});
    }
  }

  [[nodiscard]] bool is_right(const std::string& operation, const EccItems& items, const Batch& b,
                              std::size_t limbs) const {
    const auto same = [&](const gpu::DeviceBuffer& found, const std::vector<Limb>& rows) {
      return matches(found, rows, b.count, limbs);
    };
    if (operation == "ladder") return same(b.x, items.shared_x);
    if (operation == "two") return same(b.x, items.two_x) && same(b.y, items.two_y);
    if (operation == "multiply") return same(b.x, items.shared_x) && same(b.y, items.shared_y);
    if (operation == "base") return same(b.x, items.nonce_x) && same(b.y, items.nonce_y);
    if (operation == "sign_rfc6979") return same(b.out_s, items.deterministic) && verdicts(b, false);
    if (operation == "sign") return same(b.out_r, items.r) && same(b.out_s, items.s) && verdicts(b, false);
    return verdicts(b, true);
  }
  [[nodiscard]] bool verdicts(const Batch& b, bool of_spoilt) const {
    std::vector<std::uint8_t> valid(b.count);
    stream_.copy_to_host(valid.data(), b.valid.data(), valid.size());
    stream_.synchronize();
    for (std::size_t i = 0; i < valid.size(); ++i) {
      if (valid[i] != (of_spoilt && is_spoilt(i % kDistinct) ? 0 : 1)) return false;
    }
    return true;
  }

  void record(const Curve& named, const std::string& operation, const Batch& batch, const Timing& timing,
              bool right) {
    const ecc::Curve& curve = ecc::named_curve(named.id);
    const double rate = batch.count / timing.median;
    const Work work = work_of(named, operation, static_cast<unsigned>(curve.order_bits));
    const double limit_clocks = work.mul * named.mul + work.sqr * named.sqr;
    const double limit = timing.mhz * 1e6 * device_.properties().multiprocessors / limit_clocks;
    Json row;
    row["curve"] = named.name;
    row["operation"] = operation;
    row["items"] = batch.count;
    row["per_second"] = rate;
    row["limit_per_second"] = limit;
    row["share"] = rate / limit;
    row["mhz"] = timing.mhz;
    row["right"] = right;
    rows_.push_back(std::move(row));
    rates_[operation] = rate;
    if (!right) ++wrong_;
    std::printf("%-10s %-13s %9u items %9.2f M/s, %4.1f %% of the limit%s\n", named.name.c_str(),
                operation.c_str(), batch.count, rate / 1e6, 100 * rate / limit, right ? "" : "  WRONG");
    std::fflush(stdout);
  }
};

int run(const Options& options) {
  Measurements measurements(options, cuda::device(0));
  measurements.run();
  const bool written = save_report(options, measurements);
  return written && measurements.all_right() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<Options>(kDescription, count, arguments, add_options, run);
}
