// A GPU keeps what every backend promises.
#include "gpu/support.hpp"
#include "unit/engine/backend_conformance.hpp"

namespace deltamatch::test {
namespace {

DELTAMATCH_CONFORMS(Gpu, [] { return make_gpu_backend({.memory = std::size_t{64} << 20}); }, gpu_absence);

}  // namespace
}  // namespace deltamatch::test
