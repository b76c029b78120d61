"""Debian's redis-py against the real program: leaderboard code as it is usually written."""
import os
import re
import subprocess
import threading
import time
import unittest

try:
    import redis
except ImportError:
    redis = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("GAMETABLE", os.path.join(ROOT, "build/gametable"))


def start():
    process = subprocess.Popen(
        [PROGRAM, "serve", "--memory", "--http", "127.0.0.1:0", "--redis", "127.0.0.1:0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    printed = ""
    for line in process.stdout:
        printed += line
        found = re.search(r"Redis\s+\S+:(\d+)", line)
        if found:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, int(found.group(1))
    raise RuntimeError("gametable ended: " + printed)


@unittest.skipIf(redis is None, "python3-redis is not installed")
class Leaderboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process, cls.port = start()

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait()
        cls.process.stdout.close()

    def setUp(self):
        self.client = redis.Redis(port=self.port, decode_responses=True)
        self.client.flushdb()

    def tearDown(self):
        self.client.close()

    def test_scores_and_ranks(self):
        client = self.client
        self.assertEqual(client.zadd("board", {"ann": 10, "bob": 20, "abe": 20}), 3)
        self.assertEqual(client.zadd("board", {"ann": 5}, gt=True, ch=True), 0)
        self.assertEqual(client.zadd("board", {"ann": 2.5}, incr=True), 12.5)
        self.assertEqual(client.zincrby("board", 10, "ann"), 22.5)
        self.assertEqual(client.zrevrank("board", "ann"), 0)
        self.assertIsNone(client.zrank("board", "nobody"))
        self.assertEqual(client.zrevrange("board", 0, 1, withscores=True), [("ann", 22.5), ("bob", 20.0)])
        self.assertEqual(client.zrange("board", 15, 21, byscore=True), ["abe", "bob"])
        self.assertEqual(client.zmscore("board", ["abe", "nobody"]), [20.0, None])
        self.assertEqual(client.zcount("board", "-inf", "+inf"), 3)
        self.assertEqual(dict(client.zscan_iter("board")), {"ann": 22.5, "bob": 20.0, "abe": 20.0})
        self.assertEqual(client.zrem("board", "ann", "nobody"), 1)

    def test_algebra_and_pops(self):
        client = self.client
        client.zadd("monday", {"ann": 1, "bob": 2})
        client.zadd("tuesday", {"bob": 10, "cy": 20})
        self.assertEqual(client.zunionstore("week", ["monday", "tuesday"]), 3)
        self.assertEqual(client.zrange("week", 0, -1, withscores=True), [("ann", 1.0), ("bob", 12.0), ("cy", 20.0)])
        self.assertEqual(client.zinter(["monday", "tuesday"], aggregate="MAX", withscores=True), [("bob", 10.0)])
        self.assertEqual(client.zdiff(["monday", "tuesday"]), ["ann"])
        self.assertEqual(client.zpopmax("week", 2), [("cy", 20.0), ("bob", 12.0)])
        self.assertEqual(client.bzpopmin(["none", "week"], timeout=1), ("week", "ann", 1.0))
        self.assertIsNone(client.bzpopmin("week", timeout=0.05))

    def test_transaction_with_a_watch(self):
        tries = []

        def swap(pipe):
            best = pipe.zrevrange("board", 0, 0, withscores=True)
            tries.append(best)
            if len(tries) == 1:
                self.client.zadd("board", {"intruder": 100})
            pipe.multi()
            pipe.zadd("board", {"new": best[0][1] + 1})
            pipe.zrevrank("board", "new")

        self.client.zadd("board", {"ann": 1})
        self.assertEqual(self.client.transaction(swap, "board"), [1, 0])
        self.assertEqual(len(tries), 2)
        self.assertEqual(self.client.zscore("board", "new"), 101)

    def test_keys_and_their_ends(self):
        client = self.client
        client.zadd("a", {"x": 1})
        self.assertTrue(client.expire("a", 100))
        self.assertIn(client.ttl("a"), range(40, 101))
        self.assertTrue(client.rename("a", "b"))
        self.assertTrue(client.copy("b", "c"))
        self.assertEqual(sorted(client.keys("*")), ["b", "c"])
        self.assertEqual(sorted(client.scan_iter(match="?")), ["b", "c"])
        self.assertEqual(client.type("b"), "zset")
        self.assertTrue(client.pexpire("b", 30))
        time.sleep(0.08)
        self.assertEqual(client.exists("b", "c"), 1)
        self.assertEqual(client.dbsize(), 1)
        self.assertEqual(client.info("server")["redis_mode"], "standalone")
        self.assertIn("zadd", client.command())
        with self.assertRaisesRegex(redis.ResponseError, "unknown command"):
            client.lpush("a", "b")
        self.assertTrue(client.set("s", "b", ex=100, nx=True))
        self.assertIsNone(client.set("s", "c", nx=True))
        self.assertEqual(client.get("s"), "b")
        self.assertEqual(client.incrby("n", 5), 5)
        self.assertEqual(client.mget("s", "n", "none"), ["b", "5", None])
        self.assertEqual(client.type("s"), "string")

    def test_scripts(self):
        raise_score = self.client.register_script(
            "redis.call('ZINCRBY', KEYS[1], ARGV[1], ARGV[2]) return redis.call('ZREVRANK', KEYS[1], ARGV[2])")
        self.client.zadd("scripted", {"ann": 5, "bob": 3})
        self.assertEqual(raise_score(keys=["scripted"], args=[4, "bob"]), 0)
        self.client.script_flush()
        self.assertEqual(raise_score(keys=["scripted"], args=[4, "ann"]), 0)
        with self.client.pipeline() as pipe:
            raise_score(keys=["scripted"], args=[1, "bob"], client=pipe)
            pipe.zscore("scripted", "bob")
            self.assertEqual(pipe.execute(), [1, 8.0])
        with self.assertRaisesRegex(redis.ResponseError, "user_script:1: boo"):
            self.client.eval("error('boo')", 0)

    def test_messages(self):
        listener = self.client.pubsub()
        listener.subscribe("news")
        listener.psubscribe("sp*")
        kinds = [listener.get_message(timeout=20)["type"] for _ in range(2)]
        self.assertEqual(kinds, ["subscribe", "psubscribe"])
        self.assertEqual(self.client.publish("news", "one"), 1)
        self.assertEqual(self.client.publish("sport", "two"), 1)
        heard = [listener.get_message(timeout=20) for _ in range(2)]
        self.assertEqual([(m["type"], m["channel"], m["data"]) for m in heard],
                         [("message", "news", "one"), ("pmessage", "sport", "two")])
        self.assertEqual(self.client.pubsub_numsub("news"), [("news", 1)])
        listener.close()

    def test_bytes(self):
        raw = redis.Redis(port=self.port)
        members = {bytes([i]): float(i) for i in range(256)}
        members[b""] = 256.0
        self.assertEqual(raw.zadd("raw", members), 257)
        self.assertEqual(dict(raw.zrange("raw", 0, -1, withscores=True)), members)
        raw.close()


if __name__ == "__main__":
    unittest.main()
