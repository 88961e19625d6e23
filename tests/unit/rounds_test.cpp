// The order of a measurement in rounds: roofs first, every reference once, then what has not settled.
#include "measure/rounds.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <vector>

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::UnorderedElementsAre;

using Order = std::vector<std::size_t>;

bool never(std::size_t) { return false; }
bool always(std::size_t) { return true; }

/// The next `count` visits at one time.
Order visits(Rounds& rounds, int count, double now_s, const std::function<bool(std::size_t)>& settled = never) {
  Order order;
  for (int i = 0; i < count; ++i) {
    const auto member = rounds.next(now_s, settled);
    if (!member) break;
    order.push_back(*member);
  }
  return order;
}

TEST(Rounds, VisitEveryRoofOnceARoundInChangingOrder) {
  Rounds rounds(5, 5, {.roofs_end_s = 100, .end_s = 100});
  std::vector<Order> orders;
  for (int round = 0; round < 4; ++round) orders.push_back(visits(rounds, 5, 1));
  EXPECT_THAT(orders[0], ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(orders[1] != orders[0] || orders[2] != orders[0]);
  for (const Order& order : orders) EXPECT_THAT(order, UnorderedElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(rounds.completed(), 3);
  EXPECT_FALSE(rounds.next(100, never)) << "the time is over";
}

TEST(Rounds, BelongToTheRoofsUntilTheirTimeIsOver) {
  Rounds rounds(2, 4, {.roofs_end_s = 10, .end_s = 20});
  for (const std::size_t member : visits(rounds, 20, 9)) EXPECT_LT(member, 2);
  EXPECT_FALSE(rounds.visited_all());
  EXPECT_THAT(visits(rounds, 2, 11), ElementsAre(2, 3));
  EXPECT_THAT(visits(rounds, 4, 12), UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(rounds.visited_all());
}

TEST(Rounds, GoOnToReferencesOnceTheRoofsHaveSettled) {
  Rounds rounds(2, 4, {.roofs_end_s = 10, .end_s = 20});
  const auto roofs = [](std::size_t member) { return member < 2; };
  EXPECT_THAT(visits(rounds, 2, 1), ElementsAre(0, 1));
  EXPECT_THAT(visits(rounds, 2, 2, roofs), ElementsAre(2, 3));
  for (const std::size_t member : visits(rounds, 10, 3, roofs)) EXPECT_THAT(member, Ge(2));
  EXPECT_FALSE(rounds.next(4, always)) << "nothing is left to measure";
}

TEST(Rounds, VisitWhatHasNotSettledMoreOften) {
  Rounds rounds(3, 3, {.roofs_end_s = 10, .end_s = 10});
  const auto but_one = [](std::size_t member) { return member != 1; };
  visits(rounds, 3, 1);
  EXPECT_THAT(visits(rounds, 3, 2, but_one), ElementsAre(1, 1, 1));
}

TEST(Rounds, VisitEverythingOnceWhereThatIsAskedFor) {
  Rounds whole(2, 3, {.roofs_end_s = 0.5, .end_s = 1, .whole_first_visits = true});
  EXPECT_THAT(visits(whole, 9, 5), ElementsAre(0, 1, 2));
  Rounds cut(2, 3, {.roofs_end_s = 0.5, .end_s = 1});
  EXPECT_THAT(visits(cut, 1, 0), ElementsAre(0));
  EXPECT_FALSE(cut.next(2, never));
  Rounds late(2, 3, {.roofs_end_s = 0.5, .end_s = 1});
  EXPECT_THAT(visits(late, 2, 0.6), ElementsAre(0, 1)) << "the first round of the roofs is not cut for references";
}

TEST(Rounds, NeedNoRoofsAndNoMembers) {
  Rounds references(0, 2, {.roofs_end_s = 10, .end_s = 20});
  EXPECT_THAT(visits(references, 2, 1), ElementsAre(0, 1));
  EXPECT_EQ(visits(references, 4, 1).size(), 4);
  EXPECT_FALSE(Rounds(0, 0, {.roofs_end_s = 10, .end_s = 20}).next(1, never));
}

}  // namespace
}  // namespace roofline
