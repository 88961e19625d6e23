"""The program that the examples of reports speak of. It is parsed by scoring_test.py, and not run."""


def load(number):
    values = []
    for value in range(number):
        values.append(value * value)  # FAULT
    return values


def train(batch):
    return sum(batch)


def main():
    for step in range(1000):  # FAULT
        batch = load(step)
        train(batch)


if __name__ == "__main__":
    main()
