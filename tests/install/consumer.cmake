# Installs a build to a prefix of its own and builds and runs a project that finds it there.
#   cmake -DBUILD=<build folder> -DWORK=<empty folder to be> -DINGEST=ON|OFF -DCOMPILER=<c++> [-DFLAGS=<flags>] -P consumer.cmake
function(run out)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}\nexit ${status}")
  endif()
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

function(expect actual expected)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "expected:\n${expected}\ngot:\n${actual}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(ignored ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(ignored ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DWITH_INGEST=${INGEST} -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_BUILD_TYPE=Debug)
run(ignored ${CMAKE_COMMAND} --build ${WORK}/build)

run(counts ${WORK}/build/triangles)
expect("${counts}" "batch 1: +1 -0\nbatch 2: +0 -1\n")
if(INGEST)
  file(WRITE ${WORK}/edges.txt "1 2\n2 3\n3 4\n4 2\n")
  run(matches ${WORK}/build/replay_file ${WORK}/edges.txt "(a)-->(b)-->(c)-->(a)")
  string(REGEX REPLACE "\"id\":\"[0-9a-f]+\"," "" matches "${matches}")
  expect("${matches}" "{\"v\":1,\"query\":\"pattern\",\"sign\":\"+\",\"batch\":2,\"time\":null,\"bindings\":{\"a\":2,\"b\":3,\"c\":4},\"edges\":[[2,\"\",3],[3,\"\",4],[4,\"\",2]],\"cause\":[1,2]}\n")
  run(version ${WORK}/prefix/bin/deltamatch --version)
endif()
