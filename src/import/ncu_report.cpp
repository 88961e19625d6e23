// The layout is NVIDIA's (extras/FileFormat in every Nsight Compute, subject to change): blocks with a header and a
// payload of sources and of results for kernels, ranges, command lists and graphs, each preceded by its length. Unknown
// fields are skipped. Metric names are indices into a table that grows from block to block.
#include <fmt/format.h>

#include <bit>

#include "import/ncu.hpp"
#include "import/ncu_metrics.hpp"
#include "import/ncu_samples.hpp"
#include "import/protobuf.hpp"

namespace roofline {
namespace {

constexpr std::string_view kMagic = {"NVR\0", 4};
/// Limit of a header with the whole table of strings, and of a result with its source and sections.
constexpr std::uint32_t kLongestPart = 256U << 20U;
constexpr std::size_t kMostNames = std::size_t{1} << 22;
constexpr std::size_t kMostLaunches = std::size_t{1} << 22;
/// Has the address of each instruction that ran.
constexpr std::string_view kExecuted = "inst_executed";

class NcuReport {
 public:
  explicit NcuReport(ByteSource& source) : source_(source) {}

  ImportedProfile read() {
    char magic[4] = {};
    if (source_.read(magic, sizeof magic) != sizeof magic || std::string_view(magic, 4) != kMagic) {
      source_.fail_at(0, "not an Nsight Compute report");
    }
    read_file_header();
    while (source_.peek() >= 0) read_block();
    ImportedProfile profile;
    profile.kind = ImportedKind::ncu;
    profile.file = source_.name();
    profile.tool = version_.empty() ? "ncu" : "ncu " + version_;
    profile.trace.process.pid = process_;
    if (others_ > 0) {
      profile.notes.push_back(
          fmt::format("{} results of ranges, graphs or command lists were skipped: only kernels have rows", others_));
    }
    add_ncu_launches(profile, launches_);
    samples_.finish(profile);
    return profile;
  }

 private:
  [[noreturn]] void fail_cut(const std::string& where) const {
    source_.fail("the file ends " + where, "the file is truncated: copy it again, or let ncu end before it is read");
  }

  std::uint32_t length(const char* of) {
    const std::uint64_t at = source_.offset();
    unsigned char bytes[4] = {};
    if (source_.read(reinterpret_cast<char*>(bytes), 4) != 4) fail_cut("before a length");
    const std::uint32_t value = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8U |
                                static_cast<std::uint32_t>(bytes[2]) << 16U |
                                static_cast<std::uint32_t>(bytes[3]) << 24U;
    if (value > kLongestPart) source_.fail_at(at, fmt::format("{} of {} bytes", of, value));
    return value;
  }

  /// A length-prefixed message, read piece by piece because the length can't be trusted.
  std::string_view message(const char* of) {
    std::size_t left = length(of);
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    bytes_.clear();
    begin_ = source_.offset();
    while (left > 0) {
      const std::size_t piece = std::min(left, kPiece), before = bytes_.size();
      bytes_.resize(before + piece);
      if (source_.read(bytes_.data() + before, piece) != piece) fail_cut(fmt::format("in {}", of));
      left -= piece;
    }
    return bytes_;
  }

  /// `take` is called with each field.
  template <typename Take>
  void for_each(std::string_view text, const char* of, Take&& take) {
    ProtobufReader reader(text);
    while (const auto field = reader.next()) take(*field);
    if (!reader.broken()) return;
    const bool inside = text.data() >= bytes_.data() && text.data() <= bytes_.data() + bytes_.size();
    const auto offset = inside ? static_cast<std::uint64_t>(text.data() - bytes_.data()) + reader.at() : 0;
    source_.fail_at(begin_ + offset, fmt::format("{} is broken", of));
  }

  void read_file_header() {
    const std::string_view header = message("the file's header");
    for_each(header, "the file's header", [](const ProtobufField&) {});
  }

  void read_block() {
    std::uint64_t sources = 0, results = 0, others = 0, payload = 0;
    for_each(message("a block's header"), "a block's header", [&](const ProtobufField& field) {
      switch (field.number) {
        case 1:
          sources = field.value;
          break;
        case 2:
          results = field.value;
          break;
        case 3:
          read_session(field.bytes);
          break;
        case 4:
          for_each(field.bytes, "the table of strings", [&](const ProtobufField& text) {
            if (text.number != 1) return;
            if (names_.size() >= kMostNames) source_.fail("a string table of more than 4 million entries");
            names_.emplace_back(text.bytes);
          });
          break;
        case 5:
          payload = field.value;
          break;
        case 7:
        case 8:
        case 9:
          others += field.value;
          break;
        default:
          break;
      }
    });
    // The payload's size decides where the next block is, whatever is in it.
    const std::uint64_t begin = source_.offset(), end = begin + payload;
    const auto inside = [&] { return source_.offset() < end; };
    for (std::uint64_t i = 0; i < sources && inside(); ++i) read_source();
    for (std::uint64_t i = 0; i < results && inside(); ++i) read_result();
    others_ += others;
    if (source_.offset() > end) source_.fail(fmt::format("a block is longer than its {} bytes", payload));
    const std::uint64_t left = end - source_.offset();
    if (source_.pass_over(left) != left) fail_cut("in a block");
  }

  /// Code that was loaded together. What another version has in the place of its files and kernels is skipped.
  void read_source() {
    NcuSource source;
    std::string_view files, kernels;
    for_each(message("a source"), "a source", [&](const ProtobufField& field) {
      if (field.number == 1) source.id = field.value;
      if (field.bytes.starts_with("\177ELF")) source.code = field.bytes;
      if (field.number == 8) files = field.bytes;
      if (field.number == 9) kernels = field.bytes;
    });
    for_each_pair(files, [&](std::string_view path, const ProtobufField& text) {
      if (text.has_bytes) source.files.emplace(path, text.bytes);
    });
    for_each_pair(kernels, [&](std::string_view symbol, const ProtobufField& address) {
      if (!address.has_bytes) source.kernels.emplace(symbol, address.value);
    });
    samples_.add_source(std::move(source));
  }

  /// A list of names (1) with something each (2), as far as it is one.
  template <typename Take>
  static void for_each_pair(std::string_view list, Take&& take) {
    ProtobufReader entries(list);
    while (const auto entry = entries.next()) {
      std::string_view name;
      std::optional<ProtobufField> value;
      ProtobufReader parts(entry->bytes);
      while (const auto part = parts.next()) {
        if (part->number == 1) name = part->bytes;
        if (part->number == 2) value = part;
      }
      if (!parts.broken() && !name.empty() && value) take(name, *value);
    }
  }

  void read_session(std::string_view session) {
    for_each(session, "the session", [&](const ProtobufField& field) {
      if (field.number == 1) process_ = static_cast<std::uint32_t>(field.value);
      if (field.number != 8) return;
      std::string provider, version;
      for_each(field.bytes, "a version", [&](const ProtobufField& part) {
        if (part.number == 1) provider = part.bytes;
        if (part.number == 2) version = part.bytes;
      });
      if (provider.find("Compute") != std::string::npos) version_ = version.substr(0, version.find(' '));
    });
  }

  void read_result() {
    if (launches_.size() >= kMostLaunches) source_.fail("more than 4 million results");
    NcuLaunch launch;
    NcuLaunchSamples samples;
    std::string function, demangled;
    std::uint64_t thread = 0;
    std::string_view nvtx;
    for_each(message("a result"), "a result", [&](const ProtobufField& field) {
      switch (field.number) {
        case 1:
          thread = field.value;
          break;
        case 5:
          launch.name = field.bytes;
          break;
        case 6:
          function = field.bytes;
          break;
        case 7:
          demangled = field.bytes;
          break;
        case 10:
          launch.grid = extents(field.bytes);
          break;
        case 11:
          launch.block = extents(field.bytes);
          break;
        case 13:
          read_metric(field.bytes, launch, samples);
          break;
        case 15:
          for_each(field.bytes, "a result's source", [&](const ProtobufField& part) {
            if (part.number == 1) samples.source = part.value;
          });
          break;
        case 21:
          nvtx = field.bytes;
          break;
        case 22:
          launch.context = static_cast<std::uint32_t>(field.value);
          break;
        case 23:
          launch.stream = static_cast<std::uint32_t>(field.value);
          break;
        default:
          break;
      }
    });
    read_ranges(nvtx, thread, launch);
    if (launch.name.empty()) launch.name = demangled.empty() ? function : demangled;
    const auto device = launch.values.find("device__attribute_device_index");
    if (device != launch.values.end() && device->second >= 0 && device->second < 1024) {
      launch.device = static_cast<std::uint32_t>(device->second);
    }
    samples_.add_launch(launch, samples);
    launches_.push_back(std::move(launch));
  }

  std::array<std::uint32_t, 3> extents(std::string_view text) {
    std::array<std::uint32_t, 3> result = {1, 1, 1};
    for_each(text, "extents", [&](const ProtobufField& field) {
      if (field.number >= 1 && field.number <= 3) {
        result.at(field.number - 1) = static_cast<std::uint32_t>(std::min<std::uint64_t>(field.value, 0xffffffffU));
      }
    });
    return result;
  }

  void read_metric(std::string_view text, NcuLaunch& launch, NcuLaunchSamples& samples) {
    std::uint64_t name = ~std::uint64_t{0};
    std::string_view value;
    for_each(text, "a metric", [&](const ProtobufField& field) {
      if (field.number == 1) name = field.value;
      if (field.number == 2 && field.has_bytes) value = field.bytes;
    });
    if (name >= names_.size()) {
      source_.fail_at(begin_, fmt::format("a metric's name is string {} of {}", name, names_.size()));
    }
    const std::string& metric = names_[name];
    const auto reason = samples_.reason(metric);
    if (reason || metric == kExecuted) read_instances(text, reason, samples);
    if (!is_ncu_metric(metric)) return;
    for_each(value, "a value", [&](const ProtobufField& field) {
      if (field.number == 1) launch.texts[metric] = field.bytes;
      if (field.number == 2) launch.values[metric] = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
      if (field.number == 3) launch.values[metric] = std::bit_cast<double>(field.value);
      if (field.number == 4 || field.number == 5) launch.values[metric] = static_cast<double>(field.value);
    });
  }

  /// A metric's values by instruction. `reason`: that it counts samples of; std::nullopt: its addresses alone matter.
  void read_instances(std::string_view metric, std::optional<std::uint32_t> reason, NcuLaunchSamples& samples) {
    for_each(metric, "a metric", [&](const ProtobufField& field) {
      if (field.number != 3 || !field.has_bytes) return;
      std::optional<std::uint64_t> address, count;
      for_each(field.bytes, "an instance of a metric", [&](const ProtobufField& part) {
        if (part.number == 1) address = whole_number(part.bytes);
        if (part.number == 2) count = whole_number(part.bytes);
      });
      if (!address) return;
      NcuSamples::add_count(samples, {*address, reason ? count.value_or(0) : 0, reason.value_or(0)});
    });
  }

  /// std::nullopt if the value is a text, or no count.
  std::optional<std::uint64_t> whole_number(std::string_view value) {
    std::optional<std::uint64_t> number;
    const auto take = [&number](double real) {
      constexpr double kMost = 9e18;
      if (real >= 0 && real < kMost) number = static_cast<std::uint64_t>(real);
    };
    for_each(value, "a value", [&](const ProtobufField& field) {
      if (field.number == 2) take(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
      if (field.number == 3) take(std::bit_cast<double>(field.value));
      if (field.number == 4 || field.number == 5) number = field.value;
    });
    return number;
  }

  /// Ranges of the launching thread, domain by domain, each from the outermost on.
  void read_ranges(std::string_view nvtx, std::uint64_t thread, NcuLaunch& launch) {
    for_each(nvtx, "NVTX's state", [&](const ProtobufField& field) {
      if (field.number != 2) return;
      std::uint64_t of = 0;
      std::vector<std::string> ranges;
      for_each(field.bytes, "a thread's ranges", [&](const ProtobufField& part) {
        if (part.number == 1) of = part.value;
        if (part.number != 2) return;
        for_each(part.bytes, "a domain's ranges", [&](const ProtobufField& stack) {
          if (stack.number != 3) return;
          for_each(stack.bytes, "a range", [&](const ProtobufField& range) {
            if (range.number == 1) ranges.emplace_back(range.bytes);
          });
        });
      });
      if (of == thread) launch.ranges = std::move(ranges);
    });
  }

  ByteSource& source_;
  std::string bytes_;        ///< of the message at hand
  std::uint64_t begin_ = 0;  ///< where it begins
  std::vector<std::string> names_;
  std::vector<NcuLaunch> launches_;
  NcuSamples samples_;
  std::string version_;
  std::uint64_t others_ = 0;
  std::uint32_t process_ = 0;
};

}  // namespace

ImportedProfile read_ncu_report(ByteSource& source) { return NcuReport(source).read(); }

bool looks_like_ncu_report(std::string_view beginning) { return beginning.starts_with(kMagic); }

}  // namespace roofline
