// The spool's file inside a foreign process, which may close or reuse any descriptor and limit file sizes.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <string>

namespace roofline::inject {

/// The only descriptor that the library holds while the program runs. Every other one (/proc/self/cmdline, the metrics
/// file, those of the dynamic loader) is closed before the call of the driver returns in which it was opened.
///
/// It is held, and not opened for each write: open() takes the lowest free number, and a program that replaces its
/// standard input by close(0) and open() would get another number than 0 if our thread opened in between. The number is
/// as high as the limit allows, so that the program's own files do not get it. Before each write the descriptor must
/// still be the file that was created; if not, recording ends and that number is never touched again. chroot() and
/// setuid() do not affect an open descriptor, exec closes it, and a child of fork() closes its copy.
class SpoolFile {
 public:
  /// Creates the file, which must not exist. False also if the program has so few descriptors that it needs them all.
  bool create(const std::string& path);
  /// Writes all. False: the recording is over, because the descriptor was reused, the limit on file sizes
  /// (RLIMIT_FSIZE) leaves no room, or the write failed. Raises no signal in the program.
  bool write(const char* data, std::size_t size);
  bool is_open() const { return file_ >= 0; }
  /// In a child of fork(): closes the inherited descriptor. Safe where only async-signal-safe functions are.
  void close();

 private:
  /// True if the descriptor is our file and it may grow by `size` bytes.
  bool accepts(std::size_t size) const;
  bool is_own_file(off_t& size) const;

  std::atomic<int> file_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace roofline::inject
