#include "user/kernel_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <sstream>

#include "device/cubin.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "text/demangle.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// "saxpy<float>" of "void saxpy<float>(float const*, float*)", without blanks.
std::string base_name(const std::string& mangled) {
  std::string name = demangled(mangled);
  int depth = 0;
  std::size_t end = name.size();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth == 0 && name[i] == ' ' && end == name.size()) begin = i + 1;
    if (depth == 0 && name[i] == '(' && end == name.size()) end = i;
  }
  name = begin < end ? name.substr(begin, end - begin) : name;
  std::erase(name, ' ');
  return name;
}

std::vector<std::string> kernels_in(const fs::path& file) {
  const std::string bytes = read_file(file);
  std::vector<std::string> names;
  if (file.extension() == ".ptx") {
    std::istringstream words(bytes);
    for (std::string word; words >> word;) {
      if (word != ".entry" || !(words >> word)) continue;
      names.push_back(word.substr(0, word.find('(')));
    }
    return names;
  }
  for (const KernelCode& kernel : find_kernels(std::as_bytes(std::span(bytes)))) {
    if (std::find(names.begin(), names.end(), kernel.name) == names.end()) names.push_back(kernel.name);
  }
  return names;
}

/// The kernel that an entry means: by its name in the machine code, or as C++ writes it.
std::string find_entry(const CompileRequest& request, const std::string& entry,
                       const std::vector<std::string>& kernels) {
  std::string wanted = entry;
  std::erase(wanted, ' ');
  std::vector<std::string> found;
  for (const std::string& kernel : kernels) {
    if (kernel == wanted) return kernel;
    if (base_name(kernel) == wanted) found.push_back(kernel);
  }
  if (found.size() == 1) return found.front();
  // A compressed fat binary can't be looked into: then the name is the driver's to know.
  if (kernels.empty() && request.kind == SourceKind::fatbin) return entry;
  std::vector<std::string> names;
  for (const std::string& kernel : found.empty() ? kernels : found) names.push_back(base_name(kernel));
  throw Error(fmt::format("{} has {} '{}' (it has: {})", request.source.string(),
                          found.empty() ? "no kernel" : "several kernels", entry, fmt::join(names, ", ")));
}

}  // namespace

std::vector<std::string> find_entries(const CompileRequest& request, const fs::path& code) {
  const std::vector<std::string> kernels = kernels_in(code);
  std::vector<std::string> names;
  for (const std::string& entry : request.entries) names.push_back(find_entry(request, entry, kernels));
  return names;
}

}  // namespace roofline
