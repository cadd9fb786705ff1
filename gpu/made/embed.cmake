# Writes the headers of kernels that are made at run time into a source file: cmake -DROOT=... -DOUTPUT=... -P embed.cmake
set(headers gpu/mirror/layout.hpp gpu/loops/anchors.hpp gpu/made/made_launch.hpp gpu/made/warp_lists.cuh
    gpu/made/warp_meet.cuh gpu/made/warp_tasks.cuh)
set(text "#include \"gpu/made/embedded.hpp\"\n\nnamespace deltamatch::gpu {\n\nnamespace {\n\nconstexpr EmbeddedHeader headers[] = {\n")
foreach(header IN LISTS headers)
  file(READ ${ROOT}/${header} own)
  string(APPEND text "    {\"${header}\", R\"embedded(${own})embedded\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const EmbeddedHeader> embedded_headers() noexcept { return headers; }\n\n}  // namespace deltamatch::gpu\n")
file(WRITE ${OUTPUT} "${text}")
