"""PynamoDB, unchanged, on Debian's botocore: models, indexes, conditions, updates, batches, transactions, paging.

It comes by pip (tests/requirements.txt); without it these tests are passed over, and say so.
"""

import os
import unittest

from boto3_test import Server

try:
    from pynamodb.attributes import (
        JSONAttribute, ListAttribute, MapAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute, VersionAttribute,
    )
    from pynamodb.connection import Connection
    from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError, UpdateError
    from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, IncludeProjection, LocalSecondaryIndex
    from pynamodb.models import Model
    from pynamodb.transactions import TransactGet, TransactWrite
except ModuleNotFoundError:
    raise unittest.SkipTest("PynamoDB is not installed: see tests/requirements.txt")


class Access:
    host = None  # set when the server runs
    region = "us-east-1"
    aws_access_key_id = "any"
    aws_secret_access_key = "any"
    max_retry_attempts = 0


class Board(GlobalSecondaryIndex):
    class Meta:
        index_name = "board"
        projection = AllProjection()
        read_capacity_units = write_capacity_units = 5

    game = UnicodeAttribute(hash_key=True)
    score = NumberAttribute(range_key=True)


class ByLevel(LocalSecondaryIndex):
    class Meta:
        index_name = "level"
        projection = IncludeProjection(["score"])

    player = UnicodeAttribute(hash_key=True)
    level = NumberAttribute(range_key=True)


class Gear(MapAttribute):
    name = UnicodeAttribute()
    power = NumberAttribute(default=0)


class Score(Model):
    class Meta(Access):
        table_name = "scores"
        read_capacity_units = write_capacity_units = 5

    player = UnicodeAttribute(hash_key=True)
    game = UnicodeAttribute(range_key=True)
    score = NumberAttribute(default=0)
    level = NumberAttribute(null=True)
    tags = UnicodeSetAttribute(null=True)
    gear = ListAttribute(of=Gear, default=list)
    extra = JSONAttribute(null=True)
    board = Board()
    by_level = ByLevel()


class Versioned(Model):
    class Meta(Access):
        table_name = "versioned"
        billing_mode = "PAY_PER_REQUEST"

    id = UnicodeAttribute(hash_key=True)
    text = UnicodeAttribute(null=True)
    version = VersionAttribute()


def setUpModule():
    global server
    server = Server()
    os.environ.update(AWS_ACCESS_KEY_ID="any", AWS_SECRET_ACCESS_KEY="any")  # for connections without a model
    for model in (Score, Versioned):
        model.Meta.host = server.endpoint
        model.create_table(wait=True)


def tearDownModule():
    assert server.stop() == 0


class PynamoDB(unittest.TestCase):
    def test_items(self):
        made = Score("ann", "chess", score=12, tags={"new", "fast"}, gear=[Gear(name="board", power=3)], extra={"a": [1, None]})
        made.save(Score.player.does_not_exist())
        with self.assertRaises(PutError) as refused:
            made.save(Score.player.does_not_exist())
        self.assertEqual(refused.exception.cause_response_code, "ConditionalCheckFailedException")
        found = Score.get("ann", "chess", consistent_read=True)
        self.assertEqual((found.score, found.tags, found.gear[0].power, found.extra), (12, {"new", "fast"}, 3, {"a": [1, None]}))
        found.update([Score.score.add(5), Score.gear[0].power.set(9), Score.tags.delete(["new"]), Score.extra.remove()], Score.score == 12)
        self.assertEqual((found.score, found.gear[0].power, found.tags, found.extra), (17, 9, {"fast"}, None))
        with self.assertRaises(UpdateError):
            found.update([Score.score.set(0)], condition=Score.score > 100)
        found.delete(Score.score == 17)
        with self.assertRaises(DoesNotExist):
            found.refresh()

    def test_indexes_and_pages(self):
        with Score.batch_write() as batch:
            for i in range(60):
                batch.save(Score(f"p{i:02}", "go", score=i, level=i % 3))
            batch.save(Score("p00", "shogi", score=1, level=7))
        top = [s.player for s in Score.board.query("go", Score.score >= 50, scan_index_forward=False, limit=5)]
        self.assertEqual(top, ["p59", "p58", "p57", "p56", "p55"])
        self.assertEqual(Score.board.count("go", Score.score.between(10, 19)), 10)
        self.assertEqual([s.game for s in Score.by_level.query("p00", Score.level > 0)], ["shogi"])
        filtered = Score.board.query("go", filter_condition=(Score.level == 1) & Score.player.startswith("p0"), page_size=7)
        self.assertEqual([s.player for s in filtered], ["p01", "p04", "p07"])
        self.assertEqual(sum(1 for s in Score.scan(Score.game == "go", page_size=9)), 60)
        self.assertEqual(sum(sum(1 for _ in Score.scan(Score.game == "go", segment=i, total_segments=3)) for i in range(3)), 60)
        wanted = [("p00", "go"), ("p59", "go"), ("nobody", "go")]
        self.assertEqual(sorted(s.score for s in Score.batch_get(wanted)), [0, 59])

    def test_transactions(self):
        connection = Connection(region="us-east-1", host=server.endpoint)
        Score("rich", "bank", score=10).save()
        Score("poor", "bank", score=0).save()
        with TransactWrite(connection=connection, client_request_token="give-1") as both:
            both.update(Score("rich", "bank"), [Score.score.add(-4)], condition=Score.score >= 4)
            both.update(Score("poor", "bank"), [Score.score.add(4)])
        with self.assertRaises(TransactWriteError) as refused:
            with TransactWrite(connection=connection) as both:
                both.save(Score("third", "bank"))
                both.update(Score("rich", "bank"), [Score.score.add(-40)], condition=Score.score >= 40)
        self.assertEqual([r and r.code for r in refused.exception.cancellation_reasons], [None, "ConditionalCheckFailed"])
        with TransactGet(connection=connection) as read:
            rich, poor = read.get(Score, "rich", "bank"), read.get(Score, "poor", "bank")
        self.assertEqual((rich.get().score, poor.get().score), (6, 4))

    def test_versions(self):
        Versioned("a", text="one").save()
        first, second = Versioned.get("a"), Versioned.get("a")
        first.text = "two"
        first.save()
        second.text = "three"
        with self.assertRaises(PutError):
            second.save()
        self.assertEqual((Versioned.get("a").version, Versioned.get("a").text), (2, "two"))

    def test_tables(self):
        self.assertTrue(Score.exists())
        self.assertEqual(Score.describe_table()["TableStatus"], "ACTIVE")

        class Nowhere(Model):
            class Meta(Access):
                table_name = "nowhere"
                host = server.endpoint

            id = UnicodeAttribute(hash_key=True)

        self.assertFalse(Nowhere.exists())
        with self.assertRaises(PutError) as refused:
            Nowhere("x").save()
        self.assertEqual(refused.exception.cause_response_code, "ResourceNotFoundException")


if __name__ == "__main__":
    unittest.main()
