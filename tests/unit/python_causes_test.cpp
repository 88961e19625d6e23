// Causes of lost time in Python programs: each with the fault, and none without it.
#include "report/python_causes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/host_sums.hpp"
#include "report/host_causes.hpp"
#include "report/hotspots.hpp"
#include "report/python_work.hpp"
#include "tests/unit/host_samples_builder.hpp"

namespace roofline {
namespace {

using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Ne;
using testing::SizeIs;

constexpr std::uint64_t kTick = 10'000'000;

HostFrame own(int line, const std::string& function = "solve") {
  return HostSamplesBuilder::own("search.py", line, function);
}
HostFrame library(const std::string& file, const std::string& function, int line = 1) {
  return {function, file, line, true, false};
}
HostFrame native(const std::string& file, const std::string& function) { return {function, file, 0, false, false}; }

/// A second each per stack, of one thread; each stack innermost first.
HostProfile running(const std::vector<std::vector<HostFrame>>& seconds) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  std::uint64_t time = 0;
  for (const std::vector<HostFrame>& frames : seconds) {
    const int stack = builder.stack(frames);
    for (int i = 0; i < 100; ++i) builder.sample(thread, time += kTick, ThreadState::running, stack);
  }
  return host_profile(builder.take());
}

/// Half of the time in this stack, called at line 7; the other half is NumPy's.
HostProfile half_in(std::vector<HostFrame> frames) {
  frames.push_back(own(7));
  const std::vector<HostFrame> rest = {native("/x/numpy/_multiarray_umath.so", "DOUBLE_add"), own(20, "step")};
  return running({frames, frames, rest, rest});
}

/// The same where the program's line itself runs, with this text.
HostProfile half_at(const std::string& source) {
  HostProfile host = half_in({});
  for (HostLineSum& line : host.lines) {
    if (line.place.line == 7) line.source = source;
  }
  return host;
}

TEST(PythonCauses, NameTheLibraryThatALineCalls) {
  struct Case {
    const char* id;
    HostFrame called;
  };
  for (const Case& of : {Case{"deep-copy", library("/usr/lib/python3.11/copy.py", "deepcopy")},
                         Case{"json", library("/usr/lib/python3.11/json/decoder.py", "JSONDecoder.decode")},
                         Case{"csv", library("/usr/lib/python3.11/csv.py", "DictReader.__next__")},
                         Case{"date-parsing", library("/usr/lib/python3.11/_strptime.py", "_strptime")},
                         Case{"logging", library("/usr/lib/python3.11/logging/__init__.py", "Logger.info")},
                         Case{"array-growth", library("/v/site-packages/numpy/lib/function_base.py", "append")},
                         Case{"pandas-rows", library("/v/site-packages/pandas/core/frame.py", "DataFrame.iterrows")}}) {
    const std::vector<HostCause> found = host_causes(half_in({of.called}), true);
    ASSERT_THAT(found, SizeIs(1)) << of.id;
    EXPECT_EQ(found[0].id, of.id);
    EXPECT_EQ(found[0].line, "search.py:7 solve");
    EXPECT_NEAR(found[0].seconds, 2, 0.05);
  }
  EXPECT_THAT(host_causes(half_in({library("/v/site-packages/pandas/core/frame.py", "DataFrame.sum")}), true),
              IsEmpty());
}

/// Line 7 calls the program's own function in the arguments of a log call, and as any other call; logging itself; and a
/// function with such a name that logs nothing.
TEST(PythonCauses, ArgumentsOfLogCalls) {
  const HostFrame text = own(30, "describe"), inner = native("/x/numpy/_multiarray_umath.so", "DOUBLE_add");
  const HostFrame logs = library("/usr/lib/python3.11/logging/__init__.py", "Logger._log");
  struct Case {
    const char* source;
    std::vector<HostFrame> frames;
    std::string id = {};
  };
  for (const Case& one :
       {Case{"log.debug(\"%s\", self.describe())", {inner, text}, "log-arguments"},
        Case{"self.logger.info(f\"{self.describe()}\")", {inner, text}, "log-arguments"},
        Case{"log.debug(\"%s\", self.describe())", {logs}, "logging"},
        Case{"log.debug(\"%s\", self)", {text, logs}, "interpreted"}, Case{"text = self.describe()", {inner, text}},
        Case{"catalog.info(describe())", {inner, text}}, Case{"log.error(\"%s\", self.describe())", {inner, text}}}) {
    HostProfile host = half_in(one.frames);
    HostLineSum line;
    line.place = own(7);
    line.source = one.source;
    host.lines.push_back(line);
    const std::vector<HostCause> found = host_causes(host, true);
    ASSERT_THAT(found, SizeIs(one.id.empty() ? 0 : 1)) << one.source;
    if (one.id.empty()) continue;
    EXPECT_EQ(found[0].id, one.id) << one.source;
    EXPECT_EQ(found[0].line, one.id == "interpreted" ? "search.py:30 describe" : "search.py:7 solve");
    EXPECT_NEAR(found[0].seconds, 2, 0.05);
  }
}

TEST(PythonCauses, PatternsThatAreCompiledAgain) {
  const HostFrame search = library("/usr/lib/python3.11/re/__init__.py", "search");
  EXPECT_EQ(host_causes(half_in({search}), true).at(0).id, "pattern-matching");
  const HostFrame parse = library("/usr/lib/python3.11/re/_parser.py", "_parse");
  EXPECT_EQ(host_causes(half_in({parse, search}), true).at(0).id, "pattern-compilation");
}

TEST(PythonCauses, CompiledPatternsComeBeforeTheirMatches) {
  const HostFrame match = library("/usr/lib/python3.11/re/__init__.py", "finditer"),
                  cache = library("/usr/lib/python3.11/re/__init__.py", "_compile"),
                  parse = library("/usr/lib/python3.11/re/_parser.py", "_parse");
  const std::vector<HostFrame> matches = {match, own(7)}, compiles = {parse, cache, match, own(7)},
                               replaces = {cache, match, own(7)};
  const HostProfile host = running({matches, matches, matches, matches, compiles, compiles, replaces, {own(9)}});
  const std::vector<HostCause> found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].id, "pattern-compilation") << "most of the other one's time";
  EXPECT_NEAR(found[0].seconds, 3, 0.05) << "with the cache whose entries it replaces";
  EXPECT_EQ(found[1].id, "pattern-matching");
  EXPECT_NEAR(found[1].seconds, 4, 0.05);
  Report report;
  report.profile.emplace().host = host;
  const std::vector<Hotspot> hotspots = hotspots_of(report, {});
  ASSERT_THAT(hotspots, SizeIs(2));
  EXPECT_EQ(hotspots[0].seconds, found[0].seconds) << "in the same order";
  const std::vector<HostCause> little =
      host_causes(running({matches, matches, matches, matches, matches, matches, compiles, compiles, {own(9)}}), true);
  ASSERT_THAT(little, SizeIs(2));
  EXPECT_EQ(little[0].id, "pattern-matching") << "most of the time is in matches";
  const std::vector<HostCause> kept = host_causes(running({matches, matches, replaces, {own(9)}}), true);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].id, "pattern-matching");
  EXPECT_NEAR(kept[0].seconds, 3, 0.05) << "the cache has all patterns";
}

/// Eight of 14 seconds in line 7, of which the given number copies memory; the rest around it.
std::vector<HostCause> causes_of_slices(const std::string& source, int copies) {
  const HostFrame copy = native("/usr/lib/libc.so.6", "__memcpy_avx_unaligned_erms");
  std::vector<std::vector<HostFrame>> stacks(3, {own(8)});
  stacks.resize(6, {own(9), own(3, "main")});
  for (int i = 0; i < 8; ++i) stacks.push_back(i < copies ? std::vector{copy, own(7)} : std::vector{own(7)});
  HostProfile host = running(stacks);
  for (HostLineSum& line : host.lines) {
    if (line.place.line == 7) line.source = source;
  }
  return host_causes(host, true);
}

TEST(PythonCauses, SlicesThatCopyTheRest) {
  for (const char* source : {"self.buffer = self.buffer[HEADER.size + length:]", "data = data[n:]  # the rest",
                             "line, text = text[:end], text[end + 1:]", "del entries[:n]", "entries[:n] = []"}) {
    EXPECT_TRUE(cuts_front(source)) << source;
    const std::vector<HostCause> found = causes_of_slices(source, 6);
    ASSERT_FALSE(found.empty()) << source;
    EXPECT_EQ(found[0].id, "slice-copies") << source;
    EXPECT_EQ(found[0].line, "search.py:7 solve");
    EXPECT_LE(found[0].seconds, 8.1);
    double sum = 0;
    for (const HostCause& cause : found) sum += cause.seconds;
    EXPECT_LE(sum, 14.1) << "no time is claimed twice";
  }
  for (const char* source : {"body = self.buffer[8:]", "x[1:] = y", "x = x[:n]", "x = x[:, 1:]", "x = y[2:]",
                             "del x[:]", "x = x[:]", "rows[i] = rows[i][1:]", "if x == x[1:]:", "x = f(x)[1:]"}) {
    EXPECT_FALSE(cuts_front(source)) << source;
    for (const HostCause& cause : causes_of_slices(source, 6)) EXPECT_NE(cause.id, "slice-copies") << source;
  }
  const std::vector<HostCause> list = causes_of_slices("x = x[n:]", 0);
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0].id, "slice-copies") << "the interpreter has it in C";
  for (const HostCause& cause : causes_of_slices("del x[:n]", 0)) EXPECT_EQ(cause.id, "interpreted") << "a bytearray";
}

TEST(PythonCauses, InterpretedCodeHasNoTimeOfOtherCauses) {
  const HostFrame copy = native("/usr/lib/libc.so.6", "__memcpy_avx_unaligned_erms");
  const std::vector<HostCause> found = host_causes(
      running({{copy, own(7)}, {copy, own(7)}, {copy, own(7)}, {own(7)}, {own(8)}, {own(8)}, {own(8)}}), true);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].id, "copy") << "it says what the line does";
  EXPECT_NEAR(found[0].seconds, 3, 0.05);
  EXPECT_EQ(found[1].id, "interpreted");
  EXPECT_NEAR(found[1].seconds, 4, 0.05);
}

TEST(PythonCauses, NameWhatALineCallsInC) {
  struct Case {
    const char *id, *source;
  };
  for (const Case& of : {Case{"pickle", "data = pickle.loads(text)"}, Case{"list-shift", "queue.pop(0)"},
                         Case{"list-shift", "items.insert(0, item)"}, Case{"file-opens", "with open(path) as file:"},
                         Case{"list-search", "if name not in seen:"}, Case{"csv", "for row in csv.reader(file):"},
                         Case{"array-growth", "rows = np.append(rows, row)"},
                         Case{"repeated-sort", "pending.sort(key=lambda event: event[0])"},
                         Case{"pandas-rows", "for index, row in table.iterrows():"}}) {
    const std::vector<HostCause> found = host_causes(half_at(of.source), true);
    ASSERT_THAT(found, SizeIs(1)) << of.source;
    EXPECT_EQ(found[0].id, of.id);
    EXPECT_EQ(found[0].line, "search.py:7 solve");
  }
  for (const char* other : {"for line in open(path):", "text = open(path).read()", "for name in names:", "reopen(path)",
                            "x = ', '.join(names)", "total = [x for x in values if x]", "pop(0)"}) {
    const PythonWork* const work = python_work_at(other);
    EXPECT_EQ(work, nullptr) << other << " " << (work != nullptr ? work->id : "");
  }
}

TEST(PythonCauses, RowsOfAFunctionThatPandasCallsBack) {
  const std::vector<HostFrame> called_back = {
      own(3, "<lambda>"), library("/v/site-packages/pandas/core/apply.py", "SeriesApply.apply"), own(7)};
  const std::vector<HostCause> found = host_causes(running({called_back, called_back}), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "pandas-rows");
  EXPECT_EQ(found[0].line, "search.py:7 solve");
}

TEST(PythonCauses, GroupsThatAreSelectedOneByOne) {
  const HostFrame numpy = native("/x/numpy/_multiarray_umath.so", "[unknown]");
  const auto causes = [&](const std::string& source, const std::vector<HostFrame>& inside) {
    HostProfile host = running({inside, {own(7)}, {numpy, own(9)}});
    for (HostLineSum& line : host.lines) {
      if (line.place.line == 7) line.source = source;
    }
    return host_causes(host, true);
  };
  const std::vector<HostFrame> array = {numpy, own(7)},
                               table = {numpy,
                                        library("/v/site-packages/pandas/core/frame.py", "DataFrame.__getitem__"),
                                        own(7)};
  for (const char* source : {"inside = height[label == b]  # in: for b in range(count):",
                             "rows = df[df[\"key\"] == key]  # in: for key in keys:",
                             "sums = [x[labels == k].sum() for k in np.unique(labels)]",
                             "at, = np.nonzero(label == ids[i])  # in: for i in ids:",
                             "part = x[(label == b) & valid]  # in: for a, b in pairs:"}) {
    for (const std::vector<HostFrame>& inside : {array, table}) {
      const std::vector<HostCause> found = causes(source, inside);
      ASSERT_THAT(found, SizeIs(1)) << source;
      EXPECT_EQ(found[0].id, "group-selection");
      EXPECT_EQ(found[0].line, "search.py:7 solve");
    }
  }
  for (const char* source :
       {"inside = height[label == b]", "inside = height[label == 3]  # in: for b in range(count):",
        "part = x[label == b]  # in: for b in (1, 2):", "part = x[label == b]  # in: for b_x in ids:",
        "part = x[x == low]  # in: for x in images:", "part = x[label == b]  # in: for b in range(4):",
        "if first == b:  # in: for b in items:", "rows = [r for r in rows if r == k]  # in: for k in keys:",
        "count(label == b)  # in: for b in range(count):"}) {
    EXPECT_FALSE(selects_each_group(source)) << source;
  }
  EXPECT_THAT(causes("x[label == b]  # in: for b in range(count):", {own(7)}),
              Each(Field(&HostCause::id, Ne("group-selection"))))
      << "lists: no compiled library";
}

TEST(PythonCauses, LoopsOverElementsOfNumPyArrays) {
  const HostFrame numpy = native("/x/numpy/_multiarray_umath.so", "array_subscript");
  const std::vector<HostFrame> element = {numpy, own(8)};
  const auto causes = [&](const std::string& source) {
    HostProfile host = running({element, {own(8)}, element, {own(8)}, {own(7)}});
    for (HostLineSum& line : host.lines) line.source = line.place.line == 7 ? source : "value = image[y, x]";
    return host_causes(host, true);
  };
  const std::vector<HostCause> found = causes("for x in range(columns):");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "array-elements");
  EXPECT_EQ(found[0].line, "search.py:8 solve");
  EXPECT_LE(found[0].seconds, 5.01);
  EXPECT_THAT(causes("total = 0"), IsEmpty()) << "no loop that takes time";
  EXPECT_THAT(causes("for batch in batches:"), IsEmpty()) << "the iterator's own work";
}

/// Where few samples are at the loop's own line.
TEST(PythonCauses, LoopsOverElementsByWhatNumPyDoesForEach) {
  const HostFrame numpy = native("/x/numpy/_multiarray_umath.so", "[unknown]");
  const std::vector<HostFrame> memory = {native("/usr/bin/python3.11", "PyObject_Malloc"), numpy, own(8)},
                               flags = {native("/usr/lib/libm.so.6", "fetestexcept"), numpy, own(8)};
  const std::vector<HostCause> found = host_causes(running({memory, {own(8)}, {own(9)}, flags, {numpy, own(9)}}), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "array-elements");
  EXPECT_EQ(found[0].line, "search.py:8 solve");
  EXPECT_THAT(host_causes(running({{numpy, own(8)}, {own(8)}, {own(9)}, {numpy, own(9)}}), true), IsEmpty())
      << "whole arrays";
}

TEST(PythonCauses, InterpretedCode) {
  const std::vector<HostCause> loop = host_causes(running({{own(7)}, {own(8)}, {own(7)}}), true);
  ASSERT_THAT(loop, SizeIs(1));
  EXPECT_EQ(loop[0].id, "interpreted");
  EXPECT_EQ(loop[0].line, "search.py:7 solve");
  EXPECT_NEAR(loop[0].seconds, 3, 0.05);
  EXPECT_EQ(loop[0].action.find("lru_cache"), std::string::npos);
  const std::vector<HostCause> recursive = host_causes(running({{own(7), own(7), own(3, "main")}}), true);
  ASSERT_THAT(recursive, SizeIs(1));
  EXPECT_NE(recursive[0].action.find("lru_cache"), std::string::npos);

  const HostFrame numpy = native("/x/numpy/_multiarray_umath.so", "DOUBLE_add");
  EXPECT_THAT(host_causes(running({{numpy, own(7)}, {own(7)}}), true), IsEmpty()) << "the line is NumPy's";
  HostProfile joins = running({{own(7)}, {own(7)}});
  joins.lines[0].source = "line = separator.join(words)";
  EXPECT_THAT(host_causes(joins, true), IsEmpty()) << "the interpreter has it in C";
}

TEST(PythonCauses, CodeOfALibraryThatIsInterpreted) {
  const std::string file = "/v/site-packages/networkx/algorithms/paths.py";
  std::vector<std::vector<HostFrame>> many, one;
  for (const int line : {11, 12, 13, 14, 15}) many.push_back({library(file, "path", line), own(7)});
  for (int i = 0; i < 5; ++i) one.push_back({library(file, "path", 11), own(7)});
  const std::vector<HostCause> found = host_causes(running(many), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "python-library");
  EXPECT_NE(found[0].text.find("networkx"), std::string::npos);
  EXPECT_THAT(host_causes(running(one), true), IsEmpty()) << "one line that calls native code";
  many.push_back({native("/v/networkx/_paths.so", "visit"), library(file, "path", 16), own(7)});
  EXPECT_THAT(host_causes(running(many), true), IsEmpty()) << "it has a compiled part";
}

TEST(PythonCauses, SortingIsOfListsNotOfArrays) {
  const HostFrame numpy = native("/x/numpy/_multiarray_umath.so", "timsort");
  HostProfile arrays = running({{numpy, own(7)}, {own(7)}});
  arrays.lines[0].source = "order = sorted(distances)";
  EXPECT_THAT(host_causes(arrays, true), IsEmpty());
}

TEST(PythonCauses, QueriesOfADatabase) {
  const HostFrame scan = native("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6", "sqlite3VdbeExec");
  const std::vector<HostCause> found = host_causes(running({{scan, own(7)}, {own(3, "main")}}), true);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].id, "database-queries");
  EXPECT_EQ(found[0].line, "search.py:7 solve");
  const HostFrame other = native("/usr/lib/x86_64-linux-gnu/libz.so.1", "inflate");
  for (const HostCause& cause : host_causes(running({{other, own(7)}, {other, own(3, "main")}}), true))
    EXPECT_NE(cause.id, "database-queries");
}

/// A tenth of the samples has the operator's frame; arithmetic is at many lines.
TEST(PythonCauses, ArraysOfObjectsAtManyLines) {
  const HostFrame numpy = native("/x/numpy/_multiarray_umath.so", "[unknown]");
  for (const char* const operation : {"PyNumber_Multiply", "PyNumber_Index"}) {
    std::vector<std::vector<HostFrame>> stacks;
    for (int line = 7; line < 27; ++line) {
      for (int i = 0; i < 9; ++i) stacks.push_back({numpy, own(line)});
      stacks.push_back({native("/usr/bin/python3.11", operation), numpy, own(line)});
    }
    const std::vector<HostCause> found = host_causes(running(stacks), true);
    EXPECT_EQ(!found.empty() && found[0].id == "object-arrays", std::string_view(operation) == "PyNumber_Multiply");
  }
}

TEST(PythonCauses, ArraysOfObjects) {
  const HostFrame numpy = native("/x/numpy/_multiarray_umath.so", "[unknown]");
  const std::vector<HostFrame> objects = {native("/usr/bin/python3.11", "PyNumber_Multiply"), numpy, own(7)};
  const std::vector<HostCause> found = host_causes(running({objects, {numpy, own(7)}}), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "object-arrays");
  EXPECT_EQ(found[0].line, "search.py:7 solve");
  const std::vector<HostFrame> calls = {native("/usr/bin/python3.11", "PyTuple_New"), numpy, own(7)};
  EXPECT_THAT(host_causes(running({calls, {numpy, own(7)}}), true), IsEmpty());
}

/// Two threads that compute at line 7, and wait for the GIL in `waits` of 10 samples.
HostProfile threads_that_wait(int waits) {
  HostSamplesBuilder builder;
  const int first = builder.thread(10, 10), second = builder.thread(10, 11);
  const int stack = builder.stack({own(7)});
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const bool wait = static_cast<int>(i % 10) < waits;
    builder.sample(first, i * kTick, wait ? ThreadState::gil : ThreadState::running, stack);
    builder.sample(second, i * kTick, wait ? ThreadState::running : ThreadState::gil, stack);
  }
  HostSamples samples = builder.take();
  if (waits == 0)
    for (HostSample& sample : samples.samples) sample.state = ThreadState::running;
  return host_profile(samples);
}

TEST(PythonCauses, WaitsForTheInterpreter) {
  const std::vector<HostCause> found = host_causes(threads_that_wait(5), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "gil");
  EXPECT_EQ(found[0].line, "search.py:7 solve");
  EXPECT_NEAR(found[0].seconds, 5, 0.1) << "half of the time, of each";
  for (const HostCause& cause : host_causes(threads_that_wait(0), true)) EXPECT_NE(cause.id, "gil");
}

/// Half of the time in reads of the system at line 8, a seventh of that in seeks at line 7, the rest in line 9.
HostProfile reading_after(const std::string& source) {
  const HostFrame kernel{"[kernel]", "", 0, false, false};
  const std::vector<HostFrame> seek = {kernel, native("/usr/lib/libc.so.6", "lseek"), own(7)},
                               read = {kernel, native("/usr/lib/libc.so.6", "__read"), own(8)};
  std::vector<std::vector<HostFrame>> stacks(7, read);
  stacks.push_back(seek);
  stacks.resize(12, {own(9)});
  HostProfile host = running(stacks);
  for (HostLineSum& line : host.lines) {
    if (line.place.line == 7) line.source = source;
  }
  host.usage = {.user_s = 4, .system_s = 8, .page_faults = 100};
  return host;
}

TEST(PythonCauses, SeeksThatDiscardTheBufferOfAFile) {
  const std::vector<HostCause> found = host_causes(reading_after("file.seek(at)"), true);
  ASSERT_THAT(found, SizeIs(1)) << "the kernel's work is none of Python's code";
  EXPECT_EQ(found[0].id, "system-calls");
  EXPECT_EQ(found[0].line, "search.py:7 solve");
  EXPECT_EQ(host_causes(reading_after("with open(path) as file:"), true).at(0).line, "search.py:8 solve");
}

TEST(PythonCauses, FilesThatALineOpensAreOneCause) {
  const HostFrame kernel{"[kernel]", "", 0, false, false};
  const auto files = [&](int line, const char* call) {
    const std::vector<HostFrame> open = {kernel, native("/usr/lib/libc.so.6", "open64"), own(line)},
                                 other = {kernel, native("/usr/lib/libc.so.6", call), own(line)};
    HostProfile host = running({open, open, other, {own(7)}, {own(9)}});
    for (HostLineSum& sum : host.lines) {
      if (sum.place.line == 7) sum.source = "with open(path, \"a\") as file:";
    }
    host.usage = {.user_s = 2, .system_s = 3, .page_faults = 100};
    return host_causes(host, true);
  };
  for (const char* call : {"close", "ioctl"}) {
    const std::vector<HostCause> found = files(7, call);
    ASSERT_THAT(found, SizeIs(1)) << call;
    EXPECT_EQ(found[0].id, "file-opens");
    EXPECT_EQ(found[0].line, "search.py:7 solve");
    EXPECT_NEAR(found[0].seconds, 4, 0.05);
  }
  EXPECT_EQ(files(8, "ioctl").at(0).id, "system-calls") << "another line";
}

TEST(PythonCauses, ObjectsThatProcessesSendEachOther) {
  const HostFrame dumps = library("/usr/lib/python3.11/multiprocessing/reduction.py", "ForkingPickler.dumps");
  const HostFrame map = library("/usr/lib/python3.11/multiprocessing/pool.py", "Pool.map");
  const auto profile = [&](bool sends) {
    HostSamplesBuilder builder;
    const int main = builder.thread(10, 10), feeder = builder.thread(10, 11), worker = builder.thread(12, 12);
    const int waits = builder.stack({map, own(7)}), pickles = builder.stack({dumps});
    const int computes = builder.stack({native("/x/numpy/_multiarray_umath.so", "DOUBLE_add"), own(20, "work")});
    for (std::uint64_t i = 1; i <= 500; ++i) {
      builder.sample(main, i * kTick, ThreadState::lock, waits);
      builder.sample(feeder, i * kTick, sends ? ThreadState::running : ThreadState::read, pickles);
      builder.sample(worker, i * kTick, ThreadState::running, computes);
    }
    return host_profile(builder.take());
  };
  const std::vector<HostCause> found = host_causes(profile(true), true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "process-messages");
  EXPECT_EQ(found[0].line, "search.py:7 solve");
  for (const HostCause& cause : host_causes(profile(false), true)) EXPECT_NE(cause.id, "process-messages");
}

}  // namespace
}  // namespace roofline
