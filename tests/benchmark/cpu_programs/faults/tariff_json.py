"""Bills calls by the tariff of their country."""
import functools
import json
import os
import random
import tempfile

path = os.path.join(tempfile.gettempdir(), "tariff_json.json")


def load_tariffs():
    with open(path) as file:
        return json.load(file)


if os.environ.get("FIXED"):
    load_tariffs = functools.lru_cache(None)(load_tariffs)


def price(call):
    tariffs = load_tariffs()
    tariff = tariffs[call["country"]]
    return tariff["base"] + tariff["minute"] * call["minutes"]


def main():
    random.seed(2)
    tariffs = {f"C{i:03}": {"base": i / 100, "minute": i / 1000, "name": "Country " * 3} for i in range(250)}
    with open(path, "w") as file:
        json.dump(tariffs, file)
    calls = [{"country": f"C{random.randrange(250):03}", "minutes": random.random() * 60} for _ in range(45_000)]
    print(round(sum(price(call) for call in calls), 2))
    os.remove(path)


if __name__ == "__main__":
    main()
