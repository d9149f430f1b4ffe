// SPDX-License-Identifier: Apache-2.0
#include "support/fake_cuda/ecc_kernels.hpp"

#include <string>

#include "ecc/cuda/any_curve.cuda.hpp"
#include "ecc/cuda/any_sums.cuda.hpp"
#include "ecc/cuda/buckets.cuda.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/decoding.cuda.hpp"
#include "ecc/cuda/ecdsa.cuda.hpp"
#include "ecc/cuda/eddsa.cuda.hpp"
#include "ecc/cuda/edwards_sums.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"
#include "ecc/cuda/rows.cuda.hpp"
#include "ecc/cuda/schnorr.cuda.hpp"
#include "ecc/cuda/sums.cuda.hpp"
#include "support/fake_cuda/kernels.hpp"

namespace fake_cuda {
namespace {

using namespace manymod::ecc::cuda;  // NOLINT(google-build-using-namespace)

/// A kernel each of whose threads has a chain of items.
template <class Job>
void add_chain_kernel(const std::string& name,
                      void (*function)(const BlockOfOne& block, const Job& job, std::uint32_t thread)) {
  add_kernel(name.c_str(), [function](const Launch& launch, void** parameters) {
    for_each_thread(launch, [&](const Thread& thread) {
      const auto& job = argument<Job>(parameters);
      // One surplus thread is enough.
      if (thread.index <= job.threads) function({}, job, thread.index);
    });
  });
}

template <class Job>
void add_kernel_of_items(const std::string& name, void (*function)(const Job& job, std::uint32_t item)) {
  add_item_kernel(name.c_str(), function);
}

/// Its surplus threads compute item 0.
void add_base_kernel(const std::string& name,
                     void (*function)(const PointJob& job, std::uint32_t item, bool stores)) {
  add_kernel(name.c_str(), [function](const Launch& launch, void** parameters) {
    for_each_thread(launch, [&](const Thread& thread) {
      const auto& job = argument<PointJob>(parameters);
      const bool inside = thread.index < job.count;
      // One surplus thread is enough.
      if (thread.index <= job.count) function(job, inside ? thread.index : 0, inside);
    });
  });
}

/// Arithmetic modulo the order.
template <class C>
void add_scalar_kernels(const std::string& name) {
  add_chain_kernel(name + "_sign", &sign<C, BlockOfOne>);
  add_chain_kernel(name + "_scalars", &verification_scalars<C, BlockOfOne>);
  add_kernel_of_items(name + "_combine", &combine_scalars<C>);
}

template <class Sums>
void add_sums(const std::string& name) {
  add_kernel_of_items(name + "_terms", &sum_terms<Sums>);
  add_kernel_of_items(name + "_points", &sum_points<Sums>);
}

template <class C, class Hash>
void add_hashes(const std::string& name) {
  add_kernel_of_items(name + "_digest", &digest_strings<Hash>);
  add_kernel_of_items(name + "_nonce", &derive_nonce<C, Hash>);
  add_kernel_of_items(name + "_hedged", &derive_nonce<C, Hash, NonceJob::kExtraBytes>);
}

template <class C>
void add_curve(const std::string& name) {
  add_base_kernel(name + "_base", &multiply_base<C>);
  add_kernel_of_items(name + "_multiply", &multiply<C>);
  add_kernel_of_items(name + "_two", &multiply_two<C>);
  add_kernel_of_items(name + "_check", &check_point<C>);
  add_chain_kernel(name + "_affine", &normalise<C, BlockOfOne>);
  add_sums<JacobianSums<C>>(name);
  add_scalar_kernels<C>(name);
  add_kernel_of_items(name + "_decode", &decode_compressed<C>);
  add_kernel_of_items(name + "_compare", &compare_x<C>);
}

template <class C, class Hash>
void add_any_curve(const std::string& name) {
  add_base_kernel(name + "_base", &multiply_base_any<C>);
  add_kernel_of_items(name + "_multiply", &multiply_any<C>);
  add_kernel_of_items(name + "_two", &multiply_two_any<C>);
  add_kernel_of_items(name + "_check", &check_point_any<C>);
  add_chain_kernel(name + "_affine", &normalise_any<C, BlockOfOne>);
  add_sums<AnySums<C>>(name);
  add_scalar_kernels<C>(name);
  add_kernel_of_items(name + "_decode", &decode_compressed_any<C>);
  add_kernel_of_items(name + "_compare", &compare_x_any<C>);
  add_hashes<C, Hash>(name);
}

}  // namespace

void install_ecc_kernels() {
  add_any_curve<Any256, Sha256>("ecc_any256");
  add_any_curve<Any384, Sha384>("ecc_any384");
  add_any_curve<Any512, Sha512>("ecc_any512");
  add_any_curve<Any640, Sha512>("ecc_any640");
  add_curve<P256>("ecc_p256");
  add_curve<P384>("ecc_p384");
  add_curve<P521>("ecc_p521");
  add_curve<Secp256k1>("ecc_secp256k1");
  add_curve<Sm2>("ecc_sm2");
  add_hashes<P256, Sha256>("ecc_p256");
  add_hashes<P384, Sha384>("ecc_p384");
  add_hashes<P521, Sha512>("ecc_p521");
  add_hashes<Secp256k1, Sha256>("ecc_secp256k1");
  add_base_kernel("ecc_ed25519_base", &multiply_base_edwards<Edwards25519>);
  add_kernel_of_items("ecc_ed25519_multiply", &multiply_edwards<Edwards25519>);
  add_kernel_of_items("ecc_ed25519_two", &multiply_two_edwards<Edwards25519>);
  add_chain_kernel("ecc_ed25519_affine", &normalise_projective<Edwards25519, BlockOfOne>);
  add_chain_kernel("ecc_x25519_affine", &normalise_projective<Edwards25519, BlockOfOne>);
  add_kernel_of_items("ecc_x25519_ladder", &ladder25519<Edwards25519>);
  add_sums<EdwardsSums<Edwards25519>>("ecc_ed25519");
  add_kernel_of_items("ecc_ed25519_expand", &expand_key<Edwards25519>);
  add_kernel_of_items("ecc_ed25519_hash", &hash_to_scalar<Edwards25519>);
  add_kernel_of_items("ecc_ed25519_combine", &combine_scalars<Edwards25519>);
  add_kernel_of_items("ecc_ed25519_decode", &decode_opposite<Edwards25519>);
  add_kernel_of_items("ecc_ed25519_cofactored", &compare_cofactored<Edwards25519>);
  add_kernel_of_items("ecc_rows_read", &read_number);
  add_kernel_of_items("ecc_rows_equal", &check_equal);
  add_kernel_of_items("ecc_rows_even", &make_even);
  add_kernel_of_items("ecc_secp256k1_hash", &hash_to_number<Secp256k1, Sha256>);
  add_hashes<Sm2, Sm3>("ecc_sm2");
  add_chain_kernel("ecc_sm2_dsa_sign", &sign_sm2<Sm2, BlockOfOne>);
  add_kernel_of_items("ecc_sm2_hash", &hash_to_number<Sm2, Sm3>);
  add_kernel_of_items("ecc_rows_gather", &gather_strings);
  add_kernel_of_items("ecc_rows_tag", &read_tag);
  add_kernel_of_items("ecc_rows_write", &write_strings);
  add_kernel_of_items("ecc_rows_not_zero", &check_not_zero);
  add_kernel_of_items("ecc_rows_same", &check_same);
  add_kernel_of_items("ecc_rows_digits", &sort_digits);
  add_kernel_of_items("ecc_rows_pieces", &cut_group);
  add_kernel_of_items("ecc_rows_bits", &refer_bits);
}

}  // namespace fake_cuda
