// Faults of jobs whose remedy depends on the kind of parallelism: links, shared GPUs, stages, split layers and shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job_of_ranks.hpp"
#include "profile/actions.hpp"
#include "profile/slow_link.hpp"

namespace roofline {
namespace {

using spool::CollectiveKind;
using testing::HasSubstr;

std::string remedy(SavingCause cause, CauseDetail detail = CauseDetail::none) {
  return action_against(cause, Framework::torch, detail);
}

/// Kinds of a rank's launches at lines of a model.
spool::Id kind_at(JobOfRanks::Rank& rank, const std::string& symbol, const std::string& module, bool backward = false) {
  const spool::Id line = rank.spool.line("/home/user/project/model.py", 16, "forward");
  return rank.spool.kind(symbol, rank.spool.place({.line = line, .module = module, .backward = backward}));
}

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
constexpr const char* kAllGather = "ncclDevKernel_AllGather_RING_LL";

TEST(NvLinkOfGpus, IsThatOfBoardsThatAlwaysHaveIt) {
  EXPECT_EQ(nvlink_bandwidth("NVIDIA H200"), 450e9);
  EXPECT_EQ(nvlink_bandwidth("NVIDIA H100 80GB HBM3"), 450e9);
  EXPECT_EQ(nvlink_bandwidth("NVIDIA A100-SXM4-80GB"), 300e9);
  for (const char* const without : {"NVIDIA H200 NVL", "NVIDIA H100 PCIe", "NVIDIA A100 80GB PCIe", "NVIDIA L40S",
                                    "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA GeForce RTX 4090"}) {
    EXPECT_EQ(nvlink_bandwidth(without), std::nullopt) << without;
  }
}

/// 64 MiB in 5 ms are 13 GB/s.
TEST(AdviceOfRanks, CollectivesThatDoNotUseNvLink) {
  struct Case {
    const char* gpu;
    std::uint64_t transfer;
    bool slow;
  };
  for (const Case& of :
       {Case{"NVIDIA H200", 5 * kJobMillisecond, true}, Case{"NVIDIA H200", kJobMillisecond / 2, false},
        Case{"NVIDIA L40S", 5 * kJobMillisecond, false}}) {
    JobOfRanks job(2, true, {}, of.gpu);
    job.transfer = of.transfer;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    job.run();
    const Report report = job.report();
    EXPECT_EQ(seconds_in(report, SavingCause::slow_link) > 0, of.slow) << of.gpu << ' ' << of.transfer;
    if (!of.slow) continue;
    const Saving saving = saving_of(report, SavingCause::slow_link);
    EXPECT_THAT(saving.line, HasSubstr("train.py:30"));
    EXPECT_LE(saving.seconds, 2 * 40 * 5e-3);
    EXPECT_GT(saving.seconds, 0.8 * 2 * 40 * 5e-3);
    EXPECT_EQ(seconds_in(report, SavingCause::exposed_communication), 0) << "nothing is left of it";
  }
}

TEST(AdviceOfRanks, TheVariableThatKeepsNcclFromNvLinkIsNamed) {
  for (const bool disabled : {true, false}) {
    JobOfRanks job(2, true, {}, "NVIDIA H200");
    job.transfer = 5 * kJobMillisecond;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 5;
      rank->spool.add(spool::Type::variable,
                      spool::Variable{rank->spool.text("NCCL_P2P_DISABLE"), rank->spool.text(disabled ? "1" : "0")});
    }
    job.run();
    const Saving saving = saving_of(job.report(), SavingCause::slow_link);
    EXPECT_EQ(saving.evidence.find("NCCL_P2P_DISABLE=1") != std::string::npos, disabled);
    EXPECT_EQ(saving.action == action_against(SavingCause::slow_link, Framework::cuda), !disabled);
  }
}

/// Half of rank 1's kernels run on the GPU of rank 0, or on its own.
TEST(AdviceOfRanks, KernelsOnTheGpuOfAnotherRank) {
  for (const bool shared : {true, false}) {
    JobOfRanks job;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    JobOfRanks::Rank& second = *job.all[1];
    spool::Device other = {};
    other.index = 1;
    other.name = second.spool.text("NVIDIA Test");
    other.sms = 132;
    other.uuid[0] = 7;
    second.spool.add(spool::Type::device, other);
    const spool::Id teacher = second.spool.kind(
        "large_kernel", second.spool.place({.line = second.spool.line("/home/user/project/train.py", 70, "targets")}));
    job.step = [&](JobOfRanks& of) {
      of.compute(*of.all[0]);
      of.prepare(second);
      for (int i = 0; i < 5; ++i) {
        if (!shared) {
          JobOfRanks::launch(second, teacher, kJobMillisecond);
          continue;
        }
        const std::uint64_t start = std::max(second.host, second.gpu) + 7 * kJobMicrosecond;
        const std::uint32_t correlation =
            second.spool.launch_graph(teacher, second.host, second.host + kJobMicrosecond);
        spool::Kernel kernel = {};
        kernel.start = start;
        kernel.end = start + kJobMillisecond;
        kernel.correlation = correlation;
        kernel.device = 1;
        kernel.stream = 7;
        second.spool.add(spool::Type::kernel, kernel);
        second.host += second.launch_time;
        second.gpu = kernel.end;
      }
      for (int i = 0; i < 5; ++i) JobOfRanks::launch(second, second.compute, kJobMillisecond);
      of.collect();
    };
    job.run();
    const Report report = job.report();
    const Saving saving = saving_of(report, SavingCause::shared_gpu);
    EXPECT_EQ(saving.seconds > 0, shared);
    if (!shared) continue;
    EXPECT_THAT(saving.line, HasSubstr("train.py:70"));
    EXPECT_THAT(saving.evidence, HasSubstr("rank 1"));
    EXPECT_NEAR(saving.seconds, 40 * 5e-3, 0.1 * 40 * 5e-3);
  }
}

/// A batch goes through two stages and back; the second one has more of the layers, or as many.
TEST(AdviceOfRanks, StagesOfAPipelineThatAreUnequal) {
  for (const bool unequal : {true, false}) {
    JobOfRanks job;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    job.transfer = 100 * kJobMicrosecond;
    job.step = [unequal](JobOfRanks& of) {
      for (auto& rank : of.all) of.prepare(*rank);
      const auto work = [&](std::size_t rank, int kernels) {
        for (int i = 0; i < kernels; ++i) JobOfRanks::launch(*of.all[rank], of.all[rank]->compute, kJobMillisecond);
      };
      for (int part = 0; part < 10; ++part) {
        work(0, 1);
        of.collect(CollectiveKind::send_recv);
        work(1, unequal ? 4 : 1);
        of.collect(CollectiveKind::send_recv);
      }
    };
    job.run();
    const Report report = job.report();
    const Saving saving = saving_of(report, SavingCause::unequal_work);
    EXPECT_EQ(saving.seconds > 0, unequal);
    if (!unequal) {
      EXPECT_EQ(report.profile->savings.at(0).cause, SavingCause::uneven_ranks) << "each waits for the other";
      continue;
    }
    EXPECT_EQ(saving.action, action_against(SavingCause::uneven_ranks, Framework::cuda, CauseDetail::uneven_stages));
    EXPECT_THAT(saving.line, HasSubstr("train.py:10"));
    EXPECT_LE(saving.seconds, 40 * 30e-3 * 1.01) << "equal stages take 25 ms";
    EXPECT_LE(saving.seconds, waiting_of(report));
  }
}

/// Rank 0 gathers what a model of each rank returns, and works on it alone, outside the model or in a layer of it.
TEST(AdviceOfRanks, ARankThatWorksAloneOnGatheredResultsIsNoStage) {
  for (const bool outside : {true, false}) {
    JobOfRanks job;
    job.transfer = 100 * kJobMicrosecond;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 5;
      rank->compute = kind_at(*rank, "large_kernel", "layers.0.mlp.up");
    }
    JobOfRanks::Rank& first = *job.all[0];
    const spool::Id scoring = first.spool.kind(
        "large_kernel", first.spool.place({.line = first.spool.line("/home/user/project/train.py", 70, "score"),
                                           .module = outside ? "" : "layers.9.mlp.up"}));
    job.step = [&](JobOfRanks& of) {
      for (auto& rank : of.all) of.compute(*rank);
      of.collect(CollectiveKind::send_recv);
      for (int i = 0; i < 20; ++i) JobOfRanks::launch(first, scoring, kJobMillisecond);
    };
    job.run();
    const Saving saving = saving_of(job.report(), SavingCause::unequal_work);
    EXPECT_GT(saving.seconds, 0);
    EXPECT_EQ(saving.action == action_against(SavingCause::unequal_work, Framework::torch, CauseDetail::lone_work),
              outside);
    EXPECT_THAT(saving.line, HasSubstr("train.py:70"));
  }
}

/// An all-reduce in a module's forward pass, or of gradients in the backward pass.
TEST(AdviceOfRanks, ReductionsWithinTheForwardPass) {
  for (const bool forward : {true, false}) {
    JobOfRanks job;
    job.transfer = 3 * kJobMillisecond;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 5;
      rank->compute = kind_at(*rank, "large_kernel", "layers.0.mlp.up");
      rank->collective = kind_at(*rank, kAllReduce, "layers.0.mlp.down", !forward);
    }
    job.run();
    const Saving saving = saving_of(job.report(), SavingCause::exposed_communication);
    EXPECT_EQ(saving.action,
              remedy(SavingCause::exposed_communication, forward ? CauseDetail::split_layers : CauseDetail::none));
  }
}

/// Parameters are gathered for an average after the update, or features for a loss after the forward pass.
TEST(AdviceOfRanks, WholeTensorsGatheredAfterTheUpdate) {
  for (const bool after : {true, false}) {
    JobOfRanks job;
    job.transfer = 3 * kJobMillisecond;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 5;
      rank->compute = kind_at(*rank, "large_kernel", "layers.0.mlp.up");
      rank->collective = rank->spool.kind(kAllGather, rank->collective_place);
    }
    job.step = [after](JobOfRanks& of) {
      if (after) of.collect(CollectiveKind::all_gather);
      for (auto& rank : of.all) of.compute(*rank);
      if (!after) of.collect(CollectiveKind::all_gather);
    };
    job.run();
    const Saving saving = saving_of(job.report(), SavingCause::exposed_communication);
    EXPECT_EQ(saving.action, remedy(SavingCause::exposed_communication,
                                    after ? CauseDetail::gathered_shards : CauseDetail::exposed_gathers));
    EXPECT_LE(saving.seconds, 2 * 40 * 3e-3 * 1.01);
  }
}

/// Queries, keys and values are gathered before attention, or the same input three times before its products.
TEST(AdviceOfRanks, HeadsThatAreGatheredBeforeAttention) {
  for (const bool heads : {true, false}) {
    JobOfRanks job;
    job.transfer = kJobMillisecond;
    std::vector<spool::Id> products, attentions;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 5;
      rank->collective = kind_at(*rank, kAllGather, "layers.0.attn.wq");
      products.push_back(kind_at(*rank, "nvjet_sm90_tst_128x256", "layers.0.attn.wq"));
      attentions.push_back(kind_at(*rank, "cudnn_generated_fort_native_sdpa_sm90_flash_fprop", "layers.0.attn"));
    }
    job.step = [&](JobOfRanks& of) {
      for (auto& rank : of.all) of.prepare(*rank);
      const auto multiply = [&] {
        for (std::size_t i = 0; i < of.all.size(); ++i)
          JobOfRanks::launch(*of.all[i], products[i], 3 * kJobMillisecond);
      };
      for (int tensor = 0; tensor < 3; ++tensor) {
        if (heads) multiply();
        of.collect(CollectiveKind::all_gather);
        if (!heads) multiply();
      }
      for (std::size_t i = 0; i < of.all.size(); ++i)
        JobOfRanks::launch(*of.all[i], attentions[i], 4 * kJobMillisecond);
    };
    job.run();
    const Saving saving = saving_of(job.report(), SavingCause::exposed_communication);
    const std::string gathered = remedy(SavingCause::exposed_communication, CauseDetail::gathered_heads);
    EXPECT_EQ(saving.action == gathered, heads);
    EXPECT_GT(saving.seconds, 0);
  }
}

/// A hook launches half of the kernels' time in the backward pass, or a little.
TEST(AdviceOfRanks, KernelsOfACommunicationHook) {
  for (const bool much : {true, false}) {
    JobOfRanks job;
    job.transfer = 100 * kJobMicrosecond;
    std::vector<spool::Id> hooks;
    for (auto& rank : job.all) {
      rank->prepare = kJobMillisecond / 5;
      rank->compute = kind_at(*rank, "large_kernel", "layers.0.mlp.up");
      const spool::Id line = rank->spool.line(
          "/usr/lib/python3/dist-packages/torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py", 340, "hook");
      hooks.push_back(rank->spool.kind("geqr2_smem", rank->spool.place({.line = line, .backward = true})));
    }
    job.step = [&](JobOfRanks& of) {
      for (std::size_t i = 0; i < of.all.size(); ++i) {
        of.compute(*of.all[i]);
        for (int k = 0; k < (much ? 100 : 5); ++k) JobOfRanks::launch(*of.all[i], hooks[i], 100 * kJobMicrosecond);
      }
      of.collect();
    };
    job.run();
    const Report report = job.report();
    const Saving saving = saving_of(report, SavingCause::communication_hook);
    EXPECT_EQ(saving.seconds > 0, much);
    if (!much) continue;
    EXPECT_NEAR(saving.seconds, 2 * 40 * 10e-3, 0.05 * 2 * 40 * 10e-3);
    EXPECT_THAT(saving.evidence, HasSubstr("powerSGD_hook.py:340"));
  }
}

}  // namespace
}  // namespace roofline
