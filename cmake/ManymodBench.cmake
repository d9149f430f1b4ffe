# SPDX-License-Identifier: Apache-2.0
# bench/cpp: one Google Benchmark program.
include(ManymodThirdParty)

file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cpp/*.cpp")
if(bench_sources)
  manymod_need_benchmark()
  add_executable(manymod_bench ${bench_sources})
  manymod_configure_target(manymod_bench)
  target_include_directories(manymod_bench PRIVATE bench/cpp)
  target_link_libraries(manymod_bench PRIVATE
    manymod_static manymod_internal benchmark::benchmark benchmark::benchmark_main)
endif()
