# Builds core where none of the libraries exist that only ingest, the program and the tests need, and a consumer of it.
#   cmake -DSOURCE=<repository> -DWORK=<empty folder to be> -DCOMPILER=<c++> [-DFLAGS=<flags>] -P core_only.cmake
set(absent)
foreach(package simdjson CLI11 nlohmann_json GTest rapidcheck benchmark Python3 CUDAToolkit)
  list(APPEND absent -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
file(REMOVE_RECURSE ${WORK})
foreach(command IN ITEMS
    "-G;Ninja;-S;${SOURCE};-B;${WORK}/core;-DDELTAMATCH_INGEST=OFF;-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_CXX_FLAGS=${FLAGS};${absent}"
    "--build;${WORK}/core"
    "-DBUILD=${WORK}/core;-DWORK=${WORK}/consumer;-DINGEST=OFF;-DCOMPILER=${COMPILER};-DFLAGS=${FLAGS};-P;${CMAKE_CURRENT_LIST_DIR}/consumer.cmake")
  execute_process(COMMAND ${CMAKE_COMMAND} ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
