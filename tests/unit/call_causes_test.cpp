// What programs lose time to in functions that they call often: each cause with the fault, and none without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "profile/host_sums.hpp"
#include "report/function_purpose.hpp"
#include "report/host_causes.hpp"
#include "report/source_lines.hpp"
#include "sample/function_roles.hpp"
#include "sample/own_files.hpp"
#include "sample/ready_time.hpp"
#include "tests/unit/host_samples_builder.hpp"
#include "text/demangle.hpp"

namespace roofline {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kTick = 10'000'000;
constexpr double kMegabyte = 1e6;

HostFrame own(int line, const std::string& function) { return {function, "/home/u/solver.cpp", line, false, true}; }
HostFrame library(const std::string& function, const std::string& file = "/usr/include/c++/12/bits/stl_algo.h") {
  return {function, file, 0, false, false};
}

/// One thread for two seconds in each of these stacks, innermost first.
HostProfile running(const std::vector<std::vector<HostFrame>>& stacks, ThreadState state = ThreadState::running) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  std::uint64_t time = 0;
  for (const std::vector<HostFrame>& frames : stacks) {
    const int stack = builder.stack(frames);
    for (int i = 0; i < 200; ++i) builder.sample(thread, time += kTick, state, stack);
  }
  return host_profile(builder.take());
}

TEST(CallCauses, SortsOfSmallArrays) {
  const HostFrame sort = library("void std::sort<int*>(int*, int*)");
  const HostFrame loop = library("void std::__introsort_loop<int*, long>(int*, int*, long)");
  const auto deep = [&](std::size_t levels) {
    std::vector<HostFrame> frames(levels, loop);
    frames.push_back(sort);
    frames.push_back(own(7, "median"));
    return frames;
  };
  const std::vector<HostCause> shallow = host_causes(running({deep(2), deep(4)}), true);
  ASSERT_THAT(shallow, SizeIs(1));
  EXPECT_EQ(shallow[0].id, "repeated-sort");
  EXPECT_EQ(shallow[0].line, "solver.cpp:7 median");
  EXPECT_THAT(host_causes(running({deep(2), deep(12)}), true), IsEmpty()) << "one sort of a large array";

  const HostProfile stable = running({{library("std::stable_sort<int*>(int*, int*)"), own(7, "median")}});
  EXPECT_THAT(host_causes(stable, true, kMegabyte), SizeIs(1)) << "four seconds are many sorts of a megabyte";
  EXPECT_THAT(host_causes(stable, true, 4000 * kMegabyte), IsEmpty());
  EXPECT_THAT(host_causes(stable, true), IsEmpty());
}

TEST(CallCauses, AComparisonThatASortCallsBack) {
  const HostFrame loop = library("void std::__introsort_loop<int*, long>(int*, int*, long)");
  const std::vector<HostCause> found = host_causes(
      running({{own(3, "less"), loop, library("void std::sort<int*>(int*, int*)"), own(7, "median")}}), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].line, "solver.cpp:7 median");
}

TEST(CallCauses, HashTables) {
  const HostFrame find = library("std::unordered_map<Cell, int, CellHash>::operator[](Cell const&)");
  const std::vector<HostCause> found =
      host_causes(running({{find, own(7, "count")}, {own(3, "Cell::equal"), find, own(7, "count")}}), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "hash-table");
  EXPECT_EQ(found[0].line, "solver.cpp:7 count");
  EXPECT_THAT(host_causes(running({{find, own(7, "count")}, {own(8, "count")}, {own(9, "count")}}), true), IsEmpty());
}

TEST(CallCauses, CopiesOfObjects) {
  const HostFrame malloc = library("malloc", "/usr/lib/libc.so.6"), free = library("cfree", "/usr/lib/libc.so.6");
  const HostFrame copy = library("Offer::Offer(Offer const&)"), end = library("Offer::~Offer()");
  const std::vector<HostCause> inlined =
      host_causes(running({{malloc, copy, own(7, "cheapest")}, {free, end, own(9, "cheapest")}}), true);
  ASSERT_THAT(inlined, SizeIs(1)) << "their allocations are no cause of their own";
  EXPECT_EQ(inlined[0].id, "object-copies");
  EXPECT_EQ(inlined[0].line, "solver.cpp:7 cheapest");
  EXPECT_NEAR(inlined[0].seconds, 4, 0.05);
  HostFrame called = own(3, "Offer::Offer(Offer const&)");
  const std::vector<HostCause> by_call = host_causes(running({{malloc, called, own(7, "cheapest")}}), true);
  ASSERT_THAT(by_call, SizeIs(1));
  EXPECT_EQ(by_call[0].line, "solver.cpp:7 cheapest");
  const std::vector<HostCause> ends = host_causes(running({{free, end, own(9, "cheapest")}}), true);
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].id, "allocation") << "nothing is copied";
}

TEST(CallCauses, ReadTheNamesOfMembers) {
  EXPECT_TRUE(is_copy_constructor(
      "std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> > const&)"));
  EXPECT_TRUE(is_copy_constructor("shop::Offer::Offer(shop::Offer const&)"));
  for (const char* other :
       {"Offer::Offer(Other const&)", "Offer::price(Offer const&)", "Offer::Offer(int)", "copy(Offer const&)"})
    EXPECT_FALSE(is_copy_constructor(other)) << other;
  EXPECT_TRUE(copies_or_destroys("Offer::~Offer()"));
  EXPECT_FALSE(copies_or_destroys("main"));
  for (const char* special : {"_ZN5OfferC2ERKS_", "_ZN5OfferD1Ev", "_ZN4shop5OfferaSERKS0_", "_ZN5OfferC4ERKS_"})
    EXPECT_TRUE(is_special_member(special)) << special;
  for (const char* other : {"_ZN5OfferC2Ei", "_Z4copyRK5Offer", "_ZN5Offer4sameERKS_", "main"})
    EXPECT_FALSE(is_special_member(other)) << other;
}

TEST(CallCauses, DispatchOfIterations) {
  const HostFrame body = own(22, "main._omp_fn.0"), unknown = library("[unknown]", "/usr/lib/libgomp.so.1");
  const HostFrame dynamic = library("GOMP_parallel_loop_nonmonotonic_dynamic", "/usr/lib/libgomp.so.1");
  const HostFrame plain = library("GOMP_parallel", "/usr/lib/libgomp.so.1");
  const std::vector<HostCause> found = host_causes(running({{unknown, body, dynamic, own(19, "main")}, {body}}), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "loop-dispatch");
  EXPECT_EQ(found[0].line, "solver.cpp:22 main._omp_fn.0");
  EXPECT_THAT(host_causes(running({{unknown, body, plain, own(19, "main")}, {body}}), true), IsEmpty()) << "a barrier";
  HostProfile by_text = running({{unknown, body}, {body}});
  by_text.lines[0].source = "#pragma omp parallel for schedule(dynamic); x[i] += 1;";
  EXPECT_THAT(host_causes(by_text, true), SizeIs(1));
  EXPECT_THAT(host_causes(running({{library("__kmpc_dispatch_next_4", "/usr/lib/libomp.so"), body}, {body}}), true),
              SizeIs(1));
}

TEST(CallCauses, CopiesOfFortranSlices) {
  for (const char* slice : {"call adjust(t(c,:), n)", "CALL adjust(n, t(2, :, k))", "call f(a(i, 1:n))"})
    EXPECT_TRUE(is_call_with_slice(slice)) << slice;
  for (const char* other :
       {"call adjust(t(:,c), n)", "call f(a(:, :))", "call f(a, b)", "x = t(c,:)", "call f(a(i,j), b(:))", "call f"})
    EXPECT_FALSE(is_call_with_slice(other)) << other;
  HostProfile host = running({{own(35, "MAIN__")}, {own(38, "MAIN__")}});
  EXPECT_THAT(host_causes(host, true), IsEmpty());
  for (HostLineSum& line : host.lines) line.source = line.place.line == 35 ? "call adjust(t(c,:), n)" : "x = x + 1";
  const std::vector<HostCause> found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "array-temporaries");
  EXPECT_EQ(found[0].line, "solver.cpp:35 MAIN__");
}

TEST(CallCauses, SyncsThatAreWorkOfTheKernel) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  const int sync = builder.stack({library("fsync", "/usr/lib/libc.so.6"), own(17, "append")});
  for (std::uint64_t i = 1; i <= 100; ++i) {
    builder.sample(thread, i * kTick, i % 10 == 0 ? ThreadState::disk : ThreadState::running, i % 10 == 0 ? sync : -1);
  }
  HostProfile host = host_profile(builder.take());
  host.usage = {.user_s = 0.01, .system_s = 0.8, .page_faults = 73};
  const std::vector<HostCause> found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "file-sync");
  EXPECT_EQ(found[0].line, "solver.cpp:17 append");
  EXPECT_EQ(found[0].text.find("73"), std::string::npos);
}

/// Innermost first, below the program's line 7.
std::vector<HostCause> causes_in(std::vector<HostFrame> frames) {
  frames.push_back(own(7, "load"));
  return host_causes(running({frames, {own(9, "load")}}), true);
}

TEST(CallCauses, TextWhoseEndEachCallLooksFor) {
  const HostFrame length = library("__rawmemchr_evex"), init = library("_IO_str_init_static_internal"),
                  scan = library("__isoc99_sscanf"), number = library("__vfscanf_internal");
  const std::vector<HostCause> found = causes_in({length, init, scan});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "text-scans");
  EXPECT_EQ(found[0].line, "solver.cpp:7 load");
  EXPECT_EQ(causes_in({library("__strlen_evex"), scan}).at(0).id, "text-scans");
  EXPECT_EQ(causes_in({number, scan}).at(0).id, "text") << "a short line: it converts";
  EXPECT_EQ(causes_in({length}).at(0).id, "string-lengths");
  EXPECT_EQ(causes_in({library("__strcat_evex")}).at(0).id, "string-appends");
  EXPECT_EQ(causes_in({library("__strlen_evex"), library("__strncat")}).at(0).id, "string-appends");
  EXPECT_EQ(causes_in({library("__isoc23_strtol")}).at(0).id, "text");
}

TEST(CallCauses, TextThatStringStreamsCopy) {
  const HostFrame stream = library("std::__cxx11::basic_istringstream<char>::basic_istringstream(std::string const&)");
  EXPECT_EQ(causes_in({library("__memcpy_evex"), stream}).at(0).id, "stream-text");
  EXPECT_EQ(causes_in({stream}).at(0).id, "string-streams");
}

/// Seconds in the system calls of a stream's seeks, at line 7, and in the reads that fill its buffer, at line 8.
HostCause cause_of_stream(int seeks, int reads, const std::string& seek) {
  const HostFrame fill = library("std::basic_filebuf<char, std::char_traits<char> >::underflow()"),
                  get = library("std::istream::read(char*, long)"), kernel{"[kernel]", "", 0, false, false};
  const HostFrame read = library("__read", "/usr/lib/libc.so.6"), lseek = library("lseek", "/usr/lib/libc.so.6");
  std::vector<std::vector<HostFrame>> stacks(static_cast<std::size_t>(seeks),
                                             {kernel, lseek, library(seek), own(7, "load")});
  stacks.resize(static_cast<std::size_t>(seeks + reads), {kernel, read, fill, get, own(8, "load")});
  HostProfile host = running(stacks);
  host.usage = {.user_s = 0.1, .system_s = 2.0 * (seeks + reads), .page_faults = 100};
  const std::vector<HostCause> found = host_causes(host, true);
  return found.size() == 1 ? found[0] : HostCause();
}

TEST(CallCauses, SeeksThatDiscardTheBufferOfAStream) {
  const std::string seek = "std::istream::seekg(std::fpos<__mbstate_t>)";
  const HostCause discards = cause_of_stream(1, 7, seek), fills = cause_of_stream(0, 8, seek);
  EXPECT_EQ(discards.id, "system-calls");
  EXPECT_EQ(discards.line, "solver.cpp:7 load");
  EXPECT_THAT(discards.action, testing::HasSubstr("pread"));
  EXPECT_EQ(fills.line, "solver.cpp:8 load");
  EXPECT_THAT(fills.action, testing::HasSubstr("setvbuf")) << "no seeks: the buffer is small";
  EXPECT_EQ(cause_of_stream(1, 20, seek).line, "solver.cpp:8 load") << "a seek for many reads";
  const HostCause only_seeks = cause_of_stream(8, 1, "fseek");
  EXPECT_EQ(only_seeks.line, "solver.cpp:7 load");
  EXPECT_NE(only_seeks.text, discards.text) << "the buffer is kept";
  EXPECT_EQ(only_seeks.action, discards.action);
  EXPECT_NE(cause_of_stream(8, 0, "std::istream::tellg()").action, discards.action) << "the position stays";
}

/// An algorithm that gets iterators of this kind.
HostFrame algorithm(const std::string& name, const std::string& iterator) {
  return library(iterator + " std::" + name + "<" + iterator + ", long>(" + iterator + ", " + iterator +
                 ", long const&)");
}

TEST(CallCauses, AlgorithmsThatWalkTrees) {
  const std::string tree = "std::_Rb_tree_const_iterator<long>";
  const HostFrame step = library("std::_Rb_tree_increment(std::_Rb_tree_node_base const*)"),
                  compare = own(3, "Slot::operator<(Slot const&) const");
  for (const char* name : {"lower_bound", "upper_bound", "binary_search", "find", "distance", "advance"}) {
    for (const auto& stack : {std::vector{step, algorithm(name, tree), own(7, "next_after")},
                              std::vector{compare, algorithm(name, tree), own(7, "next_after")}}) {
      const std::vector<HostCause> found = host_causes(running({stack}), true);
      ASSERT_THAT(found, SizeIs(1)) << name;
      EXPECT_EQ(found[0].id, "tree-walks") << name;
      EXPECT_EQ(found[0].line, "solver.cpp:7 next_after");
      EXPECT_LE(found[0].seconds, 2);
    }
  }
  const HostFrame member = library("std::set<long, std::less<long> >::lower_bound(long const&)");
  for (const HostFrame& outer :
       {algorithm("prev", tree), library("std::vector<long>::_M_range_initialize<" + tree + " >()")}) {
    for (const char* name : {"distance", "advance"}) {
      const auto found = host_causes(running({{step, algorithm(name, tree), outer, own(7, "next_after")}}), true);
      EXPECT_EQ(found.at(0).id, "ordered-map") << outer.function;
    }
  }
  const HostFrame ranges =
      library("auto std::ranges::__lower_bound_fn::operator()<std::set<long>&, long>(std::set<long>&)");
  EXPECT_EQ(purpose_of(ranges), FunctionPurpose::walk);
  EXPECT_EQ(purpose_of(member), FunctionPurpose::ordered) << "it descends the tree";
  EXPECT_EQ(purpose_of(algorithm("next", tree)), FunctionPurpose::none) << "a step";
  const std::string array = "__gnu_cxx::__normal_iterator<std::_Rb_tree_const_iterator<long>*, std::vector<long> >";
  EXPECT_EQ(purpose_of(algorithm("lower_bound", array)), FunctionPurpose::none) << "an array of iterators";
  EXPECT_EQ(purpose_of(algorithm("find", "long*")), FunctionPurpose::search);
}

TEST(CallCauses, PowersHaveAnActionOfTheirOwn) {
  const HostFrame power = library("__ieee754_pow_fma", "/usr/lib/libm.so.6"),
                  exp = library("exp", "/usr/lib/libm.so.6");
  const HostCause powers = causes_in({power}).at(0), others = causes_in({exp}).at(0);
  EXPECT_EQ(powers.id, "mathematics");
  EXPECT_EQ(others.id, "mathematics");
  EXPECT_THAT(powers.action, testing::HasSubstr("sqrt(x)"));
  EXPECT_THAT(others.action, testing::Not(testing::HasSubstr("sqrt(x)")));
  EXPECT_FALSE(is_power(library("powerful", "/usr/lib/libx.so")));
}

/// Seconds in the system calls that open a file at line 7, close it at line 8, and read another one at line 9.
std::vector<HostCause> causes_of_files(const HostFrame& open, const HostFrame& close, std::array<int, 3> seconds) {
  const HostFrame kernel{"[kernel]", "", 0, false, false};
  const auto call = [](const char* name) { return library(name, "/usr/lib/libc.so.6"); };
  std::vector<std::vector<HostFrame>> stacks(static_cast<std::size_t>(seconds[0]),
                                             {kernel, call("open64"), open, own(7, "append")});
  stacks.resize(stacks.size() + static_cast<std::size_t>(seconds[1]), {kernel, call("write"), close, own(8, "append")});
  stacks.resize(stacks.size() + static_cast<std::size_t>(seconds[2]), {kernel, call("read"), own(9, "load")});
  HostProfile host = running(stacks);
  host.usage = {.user_s = 0.1, .system_s = 2.0 * static_cast<double>(stacks.size()), .page_faults = 100};
  return host_causes(host, true);
}

TEST(CallCauses, FilesThatAreOpenedForEachPiece) {
  const std::string libc = "/usr/lib/libc.so.6";
  const auto expect = [&](const HostFrame& open, const HostFrame& close) {
    const std::vector<HostCause> found = causes_of_files(open, close, {3, 4, 1});
    ASSERT_THAT(found, SizeIs(1)) << open.function;
    EXPECT_EQ(found[0].id, "file-opens");
    EXPECT_EQ(found[0].line, "solver.cpp:7 append");
    EXPECT_NEAR(found[0].seconds, 14, 0.01) << "without the reads";
    EXPECT_EQ(causes_of_files(open, close, {1, 1, 6}).at(0).id, "system-calls") << "mostly reads";
    EXPECT_EQ(causes_of_files(open, close, {8, 0, 0}).at(0).id, "system-calls") << "nothing is closed";
    EXPECT_EQ(causes_of_files(open, close, {0, 8, 0}).at(0).id, "system-calls") << "nothing is opened";
  };
  expect(library("_IO_new_fopen", libc), library("_IO_fclose", libc));
  expect(library("std::basic_ofstream<char, std::char_traits<char> >::open(char const*, std::_Ios_Openmode)"),
         library("std::basic_ofstream<char, std::char_traits<char> >::~basic_ofstream()"));
}

TEST(ReadyTime, CountsWhatLacksAsAWait) {
  std::int64_t unaccounted = 0;
  double running = 0, blocked = 0;
  ThreadTimes before{.cpu = 1, .waited = 0, .turns = 0};
  for (int i = 0; i < 100; ++i) {  // it runs for 4 of 10 ms, and is on a CPU whenever it is sampled
    const ThreadTimes now{.cpu = before.cpu + 4'000'000, .waited = 0, .turns = 0};
    const ReadyTime time = ready_time(kTick, before, now, true, unaccounted);
    running += time.running;
    blocked += time.blocked;
    EXPECT_NEAR(time.running + time.runnable + time.blocked, 1, 1e-9);
    before = now;
  }
  EXPECT_NEAR(running, 42, 0.5);
  EXPECT_NEAR(blocked, 58, 0.5);
}

TEST(ReadyTime, LateUpdatesOfABusyThreadAreNoWaits) {
  std::int64_t unaccounted = 0;
  ThreadTimes before{.cpu = 1, .waited = 0, .turns = 0};
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t cpu = i % 2 == 0 ? 6'000'000 : 14'000'000;
    const ThreadTimes now{.cpu = before.cpu + cpu, .waited = 0, .turns = 0};
    EXPECT_EQ(ready_time(kTick, before, now, true, unaccounted).running, 1);
    before = now;
  }
}

TEST(RustNames, BothSchemes) {
  EXPECT_EQ(demangled("_RNvMNtNtNtCsjrHSEGnQ3l9_3std3sys2fd4unixNtB2_8FileDesc5write"),
            "std::sys::fd::unix::FileDesc::write");
  EXPECT_EQ(demangled("_RNvNtCsgEmfK2I1SDS_4core3fmt5write"), "core::fmt::write");
  EXPECT_EQ(demangled("_RINvNtCsgEmfK2I1SDS_4core3ptr4readhEB4_"), "core::ptr::read");
  EXPECT_EQ(
      demangled("_ZN62_$LT$std..io..Adapter$LT$T$GT$$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE"),
      "<std::io::Adapter<T> as core::fmt::Write>::write_str");
  EXPECT_EQ(demangled("_Rnonsense"), "_Rnonsense");
  EXPECT_EQ(demangled("_RB_"), "_RB_");
  EXPECT_EQ(function_role("_RNvNtCsgEmfK2I1SDS_4core3fmt5write"), FunctionRole::runtime);
  EXPECT_EQ(function_role("_RNvCs1234_6solver4step"), FunctionRole::program);
  EXPECT_EQ(function_role("_ZN3std2io5Write9write_all17h0123456789abcdefE"), FunctionRole::runtime);
  EXPECT_EQ(function_role("_ZN6solver4step17h0123456789abcdefE"), FunctionRole::program);
  EXPECT_TRUE(is_system_source("library/core/src/fmt/mod.rs"));
  EXPECT_FALSE(is_system_source("library/src/fmt/mod.rs"));
}

}  // namespace
}  // namespace roofline
