#include "host/unfinished_file.hpp"

#include <unistd.h>

#include <mutex>

namespace roofline {
namespace {

constinit std::mutex unfinished_mutex;
constinit UnfinishedFile* first_unfinished = nullptr;

}  // namespace

UnfinishedFile::UnfinishedFile(const char* name) : name_(name), process_(::getpid()) {
  const std::lock_guard lock(unfinished_mutex);
  next_ = first_unfinished;
  first_unfinished = this;
}

UnfinishedFile::~UnfinishedFile() {
  const std::lock_guard lock(unfinished_mutex);
  UnfinishedFile** place = &first_unfinished;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
}

void remove_unfinished_files() {
  // Whoever has it may never give it back: this may be the end of the thread that has.
  constexpr int kMostTries = 100;
  int tries = 0;
  while (!unfinished_mutex.try_lock()) {
    if (++tries == kMostTries) return;
    ::usleep(1000);
  }
  for (const UnfinishedFile* file = first_unfinished; file != nullptr; file = file->next_) {
    if (file->process_ == ::getpid()) ::unlink(file->name_);
  }
  unfinished_mutex.unlock();
}

}  // namespace roofline
