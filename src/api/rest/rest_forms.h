/* The forms of all bodies and answers. */
#ifndef GT_API_REST_REST_FORMS_H
#define GT_API_REST_REST_FORMS_H

#include "api/rest/rest_form.h"

/* what clients send */
extern const struct form form_board_new, form_board_put, form_board_patch;
extern const struct form form_score, form_entry_put, form_score_batch, form_members;
extern const struct form form_player_new, form_player_put, form_token_ask;
extern const struct form form_play_new, form_play_end;
extern const struct form form_room_new, form_room_join;

/* what they get */
extern const struct form form_index, form_problem;
extern const struct form form_board, form_boards;
extern const struct form form_page, form_one, form_friends, form_rank, form_at, form_histogram;
extern const struct form form_periods, form_instances, form_submitted, form_batch_done, form_loaded,
    form_removed;
extern const struct form form_player, form_players, form_stats, form_player_boards, form_export;
extern const struct form form_erased, form_token;
extern const struct form form_play, form_play_opened, form_plays;
extern const struct form form_server;
extern const struct form form_room, form_seat, form_rooms, form_player_rooms, form_kinds;
extern const struct form form_any_object;
extern const struct form form_console_login, form_console_session, form_key, form_key_new,
    form_key_patch, form_key_made;
extern const struct form form_history, form_operations, form_slow, form_audit, form_keys,
    form_settings, form_clients, form_hot, form_costs;

/* parameters of queries */
extern const struct form_field query_boards[], query_instances[], query_board[], query_page[],
    query_around[], query_detail[], query_rank[], query_histogram[], query_list[], query_players[],
    query_player[], query_entry[], query_rooms[], query_history[], query_slow[], query_hot[],
    query_costs[], query_audit[];

/* The words of the enums, as the game names them. */
extern const char *const words_timeframe[],
    *const words_order[], *const words_keep[], *const words_tie[], *const words_ranking[],
                                                                       *const words_combine[];

#endif
