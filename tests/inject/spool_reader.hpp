// A spool as the tests look at it: its records, and names for its ids.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inject/spool.hpp"

namespace roofline::inject {

struct Spool {
  std::string command;
  std::optional<spool::Process> process;
  std::vector<std::pair<spool::Note, std::string>> notes;
  std::map<spool::Id, std::string> texts = {{0, ""}};
  std::map<spool::Id, spool::Range> ranges;
  std::map<spool::Id, spool::Line> lines;
  std::map<spool::Id, spool::Place> places = {{0, {}}};
  std::map<spool::Id, spool::CodeFile> code_files;
  std::map<spool::Id, spool::Code> codes = {{0, {}}};
  std::map<spool::Id, spool::Kind> kinds;
  std::vector<spool::Device> devices;
  std::vector<spool::Launch> launches;
  std::vector<spool::Kernel> kernels;
  std::vector<spool::Copy> copies;
  std::vector<spool::Fill> fills;
  std::vector<spool::Call> calls;
  std::vector<spool::RangeTime> range_times;
  std::vector<spool::Tally> tallies;
  std::map<spool::Id, spool::Marker> markers;
  std::vector<spool::Marks> marks;
  std::map<std::uint32_t, std::string> threads;
  std::vector<spool::CopySource> copy_sources;
  std::vector<spool::Allocation> allocations;
  std::vector<spool::MemoryUse> memory_uses;
  std::optional<spool::Rank> rank;
  std::map<spool::Id, spool::Communicator> communicators;
  std::map<std::string, std::string> variables;
  std::vector<spool::Collective> collectives;
  std::uintmax_t bytes = 0;
  bool torn = false;
  std::string broken;  ///< what is against the rules of the format; empty: nothing

  bool has_note(spool::NoteCode code) const {
    for (const auto& [note, text] : notes) {
      if (note.code == code) return true;
    }
    return false;
  }
  std::string range_path(spool::Id id) const {
    if (id == 0) return {};
    const spool::Range& range = ranges.at(id);
    const std::string parent = range_path(range.parent);
    return (parent.empty() ? "" : parent + "/") + texts.at(range.name);
  }
  const spool::Place& place(const spool::Launch& launch) const { return places.at(kinds.at(launch.kind).place); }
  std::string name(const spool::Launch& launch) const { return texts.at(kinds.at(launch.kind).name); }
  std::string module(const spool::Launch& launch) const { return texts.at(place(launch).module); }
  std::uint32_t line(const spool::Launch& launch) const {
    const spool::Id id = place(launch).line;
    return id != 0 ? lines.at(id).number : 0;
  }
  std::vector<spool::Launch> launches_of(const std::string& wanted) const {
    std::vector<spool::Launch> found;
    for (const spool::Launch& launch : launches) {
      if (name(launch) == wanted) found.push_back(launch);
    }
    return found;
  }
};

namespace reading {

template <typename Record>
Record record(const std::string& bytes, std::size_t at) {
  Record value;
  std::memcpy(&value, bytes.data() + at + sizeof(spool::Header), sizeof(value));
  return value;
}

template <typename Record>
std::string tail(const std::string& bytes, std::size_t at, std::size_t size) {
  const std::size_t begin = at + sizeof(spool::Header) + sizeof(Record);
  std::string text = bytes.substr(begin, at + size - begin);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace reading

inline Spool read_spool(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  Spool spool;
  spool.bytes = bytes.size();
  std::uint64_t magic = 0;
  if (bytes.size() >= sizeof(magic)) std::memcpy(&magic, bytes.data(), sizeof(magic));
  if (magic != spool::kMagic) spool.broken = "no spool's beginning";
  const auto need = [&](bool known, const char* what) {
    if (!known) spool.broken = what;
  };
  for (std::size_t at = sizeof(magic); spool.broken.empty() && at < bytes.size();) {
    spool::Header header = {};
    if (at + sizeof(header) > bytes.size()) {
      spool.torn = true;
      break;
    }
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    if (header.size % 8 != 0 || header.size < sizeof(header)) {
      spool.broken = "a record of no size";
      break;
    }
    if (at + header.size > bytes.size()) {
      spool.torn = true;
      break;
    }
    if (!spool.process && header.type != spool::Type::process) spool.broken = "the process is not first";
    switch (header.type) {
      case spool::Type::process:
        spool.process = reading::record<spool::Process>(bytes, at);
        spool.command = reading::tail<spool::Process>(bytes, at, header.size);
        break;
      case spool::Type::note:
        spool.notes.emplace_back(reading::record<spool::Note>(bytes, at),
                                 reading::tail<spool::Note>(bytes, at, header.size));
        break;
      case spool::Type::text:
        spool.texts[reading::record<spool::Text>(bytes, at).id] = reading::tail<spool::Text>(bytes, at, header.size);
        break;
      case spool::Type::device:
        spool.devices.push_back(reading::record<spool::Device>(bytes, at));
        break;
      case spool::Type::range: {
        const auto range = reading::record<spool::Range>(bytes, at);
        need(range.parent == 0 || spool.ranges.count(range.parent) != 0, "a range before its parent");
        need(spool.texts.count(range.name) != 0 && spool.texts.count(range.domain) != 0, "a range before its name");
        spool.ranges[range.id] = range;
        break;
      }
      case spool::Type::line: {
        const auto line = reading::record<spool::Line>(bytes, at);
        need(spool.texts.count(line.file) != 0 && spool.texts.count(line.function) != 0, "a line before its file");
        spool.lines[line.id] = line;
        break;
      }
      case spool::Type::place: {
        const auto place = reading::record<spool::Place>(bytes, at);
        need(place.range == 0 || spool.ranges.count(place.range) != 0, "a place before its range");
        need(place.line == 0 || spool.lines.count(place.line) != 0, "a place before its line");
        need(spool.texts.count(place.module) != 0 && spool.texts.count(place.operation) != 0, "a place before a text");
        need(spool.codes.count(place.code) != 0, "a place before its code");
        spool.places[place.id] = place;
        break;
      }
      case spool::Type::code_file: {
        const auto code_file = reading::record<spool::CodeFile>(bytes, at);
        need(spool.texts.count(code_file.path) != 0 && spool.texts.count(code_file.build_id) != 0,
             "a file before its path");
        spool.code_files[code_file.id] = code_file;
        break;
      }
      case spool::Type::code: {
        const auto code = reading::record<spool::Code>(bytes, at);
        need(spool.code_files.count(code.file) != 0, "code before its file");
        spool.codes[code.id] = code;
        break;
      }
      case spool::Type::kind: {
        const auto kind = reading::record<spool::Kind>(bytes, at);
        need(spool.texts.count(kind.name) != 0 && spool.places.count(kind.place) != 0, "a kind before its place");
        spool.kinds[kind.id] = kind;
        break;
      }
      case spool::Type::launch:
        spool.launches.push_back(reading::record<spool::Launch>(bytes, at));
        need(spool.kinds.count(spool.launches.back().kind) != 0, "a launch before its kind");
        need(spool.threads.count(spool.launches.back().thread) != 0, "a launch before its thread");
        break;
      case spool::Type::kernel:
        spool.kernels.push_back(reading::record<spool::Kernel>(bytes, at));
        need(spool.kernels.back().kind == 0 || spool.kinds.count(spool.kernels.back().kind) != 0,
             "a kernel before its kind");
        break;
      case spool::Type::copy:
        spool.copies.push_back(reading::record<spool::Copy>(bytes, at));
        need(spool.places.count(spool.copies.back().place) != 0, "a copy before its place");
        break;
      case spool::Type::fill:
        spool.fills.push_back(reading::record<spool::Fill>(bytes, at));
        break;
      case spool::Type::call:
        spool.calls.push_back(reading::record<spool::Call>(bytes, at));
        need(spool.texts.count(spool.calls.back().name) != 0, "a call before its name");
        break;
      case spool::Type::range_time:
        spool.range_times.push_back(reading::record<spool::RangeTime>(bytes, at));
        need(spool.ranges.count(spool.range_times.back().range) != 0, "a range's time before the range");
        break;
      case spool::Type::tally:
        spool.tallies.push_back(reading::record<spool::Tally>(bytes, at));
        break;
      case spool::Type::thread: {
        const auto thread = reading::record<spool::Thread>(bytes, at);
        spool.threads[thread.id] = spool.texts.at(thread.name);
        break;
      }
      case spool::Type::copy_source:
        spool.copy_sources.push_back(reading::record<spool::CopySource>(bytes, at));
        break;
      case spool::Type::allocation:
        spool.allocations.push_back(reading::record<spool::Allocation>(bytes, at));
        need(spool.places.count(spool.allocations.back().place) != 0, "an allocation before its place");
        break;
      case spool::Type::memory_use:
        spool.memory_uses.push_back(reading::record<spool::MemoryUse>(bytes, at));
        need(spool.memory_uses.back().start <= spool.memory_uses.back().end, "an interval that ends before it begins");
        break;
      case spool::Type::marker: {
        const auto marker = reading::record<spool::Marker>(bytes, at);
        need(marker.kind == 0 || spool.kinds.count(marker.kind) != 0, "a marker before its kind");
        need(spool.texts.count(marker.call) != 0, "a marker before its call");
        spool.markers[marker.id] = marker;
        break;
      }
      case spool::Type::marks:
        spool.marks.push_back(reading::record<spool::Marks>(bytes, at));
        need(spool.markers.count(spool.marks.back().marker) != 0, "marks before their marker");
        need(spool.marks.back().start <= spool.marks.back().end, "marks that end before they begin");
        break;
      case spool::Type::rank:
        spool.rank = reading::record<spool::Rank>(bytes, at);
        need(spool.texts.count(spool.rank->launcher) != 0, "a rank before its launcher");
        break;
      case spool::Type::variable: {
        const auto variable = reading::record<spool::Variable>(bytes, at);
        need(spool.texts.count(variable.name) != 0, "a variable before its name");
        spool.variables[spool.texts[variable.name]] = spool.texts[variable.value];
        break;
      }
      case spool::Type::communicator: {
        const auto communicator = reading::record<spool::Communicator>(bytes, at);
        spool.communicators[communicator.id] = communicator;
        break;
      }
      case spool::Type::collective:
        spool.collectives.push_back(reading::record<spool::Collective>(bytes, at));
        need(spool.communicators.count(spool.collectives.back().communicator) != 0,
             "a collective before its communicator");
        break;
      default:
        break;
    }
    at += header.size;
  }
  return spool;
}

}  // namespace roofline::inject
