/* guilds.c - creates guilds for tests and expects their events. */
#include "guilds.h"

#include "apps.h"

#include <stdlib.h>

#include "api/hooks.h"
#include "base/clock.h"
#include "internal.h"
#include "platform/members/members.h"

snowflake id_of(const char *text)
{
    return strtoull(text, NULL, 10);
}

/* --- events --------------------------------------------------------------------------- */

void discard_received(struct world *w)
{
    size_t n = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h; h = h->next)
        n++;
    w->delivered_to = n;
    for (struct client *c = w->clients; c; c = c->next)
        c->arrivals = n;
    pthread_mutex_unlock(&w->lock);
}

static const struct arrivals *next_guild_event(void *of)
{
    struct world *w = of;
    const struct arrivals *found = NULL;
    size_t i = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h && !found; h = h->next, i++)
        if (i >= w->delivered_to && h->to.kind != AUDIENCE_USER)
            found = h;
    if (found)
        w->delivered_to = i;
    pthread_mutex_unlock(&w->lock);
    return found;
}

static bool same_subject(struct audience a, struct audience b)
{
    return a.kind == b.kind && a.id == b.id && a.channel_id == b.channel_id && a.any_of == b.any_of;
}

struct audience system_viewers(struct world *w, const char *guild)
{
    int64_t id =
        store_count(w, TEXT(w, "select system_channel_id from guilds where id = %s", guild));

    return audience_of_channel_viewers(id_of(guild), (snowflake)id);
}

void expect_received_at(const char *file, int line, struct world *w, struct audience to,
                        const char *event, const char *fmt, ...)
{
    const struct arrivals *h = received_soon(next_guild_event, w);
    struct str where;
    va_list args;

    if (!h)
        fail_test(file, line, "no event, expected %s", event);
    if (strcmp(get_name_of_event_type(h->event), event) != 0)
        fail_test(file, line, "the event is %s, expected %s", get_name_of_event_type(h->event),
                  event);
    if (!same_subject(h->to, to))
        fail_test(file, line, "%s has the audience kind %d, %llu, channel %llu, permissions %llx",
                  event, (int)h->to.kind, (unsigned long long)h->to.id,
                  (unsigned long long)h->to.channel_id, (unsigned long long)h->to.any_of);
    va_start(args, fmt);
    const struct dom *expected = parse_expected(w->arena, fmt, args);
    va_end(args);
    if (!dom_contains(dom_parse(w->arena, str_of(h->payload)), expected, w->arena, &where))
        fail_test(file, line, "%s: %s in %s", event, where.p, h->payload);
}

void expect_nothing_received_at(const char *file, int line, struct world *w)
{
    const struct arrivals *h = next_guild_event(w);

    if (h)
        fail_test(file, line, "unexpected %s: %s", get_name_of_event_type(h->event), h->payload);
}

/* --- guilds --------------------------------------------------------------------------- */

const char *found_guild(struct client *owner, const char *name)
{
    struct arena *arena = world_arena(owner->world);
    struct answer a = client_post(owner, str_printf(arena, "{'name': '%s'}", name).p, "/guilds");

    expect_status(a, 201);
    discard_received(owner->world);
    return answer_text(a, "id");
}

const char *make_role(struct client *c, const char *guild, const char *json)
{
    struct answer a = client_post(c, json, "/guilds/%s/roles", guild);

    expect_status(a, 200);
    discard_received(c->world);
    return answer_text(a, "id");
}

struct entrance {
    snowflake guild_id, user_id, role_id;
    struct api *api;
};

static enum err insert_member(struct tx *tx, void *arg)
{
    const struct entrance *in = arg;
    struct member m = { .guild_id = in->guild_id, .user_id = in->user_id, .joined_at = clock_us() };
    struct call call = { .tx = tx, .api = in->api };
    enum err e = member_insert(tx, &m, false);

    return e ? e : hook_membership_changes(&call, &m);
}

static enum err insert_role(struct tx *tx, void *arg)
{
    const struct entrance *in = arg;

    return tx_exec(tx, "insert into member_roles (guild_id, user_id, role_id) values ($1, $2, $3)",
                   BIND(v_id(in->guild_id), v_id(in->user_id), v_id(in->role_id)), NULL);
}

static void run(struct world *w, enum err (*what)(struct tx *tx, void *arg), struct entrance in)
{
    in.api = guildhall_get_api(w->server);
    if (store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_WRITE, w->arena, what,
                                       &in))
        fail_test(__FILE__, __LINE__, "the store refuses");
}

void put_member(const char *guild, struct client *c)
{
    run(c->world, insert_member, (struct entrance){ id_of(guild), id_of(c->id), 0 });
}

void put_role_on(const char *guild, struct client *c, const char *role)
{
    run(c->world, insert_role, (struct entrance){ id_of(guild), id_of(c->id), id_of(role) });
}

static const char *named_role(struct client *c, const char *guild, const char *name, uint64_t perms)
{
    return make_role(c, guild,
                     TEXT(c->world, "{'name': '%s', 'permissions': '%llu'}", name, BITS(perms)));
}

struct server_loop world_home(struct world *w, uint64_t perms)
{
    struct server_loop h = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    h.guild = found_guild(h.ada, "The Guild");
    h.role = named_role(h.ada, h.guild, "helpers", perms);
    put_member(h.guild, h.bob);
    put_role_on(h.guild, h.bob, h.role);
    return h;
}

struct ranks world_ranks(struct world *w, uint64_t perms)
{
    struct ranks r = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    r.guild = found_guild(r.ada, "The Guild");
    /* A new role is the lowest. */
    r.high = named_role(r.ada, r.guild, "high", 0);
    r.bobs = named_role(r.ada, r.guild, "bobs", perms);
    r.low = named_role(r.ada, r.guild, "low", 0);
    put_member(r.guild, r.bob);
    put_role_on(r.guild, r.bob, r.bobs);
    return r;
}
