// machine.json as a stream of events, of which a table says what becomes of each: most of a file is audits, sweeps and
// intervals, of which nothing is kept.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "fleet/sheet.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// What is read of a file before it is known to be whole.
struct Draft {
  Sheet sheet;
  SheetCeiling ceiling;
  std::string name, regime;  ///< of the ceiling
  Attribute attribute;
  std::string schema;
  bool has_ceilings = false;
};

/// A number, a text or a boolean, and where it stands.
struct Value {
  std::string_view path;
  std::optional<double> number = {};
  std::optional<std::string_view> text = {};
  std::optional<bool> truth = {};

  double positive() const {
    if (!number || !std::isfinite(*number) || *number <= 0) fail("expected a positive number");
    return *number;
  }
  double any() const {
    if (!number) fail("expected a number");
    return *number;
  }
  std::string_view word() const {
    if (!text) fail("expected text");
    return *text;
  }
  bool yes() const {
    if (!truth) fail("expected true or false");
    return *truth;
  }
  template <class Parse>
  auto of(Parse parse) const {
    const auto parsed = parse(word());
    if (!parsed) fail(fmt::format("unknown word '{}'", shorten(clean_line(word()), 40)));
    return *parsed;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", shorten(clean_line(path), 60), what));
  }
};

void put_fact(Draft& draft, std::string name, std::string value) {
  draft.sheet.facts.push_back({std::move(name), std::move(value)});
}

using Take = void (*)(Draft&, const Value&);

/// The members that a fleet wants, by their path; elements of an array have that of the array.
const std::unordered_map<std::string_view, Take>& members_wanted() {
  static const std::unordered_map<std::string_view, Take> kTable = {
      {"schema", [](Draft& d, const Value& v) { d.schema = v.word(); }},
      {"tool_version", [](Draft& d, const Value& v) { put_fact(d, "roofline", std::string(v.word())); }},
      {"measured_at", [](Draft& d, const Value& v) { d.sheet.measured_at = clean_line(v.word()); }},
      {"host", [](Draft& d, const Value& v) { put_fact(d, "system", clean_line(v.word())); }},
      {"quick", [](Draft& d, const Value& v) { d.sheet.quick = v.yes(); }},
      {"cancelled", [](Draft& d, const Value& v) { d.sheet.cancelled = v.yes(); }},
      {"device.kind", [](Draft& d, const Value& v) { d.sheet.kind = v.of(parse_device_kind); }},
      {"device.index", [](Draft& d, const Value& v) { d.sheet.index = static_cast<int>(v.any()); }},
      {"device.name", [](Draft& d, const Value& v) { d.sheet.name = clean_line(v.word()); }},
      {"device.identity", [](Draft& d, const Value& v) { d.sheet.identity = clean_line(v.word()); }},
      {"device.units", [](Draft& d, const Value& v) { d.sheet.units = static_cast<std::int64_t>(v.any()); }},
      {"device.memory_bytes", [](Draft& d, const Value& v) { d.sheet.memory_bytes = v.any(); }},
      {"device.isa", [](Draft& d, const Value& v) { d.sheet.isa = clean_line(v.word()); }},
      {"device.driver", [](Draft& d, const Value& v) { put_fact(d, "driver", clean_line(v.word())); }},
      {"device.max_core_hz",
       [](Draft& d, const Value& v) { put_fact(d, "highest core clock", fmt::format("{:.0f} MHz", v.any() / 1e6)); }},
      {"device.memory_hz",
       [](Draft& d, const Value& v) { put_fact(d, "memory clock", fmt::format("{:.0f} MHz", v.any() / 1e6)); }},
      {"device.attributes.name", [](Draft& d, const Value& v) { d.attribute.name = clean_line(v.word()); }},
      {"device.attributes.value", [](Draft& d, const Value& v) { d.attribute.value = clean_line(v.word()); }},
      {"ceilings.name", [](Draft& d, const Value& v) { d.name = clean_line(v.word()); }},
      {"ceilings.regime", [](Draft& d, const Value& v) { d.regime = to_string(v.of(parse_regime)); }},
      {"ceilings.kind", [](Draft& d, const Value& v) { d.ceiling.kind = v.of(parse_ceiling_kind); }},
      {"ceilings.role", [](Draft& d, const Value& v) { d.ceiling.role = v.of(parse_role); }},
      {"ceilings.value", [](Draft& d, const Value& v) { d.ceiling.value = v.positive(); }},
      {"ceilings.audit.status", [](Draft& d, const Value& v) { d.ceiling.audit = v.of(parse_check_status); }},
      {"ceilings.clocks.core_hz", [](Draft& d, const Value& v) { d.ceiling.core_hz = static_cast<float>(v.any()); }},
      {"ceilings.power.temperature_c",
       [](Draft& d, const Value& v) { d.ceiling.temperature_c = static_cast<float>(v.any()); }},
      {"ceilings.power.limiter", [](Draft& d, const Value& v) { d.ceiling.limiter = interned(clean_line(v.word())); }},
      {"ceilings.disturbed.because",
       [](Draft& d, const Value& v) { d.ceiling.disturbed = interned(clean_line(v.word())); }},
  };
  return kTable;
}

/// Takes what nlohmann's parser reports. `path_` names the value that is next.
class SheetEvents {
 public:
  SheetEvents(std::string file, std::size_t size) : file_(std::move(file)), size_(size) {}

  bool null() { return true; }
  bool boolean(bool value) { return take({.path = path_, .truth = value}); }
  bool number_integer(std::int64_t value) { return take({.path = path_, .number = static_cast<double>(value)}); }
  bool number_unsigned(std::uint64_t value) { return take({.path = path_, .number = static_cast<double>(value)}); }
  bool number_float(double value, const std::string&) { return take({.path = path_, .number = value}); }
  bool string(std::string& text) { return take({.path = path_, .text = text}); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool key(std::string& name) {
    path_.resize(around_.back());
    // A report has its machine under that key.
    if (around_.size() == 1 && name == "machine") return true;
    if (!path_.empty()) path_ += '.';
    path_ += name;
    return true;
  }
  bool start_object(std::size_t) {
    if (path_ == "ceilings") draft_.ceiling = {}, draft_.name.clear(), draft_.regime.clear();
    around_.push_back(path_.size());
    return true;
  }
  bool end_object() {
    path_.resize(around_.back());
    around_.pop_back();
    if (path_ == "ceilings") end_ceiling();
    if (path_ == "device.attributes") end_attribute();
    return true;
  }
  bool start_array(std::size_t) {
    if (around_.empty()) throw UsageError("is no machine file");
    if (path_ == "ceilings") draft_.has_ceilings = true;
    return true;
  }
  bool end_array() { return true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) {
    throw UsageError(at >= size_ ? "breaks off: half a file" : fmt::format("no JSON from byte {} on", at));
  }

  Sheet finished() &&;

 private:
  bool take(const Value& value) {
    if (around_.empty()) throw UsageError("is no machine file");
    if (in_report_ && around_.size() == 1) return true;  // of the run, not of its machine
    const auto wanted = members_wanted().find(path_);
    if (wanted == members_wanted().end()) return true;
    wanted->second(draft_, value);
    if (path_ == "schema") in_report_ = in_report_ || draft_.schema == kReportSchema;
    // Other programs' files are left at once.
    if (path_ == "schema" && draft_.schema != kMachineSchema && draft_.schema != kReportSchema) {
      value.fail(fmt::format("is {}, no calibration", shorten(clean_line(draft_.schema), 40)));
    }
    return true;
  }

  void end_attribute() {
    Attribute& attribute = draft_.attribute;
    if (attribute.name == "UUID") {
      draft_.sheet.uuid = attribute.value;
    } else if (attribute.name == "host name") {
      draft_.sheet.host = attribute.value;
    } else if (attribute.name != "PCI address") {
      draft_.sheet.facts.push_back(attribute);
    }
  }

  void end_ceiling() {
    if (draft_.name.empty() || draft_.ceiling.value <= 0) throw UsageError("a ceiling without name or value");
    const bool burst = draft_.regime.empty() || draft_.regime == to_string(Regime::burst);
    draft_.ceiling.label = interned(burst ? draft_.name : draft_.name + " (" + draft_.regime + ")");
    draft_.sheet.ceilings.push_back(draft_.ceiling);
  }

  std::string file_;
  std::size_t size_;
  Draft draft_;
  bool in_report_ = false;
  std::string path_;
  std::vector<std::size_t> around_;  ///< how long the path is of each object that is open
};

Sheet SheetEvents::finished() && {
  Sheet& sheet = draft_.sheet;
  if (draft_.schema.empty()) throw UsageError("is no machine file");
  if (sheet.name.empty() || sheet.measured_at.empty() || !draft_.has_ceilings) {
    throw UsageError("names no device, no time or no ceilings");
  }
  sheet.file = std::move(file_);
  sheet.host_recorded = !sheet.host.empty();
  if (!sheet.host_recorded) sheet.host = clean_line(std::filesystem::path(sheet.file).stem().string());
  return std::move(sheet);
}

}  // namespace

std::vector<Sheet> read_sheets(const std::string& text, const std::string& file) {
  if (text.empty()) throw UsageError("is empty");
  SheetEvents events(file, text.size());
  nlohmann::json::sax_parse(text, &events);
  std::vector<Sheet> sheets;  // a file of several devices will give several
  sheets.push_back(std::move(events).finished());
  return sheets;
}

}  // namespace roofline
