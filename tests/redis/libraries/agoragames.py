"""agoragames' leaderboard (PyPI) in the ways of its documentation. Prints what it was told as JSON:
python3 agoragames.py PORT"""
import json
import sys

from leaderboard.competition_ranking_leaderboard import CompetitionRankingLeaderboard
from leaderboard.leaderboard import Leaderboard
from leaderboard.tie_ranking_leaderboard import TieRankingLeaderboard

PORT = int(sys.argv[1])
told = []


def text(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {text(key): text(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [text(each) for each in value]
    return value


def note(name, value):
    told.append([name, text(value)])


def play(kind, order):
    name = "%s %s" % (kind.__name__, order)
    board = kind(name, host="127.0.0.1", port=PORT, order=order, page_size=4)
    for i in range(1, 12):
        board.rank_member("member_%d" % i, i // 2, "data %d" % i)
    board.rank_members(["more_1", 3, "more_2", 50.5])
    note(name + " total", [board.total_members(), board.total_pages(), board.total_scores()])
    note(name + " in range", board.total_members_in_score_range(2, 4))
    for member in ("member_1", "member_6", "more_2", "nobody"):
        note(name + " member", [board.score_for(member), board.check_member(member), board.member_data_for(member)])
        if member != "nobody":
            note(name + " rank", board.rank_for(member))
            note(name + " around", board.around_me(member, with_member_data=True))
            note(name + " page", [board.page_for(member), board.percentile_for(member)])
    note(name + " leaders", [board.leaders(page, with_member_data=True) for page in (1, 2, 3, 9)])
    note(name + " all", board.all_leaders())
    note(name + " top", board.top(3))
    note(name + " at", board.member_at(2))
    note(name + " by score", board.members_from_score_range(1, 3))
    note(name + " by rank", board.members_from_rank_range(2, 5))
    note(name + " in list", board.ranked_in_list(["member_3", "member_7"], sort_by="rank"))
    note(name + " percentile", board.score_for_percentile(50))
    board.update_member_data("member_1", "changed")
    board.remove_member_data("member_2")
    note(name + " data", board.members_data_for(["member_1", "member_2", "member_3"]))
    board.change_score_for("member_1", 7)
    note(name + " changed", [board.score_and_rank_for("member_1")])
    board.rank_member_if(lambda *args: True, "conditional", 4, "x")
    board.rank_member_if(lambda *args: False, "not so", 4, "x")
    board.remove_members_in_score_range(4, 5)
    note(name + " removed", board.all_leaders())
    board.remove_members_outside_rank(3)
    note(name + " kept", board.all_leaders())
    board.remove_member("more_2")
    note(name + " total", board.total_members())
    board.expire_leaderboard(1000)
    note(name + " expires", [0 < board.redis_connection.ttl(name) <= 1000])
    other = kind(name + " other", host="127.0.0.1", port=PORT, order=order)
    other.rank_member("member_1", 100)
    other.rank_member("guest", 1)
    board.merge_leaderboards(name + " merged", [name + " other"])
    board.intersect_leaderboards(name + " both", [name + " other"])
    for made in ("merged", "both"):
        note(name + " " + made, kind(name + " " + made, host="127.0.0.1", port=PORT, order=order).all_leaders())
    board.delete_leaderboard()
    note(name + " deleted", board.total_members())


Leaderboard("x", host="127.0.0.1", port=PORT).redis_connection.flushall()
for kind in (Leaderboard, TieRankingLeaderboard, CompetitionRankingLeaderboard):
    for order in ("desc", "asc"):
        play(kind, order)
print(json.dumps(told))
