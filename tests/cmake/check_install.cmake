# SPDX-License-Identifier: Apache-2.0
# Install the library to a scratch folder, build a user's project against it, run it.
# With a CUDA compiler, compile a kernel with the installed headers alone.
# cmake -DBUILD=... -DWORK=... -DSOURCE=... [-DGENERATOR=...] [-DNVCC=...] -P check_install.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix" --component library)
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}/tests/cmake/consumer" -B "${WORK}/consumer"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DEXAMPLES=${SOURCE}/examples" -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${WORK}/consumer")
run("${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/consumer" --output-on-failure --no-tests=error)
if(NVCC)
  run("${NVCC}" -std=c++20 -arch=sm_90a -Werror all-warnings -cubin "-I${WORK}/prefix/include"
      -o "${WORK}/pminus1.cubin" "${SOURCE}/examples/device/pminus1.cu")
endif()
