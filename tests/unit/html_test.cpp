// report.html as text: escaping, the policy and the rows. How it behaves is in tests/browser.
#include "report/html_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/html_sha256.hpp"
#include "report/json.hpp"
#include "report/render.hpp"
#include "tests/support/sample_report.hpp"

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

TEST(HtmlText, Escapes) {
  EXPECT_EQ(escape_html("<a href=\"x\" b='y'>&"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(escape_html("\xFF"), "\uFFFD");
  EXPECT_EQ(escape_script_json("{\"a\":\"</script><!--&\"}"), "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}");
}

TEST(HtmlText, NamesAreIsolatedAndShortened) {
  EXPECT_EQ(html_name("gemm"), "<bdi>gemm</bdi>");
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

TEST(Html, ThePolicyNamesThePagesOwnStyleAndScript) {
  const std::string html = render_html(sample::sample_report());
  const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, HasSubstr("style-src '" + csp_hash(between(html, "<style>", "</style>")) + "'"));
  EXPECT_THAT(policy, HasSubstr("script-src '" + csp_hash(between(html, "<script>", "</script>")) + "'"));
  EXPECT_EQ(occurrences(html, " style=\""), 0) << "the policy forbids style attributes";
}

TEST(Html, EmbedsTheReport) {
  const Report report = sample::sample_report();
  const std::string html = render_html(report);
  const std::string json = between(html, "<script type=\"application/json\" id=\"report\">", "</script>");
  EXPECT_EQ(nlohmann::ordered_json::parse(json), report_to_json(report));
}

TEST(Html, EveryRowIsThereAndEveryReason) {
  const std::string html = render_html(sample::sample_report());
  EXPECT_EQ(occurrences(html, "<tr id=\"row-"), 24);
  EXPECT_THAT(html, HasSubstr("implementation &#39;cuda&#39; has no tf32 kernel"));
  EXPECT_THAT(html, HasSubstr("element 17 is 0.25"));
  EXPECT_THAT(html, HasSubstr("doubling the working set changed the rate by 6.1 %"));
  EXPECT_THAT(html, HasSubstr("no probe for this type yet"));
  EXPECT_LT(html.size(), 250'000u);
}

TEST(Html, TheSameReportGivesTheSamePage) {
  EXPECT_EQ(render_html(sample::sample_report()), render_html(sample::sample_report()));
}

TEST(Html, HostileNamesAddNoElements) {
  const std::string plain = render_html(sample::sample_report());
  Report report = sample::sample_report();
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

}  // namespace
}  // namespace roofline
