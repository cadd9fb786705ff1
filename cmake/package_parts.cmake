# Which components a package has. CPack reads this once for each generator.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL program deb)
else()
  set(CPACK_COMPONENTS_ALL program tarball)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
