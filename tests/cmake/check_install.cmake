# SPDX-License-Identifier: Apache-2.0
# Install the library to a scratch folder, move it to one with a space in its name, build users' projects against it, run
# them. A project in C alone gets both libraries, and without libcrypto the shared one. Configure a project that has the
# sources in a folder.
# With pkg-config, build a C program with the flags that it prints, for the shared and for the static library.
# With a CUDA compiler, compile the project of docs/device.md, whose only language is CUDA, and kernels with the
# installed headers alone.
# cmake -DBUILD=... -DWORK=... -DSOURCE=... [-DGENERATOR=...] [-DLIBCRYPTO=ON] [-DNVCC=...] -P check_install.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/another place")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/one place" --component library)
file(RENAME "${WORK}/one place" "${prefix}")

# A user's project: configured, built and run.
function(configured into project)
  set(${into} "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}/tests/cmake/${project}"
      "-DCMAKE_PREFIX_PATH=${prefix}" "-DEXAMPLES=${SOURCE}/examples" -DCMAKE_BUILD_TYPE=Release PARENT_SCOPE)
endfunction()
function(try project folder)
  configured(configure ${project})
  run(${configure} -B "${WORK}/${folder}" ${ARGN})
  run("${CMAKE_COMMAND}" --build "${WORK}/${folder}")
  run("${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/${folder}" --output-on-failure --no-tests=error)
endfunction()
function(try_in_vain words project folder)
  configured(configure ${project})
  execute_process(COMMAND ${configure} -B "${WORK}/${folder}" ${ARGN} ERROR_VARIABLE said RESULT_VARIABLE failed)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT failed OR NOT said MATCHES "${words}")
    message(FATAL_ERROR "${folder} is not refused by name: ${said}")
  endif()
endfunction()

try(consumer consumer)
try(c_consumer in_c -DLIBRARIES=manymod,manymod_static -DCOMPONENTS=shared,static)
try_in_vain("There are the components .* and no nonesuch" c_consumer nonesuch -DCOMPONENTS=shared,nonesuch)
if(LIBCRYPTO)
  set(hidden -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
  try(c_consumer without_libcrypto -DLIBRARIES=manymod ${hidden})
  try_in_vain("no component static, as libcrypto" c_consumer no_libcrypto -DCOMPONENTS=static ${hidden})
endif()

# Instead of an installed library, the sources in a folder of the project.
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}/tests/cmake/subproject" -B "${WORK}/subproject"
    "-DMANYMOD=${SOURCE}" -DMANYMOD_CUDA=OFF)

find_program(PKG_CONFIG pkg-config)
find_program(CC NAMES cc gcc clang)
file(GLOB_RECURSE pc "${prefix}/manymod.pc")
if(PKG_CONFIG AND CC)
  get_filename_component(folder "${pc}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${folder}")
  foreach(kind IN ITEMS shared static)
    set(options --cflags --libs)
    if(kind STREQUAL static)
      list(APPEND options --static)
    endif()
    execute_process(COMMAND "${PKG_CONFIG}" ${options} manymod OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    if(kind STREQUAL static)
      # Of two libraries in one folder the linker takes the shared one.
      list(TRANSFORM flags REPLACE "^-lmanymod$" "-l:libmanymod.a")
    endif()
    run("${CC}" -std=c11 "${SOURCE}/examples/powmod.c" ${flags} -o "${WORK}/powmod_${kind}")
    get_filename_component(libdir "${folder}" DIRECTORY)
    set(ENV{LD_LIBRARY_PATH} "${libdir}")
    run("${WORK}/powmod_${kind}")
  endforeach()
else()
  message(STATUS "pkg-config or a C compiler is missing: the flags of manymod.pc are not tried")
endif()

if(NVCC)
  foreach(program IN ITEMS examples/device/pminus1 examples/device/kangaroo tests/cmake/device_guide)
    get_filename_component(name "${program}" NAME)
    run("${NVCC}" -std=c++20 -arch=sm_90a -Werror all-warnings -cubin "-I${prefix}/include"
        -o "${WORK}/${name}.cubin" "${SOURCE}/${program}.cu")
  endforeach()
  foreach(standard IN ITEMS "" -DCMAKE_CUDA_STANDARD=20)
    if(standard AND CMAKE_VERSION VERSION_LESS 3.26)
      continue()
    endif()
    run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}/examples/device/project" -B "${WORK}/project${standard}"
        "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CUDA_COMPILER=${NVCC}" -DCMAKE_CUDA_ARCHITECTURES=90 ${standard})
    run("${CMAKE_COMMAND}" --build "${WORK}/project${standard}")
  endforeach()
  execute_process(COMMAND "${NVCC}" -std=c++17 -arch=sm_90a -cubin "-I${prefix}/include" -o "${WORK}/old.cubin"
                          "${SOURCE}/examples/device/project/products.cu" ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(NOT failed OR NOT said MATCHES "is C\\+\\+20: compile with -std=c\\+\\+20")
    message(FATAL_ERROR "C++17 is not refused by name: ${said}")
  endif()
endif()
