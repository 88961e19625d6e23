// The stack is switched. A raised limit would be inherited by profiled programs, and may be forbidden; a thread would
// have the children that children() asks the first thread for.
#include "host/usual_stack.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>

namespace roofline {
namespace {

constexpr std::size_t kUsualStack = std::size_t{8} << 20;

const std::function<int()>* work_to_do = nullptr;  // a context's function has int arguments only
int result = -1;

void do_work() { result = (*work_to_do)(); }

}  // namespace

int with_usual_stack(const std::function<int()>& work) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kUsualStack) return work();
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) == 0) {
    ::pthread_attr_setstacksize(&attributes, kUsualStack);
    ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
  }
  void* const stack = ::mmap(nullptr, kUsualStack, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  ::mprotect(stack, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);  // what overflows ends here
  ucontext_t here{}, there{};
  if (::getcontext(&there) != 0) return -1;
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = kUsualStack;
  there.uc_link = &here;
  work_to_do = &work;
  ::makecontext(&there, do_work, 0);
  if (::swapcontext(&here, &there) != 0) return -1;
  return result;
}

}  // namespace roofline
