"""Places queens on a board by backtracking."""
import copy
import os
import sys

SIZE = int(sys.argv[1]) if len(sys.argv) > 1 else 8


def safe(board, row, column):
    for r in range(row):
        c = board[r].index("Q")
        if c == column or abs(c - column) == row - r:
            return False
    return True


def solve(board, row):
    if row == SIZE:
        return 1
    solutions = 0
    for column in range(SIZE):
        if not safe(board, row, column):
            continue
        if os.environ.get("FIXED"):
            board[row][column] = "Q"
            solutions += solve(board, row + 1)
            board[row][column] = "."
        else:
            attempt = copy.deepcopy(board)
            attempt[row][column] = "Q"
            solutions += solve(attempt, row + 1)
    return solutions


if __name__ == "__main__":
    total = 0
    for _ in range(110):
        total += solve([["."] * SIZE for _ in range(SIZE)], 0)
    print(total)
