#include "report/function_purpose.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "sample/own_files.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Functions whose names begin like that.
struct PurposeNames {
  std::string_view begins;
  FunctionPurpose purpose;
};

bool is_allocation(std::string_view name) {
  return is_one_of(name,
                   {"malloc", "free", "cfree", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
                    "malloc_consolidate", "operator new", "operator new[]", "operator delete", "operator delete[]"}) ||
         starts_with_any(name, {"_int_malloc", "_int_free", "__libc_malloc", "__libc_free", "__libc_calloc",
                                "__libc_realloc", "__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rdl_alloc",
                                "__rdl_dealloc", "_gfortran_internal_malloc"});
}

FunctionPurpose by_beginning(std::string_view name) {
  using enum FunctionPurpose;
  static constexpr auto kNames =
      std::to_array<PurposeNames>({{"memcpy", copy},
                                   {"memmove", copy},
                                   {"memset", copy},
                                   {"__memcpy", copy},
                                   {"__memmove", copy},
                                   {"__memset", copy},
                                   {"strcpy", copy},
                                   {"__strcpy", copy},
                                   {"stpcpy", copy},
                                   {"__stpcpy", copy},
                                   {"strncpy", copy},
                                   {"__strncpy", copy},
                                   {"_gfortran_internal_pack", packing},
                                   {"_gfortran_internal_unpack", packing},
                                   {"printf", text},
                                   {"fprintf", text},
                                   {"sprintf", text},
                                   {"snprintf", text},
                                   {"vfprintf", text},
                                   {"vsnprintf", text},
                                   {"__vfprintf", text},
                                   {"__printf_fp", text},
                                   {"scanf", text},
                                   {"fscanf", text},
                                   {"sscanf", scan},
                                   {"vsscanf", scan},
                                   {"__vsscanf", scan},
                                   {"_IO_vsscanf", scan},
                                   {"strtod", text},
                                   {"strtol", text},
                                   {"strtoul", text},
                                   {"__strto", text},
                                   {"atof", text},
                                   {"std::basic_istringstream::", stream},
                                   {"std::basic_ostringstream::", stream},
                                   {"std::basic_stringstream::", stream},
                                   {"std::basic_stringbuf::basic_stringbuf", stream},
                                   {"std::basic_ios::init", stream},
                                   {"std::ios_base::ios_base", stream},
                                   {"std::ios_base::~ios_base", stream},
                                   {"std::ostream", text},
                                   {"std::istream", text},
                                   {"std::basic_ostream", text},
                                   {"std::basic_istream", text},
                                   {"std::num_get", text},
                                   {"std::num_put", text},
                                   {"std::to_string", text},
                                   {"_gfortran_st_read", text},
                                   {"_gfortran_st_write", text},
                                   {"_gfortran_transfer", text},
                                   {"_Unwind_", exception},
                                   {"__cxa_throw", exception},
                                   {"__cxa_rethrow", exception},
                                   {"__cxa_allocate_exception", exception},
                                   {"__cxa_free_exception", exception},
                                   {"__cxa_begin_catch", exception},
                                   {"__cxa_end_catch", exception},
                                   {"__gxx_personality", exception},
                                   {"std::__throw_", exception},
                                   {"rust_panic", exception},
                                   {"__rust_start_panic", exception},
                                   {"regcomp", pattern},
                                   {"regfree", pattern},
                                   {"pcre2_code_free", pattern},
                                   {"pcre_compile", pattern},
                                   {"pcre2_compile", pattern},
                                   {"std::basic_regex::", pattern},
                                   {"std::__detail::_Compiler::", pattern},
                                   {"re2::RE2::RE2", pattern},
                                   {"re2::RE2::Init", pattern},
                                   {"boost::basic_regex::", pattern},
                                   {"regex::Regex::new", pattern},
                                   {"std::_Sp_counted_", references},
                                   {"std::__shared_count::", references},
                                   {"std::__weak_count::", references},
                                   {"std::__shared_ptr::", references},
                                   {"std::shared_ptr::", references},
                                   {"__gnu_cxx::__atomic_add", references},
                                   {"__gnu_cxx::__exchange_and_add", references},
                                   {"boost::shared_ptr::", references},
                                   {"boost::detail::shared_count::", references},
                                   {"boost::detail::sp_counted", references},
                                   {"alloc::sync::Arc", references},
                                   {"std::__atomic_base::fetch_", atomics},
                                   {"std::__atomic_base::operator", atomics},
                                   {"std::__atomic_base::compare_exchange", atomics},
                                   {"std::__atomic_base::exchange", atomics},
                                   {"std::atomic::fetch_", atomics},
                                   {"std::atomic::operator", atomics},
                                   {"std::atomic::compare_exchange", atomics},
                                   {"std::atomic::exchange", atomics},
                                   {"core::sync::atomic::atomic_add", atomics},
                                   {"core::sync::atomic::atomic_compare_exchange", atomics},
                                   {"__aarch64_ldadd", atomics},
                                   {"__aarch64_cas", atomics},
                                   {"clock_gettime", clock},
                                   {"__clock_gettime", clock},
                                   {"__vdso_clock_gettime", clock},
                                   {"gettimeofday", clock},
                                   {"__vdso_gettimeofday", clock},
                                   {"std::chrono::steady_clock::now", clock},
                                   {"std::chrono::system_clock::now", clock},
                                   {"localtime", calendar},
                                   {"gmtime", calendar},
                                   {"__tz_convert", calendar},
                                   {"__offtime", calendar},
                                   {"tzset", calendar},
                                   {"__tzset", calendar},
                                   {"strftime", calendar},
                                   {"__strftime", calendar},
                                   {"mktime", calendar},
                                   {"__mktime", calendar},
                                   {"timegm", calendar},
                                   {"asctime", calendar},
                                   {"ctime", calendar},
                                   {"std::put_time", calendar},
                                   {"__random", random},
                                   {"random_r", random},
                                   {"rand_r", random},
                                   {"drand48", random},
                                   {"__drand48", random},
                                   {"lrand48", random},
                                   {"erand48", random},
                                   {"std::random_device::", random},
                                   {"__dynamic_cast", cast},
                                   {"__cxxabiv1::__", cast},
                                   {"strlen", length},
                                   {"__strlen", length},
                                   {"strnlen", length},
                                   {"__strnlen", length},
                                   {"rawmemchr", length},
                                   {"__rawmemchr", length},
                                   {"strcmp", string},
                                   {"__strcmp", string},
                                   {"strncmp", string},
                                   {"__strncmp", string},
                                   {"strcat", append},
                                   {"__strcat", append},
                                   {"strncat", append},
                                   {"__strncat", append},
                                   {"strchr", string},
                                   {"__strchr", string},
                                   {"strstr", string},
                                   {"__strstr", string},
                                   {"std::_Hash_bytes", hash},
                                   {"core::hash::sip::", hash},
                                   {"std::_Fnv_hash_bytes", hash},
                                   {"std::_Rb_tree", ordered},
                                   {"std::map::", ordered},
                                   {"std::set::", ordered},
                                   {"std::multimap::", ordered},
                                   {"std::multiset::", ordered},
                                   {"alloc::collections::btree::", ordered},
                                   {"std::list::", list},
                                   {"std::_List_", list},
                                   {"std::forward_list::", list},
                                   {"std::_Fwd_list", list},
                                   {"std::unordered_map::", table},
                                   {"std::unordered_set::", table},
                                   {"std::unordered_multimap::", table},
                                   {"std::unordered_multiset::", table},
                                   {"std::_Hashtable::", table},
                                   {"std::__hash_table::", table},
                                   {"std::__detail::_Map_base::", table},
                                   {"std::find", search},
                                   {"std::__find", search},
                                   {"std::ranges::__find", search},
                                   {"lfind", search},
                                   {"lsearch", search},
                                   {"core::slice::::contains", search},
                                   {"alloc::collections::vec_deque::VecDeque::contains", search},
                                   {"core::iter::traits::iterator::Iterator::nth", position},
                                   {"core::iter::traits::iterator::Iterator::advance_by", position},
                                   {"std::sort", sort},
                                   {"std::stable_sort", sort},
                                   {"std::__introsort_loop", sort},
                                   {"std::__introsort", sort},
                                   {"std::__final_insertion_sort", sort},
                                   {"std::__insertion_sort", sort},
                                   {"std::__unguarded_linear_insert", sort},
                                   {"std::__merge_sort", sort},
                                   {"std::__stable_sort", sort},
                                   {"std::__sort", sort},
                                   {"qsort", sort},
                                   {"__qsort_r", sort},
                                   {"msort_with_tmp", sort},
                                   {"core::slice::sort::", sort},
                                   {"alloc::slice::stable_sort", sort},
                                   {"gomp_iter_", dispatch},
                                   {"gomp_loop_", dispatch},
                                   {"__kmpc_dispatch_next", dispatch},
                                   {"__kmp_dispatch_next", dispatch},
                                   {"pthread_mutex_", mutex},
                                   {"__pthread_mutex_", mutex},
                                   {"pthread_spin_", mutex},
                                   {"__lll_lock_", mutex},
                                   {"pthread_rwlock_", mutex},
                                   {"__lll_mutex_", mutex},
                                   {"GOMP_critical", mutex},
                                   {"gomp_mutex_lock", mutex},
                                   {"__kmpc_critical", mutex},
                                   {"__kmp_acquire", mutex},
                                   {"gomp_barrier", team},
                                   {"gomp_team_barrier", team},
                                   {"gomp_team_end", team},
                                   {"gomp_thread_start", team},
                                   {"gomp_simple_barrier", team},
                                   {"__kmp_wait", team},
                                   {"__kmp_fork_barrier", team},
                                   {"__kmp_join_barrier", team},
                                   {"__kmp_barrier", team},
                                   {"__kmp_hyper_barrier", team},
                                   {"kmp_flag", team},
                                   {"tbb::detail::r1::outermost_worker", team},
                                   {"pthread_cond_", condition},
                                   {"__pthread_cond_", condition},
                                   {"sem_wait", condition},
                                   {"__new_sem_wait", condition},
                                   {"sem_timedwait", condition},
                                   {"sem_clockwait", condition},
                                   {"std::__atomic_futex_unsigned", condition},
                                   {"GOMP_", condition},
                                   {"gomp_", condition},
                                   {"__kmpc_", condition},
                                   {"pthread_join", join},
                                   {"__pthread_clockjoin", join},
                                   {"pthread_timedjoin", join},
                                   {"std::thread::join", join}});
  const auto found =
      std::ranges::find_if(kNames, [name](const PurposeNames& names) { return name.starts_with(names.begins); });
  return found == kNames.end() ? FunctionPurpose::none : found->purpose;
}

/// "sscanf" of "__isoc99_sscanf": the C library has one for each edition of the standard.
std::string_view without_standard(std::string_view name) {
  for (const std::string_view prefix : {"__isoc99_", "__isoc23_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return name;
}

/// An algorithm for any iterators, whose first template argument is an iterator of a tree, or the tree itself: it
/// cannot descend the tree. std::next and std::prev are mostly single steps.
bool walks_tree(const std::string& function) {
  static constexpr auto kAlgorithms = std::to_array<std::string_view>(
      {"lower_bound<", "upper_bound<", "equal_range<", "binary_search<", "distance<", "advance<", "find<", "count<",
       "_bound_fn::operator()<", "_range_fn::operator()<", "_search_fn::operator()<", "__find_fn::operator()<",
       "__count_fn::operator()<"});
  static constexpr auto kTrees = std::to_array<std::string_view>(
      {"std::_Rb_tree_", "std::__1::__tree_", "std::__1::__map_", "std::set<", "std::map<", "std::multiset<",
       "std::multimap<", "std::__1::set<", "std::__1::map<", "std::__1::multiset<", "std::__1::multimap<"});
  return std::ranges::any_of(kAlgorithms, [&](std::string_view name) {
    const std::size_t at = function.find(name);
    if (at == std::string::npos || at == 0 || (function[at - 1] != ':' && name.find(':') == std::string_view::npos))
      return false;
    std::string_view argument = std::string_view(function).substr(at + name.size());
    constexpr std::string_view kConst = "const";
    if (argument.starts_with(kConst)) argument.remove_prefix(kConst.size() + 1);
    return qualified_name(function).starts_with("std::") && starts_with_any(argument, kTrees);
  });
}

/// Python's regular expressions are compiled by Python code of its library.
bool compiles_patterns(const HostFrame& frame) {
  return !frame.own && (frame.file.ends_with("sre_compile.py") || frame.file.ends_with("sre_parse.py") ||
                        frame.file.ends_with("re/_compiler.py") || frame.file.ends_with("re/_parser.py"));
}

}  // namespace

std::string qualified_name(std::string_view function) {
  constexpr std::string_view kOperator = "operator";
  std::string text(function);
  for (const std::string_view part : {"(anonymous namespace)::", "__cxx11::", "_V2::", "[abi:cxx11]"}) {
    erase_all(text, part);
  }
  const std::string_view demangled = text;
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char letter = demangled[i];
    const std::string_view rest = demangled.substr(i);
    if (depth == 0 && rest.starts_with(kOperator) && (name.empty() || name.ends_with(':'))) {
      const std::string_view of = rest.substr(kOperator.size());  // "()(int)", "<< <char>(…)", " new(unsigned long)"
      const std::size_t end = of.starts_with("()") ? 2 : of.find_first_of(of.starts_with(' ') ? "(" : "( ");
      name += rest.substr(0, end == std::string_view::npos ? end : kOperator.size() + end);
      break;
    }
    if (letter == '(' && depth == 0) break;
    if (letter == '<') ++depth;
    if (depth == 0 && letter == ' ') {
      name.clear();  // that was the return type
    } else if (depth == 0) {
      name += letter;
    }
    if (letter == '>' && depth > 0) --depth;
  }
  return name.empty() ? text : name;
}

FunctionPurpose purpose_of(const HostFrame& frame) {
  if (frame.python) return compiles_patterns(frame) ? FunctionPurpose::pattern : FunctionPurpose::none;
  const std::string name = qualified_name(frame.function);
  if (is_allocation(name)) return FunctionPurpose::allocation;
  if (is_one_of(name, {"rand", "random"})) return FunctionPurpose::random;
  if (name.starts_with("GOMP_loop_") && name.ends_with("_next")) return FunctionPurpose::dispatch;
  if (walks_tree(frame.function)) return FunctionPurpose::walk;
  const FunctionPurpose purpose = by_beginning(without_standard(name));
  if (purpose != FunctionPurpose::none) return purpose;
  const std::string_view file = last_path_part(frame.file);
  // What these libraries do inside is mostly waiting, and distributions remove the names.
  if (is_openmp_runtime(file) && name == "[unknown]") return FunctionPurpose::team;
  return file.starts_with("libm.") || file.starts_with("libm-") ? FunctionPurpose::mathematics : FunctionPurpose::none;
}

bool is_container(FunctionPurpose purpose) {
  return purpose == FunctionPurpose::ordered || purpose == FunctionPurpose::list || purpose == FunctionPurpose::table;
}

bool is_copy_constructor(std::string_view demangled) {
  constexpr std::string_view kEnd = " const&)";
  if (!demangled.ends_with(kEnd)) return false;
  const std::string name = qualified_name(demangled);
  const std::size_t last = name.rfind("::");
  if (last == std::string::npos) return false;
  const std::string of = name.substr(0, last), function = name.substr(last + 2);
  if (of != function && !of.ends_with("::" + function)) return false;
  // The parameter is of the same class.
  for (std::size_t at = demangled.find('('); at != std::string_view::npos; at = demangled.find('(', at + 1)) {
    if (qualified_name(demangled.substr(at + 1, demangled.size() - at - 1 - kEnd.size())) == of) return true;
  }
  return false;
}

bool copies_or_destroys(std::string_view demangled) {
  if (is_copy_constructor(demangled)) return true;
  const std::string name = qualified_name(demangled);
  return name.find("::~") != std::string::npos || name.ends_with("::operator=");
}

std::string_view system_call_of(const HostFrame& frame) {
  static constexpr auto kCalls = std::to_array<std::string_view>(
      {"read",        "write",  "pread64",     "pwrite64",  "readv",           "writev",    "lseek64",   "open64",
       "openat64",    "close",  "stat64",      "fstat64",   "lstat64",         "fstatat64", "access",    "ioctl",
       "getdents64",  "mmap64", "munmap",      "mprotect",  "madvise",         "mremap",    "brk",       "sbrk",
       "clone",       "clone3", "fork",        "vfork",     "execve",          "fsync",     "fdatasync", "msync",
       "ftruncate64", "unlink", "sched_yield", "nanosleep", "clock_nanosleep", "poll",      "select",    "epoll_wait",
       "send",        "recv",   "sendto",      "recvfrom",  "sendmsg",         "recvmsg",   "syscall",   "getpid",
       "kill"});
  if (frame.own || frame.python || !last_path_part(frame.file).starts_with("libc")) return {};
  std::string_view name = frame.function;
  for (const std::string_view prefix : {"__GI_", "__libc_", "__"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  if (constexpr std::string_view kPlain = "_nocancel"; name.ends_with(kPlain)) name.remove_suffix(kPlain.size());
  const auto found = std::ranges::find_if(kCalls, [name](std::string_view call) {
    return call == name || (call.ends_with("64") && call.substr(0, call.size() - 2) == name);
  });
  return found == kCalls.end() ? std::string_view()
                               : found->substr(0, found->size() - (found->ends_with("64") ? 2 : 0));
}

bool opens_stream(const HostFrame& frame) {
  const std::string name = qualified_name(frame.function);
  return starts_with_any(name, {"fopen", "fdopen", "freopen", "_IO_new_fopen", "_IO_fopen", "__fopen_internal",
                                "_IO_file_fopen", "_IO_new_file_fopen", "_IO_file_open", "_IO_file_doallocate",
                                "std::basic_filebuf::open", "std::basic_ifstream::basic_ifstream",
                                "std::basic_ofstream::basic_ofstream", "std::basic_fstream::basic_fstream",
                                "std::basic_ifstream::open", "std::basic_ofstream::open", "std::basic_fstream::open"});
}

bool closes_stream(const HostFrame& frame) {
  const std::string name = qualified_name(frame.function);
  return starts_with_any(
      name, {"fclose", "_IO_fclose", "_IO_new_fclose", "std::basic_filebuf::close", "std::basic_ifstream::~",
             "std::basic_ofstream::~", "std::basic_fstream::~", "std::basic_ifstream::close",
             "std::basic_ofstream::close", "std::basic_fstream::close"});
}

bool is_power(const HostFrame& frame) {
  const std::string_view name = frame.function;
  return starts_with_any(name, {"pow", "powf", "__pow", "__ieee754_pow"}) &&
         purpose_of(frame) == FunctionPurpose::mathematics;
}

bool is_flush(const HostFrame& frame) {
  const std::string name = qualified_name(frame.function);
  return starts_with_any(name,
                         {"std::endl", "std::ostream::flush", "std::basic_ostream::flush", "fflush", "_IO_fflush"});
}

bool is_seek(const HostFrame& frame) {
  const std::string name = qualified_name(frame.function);
  return starts_with_any(name, {"fseek", "rewind", "fsetpos", "_IO_fsetpos", "_IO_new_fsetpos"}) ||
         is_one_of(name, {"std::istream::seekg", "std::basic_istream::seekg", "std::ostream::seekp",
                          "std::basic_ostream::seekp", "std::basic_filebuf::seekpos"});
}

bool fills_buffer(const HostFrame& frame) {
  const std::string name = qualified_name(frame.function);
  return name == "std::basic_filebuf::underflow" || name.ends_with("_IO_file_underflow") ||
         name.ends_with("_IO_new_file_underflow");
}

}  // namespace roofline
