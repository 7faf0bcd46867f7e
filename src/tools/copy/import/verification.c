/* verification.c - compares the archive with the store after an import. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "tools/copy/import/internal.h"

struct row_count {
    struct sql sql;
    snowflake id;
    int64_t count;
};

static enum err read_row_count(struct tx *tx, void *arg)
{
    struct row_count *q = arg;
    const struct value values[] = { v_id(q->id) };

    q->count = -1;
    return tx_read_int(tx, q->sql, values, 1, &q->count);
}

struct verification {
    struct guild_archive_importer *loader;
    int64_t lines, rows;
};

static int64_t count_rows(struct guild_archive_importer *l, struct sql sql, snowflake id)
{
    struct row_count q = { sql, id, 0 };

    l->failed |= store_run_transaction_and_wait(l->options->store, STORE_READ, l->arena,
                                                read_row_count, &q) != OK;
    arena_reset(l->arena);
    return q.count;
}

static const char COUNT_MESSAGES[] = "select count(*) from messages where channel_id = $1";

struct line_counter {
    const struct guild_copy_skipped_ids *skipped;
    int64_t count;
};

static bool count_line_unless_skipped(void *arg, struct str line, int64_t next_offset,
                                      struct arena *arena)
{
    struct line_counter *c = arg;

    (void)next_offset, (void)arena;
    c->count += !guild_copy_skipped_ids_contain_message(c->skipped, line);
    return true;
}

static bool verify_message_count_of_channel(void *arg, struct str line, int64_t next_offset,
                                            struct arena *arena)
{
    struct verification *v = arg;
    snowflake id = json_member_get_id(line, "id");
    char file[100], what[100], why[200];

    (void)next_offset, (void)arena;
    snprintf(file, sizeof file, "messages/%" PRIu64 ".jsonl", id);
    struct line_counter counter = { .skipped = &v->loader->skipped };
    guild_archive_for_each_line(v->loader->options->archive, file, 0, count_line_unless_skipped,
                                &counter);
    int64_t lines = counter.count;
    int64_t rows = lines ? count_rows(v->loader, SQL(COUNT_MESSAGES), id) : 0;
    v->lines += lines;
    v->rows += rows < lines ? rows : lines;
    if (rows < lines) {
        snprintf(what, sizeof what, "channel %" PRIu64, id);
        snprintf(why, sizeof why, "the archive has %lld messages, the store has %lld",
                 (long long)lines, (long long)rows);
        guild_archive_add_report_line(v->loader->options->archive, what, why);
    }
    return !v->loader->failed;
}

static void verify_message_counts_of_threads(struct guild_archive_importer *l, const char *file,
                                             void *arg)
{
    guild_archive_for_each_line(l->options->archive, file, 0, verify_message_count_of_channel, arg);
}

static const char COUNT_MEMBER_ROWS[] = "select count(*) from members where guild_id = $1";
static const char COUNT_EMOJI_ROWS[] = "select count(*) from emojis where guild_id = $1";
static const char COUNT_STICKER_ROWS[] = "select count(*) from stickers where guild_id = $1";
static const char COUNT_SOUND_ROWS[] = "select count(*) from sounds where guild_id = $1";
static const char COUNT_BAN_ROWS[] = "select count(*) from bans where guild_id = $1";

static const struct verified_list {
    const char *name;
    struct sql count;
} verified_lists[] = {
    { "members", { &COUNT_MEMBER_ROWS } },   { "emojis", { &COUNT_EMOJI_ROWS } },
    { "stickers", { &COUNT_STICKER_ROWS } }, { "sounds", { &COUNT_SOUND_ROWS } },
    { "bans", { &COUNT_BAN_ROWS } },
};

void guild_archive_importer_verify_counts(struct guild_archive_importer *l)
{
    struct verification v = { .loader = l };
    char file[100];

    guild_archive_for_each_line(l->options->archive, "channels.jsonl", 0,
                                verify_message_count_of_channel, &v);
    guild_archive_importer_for_each_thread_list(l, verify_message_counts_of_threads, &v);
    printf("%-10s %lld of %lld\n", "messages", (long long)v.rows, (long long)v.lines);
    for (size_t i = 0; i < COUNT_OF(verified_lists); i++) {
        snprintf(file, sizeof file, "%s.jsonl", verified_lists[i].name);
        int64_t lines = guild_archive_count_lines(l->options->archive, file);
        int64_t rows = count_rows(l, verified_lists[i].count, l->conversion.guild);

        if (lines)
            printf("%-10s %lld of %lld\n", verified_lists[i].name,
                   (long long)(rows < lines ? rows : lines), (long long)lines);
    }
}
