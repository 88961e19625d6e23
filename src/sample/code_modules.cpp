#include "sample/code_modules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sample/proc_files.hpp"

namespace roofline {

int CodeModules::find(const Mapping& mapping, pid_t pid) {
  const auto [place, is_new] = known_.try_emplace({mapping.device, mapping.inode, mapping.path}, size());
  if (!is_new) return place->second;
  auto module = std::make_unique<CodeModule>();
  module->path = mapping.path;
  if (mapping.path.starts_with('/')) {
    // As the process sees it: it may be in a container.
    module->elf = ElfFile::open(fmt::format("/proc/{}/root{}", pid, mapping.path));
    if (!module->elf) module->elf = ElfFile::open(mapping.path);
  }
  modules_.push_back(std::move(module));
  return place->second;
}

int CodeModules::find(const std::string& path) {
  const auto [place, is_new] = known_.try_emplace({0, 0, path}, size());
  if (!is_new) return place->second;
  modules_.push_back(std::make_unique<CodeModule>());
  modules_.back()->path = path;
  if (path.starts_with('/')) modules_.back()->elf = ElfFile::open(path);
  return place->second;
}

void ProcessCode::reload() {
  mappings_ = parse_mappings(read_proc(fmt::format("/proc/{}/maps", pid_)));
  std::erase_if(mappings_, [](const Mapping& mapping) { return mapping.end <= mapping.start; });
  std::ranges::sort(mappings_, {}, &Mapping::start);
  module_of_.assign(mappings_.size(), -1);
  misses_ = 0;
}

const Mapping* ProcessCode::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (after == mappings_.begin()) return nullptr;
  const Mapping& mapping = *std::prev(after);
  return address < mapping.end && mapping.executable ? &mapping : nullptr;
}

std::optional<CodePlace> ProcessCode::locate_code(std::uint64_t address) {
  if (address != 0 && find(address) == nullptr) reload();
  return locate(address);
}

std::optional<CodePlace> ProcessCode::locate(std::uint64_t address) {
  constexpr int kMissesToReload = 64;  // most are stack words that are no code, few are new libraries
  const Mapping* mapping = find(address);
  if (mapping == nullptr && (mappings_.empty() || ++misses_ > kMissesToReload)) {
    reload();
    mapping = find(address);
  }
  if (mapping == nullptr) return std::nullopt;
  int& module = module_of_[static_cast<std::size_t>(mapping - mappings_.data())];
  if (module < 0) module = modules_->find(*mapping, pid_);
  const std::uint64_t offset = address - mapping->start + mapping->offset;
  const auto& elf = (*modules_)[module].elf;
  return CodePlace{module, elf ? elf->address_of_offset(offset).value_or(offset) : offset};
}

}  // namespace roofline
