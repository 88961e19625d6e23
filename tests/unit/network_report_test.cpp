// Rows with a collective in a report: what is said of them, what a file keeps, and the communication roofline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/audit.hpp"
#include "model/error.hpp"
#include "render/chart/chart.hpp"
#include "render/render.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/findings.hpp"
#include "report/json/json.hpp"
#include "report/network.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Ceiling network_ceiling(const char* name, double value) {
  Ceiling ceiling;
  ceiling.name = name;
  ceiling.level = Level::network;
  ceiling.pattern = Pattern::duplex;
  ceiling.value = value;
  ceiling.ci95 = {0.999 * value, 1.001 * value};
  ceiling.audit.checks = {{std::string(kResultCheck), CheckStatus::pass, ""}};
  return ceiling;
}

Point network_row(const Machine& machine, const char* op, double flops, double bus_bytes, double seconds) {
  Point point;
  point.workload = {.op = op, .implementation = "nccl", .dtype = DType::bf16, .shape = {}, .label = op};
  point.workload.shape.set("ranks", 4);
  point.family = "communication";
  point.status = PointStatus::ok;
  if (flops > 0) point.work.flops[Pipe::tensor_bf16] = flops;
  point.work.bytes[Level::network] = {.read = bus_bytes / 2, .write = bus_bytes / 2};
  point.work.bytes[Level::hbm] = {.read = 1e8, .write = 1e8};
  point.work.collective = {.name = "all_reduce", .ranks = 4};
  Summary time;
  time.median = seconds;
  time.ci95 = {0.999 * seconds, 1.001 * seconds};
  time.min = time.q05 = time.q25 = 0.9995 * seconds;
  time.q75 = time.q95 = time.max = 1.0005 * seconds;
  time.samples = 100;
  time.stop = StopReason::converged;
  point.time = time;
  point.bound = bound_of(point.work, machine);
  return point;
}

/// An all_reduce of 1 GB at 300 of 375 GB/s, and a product that sends 1.5 GB for 6 TFLOP.
Report network_report() {
  Report report = example::sample_report();
  report.machine.ceilings.push_back(network_ceiling("nccl.all_reduce", 375e9));
  report.machine.ceilings.push_back(network_ceiling("nccl.send_recv", 400e9));
  Sweep sweep;
  sweep.name = "sweep.nccl.all_reduce";
  sweep.axis = SweepAxis::message;
  sweep.variant = "NCCL 2.28.9, fp32, 4 ranks";
  sweep.points = {{.x = 64, .value = 6e6, .ci95 = {}, .ranks = 2}, {.x = 1e9, .value = 3e11, .ci95 = {}, .ranks = 4}};
  sweep.lines = {{.ranks = 4,
                  .latency_s = 12e-6,
                  .latency_ci95 = {11e-6, 13e-6},
                  .rate = 370e9,
                  .rate_ci95 = {365e9, 375e9},
                  .misfit = 0.4}};
  report.machine.sweeps.push_back(sweep);
  report.points.push_back(network_row(report.machine, "all_reduce", 0, 1.5e9, 5e-3));
  report.points.push_back(network_row(report.machine, "row_parallel", 6e12, 1.5e9, 15e-3));
  return report;
}

TEST(NetworkReport, BusAndAlgorithmBandwidthDifferByTheFactor) {
  const Report report = network_report();
  const auto rates = network_rates(report.points[report.points.size() - 2]);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->bus, 300e9);
  EXPECT_DOUBLE_EQ(rates->algorithm, 200e9);
  EXPECT_FALSE(network_rates(report.points.front()));
  EXPECT_EQ(network_text(report.points[report.points.size() - 2]), "bus 300 GB/s, algorithm 200 GB/s");
}

TEST(NetworkReport, AFileKeepsCollectivesAndLines) {
  const Report report = network_report();
  const Report again = parse_report(render_json(report), "report.json");
  const Point& row = again.points[again.points.size() - 2];
  ASSERT_TRUE(row.work.collective);
  EXPECT_EQ(row.work.collective->name, "all_reduce");
  EXPECT_EQ(row.work.collective->ranks, 4);
  EXPECT_EQ(row.bound.label, BoundLabel::communication);
  EXPECT_EQ(row.bound.limiting_ceiling, "nccl.all_reduce");
  const Sweep& sweep = again.machine.sweeps.back();
  EXPECT_EQ(sweep.axis, SweepAxis::message);
  EXPECT_EQ(sweep.points.front().ranks, 2);
  ASSERT_EQ(sweep.lines.size(), 1U);
  EXPECT_DOUBLE_EQ(sweep.lines[0].latency_s, 12e-6);
  EXPECT_DOUBLE_EQ(sweep.lines[0].rate_ci95.high, 375e9);
  EXPECT_DOUBLE_EQ(sweep.lines[0].misfit, 0.4);
  EXPECT_THAT(sweep_sentence(sweep), HasSubstr("4 ranks: latency 12 µs"));

  const auto json = nlohmann::json::parse(render_json(report))["results"].at(report.points.size() - 2);
  EXPECT_DOUBLE_EQ(json["bus_bandwidth_bytes_per_s"].get<double>(), 300e9);
  EXPECT_DOUBLE_EQ(json["algorithm_bandwidth_bytes_per_s"].get<double>(), 200e9);
  EXPECT_EQ(json["bound"], "communication");
}

TEST(NetworkReport, EveryRendererSaysHowFastACollectiveWas) {
  const Report report = network_report();
  EXPECT_THAT(render_markdown(report), HasSubstr("bus 300 GB/s, algorithm 200 GB/s"));
  EXPECT_THAT(render_csv(report), HasSubstr("bus_bandwidth_bytes_per_s"));
  EXPECT_THAT(render_terminal(report, {.columns = 160}), HasSubstr("300 GB/s bus"));
  const std::string page = render_html(report);
  EXPECT_THAT(page, HasSubstr("bus 300 GB/s, algorithm 200 GB/s"));
  EXPECT_THAT(page, HasSubstr("<section id=\"network\""));
  EXPECT_THAT(page, HasSubstr("b-communication"));
  EXPECT_THAT(render_html(example::sample_report()), Not(HasSubstr("<section id=\"network\"")));
}

std::vector<std::string> texts_of(const Chart& chart) {
  std::vector<std::string> texts;
  for (const Layer& layer : chart.scene.layers)
    for (const Group& group : layer.groups)
      for (const Item& item : group.items)
        if (const Text* text = std::get_if<Text>(&item)) texts.push_back(text->text);
  return texts;
}

TEST(NetworkChart, CountsFlopsForEachByteOnTheNetwork) {
  const Report report = network_report();
  EXPECT_TRUE(has_network_chart(report));
  EXPECT_FALSE(has_network_chart(example::sample_report()));
  const Chart chart = lay_out_chart(report, ChartOptions{.of = Intensity::network});
  ASSERT_EQ(chart.points.size(), 1U) << "what has no FLOPs has no place, and neither has what sends nothing";
  EXPECT_DOUBLE_EQ(chart.points[0].intensity, 4000);
  ASSERT_EQ(chart.roofs.memory.size(), 1U);
  EXPECT_EQ(chart.roofs.main_memory()->ceiling->name, "nccl.all_reduce") << "nobody sends and receives";
  const std::vector<std::string> texts = texts_of(chart);
  EXPECT_THAT(texts, Contains(AllOf(HasSubstr("network"), HasSubstr("(FLOP/byte)"))));
  EXPECT_THAT(texts, Contains("communication-bound"));
  EXPECT_THAT(texts, Contains(HasSubstr("communication roofline")));
}

TEST(NetworkChart, TheNetworksRoofsAreNotInTheOrdinaryChart) {
  const Report report = network_report();
  const Roofs roofs = roofs_of(report);
  for (const Roof& roof : roofs.memory) EXPECT_NE(roof.ceiling->level, Level::network);
  for (const Roof& roof : roofs.patterns) EXPECT_NE(roof.ceiling->level, Level::network);
}

/// Four GPUs whose sweep is its own line: 12 µs and 370 GB/s, from 96 bytes to 1.6 GB.
Machine swept_machine() {
  Machine machine = network_report().machine;
  Sweep& sweep = machine.sweeps.back();
  sweep.points.clear();
  for (double bytes = 96; bytes < 3e9; bytes *= 2) {
    sweep.points.push_back({.x = bytes, .value = bytes / (12e-6 + bytes / 370e9), .ci95 = {}, .ranks = 4});
  }
  return machine;
}

struct Told {
  std::string rule, finding, action;
};

/// What decides on such a row.
Told told(const Machine& machine, double flops, double bus_bytes, double seconds) {
  Report report;
  report.machine = machine;
  Point& row = report.points.emplace_back(
      network_row(machine, flops > 0 ? "row_parallel" : "all_reduce", flops, bus_bytes, seconds));
  row.work.bytes[Level::hbm] = row.work.bytes[Level::network];
  row.bound = bound_of(row.work, machine);
  const std::vector<Verdict> all = verdicts(report);
  return all.empty() ? Told{} : Told{all[0].rule, all[0].finding, all[0].action};
}

TEST(NetworkReport, ASizeHasTheTimeThatItHadWhenTheMachineWasCalibrated) {
  const Machine machine = swept_machine();
  const Collective four = {.name = "all_reduce", .ranks = 4};
  EXPECT_DOUBLE_EQ(*calibrated_time(machine, four, 96 * 4096), 12e-6 + 96 * 4096 / 370e9);
  // Between two points, on neither side of both; beyond them, their latency and their rate.
  const double between = *calibrated_time(machine, four, 140);
  EXPECT_GT(between, *calibrated_time(machine, four, 96));
  EXPECT_LT(between, *calibrated_time(machine, four, 192));
  EXPECT_DOUBLE_EQ(*calibrated_time(machine, four, 8), *calibrated_time(machine, four, 96));
  EXPECT_NEAR(*calibrated_time(machine, four, 1e10), 1e10 / 370e9, 0.01 * 1e10 / 370e9);
  EXPECT_FALSE(calibrated_time(machine, {.name = "all_reduce", .ranks = 8}, 1e6));
  EXPECT_FALSE(calibrated_time(machine, {.name = "broadcast", .ranks = 4}, 1e6));
}

TEST(NetworkReport, ACollectiveIsToldWhatHoldsIt) {
  const Machine machine = swept_machine();
  const Told latency = told(machine, 0, 96, 12.5e-6);
  EXPECT_EQ(latency.rule, "at-latency");
  EXPECT_THAT(latency.action, HasSubstr("from 25.4 MiB on"));  // 9 x 12 us x 370 GB/s / 1.5
  EXPECT_EQ(told(machine, 0, 1.5e9, 4.2e-3).rule, "at-link");
  // 16 µs are what 1.5 MB of bus bandwidth take there; 4 GB take 10.8 ms.
  const Told small = told(machine, 0, 1.5e6, 16.2e-6);
  EXPECT_EQ(small.rule, "message-size");
  EXPECT_THAT(small.finding, HasSubstr("977 KiB"));
  EXPECT_THAT(small.finding, HasSubstr("latency is 74.1 %"));
  const Told slow = told(machine, 0, 1.5e6, 30e-6);
  EXPECT_EQ(slow.rule, "below-link");
  EXPECT_THAT(slow.finding, HasSubstr("Bus bandwidth 50 GB/s"));
  EXPECT_THAT(slow.action, HasSubstr("NCCL_P2P_DISABLE"));
  EXPECT_EQ(told(machine, 0, 4e9, 20e-3).rule, "below-link");
  // Without a sweep nobody knows which of the two it is.
  Machine unswept = machine;
  unswept.sweeps.clear();
  EXPECT_EQ(told(unswept, 0, 4e9, 20e-3).rule, "collective-unexplained");
}

TEST(NetworkReport, AProductAndItsCollectiveTakeTurnsOrOverlap) {
  const Machine machine = swept_machine();
  const double pipe = machine.compute(Pipe::tensor_bf16)->value;
  const double product_s = 3e-3, network_s = 12e-6 + 0.74e9 / 370e9;  // 2 ms
  const auto row = [&](double seconds) { return told(machine, product_s * pipe, 0.74e9, seconds); };
  const Told turns = row(1.05 * (product_s + network_s));
  EXPECT_EQ(turns.rule, "takes-turns");
  EXPECT_THAT(turns.finding, AllOf(HasSubstr("57.0 %"), HasSubstr("38.2 %")));
  EXPECT_THAT(turns.action, HasSubstr("38.2 %"));
  EXPECT_EQ(row(1.02 * product_s).rule, "good-enough");
  EXPECT_NE(row(1.2 * product_s).rule, "takes-turns");  // mostly hidden
  EXPECT_EQ(row(2 * (product_s + network_s)).rule, "product-unexplained");
  // A step of decoding: 20 µs, of which 12 are the latency of 100 kB.
  const Told decode = told(machine, 4e-6 * pipe, 1e5, 20e-6);
  EXPECT_EQ(decode.rule, "exchange-latency");
  EXPECT_THAT(decode.finding, HasSubstr("60.0 %"));
}

}  // namespace
}  // namespace roofline
