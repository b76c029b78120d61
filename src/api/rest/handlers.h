/* Who answers what: the functions of the routes, by file. */
#ifndef GT_API_REST_HANDLERS_H
#define GT_API_REST_HANDLERS_H

#include "api/rest/call.h"

typedef enum status rest_handler(struct rest_call *call);

rest_handler rest_index_get, rest_openapi_get; /* openapi.c */
rest_handler rest_boards_list, rest_boards_create, rest_boards_get, rest_boards_put,
    rest_boards_patch, rest_boards_delete;
rest_handler rest_entries_list, rest_entries_clear, rest_entries_query, rest_entry_get,
    rest_entry_delete, rest_entry_around;
rest_handler rest_board_rank, rest_board_percentile, rest_board_histogram,
    rest_board_periods;                          /* figures.c */
rest_handler rest_entries_load;                  /* load.c */
rest_handler rest_entry_put, rest_scores_submit; /* scores.c */
rest_handler rest_scores_batch;                  /* batch.c */
rest_handler rest_players_find, rest_players_create, rest_players_get, rest_players_put,
    rest_players_patch;
rest_handler rest_players_erase, rest_players_stats, rest_players_boards,
    rest_players_plays; /* player_data.c */
rest_handler rest_players_export, rest_players_hide, rest_players_show, rest_players_token;
rest_handler rest_plays_open, rest_plays_get, rest_plays_end, rest_plays_of_game; /* plays.c */
rest_handler rest_kinds_list, rest_rooms_list, rest_rooms_create, rest_rooms_get, rest_rooms_join,
    rest_rooms_leave, rest_rooms_close; /* rooms.c */
rest_handler rest_server_get;           /* server.c */

#endif
