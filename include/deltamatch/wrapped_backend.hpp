// A backend around another one, for programs that watch or restrict what a backend does.
#pragma once

#include <memory>
#include <string_view>

#include "deltamatch/backend.hpp"

namespace deltamatch {

/// Hands everything on to another backend. A program derives from it and overrides what it wants otherwise. That may be the
/// name, or what happens when a step of a batch begins and ends. Of the capabilities it can only take some away.
class WrappedBackend : public Backend {
 public:
  /// `inner` must not be null.
  explicit WrappedBackend(std::shared_ptr<Backend> inner);

  [[nodiscard]] std::string_view name() const noexcept override;
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override;
  [[nodiscard]] graph::SlabAllocator& slabs() noexcept override;
  [[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override;
  [[nodiscard]] std::unique_ptr<match::DenseSetCounter> make_dense_set_counter() override;
  [[nodiscard]] std::unique_ptr<match::MotifCounter> make_motif_counter() override;
  void begin_step(const char* name) noexcept override;
  void end_step() noexcept override;

 private:
  std::shared_ptr<Backend> inner_;
};

}  // namespace deltamatch
