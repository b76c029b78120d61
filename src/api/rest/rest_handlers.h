/* Who answers what: the functions of the routes, by file. */
#ifndef GT_API_REST_REST_HANDLERS_H
#define GT_API_REST_REST_HANDLERS_H

#include "api/rest/rest_call.h"

typedef enum status rest_handler(struct rest_call *call);

rest_handler rest_index_get, rest_openapi_get; /* openapi.c */
rest_handler rest_boards_list, rest_boards_create, rest_boards_get, rest_boards_put,
    rest_boards_patch, rest_boards_delete;
rest_handler rest_entries_list, rest_entries_clear, rest_entries_query, rest_entry_get,
    rest_entry_delete, rest_entry_around;
rest_handler rest_board_rank, rest_board_percentile, rest_board_histogram, rest_board_periods,
    rest_board_seal;                             /* rest_board_stats.c */
rest_handler rest_instances_list;                /* rest_instances.c */
rest_handler rest_entries_load;                  /* rest_bulk_load.c */
rest_handler rest_entry_put, rest_scores_submit; /* rest_scores.c */
rest_handler rest_scores_batch;                  /* rest_batch.c */
rest_handler rest_players_find, rest_players_create, rest_players_get, rest_players_put,
    rest_players_patch;
rest_handler rest_players_erase, rest_players_stats, rest_players_boards, rest_players_plays,
    rest_players_rooms; /* rest_player_data.c */
rest_handler rest_players_export, rest_players_hide, rest_players_show, rest_players_token;
rest_handler rest_plays_open, rest_plays_get, rest_plays_end, rest_plays_of_game; /* rest_plays.c */
rest_handler rest_kinds_list, rest_rooms_list, rest_rooms_create, rest_rooms_get, rest_rooms_join,
    rest_rooms_leave, rest_rooms_close;                               /* rest_rooms.c */
rest_handler rest_server_get;                                         /* rest_server.c */
rest_handler rest_console_open, rest_console_get, rest_console_close; /* rest_console.c */
rest_handler rest_history_get, rest_operations_list, rest_slow_list, rest_slow_clear,
    rest_tail_open, rest_audit_list;                                            /* rest_monitor.c */
rest_handler rest_hot_list;                                                     /* rest_hot.c */
rest_handler rest_costs_list;                                                   /* rest_costs.c */
rest_handler rest_keys_list, rest_keys_add, rest_keys_change, rest_keys_remove; /* rest_keys.c */
rest_handler rest_settings_list, rest_clients_list; /* rest_operator.c */

#endif
