// Jobs whose ranks have unequal work, or meet too often: where that is, and the remedy of that part of the step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "job_of_ranks.hpp"
#include "profile/actions.hpp"

namespace roofline {
namespace {

using spool::CollectiveKind;
using testing::HasSubstr;

constexpr const char* kModelFile = "/home/user/project/model.py";
constexpr const char* kTrainFile = "/home/user/project/train.py";

std::string torch_action(SavingCause cause, CauseDetail detail = CauseDetail::none) {
  return action_against(cause, Framework::torch, detail);
}

spool::Id kind_of_line(JobOfRanks::Rank& rank, const std::string& symbol, std::uint32_t line,
                       const std::string& module = "", bool backward = false, std::uint32_t blocks = 132,
                       std::uint64_t scalars = 0) {
  const char* const file = module.empty() && !backward ? kTrainFile : kModelFile;
  const spool::Id place =
      rank.spool.place({.line = rank.spool.line(file, line, "run"), .module = module, .backward = backward});
  return rank.spool.kind(symbol, place, 0, blocks, scalars);
}

/// A collective with other kernels, bytes and time than the usual ones of the job.
void collect_by(JobOfRanks& job, CollectiveKind kind, const std::vector<spool::Id>& kernels, std::uint64_t bytes,
                std::uint64_t transfer) {
  std::vector<spool::Id> usual;
  const std::uint64_t bytes_before = std::exchange(job.bytes, bytes), before = std::exchange(job.transfer, transfer);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    usual.push_back(std::exchange(job.all[i]->collective, kernels[i]));
    job.all[i]->broadcast = kernels[i];
  }
  job.collect(kind);
  for (std::size_t i = 0; i < kernels.size(); ++i) job.all[i]->collective = usual[i];
  job.bytes = bytes_before;
  job.transfer = before;
}

/// Micro-batches of two lengths in another order on each rank, with a count behind each forward pass. Their sums are
/// equal or not; the count is of the program or of a module.
TEST(WorkOfRanks, ACountInEachMicroBatch) {
  struct Case {
    const char* name;
    bool orders = true, sums = true;  ///< other orders, equal sums
    const char* module = "";
    std::uint64_t bytes = 8;
    bool fault = false;
  };
  for (const Case& of :
       {Case{.name = "fault", .fault = true}, Case{.name = "equal orders", .orders = false},
        Case{.name = "unequal steps", .sums = false}, Case{.name = "of a module", .module = "blocks.0.norm"},
        Case{.name = "large", .bytes = 32 << 20}}) {
    JobOfRanks job;
    std::vector<spool::Id> forward, counts;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 10;
      forward.push_back(kind_of_line(*rank, "forward_kernel", 16, "blocks.0.mlp"));
      counts.push_back(kind_of_line(*rank, "ncclDevKernel_AllReduce_Sum_u64_RING_LL", 71, of.module));
    }
    int step = 0;
    job.step = [&](JobOfRanks& now) {
      for (auto& rank : now.all) now.prepare(*rank);
      for (int batch = 0; batch < 4; ++batch) {
        for (std::size_t i = 0; i < 2; ++i) {
          const bool turn = of.orders && i == 1;
          const bool longer = (step + (turn ? 2 : 0)) % 4 == batch;
          const int most = !of.sums && (step % 2 == 0) == (i == 0) ? 15 : 8;
          JobOfRanks::launch(*now.all[i], forward[i], static_cast<std::uint64_t>(longer ? most : 2) * kJobMillisecond);
        }
        collect_by(now, CollectiveKind::all_reduce, counts, of.bytes, 10 * kJobMicrosecond);
      }
      now.collect();
      ++step;
    };
    job.run();
    const Report report = job.report();
    const Saving uneven = saving_of(report, SavingCause::uneven_ranks);
    EXPECT_EQ(uneven.seconds > 0, of.orders) << of.name;
    EXPECT_EQ(uneven.action == torch_action(SavingCause::uneven_ranks, CauseDetail::repeated_meetings), of.fault)
        << of.name;
    EXPECT_LE(uneven.seconds, waiting_of(report) * 1.0001) << of.name;
    if (!of.fault) continue;
    EXPECT_THAT(uneven.line, HasSubstr("train.py:71"));
    EXPECT_THAT(uneven.evidence, HasSubstr("all_reduce of 8 B, 4 times"));
    EXPECT_GT(uneven.seconds, 0.9 * waiting_of(report));
  }
}

/// Rank 1 has more kernels of the update, whose results it sends; of the forward pass; or of the next batch.
TEST(WorkOfRanks, UpdatesThatAreDividedUnequally) {
  enum class More : std::uint8_t { none, update, forward, batch };
  for (const More more : {More::none, More::update, More::forward, More::batch}) {
    JobOfRanks job;
    struct Kinds {
      spool::Id forward, backward, batch;
      std::array<spool::Id, 3> update;
    };
    std::vector<Kinds> kinds;
    std::vector<spool::Id> sends;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 10;
      kinds.push_back({kind_of_line(*rank, "nvjet_sm90_tst_1", 16, "blocks.0.mlp"),
                       kind_of_line(*rank, "nvjet_sm90_tst_2", 16, "blocks.0.mlp", true),
                       kind_of_line(*rank, "distribution_kernel", 20),
                       {kind_of_line(*rank, "nvjet_sm90_tst_3", 50), kind_of_line(*rank, "nvjet_sm90_tst_4", 51),
                        kind_of_line(*rank, "nvjet_sm90_tst_5", 52)}});
      sends.push_back(kind_of_line(*rank, "ncclDevKernel_Broadcast_RING_LL", 60));
    }
    job.step = [&](JobOfRanks& now) {
      const auto launch = [&](std::size_t rank, spool::Id kind, int kernels) {
        for (int i = 0; i < kernels; ++i) JobOfRanks::launch(*now.all[rank], kind, kJobMillisecond);
      };
      const auto kernels = [&](std::size_t rank, More part, int usual, int many) {
        return rank == 1 && more == part ? many : usual;
      };
      for (std::size_t i = 0; i < 2; ++i) {
        now.prepare(*now.all[i]);
        launch(i, kinds[i].batch, kernels(i, More::batch, 1, 9));
        launch(i, kinds[i].forward, kernels(i, More::forward, 3, 11));
        launch(i, kinds[i].backward, 6);
      }
      now.collect();
      for (std::size_t i = 0; i < 2; ++i) {
        launch(i, kinds[i].update[0], kernels(i, More::update, 1, 3));
        launch(i, kinds[i].update[1], kernels(i, More::update, 1, 4));
        launch(i, kinds[i].update[2], kernels(i, More::update, 1, 5));
      }
      collect_by(now, CollectiveKind::broadcast, sends, 64 << 20, kJobMillisecond / 5);
    };
    job.run();
    const Saving unequal = saving_of(job.report(), SavingCause::unequal_work);
    EXPECT_EQ(unequal.seconds > 0, more != More::none);
    if (more == More::none) continue;
    const auto number = static_cast<int>(more);
    EXPECT_EQ(unequal.action, torch_action(SavingCause::unequal_work,
                                           more == More::update ? CauseDetail::uneven_updates : CauseDetail::none))
        << number;
    EXPECT_THAT(unequal.line, HasSubstr(more == More::update    ? "train.py:52"
                                        : more == More::forward ? "model.py:16"
                                                                : "train.py:20"));
    if (more != More::update) continue;
    EXPECT_THAT(unequal.evidence, HasSubstr("5 ms on rank 1, 1 ms on rank 0: 44.4 %"));
  }
}

/// Attention takes longer on rank 1: with as many queries and keys of other ranks, with more queries, or with its own
/// keys only.
TEST(WorkOfRanks, PartsOfOneSequenceUnderACausalMask) {
  struct Case {
    std::uint64_t late_ms = 9;
    std::uint32_t late_blocks = 128;
    bool exchange = true, split = false;
  };
  for (const Case& of : {Case{.split = true}, Case{.late_ms = 3}, Case{.late_blocks = 256}, Case{.exchange = false}}) {
    JobOfRanks job;
    std::vector<spool::Id> product, attention, gather;
    for (std::size_t i = 0; i < 2; ++i) {
      JobOfRanks::Rank& rank = *job.all[i];
      rank.prepare = kJobMillisecond / 10;
      product.push_back(kind_of_line(rank, "nvjet_sm90_tst_1", 16, "blocks.0.mlp"));
      attention.push_back(
          kind_of_line(rank, "flash_fwd_kernel", 48, "blocks.0.attn", false, i == 1 ? of.late_blocks : 128, i));
      gather.push_back(
          kind_of_line(rank, "ncclDevKernel_AllGather_RING_LL", 45, of.exchange ? "blocks.0.attn" : "blocks.0.mlp"));
    }
    job.step = [&](JobOfRanks& now) {
      for (std::size_t i = 0; i < 2; ++i) {
        now.prepare(*now.all[i]);
        for (int kernel = 0; kernel < 6; ++kernel) JobOfRanks::launch(*now.all[i], product[i], kJobMillisecond);
      }
      collect_by(now, CollectiveKind::all_gather, gather, 8 << 20, kJobMillisecond / 10);
      for (std::size_t i = 0; i < 2; ++i) {
        JobOfRanks::launch(*now.all[i], attention[i], (i == 1 ? of.late_ms : 3) * kJobMillisecond);
      }
      now.collect();
    };
    job.run();
    const Saving unequal = saving_of(job.report(), SavingCause::unequal_work);
    EXPECT_EQ(unequal.seconds > 0, of.late_ms > 3);
    if (of.late_ms == 3) continue;
    EXPECT_THAT(unequal.line, HasSubstr("model.py:48"));
    EXPECT_EQ(unequal.action,
              torch_action(SavingCause::unequal_work, of.split ? CauseDetail::split_sequence : CauseDetail::none))
        << of.late_blocks << ' ' << of.exchange;
  }
}

/// All layers are one unit of shards; each is one; each is one beside a larger embedding; or the transfers are short.
TEST(WorkOfRanks, LayersThatAreOneUnitOfShards) {
  struct Case {
    int units;                        ///< of the layers
    std::uint64_t embedding = 160e6;  ///< bytes
    std::uint64_t time = 10 * kJobMillisecond;
    bool fault = false;
  };
  constexpr int kLayers = 12;
  constexpr std::uint64_t kBytes = 4'000'000'000;
  for (const Case& of : {Case{.units = 1, .fault = true}, Case{.units = 12}, Case{.units = 12, .embedding = 3 * kBytes},
                         Case{.units = 1, .time = kJobMillisecond / 10}}) {
    JobOfRanks job;
    std::vector<std::vector<spool::Id>> layers(job.all.size());
    std::vector<spool::Id> gathers, scatters;
    for (std::size_t i = 0; i < job.all.size(); ++i) {
      job.all[i]->prepare = kJobMillisecond / 10;
      for (int layer = 0; layer < kLayers; ++layer) {
        layers[i].push_back(
            kind_of_line(*job.all[i], "nvjet_sm90_tst_1", 16, "layers." + std::to_string(layer) + ".up"));
      }
      gathers.push_back(kind_of_line(*job.all[i], "ncclDevKernel_AllGather_RING_LL", 16, "layers.0"));
      scatters.push_back(
          kind_of_line(*job.all[i], "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", 16, "layers.0", true));
    }
    const auto units = static_cast<std::uint64_t>(of.units);
    job.step = [&](JobOfRanks& now) {
      for (auto& rank : now.all) now.prepare(*rank);
      collect_by(now, CollectiveKind::all_gather, gathers, of.embedding, of.time * of.embedding / kBytes);
      for (int layer = 0; layer < kLayers; ++layer) {
        if (layer % (kLayers / of.units) == 0) {
          collect_by(now, CollectiveKind::all_gather, gathers, kBytes / units, of.time / units);
        }
        for (std::size_t i = 0; i < now.all.size(); ++i) {
          JobOfRanks::launch(*now.all[i], layers[i][static_cast<std::size_t>(layer)], 3 * kJobMillisecond);
        }
      }
      for (int unit = 0; unit < of.units; ++unit) {
        collect_by(now, CollectiveKind::reduce_scatter, scatters, kBytes / units, of.time / units);
      }
      collect_by(now, CollectiveKind::reduce_scatter, scatters, of.embedding, of.time * of.embedding / kBytes);
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    EXPECT_EQ(exposed.seconds > 0, of.time > kJobMillisecond);
    EXPECT_EQ(exposed.action == torch_action(SavingCause::exposed_communication, CauseDetail::whole_shards), of.fault)
        << of.units << ' ' << of.embedding;
    EXPECT_EQ(exposed.evidence.find("12 layers") != std::string::npos, of.fault);
  }
}

/// Each rank computes the products of an update; outside of an optimizer, on other data, or of other matrices.
TEST(WorkOfRanks, UpdatesThatAllRanksCompute) {
  enum class Work : std::uint8_t { update, evaluation, divided, elementwise };
  for (const Work work : {Work::update, Work::evaluation, Work::divided, Work::elementwise}) {
    JobOfRanks job;
    const int stack = job.samples.stack(
        {HostSamplesBuilder::own("train.py", 50, "run"),
         HostSamplesBuilder::library(
             work == Work::evaluation ? "torch/autograd/grad_mode.py" : "torch/optim/optimizer.py", "wrapper"),
         HostSamplesBuilder::own("train.py", 80, "main")});
    std::vector<spool::Id> kinds;
    for (auto& rank : job.all) {
      rank->prepare = 3 * kJobMillisecond;
      rank->loop = {stack};
      kinds.push_back(kind_of_line(
          *rank, work == Work::elementwise ? "vectorized_elementwise_kernel" : "nvjet_sm90_tst_128x256_NNT", 50));
    }
    job.step = [&](JobOfRanks& now) {
      for (std::size_t i = 0; i < 2; ++i) {
        now.compute(*now.all[i]);
      }
      now.collect();
      for (std::size_t i = 0; i < 2; ++i) {
        const int products = work == Work::divided && i == 1 ? 4 : 8;
        for (int product = 0; product < products; ++product) {
          JobOfRanks::launch(*now.all[i], kinds[i], kJobMillisecond);
        }
      }
    };
    job.run();
    const Report report = job.report();
    const std::string remedy =
        action_against(SavingCause::unfused_optimizer, Framework::cuda, CauseDetail::replicated_updates);
    const auto found = std::ranges::find(report.profile->savings, remedy, &Saving::action);
    EXPECT_EQ(found != report.profile->savings.end(), work == Work::update) << static_cast<int>(work);
    if (found == report.profile->savings.end()) continue;
    EXPECT_THAT(found->line, HasSubstr("train.py:50"));
    EXPECT_NEAR(found->seconds, 40 * 8e-3, 40 * 0.5e-3) << "half of what two ranks compute";
  }
}

}  // namespace
}  // namespace roofline
