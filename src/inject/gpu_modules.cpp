#include "inject/gpu_modules.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/session.hpp"
#include "inject/spool_file.hpp"

namespace roofline::inject {
namespace {

/// Limit for all modules of a process: libraries have several hundred MB of code, of which a program loads a part.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

/// A file's bytes, as long as this lives.
class Mapped {
 public:
  Mapped(const std::string& path, std::size_t size) : size_(size) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    bytes_ = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
  }
  ~Mapped() {
    if (bytes_ != MAP_FAILED) ::munmap(bytes_, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  const void* bytes() const { return bytes_ != MAP_FAILED ? bytes_ : nullptr; }

 private:
  void* bytes_ = MAP_FAILED;
  std::size_t size_;
};

}  // namespace

void GpuModules::loaded(const void* code, std::size_t size) {
  if (code == nullptr || size == 0) return;
  const std::lock_guard lock(mutex_);
  if (size > kMostBytes - bytes_) return;
  Module module;
  module.file = std::to_string(getpid()) + "." + std::to_string(session_.started) + "." + std::to_string(made_++) +
                spool::kCubinExtension;
  module.size = size;
  const std::string path = folder_ + "/" + module.file;
  SpoolFile file;
  if (!file.create(path)) return;
  const bool written = file.write(static_cast<const char*>(code), size);
  file.close();
  if (!written) {
    ::unlink(path.c_str());
    return;
  }
  bytes_ += size;
  modules_.push_back(std::move(module));
}

void GpuModules::name(const std::set<std::uint64_t>& sampled, const CuptiInstructions& cupti) {
  if (sampled.empty()) return;
  const std::lock_guard lock(mutex_);
  for (Module& module : modules_) {
    if (module.named) continue;
    if (!module.summed) {
      module.summed = true;
      const Mapped code(folder_ + "/" + module.file, module.size);
      CUpti_GetCubinCrcParams asked = {};
      asked.size = CUpti_GetCubinCrcParamsSize;
      asked.cubin = code.bytes();
      asked.cubinSize = module.size;
      if (asked.cubin != nullptr && cupti.checksum(&asked) == CUPTI_SUCCESS) module.checksum = asked.cubinCrc;
    }
    if (module.checksum == 0 || !sampled.contains(module.checksum)) continue;
    module.named = true;
    session_.spool.write(spool::Type::gpu_module,
                         spool::GpuModule{module.checksum, session_.spool.text(module.file), 0});
  }
}

void GpuModules::forget_unsampled() {
  const std::lock_guard lock(mutex_);
  for (const Module& module : modules_) {
    if (!module.named) ::unlink((folder_ + "/" + module.file).c_str());
  }
  modules_.clear();
}

}  // namespace roofline::inject
