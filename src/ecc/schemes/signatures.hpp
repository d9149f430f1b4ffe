// SPDX-License-Identifier: Apache-2.0
// Signatures of two numbers r and s, ECDSA's and SM2's: reading them, making them, and writing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ecc/order.hpp"
#include "ecc/schemes/block.hpp"
#include "ecc/schemes/encodings.hpp"
#include "ecc/schemes/numbers.hpp"

namespace manymod::ecc {

/// Estimated nanoseconds of the stages without point arithmetic: a nonce of RFC 6979, and arithmetic modulo
/// n.
inline constexpr double kNonceNs = 2200;
inline constexpr double kOrderNs = 400;
/// What remains for a thread of the host if a GPU computes signing or verification whole
/// (ecc/device_schemes.hpp): conversions, and for signing the checks of secrets modulo n. Measured on an
/// H100.
inline constexpr double kHostOfSigningNs = 1250;
inline constexpr double kHostOfVerificationNs = 170;

/// The hash of a call's messages on a curve.
mm_hash hash_of(const Inputs& inputs, Task task, const Curve& curve);

/// Whether s <= n / 2 is asked for by an option of ECDSA: of signatures that are made and of those that are
/// verified.
bool wants_low_s(const Curve& curve, int low_s);

/// The highest recovery id: bit 0: y of k G is odd; bit 1: its x is n or more.
inline constexpr std::uint8_t kMostRecoveryId = 3;
/// The x of k G for r and the recovery id of a signature: r or r + n; public. @return whether it is below p
bool nonce_coordinate(std::span<Limb> x, std::span<const Limb> r, std::uint8_t id, const Curve& curve);

/// A mask: whether 2 s > n; as n is odd, whether s > n / 2. Constant-time.
Limb is_high(std::span<const Limb> s, std::span<const Limb> n);

/// 1 if a >= n, else 0, for numbers of any lengths.
Limb at_least(std::span<const Limb> a, std::span<const Limb> n);

// ---- signatures that are read --------------------------------------------------------------------------

/// The numbers of a block of signatures, 1 for those that are none.
struct Signatures {
  Signatures(const Curve& curve, std::size_t count)
      : r(count, curve.scalar_limbs()), s(count, curve.scalar_limbs()), id(count) {}

  Rows r, s;
  std::vector<std::uint8_t> id;  ///< recovery ids, where the format has them
};

/// Reads the signatures of a block. Items whose bytes are not the encoding of two numbers 0 < r, s < n get
/// the status MM_ITEM_ECC_SIGNATURE.
Signatures read_signatures(const Curve& curve, const Inputs& inputs, const Block& block);

// ---- signatures that are made --------------------------------------------------------------------------

/// The numbers of a block of signatures.
struct Signing {
  Signing(const Curve& curve, const ItemsIn& secrets, const Block& block);

  Scalars secret;
  Rows message, k, r, s;
  Points point;                  ///< k G
  std::vector<std::uint8_t> id;  ///< recovery ids
};

/// The messages of signatures as numbers modulo n. For use by one thread at a time.
class SignedMessages {
 public:
  virtual ~SignedMessages() = default;
  /// Fills x.message; x.secret is known.
  virtual void read(Signing& x, const Block& block, const StopToken& stop) = 0;
};

/// Makes signatures. Schemes differ in their messages and in the equations of r and s.
class Signer : public BlockScheme {
 public:
  explicit Signer(const SchemeArguments& arguments);

  [[nodiscard]] double item_ns() const override;
  void compute(std::span<const std::size_t> items, const StopToken& stop) const override;

 protected:
  [[nodiscard]] const Order& order() const { return *order_; }

  [[nodiscard]] virtual std::unique_ptr<SignedMessages> messages() const = 0;
  /// The nonces, points and numbers of a block whose messages are known. `attempt`: how many nonces of the
  /// items were of no use. Results are undefined once `stop` was requested.
  virtual void make(Signing& x, const Block& block, Nonces& nonces, unsigned attempt,
                    const StopToken& stop) const;
  /// r from the points k G and the messages.
  virtual void compute_r(Rows& r, const Points& points, const Signing& x, std::size_t count) const = 0;
  /// s and the recovery ids from the other numbers.
  virtual void compute_s(Signing& x, std::size_t count) const = 0;
  /// k from r, s, the secrets and the messages: by the equation of verification, for the public key d G.
  virtual void recompute_k(Rows& k, const Signing& x, std::size_t count) const = 0;
  /// Whether r and s, which are not 0, are a signature that the call's format can tell. Public.
  [[nodiscard]] virtual bool is_signature_of(const Signing& x, std::size_t row) const = 0;

 private:
  const std::unique_ptr<const Order> order_;
  const bool check_;

  void sign(const Block& block, SignedMessages& messages, Nonces& nonces, unsigned attempt,
            const StopToken& stop) const;
  void retry(const std::vector<std::size_t>& items, SignedMessages& messages, Nonces& nonces,
             unsigned attempt, const StopToken& stop) const;
  [[nodiscard]] bool usable(const Signing& x, std::size_t row) const;
  [[nodiscard]] std::vector<std::size_t> items_without_signature(const Signing& x, const Block& block) const;
  void verify_again(const Signing& x, const Block& block, const StopToken& stop) const;
  [[nodiscard]] bool confirms_all(const Signing& x, const Rows& k, const Block& block,
                                  const StopToken& stop) const;
  [[nodiscard]] bool agree(const Signing& x, const Rows& r, std::size_t row) const;
  void reject_fault(const Signing& x, std::span<const Limb> r, Limb odd, const Block& block,
                    std::size_t row) const;
  void write(const Signing& x, const Block& block, std::span<const std::size_t> unusable) const;
  void write_one(std::size_t item, const Signing& x, std::size_t row) const;
};

}  // namespace manymod::ecc
