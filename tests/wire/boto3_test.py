"""Debian's boto3 and botocore, unchanged: resources, clients, conditions, paginators, waiters, errors.

botocore checks x-amz-crc32 of each answer and asks for gzip, so every call here checks both.
"""

import atexit
import gzip
import http.client
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import time
import unittest
import urllib.parse
import zlib
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from botocore.config import Config
from botocore.exceptions import ClientError

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GAMETABLE", str(ROOT / "build/gametable"))


class Server:
    """The real program on a free port; ends only what it started."""

    def __init__(self, *args):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--http", "127.0.0.1:0", "--redis", "off", "--memory", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        atexit.register(self.kill)
        self.endpoint = self.wait_for_endpoint(time.monotonic() + 60)

    def wait_for_endpoint(self, deadline):
        printed = b""
        while time.monotonic() < deadline:
            if not select.select([self.process.stdout], [], [], 0.1)[0]:
                continue
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                break
            printed += part
            found = re.search(rb"DynamoDB\s+(http://\S+)", printed)
            if found:
                return found.group(1).decode()
        self.kill()
        raise RuntimeError(f"gametable did not start: {printed.decode()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


def setUpModule():
    global server, client, resource
    server = Server()
    options = dict(
        endpoint_url=server.endpoint,
        region_name="eu-central-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
        config=Config(retries={"max_attempts": 1}, connect_timeout=60, read_timeout=60),
    )
    client = boto3.client("dynamodb", **options)
    resource = boto3.resource("dynamodb", **options)
    resource.create_table(
        TableName="game",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
            {"AttributeName": "board", "AttributeType": "S"},
            {"AttributeName": "score", "AttributeType": "N"},
            {"AttributeName": "created", "AttributeType": "N"},
        ],
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byScore",
                "KeySchema": [
                    {"AttributeName": "board", "KeyType": "HASH"},
                    {"AttributeName": "score", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["name"]},
            }
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "byCreated",
                "KeySchema": [
                    {"AttributeName": "PK", "KeyType": "HASH"},
                    {"AttributeName": "created", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


def tearDownModule():
    client.close()
    code = server.stop()
    if code != 0:
        raise AssertionError(f"gametable ended with {code}")


class Case(unittest.TestCase):
    maxDiff = None

    @property
    def game(self):
        return resource.Table("game")

    def refused(self, code, message, call, *args, **kwargs):
        with self.assertRaises(ClientError) as caught:
            call(*args, **kwargs)
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], code, error)
        if isinstance(message, str):
            self.assertEqual(error["Message"], message)
        elif message is not None:
            self.assertRegex(error["Message"], message)
        self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 400)
        return caught.exception


class Tables(Case):
    def test_create_wait_describe_update_delete_wait(self):
        table = resource.create_table(
            TableName="short-lived",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "B"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
            Tags=[{"Key": "team", "Value": "crow"}],
        )
        client.get_waiter("table_exists").wait(TableName="short-lived", WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        table.reload()
        self.assertEqual(table.table_status, "ACTIVE")
        self.assertEqual(table.key_schema, [{"AttributeName": "id", "KeyType": "HASH"}])
        self.assertEqual(table.provisioned_throughput["WriteCapacityUnits"], 4)
        self.assertEqual(table.item_count, 0)
        self.assertRegex(table.table_arn, r"^arn:aws:dynamodb:eu-central-1:\d{12}:table/short-lived$")
        self.assertLess(abs(time.time() - table.creation_date_time.timestamp()), 60)
        self.assertEqual(
            client.list_tags_of_resource(ResourceArn=table.table_arn)["Tags"], [{"Key": "team", "Value": "crow"}]
        )
        table.update(BillingMode="PAY_PER_REQUEST")
        table.reload()
        self.assertEqual(table.billing_mode_summary["BillingMode"], "PAY_PER_REQUEST")
        table.put_item(Item={"id": b"\x00\x01"})
        self.assertEqual(client.describe_table(TableName="short-lived")["Table"]["ItemCount"], 1)
        table.delete()
        client.get_waiter("table_not_exists").wait(TableName="short-lived", WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        self.refused("ResourceNotFoundException", "Requested resource not found: Table: short-lived not found",
                     client.describe_table, TableName="short-lived")

    def test_list_tables_in_pages(self):
        names = [f"list-{i}" for i in range(12)]
        for name in names:
            client.create_table(
                TableName=name,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            )
        pages = list(client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 5}))
        self.assertTrue(all(len(page["TableNames"]) <= 5 for page in pages))
        listed = [name for page in pages for name in page["TableNames"]]
        self.assertEqual([name for name in listed if name.startswith("list-")], sorted(names))
        self.assertIn("list-3", [table.name for table in resource.tables.all()])
        for name in names:
            client.delete_table(TableName=name)

    def test_limits_and_endpoints(self):
        limits = client.describe_limits()
        self.assertGreater(limits["TableMaxReadCapacityUnits"], 0)
        self.assertTrue(client.describe_endpoints()["Endpoints"][0]["Address"])


class Items(Case):
    def test_decimals_are_exact(self):
        for text in ["0", "-1", "3.14", "0.1", "1E+2", "9.9E+37", "1E-130",
                     "12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001"]:
            self.game.put_item(Item={"PK": "decimal", "SK": text, "n": Decimal(text), "set": {Decimal(text), Decimal(7)}})
            item = self.game.get_item(Key={"PK": "decimal", "SK": text}, ConsistentRead=True)["Item"]
            self.assertEqual(item["n"], Decimal(text))
            self.assertEqual(item["set"], {Decimal(text), Decimal(7)})
        total = self.game.update_item(
            Key={"PK": "decimal", "SK": "sum"},
            UpdateExpression="SET n = if_not_exists(n, :zero) + :n",
            ExpressionAttributeValues={":zero": Decimal("0.1"), ":n": Decimal("0.2")},
            ReturnValues="ALL_NEW",
        )["Attributes"]["n"]
        self.assertEqual(str(total), "0.3")

    def test_every_type_both_ways(self):
        item = {
            "PK": "types", "SK": "é😀\x00", "text": "", "n": Decimal("-1.5"), "yes": True, "no": False, "none": None,
            "binary": Binary(bytes(range(256))), "empty": Binary(b""), "texts": {"a", "ß"}, "numbers": {Decimal(1), Decimal("-2.5")},
            "binaries": {Binary(b"a"), Binary(b"\xff")}, "list": [1, "a", [None], {"x": []}], "map": {"deep": {"er": [{"b": Binary(b"x")}]}},
        }
        self.game.put_item(Item=item)
        self.assertEqual(self.game.get_item(Key={"PK": "types", "SK": item["SK"]})["Item"], item)

    def test_serializer_round_trip_on_the_client(self):
        serializer, deserializer = TypeSerializer(), TypeDeserializer()
        document = {"PK": "wire", "SK": "1", "data": {"list": [Decimal(1), {"set": {"a", "b"}}], "null": None, "b": Binary(b"\x00")}}
        client.put_item(TableName="game", Item={name: serializer.serialize(value) for name, value in document.items()})
        item = client.get_item(TableName="game", Key={"PK": {"S": "wire"}, "SK": {"S": "1"}})["Item"]
        self.assertEqual({name: deserializer.deserialize(value) for name, value in item.items()}, document)

    def test_put_update_delete_return_values(self):
        key = {"PK": "return", "SK": "1"}
        self.assertNotIn("Attributes", self.game.put_item(Item={**key, "n": 1}, ReturnValues="ALL_OLD"))
        self.assertEqual(self.game.put_item(Item={**key, "n": 2}, ReturnValues="ALL_OLD")["Attributes"], {**key, "n": 1})
        answer = self.game.update_item(
            Key=key, UpdateExpression="SET n = n + :n, #l = :l REMOVE gone ADD tags :t", ExpressionAttributeNames={"#l": "list"},
            ExpressionAttributeValues={":n": 5, ":l": ["a"], ":t": {"x"}}, ReturnValues="UPDATED_NEW", ReturnConsumedCapacity="TOTAL",
            ReturnItemCollectionMetrics="SIZE",
        )
        self.assertEqual(answer["Attributes"], {"n": 7, "list": ["a"], "tags": {"x"}})
        self.assertEqual(answer["ConsumedCapacity"], {"TableName": "game", "CapacityUnits": 1.0})
        self.assertEqual(answer["ItemCollectionMetrics"]["ItemCollectionKey"], {"PK": "return"})
        self.assertEqual(self.game.delete_item(Key=key, ReturnValues="ALL_OLD")["Attributes"]["n"], 7)
        self.assertNotIn("Item", self.game.get_item(Key=key))

    def test_legacy_parameters(self):
        key = {"PK": "legacy", "SK": "1"}
        self.game.update_item(Key=key, AttributeUpdates={"n": {"Action": "ADD", "Value": 3}, "s": {"Action": "PUT", "Value": "a"}})
        self.game.put_item(Item={**key, "n": 4}, Expected={"n": {"Value": 3, "Exists": True}})
        self.refused("ConditionalCheckFailedException", None, self.game.put_item, Item=key, Expected={"n": {"Value": 3}})
        answer = self.game.query(KeyConditions={"PK": {"ComparisonOperator": "EQ", "AttributeValueList": ["legacy"]}})
        self.assertEqual(answer["Items"], [{**key, "n": 4}])


class Conditions(Case):
    """boto3.dynamodb.conditions builds the expressions."""

    @classmethod
    def setUpClass(cls):
        with resource.Table("game").batch_writer() as batch:
            for i in range(60):
                batch.put_item(Item={
                    "PK": "cond", "SK": f"{i:03}", "n": i, "board": "main" if i % 2 else "side", "score": Decimal(i % 7) / 2,
                    "created": 1000 - i, "name": f"player {i}", "tags": {"even" if i % 2 == 0 else "odd"}, "info": {"level": i % 3},
                })

    def numbers(self, **kwargs):
        return [int(item["n"]) for item in self.game.query(**kwargs)["Items"]]

    def test_key_conditions(self):
        here = Key("PK").eq("cond")
        for condition, expected in [
            (Key("SK").eq("007"), [7]),
            (Key("SK").lt("003"), [0, 1, 2]),
            (Key("SK").lte("001"), [0, 1]),
            (Key("SK").gt("057"), [58, 59]),
            (Key("SK").gte("059"), [59]),
            (Key("SK").between("010", "012"), [10, 11, 12]),
            (Key("SK").begins_with("05"), list(range(50, 60))),
        ]:
            self.assertEqual(self.numbers(KeyConditionExpression=here & condition), expected)
            self.assertEqual(self.numbers(KeyConditionExpression=here & condition, ScanIndexForward=False), expected[::-1])

    def test_attribute_conditions_as_filters(self):
        for condition, keep in [
            (Attr("n").lt(3), lambda i: i < 3),
            (Attr("n").between(5, 7), lambda i: 5 <= i <= 7),
            (Attr("n").is_in([1, 50, 99]), lambda i: i in (1, 50)),
            (Attr("name").begins_with("player 1"), lambda i: str(i).startswith("1")),
            (Attr("tags").contains("odd") & Attr("info.level").eq(2), lambda i: i % 2 and i % 3 == 2),
            (~Attr("n").gte(2) | Attr("absent").exists(), lambda i: i < 2),
            (Attr("absent").not_exists() & Attr("n").ne(0) & Attr("name").size().eq(8), lambda i: 0 < i < 10),
            (Attr("info").attribute_type("M") & Attr("score").gt(Decimal("2.9")), lambda i: i % 7 == 6),
        ]:
            self.assertEqual(
                self.numbers(KeyConditionExpression=Key("PK").eq("cond"), FilterExpression=condition), [i for i in range(60) if keep(i)]
            )

    def test_conditional_writes(self):
        key = {"PK": "guard", "SK": "1"}
        self.game.put_item(Item={**key, "n": 1}, ConditionExpression=Attr("PK").not_exists())
        self.refused("ConditionalCheckFailedException", "The conditional request failed", self.game.put_item, Item=key,
                     ConditionExpression=Attr("PK").not_exists())
        error = self.refused("ConditionalCheckFailedException", None, client.update_item, TableName="game",
                             Key={"PK": {"S": "guard"}, "SK": {"S": "1"}}, UpdateExpression="SET n = :n", ConditionExpression="n > :n",
                             ExpressionAttributeValues={":n": {"N": "5"}})
        self.assertIsInstance(error, client.exceptions.ConditionalCheckFailedException)
        self.game.delete_item(Key=key, ConditionExpression=Attr("n").eq(1))

    def test_transactions(self):
        key = {"PK": {"S": "transaction"}, "SK": {"S": "1"}}
        add = {"Update": {"TableName": "game", "Key": key, "UpdateExpression": "ADD n :one",
                          "ExpressionAttributeValues": {":one": {"N": "1"}}}}
        for _ in range(2):
            client.transact_write_items(TransactItems=[add], ClientRequestToken="boto3-once")
        found = client.transact_get_items(TransactItems=[{"Get": {"TableName": "game", "Key": key}}])
        self.assertEqual(found["Responses"], [{"Item": {**key, "n": {"N": "1"}}}])
        error = self.refused(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed]",
            client.transact_write_items,
            TransactItems=[{"Put": {"TableName": "game", "Item": key, "ConditionExpression": "attribute_not_exists(PK)",
                                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}])
        self.assertIsInstance(error, client.exceptions.TransactionCanceledException)
        self.assertEqual(error.response["CancellationReasons"][0]["Item"], {**key, "n": {"N": "1"}})

    def test_time_to_live(self):
        set_expiry = lambda on: client.update_time_to_live(
            TableName="game", TimeToLiveSpecification={"AttributeName": "expires", "Enabled": on})
        self.assertEqual(set_expiry(True)["TimeToLiveSpecification"], {"AttributeName": "expires", "Enabled": True})
        self.assertEqual(client.describe_time_to_live(TableName="game")["TimeToLiveDescription"],
                         {"AttributeName": "expires", "TimeToLiveStatus": "ENABLED"})
        key = {"PK": "ending", "SK": "1"}
        self.game.put_item(Item={**key, "expires": Decimal("%.3f" % (time.time() + 0.2))})
        until = time.time() + 60
        while "Item" in self.game.get_item(Key=key):
            self.assertLess(time.time(), until)
            time.sleep(0.05)
        set_expiry(False)

    def test_indexes(self):
        answer = self.game.query(IndexName="byScore", KeyConditionExpression=Key("board").eq("main") & Key("score").gte(Decimal("2.5")),
                                 ScanIndexForward=False, ReturnConsumedCapacity="INDEXES")
        expected = sorted((i for i in range(60) if i % 2 and i % 7 >= 5), key=lambda i: i % 7, reverse=True)
        self.assertEqual([item["score"] for item in answer["Items"]], [Decimal(i % 7) / 2 for i in expected])
        self.assertEqual(set(answer["Items"][0]), {"PK", "SK", "board", "score", "name"})
        self.assertIn("byScore", answer["ConsumedCapacity"]["GlobalSecondaryIndexes"])
        local = self.game.query(IndexName="byCreated", KeyConditionExpression=Key("PK").eq("cond") & Key("created").lt(945), ConsistentRead=True)
        self.assertEqual([int(item["n"]) for item in local["Items"]], [59, 58, 57, 56])
        self.refused("ValidationException", "Consistent reads are not supported on global secondary indexes", self.game.query,
                     IndexName="byScore", KeyConditionExpression=Key("board").eq("main"), ConsistentRead=True)

    def test_paginators(self):
        pages = list(client.get_paginator("query").paginate(
            TableName="game", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "cond"}}, PaginationConfig={"PageSize": 11}))
        self.assertEqual(len(pages), 6)
        self.assertEqual([item["n"]["N"] for page in pages for item in page["Items"]], [str(i) for i in range(60)])
        paginator = client.get_paginator("scan")
        only = dict(TableName="game", FilterExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "cond"}})
        first = paginator.paginate(**only, PaginationConfig={"PageSize": 10, "MaxItems": 25}).build_full_result()
        self.assertEqual(len(first["Items"]), 25)
        rest = paginator.paginate(**only, PaginationConfig={"PageSize": 10, "StartingToken": first["NextToken"]}).build_full_result()
        seen = [item["SK"]["S"] for part in (first, rest) for item in part["Items"]]
        self.assertEqual(sorted(seen), [f"{i:03}" for i in range(60)])
        counted = sum(page["Count"] for page in paginator.paginate(**only, Select="COUNT", PaginationConfig={"PageSize": 7}))
        self.assertEqual(counted, 60)


class Batches(Case):
    def test_batch_writer_writes_deletes_and_drops_duplicates(self):
        with self.game.batch_writer(overwrite_by_pkeys=["PK", "SK"]) as batch:
            for i in range(130):
                batch.put_item(Item={"PK": "batch", "SK": f"{i % 110:03}", "n": i})
        self.assertEqual(self.game.query(KeyConditionExpression=Key("PK").eq("batch"), Select="COUNT")["Count"], 110)
        with self.game.batch_writer() as batch:
            for i in range(100):
                batch.delete_item(Key={"PK": "batch", "SK": f"{i:03}"})
        left = self.game.query(KeyConditionExpression=Key("PK").eq("batch"))["Items"]
        self.assertEqual([item["SK"] for item in left], [f"{i:03}" for i in range(100, 110)])
        self.refused("ValidationException", "Provided list of item keys contains duplicates", resource.batch_write_item,
                     RequestItems={"game": [{"PutRequest": {"Item": left[0]}}, {"DeleteRequest": {"Key": {"PK": "batch", "SK": "100"}}}]})

    def test_batch_get(self):
        with self.game.batch_writer() as batch:
            for i in range(20):
                batch.put_item(Item={"PK": "bget", "SK": str(i), "n": i})
        answer = resource.batch_get_item(RequestItems={
            "game": {"Keys": [{"PK": "bget", "SK": str(i)} for i in range(25)], "ProjectionExpression": "n"}}, ReturnConsumedCapacity="TOTAL")
        self.assertEqual(sorted(item["n"] for item in answer["Responses"]["game"]), list(range(20)))
        self.assertEqual(answer["UnprocessedKeys"], {})
        # 20 half units for what is there and one half for each that is not
        self.assertEqual(answer["ConsumedCapacity"], [{"TableName": "game", "CapacityUnits": 12.5}])


class Errors(Case):
    def test_codes_and_messages(self):
        key = {"PK": {"S": "a"}, "SK": {"S": "b"}}
        for code, message, call, arguments in [
            ("ResourceNotFoundException", "Requested resource not found", client.get_item, dict(TableName="none", Key=key)),
            ("ResourceNotFoundException", None, client.update_table, dict(TableName="none", BillingMode="PAY_PER_REQUEST")),
            ("ValidationException", "The provided key element does not match the schema", client.get_item,
             dict(TableName="game", Key={"PK": {"S": "a"}})),
            ("ValidationException", "Query condition missed key schema element: PK", client.query,
             dict(TableName="game", KeyConditionExpression="SK = :s", ExpressionAttributeValues={":s": {"S": "x"}})),
            ("ValidationException", 'Invalid UpdateExpression: Syntax error; token: "SETS", near: "SETS n"', client.update_item,
             dict(TableName="game", Key=key, UpdateExpression="SETS n = :n", ExpressionAttributeValues={":n": {"N": "1"}})),
            ("ValidationException", "Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: name", client.scan,
             dict(TableName="game", FilterExpression="name = :n", ExpressionAttributeValues={":n": {"S": "x"}})),
            ("ValidationException", "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}", client.scan,
             dict(TableName="game", FilterExpression="a = :a", ExpressionAttributeValues={":a": {"S": "x"}, ":b": {"S": "x"}})),
            ("ValidationException", "The parameter cannot be converted to a numeric value: one", client.put_item,
             dict(TableName="game", Item={**key, "n": {"N": "one"}})),
            ("ValidationException", "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes", client.put_item,
             dict(TableName="game", Item={**key, "n": {}})),
        ]:
            with self.subTest(message):
                self.refused(code, message, call, **arguments)

    def test_a_request_id_comes_with_each_answer(self):
        self.assertRegex(client.list_tables()["ResponseMetadata"]["RequestId"], r"^[A-Z0-9]{52}$")
        error = self.refused("ResourceNotFoundException", None, client.describe_table, TableName="none")
        self.assertRegex(error.response["ResponseMetadata"]["RequestId"], r"^[A-Z0-9]{52}$")


class Wire(Case):
    def test_compressed_answers_pass_the_checksum(self):
        text = "all work and no play " * 5000
        self.game.put_item(Item={"PK": "gzip", "SK": "1", "text": text})
        answer = self.game.get_item(Key={"PK": "gzip", "SK": "1"})
        self.assertEqual(answer["Item"]["text"], text)
        headers = answer["ResponseMetadata"]["HTTPHeaders"]
        self.assertIn("x-amz-crc32", headers)

    def test_checksum_of_a_gzipped_answer_is_of_its_bytes(self):
        self.game.put_item(Item={"PK": "gzip", "SK": "2", "text": "x" * 10000})
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.endpoint).netloc, timeout=10)
        body = json.dumps({"TableName": "game", "Key": {"PK": {"S": "gzip"}, "SK": {"S": "2"}}}).encode()
        connection.request("POST", "/", gzip.compress(body), {
            "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.GetItem", "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/x/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
            "Content-Encoding": "gzip", "Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        packed = answer.read()
        connection.close()
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertEqual(int(answer.headers["x-amz-crc32"]), zlib.crc32(packed))
        self.assertEqual(json.loads(gzip.decompress(packed))["Item"]["text"]["S"], "x" * 10000)

    def test_no_answer_was_tried_twice(self):
        answers = [client.list_tables(), self.game.get_item(Key={"PK": "none", "SK": "1"}), self.game.scan(Limit=50)]
        self.assertEqual([answer["ResponseMetadata"]["RetryAttempts"] for answer in answers], [0, 0, 0])

    def test_an_error_of_the_caller_is_not_tried_again(self):
        again = boto3.client("dynamodb", endpoint_url=server.endpoint, region_name="eu-central-1", aws_access_key_id="any",
                             aws_secret_access_key="any", config=Config(retries={"mode": "standard", "total_max_attempts": 5}))
        with self.assertRaises(ClientError) as caught:
            again.describe_table(TableName="none")
        self.assertEqual(caught.exception.response["ResponseMetadata"]["RetryAttempts"], 0)
        again.close()

    def test_many_threads_share_a_client(self):
        key = {"PK": {"S": "threads"}, "SK": {"S": "1"}}

        def add(_):
            client.update_item(TableName="game", Key=key, UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": {"N": "1"}})

        with ThreadPoolExecutor(10) as pool:
            list(pool.map(add, range(200)))
        self.assertEqual(client.get_item(TableName="game", Key=key)["Item"]["n"]["N"], "200")


if __name__ == "__main__":
    unittest.main()
