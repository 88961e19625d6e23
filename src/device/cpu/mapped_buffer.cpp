// Anonymous mappings with madvise; no allocator and no pool of freed memory.
#include "device/cpu/mapped_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "host/files.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Below that a huge page would waste more than half of itself.
constexpr std::size_t kHugeFrom = std::size_t{1} << 20;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

MappedBuffer::MappedBuffer(std::size_t bytes, ThreadPool& pool, Pages pages) : bytes_(bytes) {
  const bool huge = bytes >= kHugeFrom;
  const std::size_t unit = huge ? kHugePage : kPage;
  const std::size_t usable = round_up(bytes == 0 ? 1 : bytes, unit);
  // The kernel aligns to a small page only: one huge page more leaves room to align.
  mapped_ = huge ? usable + kHugePage : usable;
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    throw Error("the kernel denied " + std::to_string(bytes) + " bytes of memory: " + std::strerror(errno),
                "use smaller sizes, or raise the limit (ulimit -v)");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = static_cast<std::byte*>(mapping_) + (round_up(address, unit) - address);
  // 4 KiB pages cost a copy 5 to 10 % in TLB misses. Where huge pages are off, the call fails and all works.
  if (huge) madvise(data_, usable, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);

  const ThreadPool::PinnedCaller pinned(pool);
  pool.for_range(static_cast<std::int64_t>(bytes), kPage, [this](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kPage) {
      *static_cast<volatile std::byte*>(data_ + at) = std::byte{0};
    }
  });
}

MappedBuffer::~MappedBuffer() { munmap(mapping_, mapped_); }

bool huge_pages_allowed() {
  const std::string setting = first_line("/sys/kernel/mm/transparent_hugepage/enabled");  // "always [madvise] never"
  return !setting.empty() && setting.find("[never]") == std::string::npos;
}

double MappedBuffer::huge_page_bytes() const {
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  return std::min(static_cast<double>(bytes_),
                  roofline::huge_page_bytes(text_of("/proc/self/smaps"), begin, begin + bytes_));
}

double huge_page_bytes(const std::string& smaps, std::uintptr_t begin, std::uintptr_t end) {
  std::istringstream lines(smaps);
  double bytes = 0;
  bool meets = false;
  for (std::string line; std::getline(lines, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    double kibibytes = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {  // "7f00-7fff rw-p 00000000 …"
      meets = from < end && begin < to;
    } else if (meets && std::sscanf(line.c_str(), "AnonHugePages: %lf kB", &kibibytes) == 1) {
      bytes += kibibytes * 1024;
    }
  }
  return bytes;
}

double available_memory_bytes(const std::string& meminfo) {
  std::istringstream words(meminfo);
  for (std::string word; words >> word;) {
    double kibibytes = 0;
    if (word == "MemAvailable:" && words >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace roofline
