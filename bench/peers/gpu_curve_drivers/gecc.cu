// SPDX-License-Identifier: Apache-2.0
// Times gECC on SM2 on device 0: driver.hpp has the usage, README.md of the folder above has the rest.
//
// gECC's solver is a class with one field for each array; its methods are those that gECC's own benchmarks
// call, in the configuration that these call the last step (columns, persistent L2 cache, fused batches).
// gECC's headers do not include all that they use.
#include <cfloat>
#include <limits>
#include <vector>

#include "gecc.h"
#include "gecc/support.h"

#include <algorithm>
#include <cstring>

#include "driver.hpp"

namespace peers {
namespace {

using namespace gecc;         // NOLINT(google-build-using-namespace): its macros need it
using namespace gecc::arith;  // NOLINT(google-build-using-namespace)

// The generator's table is named for an EC_NAME of G1_1, so these are no names of ours.
DEFINE_SM2_FP(Fq_SM2_1, FqSM2, u32, 32, LayoutT<1>, 8, gecc::arith::MONTFLAG::SOS,
              gecc::arith::CURVEFLAG::SM2);
DEFINE_FP(Fq_SM2_n, FqSM2_n, u32, 32, LayoutT<1>, 8);
DEFINE_EC(G1_1, G1SM2, Fq_SM2_1, SM2_CURVE, 2);
DEFINE_ECDSA(Solver, G1_1_G1SM2, Fq_SM2_1, Fq_SM2_n);
using Order = Fq_SM2_n;
using Point = G1_1_G1SM2;

constexpr unsigned kWords = 8;
/// gECC's initialisers repeat so many rows of points and scalars, and so many of signatures. The operands
/// have as many rows as the former.
constexpr std::size_t kPointRows = 3972, kSignatureRows = 1024;
constexpr unsigned kThreads = 256;

/// Multiples of the generator by the table of its doublings, which gECC's own kernels use inside a signature
/// alone.
__global__ void table_multiples(u32 count, const u32* scalars, u32* results) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Order scalar;
  scalar.load_arbitrary(scalars, count, i, 0);
  Point point = Point::zero();
  Solver::fixed_point_mult(point, scalar, true);
  typename Point::Affine affine = point.to_affine();
  affine.store_arbitrary(results, count, i, 0);
}

/// Numbers as gECC's initialisers take them.
using Padded = u64[MAX_LIMBS];
class Numbers {
 public:
  Numbers(const std::vector<Row>& rows, Number Row::* number) : values_(kPointRows) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      std::memcpy(values_[i].limbs, rows[i].*number, sizeof(Number));
  }
  [[nodiscard]] const Padded* get() const { return &values_[0].limbs; }

 private:
  struct Value {
    Padded limbs{};
  };
  std::vector<Value> values_;
};

struct Operands {
  explicit Operands(const std::vector<Row>& rows)
      : secret(rows, &Row::secret),
        nonce(rows, &Row::nonce),
        x(rows, &Row::x),
        y(rows, &Row::y),
        digest(rows, &Row::digest),
        r(rows, &Row::r),
        s(rows, &Row::s) {}
  Numbers secret, nonce, x, y, digest, r, s;
};

/// What was computed for the first items, item by item, from columns of words.
struct Result {
  std::string bytes;
  std::int64_t differing = -1;
};
/// An array of columns: word j of item i is at j * count + i.
struct Columns {
  const u32* words;
  unsigned width;
};

Result gather(const std::vector<Columns>& arrays, u32 count, std::size_t distinct) {
  check(cudaDeviceSynchronize(), "results");
  Result result;
  const auto item = [&](std::size_t i) {
    std::string bytes;
    for (const Columns& array : arrays) {
      for (unsigned j = 0; j < array.width; ++j)
        bytes.append(reinterpret_cast<const char*>(&array.words[j * std::size_t{count} + i]), sizeof(u32));
    }
    return bytes;
  };
  std::vector<std::string> first;
  for (std::size_t i = 0; i < count; ++i) {
    if (i < distinct) {
      first.push_back(item(i));
      result.bytes += first.back();
    } else if (item(i) != first[i % distinct]) {
      result.differing = static_cast<std::int64_t>(i);
      break;
    }
  }
  return result;
}

class Benchmarks {
 public:
  explicit Benchmarks(Driver& driver) : driver_(driver), operands_(driver.rows()) {
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0), "device");
  }

  void measure(u32 count) {
    table(count);
    points("multiply", count, true);
    points("base_as_benchmarked", count, false);
    sign("sign", count, false);
    sign("sign_as_benchmarked", count, true);
    verify("verify", count, false);
    verify("verify_as_benchmarked", count, true);
  }

 private:
  using Run = std::function<void(u32 blocks, u32 threads)>;

  Driver& driver_;
  Operands operands_;
  int multiprocessors_ = 0;

  /// gECC leaves errors of cache policies that a device does not have, which stop nothing.
  static void forget_errors() {
    check(cudaDeviceSynchronize(), "initialisation");
    cudaGetLastError();
  }

  /// Time `run` in its fastest grid, among those that gECC's benchmarks try.
  void time(const std::string& name, u32 count, const Run& run, const Result& result) {
    double best = 0;
    u32 blocks = 0, threads = 0;
    for (const u32 each : {1, 2, 4, 8, 12}) {
      for (const u32 size : {kThreads / 2, kThreads}) {
        const u32 grid = each * static_cast<u32>(multiprocessors_);
        if (std::size_t{grid} * size > count) continue;
        const double taken = milliseconds([&] { run(grid, size); });
        if (blocks == 0 || taken < best) best = taken, blocks = grid, threads = size;
      }
    }
    if (blocks == 0) return;
    const auto times = driver_.repeat([&] { return milliseconds([&] { run(blocks, threads); }); });
    driver_.report(name, count, std::to_string(blocks) + " blocks of " + std::to_string(threads), times, {},
                   result.bytes, result.differing);
  }

  void points(const std::string& name, u32 count, bool unknown) {
    Solver solver;
    solver.ec_pmul_random_init(operands_.nonce.get(), operands_.x.get(), operands_.y.get(), count);
    forget_errors();
    const Run run = [&](u32 blocks, u32 threads) { solver.ecdsa_ec_pmul(blocks, threads, unknown); };
    // The first run alone begins with points as they were given: each leaves its results in their place.
    run(static_cast<u32>(multiprocessors_), kThreads);
    const Result result = gather({{solver.R0, 2 * kWords}}, count, kPointRows);
    time(name, count, run, result);
    solver.ec_pmul_close();
  }

  void sign(const std::string& name, u32 count, bool batched) {
    Solver solver;
    solver.sign_random_init(operands_.digest.get(), operands_.secret.get(), operands_.nonce.get(),
                            operands_.x.get(), operands_.y.get(), count);
    forget_errors();
    const Run run = [&](u32 blocks, u32 threads) {
      if (batched)
        solver.sign_exec_for_random_inputs(blocks, threads, true);
      else
        solver.sign_exec(blocks, threads, false);
    };
    // Each run turns the private keys to Montgomery form once more, so the first alone has those that were
    // given.
    run(static_cast<u32>(multiprocessors_), kThreads);
    const Result result = gather({{solver.sign_r, kWords}, {solver.sign_s, kWords}}, count, kSignatureRows);
    time(name, count, run, result);
    solver.sign_close();
  }

  void verify(const std::string& name, u32 count, bool batched) {
    Solver solver;
    solver.verify_random_init(operands_.r.get(), operands_.s.get(), operands_.digest.get(), operands_.x.get(),
                              operands_.y.get(), count);
    forget_errors();
    const Run run = [&](u32 blocks, u32 threads) {
      if (batched)
        solver.verify_exec_for_random_input(blocks, threads, true);
      else
        solver.verify_exec(blocks, threads, false);
    };
    run(static_cast<u32>(multiprocessors_), kThreads);
    const Result result = gather({{solver.results, 1}}, count, kSignatureRows);
    time(name, count, run, result);
    solver.verify_close();
  }

  void table(u32 count) {
    u32 *scalars = nullptr, *results = nullptr;
    check(cudaMallocManaged(&scalars, std::size_t{count} * sizeof(Number)), "allocation");
    check(cudaMallocManaged(&results, 2 * std::size_t{count} * sizeof(Number)), "allocation");
    const std::size_t distinct = driver_.rows().size();
    for (u32 i = 0; i < count; ++i) {
      for (unsigned j = 0; j < kWords; ++j)
        scalars[j * std::size_t{count} + i] = driver_.rows()[i % distinct].nonce[j];
    }
    const auto run = [&](u32 threads) {
      table_multiples<<<(count + threads - 1) / threads, threads>>>(count, scalars, results);
      check(cudaGetLastError(), "multiples of the generator");
    };
    run(kThreads);
    const Result result = gather({{results, 2 * kWords}}, count, distinct);
    run(kThreads);
    const auto times = driver_.repeat([&] { return milliseconds([&] { run(kThreads); }); });
    driver_.report("base", count, std::to_string(kThreads) + " threads", times, {}, result.bytes,
                   result.differing);
    check(cudaFree(scalars), "free");
    check(cudaFree(results), "free");
  }
};

void measure(Driver& driver) {
  if (driver.rows().size() != kPointRows) throw std::runtime_error("operands of another number of rows");
  Solver::initialize();
  Benchmarks benchmarks(driver);
  for (const u32 count : driver.items()) benchmarks.measure(count);
}

}  // namespace
}  // namespace peers

int main(int count, char** arguments) { return peers::run_driver(count, arguments, peers::measure); }
