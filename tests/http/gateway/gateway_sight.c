/* gateway_sight.c - who hears of threads, and of channels that come into view. */
#include "base/clock.h"
#include "channels.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "gateway_source/gateway_source.h"
#include "test_guild.h"

static const char *const PLAIN = "v=10&encoding=json";

/* A guild of ada's with a channel that only a role sees, and bob. */
struct scene {
    struct client *ada, *bob, *bot;
    const char *guild, *role, *hidden;
    struct gateway_conn *of_ada, *of_bob, *of_bot;
};

static struct scene open_scene(struct world *w)
{
    struct hidden_place p = world_hidden_place(w);
    struct scene s = { p.ada, p.bob, p.bot, p.guild, p.role, p.hidden, NULL, NULL, NULL };

    s.of_ada = conn_session(s.ada, PLAIN, "");
    s.of_bob = conn_session(s.bob, PLAIN, "");
    s.of_bot = conn_session(s.bot, PLAIN, "'intents': 1");
    expect_dispatch(s.of_bot, "GUILD_CREATE", "{}");
    return s;
}

static void open_stages_are_shown_with_their_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    const char *guild = found_guild(ada, "Hall");
    const char *stage = make_channel(
        ada, guild,
        TEXT(w,
             "{'name': 's', 'type': 13, 'permission_overwrites': [{'id': '%s', 'type': 0, "
             "'deny': '1024'}]}",
             guild));
    put_member(guild, bob);
    put_member(guild, bot);
    expect_status(client_post(ada, TEXT(w, "{'channel_id': '%s', 'topic': 'Tea'}", stage),
                              "/stage-instances"),
                  200);

    struct gateway_conn *g = conn_open(ada, PLAIN);
    expect_op(g, 10);
    conn_send(g, "{'op':2,'d':{'token':'%s','properties':{}}}", ada->authorization);
    expect_dispatch(g, "READY",
                    "{'guilds': [{'stage_instances': [{'channel_id': '%s', 'topic': 'Tea'}]}]}",
                    stage);
    /* Who does not see the channel does not see its stage; bots see both. */
    g = conn_open(bob, PLAIN);
    expect_op(g, 10);
    conn_send(g, "{'op':2,'d':{'token':'%s','properties':{}}}", bob->authorization);
    const struct dom *d = expect_dispatch(g, "READY", "{'guilds': [{'stage_instances': []}]}");
    expect(dom_at(d, "guilds.0.stage_instances")->count == 0);
    g = conn_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(g, "GUILD_CREATE", "{'stage_instances': [{'topic': 'Tea'}]}");
}

static void give(struct scene *s, bool has)
{
    struct answer a = client_patch(
        s->ada, has ? TEXT(s->ada->world, "{'roles': ['%s']}", s->role) : "{'roles': []}",
        "/guilds/%s/members/%s", s->guild, s->bob->id);

    expect_status(a, 200);
}

static void skip_audit(struct gateway_conn *g)
{
    expect_dispatch(g, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
}

/* After channels that have come into view: which open threads they have. */
static void expect_sync(struct gateway_conn *g, const char *guild, const char *channel)
{
    const struct dom *d = expect_dispatch(
        g, "THREAD_LIST_SYNC", "{'guild_id': '%s', 'threads': [], 'members': []}", guild);
    const struct dom *ids = dom_at(d, "channel_ids");
    bool named = false;

    for (size_t i = 0; i < ids->count; i++)
        named |= str_is(ids->items[i].text, channel);
    expect(named);
}

static void a_role_that_comes_and_goes_shows_and_hides_channels(struct world *w)
{
    struct scene s = open_scene(w);

    give(&s, true);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{'roles': ['%s']}", s.role);
    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s', 'guild_id': '%s', 'name': 'h'}",
                    s.hidden, s.guild);
    expect_sync(s.of_bob, s.guild, s.hidden);
    expect_quiet(s.of_bob);
    expect_status(client_post(s.ada, "{'content': 'psst'}", "/channels/%s/messages", s.hidden),
                  200);
    expect_dispatch(s.of_bob, "MESSAGE_CREATE", "{'content': 'psst'}");
    give(&s, false);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{'roles': []}");
    expect_dispatch(s.of_bob, "CHANNEL_DELETE", "{'id': '%s', 'guild_id': '%s'}", s.hidden,
                    s.guild);
    expect_status(client_post(s.ada, "{'content': 'again'}", "/channels/%s/messages", s.hidden),
                  200);
    expect_quiet(s.of_bob);
    /* Nobody else is told so. */
    expect_dispatch(s.of_ada, "GUILD_MEMBER_UPDATE", "{}");
    skip_audit(s.of_ada);
    expect_dispatch(s.of_ada, "MESSAGE_CREATE", "{}");
    expect_dispatch(s.of_ada, "GUILD_MEMBER_UPDATE", "{}");
    skip_audit(s.of_ada);
    expect_dispatch(s.of_ada, "MESSAGE_CREATE", "{}");
    expect_quiet(s.of_ada);
    expect_quiet(s.of_bot);
}

/* A guild is founded with some channels; then comes this one. */
static void expect_channels_to(struct gateway_conn *g, const char *event, const char *last)
{
    const struct dom *d;

    do
        d = expect_dispatch(g, event, "{}");
    while (!str_is(dom_at(d, "id")->text, last));
}

static void rights_of_a_role_show_and_hide_channels(struct world *w)
{
    struct scene s = open_scene(w);
    const char *open = make_channel(s.ada, s.guild, "{'name': 'open'}");

    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", open);
    /* Everybody loses the right to view; overwrites still give it to keepers. */
    give(&s, true);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", s.hidden);
    expect_sync(s.of_bob, s.guild, s.hidden);
    expect_status(
        client_patch(s.ada, "{'permissions': '2048'}", "/guilds/%s/roles/%s", s.guild, s.guild),
        200);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{}");
    expect_channels_to(s.of_bob, "CHANNEL_DELETE", open);
    expect_quiet(s.of_bob);
    /* Another name changes nothing. */
    expect_status(client_patch(s.ada, "{'name': 'Owls'}", "/guilds/%s/roles/%s", s.guild, s.role),
                  200);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{'role': {'name': 'Owls'}}");
    expect_quiet(s.of_bob);
    /* Who administers sees everything. */
    expect_status(
        client_patch(s.ada, "{'permissions': '8'}", "/guilds/%s/roles/%s", s.guild, s.role), 200);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{}");
    expect_channels_to(s.of_bob, "CHANNEL_CREATE", open);
    expect_sync(s.of_bob, s.guild, open);
    expect_quiet(s.of_bob);
}

static void a_deleted_role_hides_what_it_showed(struct world *w)
{
    struct scene s = open_scene(w);

    give(&s, true);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", s.hidden);
    expect_sync(s.of_bob, s.guild, s.hidden);
    expect_status(client_delete(s.ada, "/guilds/%s/roles/%s", s.guild, s.role), 204);
    expect_dispatch(s.of_bob, "GUILD_ROLE_DELETE", "{'role_id': '%s'}", s.role);
    expect_dispatch(s.of_bob, "CHANNEL_DELETE", "{'id': '%s'}", s.hidden);
    expect_status(client_post(s.ada, "{'content': 'psst'}", "/channels/%s/messages", s.hidden),
                  200);
    expect_quiet(s.of_bob);
}

/* --- many at once --------------------------------------------------------------------- */

enum { WATCHERS = 40, ROOMS = 120 };

static void show_to_everyone(struct scene *s, bool shown)
{
    expect_status(client_patch(s->ada,
                               shown ? "{'permissions': '3072'}" : "{'permissions': '2048'}",
                               "/guilds/%s/roles/%s", s->guild, s->guild),
                  200);
}

/* In the order of their ids, and all of them. */
static void expect_rooms(struct gateway_conn *g, const char *event, const char *const *rooms)
{
    expect_dispatch(g, "GUILD_ROLE_UPDATE", "{}");
    expect_channels_to(g, event, rooms[0]);
    for (int i = 1; i < ROOMS; i++)
        expect_dispatch(g, event, "{'id': '%s'}", rooms[i]);
}

/* The next event is the one that is looked for, or the threads of what was shown. */
static bool next_is_message(struct gateway_conn *g)
{
    const struct dom *m = conn_read(g, 60000);

    expect(m != NULL);
    conn_count(g, m);
    bool message = str_is(dom_at(m, "t")->text, "MESSAGE_CREATE");
    expect(message || str_is(dom_at(m, "t")->text, "THREAD_LIST_SYNC"));
    return message;
}

/* So many sessions and channels that a loop tells of them over several turns. Some leave in
 * the middle of it; what is said in a channel comes after the channel. */
static void many_are_shown_many_channels_before_what_follows(struct world *w)
{
    struct scene s = open_scene(w);
    const char *rooms[ROOMS];
    struct gateway_conn *watchers[WATCHERS];

    conn_close(s.of_bob, 1000);
    for (int i = 0; i < ROOMS; i++)
        rooms[i] = make_channel(s.ada, s.guild, TEXT(w, "{'name': 'r%d'}", i));
    for (int i = 0; i < WATCHERS; i++)
        watchers[i] = conn_session(s.bob, PLAIN, "");
    for (int i = 0; i < WATCHERS; i++)
        for (int k = i + 1; k < WATCHERS; k++) /* of those that came after it */
            conn_count(watchers[i], conn_read(watchers[i], 60000));
    show_to_everyone(&s, false);
    show_to_everyone(&s, true);
    expect_status(client_post(s.ada, "{'content': 'x'}", "/channels/%s/messages", rooms[ROOMS / 2]),
                  200);
    for (int i = 0; i < WATCHERS; i += 4)
        conn_kill(watchers[i]);
    for (int i = 0; i < WATCHERS; i++) {
        if (i % 4 == 0)
            continue;
        expect_rooms(watchers[i], "CHANNEL_DELETE", rooms);
        expect_rooms(watchers[i], "CHANNEL_CREATE", rooms);
        expect(next_is_message(watchers[i]) != next_is_message(watchers[i]));
        expect_quiet(watchers[i]);
    }
}

static void one_loop(struct config *c)
{
    c->loops = 1;
}

/* Enough steps for SQLite to look at the clock. */
static enum err count_far(struct tx *tx)
{
    struct rows row;
    bool found;

    return tx_one(tx,
                  "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) "
                  "select count(*) from n",
                  NO_BIND, &row, &found);
}

/* Longer than a look may take on a loop: it is begun anew beside it. */
static enum err slow_channel(struct tx *tx, snowflake id, struct json *j)
{
    enum err e = count_far(tx);

    for (int64_t until = clock_mono() + 8 * 1000 * 1000; clock_mono() < until;)
        ;
    if (!e)
        e = count_far(tx);
    return e ? e : gateway_source.channel(tx, id, j);
}

static void channels_that_are_read_anew_are_all_shown(struct world *w)
{
    static struct gateway_source slow;
    const char *rooms[4];

    slow = gateway_source;
    slow.channel = slow_channel;
    world_use_source(w, &slow);
    struct scene s = open_scene(w);
    for (int i = 0; i < 4; i++) {
        rooms[i] = make_channel(s.ada, s.guild, TEXT(w, "{'name': 'r%d'}", i));
        expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", rooms[i]);
    }
    show_to_everyone(&s, false);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{}");
    expect_channels_to(s.of_bob, "CHANNEL_DELETE", rooms[0]);
    for (int i = 1; i < 4; i++)
        expect_dispatch(s.of_bob, "CHANNEL_DELETE", "{'id': '%s'}", rooms[i]);
    expect_quiet(s.of_bob);
}

/* --- threads -------------------------------------------------------------------------- */

static const char *start_thread(struct scene *s, struct client *c, const char *channel, int type)
{
    struct answer a = client_post(c, TEXT(s->ada->world, "{'name': 't', 'type': %d}", type),
                                  "/channels/%s/threads", channel);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static void private_threads_are_their_starters(struct world *w)
{
    struct scene s = open_scene(w);
    struct client *cleo = member_with(s.ada, s.guild, "cleo", 0);
    const char *open = make_channel(s.ada, s.guild, "{'name': 'open'}");
    struct gateway_conn *of_cleo = conn_session(cleo, PLAIN, "");

    expect_dispatch(s.of_bob, "GUILD_ROLE_CREATE", "{}");
    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{}");
    const char *thread = start_thread(&s, s.bob, open, 12);
    expect_dispatch(s.of_bob, "THREAD_CREATE", "{'id': '%s', 'type': 12}", thread);
    expect_dispatch(s.of_bob, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", thread);
    expect_status(client_post(s.bob, "{'content': 'psst'}", "/channels/%s/messages", thread), 200);
    expect_dispatch(s.of_bob, "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
    expect_quiet(of_cleo); /* sees the channel, but does not manage threads */
    struct gateway_conn *late = conn_session(cleo, PLAIN, ""); /* knows it from the store */
    expect_status(client_post(s.bob, "{'content': 'more'}", "/channels/%s/messages", thread), 200);
    expect_dispatch(s.of_bob, "MESSAGE_CREATE", "{'content': 'more'}");
    expect_quiet(late);
    expect_status(client_delete(s.ada, "/channels/%s", thread), 200);
    expect_dispatch(s.of_bob, "THREAD_DELETE", "{'id': '%s'}", thread);
    expect_quiet(late);
}

static void archived_threads_are_heard_of(struct world *w)
{
    struct scene s = open_scene(w);
    const char *open = make_channel(s.ada, s.guild, "{'name': 'open'}");

    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{}");
    const char *thread = start_thread(&s, s.ada, open, 11);
    expect_dispatch(s.of_bob, "THREAD_CREATE", "{'id': '%s'}", thread);
    expect_dispatch(s.of_bob, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", thread);
    expect_dispatch(s.of_bob, "MESSAGE_CREATE", "{'type': 18}");
    struct answer a = client_post(s.ada, "{'content': 'first'}", "/channels/%s/messages", thread);
    expect_dispatch(s.of_bob, "MESSAGE_CREATE", "{}");
    expect_status(client_patch(s.ada, "{'archived': true}", "/channels/%s", thread), 200);
    expect_dispatch(s.of_bob, "THREAD_UPDATE", "{'thread_metadata': {'archived': true}}");
    expect_status(client_delete(s.ada, "/channels/%s/messages/%s", thread, answer_text(a, "id")),
                  204);
    expect_dispatch(s.of_bob, "MESSAGE_DELETE", "{'channel_id': '%s'}", thread);
    /* Also by a loop that learns of the guild only now. */
    conn_close(s.of_ada, 1000);
    conn_close(s.of_bob, 1000);
    conn_close(s.of_bot, 1000);
    struct gateway_conn *late = conn_session(s.bob, PLAIN, "");
    expect_status(client_delete(s.ada, "/channels/%s", thread), 200);
    expect_dispatch(late, "THREAD_DELETE", "{'id': '%s'}", thread);
    expect_dispatch(late, "MESSAGE_UPDATE", "{'id': '%s', 'flags': 0}", thread);
    expect_quiet(late);
}

const struct test gateway_sight_tests[] = {
    TEST(open_stages_are_shown_with_their_channels),
    TEST(a_role_that_comes_and_goes_shows_and_hides_channels),
    TEST(rights_of_a_role_show_and_hide_channels),
    TEST(a_deleted_role_hides_what_it_showed),
    TEST_WITH(many_are_shown_many_channels_before_what_follows, one_loop),
    TEST(channels_that_are_read_anew_are_all_shown),
    TEST(private_threads_are_their_starters),
    TEST(archived_threads_are_heard_of),
    { 0 },
};
