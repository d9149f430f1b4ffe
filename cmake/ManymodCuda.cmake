# SPDX-License-Identifier: Apache-2.0
# CUDA kernels: nvcc compiles each src/**/*.cu to a fat binary, which is embedded in the library. The library links no part
# of CUDA: it loads the driver when a caller first uses a device. CMake's CUDA language would need a working device
# toolchain at configuration and would link cudart.
#
#   MANYMOD_CUDA                ON, OFF, or AUTO: ON where the machine has an NVIDIA GPU and nvcc is found. The environment
#                               variable is the default
#   MANYMOD_CUDA_ARCHITECTURES  list such as 80;90a;100+ptx, or "all" for those of releases. Default: those of the machine's
#                               GPUs, or all if it has none
#   MANYMOD_COMPARISON_KERNELS  OFF leaves out the techniques that are only for comparison: half of the compilation
#   MANYMOD_NVCC                the compiler; CMake searches for it unless this is set

set(manymod_cuda_default AUTO)
if(NOT "$ENV{MANYMOD_CUDA}" STREQUAL "")
  set(manymod_cuda_default "$ENV{MANYMOD_CUDA}")
endif()
set(MANYMOD_CUDA "${manymod_cuda_default}" CACHE STRING "Compile the CUDA kernels: AUTO, ON or OFF")
set_property(CACHE MANYMOD_CUDA PROPERTY STRINGS AUTO ON OFF)
option(MANYMOD_COMPARISON_KERNELS "Compile the CUDA kernels of techniques that are only for comparison" ON)
set(manymod_comparison_techniques fios rns_float two_pass16)
set(manymod_release_architectures 80 86 89 90a 100+ptx 120)
set(manymod_least_nvcc 12.8)

# Find <program> on PATH or in an installed toolkit, else in the wheels that the Python package's build and tests depend
# on.
function(manymod_find_cuda_tool variable program what)
  # An earlier build in an isolated environment may have cached a program that is gone.
  if(${variable} AND NOT EXISTS "${${variable}}")
    unset(${variable} CACHE)
  endif()
  find_program(${variable} ${program} HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin
               DOC "${what}")
  if(NOT ${variable})
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
              "import nvidia, pathlib; print(*(d for p in nvidia.__path__ for d in sorted(pathlib.Path(p).glob('cu*/bin'))), sep=';')"
      OUTPUT_VARIABLE directories OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_program(${variable} ${program} HINTS ${directories} NO_DEFAULT_PATH)
  endif()
endfunction()

# Set <version_var> to nvcc's, or to "" if it cannot run.
function(manymod_nvcc_version version_var)
  execute_process(COMMAND "${MANYMOD_NVCC}" --version OUTPUT_VARIABLE output ERROR_QUIET)
  string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" found "${output}")
  set(${version_var} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# Architectures of this machine's GPUs; all where there are none.
function(manymod_default_architectures list_var)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE capabilities OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE outcome)
  set(list all)
  if(outcome EQUAL 0 AND capabilities MATCHES "^[0-9.\n]+$")
    string(REPLACE "." "" capabilities "${capabilities}")
    string(REPLACE "\n" ";" list "${capabilities}")
    list(REMOVE_DUPLICATES list)
    list(TRANSFORM list REPLACE "^90$" "90a")
  endif()
  set(${list_var} "${list}" PARENT_SCOPE)
endfunction()

# Compile <source> for <architectures>, separated by commas, to <base>.fatbin and a report <base>.json.
function(manymod_compile_device source base architectures)
  add_custom_command(
    OUTPUT "${base}.fatbin" "${base}.json"
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/cmake/compile_device.py"
            --nvcc "${MANYMOD_NVCC}" --architectures "${architectures}" ${manymod_nvcc_options}
            --include "${CMAKE_CURRENT_SOURCE_DIR}/src" --output "${base}.fatbin" --depfile "${base}.d"
            --resources "${base}.json" "${source}"
    DEPENDS "${source}" "${CMAKE_CURRENT_SOURCE_DIR}/cmake/compile_device.py"
    DEPFILE "${base}.d"
    COMMENT "CUDA kernels: ${source}"
    VERBATIM)
endfunction()

# Set <why_var> to why the kernels are not compiled, or to "" if they are. Stop with an error where they were asked for and
# cannot be compiled.
function(manymod_judge_cuda why_var)
  set(${why_var} "" PARENT_SCOPE)
  if(MANYMOD_CUDA MATCHES "^(AUTO|auto)$")
    # These files show a GPU that NVIDIA's kernel driver, or that of WSL, knows (tools/build_backend/cuda_compiler.py looks for
    # the same).
    file(GLOB gpus "/dev/nvidia0" "/proc/driver/nvidia/gpus/*" "/usr/lib/wsl/lib/libcuda.so.1")
    if(NOT gpus)
      set(${why_var} "this machine has no NVIDIA GPU; -DMANYMOD_CUDA=ON compiles them for other machines" PARENT_SCOPE)
      return()
    endif()
  elseif(NOT MANYMOD_CUDA)
    set(${why_var} "MANYMOD_CUDA is ${MANYMOD_CUDA}" PARENT_SCOPE)
    return()
  endif()
  manymod_find_cuda_tool(MANYMOD_NVCC nvcc "CUDA compiler")
  set(version "")
  if(MANYMOD_NVCC)
    manymod_nvcc_version(version)
  endif()
  set(manymod_nvcc_version "${version}" PARENT_SCOPE)
  if(NOT MANYMOD_NVCC)
    set(why "nvcc was not found")
  elseif(version STREQUAL "" OR version VERSION_LESS manymod_least_nvcc)
    set(why "${MANYMOD_NVCC} is not of CUDA ${manymod_least_nvcc} or newer")
  else()
    return()
  endif()
  string(APPEND why ". Install the CUDA toolkit, or its compiler by: pip install 'cuda-toolkit[nvcc,cudart,crt,nvvm]==13.0.*'")
  if(NOT MANYMOD_CUDA MATCHES "^(AUTO|auto)$")
    message(FATAL_ERROR "MANYMOD_CUDA is ${MANYMOD_CUDA}, but ${why}")
  endif()
  message(WARNING "This machine has an NVIDIA GPU that the build will not use, as ${why}")
  set(${why_var} "${why}" PARENT_SCOPE)
endfunction()

manymod_judge_cuda(manymod_cuda_why)
if(manymod_cuda_why STREQUAL "")
  set(manymod_cuda_on TRUE)
else()
  set(manymod_cuda_on FALSE)
endif()

set(manymod_device_dir "${CMAKE_CURRENT_BINARY_DIR}/device")
set(manymod_device_resources "")
set(manymod_fatbins "")
set(manymod_image_symbols "")
set(manymod_image_rows "")
set(manymod_architectures "")
set(manymod_architecture_rows "")
set(manymod_left_out_rows "")
if(manymod_cuda_on)
  if(NOT DEFINED MANYMOD_CUDA_ARCHITECTURES)
    manymod_default_architectures(manymod_architectures)
  endif()
  set(MANYMOD_CUDA_ARCHITECTURES "${manymod_architectures}" CACHE STRING
      "Architectures of the CUDA kernels, such as 80;90a;100+ptx, or all")
  set(manymod_nvcc_options "")
  if(MANYMOD_CUDA_ARCHITECTURES STREQUAL "all")
    set(manymod_architectures ${manymod_release_architectures})
  else()
    set(manymod_architectures ${MANYMOD_CUDA_ARCHITECTURES})
    set(manymod_nvcc_options --lineinfo)
  endif()
  foreach(architecture IN LISTS manymod_architectures)
    string(REGEX MATCH "^([0-9]+)([af]?)(\\+ptx)?$" matched "${architecture}")
    if(NOT matched)
      message(FATAL_ERROR "MANYMOD_CUDA_ARCHITECTURES has ${architecture}; name architectures like 90a, 80 or 100+ptx")
    endif()
    set(suffix 0)
    if(CMAKE_MATCH_2)
      set(suffix "'${CMAKE_MATCH_2}'")
    endif()
    set(ptx false)
    if(CMAKE_MATCH_3)
      set(ptx true)
    endif()
    string(APPEND manymod_architecture_rows "    {${CMAKE_MATCH_1}, ${suffix}, ${ptx}},\n")
  endforeach()
  list(JOIN manymod_architectures "," manymod_architectures)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)$" matched "${manymod_nvcc_version}")
  math(EXPR manymod_nvcc_number "1000 * ${CMAKE_MATCH_1} + 10 * ${CMAKE_MATCH_2}")
  message(STATUS "CUDA kernels: nvcc ${manymod_nvcc_version}, ${manymod_architectures}. They are most of the compilation: "
                 "MANYMOD_CUDA_ARCHITECTURES, MANYMOD_COMPARISON_KERNELS=OFF or MANYMOD_CUDA=OFF shorten it")

  file(GLOB_RECURSE manymod_device_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/src"
       "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cu")
  if(NOT MANYMOD_COMPARISON_KERNELS)
    foreach(technique IN LISTS manymod_comparison_techniques)
      list(FILTER manymod_device_sources EXCLUDE REGEX "^modmul/${technique}/")
      string(APPEND manymod_left_out_rows "    \"${technique}\",\n")
    endforeach()
  endif()
  foreach(source IN LISTS manymod_device_sources)
    string(REGEX REPLACE "^modmul/|\\.cu$" "" name "${source}")
    string(MAKE_C_IDENTIFIER "${name}" identifier)
    set(base "${manymod_device_dir}/${identifier}")
    manymod_compile_device("${CMAKE_CURRENT_SOURCE_DIR}/src/${source}" "${base}" "${manymod_architectures}")
    list(APPEND manymod_fatbins "${base}.fatbin")
    list(APPEND manymod_device_resources "${base}.json")
    string(APPEND manymod_image_symbols
           "MANYMOD_DEVICE_IMAGE(image_${identifier}, \"${base}.fatbin\")\n")
    string(APPEND manymod_image_rows "    manymod::cuda::DeviceImage{\"${name}\", image_${identifier}, "
                                     "static_cast<std::size_t>(image_${identifier}_end - image_${identifier})},\n")
  endforeach()
else()
  message(STATUS "CUDA kernels: none, as ${manymod_cuda_why}")
endif()

# Embed the images in <target>, with the functions that list them.
function(manymod_embed_device_code target)
  set(generated "${manymod_device_dir}/device_images.cpp")
  if(manymod_fatbins)
    set(template device_images.cpp.in)
  else()
    set(template no_device_images.cpp.in)
  endif()
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/${template}" "${generated}" @ONLY)
  # In a unity build the object of another source would not depend on the images.
  set_source_files_properties("${generated}" PROPERTIES OBJECT_DEPENDS "${manymod_fatbins}"
                              SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${generated}" ${manymod_fatbins})
endfunction()
