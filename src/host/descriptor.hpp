// An owned file descriptor.
#pragma once

#include <utility>

namespace roofline {

/// A file descriptor, closed with the object and by exec.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  void close();

 private:
  int fd_;
};

}  // namespace roofline
