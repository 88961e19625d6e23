// NVML's answers, from a library of fake ones: known figures, refusals, counters of both widths.
#include "device/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFirst = "0000:10:00.0";
constexpr int kNoPermission = 4, kLost = 15, kNotLoaded = 9;

TEST(FakeNvml, EveryGpuIsListed) {
  fresh_nvml();
  const std::vector<GpuIdentity> gpus = Nvml::list();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[1].address.pci, "00000000:11:00.0");
  EXPECT_EQ(gpus[1].name, "Fake GPU");
  EXPECT_EQ(gpus[1].uuid, "GPU-0000");
}

TEST(FakeNvml, TheLibraryThatDoesNotStartSaysWhy) {
  fresh_nvml().start_status = kNotLoaded;
  EXPECT_EQ(Nvml::open(kFirst), nullptr);
  try {
    Nvml::list();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("driver is not loaded"));
  }
  EXPECT_THROW(Nvml::require(kFirst), Error);
}

TEST(FakeNvml, AddressesThatItDoesNotKnow) {
  fresh_nvml();
  EXPECT_EQ(Nvml::open("0000:77:00.0"), nullptr);
}

TEST(FakeNvml, KnownFigures) {
  FakeNvml& fake = fresh_nvml();
  fake.reasons = 0x4 | 0x20 | 0x1;  // idle is no limiter
  const auto nvml = Nvml::require(kFirst);
  EXPECT_EQ(nvml->sm_clock_hz(), 1605e6);
  EXPECT_EQ(nvml->max_sm_clock_hz(), 1980e6);
  EXPECT_EQ(nvml->power_w(), 650);
  EXPECT_EQ(nvml->power_limit_w(), 700);
  EXPECT_EQ(nvml->memory_temperature_c(), 74);
  EXPECT_EQ(nvml->busy_fraction(), 0.97);
  EXPECT_EQ(nvml->decoder_fraction(), 0.03);
  EXPECT_EQ(nvml->memory()->used_bytes, 92.0 * (1ULL << 30));
  EXPECT_THAT(*nvml->clock_event_reasons(), ElementsAre("power cap", "software thermal"));
  EXPECT_EQ(nvml->ecc_errors(true), 12);
  EXPECT_EQ(nvml->ecc_errors(false), 0);
  EXPECT_EQ(nvml->nvlinks()->links, 18U);
}

TEST(FakeNvml, WhatIsRefusedHasItsReason) {
  FakeNvml& fake = fresh_nvml();
  const auto nvml = Nvml::require(kFirst);
  EXPECT_EQ(nvml->fan_fraction(), std::nullopt);
  EXPECT_THAT(nvml->refusal(), HasSubstr("not supported"));
  fake.status = kNoPermission;
  EXPECT_EQ(nvml->power_w(), std::nullopt);
  EXPECT_EQ(nvml->refusal(), "no permission");
  fake.status = kLost;
  EXPECT_EQ(nvml->memory(), std::nullopt);
  EXPECT_THAT(nvml->refusal(), HasSubstr("the GPU is lost"));
}

TEST(FakeNvml, PcieBytesAreThoseOfItsDirection) {
  FakeNvml& fake = fresh_nvml();
  fake.pcie_received = 5'000'000'000;
  fake.pcie_transmitted = 7;
  const auto nvml = Nvml::require(kFirst);
  EXPECT_EQ(nvml->pcie_bytes(Direction::received)->value, 5e9);
  EXPECT_EQ(nvml->pcie_bytes(Direction::transmitted)->value, 7);
}

TEST(FakeNvml, PcieCountersOf32BitsAreNotBelieved) {
  fresh_nvml().narrow_pcie = true;
  const auto nvml = Nvml::require(kFirst);
  EXPECT_FALSE(nvml->pcie_bytes(Direction::received));
  EXPECT_EQ(nvml->pcie_bytes_per_second(Direction::received), 3e6);
  EXPECT_EQ(nvml->pcie_bytes_per_second(Direction::transmitted), 0.5e6);
}

TEST(FakeNvml, NvLinkBytesAreKibibytesOfAllLinksOrBytesOfEach) {
  FakeNvml& fake = fresh_nvml();
  fake.nvlink_received_kib = 1'000'000;
  const auto nvml = Nvml::require(kFirst);
  EXPECT_EQ(nvml->nvlink_bytes(Direction::received)->value, 1024e6);
  fake.no_total_nvlink = true;
  EXPECT_EQ(nvml->nvlink_bytes(Direction::received)->value, 18e6);
  EXPECT_EQ(nvml->nvlink_bytes(Direction::transmitted)->value, 18 * 7);
}

TEST(FakeNvml, ProcessesAndTheirShareOfTheSms) {
  FakeNvml& fake = fresh_nvml();
  const auto nvml = Nvml::require(kFirst);
  const auto processes = nvml->processes(0);
  ASSERT_TRUE(processes && processes->size() == 1);
  EXPECT_EQ(processes->front().pid, ::getpid());
  EXPECT_EQ(processes->front().memory_bytes, 88.0 * (1ULL << 30));
  EXPECT_DOUBLE_EQ(processes->front().sm_fraction.value(), 0.8);  // 90 % and 70 %
  fake.process_status = kNoPermission;
  EXPECT_FALSE(nvml->processes(0));
  EXPECT_EQ(nvml->refusal(), "no permission");
}

TEST(GpuSensors, OneReadingOfEverythingWithAReasonForTheRest) {
  FakeNvml& fake = fresh_nvml();
  const auto sensors = open_gpu_sensors({kFirst, std::nullopt}, kActivitySampleSeconds);
  const GpuReading reading = sensors->read();
  EXPECT_EQ(reading.power_w, 650);
  EXPECT_EQ(reading.nvlink_links, 18);
  EXPECT_TRUE(reading.pcie_rx_bytes);
  EXPECT_THAT(reading.absent.at("activity"), HasSubstr("CUDA does not show"));
  EXPECT_THAT(reading.absent.at("fan_fraction"), HasSubstr("not supported"));
  EXPECT_FALSE(reading.absent.contains("power_w"));
  fake.nvlinks = 0;
  EXPECT_THAT(open_gpu_sensors({kFirst, std::nullopt}, std::nullopt)->read().absent.at("nvlink_rx_bytes"),
              HasSubstr("no NVLink"));
}

TEST(GpuSensors, AGpuThatIsLostAndComesBack) {
  FakeNvml& fake = fresh_nvml();
  const auto sensors = open_gpu_sensors({kFirst, std::nullopt}, std::nullopt);
  EXPECT_TRUE(sensors->read().power_w);
  fake.status = kLost;
  EXPECT_THAT(sensors->read().absent.at("power_w"), HasSubstr("lost"));
  fake.start_status = kNotLoaded;  // while the driver is loaded anew
  EXPECT_THAT(sensors->read().absent.at("nvml"), HasSubstr("not loaded"));
  fake.status = fake.start_status = 0;
  EXPECT_EQ(sensors->read().power_w, 650);
}

}  // namespace
}  // namespace roofline
