// SPDX-License-Identifier: Apache-2.0
#include "python/list_sums.hpp"

#include "core/modulus_class.hpp"
#include "python/buffer.hpp"
#include "repr/carry_chains.hpp"

namespace manymod::python {
namespace {

// Number of items by which objects and limbs, which are scattered over the heap, are prefetched.
constexpr std::size_t kAheadObject = 24;
constexpr std::size_t kAheadLimbs = 8;
/// Longer sums and differences are faster on rows, as measured at 64 limbs: half of them take two passes over
/// the result, whose memory is not in the caches.
constexpr std::size_t kMostLimbs = 40;

}  // namespace

MpzOperand::MpzOperand(const nb::tuple& description, const Gmpy2& gmpy2) : gmpy2_(gmpy2) {
  if (!description[0].is_none()) {
    sequence_ = nb::borrow(description[0]);
    return;
  }
  const LimbArray limbs(description[1], Access::read, "limbs");
  const ByteVector sign(description[2], Access::read, limbs.count(), "signs");
  const std::size_t size = limbs::normalized_size_var({limbs.row(0), limbs.width()});
  single_.assign(limbs.row(0), limbs.row(0) + size);
  single_is_negative_ = sign.data() != nullptr && sign.data()[0] != 0;
}

void MpzOperand::open(std::size_t count) {
  if (!sequence_.is_valid()) return;
  if (PySequence_Size(sequence_.ptr()) < static_cast<Py_ssize_t>(count)) {
    throw nb::value_error("the sequence changed during the call");
  }
  elements_.emplace(sequence_.ptr());
  count_ = count;
}

void MpzOperand::prefetch(std::size_t object, std::size_t limbs) const {
  if (!elements_) return;
  if (object < count_) prefetch_int((*elements_)[static_cast<Py_ssize_t>(object)]);
  if (limbs >= count_) return;
  PyObject* const value = (*elements_)[static_cast<Py_ssize_t>(limbs)];
  if (gmpy2_.is_mpz(value)) prefetch_mpz_limbs(value);
}

bool MpzOperand::read(std::size_t item, std::span<const Limb>& limbs) const {
  if (!elements_) {
    limbs = single_;
    return !single_is_negative_;
  }
  PyObject* const value = (*elements_)[static_cast<Py_ssize_t>(item)];
  if (!gmpy2_.is_mpz(value)) return false;
  const auto* const mpz = reinterpret_cast<const MpzObject*>(value);
  if (mpz->size < 0) return false;
  limbs = {mpz->limbs, static_cast<std::size_t>(mpz->size)};
  return true;
}

bool MpzOperand::read_residue(std::size_t item, std::span<const Limb> n, std::span<const Limb>& limbs) {
  if (!read(item, limbs) || limbs.size() > n.size()) return false;
  if (limbs.size() < n.size()) {
    extended_.resize(n.size());
    limbs::copy_extend(extended_, limbs);
    limbs = extended_;
  }
  return limbs::less_var(limbs, n);
}

std::optional<ListSums> ListSums::of(mm_op op, std::size_t modulus_bits, const nb::tuple& operands,
                                     const nb::tuple& modulus) {
  const Gmpy2* const gmpy2 = Gmpy2::loaded();
  if (op != MM_OP_ADDMOD && op != MM_OP_SUBMOD && op != MM_OP_NEGMOD) return std::nullopt;
  if (gmpy2 == nullptr || !gmpy2->writes_directly()) return std::nullopt;
  ListSums sums(op, modulus_bits, *gmpy2);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    sums.operands_.emplace_back(nb::cast<nb::tuple>(operands[i]), *gmpy2);
  }
  sums.operands_.emplace_back(modulus, *gmpy2);
  return sums;
}

std::size_t ListSums::run(std::size_t first, std::size_t stop, ElementWriter& results, std::uint8_t* status) {
  for (MpzOperand& operand : operands_) operand.open(stop);
  for (std::size_t i = first; i < stop; ++i) {
    for (const MpzOperand& operand : operands_) operand.prefetch(i + kAheadObject, i + kAheadLimbs);
    if (!compute(i, results)) return i;
    status[i] = MM_OK;
  }
  return stop;
}

/// Compute an item and append it, unless it needs more. @return whether it was computed
bool ListSums::compute(std::size_t item, ElementWriter& results) {
  std::span<const Limb> x;
  std::span<const Limb> y;
  std::span<const Limb> n;
  if (!operands_.back().read(item, n) || n.empty()) return false;
  if (op_ != MM_OP_NEGMOD && n.size() > kMostLimbs) return false;
  const ModulusFact fact = modulus_fact(n.size(), n.front(), n.back(), modulus_bits_, false);
  if (fact.modulus_class != ModulusClass::compute) return false;
  if (!operands_.front().read_residue(item, n, x)) return false;
  if (op_ != MM_OP_NEGMOD && !operands_[1].read_residue(item, n, y)) return false;
  PyObject* const value = results.append(gmpy2_.reserve(n.size()));
  const std::span<Limb> r(Gmpy2::limbs_of(value), n.size());
  switch (op_) {
    case MM_OP_ADDMOD:
      limbs::add_residues_var(r, x, y, n);
      break;
    case MM_OP_SUBMOD:
      limbs::subtract_residues_var(r, x, y, n);
      break;
    default:
      limbs::negate_residue_var(r, x, n);
  }
  Gmpy2::finish(value, n.size(), false);
  return true;
}

}  // namespace manymod::python
