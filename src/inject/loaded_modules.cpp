#include "inject/loaded_modules.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "sample/elf_file.hpp"
#include "sample/own_files.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint64_t kMostSymbolBytes = std::uint64_t{256} << 20U;

/// The loader's name of the program itself is empty; that of a library is the one it was loaded by.
std::string path_of(const char* name) {
  if (name == nullptr || *name == '\0') {
    std::array<char, 4096> target;
    const ssize_t size = readlink("/proc/self/exe", target.data(), target.size());
    return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
  }
  if (*name == '/') return name;
  const std::unique_ptr<char, void (*)(void*)> absolute(realpath(name, nullptr), std::free);
  return absolute ? absolute.get() : name;
}

bool is_python(std::string_view path) { return path.substr(path.rfind('/') + 1).starts_with("python"); }

}  // namespace

LoadedModule::LoadedModule(const dl_phdr_info& info) : path_(path_of(info.dlpi_name)), base_(info.dlpi_addr) {
  const bool main = info.dlpi_name == nullptr || *info.dlpi_name == '\0';
  own_ = is_own_native_file(path_) || (main && !is_python(path_));
  for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_LOAD && (header.p_flags & PF_R) != 0) {
      segments_.push_back({header.p_vaddr, header.p_memsz, (header.p_flags & PF_X) != 0});
    }
    if (header.p_type == PT_GNU_EH_FRAME) unwind_table_ = header.p_vaddr;
    if (header.p_type != PT_NOTE || !build_id_.empty()) continue;
    constexpr std::uint64_t kMostNotes = 4096;
    std::string notes(std::min<std::uint64_t>(header.p_memsz, kMostNotes), '\0');
    std::memcpy(notes.data(), reinterpret_cast<const void*>(base_ + header.p_vaddr), notes.size());
    build_id_ = build_id_of(notes);
  }
}

bool LoadedModule::read_address(std::uint64_t address, void* to, std::size_t size) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address > segment.size) continue;
    if (size > segment.size - (address - segment.address)) continue;
    std::memcpy(to, reinterpret_cast<const void*>(base_ + address), size);
    return true;
  }
  return false;
}

bool LoadedModule::holds(std::uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(), [at = address - base_](const Segment& segment) {
    return segment.code && at >= segment.address && at - segment.address < segment.size;
  });
}

bool LoadedModule::is_program() { return own_ && !is_interpreter(); }

bool LoadedModule::is_interpreter() {
  if (own_) read_file();
  return interpreter_ || is_python(path_) || path_.find("/libpython3") != std::string::npos;
}

bool LoadedModule::has_lines() {
  read_file();
  return lines_;
}

const LoadedFunction* LoadedModule::function_at(std::uint64_t address) {
  read_file();
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](std::uint64_t at, const LoadedFunction& function) { return at < function.address; });
  if (after == functions_.begin()) return nullptr;
  const LoadedFunction& function = *std::prev(after);
  return address - function.address < function.size ? &function : nullptr;
}

/// The file is closed again: the program's own files get the numbers of descriptors that they have without us.
void LoadedModule::read_file() {
  if (std::exchange(read_, true)) return;
  const std::optional<ElfFile> elf = path_.starts_with('/') ? ElfFile::open(path_) : std::nullopt;
  if (!elf || elf->build_id() != build_id_) return;
  lines_ = elf->has_section(".debug_line");
  if (!own_ && !lines_) return;
  elf->visit_functions(kMostSymbolBytes, [this](const ElfFunction& symbol) {
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(symbol.size, UINT32_MAX));
    functions_.push_back({symbol.address, wrapper_identity(symbol.name), size, function_role(symbol.name)});
    interpreter_ |= symbol.name == "Py_BytesMain";
  });
  std::stable_sort(functions_.begin(), functions_.end(),
                   [](const LoadedFunction& a, const LoadedFunction& b) { return a.address < b.address; });
}

LoadedModule* LoadedModules::find(std::uint64_t address) {
  const auto found =
      std::find_if(modules_.begin(), modules_.end(), [address](const auto& module) { return module->holds(address); });
  return found == modules_.end() ? nullptr : found->get();
}

void LoadedModules::refresh() {
  const auto count = [](dl_phdr_info* info, std::size_t, void* to) {
    auto& [loaded, unloaded] = *static_cast<std::pair<std::uint64_t, std::uint64_t>*>(to);
    loaded = info->dlpi_adds;
    unloaded = info->dlpi_subs;
    return 1;
  };
  std::pair<std::uint64_t, std::uint64_t> counts;
  dl_iterate_phdr(count, &counts);
  if (counts == std::pair(loaded_, unloaded_)) return;
  std::vector<std::unique_ptr<LoadedModule>> found;
  const auto add = [](dl_phdr_info* info, std::size_t, void* to) {
    auto& modules = *static_cast<std::vector<std::unique_ptr<LoadedModule>>*>(to);
    modules.push_back(std::make_unique<LoadedModule>(*info));
    return 0;
  };
  dl_iterate_phdr(add, &found);
  for (auto& module : found) {
    for (auto& known : modules_) {
      if (known && known->same_as(*module)) module = std::move(known);
    }
  }
  modules_ = std::move(found);
  std::tie(loaded_, unloaded_) = counts;
}

}  // namespace roofline::inject
