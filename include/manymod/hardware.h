/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hardware.h
 * @brief C ABI of manymod: variants, tuning tables, devices and their memory. manymod.h includes it and
 * states the conventions.
 */
#ifndef MANYMOD_HARDWARE_H
#define MANYMOD_HARDWARE_H

#include <stddef.h>
#include <stdint.h>

#include "manymod/status.h"
#include "manymod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where a variant runs. */
typedef enum mm_backend { MM_BACKEND_CPU = 0, MM_BACKEND_CUDA = 1, MM_BACKEND_OPENCL = 2 } mm_backend;

/** Bits of mm_variant_info.traits. */
typedef enum mm_variant_trait {
  MM_VARIANT_COMPARISON_ONLY = 1, /**< registered for comparison: selected by its name or a tuning row only */
  MM_VARIANT_WANTS_FAST_DOUBLES = 2 /**< not selected for a GPU whose FP64 is much slower than its FP32 */
} mm_variant_trait;

/** A registered variant: technique, backend and shape. Strings live as long as the process. */
typedef struct mm_variant_info {
  size_t struct_size;    /**< set by the caller to sizeof(mm_variant_info); no more bytes are written */
  const char* name;      /**< "scalar64.adx" */
  const char* technique; /**< "scalar64" */
  mm_backend backend;
  unsigned public_ops;           /**< bit 1 << op is set if the variant offers mm_op `op` variable-time */
  unsigned secret_ops;           /**< the same for constant-time operations */
  size_t min_bits, max_bits;     /**< range of modulus widths */
  unsigned instances;            /**< instances that one thread or thread group computes side by side */
  unsigned threads_per_instance; /**< 1 on CPUs; threads of a group on GPUs */
  const char* needs;             /**< required hardware features: "bmi2 adx"; "" for none */
  const char* summary;           /**< one line of text */
  int usable;                    /**< 1 if the variant can run on this machine */
  const char* reason;            /**< why it is not usable; "" if it is */
  unsigned shared_modulus_ops; /**< those of its operations that it computes in variable time only for several
                                  items with one shared modulus */
  uint64_t traits;             /**< mm_variant_trait bits */
} mm_variant_info;

/** @return the number of registered variants, constant for a build */
MM_API size_t mm_variant_count(void);
/**
 * Describe a variant.
 * @param index less than mm_variant_count()
 * @param info  receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for index >= mm_variant_count() or an invalid struct_size
 */
MM_API mm_status mm_variant_get(size_t index, mm_variant_info* info);

/**
 * Use the rows of a tuning file (docs/environment.md) instead of the built-in ones for plans that are created
 * from now on, in the whole process. Rows that name unknown variants are skipped, see mm_tuning_info.notes.
 * @param path NULL restores the built-in rows
 * @return MM_OK; MM_ERR_TUNING for a missing or malformed file, in which case nothing changes
 */
MM_API mm_status mm_tuning_load(const char* path);

/** The tuning table in use. Strings live as long as the process. */
typedef struct mm_tuning_info {
  size_t struct_size;    /**< set by the caller to sizeof(mm_tuning_info); no more bytes are written */
  const char* source;    /**< path of the file; "" for the built-in rows alone */
  const char* processor; /**< the processor on which it was measured */
  const char* date;      /**< the date of the measurement */
  const char* notes;     /**< the parts of the file that were skipped and why, one line each; "" for none */
  size_t rows;           /**< number of rows */
} mm_tuning_info;

/**
 * Describe the tuning table in use.
 * @param info receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size; MM_ERR_TUNING if MANYMOD_TUNING
 * names a bad file
 */
MM_API mm_status mm_tuning_get_info(mm_tuning_info* info);

/** One row of a tuning table. Among the rows that match the operation, timing class and width, the first one
 * whose variant can run and whose min_items does not exceed the number of items is the dispatcher's choice.
 * Strings live as long as the process. */
typedef struct mm_tuning_row {
  size_t struct_size; /**< set by the caller to sizeof(mm_tuning_row); no more bytes are written */
  mm_op op;
  mm_timing timing;
  size_t min_bits, max_bits; /**< range of modulus widths */
  size_t min_items;          /**< least number of items, of moduli of one length, that the row applies to */
  const char* variant;       /**< name of the variant */
  const char* evidence;      /**< the measurement that the row rests on */
} mm_tuning_row;

/**
 * Describe a row of the tuning table in use. Each call reads the table in use at that moment: if another
 * thread loads a table between mm_tuning_get_info and the last mm_tuning_get, the rows may come from
 * different tables, which a second mm_tuning_get_info reveals by another `notes` pointer. Returned strings
 * stay valid.
 * @param index less than mm_tuning_info.rows, in the order of the table
 * @param row   receives the row
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for index >= mm_tuning_info.rows or an invalid struct_size;
 * MM_ERR_TUNING
 */
MM_API mm_status mm_tuning_get(size_t index, mm_tuning_row* row);

/** A device: the CPU or a GPU. Strings live as long as the process. */
typedef struct mm_device_info {
  size_t struct_size; /**< set by the caller to sizeof(mm_device_info); no more bytes are written */
  const char* name;   /**< name for mm_plan_options.device: "cpu"; "cuda:0" and "opencl:0" for the
                         devices with device index 0 of these backends */
  const char* model;  /**< "Intel(R) Xeon(R) Processor" */
  mm_backend backend;
  const char* features; /**< separated by spaces. Of a CPU, instruction-set features: "bmi2 adx avx2 avx512f
                           avx512ifma", and last "unknown-in-MANYMOD_HIDE_CPU:NAME" for each name in that
                           variable that is not a feature. Of a CUDA device, the compute capability: "sm_90".
                           Of an OpenCL device: "cpu", or "gpu" for all others */
  unsigned units; /**< CPUs that this process may use, or multiprocessors or compute units of the GPU; 0 if
                     unknown */
  uint64_t memory_bytes; /**< physical memory; 0 if unknown */
  const char* obstacle;  /**< why the device is not usable; "" if it is */
  unsigned device_index; /**< K of "cuda:K", as in mm_call, and of "opencl:K"; 0 for the CPU */
} mm_device_info;

/** @return the number of devices, constant for a process: 1 for the CPU, plus the GPUs found */
MM_API size_t mm_device_count(void);
/**
 * Describe the device at a position in the list of devices.
 * @param position 0 for the CPU; the GPUs follow by device index
 * @param info     receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for position >= mm_device_count() or an invalid struct_size
 */
MM_API mm_status mm_device_get(size_t position, mm_device_info* info);

/** CUDA support of this build and this machine. Strings live as long as the process. */
typedef struct mm_cuda_info {
  size_t struct_size;   /**< set by the caller to sizeof(mm_cuda_info); no more bytes are written */
  int built;            /**< 1 if the library contains code for CUDA devices */
  const char* driver;   /**< newest CUDA version that the driver supports: "13.0"; "" without a driver */
  const char* obstacle; /**< why there is no CUDA device; "" if there is one */
} mm_cuda_info;

/**
 * Describe the CUDA support.
 * @param info receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size
 */
MM_API mm_status mm_cuda_get_info(mm_cuda_info* info);

/** OpenCL support of this machine. Strings live as long as the process. */
typedef struct mm_opencl_info {
  size_t struct_size;   /**< set by the caller to sizeof(mm_opencl_info); no more bytes are written */
  const char* version;  /**< newest OpenCL version of a device: "3.0"; "" without a device */
  const char* obstacle; /**< why there is no OpenCL device; "" if there is one */
} mm_opencl_info;

/**
 * Describe the OpenCL support. This loads the OpenCL drivers, as mm_device_count, mm_device_get and
 * mm_variant_get do: children that are forked off afterwards cannot use OpenCL devices.
 * @param info receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size
 */
MM_API mm_status mm_opencl_get_info(mm_opencl_info* info);

/**
 * Allocate memory on a CUDA device, for programs without a CUDA library of their own. The memory is aligned
 * to 256 bytes and not initialised.
 * @param device_index device index: K for "cuda:K"
 * @param bytes        size of the memory
 * @param address      receives the address, to be freed by mm_device_free; NULL on failure and for 0 bytes
 * @return MM_OK; MM_ERR_NULL; MM_ERR_UNKNOWN_DEVICE; MM_ERR_DEVICE; MM_ERR_MEMORY
 */
MM_API mm_status mm_device_allocate(unsigned device_index, size_t bytes, void** address);

/**
 * Wait for all work on the device, then zero and free memory of mm_device_allocate.
 * @param device_index the device that it was allocated on
 * @param address      the address, or NULL
 * @return MM_OK; MM_ERR_ARGUMENT for an address that mm_device_allocate did not return or that is freed
 * already; else as mm_device_allocate
 */
MM_API mm_status mm_device_free(unsigned device_index, void* address);

/** Direction of mm_device_copy. */
typedef enum mm_copy_direction {
  MM_COPY_TO_DEVICE = 0, /**< from host memory to the device */
  MM_COPY_TO_HOST = 1,   /**< from the device to host memory */
  MM_COPY_ON_DEVICE = 2  /**< from the device to the same device */
} mm_copy_direction;

/**
 * Copy bytes on the legacy default stream and return when the copy is complete. Device addresses may point
 * anywhere into the device's memory, whichever library allocated it.
 * @param device_index device index: K for "cuda:K"
 * @param to           destination, of `bytes` bytes; may be NULL for 0 bytes
 * @param from         source, of `bytes` bytes, which must not overlap the destination; may be NULL for 0
 * bytes
 * @param bytes        how much
 * @param direction    which of the two addresses are the device's
 * @return MM_OK; MM_ERR_ARGUMENT for an unknown direction or a device address that is not in the device's
 * memory; else as mm_device_allocate
 */
MM_API mm_status mm_device_copy(unsigned device_index, void* to, const void* from, size_t bytes,
                                mm_copy_direction direction);

#ifdef __cplusplus
}
#endif
#endif
