#include "import/chrome_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "import/clean_times.hpp"
#include "import/event_pairs.hpp"
#include "import/json_stream.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

/// Some tools quote numbers.
std::optional<JsonNumber> quoted_number(const std::string& text) {
  const std::optional<double> value = parsed_number<double>(text);
  if (!value) return std::nullopt;
  const std::optional<std::int64_t> integer = parsed_number<std::int64_t>(text);
  return JsonNumber{*value, integer.value_or(0), integer.has_value()};
}

/// Both shapes: an array of events, or an object with them in "traceEvents".
class Reader final : public JsonEvents {
 public:
  Reader(ByteSource& source, ChromeTrace& trace, const std::function<bool(std::string_view)>& wanted,
         const std::function<void(ChromeEvent&)>& take)
      : trace_(trace), wanted_(wanted), pairs_(source, take) {}

  bool any() const { return any_; }
  void finish() {
    trace_.stayed_open = stayed_open();
    pairs_.finish();
  }

 private:
  enum class Part : std::uint8_t { other, events, devices, distributed };

  bool may_stay_open() const override { return true; }

  void open(bool object) override {
    if (depth() == 1 && !object) {
      part_ = Part::events;
      base_ = 1;
      any_ = true;
    } else if (depth() == 2 && base_ == 2) {
      part_ = key_ == "traceEvents" && !object        ? Part::events
              : key_ == "deviceProperties" && !object ? Part::devices
              : key_ == "distributedInfo" && object   ? Part::distributed
                                                      : Part::other;
      any_ |= part_ == Part::events;
    } else if (part_ == Part::events && depth() == base_ + 1) {
      event_.clear();
      bad_ = !object;
    } else if (part_ == Part::events && depth() == base_ + 2) {
      in_arguments_ = object && key_ == "args";
    } else if (collecting()) {
      if (depth() == base_ + 3) begin_argument();
      if (argument_ != nullptr) separate();
      if (argument_ != nullptr) argument_->text += object ? '{' : '[';
      fresh_ = true;
    } else if (part_ == Part::devices && depth() == 3 && object) {
      trace_.devices.emplace_back();
    }
  }

  void close(bool object) override {
    if (part_ == Part::events && depth() == base_) {
      event_.offset = source().offset();
      if (!bad_) pairs_.add(event_);
    } else if (part_ == Part::events && depth() == base_ + 1) {
      in_arguments_ = false;
    } else if (collecting() && depth() >= base_ + 2) {
      if (argument_ != nullptr) argument_->text += object ? '}' : ']';
      fresh_ = false;
      if (depth() == base_ + 2) argument_ = nullptr;
    }
    if (depth() == 1 && base_ == 2) part_ = Part::other;
  }

  void on_key(std::string& name) override {
    if (collecting() && depth() > base_ + 2) {
      if (argument_ != nullptr) {
        separate();
        argument_->text += '"' + name + "\":";
        fresh_ = true;
      }
      return;
    }
    key_.swap(name);
    if (depth() == 1) trace_.is_hip |= key_ == "roctracer_version" || key_ == "hip_runtime_version";
  }

  void on_text(std::string& text) override {
    if (part_ == Part::events && depth() == base_ + 1) {
      if (key_ == "ts" || key_ == "dur") take_time({std::numeric_limits<double>::quiet_NaN()});
      if (key_ == "ph") event_.phase.swap(text);
      if (key_ == "cat") event_.category.swap(text);
      if (key_ == "name") event_.name.swap(text);
      if (key_ == "pid") event_.process_name.swap(text);
      if (key_ == "tid") event_.thread_name.swap(text);
    } else if (collecting()) {
      if (depth() == base_ + 2) {
        if (begin_argument()) {
          if (const auto number = quoted_number(text)) set_number(*number);
          argument_->text.swap(text);
        }
        argument_ = nullptr;
      } else if (argument_ != nullptr) {
        separate();
        argument_->text += '"' + text + '"';
      }
    } else if (part_ == Part::devices && depth() == 3 && !trace_.devices.empty() && key_ == "name") {
      trace_.devices.back().name.swap(text);
    }
  }

  void on_number(const JsonNumber& number) override {
    if (part_ == Part::events && depth() == base_ + 1) {
      if (key_ == "ts" || key_ == "dur") take_time(number);
      if (key_ == "pid") event_.process = number.integer;
      if (key_ == "tid") event_.thread = number.integer;
      if (key_ == "id") event_.id = number.integer;
    } else if (collecting()) {
      if (depth() == base_ + 2) {
        if (begin_argument()) set_number(number);
        argument_ = nullptr;
      } else if (argument_ != nullptr) {
        separate();
        auto out = std::back_inserter(argument_->text);
        if (number.is_integer) {
          fmt::format_to(out, "{}", number.integer);
        } else if (std::isfinite(number.value)) {
          fmt::format_to(out, "{}", number.value);
        } else {
          argument_->text += "null";  // the text is JSON
        }
      }
    } else if (part_ == Part::devices && depth() == 3 && !trace_.devices.empty()) {
      take_device(trace_.devices.back(), number);
    } else if (part_ == Part::distributed && depth() == 2 && key_ == "rank") {
      trace_.rank = number.integer;
    } else if (depth() == 1 && base_ == 2 && key_ == "baseTimeNanoseconds" && number.is_integer) {
      trace_.base_ns = number.integer;
    }
  }

  void on_null() override {
    if (part_ == Part::events && depth() == base_ + 1 && (key_ == "ts" || key_ == "dur")) {
      take_time({std::numeric_limits<double>::quiet_NaN()});
    } else if (collecting() && depth() > base_ + 2 && argument_ != nullptr) {
      separate();
      argument_->text += "null";
    }
  }

  /// Takes the start or duration that the key names; NaN if it is no number.
  void take_time(const JsonNumber& number) {
    (key_ == "ts" ? event_.time_us : event_.duration_us) = number.value;
    (key_ == "ts" ? event_.time_ns : event_.duration_ns) = number.thousandths;
  }

  void set_number(const JsonNumber& number) {
    argument_->number = number.value;
    argument_->integer = number.is_integer ? number.integer : clamped(number.value);
    argument_->is_number = true;
  }

  static std::int64_t clamped(double value) {
    constexpr double kMost = 9e18;
    return std::isfinite(value) ? static_cast<std::int64_t>(std::clamp(value, -kMost, kMost)) : 0;
  }

  void take_device(DeviceFacts& device, const JsonNumber& number) {
    const auto small = static_cast<std::uint32_t>(std::clamp<std::int64_t>(number.integer, 0, 1 << 30));
    if (key_ == "id") device.index = small;
    if (key_ == "totalGlobalMem" && std::isfinite(number.value)) device.memory_bytes = number.value;
    if (key_ == "computeMajor") device.compute_major = small;
    if (key_ == "computeMinor") device.compute_minor = small;
    if (key_ == "numSms") device.sms = small;
    constexpr std::uint32_t kWaveOfAmd = 64;  // warps of NVIDIA have 32
    if (key_ == "warpSize" && small == kWaveOfAmd) device.is_amd = true;
    if (key_ == "maxThreadsPerMultiprocessor") device.threads_per_sm = small;
    if (key_ == "regsPerMultiprocessor") device.registers_per_sm = small;
    if (key_ == "regsPerBlock") device.registers_per_block = small;
    if (key_ == "sharedMemPerMultiprocessor") device.shared_per_sm = small;
    if (key_ == "sharedMemPerBlock") device.shared_per_block = small;
  }

  bool collecting() const { return part_ == Part::events && in_arguments_ && depth() >= base_ + 2; }

  bool begin_argument() {
    argument_ = nullptr;
    constexpr std::size_t kMostArguments = 256;
    if (!wanted_(key_) || event_.argument_count >= kMostArguments) return false;
    if (event_.argument_count == event_.arguments.size()) event_.arguments.emplace_back();
    argument_ = &event_.arguments[event_.argument_count++];
    argument_->name = key_;
    argument_->text.clear();
    argument_->is_number = false;
    fresh_ = true;
    return true;
  }

  void separate() {
    constexpr std::size_t kLongest = std::size_t{1} << 20;
    if (argument_->text.size() > kLongest) source().fail("an argument of more than 1 MB");
    if (!fresh_) argument_->text += ',';
    fresh_ = false;
  }

  ChromeTrace& trace_;
  const std::function<bool(std::string_view)>& wanted_;
  EventPairs pairs_;
  ChromeEvent event_;
  ChromeEvent::Argument* argument_ = nullptr;
  std::string key_;
  Part part_ = Part::other;
  int base_ = 2;  ///< depth inside the array of events
  bool in_arguments_ = false;
  bool fresh_ = true;  ///< nothing stands before the next element
  bool bad_ = false;
  bool any_ = false;
};

}  // namespace

const ChromeEvent::Argument* ChromeEvent::find(std::string_view wanted) const {
  for (std::size_t i = argument_count; i-- > 0;) {  // of duplicates the last
    if (arguments[i].name == wanted) return &arguments[i];
  }
  return nullptr;
}

std::string_view ChromeEvent::text(std::string_view wanted) const {
  const Argument* found = find(wanted);
  return found == nullptr ? std::string_view() : found->text;
}

double ChromeEvent::number(std::string_view wanted, double otherwise) const {
  const Argument* found = find(wanted);
  return found != nullptr && found->is_number && std::isfinite(found->number) ? found->number : otherwise;
}

std::int64_t ChromeEvent::integer(std::string_view wanted, std::int64_t otherwise) const {
  const Argument* found = find(wanted);
  return found != nullptr && found->is_number && std::isfinite(found->number) ? found->integer : otherwise;
}

std::array<std::uint32_t, 3> ChromeEvent::extents(std::string_view wanted) const {
  const std::string_view list = text(wanted);
  if (list.empty()) return {};
  std::array<std::uint32_t, 3> extents = {1, 1, 1};
  std::size_t at = 0;
  for (std::uint32_t& extent : extents) {
    at = list.find_first_of("0123456789", at);
    if (at == std::string_view::npos) break;
    std::uint64_t value = 0;
    for (; at < list.size() && list[at] >= '0' && list[at] <= '9'; ++at) {
      value = std::min<std::uint64_t>(10 * value + static_cast<std::uint64_t>(list[at] - '0'), 0xffffffffU);
    }
    extent = static_cast<std::uint32_t>(value);
  }
  return extents;
}

std::optional<Span> ChromeEvent::times() const {
  if (phase != "X") return times_from_us(time_us, 0);
  if (!time_ns || !duration_ns) return times_from_us(time_us, duration_us);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  if (*time_ns > kMost || *duration_ns > kMost || *duration_ns < 0) return std::nullopt;
  return times_from_ns(time_ns, *time_ns + *duration_ns);
}

void ChromeEvent::clear() {
  for (std::string* text : {&phase, &category, &name, &process_name, &thread_name}) text->clear();
  time_us = duration_us = std::numeric_limits<double>::quiet_NaN();
  time_ns = duration_ns = std::nullopt;
  process = thread = id = 0;
  argument_count = 0;
}

ChromeTrace read_chrome_trace(ByteSource& source, const std::function<bool(std::string_view)>& wanted,
                              const std::function<void(ChromeEvent&)>& take) {
  ChromeTrace trace;
  Reader reader(source, trace, wanted, take);
  read_json(source, reader);
  if (!reader.any()) source.fail("JSON without \"traceEvents\": not a Chrome trace", kKnownTraces);
  reader.finish();
  return trace;
}

}  // namespace roofline
