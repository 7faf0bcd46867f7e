/* test_guild.c - creates guilds directly in the store and expects their events. */
#include "test_guild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stall_meter.h"
#include "guilds.h"
#include "internal.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/messages/internal.h"
#include "postgres.h"
#include "test_sql.h"

struct statement {
    const char *sql;
    int64_t number;
};

static enum err execute(struct tx *tx, void *arg)
{
    struct statement *s = arg;
    struct rows row;
    bool found;
    enum err e = tx_one(tx, test_sql(s->sql), NO_BIND, &row, &found);

    s->number = !e && found && row.columns ? row_int(&row, 0) : 0;
    return e;
}

static int64_t run_sql(struct world *w, const char *fmt, va_list args)
{
    char text[1000];
    struct statement s = { 0 };

    vsnprintf(text, sizeof text, fmt, args);
    /* Inserting thousands of rows bypasses the server, which would abort a long statement. */
    if (world_config(w)->store && strstr(text, "recursive"))
        return test_postgres_do(world_config(w)->store, text);
    s.sql = str_dup_cstring(world_arena(w), str_of(text));
    if (store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                       world_arena(w), execute, &s))
        fail_test(__FILE__, __LINE__, "cannot run: %s", text);
    return s.number;
}

void test_guild_take_right(struct test_guild *p, uint64_t right)
{
    world_sql(p->world, "update roles set permissions = %llu where id = %s",
              (unsigned long long)(PERMISSIONS_DEFAULT & ~right), p->id);
}

void world_sql(struct world *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    run_sql(w, fmt, args);
    va_end(args);
}

int64_t world_number(struct world *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int64_t number = run_sql(w, fmt, args);
    va_end(args);
    return number;
}

static enum err insert_message_row(struct tx *tx, void *arg)
{
    return message_insert(tx, arg);
}

void world_insert_message(struct world *w, snowflake id, const char *channel, const char *author,
                          const char *content)
{
    struct message m = message_row_from_text(id, id_of(channel), id_of(author), str_of(content));

    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                          world_arena(w), insert_message_row, &m) == OK);
}

int64_t world_count_unindexed_messages(struct world *w)
{
    bool sqlite = !world_config(w)->store;

    return world_number(w, sqlite ? "select (select count(*) from message_unindexed) + "
                                    "(select count(*) from messages where ephemeral_for is null "
                                    "and id > (select indexed_to from message_index_progress))"
                                  : "select count(*) from message_unindexed");
}

struct test_guild world_test_guild(struct world *w, struct client *owner)
{
    struct test_guild p = { .world = w };

    snprintf(p.id, sizeof p.id, "%llu", (unsigned long long)snowflake_new());
    snprintf(p.channel, sizeof p.channel, "%llu", (unsigned long long)snowflake_new());
    world_sql(w, "insert into guilds (id, name, owner_id) values (%s, 'Hall', %s)", p.id,
              owner->id);
    world_sql(w,
              "insert into roles (id, guild_id, name, permissions) "
              "values (%s, %s, '@everyone', %llu)",
              p.id, p.id, (unsigned long long)PERMISSIONS_DEFAULT);
    world_sql(w, "insert into channels (id, guild_id, type, name) values (%s, %s, 0, 'general')",
              p.channel, p.id);
    test_guild_add(&p, owner);
    return p;
}

void test_guild_add(struct test_guild *p, struct client *c)
{
    world_sql(p->world, "insert into members (guild_id, user_id, joined_at) values (%s, %s, %lld)",
              p->id, c->id, (long long)clock_us());
    world_sql(p->world, "update guilds set member_count = member_count + 1 where id = %s", p->id);
}

const char *test_guild_role(struct test_guild *p, int position, uint64_t permissions)
{
    struct str id = str_printf(world_arena(p->world), "%llu", (unsigned long long)snowflake_new());

    world_sql(p->world,
              "insert into roles (id, guild_id, name, position, permissions) "
              "values (%s, %s, 'role', %d, %llu)",
              id.p, p->id, position, (unsigned long long)permissions);
    return id.p;
}

void test_guild_give(struct test_guild *p, struct client *c, const char *role)
{
    world_sql(p->world, "insert into member_roles (guild_id, user_id, role_id) values (%s, %s, %s)",
              p->id, c->id, role);
}

const char *test_guild_add_with(struct test_guild *p, struct client *c, int position,
                                uint64_t permissions)
{
    const char *role = test_guild_role(p, position, permissions);

    test_guild_add(p, c);
    test_guild_give(p, c, role);
    return role;
}

/* --- events --------------------------------------------------------------------------- */

struct last_event_search {
    struct world *world;
    const char *event;
};

static const struct arrivals *last_event_search(void *of)
{
    struct last_event_search *l = of;
    const struct arrivals *found = NULL;

    pthread_mutex_lock(&l->world->lock);
    for (const struct arrivals *h = l->world->arrivals; h; h = h->next)
        if (strcmp(get_name_of_event_type(h->event), l->event) == 0)
            found = h;
    pthread_mutex_unlock(&l->world->lock);
    return found;
}

const struct dom *world_last_event(struct world *w, const char *event)
{
    const struct arrivals *found =
        received_soon(last_event_search, &(struct last_event_search){ w, event });

    if (!found)
        fail_test(__FILE__, __LINE__, "the event %s was not emitted", event);
    return dom_parse(world_arena(w), str_of(found->payload));
}

static const struct arrivals *next_guild_event(void *of)
{
    struct test_guild *p = of;
    struct world *w = p->world;
    const struct arrivals *found = NULL;
    size_t i = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h && !found; h = h->next, i++)
        if (i >= p->arrivals && h->to.kind == AUDIENCE_GUILD &&
            h->to.id == strtoull(p->id, NULL, 10))
            found = h;
    if (found)
        p->arrivals = i;
    pthread_mutex_unlock(&w->lock);
    return found;
}

void expect_guild_event_at(const char *file, int line, struct test_guild *p, uint64_t any_of,
                           const char *event, const char *fmt, ...)
{
    struct arena *a = world_arena(p->world);
    const struct arrivals *h = received_soon(next_guild_event, p);
    struct str where;
    va_list args;

    if (!h)
        fail_test(file, line, "the guild got no event, expected %s", event);
    if (strcmp(get_name_of_event_type(h->event), event) != 0)
        fail_test(file, line, "the guild got %s, expected %s", get_name_of_event_type(h->event),
                  event);
    if (h->to.any_of != any_of)
        fail_test(file, line, "%s is limited to the permissions %llx", event,
                  (unsigned long long)h->to.any_of);
    va_start(args, fmt);
    const struct dom *expected = parse_expected(a, fmt, args);
    va_end(args);
    if (!dom_contains(dom_parse(a, str_of(h->payload)), expected, a, &where))
        fail_test(file, line, "%s: %s in %s", event, where.p, h->payload);
}

void expect_guild_silence_at(const char *file, int line, struct test_guild *p)
{
    const struct arrivals *h = next_guild_event(p);

    if (h)
        fail_test(file, line, "the guild got an unexpected %s", get_name_of_event_type(h->event));
}

static void find_stall_record(const struct stall_record *r, void *arg)
{
    struct stall_record *found = arg;

    if (strcmp(r->kind, found->kind) == 0 && strcmp(r->part, found->part) == 0)
        found->longest_ns = r->longest_ns;
}

static void expect_no_stall_longer_than(const char *kind, const char *part, double ms)
{
    struct stall_record found = { .kind = kind, .part = part };

    stall_records_visit(find_stall_record, &found);
    double took = (double)found.longest_ns / 1e6;
    if (took >= ms * build_slowness())
        note_hold(kind, part, took);
}

void expect_short_writes(const char *part, double ms)
{
    expect_no_stall_longer_than("write", part, ms);
}

void expect_short_turns(const char *part, double ms)
{
    expect_no_stall_longer_than("turn", part, ms);
}

int64_t world_counter(struct world *w, const char *name)
{
    struct answer a =
        client_request(world_anonymous(w), "GET", "/metrics", NULL, (struct str){ 0 });
    char start[100];
    size_t n = (size_t)snprintf(start, sizeof start, "\n%s ", name);
    const char *line = strstr(str_dup_cstring(world_arena(w), a.body), start);

    expect(line != NULL);
    return atoll(line + n);
}
