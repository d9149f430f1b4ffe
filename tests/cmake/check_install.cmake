# SPDX-License-Identifier: Apache-2.0
# Install the library to a scratch folder, build a user's project against it, run it.
# cmake -DBUILD=... -DWORK=... -DSOURCE=... [-DGENERATOR=...] -P check_install.cmake
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
