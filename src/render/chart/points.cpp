// Names, families and markers of points.
#include "render/chart/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "model/find.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr int kLongestName = 48;

/// The families of the ops that come with the program; their places are their styles.
constexpr std::array<const char*, kMarkerStyles> kFamilies = {"elementwise",   "reduction",      "normalisation",
                                                              "attention",     "matrix product", "convolution",
                                                              "data movement", "other"};

/// The words of BoundLabel, in its order.
constexpr std::array<const char*, 6> kBounds = {"memory-bound",        "compute-bound", "latency-bound",
                                                "communication-bound", "balanced",      "no known roof"};

/// "2^29", as rows are labelled, and "4096³" where a shape is a cube.
std::string shape_text(const Shape& shape) {
  std::vector<std::string> parts;
  for (const auto& [name, extent] : shape.extents()) {
    const auto bits = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1))) - 1;
    const bool power = bits > 16 && extent == std::int64_t{1} << bits;
    parts.push_back(power ? fmt::format("2^{}", bits) : std::to_string(extent));
  }
  const bool cube = parts.size() == 3 && parts[0] == parts[1] && parts[1] == parts[2];
  return cube ? parts[0] + "³" : fmt::format("{}", fmt::join(parts, "×"));
}

/// "nvjet_tst_…TNT · blocks.0.attn.qkv": the kernel name is shortened, not the call site.
std::string name_of_kind(const Workload& w) {
  constexpr int kKernel = 26, kRest = 24;
  const std::string op = clean_line(w.op), label = clean_line(w.label);
  if (!label.starts_with(op)) return shorten(label.empty() ? op : label, kKernel + kRest);
  return shorten(op, kKernel) + shorten(label.substr(op.size()), kRest);
}

/// The parts of a name that distinguish it from others of its op.
class Naming {
 public:
  Naming(const Report& report, Intensity of) {
    for (const Point& p : report.points) {
      if (!is_on_chart(report, p, of) && edge_bandwidth(report, p) == 0) continue;
      const Workload& w = p.workload;
      implementations_[w.op].insert(w.implementation);
      shapes_[w.op + '\n' + std::string(to_string(w.dtype))].insert(shape_text(w.shape));
      modes_[w.op].insert(w.cache);
    }
  }

  std::string name(const Point& point) const {
    const Workload& w = point.workload;
    if (point.profiled) return name_of_kind(w);
    const bool several = implementations_.at(w.op).size() > 1;
    const std::string plain = w.op + " " + std::string(to_string(w.dtype)),
                      implementation = clean_line(w.implementation);
    if (!w.label.empty() && !w.label.starts_with(plain)) {
      const std::string label = clean_line(w.label);
      const bool is_named = !several || label.find(implementation) != std::string::npos;
      return is_named ? shorten(label, kLongestName) : with(shorten(label, kLongestName / 2), implementation);
    }
    std::string name = plain;
    if (several) name = with(plain, implementation);
    // A long name has its shape shortened, because the implementation matters more on a ladder.
    const std::string shape = shape_text(w.shape);
    if (shapes_.at(w.op + '\n' + std::string(to_string(w.dtype))).size() > 1)
      name += " " + shorten(shape, std::max(8, kLongestName - display_width(name) - 1));
    if (modes_.at(w.op).size() > 1 && w.cache == CacheMode::hot) name += " hot";
    return clean_line(name);
  }

 private:
  static std::string with(const std::string& what, const std::string& implementation) {
    return what + " · " + shorten(implementation, kLongestName / 2);
  }

  std::map<std::string, std::set<std::string>> implementations_, shapes_;
  std::map<std::string, std::set<CacheMode>> modes_;
};

std::vector<Vec> star(Vec center, double radius, int corners, double first_degrees) {
  std::vector<Vec> out;
  out.reserve(static_cast<std::size_t>(corners));
  for (int i = 0; i < corners; ++i) {
    const double a = (first_degrees + 360.0 * i / corners) * std::numbers::pi / 180;
    out.push_back(center + Vec{std::cos(a), std::sin(a)} * radius);
  }
  return out;
}

std::vector<Vec> cross(Vec c, double r) {
  const double a = r * 0.36, b = r;
  const std::vector<Vec> upright = {{-a, -b}, {a, -b}, {a, -a}, {b, -a}, {b, a},   {a, a},
                                    {a, b},   {-a, b}, {-a, a}, {-b, a}, {-b, -a}, {-a, -a}};
  std::vector<Vec> out;
  out.reserve(upright.size());
  for (const Vec& v : upright) out.push_back(c + v);
  return out;
}

std::vector<Vec> outline(MarkerShape shape, Vec c, double r) {
  switch (shape) {
    case MarkerShape::square:
      return star(c, r * 1.22, 4, 45);
    case MarkerShape::triangle:
      return star(c + Vec{0, r * 0.2}, r * 1.25, 3, -90);
    case MarkerShape::diamond:
      return star(c, r * 1.25, 4, 0);
    case MarkerShape::wedge:
      return star(c - Vec{0, r * 0.2}, r * 1.25, 3, 90);
    case MarkerShape::pentagon:
      return star(c, r * 1.12, 5, -90);
    case MarkerShape::cross:
      return cross(c, r * 1.05);
    case MarkerShape::hexagon:
      return star(c, r * 1.1, 6, 0);
    case MarkerShape::circle:
      break;
  }
  return {};
}

/// Further resources of a kernel on several pipes: "; also: sfu 31 %, hbm.read 5 % of its time".
std::string other_resources(const Point& p) {
  std::string text;
  std::size_t pipes = 0;
  for (const ResourceTime& r : p.bound.resources) {
    pipes += r.kind == CeilingKind::compute;
    if (r.ceiling == p.bound.limiting_ceiling || !(r.time_s > 0) || r.kind == CeilingKind::overhead) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", r.ceiling, percent(r.time_s / p.time->median));
  }
  return pipes > 1 && !text.empty() ? "; also: " + text + " of its time" : "";
}

}  // namespace

std::string family_of(const Point& point) {
  if (point.profiled) return kBounds.at(static_cast<std::size_t>(point.bound.label));
  return point.family.empty() ? "other" : clean_line(point.family);
}

std::vector<std::string> families_of(const Runs& runs) {
  std::vector<std::string> out;
  if (runs.last().profile) out.assign(kBounds.begin(), kBounds.end());
  const auto add = [&](const Report& report) {
    for (const Point& p : report.points)
      if (!contains(out, family_of(p))) out.push_back(family_of(p));
  };
  add(runs.last());
  for (const Report& run : runs) add(run);
  return out;
}

std::size_t style_of(const std::string& family) {
  const auto place = [&](const auto& names) { return std::find(names.begin(), names.end(), family) - names.begin(); };
  if (const auto bound = static_cast<std::size_t>(place(kBounds)); bound < kBounds.size()) return bound;
  if (const auto known = static_cast<std::size_t>(place(kFamilies)); known < kFamilies.size()) return known;
  // Others have the pairs of colour and shape that are left, by their name alone (FNV-1a).
  std::uint32_t hash = 2166136261U;
  for (const char c : family) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return kMarkerStyles + (hash >> 16) % (kMarkerStyles * (kMarkerStyles - 1));
}

double size_by_time(const std::vector<std::vector<PlottedPoint>*>& runs, double largest) {
  double most = 0;
  for (const auto* points : runs)
    for (const PlottedPoint& p : *points)
      if (const double cost = cost_of(*p.point); std::isfinite(cost)) most = std::max(most, cost);
  if (!(most > 0)) return 0;
  for (auto* points : runs) {
    for (PlottedPoint& p : *points) {
      const double share = std::max(0.0, cost_of(*p.point) / most);
      p.radius = std::clamp(largest * std::sqrt(std::isfinite(share) ? share : 0), kSmallestRadius, largest);
    }
  }
  return most / (largest * largest);
}

namespace {

PlottedPoint plotted_point(const Report& report, std::size_t index, const Naming& naming,
                           const std::vector<std::string>& families) {
  PlottedPoint plotted;
  plotted.index = index;
  plotted.point = &report.points[index];
  const std::string family = family_of(*plotted.point);
  plotted.family = static_cast<std::size_t>(std::find(families.begin(), families.end(), family) - families.begin());
  plotted.style = style_of(family);
  plotted.name = naming.name(*plotted.point);
  return plotted;
}

}  // namespace

std::vector<PlottedPoint> plotted_points(const Report& report) { return plotted_points(report, families_of(report)); }

std::vector<PlottedPoint> plotted_points(const Report& report, const std::vector<std::string>& families, Intensity of) {
  const Naming naming(report, of);
  std::vector<PlottedPoint> out;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Point& p = report.points[i];
    if (!is_on_chart(report, p, of)) continue;
    PlottedPoint plotted = plotted_point(report, i, naming, families);
    plotted.intensity = intensity_of(p, of);
    plotted.performance = p.performance();
    const double flops = p.work.total_flops();
    plotted.performance_ci95 = {flops / p.time->ci95.high, flops / p.time->ci95.low};
    out.push_back(std::move(plotted));
  }
  return out;
}

void add_edge_points(std::vector<PlottedPoint>& points, const Report& report, const std::vector<std::string>& families,
                     const Range& intensities) {
  constexpr double kInside = 0.012;  // of the axis, so that the whole mark is in the plot
  const Naming naming(report, Intensity::memory);
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const double bandwidth = edge_bandwidth(report, report.points[i]);
    if (bandwidth == 0) continue;
    PlottedPoint plotted = plotted_point(report, i, naming, families);
    plotted.at_edge = true;
    plotted.intensity = intensities.low * std::pow(intensities.high / intensities.low, kInside);
    plotted.performance = bandwidth * plotted.intensity;
    const Summary& time = *plotted.point->time;
    plotted.performance_ci95 = {plotted.performance * time.median / time.ci95.high,
                                plotted.performance * time.median / time.ci95.low};
    points.push_back(std::move(plotted));
  }
}

std::string point_title(const PlottedPoint& plotted) {
  const Point& p = *plotted.point;
  std::string text = p.workload.label.empty() ? plotted.name : p.workload.label;
  const std::string& implementation = p.workload.implementation;
  // A suite that runs several implementations on one shape says which in the label already.
  if (!implementation.empty() && !text.ends_with(" " + implementation)) text += " (" + implementation + ")";
  text += plotted.at_edge ? fmt::format(": {}, no FLOPs, {}", si(plotted.performance / plotted.intensity, "B/s"),
                                        duration(p.time->median))
                          : fmt::format(": {} at {} FLOP/byte, {}", performance_text(p), intensity(plotted.intensity),
                                        duration(p.time->median));
  if (p.profiled) {
    text += fmt::format(" per launch, {} in {} launches", duration(p.profiled->total_s), count(p.profiled->launches));
  }
  if (p.bound.limiting_ceiling.empty()) return text;
  text += fmt::format(", {}-bound by {}, {} of its roof", to_string(p.bound.label), p.bound.limiting_ceiling,
                      percent(p.fraction_of_roof()));
  return text + other_resources(p);
}

std::vector<std::string> point_notes(const PlottedPoint& plotted, ShareBasis basis) {
  const Point& p = *plotted.point;
  std::vector<std::string> notes;
  if (p.bound.limiting_ceiling.empty()) return notes;
  if (p.above_roof()) {
    notes.emplace_back(p.above_unconfirmed_roof() ? "above its roof, which is too low"
                                                  : "above its roof: the roof or the counted work is wrong");
  }
  if (basis == ShareBasis::probe) notes.push_back("share of its roof's probe" + beside_probe(p));
  if (basis == ShareBasis::unpaired) notes.emplace_back("share of the calibrated roof, not paired with its probe");
  if (p.bound.suspect) notes.emplace_back("the roof is suspect");
  if (!p.bound.resources.empty() && p.bound.resources.front().mixed_with) {
    notes.push_back(clean_line(fmt::format("roof between {} and {}, by its share of writes", p.bound.limiting_ceiling,
                                           *p.bound.resources.front().mixed_with)));
  }
  if (p.bound.provisional) notes.emplace_back("the roof is provisional");
  if (bytes_is_lower_bound(p)) notes.emplace_back("modelled bytes (lower bound): the intensity is an upper bound");
  if (p.profiled && !p.profiled->sources.empty()) notes.push_back(clean_line(p.profiled->sources));
  if (p.profiled && !p.profiled->why_above_roof.empty())
    notes.push_back("above its roof: " + p.profiled->why_above_roof);
  return notes;
}

void add_arrow(Vec center, double radius, const Color& color, std::vector<Item>& items) {
  constexpr double kReach = 8, kBarb = 3.2, kWidth = 1.5;  // pixels
  const Vec tip = center - Vec{radius + kReach, 0};
  items.push_back(Line{{center, tip}, false, {}, Stroke{color, kWidth}});
  items.push_back(Line{{tip + Vec{kBarb, -kBarb}, tip, tip + Vec{kBarb, kBarb}}, false, {}, Stroke{color, kWidth}});
}

Item marker(std::size_t style, Vec center, double radius, const Palette& colors, MarkerFill how) {
  const Color& color = colors.families[style % colors.families.size()];
  const bool solid = how == MarkerFill::solid;
  const Color& fill = solid ? color : colors.background;
  const Stroke edge = {solid ? colors.background : color, solid ? 1.4 : 1.6};
  // Styles beyond the eighth are the colours with other shapes.
  const std::size_t turn = style / kMarkerStyles;
  const auto shape = static_cast<MarkerShape>((style + turn) % kMarkerStyles);
  if (shape == MarkerShape::circle) return Circle{center, radius, fill, edge};
  return Line{outline(shape, center, radius), true, fill, edge};
}

}  // namespace roofline
