// The symbols that Debian 12's libraries take from a glibc newer than 2.31, as they were before: when threads and
// dlopen moved into libc.so.6 (2.34) they got a second version, and nothing else about them changed. Each name is
// defined here, for this program alone, and jumps to the version that both have. x86-64.
.macro older name version
.symver roofline_\name, \name@GLIBC_\version
.section .text.\name, "ax", @progbits
.globl \name
.hidden \name
.type \name, @function
\name:
  endbr64
  jmp *roofline_\name@GOTPCREL(%rip)
.size \name, . - \name
.endm

older dladdr 2.2.5
older dladdr1 2.3.3
older dlclose 2.2.5
older dlerror 2.2.5
older dlinfo 2.3.3
older dlmopen 2.3.4
older dlopen 2.2.5
older dlsym 2.2.5
older dlvsym 2.2.5
older hypot 2.2.5
older hypotf 2.2.5
older __pthread_key_create 2.2.5
older pthread_attr_getstack 2.2.5
older pthread_attr_setstacksize 2.2.5
older pthread_cond_clockwait 2.30
older pthread_condattr_setpshared 2.2.5
older pthread_create 2.2.5
older pthread_detach 2.2.5
older pthread_getaffinity_np 2.3.4
older pthread_getattr_np 2.2.5
older pthread_getspecific 2.2.5
older pthread_join 2.2.5
older pthread_key_create 2.2.5
older pthread_key_delete 2.2.5
older pthread_kill 2.2.5
older pthread_mutex_clocklock 2.30
older pthread_mutex_timedlock 2.2.5
older pthread_mutex_trylock 2.2.5
older pthread_mutexattr_destroy 2.2.5
older pthread_mutexattr_init 2.2.5
older pthread_mutexattr_setpshared 2.2.5
older pthread_mutexattr_settype 2.2.5
older pthread_once 2.2.5
older pthread_rwlock_destroy 2.2.5
older pthread_rwlock_init 2.2.5
older pthread_rwlock_rdlock 2.2.5
older pthread_rwlock_timedrdlock 2.2.5
older pthread_rwlock_timedwrlock 2.2.5
older pthread_rwlock_tryrdlock 2.2.5
older pthread_rwlock_trywrlock 2.2.5
older pthread_rwlock_unlock 2.2.5
older pthread_rwlock_wrlock 2.2.5
older pthread_rwlockattr_destroy 2.2.5
older pthread_rwlockattr_init 2.2.5
older pthread_rwlockattr_setpshared 2.2.5
older pthread_setaffinity_np 2.3.4
older pthread_setattr_default_np 2.18
older pthread_setname_np 2.12
older pthread_setspecific 2.2.5
older pthread_sigmask 2.2.5
older pthread_spin_destroy 2.2.5
older pthread_spin_init 2.2.5
older pthread_spin_lock 2.2.5
older pthread_spin_trylock 2.2.5
older pthread_spin_unlock 2.2.5
older sem_destroy 2.2.5
older sem_init 2.2.5
older sem_post 2.2.5
older sem_timedwait 2.2.5
older sem_trywait 2.2.5
older sem_wait 2.2.5
older shm_open 2.2.5
older shm_unlink 2.2.5

// Whether a process has one thread only, so that counting references needs no atomics (2.32): never sure of it.
.section .rodata
.globl __libc_single_threaded
.hidden __libc_single_threaded
.type __libc_single_threaded, @object
__libc_single_threaded:
  .byte 0
.size __libc_single_threaded, 1

.section .note.GNU-stack, "", @progbits
