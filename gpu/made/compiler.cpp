#include "gpu/made/compiler.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "gpu/made/embedded.hpp"

namespace deltamatch::gpu {

namespace {

using ProgramHandle = void*;
constexpr int success = 0;

// All that the headers need of the standard library.
constexpr const char* cstdint_text = R"(#pragma once
namespace std {
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using int64_t = long long;
using size_t = decltype(sizeof(0));
}
)";

constexpr std::array libraries{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};

void* open_library() {
  if (const char* named = std::getenv("DELTAMATCH_NVRTC"))
    return *named == '\0' ? nullptr : dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (const char* name : libraries) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

struct Compiler::Functions {
  void* library;
  int (*create)(ProgramHandle*, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy)(ProgramHandle*);
  int (*compile)(ProgramHandle, int, const char* const*);
  int (*log_size)(ProgramHandle, std::size_t*);
  int (*log)(ProgramHandle, char*);
  int (*cubin_size)(ProgramHandle, std::size_t*);
  int (*cubin)(ProgramHandle, char*);
  const char* (*error)(int);
};

Compiler::Compiler(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}
Compiler::~Compiler() = default;  // the library stays open: it may have threads

std::unique_ptr<Compiler> Compiler::open() {
  void* library = open_library();
  if (library == nullptr) return nullptr;
  auto found = std::make_unique<Functions>();
  found->library = library;
  bool all = true;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    all = all && function != nullptr;
  };
  take(found->create, "nvrtcCreateProgram");
  take(found->destroy, "nvrtcDestroyProgram");
  take(found->compile, "nvrtcCompileProgram");
  take(found->log_size, "nvrtcGetProgramLogSize");
  take(found->log, "nvrtcGetProgramLog");
  take(found->cubin_size, "nvrtcGetCUBINSize");
  take(found->cubin, "nvrtcGetCUBIN");
  take(found->error, "nvrtcGetErrorString");
  if (!all) return nullptr;
  return std::unique_ptr<Compiler>(new Compiler(std::move(found)));
}

std::string Compiler::compile(const std::string& text, int major, int minor) const {
  std::vector<const char*> names{"cstdint"};
  std::vector<const char*> texts{cstdint_text};
  for (const EmbeddedHeader& header : embedded_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  ProgramHandle program = nullptr;
  const auto require = [&](int status, const char* what) {
    if (status == success) return;
    std::string log;
    std::size_t size = 0;
    if (program != nullptr && functions_->log_size(program, &size) == success) {
      log.resize(size);
      functions_->log(program, log.data());
    }
    if (program != nullptr) functions_->destroy(&program);
    throw Error("compiler of kernels", fmt::format("{}: {}: {}", what, functions_->error(status), log.c_str()),
                "set DELTAMATCH_NVRTC to the NVRTC of another CUDA toolkit, or to nothing to do without");
  };
  require(functions_->create(&program, text.c_str(), "plan.cu", static_cast<int>(names.size()), texts.data(), names.data()),
          "nvrtcCreateProgram");
  const std::string architecture = fmt::format("--gpu-architecture=sm_{}{}", major, minor);
  const std::array options{architecture.c_str(), "-std=c++20", "-default-device", "-lineinfo"};
  require(functions_->compile(program, static_cast<int>(options.size()), options.data()), "nvrtcCompileProgram");
  std::size_t size = 0;
  require(functions_->cubin_size(program, &size), "nvrtcGetCUBINSize");
  std::string cubin(size, '\0');
  require(functions_->cubin(program, cubin.data()), "nvrtcGetCUBIN");
  functions_->destroy(&program);
  return cubin;
}

}  // namespace deltamatch::gpu
