#include "inject/redirect.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace roofline::inject {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobalData = R_AARCH64_GLOB_DAT;
#else
constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobalData = R_X86_64_GLOB_DAT;
#endif

/// The imports of a loaded library, by its dynamic section.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> calls, data;
};

/// The C library has relocated these pointers, except in the vDSO.
template <typename T>
const T* pointer(const dl_phdr_info& library, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < library.dlpi_addr ? library.dlpi_addr + address : address);
}

const ElfW(Dyn) * dynamic_section(const dl_phdr_info& library) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library.dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC) {
      return reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + segment.p_vaddr);
    }
  }
  return nullptr;
}

Imports imports_of(const dl_phdr_info& library) {
  ElfW(Addr) symbols = 0, names = 0, calls = 0, data = 0;
  std::size_t bytes_of_calls = 0, bytes_of_data = 0;
  for (const ElfW(Dyn)* entry = dynamic_section(library); entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
    if (entry->d_tag == DT_JMPREL) calls = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) bytes_of_calls = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) data = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) bytes_of_data = entry->d_un.d_val;
  }
  Imports imports;
  if (symbols == 0 || names == 0) return imports;
  imports.symbols = pointer<ElfW(Sym)>(library, symbols);
  imports.names = pointer<char>(library, names);
  if (calls != 0) imports.calls = {pointer<ElfW(Rela)>(library, calls), bytes_of_calls / sizeof(ElfW(Rela))};
  if (data != 0) imports.data = {pointer<ElfW(Rela)>(library, data), bytes_of_data / sizeof(ElfW(Rela))};
  return imports;
}

/// A place in memory that holds the address of an imported function.
struct Slot {
  const Redirection* redirection;
  void** address;
  bool read_only;  ///< since the loader has relocated the library
};
struct Library {
  std::string path;
  std::vector<Slot> slots;
};

bool is_read_only(const dl_phdr_info& library, std::uintptr_t place, std::uintptr_t page) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library.dlpi_phdr[i];
    const std::uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO && place >= (begin & ~(page - 1)) && place < begin + segment.p_memsz)
      return true;
  }
  return false;
}

struct Search {
  std::span<const Redirection> table;
  std::uintptr_t page;
  std::vector<Library> found = {};
};

/// Under the loader's lock: only reads.
int search_library(dl_phdr_info* info, std::size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const Imports imports = imports_of(*info);
  Library library{info->dlpi_name != nullptr ? info->dlpi_name : "", {}};
  const auto collect = [&](std::span<const ElfW(Rela)> relocations, std::uint32_t type) {
    for (const ElfW(Rela) & relocation : relocations) {
      if (ELF64_R_TYPE(relocation.r_info) != type) continue;
      const char* const name = imports.names + imports.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
      for (const Redirection& redirection : search.table) {
        if (std::strcmp(name, redirection.symbol) != 0) continue;
        const std::uintptr_t place = info->dlpi_addr + relocation.r_offset;
        library.slots.push_back(
            {&redirection, reinterpret_cast<void**>(place), is_read_only(*info, place, search.page)});
      }
    }
  };
  collect(imports.calls, kJumpSlot);
  collect(imports.data, kGlobalData);
  if (!library.slots.empty()) search.found.push_back(std::move(library));
  return 0;
}

int read_loads(dl_phdr_info* info, std::size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = info->dlpi_adds;
  return 1;
}

bool change(const Slot& slot, std::uintptr_t page) {
  auto* const first = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot.address) & ~(page - 1));
  if (slot.read_only && mprotect(first, page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot.address, slot.redirection->replacement, __ATOMIC_RELEASE);
  if (slot.read_only) mprotect(first, page, PROT_READ);
  return true;
}

/// Redirects one library. Its handle is kept, so that it stays loaded.
int redirect(const Library& library, std::uintptr_t page) {
  // With an empty path this is the program itself.
  void* const handle = dlopen(library.path.empty() ? nullptr : library.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  int changed = 0;
  for (const Slot& slot : library.slots) {
    if (__atomic_load_n(slot.address, __ATOMIC_ACQUIRE) == slot.redirection->replacement) continue;
    // Not what the slot holds: before the first call, that may be the loader's code, which would write the slot.
    if (slot.redirection->original->load(std::memory_order_acquire) == nullptr) {
      *slot.redirection->original = dlsym(handle, slot.redirection->symbol);
    }
    if (slot.redirection->original->load(std::memory_order_acquire) != nullptr && change(slot, page)) ++changed;
  }
  return changed;
}

}  // namespace

void* function_beside(void* function, const char* symbol) {
  Dl_info info = {};
  if (function == nullptr || dladdr(function, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const found = dlsym(library, symbol);
  dlclose(library);
  return found;
}

int Redirections::apply() {
  const std::lock_guard lock(mutex_);
  unsigned long long loads = 0;
  dl_iterate_phdr(read_loads, &loads);
  if (loads == loads_) return 0;
  Search search{table_, static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE))};
  dl_iterate_phdr(search_library, &search);
  loads_ = loads;
  int changed = 0;
  for (const Library& library : search.found) changed += redirect(library, search.page);
  return changed;
}

}  // namespace roofline::inject
