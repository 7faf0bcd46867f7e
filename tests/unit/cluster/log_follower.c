/* log_follower.c - tests that a node reads log entries only for guilds and users with sessions on
 * it, and that it misses none if a session starts meanwhile. */
#include "unit/unit.h"

#include <stdio.h>

#include "cluster/internal.h"
#include "store/postgres/libpq.h"
#include "support/postgres.h"
#include "support/stores.h"

enum { MOST_ENTRIES = 16 };

/* The guilds of the delivered entries and the positions that were passed over, in order. */
static snowflake delivered_to[MOST_ENTRIES];
static int64_t passed_over[MOST_ENTRIES];
static size_t delivered_count, passed_over_count;

static void record_guild_of_events(void *arg, int64_t position, const struct emitted_event *list)
{
    (void)arg, (void)position;
    delivered_to[delivered_count++] = list->guild_id;
}

static void record_passed_over_entry(void *arg, int64_t position, const struct log_entry_address *a)
{
    (void)arg, (void)a;
    passed_over[passed_over_count++] = position;
}

static void ignore_revocation(void *arg, const struct revocation_record *f)
{
    (void)arg, (void)f;
}

static void ignore_time_of_credentials(void *arg, int64_t until)
{
    (void)arg, (void)until;
}

static uint64_t count_no_sessions(void *arg)
{
    (void)arg;
    return 0;
}

/* Opens a node whose log thread does not run. */
static struct cluster *open_node(struct fixture *f)
{
    struct cluster_options options = {
        .version = "test",
        .address = "here",
        .settings = STR("-"),
        .publish_events = record_guild_of_events,
        .pass_over = record_passed_over_entry,
        .revoke = ignore_revocation,
        .credentials_valid_until = ignore_time_of_credentials,
        .sessions = count_no_sessions,
    };
    struct cluster *c;

    delivered_count = passed_over_count = 0;
    store_close(f->store);
    f->options.shared = true;
    assert_int_equal(store_open(&f->options, &f->store), OK);
    options.store = f->store;
    assert_int_equal(cluster_open(&options, &c), OK);
    return c;
}

static PGconn *connect_to_database(const struct fixture *f)
{
    const char *keys[] = { "dbname", NULL }, *values[] = { f->postgres, NULL };
    PGconn *c = pq.connectdbParams(keys, values, 1);

    assert_int_equal(pq.status(c), CONNECTION_OK);
    return c;
}

static void expect_command_to_succeed(PGconn *c)
{
    PGresult *r;

    while ((r = pq.getResult(c))) {
        assert_int_equal(pq.resultStatus(r), PGRES_COMMAND_OK);
        pq.clear(r);
    }
}

/* Inserts an entry of a guild at the position, as another node would. Returns its length. */
static size_t insert_entry_of_guild(PGconn *c, struct arena *arena, int64_t position,
                                    snowflake guild_id, const char *recipients)
{
    struct emitted_event event = { .event = EVENT_GUILD_UPDATE,
                                   .to = audience_of_guild(guild_id),
                                   .guild_id = guild_id };
    struct log_entry entry = { .announced = &event };
    struct str bytes = log_entry_encode(&entry, arena), encoded;
    struct log_entry_address address;

    assert_true(log_address_from_entry(&entry, bytes, &address));
    encoded = recipients ? str_of(recipients) : log_recipients_encode(&address, arena);
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)position);
    const char *values[] = { number, bytes.p, encoded.p };
    const int lengths[] = { 0, (int)bytes.n, (int)encoded.n }, binary[] = { 0, 1, 1 };

    assert_true(pq.sendQueryParams(
        c, "insert into log (position, body, recipients) values (cast($1 as bigint), $2, $3)", 3,
        NULL, values, lengths, binary, 0));
    expect_command_to_succeed(c);
    return bytes.n;
}

static void read_log(struct cluster *c)
{
    int64_t last;
    bool more;

    assert_int_equal(log_follower_read_page(c, &last, &more), OK);
}

static void entries_without_sessions_are_passed_over_unread(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new();
    struct cluster *c = open_node(f);
    PGconn *other = connect_to_database(f);
    int64_t first = log_sequencer_next_position(c->sequencer);

    cluster_add_interest_in_guild_or_user(c, AUDIENCE_GUILD, 5);
    insert_entry_of_guild(other, arena, first, 6, NULL);
    size_t bytes = insert_entry_of_guild(other, arena, first + 1, 5, NULL);
    insert_entry_of_guild(other, arena, first + 2, 7, NULL);
    read_log(c);
    assert_int_equal(log_sequencer_next_position(c->sequencer), first + 3);
    assert_int_equal(delivered_count, 1);
    assert_int_equal(delivered_to[0], 5);
    assert_int_equal(passed_over_count, 2);
    assert_int_equal(passed_over[1], first + 2);
    assert_int_equal(c->count.bytes_read, bytes);
    pq.finish(other);
    cluster_close(c);
    arena_free(arena);
}

/* A session of the guild starts while the entry waits for an earlier position. */
static void entry_of_a_session_that_starts_meanwhile_is_read_again(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new();
    struct cluster *c = open_node(f);
    PGconn *other = connect_to_database(f);
    int64_t first = log_sequencer_next_position(c->sequencer);

    insert_entry_of_guild(other, arena, first + 1, 5, NULL);
    read_log(c);
    assert_int_equal(c->count.bytes_read, 0);
    cluster_add_interest_in_guild_or_user(c, AUDIENCE_GUILD, 5);
    /* The first position was aborted. The second one was not, although its entry is missing. */
    assert_int_equal(log_sequencer_abort_missing(c->sequencer, first + 1), 1);
    assert_int_equal(log_sequencer_next_position(c->sequencer), first + 1);
    read_log(c);
    assert_int_equal(log_sequencer_next_position(c->sequencer), first + 2);
    assert_int_equal(delivered_count, 1);
    assert_int_equal(passed_over_count, 0);
    pq.finish(other);
    cluster_close(c);
    arena_free(arena);
}

/* Rows of older versions have no recipients. */
static void entries_without_recipients_are_read(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new();
    struct cluster *c = open_node(f);
    PGconn *other = connect_to_database(f);
    int64_t first = log_sequencer_next_position(c->sequencer);

    insert_entry_of_guild(other, arena, first, 5, NULL);
    assert_true(pq.sendQuery(other, "update log set recipients = null"));
    expect_command_to_succeed(other);
    read_log(c);
    assert_int_equal(delivered_count, 1);
    pq.finish(other);
    cluster_close(c);
    arena_free(arena);
}

static void undecodable_recipients_make_the_node_unready(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new();
    struct cluster *c = open_node(f);
    PGconn *other = connect_to_database(f);
    int64_t first = log_sequencer_next_position(c->sequencer);

    insert_entry_of_guild(other, arena, first, 5, "123456789");
    read_log(c);
    assert_int_equal(delivered_count, 0);
    assert_int_equal(log_sequencer_next_position(c->sequencer), first + 1);
    assert_int_equal(log_sequencer_unreadable_count(c->sequencer), 1);
    pq.finish(other);
    cluster_close(c);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(entries_without_sessions_are_passed_over_unread),
        store_test(entry_of_a_session_that_starts_meanwhile_is_read_again),
        store_test(entries_without_recipients_are_read),
        store_test(undecodable_recipients_make_the_node_unready),
    };

    return run_on_postgres("cluster/log_follower", tests);
}
