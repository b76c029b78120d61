"""The boards' answers against those worked out from a plain list of scores."""

import atexit
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("GAMETABLE", str(HERE.parents[1] / "build/gametable"))
sys.path.insert(0, str(HERE))

from nexus import Leaderboards, board_key, time_frames  # noqa: E402


def start_server():
    """The real program in memory on a free port, and the environment that boto3 reads."""
    process = subprocess.Popen(
        [PROGRAM, "serve", "--http", "127.0.0.1:0", "--redis", "off", "--memory"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    atexit.register(process.kill)
    for line in process.stdout:
        found = re.search(r"DynamoDB\s+(http://\S+)", line)
        if found:
            os.environ.update(
                AWS_ENDPOINT_URL=found.group(1), AWS_DEFAULT_REGION="us-east-1", AWS_ACCESS_KEY_ID="any", AWS_SECRET_ACCESS_KEY="any",
            )
            return process
    raise RuntimeError(f"gametable ended: {process.wait()}")


def setUpModule():
    global server, boards, best
    server = start_server()
    boards = Leaderboards("tested")
    boards.create_table()
    best = submit_many(boards)


def tearDownModule():
    server.terminate()
    server.wait(60)
    server.stdout.close()


def submit_many(into):
    """Submits scores of several games and days; the best of each user by board, as they should stand."""
    seed = int(os.environ.get("SEED", time.time()))
    print(f"SEED={seed}")
    dice = random.Random(seed)
    first = datetime(2025, 12, 24, 12, tzinfo=timezone.utc)
    submits = [
        (dice.choice(["CyberClash", "StarForge"]), f"player{dice.randrange(40)}", dice.randrange(0, 2000, 10), first + timedelta(days=dice.randrange(14)))
        for _ in range(150)
    ]
    expected = {}
    for game, user, score, at in submits:
        for frame in time_frames(at).values():
            scores = expected.setdefault((game, frame), {})
            scores[user] = max(score, scores.get(user, score))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: into.submit_score(one[0], one[1], one[2], one[1].upper(), {"Level": one[2] // 10}, one[3]), submits))
    return expected


class Nexus(unittest.TestCase):
    def test_frames(self):
        self.assertEqual(
            list(time_frames(datetime(2025, 7, 13, tzinfo=timezone.utc)).values()), ["2025-07-13", "2025-W28", "2025-07", "ALL-TIME"],
        )
        self.assertEqual(time_frames(datetime(2026, 1, 1, tzinfo=timezone.utc))["weekly"], "2026-W01")
        self.assertEqual(time_frames(datetime(2025, 12, 28, tzinfo=timezone.utc))["weekly"], "2025-W52")
        kinds = {re.sub(r"\d+", "n", frame) for _, frame in best}
        self.assertEqual(kinds, {"n-n-n", "n-Wn", "n-n", "ALL-TIME"})

    def test_submit_is_safe_to_repeat_and_keeps_the_best(self):
        at = datetime(2025, 7, 13, 10, 30, tzinfo=timezone.utc)
        every = ["daily", "weekly", "monthly", "all-time"]
        submit = lambda score, when=at: boards.submit_score("Solo", "player123", score, "CyberNinja", {"Level": 42, "PlayTime": 3600}, when)
        self.assertEqual(submit(15750), every)
        self.assertEqual(submit(15750), every)
        self.assertEqual(submit(100), [])
        self.assertEqual(submit(9000, at + timedelta(days=1)), ["daily", "weekly"])
        self.assertEqual(boards.entry("Solo", "2025-W28", "player123"), {
            "PK": "LEADERBOARD#Solo#2025-W28", "SK": "USER#player123", "UserID": "player123", "Score": 15750, "PlayerName": "CyberNinja",
            "Timestamp": "2025-07-13T10:30:00Z", "Metadata": {"Level": 42, "PlayTime": 3600},
        })
        self.assertEqual(boards.percentile("Solo", "2025-W28", "player123"), 100.0)

    def test_top(self):
        for (game, frame), scores in best.items():
            found = boards.top(game, frame, 10)
            self.assertEqual([entry["Score"] for entry in found], sorted(scores.values(), reverse=True)[:10])
            self.assertEqual(len({entry["UserID"] for entry in found}), len(found))
            for entry in found:
                self.assertEqual(entry["Score"], scores[entry["UserID"]])

    def test_rank_and_percentile(self):
        for game, frame in self.some_boards():
            scores = best[game, frame]
            for user, score in list(scores.items())[:12]:
                higher = sum(other > score for other in scores.values())
                self.assertEqual(boards.rank(game, frame, user), higher + 1)
                others = len(scores) - 1
                expected = 100 * (others - higher) / others if others else 100
                self.assertAlmostEqual(boards.percentile(game, frame, user), expected)
        self.assertIsNone(boards.rank("CyberClash", "ALL-TIME", "nobody"))
        self.assertIsNone(boards.percentile("CyberClash", "ALL-TIME", "nobody"))

    def test_context(self):
        """The windows around all users of a board are pieces of one order, ties included."""
        for game, frame in self.some_boards():
            whole = [entry["UserID"] for entry in boards.top(game, frame, 1000)]
            self.assertEqual(sorted(whole), sorted(best[game, frame]))
            for place, user in enumerate(whole):
                around = [entry["UserID"] for entry in boards.context(game, frame, user, above=2, below=3)]
                self.assertEqual(around, whole[max(0, place - 2):place + 4])
        self.assertIsNone(boards.context("CyberClash", "ALL-TIME", "nobody"))

    def test_boards_of_a_user(self):
        for user in ("player1", "player17", "player39"):
            expected = {board_key(*board): scores[user] for board, scores in best.items() if user in scores}
            found = boards.boards_of(user)
            self.assertEqual({entry["PK"]: entry["Score"] for entry in found}, expected)
            self.assertEqual([entry["PK"] for entry in found], sorted(expected))
            of_one = [entry["PK"] for entry in boards.boards_of(user, "StarForge")]
            self.assertEqual(of_one, sorted(key for key in expected if "#StarForge#" in key))
        self.assertEqual(boards.boards_of("nobody"), [])

    def test_program(self):
        printed = subprocess.run([sys.executable, str(HERE / "main.py")], check=True, capture_output=True, text=True, timeout=120).stdout
        self.assertRegex(printed, r"CyberClash, 2025-W28\n  1\. Glitch +21300 +100\.0 %\n  2\. \w+ +15750 +66\.7 %\n  2\. ")
        self.assertIn("4. Nova", printed)
        self.assertIn("CyberNinja's boards: 2025-07, 2025-07-13, 2025-W28, ALL-TIME", printed)
        again = subprocess.run([sys.executable, str(HERE / "main.py")], check=True, capture_output=True, text=True, timeout=120).stdout
        self.assertEqual(again, printed)

    @staticmethod
    def some_boards():
        """One of each kind of frame, of both games."""
        kinds = {}
        for game, frame in best:
            kinds.setdefault((game, re.sub(r"\d+", "n", frame)), (game, frame))
        return kinds.values()


if __name__ == "__main__":
    unittest.main()
