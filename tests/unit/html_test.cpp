// report.html as text: escaping, the policy and the rows. How it behaves is in tests/browser.
#include "render/html/escape.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "host/files.hpp"
#include "render/compress.hpp"
#include "render/html/sha256.hpp"
#include "render/render.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/findings.hpp"
#include "report/hotspots.hpp"
#include "report/json/json.hpp"
#include "tests/support/profile_report.hpp"
#include "tests/support/sample_report.hpp"
#include "text/natural_order.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t first = text.find(open);
  if (first == std::string::npos) return {};
  const std::size_t start = first + open.size();
  return text.substr(start, text.find(close, start) - start);
}

int occurrences(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::string from_base85(const std::string& text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 5) {
    const std::string digits = text.substr(at, 5);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      const std::size_t digit =
          std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~")
              .find(k < digits.size() ? digits[k] : '~');
      EXPECT_NE(digit, std::string::npos) << digits;
      group = group * 85 + static_cast<std::uint32_t>(digit);
    }
    for (std::size_t k = 0; k + 1 < digits.size(); ++k) bytes += static_cast<char>((group >> (24 - 8 * k)) & 0xFF);
  }
  return bytes;
}

std::string inflated(const std::string& bytes, std::size_t room) {
  std::string result(room, '\0');
  uLongf size = room;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                       static_cast<uLong>(bytes.size())),
            Z_OK);
  result.resize(size);
  return result;
}

TEST(HtmlCompress, WhatIsCompressedComesBack) {
  const std::string text(100000, 'x');
  EXPECT_LT(compressed(text).size(), 1000u);
  EXPECT_EQ(inflated(compressed(text), text.size()), text);
  EXPECT_EQ(inflated(compressed(""), 10), "");
}

TEST(HtmlText, Escapes) {
  EXPECT_EQ(escape_html("<a href=\"x\" b='y'>&"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(escape_html("\xFF"), "\uFFFD");
  EXPECT_EQ(html_sentences("`a < b` and `c`, not `d"), "<code>a &lt; b</code> and <code>c</code>, not `d");
}

TEST(HtmlText, NamesAreIsolatedAndShortened) {
  EXPECT_EQ(html_isolated("gemm"), "<bdi>gemm</bdi>");
  EXPECT_EQ(html_name("a<b"), "a&lt;b");
  EXPECT_EQ(html_name("\u05d0\u05d1"), "<bdi>\u05d0\u05d1</bdi>");
  EXPECT_EQ(html_name("abcdefghij", 5), "<bdi title=\"abcdefghij\">ab\u2026ij</bdi>");
  EXPECT_LT(html_name(std::string(100000, 'x')).size(), 2000u);
}

TEST(HtmlText, Base64OfEveryRemainder) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("\xFF\xFE\xFD\xFC"), "//79/A==");
}

TEST(HtmlText, Base85OfEveryRemainder) {
  EXPECT_EQ(base85(""), "");
  EXPECT_EQ(base85("hello"), "Xk~0{Zv") << "as Python's base64.b85encode";
  EXPECT_EQ(base85(std::string(4, '\xFF')), "|NsC0");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
    EXPECT_EQ(from_base85(base85(all)), all);
  }
  EXPECT_EQ(base85(all).find_first_of("<\"'\\"), std::string::npos);
}

TEST(Html, ThePolicyNamesThePagesOwnStyleAndScript) {
  const std::string html = render_html(example::sample_report());
  const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  const std::string dark =
      between(html, "<style id=\"dark\" media=\"screen and (prefers-color-scheme:dark)\">", "</style>");
  EXPECT_THAT(dark, HasSubstr("color-scheme:dark"));
  EXPECT_THAT(policy,
              HasSubstr("style-src '" + csp_hash(between(html, "<style>", "</style>")) + "' '" + csp_hash(dark) + "'"));
  EXPECT_THAT(policy, HasSubstr("script-src '" + csp_hash(between(html, "<script>", "</script>")) + "'"));
  EXPECT_EQ(occurrences(html, " style=\""), 0) << "the policy forbids style attributes";
}

TEST(HtmlText, TimesAreForPeople) {
  EXPECT_EQ(html_time("2026-01-15T09:32:10Z"), "2026-01-15 09:32 UTC");
  EXPECT_EQ(html_time("yesterday"), "yesterday");
}

/// The report that a page carries.
nlohmann::ordered_json embedded_in(const std::string& html) {
  const std::string packed =
      from_base85(between(html, " id=\"report\" data-format=\"json,zlib,base85\">", "</script>"));
  return nlohmann::ordered_json::parse(inflated(packed, 10'000'000));
}

TEST(Html, TheStandardSuiteWithCountersIsAPageOf272KB) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/reports/reference/h200-ops/report.json";
  const std::string html = render_html(parse_report(read_file(path), path));
  EXPECT_THAT(html, HasSubstr("id=\"counted\""));
  // 266,327 bytes with Debian 12's tools for fonts and scripts, 4,000 more with Debian 13's. 7,600 are the charts of
  // phones and tablets.
  EXPECT_LE(html.size(), 272u * 1024);
}

TEST(Html, EmbedsTheReport) {
  const Report report = example::sample_report();
  EXPECT_EQ(embedded_in(render_html(report)), report_to_json(report));
}

TEST(Html, SeveralRunsAreAnArrayAndComeWithWhatChanged) {
  std::vector<Report> runs(2, example::sample_report());
  runs[1].points[3].time = example::timed(runs[0].points[3].time->median * 1.05);
  const std::string html = render_html(runs);
  const nlohmann::ordered_json both = embedded_in(html);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], report_to_json(runs[0]));
  EXPECT_EQ(both[1], report_to_json(runs[1]));
  EXPECT_THAT(html, HasSubstr("<title>NVIDIA H200: 2 runs"));
  const std::string changes = between(html, "<section id=\"changes\"", "</section>");
  EXPECT_THAT(changes, HasSubstr("1.050"));
  EXPECT_THAT(changes, HasSubstr("21 kernels "));
  EXPECT_EQ(occurrences(changes, "<td>no difference"), 21);
  EXPECT_THAT(render_html(runs[0]), Not(HasSubstr("id=\"changes\"")));
}

std::string counted_row(const Report& report, const std::string& name) {
  const std::string section = between(render_html(report), "<section id=\"counted\"", "</section>");
  return between(section, "<th scope=\"row\">" + name + "<td>", "\n");
}

TEST(Html, CountersStandBesideTheModel) {
  const Report report = example::counted_sample_report();
  const std::string relu = counted_row(report, "relu fp32 268435456 (cuda)");
  EXPECT_THAT(relu, HasSubstr("<dt>fp32<dd>268 MFLOP \u2192 268 MFLOP<dd>exact"));
  EXPECT_THAT(relu, HasSubstr("<dt>hbm<dd>2.15 GB \u2192 2.19 GB<dd>1.02\u00d7"));
  EXPECT_THAT(relu, HasSubstr("<dt>l2<dd>2.19 GB<dd>"));
  EXPECT_THAT(relu, HasSubstr("<dt>occupancy<dd>87.0 %"));
  EXPECT_THAT(relu, Not(HasSubstr("tensor pipe")));
  const std::string attention = counted_row(report, "attention fp16 4x16x2048x128 (cuda)");
  EXPECT_THAT(attention, HasSubstr("<dt>fp32<dd>13.7 GFLOP<dt>")) << "the model knows nothing of it";
  EXPECT_THAT(attention, HasSubstr("<dt>tensor pipe<dd>41.0 %"));
  EXPECT_THAT(attention, HasSubstr("1,056 \u00d7 256<small>168 registers, 96 KiB shared</small>"));
  const std::string section = between(render_html(report), "<section id=\"counted\"", "</section>");
  EXPECT_THAT(section, HasSubstr("CUPTI 13.0 on GH100, in 4 passes"));
  EXPECT_EQ(occurrences(section, "<li>tensor.mma_int8_ops, tensor.mma_tf32_ops<small>in the full set only</small>"), 1);
  EXPECT_THAT(render_html(example::sample_report()), Not(HasSubstr("id=\"counted\"")));
}

TEST(Html, ARatioFarFromOneStandsOut) {
  for (const auto& [ratio, stands_out] : {std::pair(1.24, false), {1.26, true}, {0.81, false}, {0.79, true}}) {
    Report report = example::counted_sample_report();
    report.points[0].counters = example::counters(report.points[0], ratio, 9, 9);
    const std::string row = counted_row(report, "relu fp32 268435456 (cuda)");
    EXPECT_EQ(occurrences(between(row, "<dt>hbm", "<dt>"), "class=\"warn\""), stands_out ? 1 : 0) << ratio;
    EXPECT_EQ(occurrences(between(row, "<dt>l2", "</dl>"), "class=\"warn\""), 0) << "a cache has no model";
  }
}

TEST(Html, IsInTheOrderInWhichItIsRead) {
  for (const Report& report : {example::counted_sample_report(), example::profile_report()}) {
    const std::string html = render_html(report);
    std::size_t last = 0;
    for (const char* id : {"answer", "spend", "chart", "kernels", "verdicts", "evidence", "counted", "device",
                           "machine", "about", "method"}) {
      const std::size_t at = html.find(fmt::format(" id=\"{}\"", id));
      ASSERT_NE(at, std::string::npos) << id;
      EXPECT_GT(at, last) << id;
      last = at;
    }
    for (const char* id : {"evidence", "device", "about"})
      EXPECT_THAT(html, HasSubstr(fmt::format("<details class=\"more\" id=\"{}\"><summary>", id)));
    EXPECT_THAT(between(html, "<nav class=\"toc\"", "</nav>"), HasSubstr("<a href=\"#spend\">"));
  }
}

std::string part_of(const Report& report, const std::string& id) {
  return between(render_html(report), "<section id=\"" + id + "\"", "</section>");
}

TEST(Html, EveryTimedKernelHasAVerdict) {
  const Report report = example::counted_sample_report();
  const std::string rows = part_of(report, "kernels"), told = part_of(report, "verdicts");
  const std::string spend = part_of(report, "spend");
  for (const Verdict& verdict : verdicts(report)) {
    const std::string row = between(rows, fmt::format("<tr id=\"row-{}\"", verdict.row), "\n");
    const std::size_t cell = row.find("<td class=\"verdict\">");
    ASSERT_NE(cell, std::string::npos) << row;
    EXPECT_GT(row.size() - cell, 40u) << row;
    const bool at_roof = verdict.kind == VerdictKind::at_roof;
    EXPECT_EQ(occurrences(told, fmt::format("id=\"verdict-{}\"", verdict.row)), at_roof ? 0 : 1);
    EXPECT_EQ(occurrences(row, fmt::format("href=\"#verdict-{}\"", verdict.row)), at_roof ? 0 : 1);
    EXPECT_THAT(at_roof ? spend : told, HasSubstr(fmt::format("href=\"#row-{}\"", verdict.row)));
  }
  EXPECT_THAT(render_html(Report{}), Not(HasSubstr("id=\"verdicts\"")));
}

TEST(Html, TheKernelsThatLoseMostComeFirst) {
  Report report = example::sample_report();
  report.points[20].time = example::timed(1);
  report.points[4].time = example::timed(0.5);
  for (const auto& [id, row] : {std::pair("kernels", "row"), std::pair("verdicts", "verdict")}) {
    const std::string part = part_of(report, id);
    const auto at = [&, name = row](int index) { return part.find(fmt::format(" id=\"{}-{}\"", name, index)); };
    EXPECT_LT(at(20), at(4)) << id;
    EXPECT_LT(at(4), at(12)) << id;
  }
  EXPECT_THAT(part_of(report, "kernels"), HasSubstr("aria-sort=\"descending\""));
}

TEST(Html, WhatIsBadlyMeasuredIsMarkedAndWarnedOf) {
  Report report = example::sample_report();
  example::scatter(*report.points[19].time);
  report.notes = {"first note", "second note"};
  const std::string html = render_html(report);
  const std::string row = between(html, "<tr id=\"row-19\"", "\n");
  EXPECT_THAT(row, HasSubstr(std::string(kind_words(VerdictKind::measure))));
  EXPECT_THAT(row, Not(HasSubstr(std::string(kind_words(VerdictKind::at_roof)))));
  const std::string warnings = between(html, "<aside class=\"notes\"", "</aside>");
  EXPECT_THAT(warnings, HasSubstr("<details><summary><b>4 warnings")) << "one line that unfolds";
  for (const Finding& alarm : alarms(report)) EXPECT_THAT(warnings, HasSubstr(alarm.text));
  EXPECT_THAT(warnings, HasSubstr("second note"));
  EXPECT_THAT(render_html(example::cpu_sample_report()), Not(HasSubstr("<aside")));
}

TEST(Html, AShareOfTheRoofHasItsInterval) {
  const std::string row = between(render_html(example::sample_report()), "<tr id=\"row-19\"", "\n");
  EXPECT_THAT(between(row, "<td class=\"roof\"", "<td"),
              ::testing::ContainsRegex("%<small>[0-9.]+\u2013[0-9.]+ %</small>"));
  EXPECT_THAT(row, HasSubstr("<td class=\"n burst\">"));
}

TEST(Html, OfManyRowsOnlyTheFirstAreElementsForAScript) {
  const std::string html = render_html(example::random_report(300));
  const std::string later = between(html, "<noscript id=\"later-rows\">", "</noscript>");
  EXPECT_EQ(occurrences(html, "<tr id=\"row-"), 300);
  EXPECT_EQ(occurrences(later, "<tr id=\"row-"), 240);
  EXPECT_THAT(later, HasSubstr("<thead>")) << "a table of its own, to be read without a script";
  EXPECT_THAT(render_html(example::random_report(100)), Not(HasSubstr("<noscript")));
}

TEST(Html, ALongRunShowsTheTimesOfItsLongestKernelsOnly) {
  Report report = example::random_report(300);
  for (Point& point : report.points) point.time = example::timed(2 * point.bound.attainable_time_s);
  const std::string html = render_html(report);
  EXPECT_EQ(occurrences(between(html, "<section id=\"times\"", "</section>"), "<tr><th"), 251);
  EXPECT_THAT(html, HasSubstr("The 250 longest-running of 300"));
}

TEST(Html, IntegersDoNoFlops) {
  Report report = example::sample_report();
  report.points[19].work.flops = {{Pipe::tensor_int8, report.points[19].work.total_flops()}};
  EXPECT_THAT(between(render_html(report), "<tr id=\"row-19\"", "\n"), HasSubstr("356 TOP/s"));
}

TEST(Html, NoMoreWarpsThanAll) {
  Report report = example::counted_sample_report();
  report.points[0].counters->values["occupancy"] = 1.015;
  EXPECT_THAT(counted_row(report, "relu fp32 268435456 (cuda)"), HasSubstr("<dt>occupancy<dd>100.0 %"));
}

TEST(Html, WhatIsCutSaysSo) {
  Report report = example::profile_report();
  report.profile->calls.assign(70, {.name = "cudaFree", .calls = 2, .total_s = 0.5, .median_s = 0.1, .max_s = 0.2});
  report.profile->modules.clear();
  for (int depth = 0; depth < 40; ++depth)
    report.profile->modules.push_back(
        {.name = fmt::format("m{}", depth), .parent = depth - 1, .launches = 1, .total_s = 1});
  EXPECT_THAT(part_of(report, "calls"), HasSubstr("10 more functions<td class=\"n\">20<td class=\"n\">5 s"));
  EXPECT_THAT(part_of(report, "modules"), HasSubstr("deeper nodes not shown"));
}

TEST(HtmlTable, NumbersInNamesAreNumbers) {
  EXPECT_EQ(natural_ranks({"gemm 4096", "gemm 512", "gemm 512", "attention", "gemm 4096x8"}),
            (std::vector<double>{2, 1, 1, 0, 3}));
}

TEST(Html, DrawsTheSweep) {
  const std::string sweeps = between(render_html(example::sample_report()), "<section id=\"sweeps\"", "</section>");
  for (const char* text : {"33 TB/s", "9.7 TB/s", "4.67 TB/s", "231 KiB", "44.5 MiB"})
    EXPECT_THAT(sweeps, HasSubstr(text));
  Report without = example::sample_report();
  without.machine.sweeps[0].points.resize(1);
  EXPECT_EQ(occurrences(between(render_html(without), "<section id=\"sweeps\"", "</section>"), "<svg"), 0);
}

TEST(Html, EveryRowIsThereAndEveryReason) {
  const std::string html = render_html(example::sample_report());
  EXPECT_EQ(occurrences(html, "<tr id=\"row-"), 24);
  const Report report = example::sample_report();
  for (const std::string& reason :
       {report.points[22].reason, report.points[23].reason, report.machine.ceilings[4].audit.checks.back().detail,
        report.machine.unmeasured[0].reason}) {
    EXPECT_NE(reason, "");
    EXPECT_THAT(html, HasSubstr(escape_html(reason)));
  }
  EXPECT_LT(html.size(), 220'000u);
}

TEST(Html, TheSameReportGivesTheSamePage) {
  EXPECT_EQ(render_html(example::sample_report()), render_html(example::sample_report()));
}

TEST(Html, HostileNamesAddNoElements) {
  const std::string plain = render_html(example::sample_report());
  Report report = example::sample_report();
  const std::string hostile = "</script></style></title><script>x()</script><img src=x onerror=x()>";
  report.points[0].workload.label = hostile;
  report.points[1].workload.implementation = hostile;
  report.points[2].family = hostile;
  report.points[22].reason = hostile;
  report.machine.device.name = hostile;
  report.machine.ceilings[4].audit.checks[1].detail = hostile;
  report.notes = {hostile};
  report.invocation.suite_text = hostile;
  report.invocation.command.push_back(hostile);
  const std::string html = render_html(report);
  for (const char* element : {"<script", "</script", "<style", "</style", "<title", "</title", "<img"}) {
    EXPECT_EQ(occurrences(html, element), occurrences(plain, element)) << element;
  }
}

TEST(Html, HasTheConfigurationsThatWereNotChosen) {
  Report report = example::sample_report();
  EXPECT_THAT(render_html(report), Not(HasSubstr("TILE=4")));
  report.points[0].tried = {{"TILE=8", 1e-3}, {"TILE=4", 1.25e-3}};
  EXPECT_THAT(render_html(report), HasSubstr("TILE=8 1 ms, TILE=4 1.25 ms (+25.0 %)</small></details>"));
}

TEST(Html, ACompilersOutputKeepsItsLines) {
  Report report = example::sample_report();
  report.points[22].reason = "dot.c does not compile:\ndot.c:3:5: <error>\n  3 | x\n    | ^\n";
  EXPECT_THAT(render_html(report), HasSubstr("<span>dot.c does not compile:</span>"));
  EXPECT_THAT(render_html(report),
              HasSubstr("<pre tabindex=\"0\">dot.c:3:5: &lt;error&gt;&#10;  3 | x&#10;    | ^</pre>"));
}

TEST(Html, ARowThatIsTooFastSaysWhatIsWrong) {
  const auto said = [](double times, const std::string& words) {
    Report report = example::sample_report();
    report.points[1].time = example::timed(report.points[1].bound.attainable_time_s / times);
    return occurrences(render_html(report), "\u25b2 " + words + "</small>");
  };
  EXPECT_EQ(said(1, "above its roof"), 0);
  EXPECT_EQ(said(1.03, "above its roof"), 1);
  EXPECT_EQ(said(1.03, "partly cached"), 0);
  EXPECT_EQ(said(1.3, "partly cached"), 1) << "faster than the memory can be";
  EXPECT_EQ(said(1.3, "above its roof"), 0);
}

}  // namespace
}  // namespace roofline
