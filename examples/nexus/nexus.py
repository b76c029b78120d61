"""Nexus leaderboards: one table, two indexes, boards by game and time frame.

Set AWS_ENDPOINT_URL for a server of your own; without it, this is AWS.
"""

import os
from datetime import datetime, timezone

import boto3
from boto3.dynamodb.conditions import Attr, Key

ALL_TIME = "ALL-TIME"


def time_frames(at):
    """The day, the ISO week, the month and all time: the boards that a score counts for."""
    year, week, _ = at.isocalendar()
    return {"daily": f"{at:%Y-%m-%d}", "weekly": f"{year}-W{week:02}", "monthly": f"{at:%Y-%m}", "all-time": ALL_TIME}


def board_key(game_id, frame):
    return f"LEADERBOARD#{game_id}#{frame}"


class Leaderboards:
    def __init__(self, table_name="LeaderboardService"):
        # Newer versions of boto3 read this variable themselves.
        self.dynamodb = boto3.resource("dynamodb", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))
        self.table = self.dynamodb.Table(table_name)

    def create_table(self):
        def key(hash_name, range_name):
            return [{"AttributeName": hash_name, "KeyType": "HASH"}, {"AttributeName": range_name, "KeyType": "RANGE"}]

        self.dynamodb.create_table(
            TableName=self.table.name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": "PK", "AttributeType": "S"},
                {"AttributeName": "SK", "AttributeType": "S"},
                {"AttributeName": "Score", "AttributeType": "N"},
                {"AttributeName": "UserID", "AttributeType": "S"},
            ],
            KeySchema=key("PK", "SK"),
            GlobalSecondaryIndexes=[
                {"IndexName": "RankIndex", "KeySchema": key("PK", "Score"), "Projection": {"ProjectionType": "ALL"}},
                {"IndexName": "UserIndex", "KeySchema": key("UserID", "PK"), "Projection": {"ProjectionType": "ALL"}},
            ],
        )
        self.table.wait_until_exists()

    # 1. Submit a score: a PutItem for each frame, safe to repeat; the condition keeps the best.
    def submit_score(self, game_id, user_id, score, player_name, metadata=None, at=None):
        """The names of the frames in which this score now stands."""
        at = at or datetime.now(timezone.utc)
        standing = []
        for name, frame in time_frames(at).items():
            try:
                self.table.put_item(
                    Item={
                        "PK": board_key(game_id, frame),
                        "SK": f"USER#{user_id}",
                        "UserID": user_id,
                        "Score": score,
                        "PlayerName": player_name,
                        "Timestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}",
                        "Metadata": metadata or {},
                    },
                    ConditionExpression=Attr("Score").not_exists() | Attr("Score").lte(score),
                )
                standing.append(name)
            except self.dynamodb.meta.client.exceptions.ConditionalCheckFailedException:
                pass
        return standing

    # 2. Top N players.
    def top(self, game_id, frame, limit=10):
        return self._by_rank(Key("PK").eq(board_key(game_id, frame)), ScanIndexForward=False, Limit=limit)["Items"]

    # 3. A user's rank: those with a higher score, and one.
    def rank(self, game_id, frame, user_id):
        entry = self.entry(game_id, frame, user_id)
        return entry and self._count(Key("PK").eq(entry["PK"]) & Key("Score").gt(entry["Score"])) + 1

    # 4. The players just above and below: the index read both ways from the user's own place.
    def context(self, game_id, frame, user_id, above=2, below=2):
        entry = self.entry(game_id, frame, user_id)
        if not entry:
            return None
        here = {name: entry[name] for name in ("PK", "SK", "Score")}
        condition = Key("PK").eq(entry["PK"])
        better = self._by_rank(condition, ExclusiveStartKey=here, ScanIndexForward=True, Limit=above)["Items"]
        worse = self._by_rank(condition, ExclusiveStartKey=here, ScanIndexForward=False, Limit=below)["Items"]
        return better[::-1] + [entry] + worse

    # 5. A user's percentile: the share of the others that are not better.
    def percentile(self, game_id, frame, user_id):
        entry = self.entry(game_id, frame, user_id)
        if not entry:
            return None
        condition = Key("PK").eq(entry["PK"])
        total = self._count(condition)
        higher = self._count(condition & Key("Score").gt(entry["Score"]))
        return 100.0 if total == 1 else 100.0 * (total - 1 - higher) / (total - 1)

    # 6. All boards of a user, of one game if it is named.
    def boards_of(self, user_id, game_id=None):
        condition = Key("UserID").eq(user_id)
        if game_id:
            condition &= Key("PK").begins_with(f"LEADERBOARD#{game_id}#")
        items, start = [], {}
        while True:
            page = self.table.query(IndexName="UserIndex", KeyConditionExpression=condition, **start)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return items
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def entry(self, game_id, frame, user_id):
        return self.table.get_item(Key={"PK": board_key(game_id, frame), "SK": f"USER#{user_id}"}).get("Item")

    def _by_rank(self, condition, **options):
        return self.table.query(IndexName="RankIndex", KeyConditionExpression=condition, **options)

    def _count(self, condition):
        """A count may come in pages, as from AWS, or whole, as from gametable."""
        total, start = 0, {}
        while True:
            page = self._by_rank(condition, Select="COUNT", **start)
            total += page["Count"]
            if "LastEvaluatedKey" not in page:
                return total
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
