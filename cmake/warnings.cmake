# deltamatch_target(<target>): what every target of the project is compiled with.
function(deltamatch_target target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                                           -Wcast-qual -Woverloaded-virtual -Wundef)
  if(DELTAMATCH_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
