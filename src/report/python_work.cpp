#include "report/python_work.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "report/prefix_scans.hpp"
#include "report/source_lines.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr PythonWork kDeepCopy = {
    "deep-copy", "goes to copy.deepcopy, which visits each object in Python",
    "Copy only what changes (list.copy(), dict.copy(), dataclasses.replace()), or change it in place and undo the "
    "change.",
    0.2};
constexpr PythonWork kJson = {
    "json", "goes to reading and writing JSON",
    "Parse each document once and keep the result (functools.lru_cache on the function that loads it), or use orjson.",
    0.2};
constexpr PythonWork kPickle = {
    "pickle", "goes to pickling and unpickling objects",
    "Pickle once, outside the loop, and only what changes; store arrays with numpy.save() or protocol=5.", 0.2};
constexpr PythonWork kYaml = {
    "yaml", "goes to reading and writing YAML or TOML",
    "Load each file once and keep the result (functools.lru_cache); use yaml.CSafeLoader, or JSON.", 0.2};
constexpr PythonWork kTable = {
    "csv", "goes to reading and writing CSV",
    "Read each file once and as a whole, with pandas.read_csv(engine=\"pyarrow\") or numpy.loadtxt(), or store it as "
    "Parquet or .npy.",
    0.25};
constexpr PythonWork kPattern = {
    "pattern-matching", "goes to regular expressions",
    "Test with `in` or str.startswith() before, split with str.split(), or join the patterns to one (\"a|b\"); compile "
    "it once with re.compile().",
    0.4};
constexpr PythonWork kCompile = {"pattern-compilation",
                                 "goes to compiling regular expressions",
                                 "Compile each pattern once, before the loop (re.compile), and call the methods of the "
                                 "result: the re module keeps at "
                                 "most 512 patterns.",
                                 0.2,
                                 false,
                                 true};
/// Replaces entries where patterns are compiled again.
constexpr PythonWork kPatternCache = {kPattern.id, kPattern.finding, kPattern.action, kPattern.least, false, true};
constexpr PythonWork kOpen = {
    "file-opens", "goes to opening files",
    "Open each file once, outside the loop, and keep it open (a dict of files), or keep its contents "
    "(functools.lru_cache on the function that reads it).",
    0.15};
constexpr PythonWork kRows = {
    "pandas-rows", "goes to pandas row by row",
    "Compute with whole columns (df[\"a\"] * df[\"b\"], numpy.where(), groupby().sum()); where a loop is needed, take "
    "the columns out before it with .to_numpy().",
    0.2, true};
constexpr PythonWork kDate = {
    "date-parsing", "goes to parsing dates and times",
    "Use datetime.fromisoformat(), or convert a whole column at once with pandas.to_datetime(format=...).", 0.2};
constexpr PythonWork kDecimal = {"exact-numbers", "goes to decimal or fractions arithmetic",
                                 "Compute with float or integers (cents), or with NumPy arrays.", 0.3};
constexpr PythonWork kList = {"list-shift",
                              "goes to inserting or removing at the beginning of a list, which moves all other entries",
                              "Use collections.deque (appendleft(), popleft()), or append and reverse once.", 0.15};
constexpr PythonWork kMember = {
    "list-search", "goes to a membership test (`in`) or a search for an entry",
    "If it searches a list or a tuple, use a set or a dict: `in` then looks up one entry instead of comparing all.",
    0.25};
constexpr PythonWork kGrow = {
    "array-growth", "goes to appending to arrays, which copies all of the array each time",
    "Append to a list and convert it once with numpy.array() or numpy.concatenate(), or allocate the array before the "
    "loop.",
    0.25};
constexpr PythonWork kArray = {"array-from-objects", "goes to converting Python objects to arrays",
                               "Keep the data in arrays, and create each array once, outside the loop.", 0.3};
constexpr PythonWork kLog = {
    "logging", "goes to logging",
    "Log less in loops, pass arguments instead of formatted text (log.debug(\"%s\", x)), and test isEnabledFor() "
    "before.",
    0.15};

constexpr PythonWork kLogArguments = {
    "log-arguments", "goes to arguments of log calls, which are computed also where their level is off",
    "Test the level before (if log.isEnabledFor(logging.DEBUG):), or pass an object whose __str__ does the work.",
    0.15};

constexpr PythonWork kGroups = {
    "group-selection",
    "goes to selecting each group's elements, with one comparison of the whole array for each group",
    "Group once, before the loop: order = np.argsort(labels, kind=\"stable\") and np.split() at the groups' ends, "
    "np.bincount(labels, weights=x) for sums, or groupby() of pandas.",
    0.25,
    false,
    false,
    true};
constexpr PythonWork kGarbage = {
    "garbage-collection", "goes to collecting garbage, which visits all objects",
    "Collect less often or leave it to the interpreter; gc.freeze() after the start-up keeps long-lived objects out.",
    0.15};

constexpr PythonWork kSlice = {
    "slice-copies", "goes to slices that copy the rest of a buffer each time",
    "Keep an offset (struct.unpack_from(buffer, at), buffer.find(x, at)) or a memoryview, and cut the buffer once per "
    "block. Of a list, take entries with collections.deque.popleft().",
    0.5};

constexpr PythonWork kSort = {
    "repeated-sort",
    "goes to sorting",
    "Sort once, outside the loop. Of entries that come one by one, keep a heap (heapq.heappush(), heappop()) or insert "
    "them in order (bisect.insort()); take a few with min() or heapq.nsmallest(); sort large arrays with numpy.sort().",
    0.4,
    false,
    false,
    false,
    true};
constexpr PythonWork kDatabase = {
    "database-queries", "goes to SQLite's queries",
    "See EXPLAIN QUERY PLAN: SCAN reads a whole table for each query, and an index on the columns of WHERE, JOIN and "
    "ORDER BY makes a SEARCH of it. Instead of many small queries use one with JOIN or GROUP BY; write many rows with "
    "executemany() in one transaction.",
    0.3};

constexpr PythonWork kPrefix = {kPrefixScans, kPrefixScansFinding, kPrefixScansAction, 0.25};

/// A library's file, and its functions that begin like that; empty: all.
struct LibraryCode {
  std::string_view file, function;
  const PythonWork* work;
};
constexpr auto kCode = std::to_array<LibraryCode>({{"/copy.py", "deepcopy", &kDeepCopy},
                                                   {"/copy.py", "_deepcopy", &kDeepCopy},
                                                   {"/json/", "", &kJson},
                                                   {"/simplejson/", "", &kJson},
                                                   {"/pickle.py", "", &kPickle},
                                                   {"/yaml/", "", &kYaml},
                                                   {"/tomllib/", "", &kYaml},
                                                   {"/csv.py", "", &kTable},
                                                   {"/pandas/io/parsers/", "", &kTable},
                                                   {"/numpy/lib/", "append", &kGrow},
                                                   {"/numpy/lib/", "insert", &kGrow},
                                                   {"/numpy/lib/", "delete", &kGrow},
                                                   {"/numpy/core/shape_base.py", "vstack", &kGrow},
                                                   {"/numpy/_core/shape_base.py", "vstack", &kGrow},
                                                   {"/numpy/core/shape_base.py", "hstack", &kGrow},
                                                   {"/numpy/_core/shape_base.py", "hstack", &kGrow},
                                                   {"/re/_compiler.py", "", &kCompile},
                                                   {"/re/_parser.py", "", &kCompile},
                                                   {"/sre_compile.py", "", &kCompile},
                                                   {"/sre_parse.py", "", &kCompile},
                                                   {"/re/__init__.py", "_compile", &kPatternCache},
                                                   {"/re/__init__.py", "", &kPattern},
                                                   {"/re.py", "_compile", &kPatternCache},
                                                   {"/re.py", "", &kPattern},
                                                   {"/_strptime.py", "", &kDate},
                                                   {"/dateutil/parser/", "", &kDate},
                                                   {"/_pydecimal.py", "", &kDecimal},
                                                   {"/fractions.py", "", &kDecimal},
                                                   {"/logging/__init__.py", "", &kLog},
                                                   {"/pandas/core/frame.py", "DataFrame.iterrows", &kRows},
                                                   {"/pandas/core/frame.py", "iterrows", &kRows},
                                                   {"/pandas/core/frame.py", "DataFrame.itertuples", &kRows},
                                                   {"/pandas/core/frame.py", "itertuples", &kRows},
                                                   {"/pandas/core/apply.py", "FrameColumnApply", &kRows},
                                                   {"/pandas/core/apply.py", "SeriesApply", &kRows},
                                                   {"/pandas/core/frame.py", "DataFrame._get_value", &kRows},
                                                   {"/pandas/core/frame.py", "DataFrame._set_value", &kRows},
                                                   {"/pandas/core/frame.py", "DataFrame._ixs", &kRows},
                                                   {"/pandas/core/generic.py", "NDFrame.xs", &kRows},
                                                   {"/pandas/core/series.py", "Series._get_value", &kRows},
                                                   {"/pandas/core/series.py", "Series._set_value", &kRows},
                                                   {"/pandas/core/indexing.py", "_ScalarAccessIndexer", &kRows}});

/// Text of a line, in order of precedence.
struct LineText {
  std::string_view text;
  const PythonWork* work;
};
constexpr auto kText =
    std::to_array<LineText>({{".iterrows(", &kRows},       {".itertuples(", &kRows},    {".apply(", &kRows},
                             {".applymap(", &kRows},       {".iat[", &kRows},           {".at[", &kRows},
                             {"deepcopy(", &kDeepCopy},    {"json.load", &kJson},       {"json.dump", &kJson},
                             {"pickle.load", &kPickle},    {"pickle.dump", &kPickle},   {"marshal.load", &kPickle},
                             {"marshal.dump", &kPickle},   {"yaml.", &kYaml},           {"tomllib.", &kYaml},
                             {"csv.reader(", &kTable},     {"csv.writer(", &kTable},    {"csv.DictReader(", &kTable},
                             {"re.match(", &kPattern},     {"re.search(", &kPattern},   {"re.findall(", &kPattern},
                             {"re.finditer(", &kPattern},  {"re.sub(", &kPattern},      {"re.split(", &kPattern},
                             {"re.fullmatch(", &kPattern}, {".findall(", &kPattern},    {".finditer(", &kPattern},
                             {".fullmatch(", &kPattern},   {".search(", &kPattern},     {".match(", &kPattern},
                             {".strptime(", &kDate},       {"Decimal(", &kDecimal},     {"Fraction(", &kDecimal},
                             {".insert(0,", &kList},       {".pop(0)", &kList},         {"np.append(", &kGrow},
                             {"numpy.append(", &kGrow},    {"np.concatenate(", &kGrow}, {"np.vstack(", &kGrow},
                             {"np.hstack(", &kGrow},       {"np.array(", &kArray},      {"numpy.array(", &kArray},
                             {"np.asarray(", &kArray},     {"gc.collect(", &kGarbage},  {".sort(", &kSort},
                             {"sorted(", &kSort}});

/// The place of a name that is not the end of a longer one; the text begins with it, or with a point.
bool has_call(std::string_view source, std::string_view call) {
  for (std::size_t at = source.find(call); at != std::string_view::npos; at = source.find(call, at + 1)) {
    if (call.front() == '.' || at == 0 || !is_of_name(source[at - 1])) return true;
  }
  return false;
}

std::string_view without_comment(std::string_view source) {
  const std::size_t comment = source.find(" #");
  return comment == std::string_view::npos ? source : source.substr(0, comment);
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_of_name) && (text.front() < '0' || text.front() > '9');
}

bool has_name(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end]))) return true;
  }
  return false;
}

/// True if what is before this comparison selects elements: "x[", "x[(", "np.where(".
bool is_selection(std::string_view before) {
  int depth = 0;
  for (std::size_t at = before.size(); at-- > 0;) {
    const char one = before[at];
    if (one == ')' || one == ']') ++depth;
    if (one != '(' && one != '[') continue;
    if (depth-- > 0) continue;
    depth = 0;
    const std::string_view outer = before.substr(0, at);
    const bool of_value = !outer.empty() && (is_of_name(outer.back()) || outer.back() == ']' || outer.back() == ')');
    if (one == '[') return of_value;
    if (!of_value) continue;
    return std::ranges::any_of(std::to_array<std::string_view>({"where", "nonzero"}),
                               [&](std::string_view call) { return outer.ends_with(call); });
  }
  return false;
}

/// The value that is compared: up to a bracket that closes another one, or the next operator.
std::string_view value_at(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char one = text[at];
    if (one == '(' || one == '[') ++depth;
    if ((one == ')' || one == ']') && depth-- == 0) return trimmed(text.substr(0, at));
    if (depth == 0 && (one == '&' || one == '|' || one == ',')) return trimmed(text.substr(0, at));
  }
  return {};
}

/// The name before a comparison: "label" of "x[label".
std::string_view name_before(std::string_view text) {
  text = trimmed(text);
  std::size_t first = text.size();
  while (first > 0 && is_of_name(text[first - 1])) --first;
  return text.substr(first);
}

/// Where a bracket that closes at `end` opens; npos: nowhere.
std::size_t opening_of(std::string_view text, std::size_t end) {
  int depth = 0;
  for (std::size_t at = end + 1; at-- > 0;) {
    if (text[at] == ']') ++depth;
    if (text[at] == '[' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

/// "self.buffer" before a bracket.
std::string_view path_before(std::string_view text, std::size_t bracket) {
  std::size_t first = bracket;
  while (first > 0 && (is_of_name(text[first - 1]) || text[first - 1] == '.')) --first;
  return text.substr(first, bracket - first);
}

/// "x = x[n:]", "line, x = x[:n], x[n:]".
bool keeps_rest(std::string_view source) {
  constexpr std::string_view kAssigns = " = ", kRest = ":]";
  const std::size_t assigns = source.find(kAssigns);
  if (assigns == std::string_view::npos || source.substr(0, assigns).find_first_of("[(") != std::string_view::npos)
    return false;
  std::vector<std::string_view> targets;
  for (std::string_view rest = source.substr(0, assigns); !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    targets.push_back(trimmed(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  for (std::size_t at = source.find(kRest, assigns); at != std::string_view::npos; at = source.find(kRest, at + 1)) {
    const std::size_t open = opening_of(source, at + 1);
    if (open == std::string_view::npos || open < assigns) continue;
    const std::string_view first = trimmed(source.substr(open + 1, at - open - 1));
    if (first.empty() || first.find_first_of(",:") != std::string_view::npos) continue;
    if (std::ranges::find(targets, path_before(source, open)) != targets.end()) return true;
  }
  return false;
}

/// "del x[:n]", "x[:n] = []".
bool erases_front(std::string_view source) {
  const std::size_t front = source.find("[:");
  if (front == std::string_view::npos) return false;
  const std::size_t close = source.find(']', front);
  if (close == std::string_view::npos || close == front + 2) return false;
  if (source.starts_with("del ")) return true;
  constexpr auto kNothing = std::to_array<std::string_view>({"] = []", "] = b\"\"", "] = b''"});
  return starts_with_any(source.substr(close), kNothing);
}

/// "with open(path) as file:"; a loop over the lines of a file, or one call that reads it, is no opening.
bool opens_file(std::string_view source) {
  if (source.find("for ") != std::string_view::npos || source.find(".read") != std::string_view::npos) return false;
  for (std::size_t at = source.find("open("); at != std::string_view::npos; at = source.find("open(", at + 1)) {
    if (at == 0 || (!is_of_name(source[at - 1]) && source[at - 1] != '.')) return true;
  }
  return has_call(source, "io.open(");
}

/// "if name in seen:", and no loop or comprehension.
bool tests_membership(std::string_view source) {
  if (has_call(source, ".index(") || has_call(source, ".count(")) return true;
  constexpr std::string_view kIn = " in ";
  if (source.find(" not in ") != std::string_view::npos) return source.find("for ") == std::string_view::npos;
  const bool condition = source.starts_with("if ") || source.starts_with("elif ") || source.starts_with("while ") ||
                         source.starts_with("return ") || source.starts_with("assert ");
  return condition && source.find(kIn) != std::string_view::npos && source.find("for ") == std::string_view::npos;
}

/// "log.debug(", "self.logger.info(", "logging.debug(": of levels that are often off.
bool calls_log(std::string_view source) {
  for (const std::string_view call : {".debug(", ".info("}) {
    const std::size_t at = source.find(call);
    if (at == std::string_view::npos) continue;
    const std::string name = lower_case(name_before(source.substr(0, at)));
    if (name == "log" || name == "logging" || name.ends_with("_log") || name.ends_with("logger")) return true;
  }
  return false;
}

}  // namespace

const PythonWork* log_arguments_at(std::string_view source) {
  return calls_log(without_comment(source)) ? &kLogArguments : nullptr;
}

const PythonWork* python_work_of(const HostFrame& frame) {
  if (!frame.python) return frame.file.find("libsqlite3") != std::string::npos ? &kDatabase : nullptr;
  if (frame.own) return nullptr;
  const auto found = std::ranges::find_if(kCode, [&](const LibraryCode& code) {
    const bool folder = code.file.ends_with('/');
    const bool file = folder ? frame.file.find(code.file) != std::string::npos : frame.file.ends_with(code.file);
    return file && frame.function.starts_with(code.function);
  });
  return found == kCode.end() ? nullptr : found->work;
}

std::vector<std::string_view> selecting_values(std::string_view source) {
  std::vector<std::string_view> values;
  constexpr std::string_view kEqual = "==";
  for (std::size_t at = source.find(kEqual); at != std::string_view::npos; at = source.find(kEqual, at + 2)) {
    std::string_view value = value_at(source.substr(at + kEqual.size()));
    if (const std::size_t index = value.find('['); index != std::string_view::npos && value.ends_with(']'))
      value = value.substr(index + 1, value.size() - index - 2);
    if (is_name(value) && value != name_before(source.substr(0, at)) && is_selection(source.substr(0, at)))
      values.push_back(value);
  }
  return values;
}

bool begins_definition(std::string_view source) {
  return source.starts_with("def ") || source.starts_with("async def ") || source.starts_with("class ");
}

bool begins_loop(std::string_view source) { return source.starts_with("for "); }

bool loops_over(std::string_view source, std::string_view name) {
  constexpr std::string_view kFor = "for ", kIn = " in ", kRange = "range(";
  constexpr std::size_t kFewDigits = 1;
  for (std::size_t at = source.find(kFor); at != std::string_view::npos; at = source.find(kFor, at + 1)) {
    if (at > 0 && is_of_name(source[at - 1])) continue;
    const std::size_t in = source.find(kIn, at);
    if (in == std::string_view::npos) return false;
    const std::string_view targets = source.substr(at + kFor.size(), in - at - kFor.size());
    const std::string_view over = trimmed(source.substr(in + kIn.size()));
    if (!has_name(targets, name)) continue;
    const std::size_t digits = over.starts_with(kRange) ? over.find_first_not_of("0123456789", kRange.size()) : 0;
    const bool few_numbers =
        digits != 0 && digits != std::string_view::npos && over[digits] == ')' && digits - kRange.size() <= kFewDigits;
    return !over.starts_with('(') && !over.starts_with('[') && !few_numbers;
  }
  return false;
}

bool selects_each_group(std::string_view source) {
  const std::size_t note = source.find(kInLoop);
  const std::string_view loop = note == std::string_view::npos ? std::string_view() : source.substr(note);
  return std::ranges::any_of(selecting_values(without_comment(source)), [&](std::string_view value) {
    return loops_over(without_comment(source), value) || loops_over(loop, value);
  });
}

const PythonWork* python_work_at(std::string_view line) {
  const std::string_view source = without_comment(line);
  if (selects_each_group(line)) return &kGroups;
  const std::size_t note = line.find(kInLoop);
  const std::string_view loop =
      note == std::string_view::npos ? std::string_view() : line.substr(note + kInLoop.size());
  if (scans_prefix(source) || begins_prefix_loop(loop)) return &kPrefix;
  const auto found = std::ranges::find_if(kText, [&](const LineText& text) { return has_call(source, text.text); });
  if (found != kText.end()) return found->work;
  if (opens_file(source)) return &kOpen;
  if (keeps_rest(source)) return &kSlice;
  return tests_membership(source) ? &kMember : nullptr;
}

bool cuts_front(std::string_view line) {
  const std::string_view source = without_comment(line);
  return keeps_rest(source) || erases_front(source);
}

PatternWork pattern_work() { return {&kCompile, &kPattern, &kPatternCache}; }

const PythonWork& slice_work() { return kSlice; }

bool counts_loop(std::string_view source) { return source.starts_with("for ") && has_call(source, "range("); }

bool calls_built_in(std::string_view source) {
  constexpr auto kCalls = std::to_array<std::string_view>(
      {"sorted(", ".sort(", ".join(", ".split(", ".replace(", ".encode(", ".decode(", ".update(", ".digest(",
       ".hexdigest(", "hashlib.", "zlib.", "gzip.", "lzma.", "bz2.", "pow(", "random.shuffle("});
  return std::ranges::any_of(kCalls, [&](std::string_view call) { return has_call(source, call); });
}

}  // namespace roofline
