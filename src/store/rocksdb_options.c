/* How the database is set up, and why. Figures are of bench/bench_store. */
#include "base/limits.h"
#include "store/store_int.h"

enum {
    KB = 1024,
    MB = 1024 * KB,
    MEMORY_CACHE = 8 * MB,
    MERGE_READ = 512 * KB, /* that a merge reads of a table at a time, rather than block by block */
    ITEMS_BUFFER = 32 * MB, /* for what is not ingested (table_writer.c): most often in one go */
    STREAM_BUFFER = 16 * MB,
    META_BUFFER = 4 * MB,
    BLOCK_SIZE = 4 * KB,
    WALKED_BLOCK = 16 * KB,
};

enum { INFO_LEVEL_HEADER = 5, RECOVER_POINT_IN_TIME = 2 };

static void set_point_reads(rocksdb_block_based_table_options_t *table) {
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));
    rocksdb_block_based_options_set_whole_key_filtering(table, 1);
}

/* Only walked: nobody asks for one key, so that there is no filter to make, and blocks are larger.
 * No block has a hash of its keys: it has three places to begin a search at, among which a hash
 * finds nothing faster, but each merge and each handover would have to make it. */
static void set_tables(rocksdb_options_t *options, rocksdb_cache_t *cache, bool walked) {
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_block_size(table, walked ? WALKED_BLOCK : BLOCK_SIZE);
    if (!walked)
        set_point_reads(table);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
}

/* The database's own log of events stays empty: above all levels of its lines, so that none is
 * written. A line that met a full disk would be followed by an assertion in Debian's build, and the
 * process with all its readers would end. What matters of it comes back as errors of the calls. The
 * file itself has to be there, unless all is opened for reading only. */
static void set_no_events(rocksdb_options_t *options) {
    rocksdb_options_set_info_log_level(options, INFO_LEVEL_HEADER);
    rocksdb_options_set_keep_log_file_num(options, 1);
}

static void set_files(rocksdb_options_t *options) {
    rocksdb_options_set_max_open_files(options, -1); /* no look-up of the file on each read */
    rocksdb_options_set_max_file_opening_threads(options, 2);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_max_manifest_file_size(options, 4 * MB);
    set_no_events(options);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_bytes_per_sync(options, 1 * MB); /* no burst that commits wait behind */
}

/* The database has no log of its own: what it was handed over is in tables when it counts, and the
 * commit log has it until then. But a folder of format 3 or less has one. A write that was under
 * way when the power went is a torn end of it: point-in-time recovery leaves it out. An opening
 * replays it and always writes what it held into tables, which are synced, before anything else is
 * done to them; this must stay so. */
static void set_log(rocksdb_options_t *options) {
    rocksdb_options_set_wal_recovery_mode(options, RECOVER_POINT_IN_TIME);
}

static void set_memory(rocksdb_options_t *options, size_t buffer) {
    rocksdb_options_set_write_buffer_size(options, buffer);
    rocksdb_options_set_max_write_buffer_number(options, 3);
    rocksdb_options_set_arena_block_size(options, 256 * KB); /* an idle store stays small */
}

/* Nothing is compressed: a block that the cache has not is mostly in the system's, from where it is
 * one copy. What compressed blocks would cost and save has not been measured. Tables are not mapped
 * into memory (decision 18): what the disk cannot read any more would end the process rather than
 * fail the request. */
static void set_levels(rocksdb_options_t *options) {
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_target_file_size_base(options, 64 * MB);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_compaction_readahead_size(options, MERGE_READ);
}

/* Tables as they were written out, so many of which are merged at once. Each is one more that a
 * read may have to look into; but each merge also writes again much of what it is merged into. A
 * load of 2,000,000 scores spent 3.4 s of its 22 s of processor time on merges with 4 of both, and
 * 0.2 with 8 of items and 16 of the stream, whose records are only walked; of 10,000,000, 13 of
 * 85. A start with 2,000,000 costs the same. */
static void set_first_level(rocksdb_options_t *options, int tables) {
    rocksdb_options_set_level0_file_num_compaction_trigger(options, tables);
    rocksdb_options_set_level0_slowdown_writes_trigger(options, 4 * tables);
    rocksdb_options_set_level0_stop_writes_trigger(options, 8 * tables);
}

/* Merges give way to all else on a busy machine: they take long, and nobody waits for them unless
 * they fall far behind; then handing over waits, and with it those who write, which leaves the
 * processor to them. Flushes keep their priority, since a handover waits for them. */
static void lower_merges(void) {
    rocksdb_env_t *env = rocksdb_create_default_env();
    rocksdb_env_lower_thread_pool_cpu_priority(env);
    rocksdb_env_destroy(env);
}

static void make_objects(struct db_options *options, const struct store_settings *settings) {
    size_t given = settings->block_cache != 0 ? settings->block_cache : (size_t)LIMIT_BLOCK_CACHE;
    options->cache = rocksdb_cache_create_lru(settings->memory ? (size_t)MEMORY_CACHE : given);
    options->env = settings->memory ? rocksdb_create_mem_env() : NULL;
    lower_merges(); /* of memory's too: its threads are the default ones */
    options->read = rocksdb_readoptions_create();
    options->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(options->write, 1);
}

void db_options_init(struct db_options *options, const struct store_settings *settings) {
    make_objects(options, settings);
    options->db = rocksdb_options_create();
    if (options->env != NULL)
        rocksdb_options_set_env(options->db, options->env);
    rocksdb_options_set_create_missing_column_families(options->db, 1);
    set_files(options->db);
    set_log(options->db);
    set_memory(options->db, META_BUFFER);
    set_levels(options->db);
    set_tables(options->db, options->cache, false);
    if (settings->read_only) /* a folder that cannot be: no log of events is written */
        rocksdb_options_set_db_log_dir(options->db, "/dev/null/none");
    for (int i = 0; i < STORE_FAMILIES; i++)
        options->family[i] = rocksdb_options_create_copy(options->db);
    set_memory(options->family[STORE_ITEMS], ITEMS_BUFFER);
    set_memory(options->family[STORE_STREAM], STREAM_BUFFER);
    set_tables(options->family[STORE_STREAM], options->cache, true);
    set_first_level(options->family[STORE_ITEMS], 8);
    set_first_level(options->family[STORE_STREAM], 16);
}

void db_options_release(struct db_options *options) {
    for (int i = 0; i < STORE_FAMILIES; i++)
        rocksdb_options_destroy(options->family[i]);
    rocksdb_options_destroy(options->db);
    rocksdb_readoptions_destroy(options->read);
    rocksdb_writeoptions_destroy(options->write);
    rocksdb_cache_destroy(options->cache);
    if (options->env != NULL)
        rocksdb_env_destroy(options->env);
}
