/* member_lists.c - member list subscriptions of user clients (op 14 and 37). */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "channels.h"
#include "gateway_conn.h"
#include "gateway/member_lists/list_id.h"
#include "gateway/sessions/registry.h"
#include "gateway_source/gateway_source.h"
#include "server/guildhall.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

static const char *const PLAIN = "v=10&encoding=json";

/* Guild of ada with bob, who has a hoisted role, and cleo. Ada and bob are online. */
struct list_guild {
    struct world *world;
    struct client *ada, *bob, *cleo;
    struct test_guild test_guild;
    const char *role;
    struct gateway_conn *of_ada, *of_bob;
};

static struct list_guild create_list_guild(struct world *w)
{
    struct list_guild h = { .world = w,
                            .ada = world_client(w, "ada"),
                            .bob = world_client(w, "bob"),
                            .cleo = world_client(w, "cleo") };

    h.test_guild = world_test_guild(w, h.ada);
    test_guild_add(&h.test_guild, h.bob);
    test_guild_add(&h.test_guild, h.cleo);
    h.role = test_guild_role(&h.test_guild, 3, 0);
    world_sql(w, "update roles set hoist = 1 where id = %s", h.role);
    test_guild_give(&h.test_guild, h.bob, h.role);
    world_sql(w, "update guilds set member_count = 3 where id = %s", h.test_guild.id);
    h.of_ada = conn_session(h.ada, PLAIN, "");
    h.of_bob = conn_session(h.bob, PLAIN, "");
    conn_beat(h.of_ada);
    conn_beat(h.of_bob);
    /* Lists are sent again after a pause, which starts when the server has read the request. */
    clock_restart_wall_and_monotonic();
    return h;
}

static void subscribe_to_member_list_rows(struct gateway_conn *g, const struct list_guild *h,
                                          const char *channel, const char *ranges)
{
    conn_send(g, "{'op':14,'d':{'guild_id':'%s','typing':true,'channels':{'%s':%s}}}",
              h->test_guild.id, channel, ranges);
}

/* Longer than the pause between two lists, also on a busy machine; shorter than the heartbeat
 * limit. */
static void wait_for_next_member_list_update(struct list_guild *h)
{
    world_wait(h->world, 6);
}

/* --- rows ----------------------------------------------------------------------------- */

static void subscribing_sends_the_member_list_at_once(struct world *w)
{
    struct list_guild h = create_list_guild(w);

    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    const struct dom *d = expect_dispatch(
        h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
        "{'guild_id': '%s', 'id': 'everyone', 'member_count': 3, 'online_count': 2, "
        "'groups': [{'id': '%s', 'count': 1}, {'id': 'online', 'count': 1}, "
        "{'id': 'offline', 'count': 1}], 'ops': [{'op': 'SYNC', 'range': [0, 99], 'items': ["
        "{'group': {'id': '%s', 'count': 1}}, "
        "{'member': {'id': '%s', 'user': {'id': '%s', 'username': 'bob'}, 'roles': ['%s'], "
        "'presence': {'user': {'id': '%s'}, 'status': 'online', 'activities': [], "
        "'client_status': {'web': 'online'}}}}, "
        "{'group': {'id': 'online', 'count': 1}}, {'member': {'user': {'id': '%s'}}}, "
        "{'group': {'id': 'offline', 'count': 1}}, {'member': {'user': {'id': '%s'}, 'presence': "
        "{'status': 'offline', 'activities': [], 'client_status': {}}}}]}]}",
        h.test_guild.id, h.role, h.role, h.bob->id, h.bob->id, h.role, h.bob->id, h.ada->id,
        h.cleo->id);
    expect(!dom_at(d, "ops.0.items.1.member.presence.guild_id"));
    /* Other sessions receive nothing. */
    expect_quiet(h.of_bob);
    expect_quiet(h.of_ada);
}

static void member_list_contains_only_the_requested_ranges(struct world *w)
{
    struct list_guild h = create_list_guild(w);

    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[1,2],[4,9],[100,199]]");
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'ops': [{'op': 'SYNC', 'range': [1, 2], 'items': [{'member': {'id': '%s'}}, "
                    "{'group': {'id': 'online'}}]}, {'range': [4, 9], 'items': [{'group': {'id': "
                    "'offline'}}, {'member': {'id': '%s'}}]}, {'range': [100, 199], 'items': []}]}",
                    h.bob->id, h.cleo->id);
    /* Cleo comes online: only the changed rows are sent. */
    struct gateway_conn *of_cleo = conn_session(h.cleo, PLAIN, "");
    wait_for_next_member_list_update(&h);
    const struct dom *d = expect_dispatch(
        h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
        "{'online_count': 3, 'groups': [{'id': '%s'}, {'id': 'online', 'count': 2}], 'ops': ["
        "{'range': [1, 2], 'items': [{'member': {}}, {'group': {'count': 2}}]}, "
        "{'range': [4, 9], 'items': [{'member': {'id': '%s'}}]}]}",
        h.role, h.cleo->id);
    expect(dom_at(d, "ops")->count == 2);
    conn_close(of_cleo, 1000);
}

static void member_list_reflects_status_nick_and_member_changes(struct world *w)
{
    struct list_guild h = create_list_guild(w);

    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE", "{}");
    /* A status change keeps the rows. */
    conn_send(h.of_bob, "{'op':3,'d':{'status':'dnd','activities':[],'since':null,'afk':false}}");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'ops': [{'items': [{}, {'member': {'id': '%s', 'presence': {'status': "
                    "'dnd'}}}, {}, {}, {}, {}]}]}",
                    h.bob->id);
    /* An invisible member is offline. */
    conn_send(h.of_bob, "{'op':3,'d':{'status':'invisible','activities':[],'since':null,"
                        "'afk':false}}");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'online_count': 1, 'ops': [{'items': [{'group': {'id': 'online'}}, {}, "
                    "{'group': {'id': 'offline', 'count': 2}}, {'member': {'id': '%s', 'presence': "
                    "{'status': 'offline'}}}, {'member': {'id': '%s'}}]}]}",
                    h.bob->id, h.cleo->id);
    /* A new nick changes the row's position. */
    expect_status(client_patch(h.ada, "{'nick': 'Aaron'}", "/guilds/%s/members/%s", h.test_guild.id,
                               h.cleo->id),
                  200);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'ops': [{'items': [{}, {}, {}, {'member': {'id': '%s', 'nick': 'Aaron'}}, "
                    "{'member': {'id': '%s'}}]}]}",
                    h.cleo->id, h.bob->id);
    /* A kicked member leaves the list. */
    expect_status(client_delete(h.ada, "/guilds/%s/members/%s", h.test_guild.id, h.cleo->id), 204);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_REMOVE", "{}");
    expect_dispatch(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'member_count': 2, 'ops': [{'items': [{}, {}, {'group': {'count': 1}}, "
                    "{'member': {'id': '%s'}}]}]}",
                    h.bob->id);
    /* Nothing is sent twice. */
    wait_for_next_member_list_update(&h);
    expect_quiet(h.of_ada);
}

/* Expects the event; list updates that a slow machine has caused are skipped. */
static const struct dom *expect_event_after_lists(struct gateway_conn *g, const char *event)
{
    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m != NULL);
        conn_count(g, m);
        if (str_is(dom_at(m, "t")->text, event))
            return dom_at(m, "d");
        expect(str_is(dom_at(m, "t")->text, "GUILD_MEMBER_LIST_UPDATE"));
    }
}

static void hoisted_roles_form_the_groups_of_the_member_list(struct world *w)
{
    struct list_guild h = create_list_guild(w);

    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE", "{'groups': [{'id': '%s'}, {}, {}]}",
                    h.role);
    expect_status(
        client_patch(h.ada, "{'hoist': false}", "/guilds/%s/roles/%s", h.test_guild.id, h.role),
        200);
    expect_dispatch(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_dispatch(h.of_ada, "GUILD_ROLE_UPDATE", "{}");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'groups': [{'id': 'online', 'count': 2}, {'id': 'offline'}], 'ops': ["
                    "{'items': [{'group': {}}, {'member': {'id': '%s'}}, {'member': {'id': '%s'}}, "
                    "{}, {}]}]}",
                    h.ada->id, h.bob->id);
    /* The higher of two hoisted roles counts. */
    const char *high =
        make_role(h.ada, h.test_guild.id, "{'name': 'High', 'hoist': true, 'permissions': '0'}");
    expect_event_after_lists(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE");
    expect_event_after_lists(h.of_ada, "GUILD_ROLE_CREATE");
    expect_status(
        client_put(h.ada, "", "/guilds/%s/members/%s/roles/%s", h.test_guild.id, h.ada->id, high),
        204);
    expect_event_after_lists(h.of_ada, "GUILD_MEMBER_UPDATE");
    expect_event_after_lists(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE");
    wait_for_next_member_list_update(&h);
    const struct dom *d;
    do
        d = expect_event_after_lists(h.of_ada, "GUILD_MEMBER_LIST_UPDATE");
    while (!str_is(dom_at(d, "groups.0.id")->text, high));
    expect(str_is(dom_at(d, "groups.0.count")->text, "1"));
    expect(str_is(dom_at(d, "groups.1.id")->text, "online"));
    expect(str_is(dom_at(d, "groups.1.count")->text, "1"));
    expect(dom_at(d, "groups")->count == 3);
}

/* --- members of a list, and its subscribers ------------------------------------------- */

static const char *create_hidden_channel(struct list_guild *h)
{
    return make_channel(
        h->ada, h->test_guild.id,
        TEXT(h->world,
             "{'name': 'h', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '1024'}, "
             "{'id': '%s', 'type': 0, 'allow': '1024'}]}",
             h->test_guild.id, h->role));
}

static void member_list_of_a_hidden_channel_has_only_its_viewers(struct world *w)
{
    struct list_guild h = create_list_guild(w);
    const char *hidden = create_hidden_channel(&h);
    struct overwrite rules[] = { { .id = id_of(h.test_guild.id), .deny = PERMISSION(VIEW_CHANNEL) },
                                 { .id = id_of(h.role), .allow = PERMISSION(VIEW_CHANNEL) } };
    struct gateway_conn *of_cleo = conn_session(h.cleo, PLAIN, "");
    char id[LIST_ID_MAX];

    compute_member_list_id(true, rules, 2, id);
    expect_dispatch(h.of_bob, "CHANNEL_CREATE", "{}");
    subscribe_to_member_list_rows(h.of_bob, &h, hidden, "[[0,99]]");
    expect_dispatch(
        h.of_bob, "GUILD_MEMBER_LIST_UPDATE",
        "{'id': '%s', 'member_count': 2, 'online_count': 2, 'groups': [{'id': '%s'}, "
        "{'id': 'online', 'count': 1}], 'ops': [{'items': [{}, {'member': {'id': '%s'}}, "
        "{}, {'member': {'id': '%s'}}]}]}",
        id, h.role, h.bob->id, h.ada->id);
    /* A session that cannot view the channel gets nothing. */
    subscribe_to_member_list_rows(of_cleo, &h, hidden, "[[0,99]]");
    expect_quiet(of_cleo);
    /* The channel is opened: its list becomes that of everyone. */
    expect_status(client_delete(h.ada, "/channels/%s/permissions/%s", hidden, h.test_guild.id),
                  204);
    expect_dispatch(h.of_bob, "CHANNEL_UPDATE", "{}");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_bob, "GUILD_MEMBER_LIST_UPDATE",
                    "{'id': 'everyone', 'member_count': 3, 'groups': [{'id': '%s'}, {'id': "
                    "'online', 'count': 2}]}",
                    h.role);
    /* The channel is hidden from bob, who gets no more updates. */
    expect_status(client_put(h.ada, "{'type': 1, 'allow': '0', 'deny': '1024'}",
                             "/channels/%s/permissions/%s", hidden, h.bob->id),
                  204);
    expect_dispatch(h.of_bob, "CHANNEL_DELETE", "{}");
    conn_close(of_cleo, 1000);
    wait_for_next_member_list_update(&h);
    expect_quiet(h.of_bob);
}

static void unsubscribed_session_gets_no_list_updates(struct world *w)
{
    struct list_guild h = create_list_guild(w);

    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE", "{}");
    subscribe_to_member_list_rows(h.of_bob, &h, h.test_guild.channel, "[[0,99]]");
    expect_dispatch(h.of_bob, "GUILD_MEMBER_LIST_UPDATE", "{}");
    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[]");
    expect_quiet(h.of_ada); /* the request was read */
    struct gateway_conn *of_cleo = conn_session(h.cleo, PLAIN, "");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_bob, "GUILD_MEMBER_LIST_UPDATE", "{'online_count': 3}");
    expect_quiet(h.of_ada);
    conn_close(of_cleo, 1000);
}

static void subscribing_to_eleven_channels_drops_the_first(struct world *w)
{
    struct list_guild h = create_list_guild(w);
    /* Each channel has a list of its own, because its viewers differ. */
    for (int i = 0; i < 11; i++) {
        const char *channel = make_channel(
            h.ada, h.test_guild.id,
            TEXT(w,
                 "{'name': 'c%d', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': "
                 "'1024'}, {'id': '%s', 'type': 0, 'allow': '1024'}]}",
                 i, h.test_guild.id, test_guild_role(&h.test_guild, 1, 0)));
        expect_dispatch(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
        expect_dispatch(h.of_ada, "CHANNEL_CREATE", "{}");
        subscribe_to_member_list_rows(h.of_ada, &h, channel, "[[0,99]]");
        expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE", "{'member_count': 1}");
    }
    wait_for_next_member_list_update(&h);
    conn_send(h.of_ada, "{'op':3,'d':{'status':'idle','activities':[],'since':null,'afk':false}}");
    wait_for_next_member_list_update(&h);
    for (int i = 0; i < 10; i++)
        expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                        "{'ops': [{'items': [{}, {'member': {'presence': {'status': 'idle'}}}]}]}");
    wait_for_next_member_list_update(&h);
    expect_quiet(h.of_ada);
}

static void one_payload_can_subscribe_to_several_guilds(struct world *w)
{
    struct list_guild h = create_list_guild(w);
    const char *other = found_guild(h.ada, "Other");
    const char *room = make_channel(h.ada, other, "{'name': 'room'}");

    expect_dispatch(h.of_ada, "GUILD_CREATE", "{}");
    expect_dispatch(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_dispatch(h.of_ada, "CHANNEL_CREATE", "{}");
    conn_send(h.of_ada,
              "{'op':37,'d':{'subscriptions':{'%s':{'channels':{'%s':[[0,99]]},'members':['%s'],"
              "'activities':null,'thread_member_lists':null},'%s':{'channels':{'%s':[[0,0]]}}}}}",
              h.test_guild.id, h.test_guild.channel, h.bob->id, other, room);
    bool seen[2] = { false, false };
    for (int i = 0; i < 2; i++) {
        const struct dom *d = expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE", "{}");

        seen[str_is(dom_at(d, "guild_id")->text, other)] = true;
    }
    expect(seen[0] && seen[1]);
}

/* Resumes, on whichever loop the new socket is, and expects a list with this online count. */
static void expect_member_list_after_resume(struct client *c, const char *id, uint64_t seq,
                                            const char *online)
{
    struct gateway_conn *back = conn_open(c, PLAIN);

    conn_beat(back);
    expect_op(back, 10);
    conn_resume(back, id, seq);
    for (bool received = false; !received;) {
        world_wait(c->world, 2);
        const struct dom *m = conn_read(back, 60000);

        expect(m != NULL);
        conn_count(back, m);
        received = str_is(dom_at(m, "t")->text, "GUILD_MEMBER_LIST_UPDATE") &&
                   str_is(dom_at(m, "d.online_count")->text, online);
    }
}

static void member_list_subscription_survives_a_server_restart(struct world *w)
{
    struct list_guild h = create_list_guild(w);
    char id[64];

    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE", "{'online_count': 2}");
    snprintf(id, sizeof id, "%s", conn_id(h.of_ada));
    uint64_t seq = conn_seq(h.of_ada);
    conn_close(h.of_bob, 1000);
    conn_lose(h.of_ada);
    world_restart(w);
    expect_member_list_after_resume(h.ada, id, seq, "1");
}

static void resumed_session_gets_the_whole_member_list(struct world *w)
{
    struct list_guild h = create_list_guild(w);

    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE", "{'online_count': 2}");
    conn_lose(h.of_ada);
    conn_close(h.of_bob, 1000);
    expect_member_list_after_resume(h.ada, conn_id(h.of_ada), conn_seq(h.of_ada), "1");
}

/* --- a failing store ------------------------------------------------------------------ */

static _Atomic int failures;

static enum err failing_roles(struct tx *tx, snowflake guild_id, struct list *ret)
{
    if (failures > 0) {
        failures--;
        return ERR_INTERNAL;
    }
    return gateway_source.roles(tx, guild_id, ret);
}

static enum err failing_members(struct tx *tx, const struct gateway_member_search *search,
                                struct list *ret)
{
    if (failures > 0) {
        failures--;
        return ERR_INTERNAL;
    }
    return gateway_source.members(tx, search, ret);
}

/* After failed reads the list is sent complete. */
static void member_list_is_sent_after_failed_reads_are_retried(struct world *w)
{
    static struct gateway_source source;

    source = gateway_source;
    source.roles = failing_roles;
    source.members = failing_members;
    world_use_source(w, &source);
    struct list_guild h = create_list_guild(w);
    failures = 2; /* the first reads fail */
    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    expect_soon(failures == 0);
    world_wait(w, 30);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'member_count': 3, 'online_count': 2, 'groups': [{'id': '%s'}, {'id': "
                    "'online'}, {'id': 'offline', 'count': 1}]}",
                    h.role);
    expect_quiet(h.of_ada);
}

/* --- large guilds --------------------------------------------------------------------- */

enum { LARGE = 1001 };

static void large_guild_lists_only_online_members(struct world *w)
{
    struct list_guild h = create_list_guild(w);

    world_sql(w,
              "insert into users (id, username) with recursive n(i) as (select 1 union all select "
              "i + 1 from n where i < %d) select i, 'u' || i from n",
              LARGE - 3);
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at) select %s, id, id from users "
              "where id < %d",
              h.test_guild.id, LARGE);
    world_sql(w, "update guilds set member_count = %d where id = %s", LARGE, h.test_guild.id);
    /* A restarted server reads the member count. */
    conn_close(h.of_ada, 1000);
    conn_close(h.of_bob, 1000);
    world_restart(w);
    h.of_ada = conn_session(h.ada, PLAIN, "");
    h.of_bob = conn_session(h.bob, PLAIN, "");
    conn_beat(h.of_ada);
    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.channel, "[[0,99]]");
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'member_count': %d, 'online_count': 2, 'groups': [{'count': 1}, {'id': "
                    "'online', 'count': 1}], 'ops': [{'items': [{}, {'member': {'id': '%s'}}, {}, "
                    "{'member': {'id': '%s'}}]}]}",
                    LARGE, h.bob->id, h.ada->id);
    /* In large guilds presences are sent only in the list. */
    struct gateway_conn *of_cleo = conn_session(h.cleo, PLAIN, "");
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'online_count': 3, 'ops': [{'items': [{}, {}, {}, {}, {'member': {'id': "
                    "'%s'}}]}]}",
                    h.cleo->id);
    conn_close(of_cleo, 1000);
    wait_for_next_member_list_update(&h);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                    "{'online_count': 2, 'ops': [{'items': [{}, {}, {}, {}]}]}");
    /* With one member less, all members are listed. */
    expect_status(client_delete(h.ada, "/guilds/%s/members/%s", h.test_guild.id, h.cleo->id), 204);
    expect_dispatch(h.of_ada, "GUILD_MEMBER_REMOVE", "{}");
    expect_dispatch(h.of_ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    wait_for_next_member_list_update(&h);
    const struct dom *d = expect_dispatch(h.of_ada, "GUILD_MEMBER_LIST_UPDATE",
                                          "{'member_count': %d, 'groups': [{}, {}, {'id': "
                                          "'offline', 'count': %d}]}",
                                          LARGE - 1, LARGE - 3);
    expect(dom_at(d, "ops.0.items")->count == 100);
}

/* --- many lists ----------------------------------------------------------------------- */

/* So many lists of channels with so many overwrites need several loop iterations. */
enum {
    GUILD_COUNT = 4,
    CHANNELS_PER_GUILD = 10,
    OVERWRITES_PER_CHANNEL = 500,
    MANY_LISTS = GUILD_COUNT * CHANNELS_PER_GUILD
};

struct many_lists {
    struct client *ada;
    const char *guilds[GUILD_COUNT];
    struct gateway_conn *gate;
};

/* Ids that no other object has. */
static int channel_id_of(int list_guild, int room)
{
    return 7000000 + list_guild * 100 + room;
}

static void insert_channels(struct many_lists *m, int list_guild)
{
    struct test_guild v = world_test_guild(m->ada->world, m->ada);

    m->guilds[list_guild] = TEXT(v.world, "%s", v.id);
    world_sql(v.world,
              "insert into channels (id, guild_id, type, name) with recursive n (i) as (select 0 "
              "union all select i + 1 from n where i < %d) select %d + i, %s, 0, 'room' from n",
              CHANNELS_PER_GUILD - 1, channel_id_of(list_guild, 0), v.id);
    /* Each channel has other viewers. */
    world_sql(v.world,
              "insert into overwrites (channel_id, target_id, type, allow, deny) with recursive "
              "n (i) as (select 0 union all select i + 1 from n where i < %d) select c.id, "
              "case when i = 0 then c.guild_id else c.id * 1000 + i end, case when i = 0 then 0 "
              "else 1 end, case when i = 0 then 0 else 1024 end, case when i = 0 then 1024 else 0 "
              "end from n cross join channels c where c.guild_id = %s and c.name = 'room'",
              OVERWRITES_PER_CHANNEL - 1, v.id);
}

static void subscribe_to_member_lists_of_all_channels(struct many_lists *m)
{
    char text[16000];
    size_t n = (size_t)snprintf(text, sizeof text, "{'op':37,'d':{'subscriptions':{");

    for (int h = 0; h < GUILD_COUNT; h++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s'%s':{'channels':{", h ? "," : "",
                              m->guilds[h]);
        for (int r = 0; r < CHANNELS_PER_GUILD; r++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s'%d':[[0,99]]", r ? "," : "",
                                  channel_id_of(h, r));
        n += (size_t)snprintf(text + n, sizeof text - n, "}}");
    }
    snprintf(text + n, sizeof text - n, "}}}");
    conn_send(m->gate, "%s", text);
}

/* Only ada can view a channel with these overwrites. */
static void expect_member_list_updates(struct gateway_conn *g, int count)
{
    for (int i = 0; i < count; i++)
        expect_dispatch(g, "GUILD_MEMBER_LIST_UPDATE", "{'member_count': 1, 'online_count': 1}");
}

static const struct gateway_loop *loop_of(const struct client *c, const struct gateway_conn *g)
{
    uint64_t number;

    expect(session_id_parse(str_of(conn_id(g)), &number));
    return registry_find_loop_of_session(guildhall_get_gateway(world_server(c->world)), number);
}

/* The kernel chooses the loop of a new socket: repeat until it is another one. */
static struct gateway_conn *resume_on_another_loop(struct client *c, struct gateway_conn *g)
{
    const struct gateway_loop *before = loop_of(c, g);

    for (;;) {
        conn_lose(g);
        struct gateway_conn *back = conn_open(c, PLAIN);

        conn_beat(back);
        expect_op(back, 10);
        conn_resume(back, conn_id(g), conn_seq(g));
        expect_dispatch(back, "RESUMED", "{}");
        if (loop_of(c, back) != before)
            return back;
        g = back;
    }
}

static void subscriptions_to_many_member_lists_change_in_batches(struct world *w)
{
    struct many_lists m = { .ada = world_client(w, "ada") };

    for (int h = 0; h < GUILD_COUNT; h++)
        insert_channels(&m, h);
    m.gate = conn_session(m.ada, PLAIN, "");
    conn_beat(m.gate);
    clock_restart_wall_and_monotonic(); /* as in create_list_guild() */
    subscribe_to_member_lists_of_all_channels(&m);
    expect_member_list_updates(m.gate, MANY_LISTS);
    /* Another overwrite of one channel changes its list; all others stay as they are. */
    expect_status(client_put(m.ada, "{'type': 1, 'allow': '1024'}", "/channels/%d/permissions/%s",
                             channel_id_of(0, 0), m.ada->id),
                  204);
    world_wait(w, 6);
    for (bool received = false; !received;) {
        const struct dom *d = conn_read(m.gate, 60000);

        expect(d != NULL);
        conn_count(m.gate, d);
        received = str_is(dom_at(d, "t")->text, "GUILD_MEMBER_LIST_UPDATE");
    }
    world_wait(w, 6);
    expect_quiet(m.gate);
    /* A session that moves to another loop leaves all lists and enters them again. */
    expect_member_list_updates(resume_on_another_loop(m.ada, m.gate), MANY_LISTS);
    expect_short_turns("member_lists", 15);
}

/* --- invalid subscriptions ------------------------------------------------------------ */

static void malformed_subscriptions_close_with_4001_or_4002(struct world *w)
{
    struct list_guild h = create_list_guild(w);
    static const struct {
        int code;
        const char *message;
    } rows[] = {
        { 4001, "{'op':14,'d':[]}" },
        { 4001, "{'op':37,'d':null}" },
        { 4002, "{'op':14,'d':{}}" },
        { 4002, "{'op':14,'d':{'guild_id':'x'}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':[]}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':{'x':[[0,99]]}}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':{'2':[0,99]}}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':{'2':[[0,100]]}}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':{'2':[[9,8]]}}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':{'2':[[-1,8]]}}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':{'2':[[1]]}}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','channels':{'2':[[0,1],[2,3],[4,5],[6,7],[8,9],"
                "[10,11]]}}}" },
        { 4002, "{'op':14,'d':{'guild_id':'1','threads':1}}" },
        { 4002, "{'op':37,'d':{}}" },
        { 4002, "{'op':37,'d':{'subscriptions':{'x':{}}}}" },
        { 4002, "{'op':37,'d':{'subscriptions':{'1':[]}}}" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gateway_conn *g = conn_session(h.cleo, PLAIN, "");

        conn_send(g, "%s", rows[i].message);
        expect_close(g, rows[i].code);
    }
}

/* Unknown guilds and channels are ignored; bots have no lists. */
static void subscription_to_unknown_guild_or_by_a_bot_is_ignored(struct world *w)
{
    struct list_guild h = create_list_guild(w);
    struct client *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");

    test_guild_add(&h.test_guild, bot);
    struct gateway_conn *e = conn_session(eve, PLAIN, ""),
                        *b = conn_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(b, "GUILD_CREATE", "{}");
    subscribe_to_member_list_rows(e, &h, h.test_guild.channel, "[[0,99]]");
    subscribe_to_member_list_rows(b, &h, h.test_guild.channel, "[[0,99]]");
    subscribe_to_member_list_rows(h.of_ada, &h, h.test_guild.id, "[[0,99]]");
    subscribe_to_member_list_rows(h.of_ada, &h, "12345", "[]");
    expect_quiet(e);
    expect_quiet(b);
    expect_quiet(h.of_ada);
}

static void configure_four_event_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_member_lists_tests[] = {
    TEST(subscribing_sends_the_member_list_at_once),
    TEST_WITH(member_list_contains_only_the_requested_ranges, configure_four_event_loops),
    TEST(member_list_reflects_status_nick_and_member_changes),
    TEST(hoisted_roles_form_the_groups_of_the_member_list),
    TEST(member_list_of_a_hidden_channel_has_only_its_viewers),
    TEST(unsubscribed_session_gets_no_list_updates),
    TEST(subscribing_to_eleven_channels_drops_the_first),
    TEST_WITH(one_payload_can_subscribe_to_several_guilds, configure_four_event_loops),
    TEST_WITH(resumed_session_gets_the_whole_member_list, configure_four_event_loops),
    TEST_WITH(member_list_subscription_survives_a_server_restart, configure_four_event_loops),
    TEST(member_list_is_sent_after_failed_reads_are_retried),
    TEST(large_guild_lists_only_online_members),
    TEST_WITH(subscriptions_to_many_member_lists_change_in_batches, configure_four_event_loops),
    TEST(malformed_subscriptions_close_with_4001_or_4002),
    TEST(subscription_to_unknown_guild_or_by_a_bot_is_ignored),
    { 0 },
};
