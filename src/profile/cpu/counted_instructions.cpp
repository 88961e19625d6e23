#include "profile/cpu/counted_instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <system_error>

#include "text/parse.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, kCountKeys> kKeyNames = {"flops.fp32.scalar",
                                                                "flops.fp32.128",
                                                                "flops.fp32.256",
                                                                "flops.fp64.scalar",
                                                                "flops.fp64.128",
                                                                "flops.fp64.256",
                                                                "flops.fp16.scalar",
                                                                "flops.fp16.128",
                                                                "flops.fp16.256",
                                                                "divides",
                                                                "roots",
                                                                "int",
                                                                "loads",
                                                                "stores",
                                                                "load.bytes",
                                                                "store.bytes",
                                                                "nt.bytes",
                                                                "l1.fills",
                                                                "l2.fills",
                                                                "l3.fills",
                                                                "l1.writebacks",
                                                                "l2.writebacks",
                                                                "l3.writebacks",
                                                                "stride.line",
                                                                "stride.next",
                                                                "stride.other",
                                                                "gathers",
                                                                "chain.cycles",
                                                                "chain.loads",
                                                                "falsely.shared",
                                                                "l1.used",
                                                                "page.walks",
                                                                "calls",
                                                                "atomics",
                                                                "conversions",
                                                                "branches",
                                                                "mispredicted",
                                                                "products",
                                                                "subnormals",
                                                                "instructions",
                                                                "divide.cycles",
                                                                "integer.divides",
                                                                "string.uses",
                                                                "string.bytes"};

constexpr std::size_t kLongestLine = 65536, kMostModules = 65536, kMostProcesses = 4096, kMostText = 4096;
constexpr std::size_t kMostInstructions = std::size_t{1} << 22U, kMostTotals = std::size_t{1} << 25U;
constexpr std::size_t kMostJumps = std::size_t{1} << 21U, kMostCalls = std::size_t{1} << 21U;
/// Beyond these, sums in double precision would lose whole counts, or a file has been tampered with.
constexpr double kMostCount = 1e18;
constexpr std::int64_t kMostLineBytes = 4096;

std::optional<CountKey> parse_count_key(std::string_view text) {
  const auto found = std::ranges::find(kKeyNames, text);
  if (found == kKeyNames.end()) return std::nullopt;
  return static_cast<CountKey>(found - kKeyNames.begin());
}

std::optional<std::uint64_t> parsed_address(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return error == std::errc() && stop == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> parsed_count(std::string_view text) {
  const auto value = parsed_number<double>(text);
  return value && *value >= 0 && *value <= kMostCount ? value : std::nullopt;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// "%09" is the character with that number.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0;
    if (is_escape && hex_digit(text[i + 2]) >= 0) {
      plain += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// Least cycles per divided element: instruction tables of Agner Fog, Skylake to Zen 4. Square roots take longer.
double cycles_of_divisions(const CodeCounts& counts) {
  constexpr double kFp64 = 4, kFp64Vector = 2, kFp32 = 3, kFp32Vector = 0.6;
  const double divided = counts.of(CountKey::divides) + counts.of(CountKey::roots);
  if (counts.of(CountKey::fp64_scalar) > 0) return divided * kFp64;
  if (counts.of(CountKey::fp64_128) + counts.of(CountKey::fp64_256) > 0) return divided * kFp64Vector;
  if (counts.of(CountKey::fp32_scalar) > 0) return divided * kFp32;
  return counts.flops() > 0 ? divided * kFp32Vector : 0;
}

/// The records of one file.
class CountsReader {
 public:
  CountsReader(std::istream& in, CountedInstructions& counted) : in_(in), counted_(counted) {}

  /// Empty, or why reading ended before the file did.
  std::string read() {
    if (!next_line()) return "it is empty";
    if (field(0) != "roofline-counts") return "it contains no instruction counts";
    if (field(1) != "1") return fmt::format("its format version is {}", field(1).substr(0, 16));
    if (counted_.processes.size() >= kMostProcesses) return "there are too many processes";
    counted_.processes.emplace_back();
    for (std::size_t number = 2; next_line(); ++number) {
      if (!take()) return fmt::format("line {} is not a valid record", number);
    }
    return too_long_ ? "a line is too long" : "";
  }

 private:
  std::string_view field(std::size_t index) const {
    return index < fields_.size() ? std::string_view(fields_[index]) : std::string_view();
  }

  bool next_line() {
    line_.resize(kLongestLine);
    in_.getline(line_.data(), static_cast<std::streamsize>(line_.size()));
    if (in_.fail() && !in_.eof()) too_long_ = true;
    if (in_.fail() || in_.bad()) return false;
    line_.resize(std::char_traits<char>::length(line_.data()));
    fields_.clear();
    for (std::string_view rest = line_;;) {
      const std::size_t tab = rest.find('\t');
      fields_.push_back(rest.substr(0, tab));
      if (tab == std::string_view::npos) return true;
      rest.remove_prefix(tab + 1);
    }
  }

  /// Code outside any file has a module that is not listed: it has no name either.
  bool is_of_no_module() const { return parsed_number<std::int64_t>(field(1)) && !module_at(1); }

  bool take() {
    const std::string_view kind = field(0);
    if ((kind == "i" || kind == "e" || kind == "via") && is_of_no_module()) return true;
    if (kind == "i") return take_instruction();
    if (kind == "e") return take_jump();
    if (kind == "via") return take_call();
    if (kind == "module") return take_module();
    CountedProcess& process = counted_.processes.back();
    if (kind == "pid") {
      const auto pid = parsed_number<std::int64_t>(field(1)), parent = parsed_number<std::int64_t>(field(2));
      if (!pid) return false;
      process.pid = *pid;
      process.parent = parent.value_or(0);
    } else if (kind == "command") {
      process.command = unescaped(field(1).substr(0, kMostText));
    } else if (kind == "isa") {
      counted_.isa = std::string(field(1).substr(0, 64));
    } else if (kind == "cache") {
      const auto line = parsed_number<std::int64_t>(field(4));
      if (!line || *line < 1 || *line > kMostLineBytes) return false;
      counted_.line_bytes = static_cast<double>(*line);
    } else if (kind == "native") {
      process.native_s = parsed_count(field(1)).value_or(0);
      process.why_no_native_s = unescaped(field(2).substr(0, kMostText));
    } else if (kind == "end") {
      return take_end(process);
    }
    return true;  // records of later versions are left out
  }

  bool take_end(CountedProcess& process) const {
    const std::string_view how = field(1);
    const std::string_view word = how.substr(0, how.find(' '));
    static constexpr std::array<std::pair<std::string_view, CountEnd>, 4> kEnds = {
        {{"complete", CountEnd::complete},
         {"limit", CountEnd::limit},
         {"signal", CountEnd::signal},
         {"illegal-instruction", CountEnd::illegal_instruction}}};
    const auto* const found = std::ranges::find(kEnds, word, &std::pair<std::string_view, CountEnd>::first);
    if (found == kEnds.end()) return false;
    process.end = found->second;
    // The rest is separated by spaces or tabs; the second one of an instruction is its module.
    process.detail = std::string(how.substr(std::min(how.size(), word.size() + 1)).substr(0, kMostText));
    for (std::size_t i = 2; i < fields_.size() && process.detail.size() < kMostText; ++i) {
      const auto module = i == 3 ? module_at(i) : std::nullopt;
      const std::string part =
          module ? counted_.modules[static_cast<std::size_t>(*module)] : unescaped(field(i).substr(0, kMostText));
      process.detail += (process.detail.empty() ? "" : " ") + part;
    }
    return true;
  }

  bool take_module() {
    const auto id = parsed_number<std::uint32_t>(field(1));
    if (!id || fields_.size() < 4 || modules_.size() >= kMostModules || counted_.modules.size() >= kMostModules) {
      return false;
    }
    modules_[*id] = counted_.module(unescaped(field(3).substr(0, kMostText)));
    return true;
  }

  std::optional<int> module_at(std::size_t index) const {
    const auto id = parsed_number<std::uint32_t>(field(index));
    const auto found = id ? modules_.find(*id) : modules_.end();
    return found == modules_.end() ? std::nullopt : std::optional(found->second);
  }

  bool take_instruction() {
    const auto module = module_at(1);
    const auto address = parsed_address(field(2));
    const auto executions = parsed_count(field(3));
    if (!module || !address || !executions) return false;
    if (counted_.instructions.size() >= kMostInstructions || counted_.totals.size() + fields_.size() > kMostTotals) {
      counted_.cut = true;
      return true;
    }
    CountedInstruction instruction = {.module = *module, .address = *address, .executions = *executions};
    instruction.first = static_cast<std::uint32_t>(counted_.totals.size());
    for (std::size_t i = 4; i < fields_.size(); ++i) {
      const std::string_view text = field(i);
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos) return false;
      const std::string_view value = text.substr(equals + 1);
      if (text.substr(0, equals) == "stride.bytes") {
        instruction.stride = parsed_number<std::int64_t>(value).value_or(0);
        continue;
      }
      const auto count = parsed_count(value);
      if (!count) return false;
      if (text.substr(0, equals) == "late") instruction.late = *count;
      if (const auto key = parse_count_key(text.substr(0, equals))) counted_.totals.emplace_back(*key, *count);
    }
    instruction.size = static_cast<std::uint32_t>(counted_.totals.size()) - instruction.first;
    counted_.instructions.push_back(instruction);
    return true;
  }

  bool take_jump() {
    const auto module = module_at(1);
    const auto from = parsed_address(field(2)), to = parsed_address(field(3));
    const auto taken = parsed_count(field(4));
    if (!module || !from || !to || !taken) return false;
    // Records of an instruction's jumps follow it.
    if (*from == *to && !counted_.instructions.empty() && counted_.instructions.back().address == *from) {
      counted_.instructions.back().repeated = *taken;
    }
    if (counted_.jumps.size() >= kMostJumps) {
      counted_.cut = true;
    } else {
      counted_.jumps.push_back({*module, *from, *to, *taken});
    }
    return true;
  }

  bool take_call() {
    const auto module = module_at(1), own = module_at(3);
    const auto address = parsed_address(field(2)), own_address = parsed_address(field(4));
    if (!module || !own || !address || !own_address) return false;
    CalledInstruction called = {*module, *address, *own, *own_address, 0};
    for (std::size_t i = 5; i < fields_.size(); ++i) {
      const std::string_view text = field(i);
      const std::size_t equals = std::min(text.find('='), text.size());
      const std::string_view key = text.substr(0, equals);
      const bool weighs = key.starts_with("flops.") || key == "load.bytes" || key == "store.bytes";
      if (weighs) called.weight += parsed_count(text.substr(std::min(text.size(), equals + 1))).value_or(0);
    }
    if (counted_.called.size() >= kMostCalls) {
      counted_.cut = true;
    } else {
      counted_.called.push_back(called);
    }
    return true;
  }

  std::istream& in_;
  CountedInstructions& counted_;
  std::string line_;
  std::vector<std::string_view> fields_;
  std::map<std::uint32_t, int> modules_;  ///< by the file's numbers
  bool too_long_ = false;
};

}  // namespace

std::string_view to_string(CountKey key) { return kKeyNames.at(static_cast<std::size_t>(key)); }

double CodeCounts::flops() const {
  double sum = 0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(CountKey::fp16_256); ++i) sum += totals.at(i);
  return sum;
}

void CodeCounts::add(const CodeCounts& other) {
  for (std::size_t i = 0; i < totals.size(); ++i) totals.at(i) += other.totals.at(i);
  for (const auto& [stride, accesses] : other.strides) strides[stride] += accesses;
}

void CodeCounts::multiply(double factor) {
  for (double& total : totals) total *= factor;
  for (auto& [stride, accesses] : strides) accesses *= factor;
}

CodeCounts CountedInstructions::counts_of(const CountedInstruction& instruction) const {
  CodeCounts counts;
  for (std::uint32_t i = 0; i < instruction.size; ++i) {
    const auto& [key, value] = totals.at(std::size_t{instruction.first} + i);
    counts.of(key) += value;
  }
  // Threads take turns under emulation: what was found a few times would be found all the time.
  constexpr double kSeveral = 8;
  double& shared = counts.of(CountKey::falsely_shared);
  shared = shared < kSeveral ? 0 : counts.of(CountKey::loads) + counts.of(CountKey::stores);
  counts.of(CountKey::instructions) = instruction.executions;
  counts.of(CountKey::divide_cycles) = cycles_of_divisions(counts);
  if (counts.flops() == 0) counts.of(CountKey::integer_divides) = counts.of(CountKey::divides);
  if (instruction.repeated > 0) {
    counts.of(CountKey::string_uses) = std::max(0.0, instruction.executions - instruction.repeated);
    counts.of(CountKey::string_bytes) = counts.of(CountKey::store_bytes);
  }
  if (instruction.stride != 0) counts.strides[instruction.stride] = instruction.executions;
  return counts;
}

int CountedInstructions::module(const std::string& path) {
  const auto [known, is_new] = module_of_.try_emplace(path, static_cast<int>(modules.size()));
  if (is_new) modules.push_back(path);
  return known->second;
}

void read_counts(std::istream& in, const std::string& name, CountedInstructions& counted) {
  const std::string fault = CountsReader(in, counted).read();
  if (!fault.empty() && counted.unreadable.empty()) counted.unreadable = fmt::format("{}: {}", name, fault);
}

bool is_counts_file(const fs::path& path) {
  return path.extension() == kCountsExtension || path.stem().extension() == kCountsExtension;
}

bool has_counted_instructions(const fs::path& folder) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (is_counts_file(entry.path())) return true;
  }
  return false;
}

CountedInstructions read_counts_folder(const fs::path& folder) {
  CountedInstructions counted;
  std::vector<fs::path> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (is_counts_file(entry.path()) && entry.is_regular_file(failure)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  if (files.size() > kMostProcesses) counted.cut = true;
  files.resize(std::min(files.size(), kMostProcesses));
  for (const fs::path& file : files) {
    std::ifstream in(file);
    read_counts(in, file.filename().string(), counted);
  }
  return counted;
}

}  // namespace roofline
