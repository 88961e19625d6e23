// Writes spools as the library inside a program does: known launches for what reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "inject/spool.hpp"

namespace roofline {

class SpoolBuilder {
 public:
  explicit SpoolBuilder(std::uint32_t pid = 100, std::uint8_t gpu = 7, const std::string& name = "NVIDIA Test") {
    bytes_.append(reinterpret_cast<const char*>(&spool::kMagic), sizeof spool::kMagic);
    spool::Process process = {};
    process.start = 0;
    process.pid = pid;
    add(spool::Type::process, process, std::string("python\0train.py\0", 16));
    device(0, gpu, name);
  }

  void device(std::uint32_t index, std::uint8_t gpu, const std::string& name = "NVIDIA Test") {
    spool::Device device = {};
    device.index = index;
    device.name = text(name);
    device.chip = text("GH100");
    device.sms = 132;
    device.compute_major = 9;
    device.uuid[0] = gpu;
    device.threads_per_sm = 2048;
    device.blocks_per_sm = 32;
    device.registers_per_sm = 65536;
    device.shared_per_sm = 228 << 10;
    add(spool::Type::device, device);
  }
  /// Later kernels run on it.
  void on_device(std::uint32_t index) { device_ = index; }

  template <typename Record>
  void add(spool::Type type, const Record& record, std::string tail = {}) {
    tail.resize((tail.size() + 7) / 8 * 8);
    const spool::Header header = {static_cast<std::uint32_t>(sizeof header + sizeof record + tail.size()), type, 0};
    bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
    bytes_.append(reinterpret_cast<const char*>(&record), sizeof record);
    bytes_ += tail;
  }

  spool::Id text(const std::string& text) {
    const auto [found, is_new] = texts_.try_emplace(text, static_cast<spool::Id>(texts_.size() + 1));
    if (is_new) add(spool::Type::text, spool::Text{found->second, static_cast<std::uint32_t>(text.size())}, text);
    return found->second;
  }

  void note(spool::NoteCode code, std::uint64_t time, const std::string& words) {
    add(spool::Type::note, spool::Note{time, code, 0}, words);
  }

  spool::Id range(const std::string& name, spool::Id parent = 0) {
    add(spool::Type::range, spool::Range{++ranges_, parent, text(name), 0});
    return ranges_;
  }

  spool::Id line(const std::string& file, std::uint32_t number, const std::string& function) {
    add(spool::Type::line, spool::Line{++lines_, text(file), text(function), number});
    return lines_;
  }

  struct PlaceParts {
    spool::Id range = 0, line = 0;
    std::string module = {};
    bool backward = false;
  };
  spool::Id place(const PlaceParts& parts) {
    spool::Place place = {};
    place.id = ++places_;
    place.range = parts.range;
    place.line = parts.line;
    if (!parts.module.empty()) place.module = text(parts.module);
    place.backward = parts.backward ? 1 : 0;
    add(spool::Type::place, place);
    return places_;
  }

  spool::Id kind(const std::string& name, spool::Id place = 0, std::uint32_t flags = 0, std::uint32_t blocks = 132,
                 std::uint64_t scalars = 0) {
    spool::Kind kind = {};
    kind.id = ++kinds_;
    kind.name = text(name);
    kind.place = place;
    kind.flags = flags;
    kind.scalars = scalars;
    kind.grid[0] = blocks;
    kind.block[0] = 256;
    kind.grid[1] = kind.grid[2] = kind.block[1] = kind.block[2] = 1;
    add(spool::Type::kind, kind);
    return kinds_;
  }

  /// A launch by the host over [call, call_end) whose kernel runs over [start, end); ns.
  std::uint32_t launch(spool::Id kind, std::uint64_t call, std::uint64_t call_end, std::uint64_t start,
                       std::uint64_t end, std::uint32_t flags = 0, std::uint32_t stream = 7) {
    ++launches_;
    add(spool::Type::launch, spool::Launch{call, call_end, ++correlation_, kind, thread_, flags});
    kernel(0, correlation_, start, end, 0, stream);
    return correlation_;
  }

  void kernel(spool::Id kind, std::uint32_t correlation, std::uint64_t start, std::uint64_t end,
              std::uint32_t graph = 0, std::uint32_t stream = 7, std::uint32_t flags = 0) {
    spool::Kernel kernel = {};
    kernel.flags = flags;
    kernel.device = device_;
    kernel.start = start;
    kernel.end = end;
    kernel.correlation = correlation;
    kernel.kind = kind;
    kernel.stream = stream;
    kernel.graph = graph;
    kernel.registers = 32;
    add(spool::Type::kernel, kernel);
  }

  /// One launch of a whole graph; its kernels are added with the correlation that is returned.
  std::uint32_t launch_graph(spool::Id kind, std::uint64_t call, std::uint64_t call_end) {
    ++launches_;
    add(spool::Type::launch, spool::Launch{call, call_end, ++correlation_, kind, thread_, 0});
    return correlation_;
  }

  void call(const std::string& name, spool::CallKind kind, std::uint64_t start, std::uint64_t end,
            spool::Id place = 0) {
    add(spool::Type::call, spool::Call{start, end, ++correlation_, text(name), kind, thread_, place, 0});
  }

  void copy(std::uint64_t bytes, spool::Memory from, spool::Memory to, std::uint64_t call, std::uint64_t start,
            std::uint64_t end, spool::Id place = 0, std::uint32_t stream = 7) {
    add(spool::Type::call, spool::Call{call, call + 2000, ++correlation_, text("cuMemcpyAsync"), spool::CallKind::copy,
                                       thread_, place, 0});
    spool::Copy copy = {};
    copy.start = start;
    copy.end = end;
    copy.bytes = bytes;
    copy.correlation = correlation_;
    copy.stream = stream;
    copy.from = from;
    copy.to = to;
    copy.place = place;
    last_copy_ = bytes_.size() + sizeof(spool::Header);
    add(spool::Type::copy, copy);
  }
  void fill(std::uint64_t bytes, std::uint64_t call, std::uint64_t start, std::uint64_t end, spool::Id place = 0) {
    add(spool::Type::call, spool::Call{call, call + 2000, ++correlation_, text("cuMemsetD8Async"),
                                       spool::CallKind::copy, thread_, place, 0});
    spool::Fill fill = {};
    fill.start = start;
    fill.end = end;
    fill.bytes = bytes;
    fill.correlation = correlation_;
    fill.stream = 7;
    fill.place = place;
    add(spool::Type::fill, fill);
  }
  /// As where very many transfers were awaited: only the call has the place.
  void lose_place_of_last_copy() {
    const spool::Id none = 0;
    std::memcpy(bytes_.data() + last_copy_ + offsetof(spool::Copy, place), &none, sizeof none);
  }
  /// The same from the host's memory, with the contents that it had.
  void copy_of(std::uint64_t digest, std::uint64_t bytes, spool::Memory from, std::uint64_t call, std::uint64_t start,
               std::uint64_t end, spool::Id place = 0, std::uint32_t padding = 0) {
    copy(bytes, from, spool::Memory::device, call, start, end, place);
    add(spool::Type::copy_source, spool::CopySource{0x1000, bytes, digest, correlation_, padding});
  }

  /// Later launches and calls are that thread's.
  void on_thread(std::uint32_t thread) { thread_ = thread; }

  /// What that kind counted, of one group of counters.
  void counts(spool::Id kind, const std::map<std::string, double>& values, std::uint32_t group = 0) {
    std::vector<double> list;
    for (const auto& [quantity, value] : values) {
      const auto index = static_cast<std::uint32_t>(list.size());
      add(spool::Type::metric, spool::Metric{index, group, text(quantity), text("chip." + quantity)});
      list.push_back(value);
    }
    std::string tail(list.size() * sizeof(double), '\0');
    std::memcpy(tail.data(), list.data(), tail.size());
    add(spool::Type::counts, spool::Counts{kind, group, 0, static_cast<std::uint32_t>(list.size())}, tail);
  }

  void end(std::uint64_t time) {
    spool::Tally tally = {};
    tally.time = time;
    tally.launches = launches_;
    tally.last = 1;
    add(spool::Type::tally, tally);
  }

  const std::string& bytes() const { return bytes_; }
  std::filesystem::path write(const std::filesystem::path& file) const {
    std::ofstream(file, std::ios::binary) << bytes_;
    return file;
  }

 private:
  std::string bytes_;
  std::map<std::string, spool::Id> texts_;
  spool::Id ranges_ = 0, lines_ = 0, places_ = 0, kinds_ = 0;
  std::uint32_t correlation_ = 0;
  std::uint32_t thread_ = 1;
  std::uint32_t device_ = 0;
  std::size_t last_copy_ = 0;  ///< where its record is
  std::uint64_t launches_ = 0;
};

}  // namespace roofline
