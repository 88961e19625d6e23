#include "sample/remote_memory.hpp"

#include <sys/uio.h>

#include <algorithm>

namespace roofline {

std::size_t RemoteMemory::read_some(Address from, void* to, std::size_t size) const {
  iovec local = {to, size};
  iovec remote = {reinterpret_cast<void*>(from), size};  // NOLINT(performance-no-int-to-ptr): of another process
  const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

bool RemoteMemory::read(Address from, void* to, std::size_t size) const { return read_some(from, to, size) == size; }

const PageCache::Page* PageCache::page_at(Address address) {
  const auto end = pages_.begin() + static_cast<std::ptrdiff_t>(used_);
  const auto known = std::find_if(pages_.begin(), end, [address](const Page& page) { return page.address == address; });
  if (known != end) return &*known;
  Page& page = pages_[used_ < kPages ? used_++ : (address / kPage) % kPages];
  page.address = address;
  if (memory_.read(address, page.bytes.data(), kPage)) return &page;
  page.address = 0;
  return nullptr;
}

bool PageCache::read(Address from, void* to, std::size_t size) {
  auto* place = static_cast<std::byte*>(to);
  while (size > 0) {
    const Address start = from & ~Address{kPage - 1};
    const std::size_t offset = from - start, part = std::min(size, kPage - offset);
    const Page* page = start != 0 ? page_at(start) : nullptr;
    if (page == nullptr) return false;
    std::memcpy(place, page->bytes.data() + offset, part);
    place += part;
    from += part;
    size -= part;
  }
  return true;
}

}  // namespace roofline
