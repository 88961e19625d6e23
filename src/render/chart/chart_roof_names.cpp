// The names of roofs. What limits a point is always named: above its line where that is free, else on the line or where
// it covers least, and before any point has its name. The other roofs are named where there is room in the end, and
// keep their titles for hovering. Roofs that lie on each other share a name.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "render/chart/chart.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kCoincide = 5;   // pixels; closer lines are indistinguishable
constexpr double kAboveLine = 5;  // from a line up to the baseline of its name
constexpr double kOnLine = 0.36;  // of the font size: distance from a line to the baseline of a name on it

constexpr double kNameRoom = 1.3;  // height of the room of a name in a narrow chart, over that of its letters

// Costs of a place: a covered mark most, the distance from the best place least.
constexpr double kMark = 200, kRoofline = 30, kLine = 12, kLimit = 4, kOffLine = 3, kBelow = 10;

/// Obstacles of a name: forbidden, or with a cost.
std::optional<double> cost_of(const Chart& chart, const Text& text) {
  const Quad box = text.box();
  if (!chart.plot.inflated(-2).contains(box.bounds()) || overlaps_any(box, chart.space.solid) ||
      overlaps_any(box, chart.space.leaders))
    return std::nullopt;
  double cost = 0;
  const Rect bounds = box.bounds();
  for (const Rect& mark : chart.space.markers)
    if (mark.overlaps(bounds) && overlap(Quad::from(mark), box)) cost += kMark;
  for (const Quad& line : chart.space.lines) cost += overlap(line, box) ? kLine : 0;
  for (const Quad& line : chart.space.roofline) cost += overlap(line, box) ? kRoofline : 0;
  for (const Quad& limit : chart.space.limits) cost += overlap(limit, box) ? kLimit : 0;
  return cost;
}

/// The cheapest of the places that are offered to it; one that costs more than its distance only for what limits.
class Best {
 public:
  Best(const Chart& chart, bool at_any_cost) : chart_(chart), at_any_cost_(at_any_cost) {}
  void offer(const Text& text, double distance) {
    if (distance >= cost_) return;
    const std::optional<double> cost = cost_of(chart_, text);
    if (!cost || (*cost > 0 && !at_any_cost_) || distance + *cost >= cost_) return;
    cost_ = distance + *cost;
    text_ = text;
  }
  /// On its line, which it breaks.
  void offer_on(Text text, double distance) {
    text.halo_width = kPlate;
    offer(text, distance);
  }
  bool covers_marks() const { return cost_ >= kMark; }
  double cost() const { return cost_; }
  const std::optional<Text>& text() const { return text_; }

 private:
  const Chart& chart_;
  bool at_any_cost_;
  double cost_ = std::numeric_limits<double>::infinity();
  std::optional<Text> text_;
};

/// Roofs that share a label, as indices into Roofs::memory or Roofs::compute.
using Shared = std::vector<std::size_t>;

class RoofNames {
 public:
  /// `machine`: its name, before those of its roofs; empty where there is one machine. `color`: of all names, or each
  /// its own.
  RoofNames(Chart& chart, const Roofs& roofs, const Report& report, RoofGroups& groups, std::string machine,
            const Color* color = nullptr)
      : chart_(chart), roofs_(roofs), report_(report), groups_(groups), machine_(std::move(machine)), color_(color) {
    if (!machine_.empty()) machine_ += ' ';
  }

  /// The roofs that limit points, wherever it costs least; or the others, where it costs nothing.
  void write(bool limiting) {
    limiting_ = limiting;
    for (const Shared& shared : rows_of(roofs_.memory)) name_slopes(shared);
    for (const Shared& shared : rows_of(roofs_.compute)) name_flats(shared);
  }

 private:
  /// The visible roofs of this round that look alike, highest first, cut where one lies apart from the first of its
  /// row.
  std::vector<Shared> rows_of(const std::vector<Roof>& roofs) const {
    std::vector<Shared> rows;
    for (std::size_t i = 0; i < roofs.size(); ++i) {
      const Roof& roof = roofs[i];
      const bool repeated = roof.ceiling->regime == Regime::sustained && report_.machine.find(roof.ceiling->name);
      if (roof.limits != limiting_ || repeated || !roof_span(chart_, roofs_, roof, roof.ceiling->value).visible)
        continue;
      const auto shares = [&](const Shared& row) {
        const Roof& first = roofs[row.front()];
        const double apart = chart_.y.pixel(roof.ceiling->value) - chart_.y.pixel(first.ceiling->value);
        return apart < kCoincide && roof.used == first.used &&
               roof.ceiling->audit.status() == first.ceiling->audit.status();
      };
      const auto row = std::find_if(rows.begin(), rows.end(), shares);
      if (row == rows.end()) {
        rows.push_back({i});
      } else {
        row->push_back(i);
      }
    }
    return rows;
  }

  static std::vector<const Roof*> pointers(const std::vector<Roof>& roofs, const Shared& shared) {
    std::vector<const Roof*> out;
    out.reserve(shared.size());
    for (const std::size_t i : shared) out.push_back(&roofs[i]);
    return out;
  }

  /// A narrow page has a key of the machines' colours, so that the other machine's names are left out at need.
  bool at_any_cost() const { return limiting_ && !(chart_.plot_only && color_ != nullptr); }

  Text text_of(const Roof& roof, std::string words) const {
    Color color = roof.main ? chart_.colors->ink : chart_.colors->muted;
    if (roof.ceiling->suspect()) color = chart_.colors->suspect;
    if (color_ != nullptr) color = *color_;
    const FontWeight weight = roof.limits ? FontWeight::semibold : FontWeight::regular;
    const double size = roof.limits ? 11.5 : 11;
    Text text{{}, std::move(words), chart_.small ? 11 : size, weight, color};
    text.halo = chart_.colors->background;
    text.classes = "ceiling-name";
    return text;
  }

  /// The next name keeps its distance along the line.
  void keep(Text text, Group& group) {
    Text wider = text;
    wider.text += "\u2013";
    if (chart_.plot_only) wider.size *= kNameRoom;
    chart_.space.solid.push_back(wider.box());
    group.items.push_back(std::move(text));
  }

  /// The place of the longest of `words` that covers no mark; in a narrow chart of the longest that crosses no line
  /// either, else of the one that covers least.
  std::optional<Text> first_place(const std::vector<std::string>& words,
                                  const std::function<Best(const std::string&)>& place_of) const {
    std::optional<Text> place;
    double cost = std::numeric_limits<double>::infinity();
    for (const std::string& one : words) {
      const Best best = place_of(one);
      const bool better = chart_.plot_only ? best.cost() < cost : !place || !best.covers_marks();
      if (best.text() && better) {
        place = best.text();
        cost = best.cost();
      }
      const bool fits = chart_.plot_only ? cost < kLine : !best.covers_marks();
      if (!limiting_ || (place && fits)) break;
    }
    return place;
  }

  /// At the right, above the lines, on them, or below; as long as fits without covering a mark.
  void name_flats(const Shared& shared) {
    const std::vector<const Roof*> roofs = pointers(roofs_.compute, shared);
    const std::optional<Text> place = first_place({machine_ + shared_label(roofs), machine_ + shared_name(roofs)},
                                                  [&](const std::string& words) { return flat_place(shared, words); });
    if (!place) return;
    keep(*place, groups_.flats[shared.front()]);
    if (limiting_) name_near(*place, shared);
  }

  Best flat_place(const Shared& shared, const std::string& words) const {
    const std::vector<Roof>& roofs = roofs_.compute;
    const Roof &first = roofs[shared.front()], &last = roofs[shared.back()];
    Text text = text_of(first, words);
    text.anchor = Anchor::end;
    const double top = chart_.y.pixel(first.ceiling->value), bottom = chart_.y.pixel(last.ceiling->value);
    // At need a name stands left of where its line begins: above the slopes nothing else is drawn.
    const double left = limiting_ ? chart_.plot.x : roof_span(chart_, roofs_, first, first.ceiling->value).a.x;
    Best best(chart_, at_any_cost());
    for (double x = chart_.plot.right() - 8; x > left + text.width(); x -= 6) {
      const double away = 0.02 * (chart_.plot.right() - x);
      text.at = {x, top - kAboveLine};
      best.offer(text, away);
      text.at.y = (top + bottom) / 2 + kOnLine * text.size;
      best.offer_on(text, away + kOffLine);
      text.at.y = bottom + Font::kAscent * text.size + 3;
      best.offer(text, away + kBelow);
    }
    return best;
  }

  /// The values of their sustained roofs stand left of the burst ones' name, or nowhere.
  void name_near(const Text& burst, const Shared& shared) {
    const std::vector<Roof>& roofs = roofs_.compute;
    Shared sustained;
    for (const std::size_t i : shared)
      for (std::size_t k = 0; k < roofs.size(); ++k)
        if (k != i && roofs[k].ceiling->name == roofs[i].ceiling->name) sustained.push_back(k);
    if (sustained.empty()) return;
    Text text = text_of(roofs[sustained.front()], sustained_label(pointers(roofs, sustained)));
    text.weight = FontWeight::regular;
    text.anchor = Anchor::end;
    text.at = {burst.box().bounds().x - 12, burst.at.y};
    if (cost_of(chart_, text) == 0) keep(text, groups_.flats[sustained.front()]);
  }

  /// "HBM read 4.7 TB/s · copy 4.34 TB/s": the patterns stand with their level, for their own lines are short. More
  /// than two are one entry.
  std::string slope_label(const Shared& shared, bool values) const {
    constexpr std::size_t kNamedPatterns = 2;
    const std::vector<const Roof*> roofs = pointers(roofs_.memory, shared);
    std::string text = machine_ + (values ? shared_label(roofs) : shared_name(roofs));
    std::vector<const Ceiling*> patterns;
    std::string names;
    for (const Roof* roof : roofs) {
      for (const Roof& pattern : roofs_.patterns) {
        if (pattern.ceiling->level != roof->ceiling->level) continue;
        patterns.push_back(pattern.ceiling);
        names += " · " + (roofs.size() > 1 ? pattern.name : std::string(to_string(*pattern.ceiling->pattern)));
        if (values) names += " " + rate(pattern.ceiling->value, CeilingKind::bandwidth);
      }
    }
    if (patterns.size() <= kNamedPatterns) return text + names;
    const auto [least, most] = std::ranges::minmax(patterns, {}, &Ceiling::value);
    text += fmt::format(" · {} patterns", patterns.size());
    if (values) {
      text += fmt::format(" {}\u2013{}", rate(least->value, CeilingKind::bandwidth),
                          rate(most->value, CeilingKind::bandwidth));
    }
    return text;
  }

  void name_slopes(const Shared& shared) {
    const std::vector<const Roof*> roofs = pointers(roofs_.memory, shared);
    std::vector<std::string> words = {slope_label(shared, true), slope_label(shared, false)};
    if (chart_.plot_only) words.push_back(machine_ + shared_name(roofs));
    const std::optional<Text> place =
        first_place(words, [&](const std::string& one) { return slope_place(shared, one); });
    if (place) keep(*place, groups_.slopes[shared.front()]);
  }

  /// Along the slope, as near to two fifths of it as it can: above the line, on it, or below.
  Best slope_place(const Shared& shared, const std::string& words) const {
    const Roof& roof = roofs_.memory[shared.front()];
    const RoofSpan s = roof_span(chart_, roofs_, roof, roof.ceiling->value);
    const Vec along = (s.b - s.a) * (1 / std::max(length(s.b - s.a), 1e-9));
    const Vec up = {along.y, -along.x};
    Text text = text_of(roof, words);
    text.anchor = Anchor::middle;
    text.rotation = std::atan2(along.y, along.x) * 180 / 3.14159265358979323846;
    constexpr double kBest = 0.42;
    Best best(chart_, at_any_cost());
    for (int step = 0; step <= 110; ++step) {
      const double away = 0.01 * ((step + 1) / 2);  // NOLINT(bugprone-integer-division)
      const double t = step % 2 == 0 ? kBest + away : kBest - away;
      if (t < 0 || t > 1) continue;
      const Vec on = s.a + (s.b - s.a) * t;
      text.at = on + up * kAboveLine;
      best.offer(text, 5 * away);
      text.at = on - up * (kOnLine * text.size);
      best.offer_on(text, 5 * away + kOffLine);
      text.at = on - up * (Font::kAscent * text.size + 3);
      best.offer(text, 5 * away + kBelow);
    }
    return best;
  }

  Chart& chart_;
  const Roofs& roofs_;
  const Report& report_;
  RoofGroups& groups_;
  std::string machine_;
  const Color* color_;
  bool limiting_ = true;
};

}  // namespace

void name_limiting_roofs(Chart& chart, RoofGroups& groups) {
  RoofNames(chart, chart.roofs, *chart.report, groups, chart.name).write(true);
}
void name_other_roofs(Chart& chart, RoofGroups& groups) {
  RoofNames(chart, chart.roofs, *chart.report, groups, "").write(false);
}
void name_roofs_of_other(Chart& chart, RoofGroups& groups, bool limiting) {
  RoofNames(chart, chart.other->roofs, *chart.other->report, groups, chart.other->name, &chart.colors->roof_other)
      .write(limiting);
}

}  // namespace roofline
