// SPDX-License-Identifier: Apache-2.0
#include "modmul/device/technique.hpp"
#include "modmul/fios/multiplier.cuda.hpp"
#include "modmul/fios/shapes.cuda.hpp"

namespace manymod::device {

std::span<const Technique> fios() {
#define FORM(form, threads, per_thread, block, blocks)                                                       \
  make_shape<fios::form::Multiplier, threads, per_thread>("fios_" #form "_" #threads "x" #per_thread, block, \
                                                          blocks),
#define SHAPE(...) FORM(radix16_registers, __VA_ARGS__)
  static constexpr Shape kRadix16Registers[] = {MM_FIOS_RADIX16_REGISTERS_SHAPES(SHAPE)};
#undef SHAPE
#define SHAPE(...) FORM(radix16_shared, __VA_ARGS__)
  static constexpr Shape kRadix16Shared[] = {MM_FIOS_RADIX16_SHARED_SHAPES(SHAPE)};
#undef SHAPE
#define SHAPE(...) FORM(radix16_local, __VA_ARGS__)
  static constexpr Shape kRadix16Local[] = {MM_FIOS_RADIX16_LOCAL_SHAPES(SHAPE)};
#undef SHAPE
#define SHAPE(...) FORM(radix32_registers, __VA_ARGS__)
  static constexpr Shape kRadix32Registers[] = {MM_FIOS_RADIX32_REGISTERS_SHAPES(SHAPE)};
#undef SHAPE
#define SHAPE(...) FORM(radix32_shared, __VA_ARGS__)
  static constexpr Shape kRadix32Shared[] = {MM_FIOS_RADIX32_SHARED_SHAPES(SHAPE)};
#undef SHAPE
#define SHAPE(...) FORM(radix32_local, __VA_ARGS__)
  static constexpr Shape kRadix32Local[] = {MM_FIOS_RADIX32_LOCAL_SHAPES(SHAPE)};
#undef SHAPE
#undef FORM
  static const Technique kForms[] = {
      {"fios", "fios.radix16_registers",
       "finely integrated operand scanning, radix 2^16, operands in registers", 10, kRadix16Registers},
      {"fios", "fios.radix16_shared",
       "finely integrated operand scanning, radix 2^16, operands in shared memory", 10, kRadix16Shared},
      {"fios", "fios.radix16_local",
       "finely integrated operand scanning, radix 2^16, operands in local memory", 10, kRadix16Local},
      {"fios", "fios.radix32_registers",
       "finely integrated operand scanning, radix 2^32, operands in registers", 10, kRadix32Registers},
      {"fios", "fios.radix32_shared",
       "finely integrated operand scanning, radix 2^32, operands in shared memory", 10, kRadix32Shared},
      {"fios", "fios.radix32_local",
       "finely integrated operand scanning, radix 2^32, operands in local memory", 10, kRadix32Local}};
  return kForms;
}

}  // namespace manymod::device
