#include "host/descriptor.hpp"

#include <unistd.h>

namespace roofline {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  close();
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace roofline
