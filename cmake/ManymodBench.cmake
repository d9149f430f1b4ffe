# SPDX-License-Identifier: Apache-2.0
# bench/cpp: one Google Benchmark program. bench/cuda: the CUDA kernels' own, which needs no other library.
option(MANYMOD_BENCH_CPU "With the benchmarks, build manymod_bench, which needs Google Benchmark" ON)

if(MANYMOD_BENCH_CPU)
  include(ManymodThirdParty)
  file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cpp/*.cpp")
  if(NOT manymod_libcrypto)
    list(REMOVE_ITEM bench_sources bench/cpp/rsa_bench.cpp)
  endif()
  manymod_need_benchmark()
  add_executable(manymod_bench ${bench_sources})
  manymod_configure_target(manymod_bench)
  target_include_directories(manymod_bench PRIVATE bench/cpp)
  target_link_libraries(manymod_bench PRIVATE
    manymod_static manymod_internal benchmark::benchmark benchmark::benchmark_main)
endif()

# device_kernels has kernels of its own beside the library's.
if(manymod_cuda_on)
  set(bench_image "${CMAKE_CURRENT_BINARY_DIR}/bench/additions")
  manymod_compile_device("${CMAKE_CURRENT_SOURCE_DIR}/bench/cuda/additions.cu" "${bench_image}"
                         "${manymod_architectures}")
  file(GLOB device_bench_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/*.cpp")
  add_executable(device_kernels ${device_bench_sources} "${bench_image}.fatbin")
  set_source_files_properties(bench/cuda/addition_bench.cpp PROPERTIES
    COMPILE_DEFINITIONS "MM_BENCH_ADDITIONS=\"${bench_image}.fatbin\"" OBJECT_DEPENDS "${bench_image}.fatbin")
  manymod_configure_target(device_kernels)
  target_link_libraries(device_kernels PRIVATE manymod_static manymod_internal)
  set_target_properties(device_kernels PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")

  set(figure3_image "${CMAKE_CURRENT_BINARY_DIR}/bench/rns_figure3_kernels")
  manymod_compile_device("${CMAKE_CURRENT_SOURCE_DIR}/bench/cuda/rns_figure3/kernels.cu" "${figure3_image}"
                         "${manymod_architectures}")
  file(GLOB figure3_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/rns_figure3/*.cpp")
  add_executable(rns_figure3 ${figure3_sources} bench/cuda/timer.cpp "${figure3_image}.fatbin")
  set_source_files_properties(bench/cuda/rns_figure3/main.cpp PROPERTIES
    COMPILE_DEFINITIONS "MM_RNS_FIGURE3_IMAGE=\"${figure3_image}.fatbin\"" OBJECT_DEPENDS "${figure3_image}.fatbin")
  manymod_configure_target(rns_figure3)
  target_link_libraries(rns_figure3 PRIVATE manymod_static manymod_internal)
  set_target_properties(rns_figure3 PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")

  # Of instructions that sm_90a alone has.
  set(overlap_image "${CMAKE_CURRENT_BINARY_DIR}/bench/pipe_overlap_kernels")
  manymod_compile_device("${CMAKE_CURRENT_SOURCE_DIR}/bench/cuda/pipe_overlap/kernels.cu" "${overlap_image}" 90a)
  add_executable(pipe_overlap bench/cuda/pipe_overlap/main.cpp bench/cuda/timer.cpp "${overlap_image}.fatbin")
  set_source_files_properties(bench/cuda/pipe_overlap/main.cpp PROPERTIES
    COMPILE_DEFINITIONS "MM_PIPE_OVERLAP_IMAGE=\"${overlap_image}.fatbin\"" OBJECT_DEPENDS "${overlap_image}.fatbin")
  manymod_configure_target(pipe_overlap)
  target_link_libraries(pipe_overlap PRIVATE manymod_static manymod_internal)
  set_target_properties(pipe_overlap PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")
endif()

file(GLOB end_to_end_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/end_to_end/*.cpp")
add_executable(end_to_end ${end_to_end_sources})
manymod_configure_target(end_to_end)
target_link_libraries(end_to_end PRIVATE manymod_static)
set_target_properties(end_to_end PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")

if(manymod_libcrypto)
  add_executable(rsa_end_to_end bench/cuda/rsa_end_to_end/main.cpp)
  manymod_configure_target(rsa_end_to_end)
  target_link_libraries(rsa_end_to_end PRIVATE manymod_static ${manymod_libcrypto})
  set_target_properties(rsa_end_to_end PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")
endif()
