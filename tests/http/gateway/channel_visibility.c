/* channel_visibility.c - events when channels and threads become visible or hidden. */
#include "base/clock.h"
#include "channels.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "gateway_source/gateway_source.h"
#include "test_guild.h"

static const char *const PLAIN = "v=10&encoding=json";

/* Guild of ada with bob and a channel that is visible to a role only. */
struct visibility_guild {
    struct client *ada, *bob, *bot;
    const char *guild, *role, *hidden;
    struct gateway_conn *of_ada, *of_bob, *of_bot;
};

static struct visibility_guild create_visibility_guild(struct world *w)
{
    struct hidden_position p = world_hidden_position(w);
    struct visibility_guild s = {
        p.ada, p.bob, p.bot, p.guild, p.role, p.hidden, NULL, NULL, NULL
    };

    s.of_ada = conn_session(s.ada, PLAIN, "");
    s.of_bob = conn_session(s.bob, PLAIN, "");
    s.of_bot = conn_session(s.bot, PLAIN, "'intents': 1");
    expect_dispatch(s.of_bot, "GUILD_CREATE", "{}");
    return s;
}

static void stage_instances_are_shown_only_with_visible_channels(struct world *w)
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
    /* Users who cannot view the channel do not get its stage instance; bots do. */
    g = conn_open(bob, PLAIN);
    expect_op(g, 10);
    conn_send(g, "{'op':2,'d':{'token':'%s','properties':{}}}", bob->authorization);
    const struct dom *d = expect_dispatch(g, "READY", "{'guilds': [{'stage_instances': []}]}");
    expect(dom_at(d, "guilds.0.stage_instances")->count == 0);
    g = conn_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(g, "GUILD_CREATE", "{'stage_instances': [{'topic': 'Tea'}]}");
}

static void add_or_remove_role_of_bob(struct visibility_guild *s, bool has)
{
    struct answer a = client_patch(
        s->ada, has ? TEXT(s->ada->world, "{'roles': ['%s']}", s->role) : "{'roles': []}",
        "/guilds/%s/members/%s", s->guild, s->bob->id);

    expect_status(a, 200);
}

static void skip_audit_log_entry_event(struct gateway_conn *g)
{
    expect_dispatch(g, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
}

/* Expects THREAD_LIST_SYNC of a channel that has become visible. */
static void expect_thread_list_sync(struct gateway_conn *g, const char *guild, const char *channel)
{
    const struct dom *d = expect_dispatch(
        g, "THREAD_LIST_SYNC", "{'guild_id': '%s', 'threads': [], 'members': []}", guild);
    const struct dom *ids = dom_at(d, "channel_ids");
    bool named = false;

    for (size_t i = 0; i < ids->count; i++)
        named |= str_is(ids->items[i].text, channel);
    expect(named);
}

static void adding_or_removing_a_role_shows_or_hides_channels(struct world *w)
{
    struct visibility_guild s = create_visibility_guild(w);

    add_or_remove_role_of_bob(&s, true);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{'roles': ['%s']}", s.role);
    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s', 'guild_id': '%s', 'name': 'h'}",
                    s.hidden, s.guild);
    expect_thread_list_sync(s.of_bob, s.guild, s.hidden);
    expect_quiet(s.of_bob);
    expect_status(client_post(s.ada, "{'content': 'psst'}", "/channels/%s/messages", s.hidden),
                  200);
    expect_dispatch(s.of_bob, "MESSAGE_CREATE", "{'content': 'psst'}");
    add_or_remove_role_of_bob(&s, false);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{'roles': []}");
    expect_dispatch(s.of_bob, "CHANNEL_DELETE", "{'id': '%s', 'guild_id': '%s'}", s.hidden,
                    s.guild);
    expect_status(client_post(s.ada, "{'content': 'again'}", "/channels/%s/messages", s.hidden),
                  200);
    expect_quiet(s.of_bob);
    /* Nobody else gets these events. */
    expect_dispatch(s.of_ada, "GUILD_MEMBER_UPDATE", "{}");
    skip_audit_log_entry_event(s.of_ada);
    expect_dispatch(s.of_ada, "MESSAGE_CREATE", "{}");
    expect_dispatch(s.of_ada, "GUILD_MEMBER_UPDATE", "{}");
    skip_audit_log_entry_event(s.of_ada);
    expect_dispatch(s.of_ada, "MESSAGE_CREATE", "{}");
    expect_quiet(s.of_ada);
    expect_quiet(s.of_bot);
}

/* Skips the guild's initial channels up to this one. */
static void read_channel_events_up_to_channel(struct gateway_conn *g, const char *event,
                                              const char *last)
{
    const struct dom *d;

    do
        d = expect_dispatch(g, event, "{}");
    while (!str_is(dom_at(d, "id")->text, last));
}

static void role_permission_changes_show_and_hide_channels(struct world *w)
{
    struct visibility_guild s = create_visibility_guild(w);
    const char *open = make_channel(s.ada, s.guild, "{'name': 'open'}");

    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", open);
    /* @everyone loses VIEW_CHANNEL; an overwrite still gives it to the role. */
    add_or_remove_role_of_bob(&s, true);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", s.hidden);
    expect_thread_list_sync(s.of_bob, s.guild, s.hidden);
    expect_status(
        client_patch(s.ada, "{'permissions': '2048'}", "/guilds/%s/roles/%s", s.guild, s.guild),
        200);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{}");
    read_channel_events_up_to_channel(s.of_bob, "CHANNEL_DELETE", open);
    expect_quiet(s.of_bob);
    /* A new name changes no visibility. */
    expect_status(client_patch(s.ada, "{'name': 'Owls'}", "/guilds/%s/roles/%s", s.guild, s.role),
                  200);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{'role': {'name': 'Owls'}}");
    expect_quiet(s.of_bob);
    /* An administrator sees all channels. */
    expect_status(
        client_patch(s.ada, "{'permissions': '8'}", "/guilds/%s/roles/%s", s.guild, s.role), 200);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{}");
    read_channel_events_up_to_channel(s.of_bob, "CHANNEL_CREATE", open);
    expect_thread_list_sync(s.of_bob, s.guild, open);
    expect_quiet(s.of_bob);
}

static void deleting_a_role_hides_its_channels(struct world *w)
{
    struct visibility_guild s = create_visibility_guild(w);

    add_or_remove_role_of_bob(&s, true);
    expect_dispatch(s.of_bob, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", s.hidden);
    expect_thread_list_sync(s.of_bob, s.guild, s.hidden);
    expect_status(client_delete(s.ada, "/guilds/%s/roles/%s", s.guild, s.role), 204);
    expect_dispatch(s.of_bob, "GUILD_ROLE_DELETE", "{'role_id': '%s'}", s.role);
    expect_dispatch(s.of_bob, "CHANNEL_DELETE", "{'id': '%s'}", s.hidden);
    expect_status(client_post(s.ada, "{'content': 'psst'}", "/channels/%s/messages", s.hidden),
                  200);
    expect_quiet(s.of_bob);
}

/* --- bulk changes --------------------------------------------------------------------- */

enum { WATCHERS = 40, CHANNELS = 120 };

static void set_view_permission_of_everyone(struct visibility_guild *s, bool shown)
{
    expect_status(client_patch(s->ada,
                               shown ? "{'permissions': '3072'}" : "{'permissions': '2048'}",
                               "/guilds/%s/roles/%s", s->guild, s->guild),
                  200);
}

/* Expects all channels in the order of their ids. */
static void expect_channel_create_or_delete_events(struct gateway_conn *g, const char *event,
                                                   const char *const *channels)
{
    expect_dispatch(g, "GUILD_ROLE_UPDATE", "{}");
    read_channel_events_up_to_channel(g, event, channels[0]);
    for (int i = 1; i < CHANNELS; i++)
        expect_dispatch(g, event, "{'id': '%s'}", channels[i]);
}

/* Returns whether the next event is the message, and not the thread list. */
static bool next_is_message(struct gateway_conn *g)
{
    const struct dom *m = conn_read(g, 60000);

    expect(m != NULL);
    conn_count(g, m);
    bool message = str_is(dom_at(m, "t")->text, "MESSAGE_CREATE");
    expect(message || str_is(dom_at(m, "t")->text, "THREAD_LIST_SYNC"));
    return message;
}

/* So many sessions and channels that a loop needs several iterations. Some sessions close in the
 * middle; a message arrives after its channel. */
static void channels_are_shown_to_many_sessions_before_their_messages(struct world *w)
{
    struct visibility_guild s = create_visibility_guild(w);
    const char *channels[CHANNELS];
    struct gateway_conn *watchers[WATCHERS];

    conn_close(s.of_bob, 1000);
    for (int i = 0; i < CHANNELS; i++)
        channels[i] = make_channel(s.ada, s.guild, TEXT(w, "{'name': 'r%d'}", i));
    for (int i = 0; i < WATCHERS; i++)
        watchers[i] = conn_session(s.bob, PLAIN, "");
    for (int i = 0; i < WATCHERS; i++)
        for (int k = i + 1; k < WATCHERS; k++) /* SESSIONS_REPLACE of the later sessions */
            conn_count(watchers[i], conn_read(watchers[i], 60000));
    set_view_permission_of_everyone(&s, false);
    set_view_permission_of_everyone(&s, true);
    expect_status(
        client_post(s.ada, "{'content': 'x'}", "/channels/%s/messages", channels[CHANNELS / 2]),
        200);
    for (int i = 0; i < WATCHERS; i += 4)
        conn_kill(watchers[i]);
    for (int i = 0; i < WATCHERS; i++) {
        if (i % 4 == 0)
            continue;
        expect_channel_create_or_delete_events(watchers[i], "CHANNEL_DELETE", channels);
        expect_channel_create_or_delete_events(watchers[i], "CHANNEL_CREATE", channels);
        expect(next_is_message(watchers[i]) != next_is_message(watchers[i]));
        expect_quiet(watchers[i]);
    }
}

static void configure_one_event_loop(struct config *c)
{
    c->loops = 1;
}

/* Enough steps for SQLite to check the time limit. */
static enum err run_long_query(struct tx *tx)
{
    struct rows row;
    bool found;

    return tx_one(tx,
                  "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) "
                  "select count(*) from n",
                  NO_BIND, &row, &found);
}

/* Longer than a read may take on a loop: it is restarted in the background. */
static enum err slow_channel(struct tx *tx, snowflake id, struct json_writer *j)
{
    enum err e = run_long_query(tx);

    for (int64_t until = clock_monotonic_ns() + 8 * 1000 * 1000; clock_monotonic_ns() < until;)
        ;
    if (!e)
        e = run_long_query(tx);
    return e ? e : gateway_source.channel(tx, id, j);
}

static void hiding_channels_sends_each_channel_delete_despite_slow_reads(struct world *w)
{
    static struct gateway_source slow;
    const char *channels[4];

    slow = gateway_source;
    slow.channel = slow_channel;
    world_use_source(w, &slow);
    struct visibility_guild s = create_visibility_guild(w);
    for (int i = 0; i < 4; i++) {
        channels[i] = make_channel(s.ada, s.guild, TEXT(w, "{'name': 'r%d'}", i));
        expect_dispatch(s.of_bob, "CHANNEL_CREATE", "{'id': '%s'}", channels[i]);
    }
    set_view_permission_of_everyone(&s, false);
    expect_dispatch(s.of_bob, "GUILD_ROLE_UPDATE", "{}");
    read_channel_events_up_to_channel(s.of_bob, "CHANNEL_DELETE", channels[0]);
    for (int i = 1; i < 4; i++)
        expect_dispatch(s.of_bob, "CHANNEL_DELETE", "{'id': '%s'}", channels[i]);
    expect_quiet(s.of_bob);
}

/* --- threads -------------------------------------------------------------------------- */

static const char *start_thread(struct visibility_guild *s, struct client *c, const char *channel,
                                int type)
{
    struct answer a = client_post(c, TEXT(s->ada->world, "{'name': 't', 'type': %d}", type),
                                  "/channels/%s/threads", channel);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static void private_thread_events_go_only_to_creator_and_managers(struct world *w)
{
    struct visibility_guild s = create_visibility_guild(w);
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
    expect_quiet(of_cleo); /* can view the channel, but not manage threads */
    struct gateway_conn *late = conn_session(cleo, PLAIN, ""); /* read the thread from the store */
    expect_status(client_post(s.bob, "{'content': 'more'}", "/channels/%s/messages", thread), 200);
    expect_dispatch(s.of_bob, "MESSAGE_CREATE", "{'content': 'more'}");
    expect_quiet(late);
    expect_status(client_delete(s.ada, "/channels/%s", thread), 200);
    expect_dispatch(s.of_bob, "THREAD_DELETE", "{'id': '%s'}", thread);
    expect_quiet(late);
}

static void unarchived_thread_sends_thread_update_to_channel_viewers(struct world *w)
{
    struct visibility_guild s = create_visibility_guild(w);
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
    /* The same holds on a loop that has not read the guild before. */
    conn_close(s.of_ada, 1000);
    conn_close(s.of_bob, 1000);
    conn_close(s.of_bot, 1000);
    struct gateway_conn *late = conn_session(s.bob, PLAIN, "");
    expect_status(client_delete(s.ada, "/channels/%s", thread), 200);
    expect_dispatch(late, "THREAD_DELETE", "{'id': '%s'}", thread);
    expect_dispatch(late, "MESSAGE_UPDATE", "{'id': '%s', 'flags': 0}", thread);
    expect_quiet(late);
}

const struct test gateway_channel_visibility_tests[] = {
    TEST(stage_instances_are_shown_only_with_visible_channels),
    TEST(adding_or_removing_a_role_shows_or_hides_channels),
    TEST(role_permission_changes_show_and_hide_channels),
    TEST(deleting_a_role_hides_its_channels),
    TEST_WITH(channels_are_shown_to_many_sessions_before_their_messages, configure_one_event_loop),
    TEST(hiding_channels_sends_each_channel_delete_despite_slow_reads),
    TEST(private_thread_events_go_only_to_creator_and_managers),
    TEST(unarchived_thread_sends_thread_update_to_channel_viewers),
    { 0 },
};
