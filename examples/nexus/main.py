"""Makes the table, plays a few scores and prints the week's board."""

from datetime import datetime, timezone

from nexus import Leaderboards, time_frames

boards = Leaderboards()
try:
    boards.create_table()
except boards.dynamodb.meta.client.exceptions.ResourceInUseException:
    pass  # it is there: scores are submitted again, which changes nothing
at = datetime(2025, 7, 13, 10, 30, tzinfo=timezone.utc)
for user, name, score in [
    ("player123", "CyberNinja", 15750),
    ("0a9f-4eb1", "Glitch", 21300),
    ("player7", "Nova", 9800),
    ("player42", "Zero", 15750),
]:
    boards.submit_score("CyberClash", user, score, name, {"Level": 42, "PlayTime": 3600}, at)

week = time_frames(at)["weekly"]
print(f"CyberClash, {week}")
for entry in boards.top("CyberClash", week):
    rank = boards.rank("CyberClash", week, entry["UserID"])
    percentile = boards.percentile("CyberClash", week, entry["UserID"])
    print(f"  {rank}. {entry['PlayerName']:<12}{entry['Score']:>8}{percentile:>8.1f} %")
around = boards.context("CyberClash", week, "player7", above=1, below=1)
print("around Nova:", ", ".join(entry["PlayerName"] for entry in around))
print("CyberNinja's boards:", ", ".join(entry["PK"].split("#")[2] for entry in boards.boards_of("player123")))
