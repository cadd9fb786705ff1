#include "deltamatch/wrapped_backend.hpp"

#include <utility>

#include "match/backend.hpp"

namespace deltamatch {

WrappedBackend::WrappedBackend(std::shared_ptr<Backend> inner) : inner_(std::move(inner)) {}

std::string_view WrappedBackend::name() const noexcept { return inner_->name(); }
BackendCapabilities WrappedBackend::capabilities() const noexcept { return inner_->capabilities(); }
graph::SlabAllocator& WrappedBackend::slabs() noexcept { return inner_->slabs(); }
std::unique_ptr<match::Matcher> WrappedBackend::make_matcher(Workers& workers) { return inner_->make_matcher(workers); }
std::unique_ptr<match::DenseSetCounter> WrappedBackend::make_dense_set_counter() { return inner_->make_dense_set_counter(); }
std::unique_ptr<match::MotifCounter> WrappedBackend::make_motif_counter() { return inner_->make_motif_counter(); }
void WrappedBackend::begin_step(const char* name) noexcept { inner_->begin_step(name); }
void WrappedBackend::end_step() noexcept { inner_->end_step(); }

}  // namespace deltamatch
