#include <cuda_runtime.h>

#include "dump.hpp"
#include "gpu/cuda/memory.hpp"

namespace deltamatch::gpu {

namespace {

// One thread for each vertex. If `begins` is null, it counts its words; otherwise it writes them from begins[vertex] on.
__global__ void dump_kernel(GraphView view, std::uint32_t query_relation, std::uint32_t vertices, std::uint32_t* sizes,
                            const std::uint64_t* begins, std::uint32_t* words) {
  const std::uint32_t vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices) return;
  Dumper dumper{begins == nullptr ? nullptr : words + begins[vertex]};
  dumper.put_list(view, view.query_relations[query_relation], vertex);
  sizes[vertex] = dumper.words;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> dump_on_device(const GraphView& view, std::size_t query_relations) {
  const std::uint32_t vertices = view.stores[0].vertices;
  const unsigned threads = 128;
  const unsigned blocks = (vertices + threads - 1) / threads;
  const auto sizes = make_device_memory<std::uint32_t>(vertices);
  const auto begins = make_device_memory<std::uint64_t>(vertices);
  std::vector<std::vector<std::uint32_t>> all;
  for (std::uint32_t query_relation = 0; query_relation < query_relations; ++query_relation) {
    dump_kernel<<<blocks, threads>>>(view, query_relation, vertices, sizes.get(), nullptr, nullptr);
    check(cudaGetLastError(), "dump kernel");
    std::vector<std::uint32_t> counts(vertices);
    check(cudaMemcpy(counts.data(), sizes.get(), vertices * sizeof(std::uint32_t), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<std::uint64_t> offsets(vertices);
    std::uint64_t total = 0;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      offsets[v] = total;
      total += counts[v];
    }
    check(cudaMemcpy(begins.get(), offsets.data(), vertices * sizeof(std::uint64_t), cudaMemcpyHostToDevice), "cudaMemcpy");
    const auto words = make_device_memory<std::uint32_t>(total + 1);
    dump_kernel<<<blocks, threads>>>(view, query_relation, vertices, sizes.get(), begins.get(), words.get());
    check(cudaGetLastError(), "dump kernel");
    std::vector<std::uint32_t> host(total);
    check(cudaMemcpy(host.data(), words.get(), total * sizeof(std::uint32_t), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (std::uint32_t v = 0; v < vertices; ++v) {
      const auto* first = host.data() + offsets[v];
      all.emplace_back(first, first + counts[v]);
    }
  }
  return all;
}

}  // namespace deltamatch::gpu
