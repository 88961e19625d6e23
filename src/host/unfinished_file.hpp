// Files that are not whole yet, and are to be gone when a process ends where no destructor runs.
#pragma once

namespace roofline {

/// A file while it is written under a name of its own. Whoever writes it removes or renames it; this is for the end
/// that runs no destructor: a signal, or an allocation that fails where no exception can be thrown.
class UnfinishedFile {
 public:
  /// `name` must outlive it.
  explicit UnfinishedFile(const char* name);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

 private:
  friend void remove_unfinished_files();

  const char* name_;
  int process_;  ///< a forked child inherits its parent's files and does not remove them
  UnfinishedFile* next_;
};

/// Removes all current ones. Allocates no memory.
void remove_unfinished_files();

}  // namespace roofline
