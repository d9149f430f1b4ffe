// SPDX-License-Identifier: Apache-2.0
// Times the kernels of UltrafastSecp256k1 on device 0: driver.hpp has the usage, README.md of the folder
// above has the rest.
//
// The kernels here are one call of the library's device functions for each item, in the bounds of the
// library's own batch kernels (128 threads, two blocks a multiprocessor). Those are not used as they come in
// a translation unit with many others, of zero-knowledge proofs for instance, which takes minutes to compile.
#include "secp256k1.cuh"

#include "ct/ct_point.cuh"
#include "ct/ct_sign.cuh"
#include "ecdsa.cuh"

#include <algorithm>
#include <cstring>

#include "driver.hpp"

namespace peers {
namespace {

namespace lib = secp256k1::cuda;

constexpr unsigned kCompressed = 33, kSignature = 64, kThreads = 128, kBlocks = 2;

__device__ unsigned item() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ __launch_bounds__(kThreads, kBlocks) void base(const lib::Scalar* k, lib::JacobianPoint* out,
                                                          unsigned count) {
  if (const unsigned i = item(); i < count) lib::scalar_mul_generator_w8(&k[i], &out[i]);
}
__global__ __launch_bounds__(kThreads, kBlocks) void base_ct(const lib::Scalar* k, lib::JacobianPoint* out,
                                                             unsigned count) {
  if (const unsigned i = item(); i < count) lib::ct::ct_generator_mul(&k[i], &out[i]);
}
__global__ __launch_bounds__(kThreads, kBlocks) void multiply(const lib::JacobianPoint* points,
                                                              const lib::Scalar* k, lib::JacobianPoint* out,
                                                              unsigned count) {
  if (const unsigned i = item(); i < count) lib::scalar_mul(&points[i], &k[i], &out[i]);
}
__global__ __launch_bounds__(kThreads, kBlocks) void multiply_ct(const lib::JacobianPoint* points,
                                                                 const lib::Scalar* k,
                                                                 lib::JacobianPoint* out, unsigned count) {
  if (const unsigned i = item(); i < count) lib::ct::ct_scalar_mul(&points[i], &k[i], &out[i]);
}
__global__ __launch_bounds__(kThreads,
                             kBlocks) void sign_ct(const std::uint8_t* digests, const lib::Scalar* secrets,
                                                   lib::ECDSASignatureGPU* out, bool* made, unsigned count) {
  if (const unsigned i = item(); i < count)
    made[i] = lib::ct::ct_ecdsa_sign(&digests[32 * i], &secrets[i], &out[i]);
}
__global__ __launch_bounds__(kThreads, kBlocks) void verify(const std::uint8_t* digests,
                                                            const lib::JacobianPoint* points,
                                                            const std::uint8_t* signatures, bool* valid,
                                                            unsigned count) {
  const unsigned i = item();
  if (i >= count) return;
  lib::ECDSASignatureGPU signature;
  valid[i] = lib::ecdsa_sig_parse_compact_strict(&signatures[kSignature * i], &signature) &&
             lib::ecdsa_verify(&digests[32 * i], &points[i], &signature);
}
__global__ __launch_bounds__(kThreads, kBlocks) void compress(const lib::JacobianPoint* points,
                                                              std::uint8_t* out, unsigned count) {
  if (const unsigned i = item(); i < count)
    lib::jacobian_to_compressed_device(&points[i], &out[kCompressed * i]);
}

/// An array on the host and its place on the device.
template <typename T>
class Array {
 public:
  explicit Array(std::uint32_t count) : host(count) { check(cudaMalloc(&device, bytes()), "allocation"); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(device); }

  [[nodiscard]] std::size_t bytes() const { return host.size() * sizeof(T); }
  void upload() { check(cudaMemcpy(device, host.data(), bytes(), cudaMemcpyHostToDevice), "copy"); }
  void download() { check(cudaMemcpy(host.data(), device, bytes(), cudaMemcpyDeviceToHost), "copy"); }

  std::vector<T> host;
  T* device = nullptr;
};

struct Digest {
  std::uint8_t bytes[32];
};
struct Signature {
  std::uint8_t bytes[kSignature];
};
struct Compressed {
  std::uint8_t bytes[kCompressed];
};
struct Verdict {
  std::uint8_t valid;
};

void big_endian(const Number& number, std::uint8_t* out) {
  for (unsigned i = 0; i < 32; ++i) out[31 - i] = static_cast<std::uint8_t>(number[i / 4] >> 8 * (i % 4));
}

/// The operands of as many items, and room for their results.
class Batch {
 public:
  Batch(Driver& driver, std::uint32_t count)
      : driver_(driver),
        count_(count),
        secrets_(count),
        nonces_(count),
        points_(count),
        results_(count),
        digests_(count),
        sent_(count),
        made_(count),
        keys_(count),
        verdicts_(count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Row& row = driver.rows()[i % driver.rows().size()];
      std::memcpy(&secrets_.host[i], row.secret, sizeof row.secret);
      std::memcpy(&nonces_.host[i], row.nonce, sizeof row.nonce);
      lib::JacobianPoint& point = points_.host[i];
      point = {};
      std::memcpy(&point.x, row.x, sizeof row.x);
      std::memcpy(&point.y, row.y, sizeof row.y);
      point.z.limbs[0] = 1;
      big_endian(row.digest, digests_.host[i].bytes);
      big_endian(row.r, sent_.host[i].bytes);
      big_endian(row.s, sent_.host[i].bytes + 32);
    }
    secrets_.upload();
    nonces_.upload();
    points_.upload();
    digests_.upload();
    sent_.upload();
  }

  void measure() {
    const auto scalars = [&] { nonces_.upload(); };
    const auto scalars_and_points = [&] { nonces_.upload(), points_.upload(); };
    const auto digests_and_keys = [&] { digests_.upload(), secrets_.upload(); };
    const auto multiples = [&](const std::string& name, const auto& in, const auto& kernel) {
      time(name, in, keys_, [&](unsigned blocks, unsigned threads) {
        kernel(blocks, threads);
        compress<<<blocks, threads>>>(results_.device, keys_.device->bytes, count_);
      });
    };
    multiples("base_ct", scalars, [&](unsigned blocks, unsigned threads) {
      peers::base_ct<<<blocks, threads>>>(nonces_.device, results_.device, count_);
    });
    multiples("base", scalars, [&](unsigned blocks, unsigned threads) {
      peers::base<<<blocks, threads>>>(nonces_.device, results_.device, count_);
    });
    multiples("multiply", scalars_and_points, [&](unsigned blocks, unsigned threads) {
      peers::multiply<<<blocks, threads>>>(points_.device, nonces_.device, results_.device, count_);
    });
    multiples("multiply_ct", scalars_and_points, [&](unsigned blocks, unsigned threads) {
      peers::multiply_ct<<<blocks, threads>>>(points_.device, nonces_.device, results_.device, count_);
    });
    time("sign_ct", digests_and_keys, made_, [&](unsigned blocks, unsigned threads) {
      peers::sign_ct<<<blocks, threads>>>(digests_.device->bytes, secrets_.device, made_.device, flags(),
                                          count_);
    });
    time(
        "verify", [&] { digests_.upload(), points_.upload(), sent_.upload(); }, verdicts_,
        [&](unsigned blocks, unsigned threads) {
          peers::verify<<<blocks, threads>>>(digests_.device->bytes, points_.device, sent_.device->bytes,
                                             flags(), count_);
        });
  }

 private:
  Driver& driver_;
  std::uint32_t count_;
  Array<lib::Scalar> secrets_, nonces_;
  Array<lib::JacobianPoint> points_, results_;
  Array<Digest> digests_;
  Array<Signature> sent_;
  Array<lib::ECDSASignatureGPU> made_;
  Array<Compressed> keys_;
  Array<Verdict> verdicts_;

  [[nodiscard]] bool* flags() const { return reinterpret_cast<bool*>(verdicts_.device); }

  /// Time kernels in the faster blocks of two sizes. `in` copies the operands, as calls from the host do.
  template <typename Out>
  void time(const std::string& name, const std::function<void()>& in, Out& out,
            const std::function<void(unsigned, unsigned)>& kernels) {
    unsigned best_threads = 0;
    double best = 0;
    const auto queue = [&](unsigned threads) {
      kernels((count_ + threads - 1) / threads, threads);
      check(cudaGetLastError(), name.c_str());
    };
    check(cudaMemset(out.device, 0, out.bytes()), "clear");
    for (const unsigned threads : {kThreads / 2, kThreads}) {
      queue(threads);
      const double taken = milliseconds([&] { queue(threads); });
      if (best_threads == 0 || taken < best) best = taken, best_threads = threads;
    }
    const auto kernel_times = driver_.repeat([&] { return milliseconds([&] { queue(best_threads); }); });
    const auto call_times =
        driver_.repeat([&] { return call_milliseconds([&] { in(), queue(best_threads), out.download(); }); });
    const std::size_t distinct = std::min<std::size_t>(driver_.rows().size(), count_),
                      size = sizeof out.host[0];
    std::int64_t differing = -1;
    for (std::size_t i = distinct; i < count_ && differing < 0; ++i) {
      if (std::memcmp(&out.host[i], &out.host[i % distinct], size) != 0)
        differing = static_cast<std::int64_t>(i);
    }
    const std::string results(reinterpret_cast<const char*>(out.host.data()), distinct * size);
    driver_.report(name, count_, std::to_string(best_threads) + " threads", kernel_times, call_times, results,
                   differing);
  }
};

void measure(Driver& driver) {
  for (const std::uint32_t count : driver.items()) Batch(driver, count).measure();
}

}  // namespace
}  // namespace peers

int main(int count, char** arguments) { return peers::run_driver(count, arguments, peers::measure); }
