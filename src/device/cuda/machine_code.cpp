// This program's own device images, read once, and the kernel's place among them.
#include "device/cuda/machine_code.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "device/cubin.hpp"
#include "device/cuda/check.hpp"
#include "text/demangle.hpp"

namespace roofline {
namespace {

/// All kernels of this program, for every architecture it contains.
class OwnCode {
 public:
  OwnCode() {
    std::ifstream file("/proc/self/exe", std::ios::binary | std::ios::ate);
    const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
    bytes_.resize(static_cast<std::size_t>(std::max<std::streamoff>(size, 0)));
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(bytes_.data()), size)) bytes_.clear();
    kernels_ = find_kernels(bytes_);
  }

  const std::vector<KernelCode>& kernels() const { return kernels_; }

 private:
  std::vector<std::byte> bytes_;
  std::vector<KernelCode> kernels_;
};

/// "void roofline::(anonymous namespace)::fma_kernel<float, 8>(float*, int)" without what surrounds the name.
std::string readable(const std::string& mangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string name = demangled(mangled);
  for (std::size_t at = name.find(kAnonymous); at != name.npos; at = name.find(kAnonymous)) {
    name.erase(at, kAnonymous.size());
  }
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (name[i] == '(' && depth == 0) name.resize(i);
  }
  const std::size_t scope = name.substr(0, name.find('<')).find_last_of(": ");
  return scope == name.npos ? name : name.substr(scope + 1);
}

}  // namespace

InstructionCount find_instruction(const void* kernel, std::string_view instruction) {
  static const OwnCode own;
  const char* mangled = nullptr;
  check(cudaFuncGetName(&mangled, kernel), "reading a kernel's name");
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "reading a kernel's attributes");
  const int architecture = attributes.binaryVersion;
  const std::string place = fmt::format("{} for sm_{}", readable(mangled), architecture);
  if (!has_opcodes_of(architecture)) return {place + ": the opcodes of this architecture are not known", {}};
  for (const KernelCode& candidate : own.kernels()) {
    if (candidate.architecture == architecture && candidate.name == mangled) {
      return {place, count_instruction(candidate.code, instruction)};
    }
  }
  if (own.kernels().empty()) return {place + ": this program contains no uncompressed device code", {}};
  return {place + ": compiled by the driver from PTX, which can't be read back", {}};
}

}  // namespace roofline
