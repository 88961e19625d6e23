#include "profile/native_lines.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <tuple>

#include "profile/symbols.hpp"
#include "sample/native_names.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kFirstLine = "roofline-native-lines-1";

/// std::nullopt if the place has a line, or no call is known.
std::optional<NativeCall> call_of(const ProcessTrace& trace, const spool::Place& place) {
  const spool::Code& code = trace.code(place.code);
  if (place.line != 0 || place.code == 0 || code.id != place.code) return std::nullopt;
  const spool::CodeFile& file = trace.code_file(code.file);
  return NativeCall{std::string(trace.text(file.path)), std::string(trace.text(file.build_id)), code.address};
}

/// Records of lines and texts that a trace does not have yet.
class LineRecords {
 public:
  explicit LineRecords(ProcessTrace& trace) : trace_(trace) {
    if (trace_.texts.empty()) trace_.texts.emplace_back();
    if (trace_.lines.empty()) trace_.lines.emplace_back();
  }

  spool::Id line(const NativeLine& line) {
    const auto [known, is_new] = known_lines_.try_emplace({line.file, line.function, line.line});
    if (!is_new) return known->second;
    known->second = static_cast<spool::Id>(trace_.lines.size());
    trace_.lines.push_back(
        {known->second, text(line.file), text(line.function), static_cast<std::uint32_t>(line.line)});
    return known->second;
  }

 private:
  spool::Id text(const std::string& text) {
    const auto [known, is_new] = known_texts_.try_emplace(text, static_cast<spool::Id>(trace_.texts.size()));
    if (is_new) trace_.texts.push_back(text);
    return known->second;
  }

  ProcessTrace& trace_;
  std::map<std::tuple<std::string, std::string, int>, spool::Id> known_lines_;
  std::map<std::string, spool::Id> known_texts_;
};

/// A field of the file: tabs and line breaks would end it.
std::string field(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return result;
}

}  // namespace

void find_native_lines(const std::vector<ProcessTrace>& traces, NativeLines& lines) {
  std::vector<NativeCall> calls;
  std::vector<CodePlace> places;
  CodeModules modules;
  for (const ProcessTrace& trace : traces) {
    for (const spool::Place& place : trace.places) {
      const std::optional<NativeCall> call = call_of(trace, place);
      if (!call || lines.contains(*call)) continue;
      const int module = modules.find(call->path);
      const auto& elf = modules[module].elf;
      if (!elf || elf->build_id() != call->build_id) continue;  // another build's lines would mislead
      calls.push_back(*call);
      places.push_back({module, call->address});
    }
  }
  const std::vector<HostFrame> frames = native_frames(modules, places);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    lines[calls[i]] = {without_parameters(frames[i].function), frames[i].file, frames[i].line};
  }
}

void add_native_lines(std::vector<ProcessTrace>& traces, const NativeLines& lines) {
  for (ProcessTrace& trace : traces) {
    LineRecords records(trace);
    for (spool::Place& place : trace.places) {
      const std::optional<NativeCall> call = call_of(trace, place);
      const auto found = call ? lines.find(*call) : lines.end();
      if (found != lines.end()) place.line = records.line(found->second);
    }
  }
}

std::string write_native_lines(const NativeLines& lines) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const auto& [call, line] : lines) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", field(call.path), field(call.build_id), call.address,
                        field(line.file), line.line, field(line.function));
  }
  return text;
}

NativeLines read_native_lines(std::string_view text) {
  constexpr int kMostLine = 1 << 30;
  NativeLines lines;
  if (take_until(text, '\n') != kFirstLine) return lines;
  while (!text.empty()) {
    std::string_view rest = take_until(text, '\n');
    std::array<std::string_view, 6> fields;
    for (std::string_view& one : fields) one = take_until(rest, '\t');
    const auto address = parsed_number<std::uint64_t>(fields[2]);
    const auto line = parsed_number<int>(fields[4]);
    if (!address || !line || *line < 0 || *line > kMostLine || fields[5].empty()) continue;
    lines[{std::string(fields[0]), std::string(fields[1]), *address}] = {std::string(fields[5]), std::string(fields[3]),
                                                                         *line};
  }
  return lines;
}

}  // namespace roofline
