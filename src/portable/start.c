// A program that is linked with a glibc of 2.34 or later leaves its constructors to the library, which an older one does not
// run: here they are the program's own, as they were before. Newer ones know such programs.
#include <stddef.h>

typedef int Main(int argc, char** argv, char** environment);
typedef void Init(int argc, char** argv, char** environment);
int roofline_libc_start_main(Main* main, int argc, char** argv, Init* init, void (*fini)(void), void (*loader)(void),
                             void* stack);
__asm__(".symver roofline_libc_start_main, __libc_start_main@GLIBC_2.2.5");

extern Init* __init_array_start[] __attribute__((visibility("hidden")));
extern Init* __init_array_end[] __attribute__((visibility("hidden")));
void _init(void);

static void run_constructors(int argc, char** argv, char** environment) {
  _init();
  const size_t count = (size_t)(__init_array_end - __init_array_start);
  for (size_t i = 0; i < count; ++i) __init_array_start[i](argc, argv, environment);
}

__attribute__((visibility("hidden"))) int __libc_start_main(Main* main, int argc, char** argv, Init* init,
                                                            void (*fini)(void), void (*loader)(void), void* stack) {
  return roofline_libc_start_main(main, argc, argv, init != NULL ? init : run_constructors, fini, loader, stack);
}
