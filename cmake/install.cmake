# find_package(deltamatch) gives deltamatch::core and deltamatch::ingest.
include(CMakePackageConfigHelpers)
install(TARGETS deltamatch_core deltamatch_ingest EXPORT deltamatchTargets)
install(DIRECTORY include/deltamatch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
