// Finds, for each of many queries, the cheapest offer of a shop that has every wanted tag.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

struct Offer {
  std::string title;
  std::string description;
  std::vector<int> tags;
  double price;
};

#ifdef FIXED
#define EACH const auto&
#else
#define EACH auto
#endif

static bool has_tag(const Offer& offer, int tag) {
  for (int t : offer.tags)
    if (t == tag) return true;
  return false;
}

static double cheapest(const std::vector<Offer>& offers, int tag) {
  double best = 1e30;
  for (EACH offer : offers) {
    if (offer.price < best && has_tag(offer, tag)) best = offer.price;
  }
  return best;
}

int main() {
  std::mt19937 random(3);
  std::vector<Offer> offers;
  for (int i = 0; i < 20000; ++i) {
    Offer offer;
    offer.title = "Offer number " + std::to_string(i) + " of the season";
    offer.description = std::string(60 + random() % 120, 'a' + i % 26);
    for (int t = 0; t < 12; ++t) offer.tags.push_back(random() % 500);
    offer.price = 1 + random() % 100000 / 100.0;
    offers.push_back(offer);
  }
  double sum = 0;
  for (int query = 0; query < 4500; ++query) sum += cheapest(offers, query % 500);
  std::printf("%.2f\n", sum);
}
