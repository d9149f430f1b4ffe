# SPDX-License-Identifier: Apache-2.0
# The benchmarks: manymod_bench (bench/cpp), which uses Google Benchmark, and the programs of bench/cuda.
option(MANYMOD_BENCH_CPU "With the benchmarks, build manymod_bench, which needs Google Benchmark" ON)
include(ManymodThirdParty)

if(MANYMOD_BENCH_CPU)
  file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cpp/*.cpp")
  if(NOT manymod_libcrypto)
    list(REMOVE_ITEM bench_sources bench/cpp/ecc_bench.cpp bench/cpp/schemes_bench.cpp bench/cpp/rsa_bench.cpp)
  endif()
  manymod_need_benchmark()
  manymod_split_by_isa(bench_sources bench_isa_sources)
  add_executable(manymod_bench ${bench_sources} ${bench_isa_sources})
  manymod_configure_target(manymod_bench)
  target_include_directories(manymod_bench PRIVATE bench/cpp)
  target_link_libraries(manymod_bench PRIVATE
    manymod_static manymod_internal benchmark::benchmark benchmark::benchmark_main)
endif()

manymod_need_json()
manymod_need_cli11()

# A program of bench/cuda, in the folder bench of the build.
function(manymod_add_device_program name)
  add_executable(${name} ${ARGN})
  manymod_configure_target(${name})
  target_link_libraries(${name} PRIVATE manymod_static nlohmann_json::nlohmann_json CLI11::CLI11)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")
endfunction()

# Compile <source> for <architectures> and let <user>, a source of <target>, embed the image that the macro <definition>
# names. <target> also uses the library's inner parts.
function(manymod_embed_kernels target user definition source architectures)
  set(image "${CMAKE_CURRENT_BINARY_DIR}/bench/${target}_kernels")
  manymod_compile_device("${CMAKE_CURRENT_SOURCE_DIR}/${source}" "${image}" "${architectures}")
  target_sources(${target} PRIVATE "${image}.fatbin")
  set_source_files_properties("${user}" PROPERTIES
    COMPILE_DEFINITIONS "${definition}=\"${image}.fatbin\"" OBJECT_DEPENDS "${image}.fatbin")
  target_link_libraries(${target} PRIVATE manymod_internal)
endfunction()

# These programs have kernels of their own, besides the library's.
if(manymod_cuda_on)
  file(GLOB device_bench_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/*.cpp")
  manymod_add_device_program(device_kernels ${device_bench_sources})
  manymod_embed_kernels(device_kernels bench/cuda/addition_bench.cpp MM_BENCH_ADDITIONS
                        bench/cuda/additions.cu "${manymod_architectures}")

  file(GLOB figure3_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/rns_figure3/*.cpp")
  manymod_add_device_program(rns_figure3 ${figure3_sources} bench/cuda/timer.cpp)
  manymod_embed_kernels(rns_figure3 bench/cuda/rns_figure3/main.cpp MM_RNS_FIGURE3_IMAGE
                        bench/cuda/rns_figure3/kernels.cu "${manymod_architectures}")

  manymod_add_device_program(fields bench/cuda/fields/main.cpp bench/cuda/timer.cpp)
  manymod_embed_kernels(fields bench/cuda/fields/main.cpp MM_FIELDS_IMAGE bench/cuda/fields/kernels.cu
                        "${manymod_architectures}")

  manymod_add_device_program(elementwise bench/cuda/elementwise/main.cpp bench/cuda/end_to_end/operands.cpp
                             bench/cuda/timer.cpp)
  target_link_libraries(elementwise PRIVATE manymod_internal)

  if(MANYMOD_COMPARISON_KERNELS)
    file(GLOB paper003_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/paper003/*.cpp")
    manymod_add_device_program(paper003 ${paper003_sources} bench/cuda/timer.cpp)
    manymod_embed_kernels(paper003 bench/cuda/paper003/main.cpp MM_PAPER003_IMAGE bench/cuda/paper003/kernels.cu
                          "${manymod_architectures}")
  endif()

  # Only sm_90a has the instructions of this program.
  manymod_add_device_program(pipe_overlap bench/cuda/pipe_overlap/main.cpp bench/cuda/timer.cpp)
  manymod_embed_kernels(pipe_overlap bench/cuda/pipe_overlap/main.cpp MM_PIPE_OVERLAP_IMAGE
                        bench/cuda/pipe_overlap/kernels.cu 90a)
endif()

file(GLOB end_to_end_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "bench/cuda/end_to_end/*.cpp")
manymod_add_device_program(end_to_end ${end_to_end_sources})

if(manymod_libcrypto)
  if(manymod_cuda_on)
    manymod_add_device_program(ecc bench/cuda/ecc/main.cpp bench/cuda/ecc/calls.cpp bench/cuda/ecc/oracle.cpp
                               bench/cuda/timer.cpp)
    target_link_libraries(ecc PRIVATE manymod_internal ${manymod_libcrypto})
  endif()
  manymod_add_device_program(rsa_end_to_end bench/cuda/rsa_end_to_end/main.cpp)
  target_link_libraries(rsa_end_to_end PRIVATE ${manymod_libcrypto})
endif()
