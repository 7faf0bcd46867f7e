/* bare_rows.c - inserts message rows into SQLite with the fewest statements.
 *
 *   bare_rows DATABASE GROUP SECONDS
 *
 * The minimal cost of posting messages: rows that a server inserted before are inserted again with
 * new ids, GROUP messages per commit, each with its channel's and author's row, and one sync per
 * commit. Permissions, events, indexes and other readers are left out. The server must not run. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bare.h"

enum { MOST_POSITIONS = 256 };

static const char ADD[] =
    "insert into messages (id, channel_id, author_id, type, content, tts, mention_everyone, "
    "mentions, mention_roles, embeds, components, flags, attachment_count, polled, shown) "
    "select ?1, ?2, ?3, 0, content, 0, 0, mentions, mention_roles, embeds, components, 0, 0, 0, "
    "shown from messages where id = ?4";
static const char LAST[] = "update channels set last_message_id = ?1 where id = ?2";
static const char READ[] =
    "insert into read_states (user_id, kind, entity_id, guild_id, last_id) values (?3, 0, ?2, 0, "
    "?1) on conflict (user_id, kind, entity_id) do update set last_id = excluded.last_id, "
    "mentions = 0";

static sqlite3 *db;
static struct {
    int64_t channel, author;
} positions[MOST_POSITIONS];
static int position_count;
static int64_t model; /* the repeated message */

static void give_up(void)
{
    fprintf(stderr, "bare_rows: %s\n", sqlite3_errmsg(db));
    exit(1);
}

static void run_sql(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        give_up();
}

static sqlite3_stmt *prepare_sql(const char *sql)
{
    sqlite3_stmt *s;

    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL) != SQLITE_OK)
        give_up();
    return s;
}

static void find_channels_and_authors(void)
{
    sqlite3_stmt *s = prepare_sql("select min(channel_id), author_id, max(id) from messages where "
                                  "type = 0 group by author_id");

    while (position_count < MOST_POSITIONS && sqlite3_step(s) == SQLITE_ROW) {
        positions[position_count].channel = sqlite3_column_int64(s, 0);
        positions[position_count++].author = sqlite3_column_int64(s, 1);
        if (sqlite3_column_int64(s, 2) > model)
            model = sqlite3_column_int64(s, 2);
    }
    sqlite3_finalize(s);
    if (!position_count) {
        fprintf(stderr, "bare_rows: there is no message to repeat\n");
        exit(1);
    }
}

static void step_with(sqlite3_stmt *s, int64_t id, int location)
{
    int64_t values[] = { id, positions[location].channel, positions[location].author, model };

    for (int i = 0; i < sqlite3_bind_parameter_count(s); i++)
        sqlite3_bind_int64(s, i + 1, values[i]);
    if (sqlite3_step(s) != SQLITE_DONE || sqlite3_reset(s) != SQLITE_OK)
        give_up();
}

int main(int argc, char **argv)
{
    if (argc != 4 || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: bare_rows DATABASE GROUP SECONDS\n");
        return 2;
    }
    if (sqlite3_open(argv[1], &db) != SQLITE_OK)
        give_up();
    run_sql("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; "
            "pragma temp_store = memory; pragma wal_autocheckpoint = 4000");
    find_channels_and_authors();
    sqlite3_stmt *statements[] = { prepare_sql(ADD), prepare_sql(LAST), prepare_sql(READ) };
    struct bare_time since = bare_begin();
    int64_t made = 0, until = since.began + (int64_t)(strtod(argv[3], NULL) * 1e9);
    while (clock_monotonic_ns() < until) {
        run_sql("begin immediate");
        for (int i = 0; i < atoi(argv[2]); i++) {
            int location = (int)(made++ % position_count);

            for (size_t k = 0; k < sizeof statements / sizeof *statements; k++)
                step_with(statements[k], model + made, location);
        }
        run_sql("commit");
    }
    bare_report(&since, made);
    for (size_t k = 0; k < sizeof statements / sizeof *statements; k++)
        sqlite3_finalize(statements[k]);
    sqlite3_close(db);
    return 0;
}
