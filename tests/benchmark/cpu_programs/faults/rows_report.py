"""Revenue after discount of each region, from a table of orders."""
import os

import numpy as np
import pandas as pd


def make_orders(count):
    rng = np.random.default_rng(4)
    return pd.DataFrame({
        "region": rng.choice(["north", "south", "east", "west"], count),
        "quantity": rng.integers(1, 20, count),
        "price": rng.random(count) * 50,
        "vip": rng.random(count) < 0.2,
    })


def revenue(orders):
    if os.environ.get("FIXED"):
        rate = np.where(orders["vip"], 0.9, 1.0)
        rate = np.where(orders["quantity"] > 10, rate * 0.95, rate)
        return (orders["quantity"] * orders["price"] * rate).groupby(orders["region"]).sum().to_dict()
    totals = {}
    for _, order in orders.iterrows():
        rate = 0.9 if order["vip"] else 1.0
        if order["quantity"] > 10:
            rate *= 0.95
        region = order["region"]
        totals[region] = totals.get(region, 0) + order["quantity"] * order["price"] * rate
    return totals


if __name__ == "__main__":
    print(revenue(make_orders(240_000)))
