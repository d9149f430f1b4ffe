// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/error.hpp"

namespace manymod::cuda {

Fault fault_of(Result result) {
  switch (result) {
    case 2:  // CUDA_ERROR_OUT_OF_MEMORY
      return Fault::out_of_memory;
    case 34:   // CUDA_ERROR_STUB_LIBRARY
    case 802:  // CUDA_ERROR_SYSTEM_NOT_READY
    case 803:  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    case 804:  // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
      return Fault::no_driver;
    case 36:   // CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
    case 222:  // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
      return Fault::driver_too_old;
    case 46:   // CUDA_ERROR_DEVICE_UNAVAILABLE
    case 100:  // CUDA_ERROR_NO_DEVICE
    case 101:  // CUDA_ERROR_INVALID_DEVICE
      return Fault::no_device;
    case 200:  // CUDA_ERROR_INVALID_IMAGE
    case 209:  // CUDA_ERROR_NO_BINARY_FOR_GPU
    case 218:  // CUDA_ERROR_INVALID_PTX
    case 221:  // CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    case 223:  // CUDA_ERROR_JIT_COMPILATION_DISABLED
      return Fault::no_device_code;
    case 4:    // CUDA_ERROR_DEINITIALIZED
    case 201:  // CUDA_ERROR_INVALID_CONTEXT
    case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
    case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
    case 226:  // CUDA_ERROR_CONTAINED
    case 700:  // CUDA_ERROR_ILLEGAL_ADDRESS
    case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
    case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
    case 710:  // CUDA_ERROR_ASSERT
    case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
    case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
    case 716:  // CUDA_ERROR_MISALIGNED_ADDRESS
    case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
    case 718:  // CUDA_ERROR_INVALID_PC
    case 719:  // CUDA_ERROR_LAUNCH_FAILED
    case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK
    case 810:  // CUDA_ERROR_MPS_CLIENT_TERMINATED
    case 999:  // CUDA_ERROR_UNKNOWN
      return Fault::lost;
    default:
      return Fault::other;
  }
}

}  // namespace manymod::cuda
