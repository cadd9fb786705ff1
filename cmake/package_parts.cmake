# Which components the packages of a generator have, and whether each group of them is a package. CPack reads this once for each
# generator.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL program deb development deb_development)
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
else()
  set(CPACK_COMPONENTS_ALL program tarball)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
