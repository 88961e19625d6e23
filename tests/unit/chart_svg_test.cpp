// The SVG: well-formed whatever the report holds, text as text, values and coordinates true to the report.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "render/chart/chart.hpp"
#include "tests/support/sample_report.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Reads a tag by hand: std::regex recurses once a character and runs out of stack on long attributes.
class TagReader {
 public:
  explicit TagReader(std::string_view tag) : left_(tag.substr(1, tag.size() - 2)) {
    closing = take("/");
    name = take_name();
    while (good_ && take(" ")) take_attribute();
    empty = take("/");
  }
  bool good() const { return good_ && left_.empty() && !name.empty(); }

  bool closing = false;
  bool empty = false;
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;

 private:
  bool take(std::string_view text) {
    const bool there = left_.substr(0, text.size()) == text;
    if (there) left_.remove_prefix(text.size());
    return there;
  }
  std::string take_until(bool (*ends)(char)) {
    const auto end = static_cast<std::size_t>(std::find_if(left_.begin(), left_.end(), ends) - left_.begin());
    const std::string taken(left_.substr(0, end));
    left_.remove_prefix(end);
    return taken;
  }
  std::string take_name() {
    return take_until(
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != ':' && c != '-' && c != '_'; });
  }
  void take_attribute() {
    std::string key = take_name();
    good_ = !key.empty() && take("=\"");
    if (!good_) return;
    std::string value = take_until([](char c) { return c == '"' || c == '<'; });
    good_ = take("\"");
    attributes.emplace_back(std::move(key), std::move(value));
  }

  std::string_view left_;
  bool good_ = true;
};

bool has_bare_ampersand(std::string_view xml) {
  for (std::size_t at = xml.find('&'); at != std::string_view::npos; at = xml.find('&', at + 1)) {
    const std::string_view rest = xml.substr(at + 1);
    const auto starts = [&](std::string_view entity) { return rest.substr(0, entity.size()) == entity; };
    if (!starts("amp;") && !starts("lt;") && !starts("gt;") && !starts("quot;") && !starts("#39;")) return true;
  }
  return false;
}

/// What keeps `xml` from being well-formed, or "". Knows what the writer uses: elements, attributes in
/// double quotes, text, the five entities.
std::string xml_fault(const std::string& xml) {
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (const char c : xml)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "control character";
  if (has_bare_ampersand(xml)) return "bare ampersand";
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "unclosed tag";
    const std::string text = xml.substr(at, end - at + 1);
    const TagReader tag(text);
    if (!tag.good()) return "bad tag: " + text.substr(0, 200);
    std::set<std::string> names;
    for (const auto& [key, value] : tag.attributes) {
      if (!names.insert(key).second) return "repeated attribute: " + text;
      if (key == "id" && !ids.insert(value).second) return "repeated id: " + text;
    }
    if (tag.closing) {
      if (open.empty() || open.back() != tag.name) return "wrong end tag: " + text;
      open.pop_back();
    } else if (!tag.empty) {
      open.push_back(tag.name);
    }
  }
  return open.empty() ? "" : "unclosed element " + open.back();
}

TEST(ChartSvg, TheCheckOfWellFormednessCanFail) {
  EXPECT_EQ(xml_fault("<a b=\"1\"><c/>x &lt; y</a>"), "");
  EXPECT_NE(xml_fault("<a><b></a></b>"), "");
  EXPECT_NE(xml_fault("<a>x & y</a>"), "");
  EXPECT_NE(xml_fault("<a b=\"1\" b=\"2\"/>"), "");
  EXPECT_NE(xml_fault("<a b=1/>"), "");
  EXPECT_NE(xml_fault("<a><b id=\"x\"/><c id=\"x\"/></a>"), "");
  EXPECT_NE(xml_fault("<a>"), "");
}

Report hostile() {
  Report r = example::sample_report();
  r.machine.device.name = "<script>alert(\"&'\")</script>";
  r.points[0].workload.label = "void <T>&\"'\x01\x1b[31m\x7f\xff\xc0\x80";
  r.points[1].workload.label = std::string(10000, 'k') + "_end";
  r.points[2].workload.label = "مرحبا \u202e evil";
  r.points[3].workload.label = "日本語カーネル 🚀";
  r.points[4].family = "</g><b a=\"";
  r.points[5].bound.arithmetic_intensity = std::numeric_limits<double>::infinity();
  r.points[6].bound.arithmetic_intensity = std::numeric_limits<double>::quiet_NaN();
  r.points[7].time->median = 0;
  r.points[8].work.flops.clear();
  r.machine.ceilings[0].name = "hbm.<read>";
  r.machine.ceilings[5].value = std::numeric_limits<double>::quiet_NaN();
  r.machine.ceilings[6].ci95 = {};
  return r;
}

TEST(ChartSvg, IsWellFormed) {
  EXPECT_EQ(xml_fault(render_svg(example::sample_report())), "");
  EXPECT_EQ(xml_fault(render_svg(example::cpu_sample_report(), {.theme = Theme::dark})), "");
  EXPECT_EQ(xml_fault("<a b=\"1\" b=\"2\"/>"), "repeated attribute: <a b=\"1\" b=\"2\"/>");
  EXPECT_EQ(xml_fault("<a><b></a></b>"), "wrong end tag: </a>");
}

TEST(ChartSvg, HostileTextStaysText) {
  const std::string svg = render_svg(hostile());
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("<script")));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("\u202e")));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("nan")));
  EXPECT_THAT(svg, testing::HasSubstr("5 of 24"));
}

TEST(ChartSvg, DegenerateReportsAreDrawn) {
  Report empty, no_points = example::sample_report(), no_ceilings = no_points, one = no_points;
  no_points.points.clear();
  no_ceilings.machine.ceilings.clear();
  one.points.resize(1);
  EXPECT_THAT(render_svg(empty), testing::HasSubstr("No ceiling"));
  EXPECT_THAT(render_svg(no_points), testing::HasSubstr("no rows"));
  for (const Report& r : {empty, no_points, no_ceilings, one}) {
    EXPECT_EQ(xml_fault(render_svg(r)), "");
    EXPECT_EQ(xml_fault(render_svg(r, {.width = 200, .height = 150})), "");
  }
}

TEST(ChartSvg, CarriesTheReportsValues) {
  const Report report = example::sample_report();
  const std::string svg = render_svg(report);
  EXPECT_THAT(svg, testing::HasSubstr("data-ceiling=\"hbm.read\" data-kind=\"bandwidth\" data-value=\"4.671e+12\""));
  EXPECT_THAT(svg, testing::HasSubstr("data-ceiling=\"tensor.bf16\" data-kind=\"compute\" data-value=\"7.98e+14\""));
  EXPECT_THAT(svg, testing::HasSubstr(">HBM read 4.67 TB/s · copy 4.26 TB/s</text>"));
  EXPECT_THAT(svg, testing::HasSubstr(">BF16 · FP16 tensor 798 · 786 TFLOP/s</text>"));
  EXPECT_THAT(svg, testing::HasSubstr(">gemm tf32 · cublas"));
  EXPECT_THAT(svg, testing::HasSubstr("suspect"));
  for (const PlottedPoint& p : plotted_points(report))
    EXPECT_THAT(
        svg, testing::HasSubstr(fmt::format("data-point=\"{}\" data-intensity=\"{:.6g}\" data-performance=\"{:.6g}\"",
                                            p.index, p.intensity, p.performance)));
}

TEST(ChartSvg, LinesPassThroughTheirValues) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  const std::string svg = render_svg(report);
  const auto ends = [&](const std::string& id) {
    // The visible line is the last path of the group.
    const std::size_t begin = svg.find("id=\"" + id + "\"");
    const std::string group = svg.substr(begin, svg.find("</g>", begin) - begin);
    static const std::regex kPath("d=\"M([\\d.]+) ([\\d.]+)(?:L([\\d.]+) ([\\d.]+)|H([\\d.]+))\"");
    std::smatch m, last;
    for (std::sregex_iterator i(group.begin(), group.end(), kPath), none; i != none; ++i) last = *i;
    const bool level = last[5].matched;
    return std::pair{Vec{std::stod(last[1]), std::stod(last[2])},
                     Vec{std::stod(last[level ? 5 : 3]), std::stod(last[level ? 2 : 4])}};
  };
  const auto [low, high] = ends("ceiling-hbm-read");
  for (const Vec& v : {low, high}) {
    const double intensity = chart.x.value(v.x);
    EXPECT_NEAR(chart.y.value(v.y) / (intensity * 4.671e12), 1, 2e-3);
  }
  const auto [left, right] = ends("ceiling-tensor-bf16");
  EXPECT_NEAR(chart.y.value(left.y) / 798e12, 1, 1e-3);
  EXPECT_EQ(left.y, right.y);
  EXPECT_NEAR(right.x, chart.plot.right(), 0.01);
}

TEST(ChartSvg, TitleAndSubtitleCanBeSet) {
  const std::string svg = render_svg(example::sample_report(), {.title = "Before <the> merge", .subtitle = "nightly"});
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, testing::HasSubstr("<title id=\"chart-title\">Before &lt;the&gt; merge</title>"));
  EXPECT_THAT(svg, testing::HasSubstr(">nightly</text>"));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("NVIDIA H200 — roofline")));
}

TEST(ChartSvg, TheLegendHasTheFamiliesThatHaveAPoint) {
  Report report = example::sample_report();
  const std::string family = report.points.front().family;
  EXPECT_THAT(render_svg(report), testing::HasSubstr("data-family=\"" + family + "\""));
  Point moved = report.points.front();
  moved.workload.label = "copy";
  moved.family = "data movement";
  moved.work.flops.clear();
  moved.bound.resources.clear();
  report.points.push_back(moved);
  EXPECT_THAT(render_svg(report), testing::Not(testing::HasSubstr("data movement")));
}

/// A row without FLOPs has no intensity: at the left edge it is as far below the memory roof as its bandwidth.
TEST(ChartSvg, RowsWithoutFlopsAreAtTheEdgeByTheirBandwidth) {
  Report report = example::sample_report();
  const auto limited_by_memory = std::find_if(report.points.begin(), report.points.end(), [](const Point& point) {
    return point.bound.limiting_ceiling == "hbm.read" && point.work.flops.size() == 1;
  });
  ASSERT_NE(limited_by_memory, report.points.end());
  const auto index = static_cast<std::size_t>(limited_by_memory - report.points.begin());
  limited_by_memory->work.flops.clear();
  std::erase_if(limited_by_memory->bound.resources,
                [](const ResourceTime& resource) { return resource.kind != CeilingKind::bandwidth; });
  const Chart chart = lay_out_chart(report, {});
  const auto mark = std::find_if(chart.points.begin(), chart.points.end(),
                                 [&](const PlottedPoint& point) { return point.index == index; });
  ASSERT_NE(mark, chart.points.end());
  EXPECT_TRUE(mark->at_edge);
  const double slope = report.machine.find("hbm.read")->value;
  EXPECT_NEAR(mark->performance / (slope * mark->intensity), limited_by_memory->fraction_of_roof(), 0.01);
  EXPECT_GT(chart.at(*mark).x, chart.plot.x);
  EXPECT_LT(chart.at(*mark).x, chart.plot.x + 0.05 * chart.plot.width);
  EXPECT_EQ(std::count_if(chart.points.begin(), chart.points.end(), [](const PlottedPoint& p) { return p.at_edge; }),
            1);
  EXPECT_THAT(point_title(*mark), testing::HasSubstr("no FLOPs"));
}

TEST(ChartSvg, APointOnSeveralPipesNamesTheOthers) {
  Report report = example::sample_report();
  const Point& attention = report.points[13];
  ASSERT_EQ(attention.workload.op, "attention");
  const std::string svg = render_svg(report);
  const std::size_t at = svg.find("data-point=\"13\"");
  const std::string title = svg.substr(at, svg.find("</title>", at) - at);
  const double memory = attention.work.bytes.at(Level::hbm).total();
  EXPECT_THAT(title, testing::HasSubstr("compute-bound"));
  EXPECT_THAT(title, testing::HasSubstr("tensor.fp16"));
  EXPECT_THAT(title, testing::HasSubstr("also: hbm."));
  EXPECT_GT(memory, 0);
  const std::size_t relu = svg.find("data-point=\"0\"");
  EXPECT_THAT(svg.substr(relu, svg.find("</title>", relu) - relu), testing::Not(testing::HasSubstr("of its time")));
}

TEST(ChartSvg, APointAboveItsRoofIsMarkedNotMoved) {
  Report report = example::sample_report();
  report.points[0].time = example::timed(report.points[0].time->median * 0.7);
  const Chart chart = lay_out_chart(report, {});
  EXPECT_NEAR(chart.points[0].performance, 4.229e12 / 0.7 * 0.125, 1e6);
  const std::string svg = render_svg(report);
  EXPECT_THAT(svg, testing::HasSubstr("class=\"point above-roof\" data-point=\"0\""));
  EXPECT_THAT(svg, testing::HasSubstr("above its roof"));
  EXPECT_THAT(render_svg(example::sample_report()), testing::Not(testing::HasSubstr("above-roof")));
}

/// relu fp32 is held against copying: faster than that, and still under the read roof, it is seen above the line of
/// copying.
TEST(ChartSvg, APointIsSeenAboveTheLineThatItIsAboveOf) {
  Report report = example::sample_report();
  Point& relu = report.points[0];
  ASSERT_EQ(relu.bound.limiting_ceiling, "hbm.copy");
  relu.time = example::timed(relu.bound.attainable_time_s / 1.04);
  ASSERT_TRUE(relu.above_roof());
  ASSERT_LT(relu.bandwidth(Level::hbm), 4.671e12);
  const Chart chart = lay_out_chart(report, {});
  for (const Layer& layer : chart.scene.layers) {
    for (const Group& group : layer.groups) {
      if (group.id != "point-0") continue;
      ASSERT_GE(group.items.size(), 3u);
      const Line& roof = std::get<Line>(group.items[group.items.size() - 3]);  // then the mark and its dot
      EXPECT_EQ(roof.stroke->color.role, "above");
      const double intensity = chart.x.value((roof.points.front().x + roof.points.back().x) / 2);
      EXPECT_NEAR(chart.y.value(roof.points.front().y) / (4.255e12 * intensity), 1, 1e-6);
      EXPECT_GT(roof.points.front().y, chart.at(chart.points[0]).y);  // lower on the screen
      EXPECT_GT(roof.points.back().x - roof.points.front().x, 2 * chart.points[0].radius);
      return;
    }
  }
  FAIL() << "no group of the point";
}

TEST(ChartMarks, AreasAreTimes) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {.height = 1000});
  double longest = 0, widest = 0, smallest = 100;
  for (const PlottedPoint& p : chart.points) {
    longest = std::max(longest, p.point->time->median);
    widest = std::max(widest, p.radius);
    smallest = std::min(smallest, p.radius);
  }
  EXPECT_GT(widest, 1.5 * kMarkerRadius);
  std::size_t exact = 0;
  for (const PlottedPoint& p : chart.points) {
    const double share = p.point->time->median / longest;
    EXPECT_GE(p.radius, widest * std::sqrt(share) - 1e-9) << p.name;
    if (p.radius == smallest) continue;  // no mark is so small that its shape can't be told
    EXPECT_NEAR(p.radius, widest * std::sqrt(share), 1e-9) << p.name;
    ++exact;
  }
  EXPECT_GE(exact, 3u);
  EXPECT_THAT(render_svg(report), testing::HasSubstr(">time of a launch: "));
}

TEST(ChartMarks, AreAllAlikeWhereThatIsAskedFor) {
  const Report report = example::sample_report();
  const ChartOptions equal{.marks = MarkSize::equal};
  for (const PlottedPoint& p : lay_out_chart(report, equal).points) EXPECT_EQ(p.radius, kMarkerRadius);
  EXPECT_THAT(render_svg(report, equal), testing::Not(testing::HasSubstr("time of a launch")));
  EXPECT_THAT(render_svg(report, equal), testing::Not(testing::HasSubstr("data-radius")));
}

/// The samples of the legend are as large as marks of the times beside them.
TEST(ChartMarks, TheLegendTellsTheirScale) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  for (const Layer& layer : chart.scene.layers) {
    for (const Group& group : layer.groups) {
      const Text* text = group.items.empty() ? nullptr : std::get_if<Text>(&group.items.back());
      if (text == nullptr || !text->text.starts_with("time of a launch")) continue;
      const auto radius = [&](std::size_t i) { return std::get<Circle>(group.items[i]).radius; };
      EXPECT_EQ(radius(0), kSmallestRadius);
      const double seconds = chart.seconds * radius(1) * radius(1);
      const std::string large = duration(seconds);
      EXPECT_THAT(text->text, testing::EndsWith(", " + large));
      EXPECT_THAT(text->text, testing::HasSubstr(": ≤ "));
      return;
    }
  }
  FAIL() << "no scale in the legend";
}

TEST(ChartMarks, RunsShareAScale) {
  std::vector<Report> runs(2, example::sample_report());
  runs[1].points[12].time = example::timed(runs[0].points[12].time->median * 1.44);
  const Chart chart = lay_out_chart(runs, {});
  EXPECT_NEAR(chart.points[12].radius / chart.earlier[0][12].radius, 1.2, 1e-9);
}

/// Its colour and shape, whatever else is in the chart.
TEST(ChartMarks, AFamilyLooksTheSameEverywhere) {
  const Report all = example::sample_report();
  const auto fill = [](const Report& report, const std::string& family) {
    const std::string svg = render_svg(report);
    const std::size_t at = svg.find("data-family=\"" + family + "\"");
    const std::size_t paint = svg.find("f-family-", at);
    return svg.substr(paint, 10) + (svg.substr(svg.rfind('<', paint), 5) == "<path" ? " path" : " circle");
  };
  Report products = all, reversed = all;
  std::erase_if(products.points, [](const Point& p) { return p.family != "matrix product"; });
  std::reverse(reversed.points.begin(), reversed.points.end());
  EXPECT_EQ(fill(products, "matrix product"), fill(all, "matrix product"));
  for (const char* family : {"elementwise", "reduction", "normalisation", "attention", "matrix product"})
    EXPECT_EQ(fill(reversed, family), fill(all, family));
  EXPECT_EQ(fill(all, "elementwise"), "f-family-0 circle");
}

TEST(ChartMarks, FamiliesDiffer) {
  std::set<std::size_t> styles;
  const std::vector<std::string> families = {"elementwise",    "reduction",   "normalisation", "attention",
                                             "matrix product", "convolution", "data movement", "other",
                                             "stencil",        "fft"};
  for (const std::string& family : families) styles.insert(style_of(family));
  EXPECT_EQ(styles.size(), families.size());
}

double luminance(const Color& c) {
  const auto linear = [](double channel) {
    channel /= 255;
    return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

double contrast(const Color& a, const Color& b) {
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(ChartPalette, MarksAndTextStandOut) {
  EXPECT_NEAR(contrast({255, 255, 255, 1, ""}, {0, 0, 0, 1, ""}), 21, 1e-9);
  EXPECT_LT(contrast({255, 255, 255, 1, ""}, {0xe6, 0x9f, 0, 1, ""}), 3);  // what it was
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const Palette& colors = palette(theme);
    for (const Color& family : colors.families) EXPECT_GE(contrast(family, colors.background), 3) << family.hex();
    for (const Color& text : {colors.ink, colors.muted, colors.suspect, colors.roof_other})
      EXPECT_GE(contrast(text, colors.background), 4.5) << text.hex();
    EXPECT_GE(contrast(colors.above, colors.background), 3);
  }
}

/// Distance in CIELAB: 2 is just noticeable, 20 is another colour.
double distance(const Color& a, const Color& b) {
  const auto lab = [](const Color& color) {
    const auto linear = [](std::uint8_t channel) {
      const double c = channel / 255.0;
      return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double red = linear(color.red), green = linear(color.green), blue = linear(color.blue);
    const auto root = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047);
    const double y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue);
    const double z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883);
    return std::array<double, 3>{116 * y - 16, 500 * (x - y), 200 * (y - z)};
  };
  const auto one = lab(a), other = lab(b);
  return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

TEST(ChartPalette, WhatIsSuspectHasAColourOfItsOwn) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const Palette& colors = palette(theme);
    for (const Color& family : colors.families) EXPECT_GE(distance(colors.suspect, family), 30) << family.hex();
    for (const Color& other : {colors.above, colors.roof_other, colors.ink, colors.muted})
      EXPECT_GE(distance(colors.suspect, other), 30) << other.hex();
  }
}

/// Where there is no room for names, legend or notes, a line says so.
TEST(ChartSvg, ASmallPictureSaysWhatItLeavesOut) {
  for (const auto& [width, height] : {std::pair{480, 320}, {320, 240}}) {
    const Report report = example::sample_report();
    const ChartOptions options{.width = width, .height = height};
    const Chart chart = lay_out_chart(report, options);
    const std::size_t more = report.points.size() - chart.named - chart.numbered;
    ASSERT_GT(more, 0u);
    EXPECT_THAT(
        render_svg(report, options),
        testing::HasSubstr(fmt::format(">{}{} in the table", more, chart.named + chart.numbered > 0 ? " more" : "")));
  }
  EXPECT_THAT(render_svg(example::sample_report()), testing::Not(testing::HasSubstr(" in the table<")));
}

}  // namespace
}  // namespace roofline
