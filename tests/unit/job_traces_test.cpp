// Jobs of many ranks: read condensed, with the same answers.
#include "profile/job_traces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "profile/condensed_trace.hpp"
#include "profile/profile.hpp"
#include "spool_builder.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint64_t kMicroseconds = 1000;

/// Spools of ranks, one of which has slower kernels, in a folder of its own.
class ManyRanks {
 public:
  ManyRanks(int ranks, int late, int kernels = 12, int steps = 30)
      : folder_(fs::path(testing::TempDir()) /
                (std::string("many_ranks_") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (int rank = 0; rank < ranks; ++rank) write(rank, ranks, late, kernels, steps);
  }
  ~ManyRanks() { fs::remove_all(folder_); }
  ManyRanks(const ManyRanks&) = delete;
  ManyRanks& operator=(const ManyRanks&) = delete;

  const fs::path& folder() const { return folder_; }

  Report report() const {
    std::vector<DefectiveSpool> defective;
    JobTraces job = read_job(spools_in(folder_), defective);
    EXPECT_TRUE(defective.empty());
    ProgramFacts facts;
    facts.condensed = std::move(job.condensed);
    return report_of(job.whole, facts, {});
  }

 private:
  void write(int rank, int ranks, int late, int kernels, int steps) {
    SpoolBuilder spool(static_cast<std::uint32_t>(1000 + rank), static_cast<std::uint8_t>(1 + rank));
    const auto place = [&](std::uint32_t line) {
      return spool.place({.line = spool.line("/home/user/train.py", line, "step")});
    };
    const spool::Id compute = spool.kind("large_kernel", place(10)), update = spool.kind("update_kernel", place(40));
    const spool::Id collective = spool.kind("ncclDevKernel_AllReduce_Sum_f32_RING_LL", place(30));
    spool.add(spool::Type::rank, spool::Rank{static_cast<std::uint32_t>(rank), 0, static_cast<std::uint32_t>(ranks),
                                             spool.text("Slurm"), spool.text("node"), 0});
    spool.add(spool::Type::communicator,
              spool::Communicator{99, 1, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks), 0});
    const auto length = [&](int of) { return (of == late ? 65 : 50) * kMicroseconds; };
    const std::uint64_t slowest = length(late) + kMicroseconds;
    std::uint64_t start = 1000 * kMicroseconds;
    for (int step = 0; step < steps; ++step) {
      std::uint64_t gpu = start;
      for (int i = 0; i < kernels; ++i) {
        spool.launch(compute, gpu - 20 * kMicroseconds, gpu - 16 * kMicroseconds, gpu, gpu + length(rank));
        gpu += length(rank) + kMicroseconds;
      }
      const std::uint64_t begins = start + static_cast<std::uint64_t>(kernels) * slowest;
      const std::uint64_t end = begins + 100 * kMicroseconds;
      spool::Collective call = {};
      call.correlation = spool.launch(collective, gpu - 20 * kMicroseconds, gpu - 16 * kMicroseconds, gpu, end, 0, 20);
      call.start = gpu - 20 * kMicroseconds;
      call.end = gpu - 16 * kMicroseconds;
      call.sequence = static_cast<std::uint64_t>(step);
      call.bytes = 64 << 20;
      call.communicator = 1;
      call.kind = spool::CollectiveKind::all_reduce;
      call.calls = 1;
      spool.add(spool::Type::collective, call);
      spool.launch(update, end - 20 * kMicroseconds, end - 16 * kMicroseconds, end, end + 20 * kMicroseconds);
      start = end + 30 * kMicroseconds;
    }
    spool.end(start + 1000 * kMicroseconds);
    spool.write(folder_ / (std::to_string(1000 + rank) + ".1.spool"));
  }

  fs::path folder_;
};

TEST(JobTraces, TheLateRankOfManyIsFoundWithItsCause) {
  const ManyRanks job(48, 37);
  const Report report = job.report();
  ASSERT_TRUE(report.profile->ranks);
  EXPECT_EQ(report.profile->ranks->ranks.size(), 48U);
  EXPECT_GT(report.profile->ranks->matched_share, 0.99);
  ASSERT_FALSE(report.profile->savings.empty());
  const Saving& first = report.profile->savings[0];
  EXPECT_EQ(first.cause, SavingCause::slow_gpu);
  EXPECT_THAT(first.what, HasSubstr("Rank 37 "));
  for (const RankSum& rank : report.profile->ranks->ranks) {
    const double sum = rank.compute_s + rank.waiting_s + rank.transfer_s + rank.copies_s + rank.idle_s;
    EXPECT_NEAR(sum, report.profile->ranks->step_s, 1e-7);
    EXPECT_NEAR(rank.waiting_s, rank.rank == 37 ? 0 : 12 * 15e-6, 13e-6);  // gaps of 1 us are in its compute
  }
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("48 ranks")));
}

TEST(JobTraces, AHealthyJobOfManyHasNoLateRank) {
  const ManyRanks job(48, -1);
  const Report report = job.report();
  for (const Saving& saving : report.profile->savings) {
    EXPECT_NE(saving.cause, SavingCause::slow_gpu);
    EXPECT_NE(saving.cause, SavingCause::late_rank);
    EXPECT_NE(saving.cause, SavingCause::unequal_work);
    EXPECT_NE(saving.cause, SavingCause::uneven_ranks);
  }
}

TEST(JobTraces, ACondensedTraceHasTheSizeOfItsCollectives) {
  std::vector<std::size_t> sizes;
  for (const int kernels : {12, 240}) {
    const ManyRanks job(1, -1, kernels);
    std::vector<DefectiveSpool> defective;
    const ProcessTrace trace = read_spools(job.folder(), defective).at(0);
    ASSERT_TRUE(can_be_condensed(trace));
    sizes.push_back(write_condensed(condensed(trace)).size());
  }
  EXPECT_EQ(sizes[0], sizes[1]);
}

TEST(JobTraces, RanksThatHaveWrittenTheirCondensedTracesAreReadByThem) {
  const ManyRanks job(24, 5);
  const Report before = job.report();
  std::vector<DefectiveSpool> defective;
  for (const fs::path& spool : spools_in(job.folder())) {
    fs::path file = spool;
    file.replace_extension(kCondensedExtension);
    std::ofstream(file, std::ios::binary) << write_condensed(condensed(read_spool(spool)));
  }
  const Report after = job.report();
  ASSERT_EQ(after.profile->savings.size(), before.profile->savings.size());
  for (std::size_t i = 0; i < after.profile->savings.size(); ++i) {
    EXPECT_EQ(after.profile->savings[i].what, before.profile->savings[i].what);
  }
  // A damaged one is not used.
  for (const auto& entry : fs::directory_iterator(job.folder())) {
    if (entry.path().extension() == kCondensedExtension) fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  }
  EXPECT_EQ(job.report().profile->savings.at(0).what, before.profile->savings.at(0).what);
}

}  // namespace
}  // namespace roofline
