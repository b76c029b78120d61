/* Everything there is under /v1. */
#include "api/rest/forms.h"
#include "api/rest/handlers.h"
#include "api/rest/route.h"

#define NEW   ROUTE_WRITES | ROUTE_IDEMPOTENT
#define READS ROUTE_TAGGED | ROUTE_SCORES

const struct route rest_routes[] = {
    {"GET", "", "index", "What is here", rest_index_get, MAY_ALL, 0, 0, NULL, NULL, &form_index},
    {"GET", "/openapi.json", "openapi", "This document", rest_openapi_get, MAY_ALL},

    /* boards */
    {"GET", "/boards", "listBoards", "Boards by id", rest_boards_list, MAY_CLIENT, ROUTE_SCORES, 0,
     query_boards, NULL, &form_boards},
    {"POST", "/boards", "createBoard", "Make a board", rest_boards_create, MAY_SERVER,
     NEW | ROUTE_SCORES, 201, NULL, &form_board_new, &form_board},
    {"GET", "/boards/{board}", "getBoard", "A board's definition and present period",
     rest_boards_get, MAY_CLIENT, READS, 0, NULL, NULL, &form_board},
    {"PUT", "/boards/{board}", "putBoard", "Make or replace a board's definition", rest_boards_put,
     MAY_SERVER, NEW | ROUTE_SCORES, 0, NULL, &form_board_put, &form_board},
    {"PATCH", "/boards/{board}", "patchBoard", "Change parts of a board's definition",
     rest_boards_patch, MAY_SERVER, NEW | ROUTE_SCORES, 0, NULL, &form_board_patch, &form_board},
    {"DELETE", "/boards/{board}", "deleteBoard", "Remove a board with all its entries",
     rest_boards_delete, MAY_SERVER, ROUTE_WRITES, 204},

    /* entries */
    {"GET", "/boards/{board}/entries", "listEntries",
     "The first, those from a position, a page by cursor, or those in a window of scores",
     rest_entries_list, MAY_CLIENT, READS, 0, query_page, NULL, &form_page},
    {"DELETE", "/boards/{board}/entries", "clearEntries",
     "Take all entries off a board, as one step for those who read it", rest_entries_clear,
     MAY_SERVER, ROUTE_WRITES, 204, query_board},
    {"POST", "/boards/{board}/entries:query", "queryEntries",
     "Several members, ranked among themselves and on the board", rest_entries_query, MAY_CLIENT,
     ROUTE_SCORES, 0, query_board, &form_members, &form_friends},
    {"POST", "/boards/{board}/entries:load", "loadEntries",
     "Many scores at once, a line each: member,score[,name] or {\"member\",\"score\",\"name\"}",
     rest_entries_load, MAY_SERVER, ROUTE_WRITES | ROUTE_CSV, 0, query_board, NULL, &form_loaded},
    {"GET", "/boards/{board}/entries/{member}", "getEntry", "A member's rank, score and percentile",
     rest_entry_get, MAY_CLIENT, READS, 0, query_detail, NULL, &form_one},
    {"PUT", "/boards/{board}/entries/{member}", "putEntry", "Submit a score to one board",
     rest_entry_put, MAY_PLAYER, NEW | ROUTE_SCORES, 0, query_entry, &form_entry_put,
     &form_submitted},
    {"DELETE", "/boards/{board}/entries/{member}", "deleteEntry", "Take a member off a board",
     rest_entry_delete, MAY_SERVER, ROUTE_WRITES, 204, query_board},
    {"GET", "/boards/{board}/entries/{member}/around", "aroundEntry",
     "A member with those on either side", rest_entry_around, MAY_CLIENT, READS, 0, query_around,
     NULL, &form_page},
    {"GET", "/boards/{board}/rank", "rankOfScore", "The rank a score would have", rest_board_rank,
     MAY_CLIENT, READS, 0, query_rank, NULL, &form_rank},
    {"GET", "/boards/{board}/percentiles/{percentile}", "entryAtPercentile",
     "Who stands at a percentile", rest_board_percentile, MAY_CLIENT, READS, 0, query_board, NULL,
     &form_at},
    {"GET", "/boards/{board}/histogram", "histogram", "How the scores are distributed",
     rest_board_histogram, MAY_CLIENT, READS, 0, query_histogram, NULL, &form_histogram},
    {"GET", "/boards/{board}/periods", "listPeriods",
     "Periods and scopes that have entries, with their first ten", rest_board_periods, MAY_CLIENT,
     ROUTE_SCORES, 0, query_list, NULL, &form_periods},

    /* scores */
    {"POST", "/games/{game}/scores", "submitScore",
     "One score to all boards of a game, in their present periods, in one commit",
     rest_scores_submit, MAY_PLAYER, NEW | ROUTE_SCORES, 0, NULL, &form_score, &form_submitted},
    {"POST", "/scores:batch", "submitScores", "Up to 500 scores, each by itself", rest_scores_batch,
     MAY_PLAYER, NEW | ROUTE_SCORES, 0, NULL, &form_score_batch, &form_batch_done},
    {"GET", "/games/{game}/plays", "listGamePlays", "Plays of a game, the newest first",
     rest_plays_of_game, MAY_SERVER, ROUTE_SCORES, 0, query_list, NULL, &form_plays},

    /* players */
    {"GET", "/players", "findPlayer", "The player of an e-mail address", rest_players_find,
     MAY_SERVER, ROUTE_SCORES, 0, query_email, NULL, &form_players},
    {"POST", "/players", "createPlayer", "Make a player", rest_players_create, MAY_SERVER,
     NEW | ROUTE_SCORES, 201, NULL, &form_player_new, &form_player},
    {"GET", "/players/{player}", "getPlayer", "A player's profile", rest_players_get, MAY_PLAYER,
     ROUTE_SCORES, 0, NULL, NULL, &form_player},
    {"PUT", "/players/{player}", "putPlayer", "Make or replace a player's profile",
     rest_players_put, MAY_PLAYER, NEW | ROUTE_SCORES, 0, NULL, &form_player_put, &form_player},
    {"PATCH", "/players/{player}", "patchPlayer", "Change parts of a player's profile",
     rest_players_patch, MAY_PLAYER, NEW | ROUTE_SCORES, 0, NULL, &form_player_put, &form_player},
    {"DELETE", "/players/{player}", "erasePlayer", "Erase all that is kept about a player",
     rest_players_erase, MAY_SERVER, ROUTE_WRITES, 0, NULL, NULL, &form_erased},
    {"GET", "/players/{player}/stats", "playerStats", "What a player's plays added up to",
     rest_players_stats, MAY_PLAYER, ROUTE_SCORES, 0, NULL, NULL, &form_stats},
    {"GET", "/players/{player}/boards", "playerBoards", "All boards of a player, with its ranks",
     rest_players_boards, MAY_PLAYER, ROUTE_SCORES, 0, query_list, NULL, &form_player_boards},
    {"GET", "/players/{player}/plays", "playerPlays", "A player's plays, the newest first",
     rest_players_plays, MAY_PLAYER, ROUTE_SCORES, 0, query_list, NULL, &form_plays},
    {"GET", "/players/{player}/export", "exportPlayer", "All that is kept about a player, in pages",
     rest_players_export, MAY_PLAYER, ROUTE_SCORES, 0, query_list, NULL, &form_export},
    {"POST", "/players/{player}/hide", "hidePlayer", "Take a player out of all rankings",
     rest_players_hide, MAY_SERVER, ROUTE_WRITES, 204},
    {"POST", "/players/{player}/show", "showPlayer", "Put a hidden player back", rest_players_show,
     MAY_SERVER, ROUTE_WRITES, 204},
    {"POST", "/players/{player}/tokens", "createToken",
     "A token that lets a player speak for itself", rest_players_token, MAY_SERVER,
     ROUTE_WRITES | ROUTE_OPTIONAL, 201, NULL, &form_token_ask, &form_token},

    /* plays */
    {"POST", "/plays", "openPlay", "Open a play; its token is for one submission", rest_plays_open,
     MAY_PLAYER, ROUTE_WRITES | ROUTE_SCORES, 201, NULL, &form_play_new, &form_play_opened},
    {"GET", "/plays/{play}", "getPlay", "A play", rest_plays_get, MAY_PLAYER, ROUTE_SCORES, 0,
     query_player, NULL, &form_play},
    {"POST", "/plays/{play}:end", "endPlay", "End a play without a board", rest_plays_end,
     MAY_PLAYER, NEW | ROUTE_SCORES, 0, NULL, &form_play_end, &form_play},
};
const size_t rest_route_count = sizeof rest_routes / sizeof rest_routes[0];
