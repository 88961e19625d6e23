// The PNG: its size, its pixels where they can be told, and that it depends on nothing but the report.
#include <cairo.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "render/chart/chart.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

class Image {
 public:
  explicit Image(const std::string& png)
      : rest_(png), surface_(cairo_image_surface_create_from_png_stream(read, this)) {
    EXPECT_EQ(cairo_surface_status(surface_), CAIRO_STATUS_SUCCESS);
  }
  ~Image() { cairo_surface_destroy(surface_); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  int width() const { return cairo_image_surface_get_width(surface_); }
  int height() const { return cairo_image_surface_get_height(surface_); }
  std::uint32_t pixel(double x, double y) const {
    std::uint32_t value = 0;
    const auto row = static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_);
    std::memcpy(&value, cairo_image_surface_get_data(surface_) + row + 4 * static_cast<std::ptrdiff_t>(x), 4);
    return value & 0xffffff;
  }

 private:
  static cairo_status_t read(void* self, unsigned char* data, unsigned length) {
    std::string_view& rest = static_cast<Image*>(self)->rest_;
    if (rest.size() < length) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(data, rest.data(), length);
    rest.remove_prefix(length);
    return CAIRO_STATUS_SUCCESS;
  }

  std::string_view rest_;
  cairo_surface_t* surface_;
};

/// The largest difference of a channel.
int distance(std::uint32_t a, std::uint32_t b) {
  int most = 0;
  for (const int shift : {0, 8, 16})
    most = std::max(most, std::abs(static_cast<int>(a >> shift & 0xff) - static_cast<int>(b >> shift & 0xff)));
  return most;
}

TEST(ChartPng, HasTheSizeAskedFor) {
  const std::string png = render_png(example::sample_report(), {.width = 600, .height = 400, .scale = 1.5});
  const Image image(png);
  EXPECT_EQ(image.width(), 900);
  EXPECT_EQ(image.height(), 600);
}

TEST(ChartPng, ShowsMarkersAndRoofsWhereTheyBelong) {
  const Report report = example::cpu_sample_report();
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const ChartOptions options = {.scale = 1, .theme = theme};
    const Chart chart = lay_out_chart(report, options);
    const std::string png = render_png(report, options);
    const Image image(png);
    const auto rgb = [](const Color& c) { return static_cast<std::uint32_t>(c.red << 16 | c.green << 8 | c.blue); };
    const Palette& colors = palette(theme);
    EXPECT_EQ(image.pixel(2, 2), rgb(colors.background));
    for (const PlottedPoint& p : chart.points) {
      const Vec at = chart.at(p.intensity, p.performance);
      const bool covered = std::any_of(chart.points.begin(), chart.points.end(), [&](const PlottedPoint& other) {
        return &other != &p && length(chart.at(other) - at) < other.radius + p.radius;
      });
      if (covered) continue;
      // Beside the dot in its centre: of a small triangle only some pixels have nothing of its edge.
      const std::uint32_t family = rgb(colors.families[p.family]);
      bool seen = false;
      for (int x = -3; x <= 3; ++x) {
        for (int y = -3; y <= 3; ++y) seen |= image.pixel(at.x + x, at.y + y) == family;
      }
      EXPECT_TRUE(seen) << p.name;
      EXPECT_NE(image.pixel(at.x, at.y), family) << "the dot: " << p.name;
    }
    const double y = chart.y.pixel(207e9);
    EXPECT_EQ(image.pixel(chart.x.pixel(60), std::floor(y)), rgb(colors.roof_main));
  }
}

const ChartOptions kSmallPicture = {.width = 640, .height = 480, .scale = 1, .theme = Theme::light};

std::string file_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A picture of tests/data, beside which what is drawn now is written down; and what to do where they differ.
struct Kept {
  std::string png, advice;
};

Kept kept_picture(const std::string& name, const std::string& now) {
  const std::string path = ROOFLINE_SOURCE_DIR "/tests/data/" + name;
  const std::string now_path = testing::TempDir() + name;
  std::ofstream(now_path, std::ios::binary) << now;
  return {file_of(path), "Look at " + path + " and at " + now_path +
                             "; if the new one is right, copy it over the old one and commit it."};
}

std::size_t pixels_that_differ(const Image& a, const Image& b) {
  std::size_t different = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) different += distance(a.pixel(x, y), b.pixel(x, y)) > 24;
  return different;
}

constexpr int kBlock = 12;

/// The mean difference of a block of `a` at (left, top) and the one of `b` that is so far off it.
double difference(const Image& a, const Image& b, int left, int top, int right_by, int down_by) {
  int sum = 0;
  for (int y = top; y < top + kBlock; ++y)
    for (int x = left; x < left + kBlock; ++x) sum += distance(a.pixel(x, y), b.pixel(x + right_by, y + down_by));
  return sum / static_cast<double>(kBlock * kBlock);
}

/// The largest difference of any block of `a` to what is most like it in `b` within a few pixels: letters of another
/// version of the font are a little wider, so that the last ones of a line stand elsewhere.
double difference_of_blocks(const Image& a, const Image& b) {
  constexpr int kAway = 6;
  double most = 0;
  for (int top = kAway; top + kBlock + kAway <= a.height(); top += kBlock) {
    for (int left = kAway; left + kBlock + kAway <= a.width(); left += kBlock) {
      double least = difference(a, b, left, top, 0, 0);
      for (int down_by = -kAway; down_by <= kAway && least > most; ++down_by) {
        for (int right_by = -kAway; right_by <= kAway && least > most; ++right_by) {
          least = std::min(least, difference(a, b, left, top, right_by, down_by));
        }
      }
      most = std::max(most, least);
    }
  }
  return most;
}

/// Of the same report with two versions of Inter (4.0 beta 7 and 4.1) it is 41, with a changed report 47 and more.
constexpr double kOtherPicture = 43.5;

double difference_of_pictures(const std::string& a, const std::string& b) {
  const Image first(a), second(b);
  return std::max(difference_of_blocks(first, second), difference_of_blocks(second, first));
}

/// A fixed report against a picture that was looked at. Another version of Cairo may round its edges differently:
/// a step of grey here and there is no difference, a moved line or letter is. Another version of the font has other
/// widths, and names find other places.
TEST(ChartPng, LooksAsItDid) {
  constexpr unsigned long kFontOfThePicture = 0x32e00912;  // Debian 12's
  unsigned long font = 0;
  for (const FontWeight weight : {FontWeight::regular, FontWeight::semibold}) {
    const std::string_view file = Font::file(weight);
    font = crc32(font, reinterpret_cast<const Bytef*>(file.data()), static_cast<uInt>(file.size()));
  }
  if (font != kFontOfThePicture) GTEST_SKIP() << "another version of the font: LooksAlmostAsItDidWithAnyFont compares";
  const std::string png = render_png(example::sample_report(), kSmallPicture);
  const Kept kept = kept_picture("chart.png", png);
  ASSERT_FALSE(kept.png.empty()) << kept.advice;
  const Image before(kept.png), now(png);
  ASSERT_EQ(before.width(), now.width()) << kept.advice;
  ASSERT_EQ(before.height(), now.height()) << kept.advice;
  EXPECT_EQ(pixels_that_differ(before, now), 0U) << "pixels look different. " << kept.advice;
}

/// Of a report with few kernels, whose names have room enough to stand where they stood.
TEST(ChartPng, LooksAlmostAsItDidWithAnyFont) {
  const std::string png = render_png(example::cpu_sample_report(), kSmallPicture);
  const Kept kept = kept_picture("chart-any-font.png", png);
  ASSERT_FALSE(kept.png.empty()) << kept.advice;
  EXPECT_LT(difference_of_pictures(kept.png, png), kOtherPicture) << kept.advice;
}

TEST(ChartPng, TheComparisonOfPicturesCanFail) {
  EXPECT_EQ(distance(0x102030, 0x102030), 0);
  EXPECT_EQ(distance(0x102030, 0x10e030), 0xc0);
  Report report = example::sample_report();
  const std::string png = render_png(report, kSmallPicture);
  report.points[0].time = example::timed(report.points[0].time->median * 1.05);
  const std::string moved = render_png(report, kSmallPicture);
  EXPECT_GT(pixels_that_differ(Image(png), Image(moved)), 0U);
}

TEST(ChartPng, TheComparisonOfPicturesOfDifferentFontsCanFail) {
  const Report report = example::cpu_sample_report();
  const std::string png = render_png(report, kSmallPicture);
  EXPECT_EQ(difference_of_pictures(png, png), 0);
  Report moved = report, renamed = report, higher = report;
  moved.points[0].time = example::timed(report.points[0].time->median * 2);
  renamed.points[0].workload.label = "an entirely different kernel";
  for (Ceiling& ceiling : higher.machine.ceilings) {
    if (ceiling.kind == CeilingKind::bandwidth) ceiling.value *= 1.2;
  }
  for (const Report& changed : {moved, renamed, higher}) {
    EXPECT_GT(difference_of_pictures(png, render_png(changed, kSmallPicture)), kOtherPicture);
  }
}

/// The streams of a PDF, unpacked. Cairo 1.18 packs dictionaries in them, too.
std::vector<std::string> streams_of(const std::string& pdf) {
  std::vector<std::string> streams;
  for (std::size_t at = pdf.find("stream\n"); at != std::string::npos; at = pdf.find("stream\n", at + 7)) {
    std::string content(1 << 20, '\0');
    uLongf size = content.size();
    const auto* packed = reinterpret_cast<const Bytef*>(pdf.data() + at + 7);
    if (uncompress(reinterpret_cast<Bytef*>(content.data()), &size, packed, pdf.size() - at - 7) != Z_OK) continue;
    content.resize(size);
    streams.push_back(std::move(content));
  }
  return streams;
}

TEST(ChartPdf, IsAPdfOfTheSameEveryTime) {
  const std::string pdf = render_pdf(example::sample_report(), {.width = 800, .height = 600});
  EXPECT_EQ(pdf.substr(0, 5), "%PDF-");
  std::string dictionaries = pdf;
  for (const std::string& stream : streams_of(pdf)) dictionaries += stream;
  EXPECT_NE(dictionaries.find("MediaBox [ 0 0 600 450 ]"), std::string::npos);  // points: three quarters of the pixels
  EXPECT_EQ(dictionaries.find("CreationDate"), std::string::npos);
  EXPECT_EQ(pdf, render_pdf(example::sample_report(), {.width = 800, .height = 600}));
  EXPECT_NE(pdf, render_pdf(example::cpu_sample_report(), {.width = 800, .height = 600}));
}

/// What a search in a PDF finds: the strings of its unpacked streams, a line for each that is shown. What is beyond
/// ASCII is in fonts and codes of their own.
std::string text_of_pdf(const std::string& pdf) {
  std::string all;
  for (const std::string& content : streams_of(pdf)) {
    bool inside = false;
    for (std::size_t i = 0; i < content.size(); ++i) {
      if (!inside && content.compare(i, 2, "Tj") * content.compare(i, 2, "TJ") == 0) all += '\n';
      if (inside && content[i] == '\\') {
        all += content[++i];
      } else if (content[i] == (inside ? ')' : '(')) {
        inside = !inside;
      } else if (inside) {
        all += content[i];
      }
    }
  }
  return all;
}

TEST(ChartPdf, HoldsRealTextAndItsFonts) {
  const std::string pdf = render_pdf(example::sample_report());
  EXPECT_NE(pdf.find("/FontFile3"), std::string::npos);
  EXPECT_NE(pdf.find("/ToUnicode"), std::string::npos);
  const std::string text = text_of_pdf(pdf);
  for (const char* words :
       {"HBM read 4.67 TB/s", "gemm tf32", "Arithmetic intensity (FLOP/byte)", "memory-bound", "TF32 tensor"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " is not in:\n" << text;
  // What the font lacks is drawn, not written as something else.
  Report foreign = example::sample_report();
  foreign.machine.device.name = "\u65e5\u672c";
  EXPECT_EQ(render_pdf(foreign).substr(0, 5), "%PDF-");
}

TEST(ChartPng, IsTheSameEveryTime) {
  EXPECT_EQ(render_png(example::sample_report()), render_png(example::sample_report()));
  EXPECT_NE(render_png(example::sample_report()), render_png(example::cpu_sample_report()));
}

TEST(ChartPng, NeedsNoFontOnTheMachine) {
  // The child sees no font configuration and no font, and has rendered nothing before.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("FONTCONFIG_FILE", "/dev/null", 1);
    setenv("FONTCONFIG_PATH", "/nonexistent", 1);
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    setenv("HOME", "/nonexistent", 1);
    const std::string png = render_png(example::sample_report(), {.scale = 1});
    std::size_t sent = 0;
    while (sent < png.size()) {
      const ssize_t n = write(ends[1], png.data() + sent, png.size() - sent);
      if (n <= 0) _exit(1);
      sent += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string without_fonts;
  char chunk[65536];
  for (ssize_t n = read(ends[0], chunk, sizeof chunk); n > 0; n = read(ends[0], chunk, sizeof chunk))
    without_fonts.append(chunk, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(without_fonts, render_png(example::sample_report(), {.scale = 1}));
}

TEST(ChartFont, MeasuresAndCovers) {
  const Font& font = Font::of(FontWeight::regular);
  EXPECT_GT(font.width("MM", 12), font.width("ii", 12) * 2);
  EXPECT_DOUBLE_EQ(font.width("abc", 24), 2 * font.width("abc", 12));
  EXPECT_GT(Font::of(FontWeight::semibold).width("HBM", 12), font.width("HBM", 12));
  EXPECT_TRUE(font.covers("AZaz09 ·×µ→–—…≥≤±²³▲é"));
  EXPECT_FALSE(font.covers("日本"));
  EXPECT_LE(font.width(fitted(std::string(5000, 'w'), 200, 12), 12), 200);
  EXPECT_EQ(Font::file(FontWeight::regular).substr(0, 4), "OTTO");
}

}  // namespace
}  // namespace roofline
