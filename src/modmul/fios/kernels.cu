// SPDX-License-Identifier: Apache-2.0
#include "modmul/device/kernel.cuh"
#include "modmul/fios/multiplier.cuda.hpp"
#include "modmul/fios/shapes.cuda.hpp"

#define KERNEL(form, threads, per_thread, block, blocks) \
  MM_DEVICE_KERNEL(fios_##form##_##threads##x##per_thread, fios::form, threads, per_thread, block, blocks)

#define SHAPE(...) KERNEL(radix16_registers, __VA_ARGS__)
MM_FIOS_RADIX16_REGISTERS_SHAPES(SHAPE)
#undef SHAPE
#define SHAPE(...) KERNEL(radix16_shared, __VA_ARGS__)
MM_FIOS_RADIX16_SHARED_SHAPES(SHAPE)
#undef SHAPE
#define SHAPE(...) KERNEL(radix16_local, __VA_ARGS__)
MM_FIOS_RADIX16_LOCAL_SHAPES(SHAPE)
#undef SHAPE
#define SHAPE(...) KERNEL(radix32_registers, __VA_ARGS__)
MM_FIOS_RADIX32_REGISTERS_SHAPES(SHAPE)
#undef SHAPE
#define SHAPE(...) KERNEL(radix32_shared, __VA_ARGS__)
MM_FIOS_RADIX32_SHARED_SHAPES(SHAPE)
#undef SHAPE
#define SHAPE(...) KERNEL(radix32_local, __VA_ARGS__)
MM_FIOS_RADIX32_LOCAL_SHAPES(SHAPE)
#undef SHAPE
#undef KERNEL
