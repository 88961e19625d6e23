// What a program's threads lose time to, by their stacks: each cause with the fault, and none without it.
#include "report/host_causes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/host_sums.hpp"
#include "report/function_purpose.hpp"
#include "tests/unit/host_samples_builder.hpp"

namespace roofline {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

HostFrame own(int line, const std::string& function) { return {function, "/home/u/solver.cpp", line, false, true}; }
HostFrame library(const std::string& function, const std::string& file = "/usr/lib/libc.so.6") {
  return {function, file, 0, false, false};
}

/// Seconds in which one thread runs the program's line 9, and in this library function that line 7 calls.
HostProfile running_in(const HostFrame& called, int in_function, int elsewhere) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  const int inside = builder.stack({called, own(7, "step"), own(20, "main")});
  const int outside = builder.stack({own(9, "step"), own(20, "main")});
  std::uint64_t time = 0;
  for (int i = 0; i < 100 * in_function; ++i) builder.sample(thread, time += 10'000'000, ThreadState::running, inside);
  for (int i = 0; i < 100 * elsewhere; ++i) builder.sample(thread, time += 10'000'000, ThreadState::running, outside);
  return host_profile(builder.take());
}

TEST(HostCauses, NameWhatTheProgramCallsLibrariesFor) {
  struct Case {
    const char* id;
    HostFrame called;
  };
  for (const Case& of :
       {Case{"allocation", library("malloc")},
        Case{"allocation", library("operator new(unsigned long)")},
        Case{"copy", library("__memmove_avx_unaligned_erms")},
        Case{"text", library("vfprintf")},
        Case{"mathematics", library("exp", "/usr/lib/libm.so.6")},
        Case{"exceptions", library("_Unwind_RaiseException", "/usr/lib/libgcc_s.so.1")},
        Case{"pattern-compilation", library("std::__cxx11::basic_regex<char, std::__cxx11::regex_traits<char> >::"
                                            "basic_regex(char const*, std::regex_constants::syntax_option_type)")},
        Case{"reference-counts", library("std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()")},
        Case{"atomics", library("std::__atomic_base<long>::fetch_add(long, std::memory_order)")},
        Case{"clock", library("clock_gettime")},
        Case{"random-numbers", library("rand")},
        Case{"dynamic-cast", library("__dynamic_cast", "/usr/lib/libstdc++.so.6")},
        Case{"string-lengths", library("__strlen_avx2")},
        Case{"strings", library("__strcmp_avx2")},
        Case{"hashing", library("std::_Hash_bytes(void const*, unsigned long, unsigned long)")},
        Case{"ordered-map",
             library("std::map<unsigned int, double, std::less<unsigned int> >::find(unsigned int const&) const")},
        Case{"calendar", library("__tz_convert")},
        Case{"pattern-compilation", library("regfree")},
        Case{"linear-search", library("core::slice::<impl [T]>::contains")},
        Case{"linear-search", library("int* std::__find_if<int*>(int*, int*)")},
        Case{"positions", library("core::iter::traits::iterator::Iterator::nth")},
        Case{"linked-list", library("std::_List_iterator<Event>::operator++()")}}) {
    const std::vector<HostCause> found = host_causes(running_in(of.called, 4, 6), true);
    ASSERT_THAT(found, SizeIs(1)) << of.id;
    EXPECT_EQ(found[0].id, of.id);
    EXPECT_NEAR(found[0].seconds, 4, 0.01);
    EXPECT_THAT(found[0].text, HasSubstr("40.0 %"));
    EXPECT_EQ(found[0].line, "solver.cpp:7 step");
    EXPECT_THAT(host_causes(running_in(of.called, 0, 6), true), IsEmpty());
  }
  EXPECT_THAT(host_causes(running_in(library("malloc"), 1, 19), true), IsEmpty()) << "5 % is too little";
  EXPECT_THAT(host_causes(running_in(library("getenv"), 5, 5), true), IsEmpty()) << "not known what it is for";
  HostFrame function_of_program = own(30, "malloc");
  EXPECT_THAT(host_causes(running_in(function_of_program, 5, 5), true), IsEmpty()) << "the program's own";
}

/// One thread that runs for ten seconds in this stack, the innermost frame first, and then in line 9.
HostProfile running_in_stack(std::vector<HostFrame> frames, int inside_s = 5) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  frames.push_back(own(7, "step"));
  const int inside = builder.stack(frames), outside = builder.stack({own(9, "step")});
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    builder.sample(thread, i * 10'000'000, ThreadState::running,
                   i <= 100 * static_cast<std::uint64_t>(inside_s) ? inside : outside);
  }
  return host_profile(builder.take());
}

TEST(HostCauses, NameTheLineThatCopiesSharedPointers) {
  const HostFrame copy = library("std::shared_ptr<Curve const>::shared_ptr(std::shared_ptr<Curve const> const&)"),
                  end = library("std::shared_ptr<Curve const>::~shared_ptr()");
  const auto causes = [](const HostFrame& first, const HostFrame& second) {
    HostSamplesBuilder builder;
    const int thread = builder.thread(10, 10);
    const int copies = builder.stack({first, own(7, "curve"), own(20, "main")}),
              ends = builder.stack({second, own(9, "annuity"), own(20, "main")});
    std::uint64_t time = 0;
    for (int i = 0; i < 100; ++i) builder.sample(thread, time += 10'000'000, ThreadState::running, copies);
    for (int i = 0; i < 200; ++i) builder.sample(thread, time += 10'000'000, ThreadState::running, ends);
    return host_causes(host_profile(builder.take()), true);
  };
  const std::vector<HostCause> found = causes(copy, end);
  ASSERT_THAT(found, SizeIs(1)) << "no copies of objects besides";
  EXPECT_EQ(found[0].id, "reference-counts");
  EXPECT_EQ(found[0].line, "solver.cpp:7 curve");
  EXPECT_NEAR(found[0].seconds, 3, 0.01);
  EXPECT_EQ(causes(end, end).at(0).line, "solver.cpp:9 annuity") << "pointers that are moved";
  EXPECT_THAT(causes(library("step"), library("step")), IsEmpty());
}

TEST(HostCauses, TakeTheOutermostPurposeExceptOfContainers) {
  const HostFrame find = library("std::map<int, int>::operator[](int const&)"), pattern = library("regcomp");
  EXPECT_EQ(host_causes(running_in_stack({library("malloc"), find}), true).at(0).id, "allocation");
  EXPECT_EQ(host_causes(running_in_stack({library("malloc"), pattern}), true).at(0).id, "pattern-compilation");
}

/// A stream's constructor looks its facets up by dynamic_cast; conversions of a stream that is kept do not count.
TEST(HostCauses, TellStringStreamsFromCastsAndConversions) {
  const HostFrame cast = library("__dynamic_cast"),
                  facet = library("bool std::has_facet<std::ctype<char> >(std::locale const&)"),
                  init = library("std::basic_ios<char, std::char_traits<char> >::init(std::basic_streambuf<char>*)"),
                  stream = library(
                      "std::__cxx11::basic_istringstream<char, std::char_traits<char>, std::allocator<char> >::"
                      "basic_istringstream(std::string const&, std::_Ios_Openmode)"),
                  extract = library("std::istream& std::istream::_M_extract<double>(double&)");
  EXPECT_EQ(host_causes(running_in_stack({cast, facet, init, stream}), true).at(0).id, "string-streams");
  EXPECT_EQ(host_causes(running_in_stack({cast, facet, init}), true).at(0).id, "string-streams");
  EXPECT_EQ(host_causes(running_in_stack({cast, extract}), true).at(0).id, "text");
  EXPECT_EQ(host_causes(running_in_stack({cast}), true).at(0).id, "dynamic-cast");
}

TEST(HostCauses, NameTheSystemCallAndItsLine) {
  const HostFrame endl = library(
      "std::basic_ostream<char, std::char_traits<char> >& std::endl<char, std::char_traits<char> >"
      "(std::basic_ostream<char, std::char_traits<char> >&)",
      "/usr/lib/libstdc++.so.6");
  HostProfile host = running_in_stack({library("__GI___libc_write"), endl});
  host.usage = {.user_s = 6, .system_s = 4, .page_faults = 100};
  std::vector<HostCause> found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1)) << "what a stream writes is no conversion";
  EXPECT_EQ(found[0].id, "system-calls");
  EXPECT_EQ(found[0].seconds, 4);
  EXPECT_EQ(found[0].line, "solver.cpp:7 step");
  EXPECT_THAT(found[0].action, HasSubstr("std::endl"));
  host = running_in_stack({library("read")});
  host.usage = {.user_s = 6, .system_s = 4, .page_faults = 100};
  EXPECT_THAT(host_causes(host, true).at(0).action, HasSubstr("Read"));
  host.usage = {.user_s = 9.9, .system_s = 0.1, .page_faults = 100};
  EXPECT_THAT(host_causes(host, true), IsEmpty());
}

TEST(HostCauses, LeaveOutWhatIsLittleOfTheWallTime) {
  HostProfile host = running_in(library("malloc"), 5, 5);
  ASSERT_THAT(host_causes(host, true), SizeIs(1));
  host.wall_s = 1000;
  EXPECT_THAT(host_causes(host, true), IsEmpty());
}

TEST(HostCauses, NameWhatASystemCallIsFor) {
  HostProfile host = running_in_stack({library("fstatat"), library("__tz_convert")});
  host.usage = {.user_s = 6, .system_s = 4, .page_faults = 100};
  const std::vector<HostCause> found = host_causes(host, true);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].id, "system-calls");
  EXPECT_THAT(found[0].action, HasSubstr("TZ"));
}

TEST(HostCauses, DoNotCallUnseenKernelTimeSystemCallsUnlessItIsLarge) {
  HostProfile host = running_in_stack({});
  host.usage = {.user_s = 8, .system_s = 2, .page_faults = 100};
  EXPECT_THAT(host_causes(host, true), IsEmpty()) << "interrupts, or a virtual machine";
  host.usage = {.user_s = 5, .system_s = 5, .page_faults = 100};
  EXPECT_EQ(host_causes(host, true).at(0).id, "system-calls");
}

/// Two threads; one is in line 7, which has this text, for some of ten seconds.
std::vector<HostCause> causes_of_line(const std::string& source, int seconds, int threads = 2) {
  HostSamplesBuilder builder;
  const int works = builder.stack({own(9, "step")}), waits = builder.stack({own(7, "consume")});
  for (int i = 0; i < threads; ++i) {
    const int thread = builder.thread(10, 10 + i);
    for (int tick = 1; tick <= 1000; ++tick) {
      const bool there = i == threads - 1 && tick <= 100 * seconds;
      builder.sample(thread, static_cast<std::uint64_t>(tick) * 10'000'000, ThreadState::running,
                     there ? waits : works);
    }
  }
  HostProfile host = host_profile(builder.take());
  for (HostLineSum& line : host.lines) {
    if (line.place.line == 7) line.source = source;
  }
  return host_causes(host, false);
}

TEST(HostCauses, NameALoopThatWaitsForAVariable) {
  for (const char* source :
       {"while (counter.load(std::memory_order_acquire) < value) {}", "while (!ready);",
        "while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) _mm_pause();", "while (queue->tail == tail) { } // empty",
        "while !READY.load(Ordering::Acquire) { std::hint::spin_loop(); }", "std::hint::spin_loop();"}) {
    const std::vector<HostCause> found = causes_of_line(source, 8);
    ASSERT_THAT(found, SizeIs(1)) << source;
    EXPECT_EQ(found[0].id, "busy-waiting");
    EXPECT_EQ(found[0].line, "solver.cpp:7 consume");
    EXPECT_LE(found[0].seconds, 8.01);
    EXPECT_THAT(causes_of_line(source, 2), IsEmpty()) << "a tenth of the CPU time";
    EXPECT_THAT(causes_of_line(source, 8, 1), IsEmpty()) << "no other thread";
  }
  for (const char* source :
       {"while (*to++ = *from++) {}", "while (step()) {}", "while (n -= 3) ;", "while (i < n) {", "while (low < high)",
        "while (queue.pop(item)) {}", "for (;;) {}", "continue;", "", "while", "while (", "}"}) {
    EXPECT_THAT(causes_of_line(source, 8), IsEmpty()) << source;
  }
}

TEST(HostCauses, DoNotClaimTheSameTimeTwice) {
  HostProfile host = running_in_stack({library("__memset_avx2")}, 9);
  host.usage = {.user_s = 3, .system_s = 7, .page_faults = 8e6};
  double sum = 0;
  for (const HostCause& cause : host_causes(host, true)) sum += cause.seconds;
  EXPECT_LE(sum, 10.001);
}

TEST(HostCauses, NameProcessesAndThreadsThatAreTooShortToBeSampled) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  const int waits = builder.stack({library("wait4"), own(7, "sizes")}),
            joins = builder.stack({library("pthread_join"), own(8, "step")});
  for (std::uint64_t i = 1; i <= 1000; ++i) builder.sample(thread, i * 10'000'000, ThreadState::child, waits);
  HostProfile host = host_profile(builder.take());
  EXPECT_THAT(host_causes(host, true), IsEmpty()) << "a launcher waits for one program";
  host.usage = {.user_s = 4, .system_s = 4, .page_faults = 1e6};
  std::vector<HostCause> found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "process-starts");
  EXPECT_EQ(found[0].line, "solver.cpp:7 sizes");
  EXPECT_LE(found[0].seconds, host.wall_s);

  HostProfile helped = host;
  HostProcessSum helper;
  helper.pid = 11;
  helper.parent = 10;
  helper.threads = 1;
  helper.times.of(ThreadState::sleep) = 9.5;
  helped.processes.push_back(helper);
  EXPECT_THAT(host_causes(helped, true), Not(Contains(Field(&HostCause::id, "process-starts")))) << "one helper";

  HostSamplesBuilder threads;
  threads.thread(10, 10);
  for (std::uint64_t i = 1; i <= 1000; ++i)
    threads.sample(0, i * 10'000'000, ThreadState::lock, threads.stack({library("pthread_join"), own(8, "step")}));
  static_cast<void>(joins);
  host = host_profile(threads.take());
  EXPECT_THAT(host_causes(host, true), IsEmpty());
  host.usage = {.user_s = 1, .system_s = 4, .page_faults = 100};
  found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "thread-starts");
  EXPECT_EQ(found[0].line, "solver.cpp:8 step");
}

/// Threads of 80 ms are seen by eight samples each, whatever the kernel does meanwhile.
TEST(HostCauses, ThreadsThatLastLongerAreNoThreadStarts) {
  for (const int samples : {1, 8}) {
    HostSamplesBuilder threads;
    threads.thread(10, 10);
    const int joins = threads.stack({library("pthread_join"), own(8, "step")}), works = threads.stack({own(9, "scan")});
    for (int i = 0; i < 800; ++i) {
      const std::uint64_t time = static_cast<std::uint64_t>(i + 1) * 10'000'000;
      if (i % samples == 0) threads.thread(10, 11 + i);
      threads.sample(0, time, ThreadState::lock, joins);
      if (i % 8 < samples) threads.sample(1 + i / samples, time, ThreadState::running, works);
    }
    HostProfile host = host_profile(threads.take());
    host.usage = {.user_s = 9, .system_s = 16, .page_faults = 100};
    const std::vector<HostCause> found = host_causes(host, true);
    ASSERT_THAT(found, Not(IsEmpty()));
    EXPECT_EQ(found[0].id == "thread-starts", samples == 1) << found[0].id;
  }
}

/// A thread works for some of each 100 ms, and waits for the rest.
HostProfile waiting_between(ThreadState state, const HostFrame& call, int working) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10), other = builder.thread(10, 11);
  const int runs = builder.stack({own(9, "step")}), waits = builder.stack({call, own(7, "poll_results")});
  const int rests = builder.stack({library("clock_nanosleep"), own(50, "heartbeat")});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const bool works = static_cast<int>(i % 10) < working;
    builder.sample(thread, (i + 1) * 10'000'000, works ? ThreadState::running : state, works ? runs : waits);
    builder.sample(other, (i + 1) * 10'000'000, ThreadState::sleep, rests);
  }
  return host_profile(builder.take());
}

TEST(HostCauses, NameWhatTheThreadThatRunsNextWaitedFor) {
  struct Case {
    const char* id;
    ThreadState state;
    const char* call;
  };
  for (const Case& of :
       {Case{"sleep", ThreadState::sleep, "clock_nanosleep"}, Case{"network", ThreadState::network, "recv"},
        Case{"file-sync", ThreadState::disk, "fsync"}, Case{"disk", ThreadState::disk, "pread64"}}) {
    const std::vector<HostCause> found = host_causes(waiting_between(of.state, library(of.call), 5), false);
    ASSERT_THAT(found, SizeIs(1)) << of.id;
    EXPECT_EQ(found[0].id, of.id);
    EXPECT_EQ(found[0].line, "solver.cpp:7 poll_results");
    EXPECT_NEAR(found[0].seconds, 5, 0.2);
    EXPECT_THAT(host_causes(waiting_between(of.state, library(of.call), 9), false), IsEmpty());
  }
  for (const ThreadState state : {ThreadState::request, ThreadState::lock, ThreadState::poll}) {
    EXPECT_THAT(host_causes(waiting_between(state, library("accept"), 5), false), IsEmpty());
  }
  EXPECT_THAT(host_causes(waiting_between(ThreadState::sleep, library("nanosleep"), 0), false), IsEmpty());
}

TEST(HostCauses, TellALineOfPythonFromTheLibraryThatItCalls) {
  for (const bool native : {false, true}) {
    HostSamplesBuilder builder;
    const int thread = builder.thread(10, 10);
    const HostFrame line = HostSamplesBuilder::own("analysis.py", 12, "<module>");
    const int inside = builder.stack({library("dgemm_kernel", "/usr/lib/libopenblas.so.0"), line});
    const int interpreted = builder.stack({line});
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      builder.sample(thread, i * 10'000'000, ThreadState::running, native && i % 3 == 0 ? inside : interpreted);
    }
    const std::vector<HostCause> found = host_causes(host_profile(builder.take()), true);
    EXPECT_THAT(found, SizeIs(native ? 0 : 1));
    if (!native) {
      EXPECT_EQ(found.front().id, "interpreted");
    }
  }
}

TEST(HostCauses, ReadTheNamesOfFunctions) {
  EXPECT_EQ(qualified_name("std::map<int, std::pair<int, int> >::find(int const&) const"), "std::map::find");
  EXPECT_EQ(qualified_name("std::ostream& std::endl<char, std::char_traits<char> >(std::ostream&)"), "std::endl");
  EXPECT_EQ(qualified_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(qualified_name("Grid::operator()(int, int) const"), "Grid::operator()");
  EXPECT_EQ(qualified_name("std::ostream& std::operator<< <char>(std::ostream&, char const*)"), "std::operator<<");
  EXPECT_EQ(qualified_name("(anonymous namespace)::step(int)"), "step");
  EXPECT_EQ(qualified_name("std::__cxx11::list<Event>::sort()"), "std::list::sort");
  EXPECT_EQ(qualified_name("main"), "main");
  EXPECT_EQ(qualified_name("(((<<"), "(((<<");
  EXPECT_EQ(purpose_of(own(3, "parse(std::map<int, int> const&)")), FunctionPurpose::none);
}

TEST(HostCauses, AThreadThatSpinsAtABarrierDoesNotWork) {
  HostSamplesBuilder builder;
  const int first = builder.thread(10, 10), second = builder.thread(10, 11);
  const int works = builder.stack({own(9, "distances.omp_fn.0")});
  const int spins = builder.stack({library("[unknown]", "/usr/lib/libgomp.so.1"), library("start_thread")});
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    builder.sample(first, i * 10'000'000, ThreadState::running, works);
    builder.sample(second, i * 10'000'000, ThreadState::running, i % 10 < 5 ? works : spins);
  }
  const std::vector<HostCause> found = host_causes(host_profile(builder.take()), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "unequal-work");
  EXPECT_NEAR(found[0].seconds, 2.5, 0.1);
}

/// Two threads; one waits in `function` for a tenth of the time or all of it.
HostProfile waiting_in(const char* function, bool often) {
  HostSamplesBuilder builder;
  const int first = builder.thread(10, 10), second = builder.thread(10, 11);
  const int waits = builder.stack({library(function), own(7, "step")}), runs = builder.stack({own(9, "step")});
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    builder.sample(first, i * 10'000'000, ThreadState::running, runs);
    const bool is_waiting = often || i % 100 == 0;
    builder.sample(second, i * 10'000'000, is_waiting ? ThreadState::lock : ThreadState::running,
                   is_waiting ? waits : runs);
  }
  return host_profile(builder.take());
}

TEST(HostCauses, NameAMutexAndNotAJoin) {
  const std::vector<HostCause> found = host_causes(waiting_in("pthread_mutex_lock", true), false);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "mutex");
  EXPECT_EQ(found[0].line, "solver.cpp:7 step");
  EXPECT_LE(found[0].seconds, 10.01);
  EXPECT_THAT(host_causes(waiting_in("pthread_mutex_lock", false), false), IsEmpty());
  HostProfile contended = waiting_in("pthread_mutex_lock", true);
  contended.usage = {.user_s = 6, .system_s = 4, .page_faults = 100};
  EXPECT_THAT(host_causes(contended, false), SizeIs(1)) << "the kernel's time is that of the mutex";
  const HostProfile joins = waiting_in("pthread_join", true);
  EXPECT_THAT(host_causes(joins, false), IsEmpty());
  EXPECT_TRUE(waits_for_threads(joins));
  EXPECT_FALSE(waits_for_threads(waiting_in("pthread_mutex_lock", true)));
}

/// Two threads that give each other one item at a time, and threads that sleep as long for few.
TEST(HostCauses, NameThreadsThatWakeEachOther) {
  for (const double per_second : {40'000., 200.}) {
    for (const double system_s : {4., 0.2}) {
      HostProfile host = waiting_in("pthread_cond_wait", true);
      host.usage = {.user_s = 6, .system_s = system_s, .page_faults = 100, .sleeps = per_second * host.wall_s};
      const std::vector<HostCause> found = host_causes(host, true);
      const bool often = per_second > 1000 && system_s > 1;
      EXPECT_EQ(std::ranges::count(found, "handovers", &HostCause::id), often ? 1 : 0) << per_second << ' ' << system_s;
      if (!often) continue;
      EXPECT_EQ(found[0].id, "handovers");
      EXPECT_EQ(found[0].line, "solver.cpp:7 step");
      EXPECT_NEAR(found[0].seconds, system_s, 1e-9);
      EXPECT_EQ(std::ranges::count(found, "system-calls", &HostCause::id), 0);
    }
  }
}

/// Two threads run at the same time, then one of them `alone` more seconds in a function.
HostProfile alone_in(const std::string& function, int together, int alone,
                     ThreadState of_second = ThreadState::running) {
  HostSamplesBuilder builder;
  const int first = builder.thread(10, 10), second = builder.thread(10, 11);
  const int parallel = builder.stack({own(9, "step")}),
            last = function == "import"
                       ? builder.stack({{"_find_and_load", "<frozen importlib._bootstrap>", 1360, true, false},
                                        own(3, "<module>")})
                       : builder.stack({own(function == "step" ? 9 : 30, function)});
  std::uint64_t time = 0;
  for (int i = 0; i < 100 * together; ++i) {
    time += 10'000'000;
    builder.sample(first, time, ThreadState::running, parallel);
    builder.sample(second, time, of_second, parallel);
  }
  for (int i = 0; i < 100 * alone; ++i) builder.sample(first, time += 10'000'000, ThreadState::running, last);
  return host_profile(builder.take());
}

TEST(HostCauses, NameASerialPartAndUnequalWork) {
  const std::vector<HostCause> serial = host_causes(alone_in("write_result", 5, 5), true);
  ASSERT_THAT(serial, SizeIs(1));
  EXPECT_EQ(serial[0].id, "serial-part");
  EXPECT_NEAR(serial[0].seconds, 2.5, 0.02);
  EXPECT_EQ(serial[0].line, "solver.cpp:30 write_result");
  EXPECT_THAT(serial[0].action, HasSubstr("omp"));
  // The body of a parallel region, which one thread has nearly all of.
  EXPECT_EQ(host_causes(alone_in("step [clone ._omp_fn.0]", 0, 9), true).size(), 0U) << "no other thread";
  for (const char* function : {"count_all(Graph const&) [clone ._omp_fn.0]", "count_all(Graph const&)"}) {
    HostSamplesBuilder one_has_most;
    const int first = one_has_most.thread(10, 10), second = one_has_most.thread(10, 11);
    const int body = one_has_most.stack({own(9, function)}),
              waits = one_has_most.stack({library("[unknown]", "/usr/lib/libgomp.so.1"), library("start_thread")});
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      one_has_most.sample(first, i * 10'000'000, ThreadState::running, body);
      one_has_most.sample(second, i * 10'000'000, ThreadState::running, i % 10 == 0 ? body : waits);
    }
    const std::vector<HostCause> found = host_causes(host_profile(one_has_most.take()), true);
    ASSERT_THAT(found, SizeIs(1));
    const bool parallel = std::string_view(function).ends_with("]");
    EXPECT_EQ(found[0].id, parallel ? "unequal-work" : "serial-part");
  }
  const std::vector<HostCause> unequal = host_causes(alone_in("step", 5, 5), true);
  ASSERT_THAT(unequal, SizeIs(1));
  EXPECT_EQ(unequal[0].id, "unequal-work");
  EXPECT_THAT(host_causes(alone_in("write_result", 5, 5), false), IsEmpty()) << "found by loop";
  EXPECT_THAT(host_causes(alone_in("write_result", 9, 1), true), IsEmpty());
  EXPECT_THAT(host_causes(alone_in("import", 5, 5), true), IsEmpty()) << "the start of an interpreter";
  EXPECT_THAT(host_causes(alone_in("write_result", 0, 5), true), IsEmpty()) << "a program of one thread";
  EXPECT_THAT(host_causes(alone_in("step", 5, 5, ThreadState::runnable), true), IsEmpty()) << "too few CPUs";
  EXPECT_THAT(host_causes(alone_in("write_result", 5, 5, ThreadState::runnable), true), SizeIs(1))
      << "no other thread ever works there";
}

TEST(HostCauses, NameTheKernelByItsPageFaults) {
  HostProfile host = running_in(library("qsort"), 0, 5);
  host.usage.user_s = 4;
  host.usage.system_s = 2;
  host.usage.page_faults = 5e6;
  std::vector<HostCause> found = host_causes(host, true, 1e9);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "page-faults");
  EXPECT_EQ(found[0].seconds, 2);
  EXPECT_THAT(found[0].text, HasSubstr("33.3 %"));
  EXPECT_THAT(found[0].text, HasSubstr("solver.cpp:9"));
  EXPECT_THAT(found[0].action, HasSubstr("reuse"));
  EXPECT_THAT(host_causes(host, true, 2e10).at(0).action, HasSubstr("huge pages"));
  host.usage.page_faults = 1000;
  found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "system-calls");
  EXPECT_THAT(found[0].text, testing::Not(HasSubstr("1,000"))) << "so few faults are not the time";
  host.usage.system_s = 0.1;
  EXPECT_THAT(host_causes(host, true), IsEmpty());
}

}  // namespace
}  // namespace roofline
