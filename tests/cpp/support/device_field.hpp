// SPDX-License-Identifier: Apache-2.0
// field/device.cuda.hpp on the host, in lockstep, as a backend of support/field_tests.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "field/device.cuda.hpp"
#include "field/field.hpp"
#include "support/device_multiplier.hpp"
#include "support/field_tests.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {

template <unsigned bits, unsigned threads, class Technique>
struct DeviceBackend {
  using Group = LockstepGroup<threads>;
  using Field = field::DeviceField<bits, threads, Technique, Group>;
  static_assert(field::Field<Field>);
  static constexpr std::size_t kCost = threads == 1 ? 2 : 16 * threads;
  static constexpr std::size_t kLimbs = (bits + 63) / 64;

  static std::string missing() { return ""; }
  static std::size_t max_bits() { return 32 * Field::kWords; }
  static std::size_t max_load_bits(std::size_t of) { return of <= 64 ? std::min(of, max_bits()) : of; }
  static std::size_t instances(std::size_t /*bits*/) { return 1; }
  static std::size_t radix_bits(std::size_t /*bits*/) { return Field::kRadixBits; }
  static naive::Limbs bound(const naive::Limbs& /*n*/, std::size_t /*bits*/, unsigned /*m*/) {
    return power_of_two_limbs(Field::kBoundBits, Field::kBoundBits / 64 + 1);
  }
  static integers::Words words(const naive::Limbs& x) { return {x.data(), static_cast<unsigned>(x.size())}; }

  struct Io {
    const Field& f;
    FieldOutputs& outputs;
    unsigned lane;
    using Element = typename Field::Element;

    void load(Element& r, const std::vector<naive::Limbs>& x) { f.from_limbs(r, words(x[0])); }
    void set_raw(Element& r, const std::vector<naive::Limbs>& x, unsigned m) {
      f.load(r, words(x[0]));
      field::Rules::set(r, m);
    }
    void store(std::size_t i, const Element& a) {
      naive::Limbs& r = outputs.numbers[i][0];
      f.to_limbs(integers::WordsOut(r.data(), static_cast<unsigned>(r.size())), a);
    }
    void flag(std::size_t i, std::uint32_t mask) {
      const int value = mask == 0 ? 0 : mask == ~std::uint32_t{0} ? 1 : -2;
      int& kept = outputs.flags[i][0];
      kept = kept == -1 || kept == value ? value : -3;  // all threads must have the same value
    }
  };

  template <class Body>
  static void with_field(const std::vector<naive::Limbs>& n, std::size_t /*bits*/, FieldOutputs& outputs,
                         Body body) {
    GuardedColumns memory(threads, Field::kSharedWords);
    run_lockstep<threads>([&](Group group) {
      const LaneMemory own{memory.column(group.lane()), memory.stride()};
      const Field f(words(n[0]), own, group);
      Io io{f, outputs, group.lane()};
      body(f, io);
    });
    EXPECT_TRUE(memory.guards_intact());
  }
};

struct DeviceFieldNames {
  template <class Backend>
  static std::string GetName(int index) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::to_string(Backend::max_bits()) + "bits_" + std::to_string(index);
  }
};

}  // namespace manymod::test
