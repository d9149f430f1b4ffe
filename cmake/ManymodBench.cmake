# SPDX-License-Identifier: Apache-2.0
# bench/cpp: one Google Benchmark program. bench/cuda: the CUDA kernels' own, which needs no other library.
option(MANYMOD_BENCH_CPU "With the benchmarks, build manymod_bench, which needs Google Benchmark" ON)

if(MANYMOD_BENCH_CPU)
  include(ManymodThirdParty)
  file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cpp/*.cpp")
  manymod_need_benchmark()
  add_executable(manymod_bench ${bench_sources})
  manymod_configure_target(manymod_bench)
  target_include_directories(manymod_bench PRIVATE bench/cpp)
  target_link_libraries(manymod_bench PRIVATE
    manymod_static manymod_internal benchmark::benchmark benchmark::benchmark_main)
endif()

file(GLOB device_bench_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/*.cpp")
add_executable(device_kernels ${device_bench_sources})
manymod_configure_target(device_kernels)
target_link_libraries(device_kernels PRIVATE manymod_static manymod_internal)
set_target_properties(device_kernels PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")
