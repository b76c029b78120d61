/* Forms of boards and scores. */
#include "api/rest/rest_forms.h"
#include "api/rest/rest_route.h"
#include "base/limits.h"
#include "game/board/standings.h"
#include "game/board/submit.h"

const char *const words_timeframe[] = {"all-time", "hourly", "daily", "weekly",
                                       "monthly",  "season", NULL};
const char *const words_order[] = {"high", "low", NULL};
const char *const words_keep[] = {"best", "latest", "sum", "first", NULL};
const char *const words_tie[] = {"earliest", "member", NULL};
const char *const words_ranking[] = {"ordinal", "competition", "dense", NULL};
const char *const words_combine[] = {"sum", "best", NULL};
static const char *const words_detail[] = {"full", "ranks", NULL};
static const char *const words_numbers[] = {"number", "string", NULL};

#define LIFE_MAX INT64_C(3153600000) /* a hundred years */
#define ID_TEXT  1, LIMIT_BOARD_ID

/* --- definitions --- */

static const struct form_field season_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, "What the period is called", 1, 64},
    {"starts", FORM_TIME, FORM_REQUIRED, "Its first moment"},
    {"ends", FORM_TIME, FORM_REQUIRED, "The moment after its last"},
    {0},
};
static const struct form form_season = {"Season", "A period with a name of its own", season_fields};

#define BOARD_FIELDS(optional)                                                                       \
    {"title", FORM_TEXT, optional, "For people", 0, 256},                                            \
        {"timeframe", FORM_CHOICE, optional, "When it begins anew; all-time unless told",            \
         .choices = words_timeframe},                                                                \
        {"timeZone", FORM_TEXT, optional, "In which its days begin: Europe/Berlin; UTC unless told", \
         0,          64},                                                                            \
        {"seasons",                                                                                  \
         FORM_LIST,                                                                                  \
         optional,                                                                                   \
         "With timeframe season: in order, not overlapping",                                         \
         0,                                                                                          \
         BOARD_SEASONS_MAX,                                                                          \
         .form = &form_season,                                                                       \
         .element = FORM_OBJECT},                                                                    \
        {"scopes",                                                                                   \
         FORM_LIST,                                                                                  \
         optional,                                                                                   \
         "What it is kept for: global, kinds such as room (for room:AB12), or *; global unless "     \
         "told",                                                                                     \
         0,                                                                                          \
         BOARD_SCOPES_MAX,                                                                           \
         .element = FORM_TEXT},                                                                      \
        {"order", FORM_CHOICE, optional, "Who is first; high unless told",                           \
         .choices = words_order},                                                                    \
        {"keep", FORM_CHOICE, optional, "Which of a member's scores stays; best unless told",        \
         .choices = words_keep},                                                                     \
        {"ties", FORM_CHOICE, optional, "Who of equals stands first; earliest unless told",          \
         .choices = words_tie},                                                                      \
        {"ranking", FORM_CHOICE, optional,                                                           \
         "Ranks of equals: ordinal 1234, competition 1224, dense 1223; ordinal unless told",         \
         .choices = words_ranking},                                                                  \
        {"scoreMin", FORM_NUMBER, optional, "The least score that is taken"},                        \
        {"scoreMax", FORM_NUMBER, optional, "The greatest"},                                         \
        {"decimals", FORM_COUNT, optional, "Digits after the point; any if null", 0, 38},            \
        {"subscores", FORM_FLAG, optional,                                                           \
         "Whether scores have a second part, compared after the first"},                             \
        {"entryLifeSeconds",                                                                         \
         FORM_COUNT,                                                                                 \
         optional,                                                                                   \
         "How long an entry stays after its last improvement; 0: for ever",                          \
         0,                                                                                          \
         LIFE_MAX},                                                                                  \
        {"periodLifeSeconds",                                                                        \
         FORM_COUNT,                                                                                 \
         optional,                                                                                   \
         "How long a period stays after it ended; 0: for ever",                                      \
         0,                                                                                          \
         LIFE_MAX},                                                                                  \
        {"needsPlay", FORM_FLAG, optional, "Scores are taken only with the token of a play"},        \
        {"playMinMs", FORM_COUNT, optional, "How long such a play must have lasted", 0, LIFE_MAX},   \
        {"playLifeSeconds",                                                                          \
         FORM_COUNT,                                                                                 \
         optional,                                                                                   \
         "How long after a play began its token is taken; a day unless told",                        \
         1,                                                                                          \
         LIFE_MAX},                                                                                  \
        {"playScoreMax", FORM_NUMBER, optional, "The most that one play may bring"},                 \
        {"sources", FORM_LIST,           optional, "Boards that this one is made of", 0,             \
         50,        .element = FORM_TEXT},                                                           \
    {                                                                                                \
        "combine", FORM_CHOICE, optional, "How: the sum or the best of them",                        \
            .choices = words_combine                                                                 \
    }

static const struct form_field board_new_fields[] = {
    {"id", FORM_TEXT, FORM_REQUIRED, "Letters, digits and _ . : -", ID_TEXT},
    {"game", FORM_TEXT, FORM_REQUIRED, "Whose scores it keeps", ID_TEXT},
    BOARD_FIELDS(FORM_NULLABLE),
    {0},
};
const struct form form_board_new = {"BoardNew", "A board to make", board_new_fields};

static const struct form_field board_put_fields[] = {
    {"id", FORM_TEXT, 0, "As in the path, if it is given", ID_TEXT},
    {"game", FORM_TEXT, FORM_REQUIRED, "Whose scores it keeps", ID_TEXT},
    BOARD_FIELDS(FORM_NULLABLE),
    {0},
};
const struct form form_board_put = {"BoardPut", "How a board is to be", board_put_fields};

static const struct form_field board_patch_fields[] = {
    {"game", FORM_TEXT, 0, "Whose scores it keeps", ID_TEXT},
    BOARD_FIELDS(FORM_NULLABLE),
    {0},
};
const struct form form_board_patch = {
    "BoardPatch",
    "What of a board is to change; null takes a member back to what it is unless told",
    board_patch_fields};

static const struct form_field period_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED,
     "2026-11-16, 2026-W47, 2026-11, 2026-11-16T13, or a season's"},
    {"starts", FORM_TIME, FORM_REQUIRED, "Its first moment"},
    {"ends", FORM_TIME, FORM_REQUIRED, "The moment after its last"},
    {0},
};
static const struct form form_period = {"Period", "From when to when", period_fields};

static const struct form_field board_fields[] = {
    {"id", FORM_TEXT, FORM_REQUIRED, "Its name"},
    {"game", FORM_TEXT, 0, "Whose scores it keeps"},
    BOARD_FIELDS(0),
    {"current", FORM_OBJECT, FORM_NULLABLE, "The present period; null between seasons",
     .form = &form_period},
    {"createdAt", FORM_TIME, 0, "When it was made"},
    {"changedAt", FORM_TIME, 0, "When it was last changed"},
    {0},
};
const struct form form_board = {"Board", "A board", board_fields};

static const struct form_field boards_fields[] = {
    {"boards", FORM_LIST, FORM_REQUIRED, "By id", .form = &form_board, .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of the next page; none after the last"},
    {0},
};
const struct form form_boards = {"Boards", "A page of boards", boards_fields};

/* --- entries --- */

#define WHICH_FIELDS                                                                  \
    {"board", FORM_TEXT, FORM_REQUIRED, "Its id"},                                    \
        {"instance", FORM_TEXT, FORM_REQUIRED, "Its name in full: ID/SCOPE@PERIOD"},  \
        {"scope", FORM_TEXT, 0, "Not for the global one"},                            \
        {"period", FORM_TEXT, 0, "Not of an all-time board"},                         \
        {"starts", FORM_TIME, 0, "The period's first moment"},                        \
        {"ends", FORM_TIME, 0, "The moment after its last"}, {                        \
        "sealed", FORM_FLAG, FORM_REQUIRED, "Whether it has ended and stays as it is" \
    }

#define STANDING_FIELDS                                                                         \
    {"member", FORM_TEXT, FORM_REQUIRED, "Whose it is"},                                        \
        {"memberEncoded", FORM_TEXT, 0, "The member as in a path, if it is not text"},          \
        {"rank", FORM_COUNT, 0, "From 1, as the board ranks equals; absent while it is built"}, \
        {"position", FORM_COUNT, 0, "From 1, whatever the ties; likewise"},                     \
        {"score", FORM_NUMBER, FORM_REQUIRED, "Exact"},                                         \
        {"subscore", FORM_NUMBER, 0, "Where the board has them"},                               \
        {"percentile", FORM_NUMBER, FORM_SHARE,                                                 \
         "Share of the others that it is ahead of or equal to"},                                \
        {"name", FORM_TEXT, 0, "As shown"}, {"at", FORM_TIME, 0, "When it was last improved"},  \
        {"ends", FORM_TIME, 0, "When it goes by itself, if it does"},                           \
        {"plays", FORM_COUNT, 0, "How many submissions it has seen"},                           \
        {"hidden", FORM_FLAG, 0, "Stands in no ranking"}, {                                     \
        "meta", FORM_MAP, 0, "What was submitted with it"                                       \
    }

static const struct form_field standing_fields[] = {STANDING_FIELDS, {0}};
static const struct form form_standing = {"Entry", "An entry and where it stands", standing_fields};

static const struct form_field friend_fields[] = {
    STANDING_FIELDS,
    {"among", FORM_COUNT, FORM_REQUIRED, "Its rank among those asked for"},
    {0},
};
static const struct form form_friend = {"Friend", "An entry among others", friend_fields};

static const struct form_field page_fields[] = {
    WHICH_FIELDS,
    {"total", FORM_COUNT, FORM_REQUIRED, "Entries on the board"},
    {"entries", FORM_LIST, FORM_REQUIRED, "The first first", .form = &form_standing,
     .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of what follows; none at the end"},
    {"previous", FORM_TEXT, 0, "The cursor of what stands before; none at the beginning"},
    {0},
};
const struct form form_page = {"Entries", "A page of a board", page_fields};

static const struct form_field one_fields[] = {
    WHICH_FIELDS,
    {"total", FORM_COUNT, 0, "Entries on the board"},
    {"unranked", FORM_FLAG, 0, "Its ranking is being built: ranks and total are not known yet"},
    {"entry", FORM_OBJECT, FORM_REQUIRED, NULL, .form = &form_standing},
    {0},
};
const struct form form_one = {"EntryOfBoard", "One entry of a board", one_fields};

static const struct form_field friends_fields[] = {
    WHICH_FIELDS,
    {"total", FORM_COUNT, FORM_REQUIRED, "Entries on the board"},
    {"entries", FORM_LIST, FORM_REQUIRED, "Those that are on the board, the first first",
     .form = &form_friend, .element = FORM_OBJECT},
    {0},
};
const struct form form_friends = {"Friends", "Members ranked among themselves", friends_fields};

static const struct form_field members_fields[] = {
    {"members", FORM_LIST, FORM_REQUIRED, "Whom to look for", 1, STANDINGS_MEMBERS_MAX,
     .element = FORM_TEXT},
    {0},
};
const struct form form_members = {"Members", "Whom to look for", members_fields};

static const struct form_field rank_fields[] = {
    WHICH_FIELDS,
    {"score", FORM_NUMBER, FORM_REQUIRED, "As asked"},
    {"subscore", FORM_NUMBER, 0, "As asked"},
    {"rank", FORM_COUNT, FORM_REQUIRED, "What it would be if it was submitted now"},
    {"total", FORM_COUNT, FORM_REQUIRED, "Entries on the board"},
    {0},
};
const struct form form_rank = {"RankOfScore", "The rank a score would have", rank_fields};

static const struct form_field at_fields[] = {
    WHICH_FIELDS,
    {"percentile", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, "As asked"},
    {"entry", FORM_OBJECT, FORM_REQUIRED, NULL, .form = &form_standing},
    {0},
};
const struct form form_at = {"EntryAtPercentile", "Who stands at a percentile", at_fields};

static const struct form_field bucket_fields[] = {
    {"from", FORM_NUMBER, FORM_REQUIRED, "The least score of the step"},
    {"to", FORM_NUMBER, FORM_REQUIRED, "Where the next one begins; of the last the greatest score"},
    {"count", FORM_COUNT, FORM_REQUIRED, "Entries in it"},
    {0},
};
static const struct form form_bucket = {"Bucket", "A step of a histogram", bucket_fields};

static const struct form_field histogram_fields[] = {
    WHICH_FIELDS,
    {"total", FORM_COUNT, FORM_REQUIRED, "Entries on the board"},
    {"buckets", FORM_LIST, FORM_REQUIRED, "From the least score to the greatest",
     .form = &form_bucket, .element = FORM_OBJECT},
    {0},
};
const struct form form_histogram = {"Histogram", "How scores are distributed", histogram_fields};

static const struct form_field past_fields[] = {
    WHICH_FIELDS,
    {"sealedAt", FORM_TIME, 0, "When it was sealed"},
    {"total", FORM_COUNT, FORM_REQUIRED, "Entries"},
    {"first", FORM_LIST, FORM_REQUIRED, "The first ten", .form = &form_standing,
     .element = FORM_OBJECT},
    {0},
};
static const struct form form_past = {"PeriodOfBoard", "A period of a board", past_fields};

static const struct form_field periods_fields[] = {
    {"periods", FORM_LIST, FORM_REQUIRED, "By scope, then by time", .form = &form_past,
     .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of the next page"},
    {0},
};
const struct form form_periods = {"Periods", "Periods that have entries", periods_fields};

static const struct form_field instance_fields[] = {
    WHICH_FIELDS,
    {"instanceEncoded", FORM_TEXT, 0, "Of a name that is not text: %-encoded, as in a path"},
    {"plain", FORM_FLAG, FORM_REQUIRED, "Whether it has no definition: its first entry made it"},
    {"total", FORM_COUNT, FORM_REQUIRED, "Entries"},
    {0},
};
static const struct form form_instance = {"Instance", "A list of entries", instance_fields};

static const struct form_field instances_fields[] = {
    {"instances", FORM_LIST, FORM_REQUIRED, "By name", .form = &form_instance,
     .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of the next page, also of one with less than asked for"},
    {0},
};
const struct form form_instances = {"Instances", "A page of instances", instances_fields};

/* --- submissions --- */

#define POINTS_FIELDS                                                                   \
    {"score", FORM_NUMBER, FORM_REQUIRED, "Exact: 38 digits, as a number or a string"}, \
        {"subscore", FORM_NUMBER, FORM_NULLABLE, "Compared after the score"},           \
        {"name", FORM_TEXT, FORM_NULLABLE, "As shown on the board", 0, 256},            \
        {"meta", FORM_MAP, FORM_NULLABLE, "What to keep with it"},                      \
        {"scopes",                                                                      \
         FORM_LIST,                                                                     \
         FORM_NULLABLE,                                                                 \
         "Where else it counts besides global: room:AB12",                              \
         0,                                                                             \
         SUBMIT_SCOPES_MAX,                                                             \
         .element = FORM_TEXT},                                                         \
    {                                                                                   \
        "playToken", FORM_TEXT, FORM_NULLABLE, "Of the play it comes from", 1, 1024     \
    }

static const struct form_field score_fields[] = {
    {"player", FORM_TEXT, 0, "Whose score it is; left out by a player with a token", 1, 1000},
    POINTS_FIELDS,
    {0},
};
const struct form form_score = {"Score", "A score for all boards of a game", score_fields};

static const struct form_field entry_put_fields[] = {POINTS_FIELDS, {0}};
const struct form form_entry_put = {"EntryPut", "A score for one board", entry_put_fields};

static const struct form_field batch_score_fields[] = {
    {"game", FORM_TEXT, 0, "All boards of that game, or", ID_TEXT},
    {"board", FORM_TEXT, 0, "that board", 1, 1024},
    {"player", FORM_TEXT, 0, "Whose score it is; left out by a player with a token", 1, 1000},
    POINTS_FIELDS,
    {"idempotencyKey", FORM_TEXT, FORM_NULLABLE, "As the header of a single submission", 1, 200},
    {0},
};
static const struct form form_batch_score = {"ScoreOfBatch", "One of several", batch_score_fields};
static const struct form_field batch_fields[] = {
    {"scores", FORM_LIST, FORM_REQUIRED, "Each is done or not by itself", 1, 500,
     .form = &form_batch_score, .element = FORM_OBJECT},
    {0},
};
const struct form form_score_batch = {"ScoreBatch", "Up to 500 submissions", batch_fields};

static const struct form_field points_fields[] = {
    {"score", FORM_NUMBER, FORM_REQUIRED, NULL},
    {"subscore", FORM_NUMBER, 0, NULL},
    {0},
};
static const struct form form_points = {"Points", "What a member has", points_fields};

static const struct form_field result_fields[] = {
    WHICH_FIELDS,
    {"accepted", FORM_FLAG, FORM_REQUIRED, "Whether the board took it"},
    {"reason", FORM_TEXT, 0, "Why not"},
    {"before", FORM_OBJECT, 0, "What the member had", .form = &form_points},
    {"after", FORM_OBJECT, 0, "What it has now", .form = &form_points},
    {"rankBefore", FORM_COUNT, 0, "Where it stood"},
    {"rankAfter", FORM_COUNT, 0, "Where it stands"},
    {"total", FORM_COUNT, 0, "Entries on the board"},
    {"unranked", FORM_FLAG, 0, "Its ranking is being built: ranks and total are not known yet"},
    {0},
};
static const struct form form_result = {"ScoreResult", "What came of it on a board", result_fields};

static const struct form_field submitted_fields[] = {
    {"player", FORM_TEXT, FORM_REQUIRED, NULL},
    {"score", FORM_NUMBER, FORM_REQUIRED, NULL},
    {"subscore", FORM_NUMBER, 0, NULL},
    {"repeated", FORM_FLAG, FORM_REQUIRED,
     "The same Idempotency-Key was done before; the results are of now"},
    {"results", FORM_LIST, FORM_REQUIRED, "A board each", .form = &form_result,
     .element = FORM_OBJECT},
    {0},
};
const struct form form_submitted = {"Submitted", "What came of a submission", submitted_fields};

static const struct form_field problem_fields[] = {
    {"type", FORM_TEXT, FORM_REQUIRED, "urn:gametable:problem:..."},
    {"title", FORM_TEXT, FORM_REQUIRED, "The kind of problem"},
    {"status", FORM_COUNT, FORM_REQUIRED, "As in the answer's first line"},
    {"detail", FORM_TEXT, 0, "What is wrong this time"},
    {"member", FORM_TEXT, 0, "Which field of the request it is about"},
    {0},
};
const struct form form_problem = {"Problem", "What is wrong (RFC 9457)", problem_fields};

static const struct form_field batch_result_fields[] = {
    {"submitted", FORM_OBJECT, 0, NULL, .form = &form_submitted},
    {"problem", FORM_OBJECT, 0, NULL, .form = &form_problem},
    {0},
};
static const struct form form_batch_result = {"BatchResult", "One or the other",
                                              batch_result_fields};
static const struct form_field batch_done_fields[] = {
    {"results", FORM_LIST, FORM_REQUIRED, "In the order given", .form = &form_batch_result,
     .element = FORM_OBJECT},
    {0},
};
const struct form form_batch_done = {"BatchDone", "What came of each", batch_done_fields};

static const struct form_field refused_fields[] = {
    {"line", FORM_COUNT, FORM_REQUIRED, "From 1"},
    {"reason", FORM_TEXT, FORM_REQUIRED, NULL},
    {0},
};
static const struct form form_refused = {"RefusedLine", "A line that was not taken",
                                         refused_fields};
static const struct form_field loaded_fields[] = {
    {"lines", FORM_COUNT, FORM_REQUIRED, "How many came"},
    {"added", FORM_COUNT, FORM_REQUIRED, "Members that are new on the board"},
    {"changed", FORM_COUNT, FORM_REQUIRED, "Members whose entry changed"},
    {"kept", FORM_COUNT, FORM_REQUIRED, "Members whose entry stayed, as the board keeps it"},
    {"refused", FORM_COUNT, FORM_REQUIRED, "Lines that were not taken"},
    {"reasons", FORM_LIST, FORM_REQUIRED, "Of the first few", .form = &form_refused,
     .element = FORM_OBJECT},
    {0},
};
const struct form form_loaded = {"Loaded", "What came of many lines", loaded_fields};

/* --- queries --- */

#define PLACE_PARAMETERS                                                                       \
    {"scope", FORM_TEXT, 0, "Of the board: room:AB12; global unless told", 1, 256}, {          \
        "period", FORM_TEXT, 0, "Of the board: 2026-11-16; the present one unless told", 1, 64 \
    }

const struct form_field query_boards[] = {
    {"game", FORM_TEXT, 0, "Only that game's", ID_TEXT},
    {"limit", FORM_COUNT, 0, "At most so many; 100 unless told", 1, 1000},
    {"cursor", FORM_TEXT, 0, "Where an earlier page ended", 1, 4096},
    {0},
};
static const char *const words_truth[] = {"true", "false", NULL};
const struct form_field query_instances[] = {
    {"plain", FORM_CHOICE, 0, "Only those without a definition, or only those with one",
     .choices = words_truth},
    {"limit", FORM_COUNT, 0, "At most so many; 100 unless told", 1, 1000},
    {"cursor", FORM_TEXT, 0, "next of an earlier page", 1, 4096},
    {0},
};
const struct form_field query_board[] = {PLACE_PARAMETERS, {0}};
const struct form_field query_page[] = {
    {"limit", FORM_COUNT, 0, "At most so many; 25 unless told", 1, STANDINGS_MAX},
    {"from", FORM_COUNT, 0, "The position of the first one", 1, INT64_C(1) << 53},
    {"cursor", FORM_TEXT, 0, "next or previous of an earlier page", 1, 4096},
    {"min", FORM_NUMBER, 0, "Only scores from here"},
    {"max", FORM_NUMBER, 0, "Only scores up to here"},
    {"detail", FORM_CHOICE, 0,
     "ranks leaves out names, times and meta, and is answered from memory",
     .choices = words_detail},
    PLACE_PARAMETERS,
    {0},
};
const struct form_field query_around[] = {
    {"each", FORM_COUNT, 0, "How many on either side; 5 unless told", 1, (STANDINGS_MAX - 1) / 2},
    PLACE_PARAMETERS,
    {0},
};
const struct form_field query_detail[] = {
    {"detail", FORM_CHOICE, 0,
     "ranks leaves out names, times and meta, and is answered from memory",
     .choices = words_detail},
    PLACE_PARAMETERS,
    {0},
};
const struct form_field query_rank[] = {
    {"score", FORM_NUMBER, FORM_REQUIRED, "What it would be"},
    {"subscore", FORM_NUMBER, 0, "The second part"},
    PLACE_PARAMETERS,
    {0},
};
const struct form_field query_histogram[] = {
    {"buckets", FORM_COUNT, 0, "How many steps; 20 unless told", 1, HISTOGRAM_MAX},
    PLACE_PARAMETERS,
    {0},
};
const struct form_field query_list[] = {
    {"limit", FORM_COUNT, 0, "At most so many; 25 unless told", 1, 500},
    {"cursor", FORM_TEXT, 0, "next of an earlier page", 1, 4096},
    {0},
};
const struct form_field query_entry[] = {
    {"scope", FORM_TEXT, 0, "Of the board: room:AB12, which alone it then counts for", 1, 256},
    {"period", FORM_TEXT, 0, "Must be the present one, if it is given", 1, 64},
    {0},
};
const struct form_field route_numbers = {
    "numbers", FORM_CHOICE, 0,
    "string tells exact numbers as strings, for clients whose numbers are doubles",
    .choices = words_numbers};
