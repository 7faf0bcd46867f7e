/* events.c - iterates over all events and checks who receives each of them. A bot has a session
 * for every intent and one without any, ada is a user in the same guild, eve is in no guild.
 * Each event is published as declared; a marker event follows it. */
#include <stdio.h>
#include <stdlib.h>

#include "facts_read.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "guilds.h"
#include "test_guild.h"

enum { BITS = 22, NONE = BITS, PERSON, OUTSIDER, LISTENERS };

struct listeners {
    struct world *world;
    struct client *ada, *bot, *eve;
    struct test_guild test_guild;
    struct gateway_conn *gates[LISTENERS];
    const char *payload;
};

static void publish_event_to_loops(struct listeners *h, enum event event, struct audience to,
                                   const char *payload)
{
    struct emitted_event a = { .event = event, .to = to, .payload = str_of(payload) };

    a.routing = facts_read(event, a.payload, world_arena(h->world));
    gateway_publish_announcements(guildhall_get_gateway(world_server(h->world)), &a);
}

/* Opens a session of the bot with one intent, or none, that has its guild. */
static struct gateway_conn *open_bot_session(struct listeners *h, int bit)
{
    char more[32];

    snprintf(more, sizeof more, "'intents': %d", bit == NONE ? 0 : 1 << bit);
    struct gateway_conn *g = conn_session(h->bot, "v=10", more);
    if (bit == 0)
        expect_dispatch(g, "GUILD_CREATE", "{}");
    /* Replies to requests follow the guilds. */
    conn_send(g, "{'op':8,'d':{'guild_id':'%s','user_ids':['%s']}}", h->test_guild.id, h->bot->id);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{}");
    return g;
}

/* Reads all initial presences; from here on presences count. */
static void read_initial_presences(struct listeners *h)
{
    for (int i = 0; i < LISTENERS; i++) {
        conn_watch(h->gates[i], false);
        expect_quiet(h->gates[i]);
        conn_watch(h->gates[i], true);
    }
}

static void open_sessions(struct world *w, struct listeners *h)
{
    *h = (struct listeners){ .world = w,
                             .ada = world_client(w, "ada"),
                             .bot = world_bot(w, "robot"),
                             .eve = world_client(w, "eve") };
    h->test_guild = world_test_guild(w, h->ada);
    test_guild_add_with(&h->test_guild, h->bot, 1, PERMISSION(VIEW_CHANNEL));
    for (int i = 0; i <= NONE; i++)
        h->gates[i] = open_bot_session(h, i);
    h->gates[PERSON] = conn_session(h->ada, "v=10", "");
    h->gates[OUTSIDER] = conn_session(h->eve, "v=10", "");
    read_initial_presences(h);
    /* The guild has an object of every type, so that every event finds its object. */
    h->payload = str_printf(world_arena(w),
                            "{\"id\":\"%s\",\"type\":0,\"user\":{\"id\":\"1\"},\"role_id\":\"5\","
                            "\"role\":{\"id\":\"5\",\"permissions\":\"0\"},\"roles\":[],"
                            "\"guild_id\":\"%s\"}",
                            h->test_guild.channel, h->test_guild.id)
                     .p;
}

/* Returns whether this was the only event before the marker. */
static bool received_only_event_before_marker(struct gateway_conn *g, enum event event)
{
    bool found = false;

    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m != NULL);
        conn_count(g, m);
        const struct dom *t = dom_at(m, "t");
        if (str_is(t->text, "USER_UPDATE"))
            return found;
        expect(!found && str_is(t->text, get_name_of_event_type(event)));
        found = true;
    }
}

static void publish_end_marker_event(struct listeners *h)
{
    struct client *all[] = { h->ada, h->bot, h->eve };

    for (int i = 0; i < 3; i++)
        publish_event_to_loops(h, EVENT_USER_UPDATE, audience_of_user(id_of(all[i]->id)), "{}");
}

/* Expects exactly these recipients: the bot's sessions with one of the intents (or all, if none
 * is needed), and the user. */
static void expect_event_received_only_by(struct listeners *h, enum event event, unsigned intents,
                                          bool bots, bool person)
{
    publish_end_marker_event(h);
    for (int i = 0; i < LISTENERS; i++) {
        bool wanted = i == PERSON
                          ? person && !(get_properties_of_event_type(event)->flags & EVENT_TO_BOTS)
                      : i == OUTSIDER ? false
                                      : bots && (!get_properties_of_event_type(event)->intents ||
                                                 (i != NONE && intents >> i & 1));
        bool got = received_only_event_before_marker(h->gates[i], event);

        if (got != wanted)
            fail_test(__FILE__, __LINE__, "%s: listener %d %s", get_name_of_event_type(event), i,
                      got ? "heard it" : "did not hear it");
    }
}

static bool is_event_for_one_user(enum event e)
{
    return e == EVENT_USER_UPDATE || e == EVENT_READY || e == EVENT_RESUMED ||
           e == EVENT_GUILD_CREATE || e == EVENT_GUILD_DELETE;
}

static void guild_events_go_exactly_to_sessions_with_their_intent(struct world *w)
{
    struct listeners h;

    open_sessions(w, &h);
    for (enum event e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        const struct event_type_properties *info = get_properties_of_event_type(e);
        snowflake guild = id_of(h.test_guild.id);

        if (is_event_for_one_user(e))
            continue;
        /* The other intents are for the user concerned, who gets a separate event. */
        unsigned asked =
            info->flags & EVENT_CONCERNED ? (unsigned)INTENT(GUILD_MEMBERS) : info->intents;
        publish_event_to_loops(&h, e, audience_of_guild(guild), h.payload);
        expect_event_received_only_by(&h, e, asked & ~INTENTS_PRIVATE_CHANNELS,
                                      !(info->flags & EVENT_TO_USERS), true);
    }
}

/* The same for a channel that only the owner can view. */
static void events_of_hidden_channels_go_only_to_viewers(struct world *w)
{
    struct listeners h;

    open_sessions(w, &h);
    world_sql(w, "delete from member_roles where user_id = %s", h.bot->id);
    char payload[400];
    snprintf(payload, sizeof payload,
             "{\"id\":\"%s\",\"type\":0,\"guild_id\":\"%s\",\"permission_overwrites\":"
             "[{\"id\":\"%s\",\"type\":1,\"allow\":\"0\",\"deny\":\"1024\"}]}",
             h.test_guild.channel, h.test_guild.id, h.bot->id);
    for (enum event e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        const struct event_type_properties *info = get_properties_of_event_type(e);
        struct audience to =
            audience_of_channel_viewers(id_of(h.test_guild.id), id_of(h.test_guild.channel));

        if (is_event_for_one_user(e) || e == EVENT_CHANNEL_DELETE || e == EVENT_THREAD_DELETE)
            continue;
        /* An earlier event may have changed the overwrites. */
        publish_event_to_loops(&h, EVENT_CHANNEL_UPDATE, to, payload);
        expect_event_received_only_by(&h, EVENT_CHANNEL_UPDATE, INTENT(GUILDS), true, true);
        publish_event_to_loops(&h, e, to, payload);
        /* Bots receive structure events of channels that they cannot view. */
        bool structure = info->flags & (EVENT_STRUCTURE | EVENT_BY_INTENT);
        expect_event_received_only_by(&h, e, info->intents & ~INTENTS_PRIVATE_CHANNELS, structure,
                                      true);
    }
}

static void private_channel_events_go_to_sessions_with_their_intent(struct world *w)
{
    struct listeners h;

    open_sessions(w, &h);
    struct answer a =
        client_post(h.ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", h.bot->id).p,
                    "/users/@me/channels");
    expect_status(a, 200);
    const char *channel = answer_text(a, "id");
    /* Sessions that start now have the channel. */
    for (int i = 0; i <= NONE; i++) {
        conn_close(h.gates[i], 1000);
        h.gates[i] = open_bot_session(&h, i);
    }
    conn_close(h.gates[PERSON], 1000);
    h.gates[PERSON] = conn_session(h.ada, "v=10", "");
    read_initial_presences(&h);
    for (enum event e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        const struct event_type_properties *info = get_properties_of_event_type(e);

        if (is_event_for_one_user(e) ||
            info->flags & EVENT_CONCERNED) /* events of threads, which exist only in guilds */
            continue;
        snowflake people[] = { id_of(h.ada->id), id_of(h.bot->id) };
        struct emitted_event n = { .event = e,
                                   .to = audience_of_private_channel(id_of(channel)),
                                   .member_ids = { people, 2 },
                                   .payload = str_of(h.payload) };
        n.routing = facts_read(e, n.payload, world_arena(w));
        gateway_publish_announcements(guildhall_get_gateway(world_server(w)), &n);
        expect_event_received_only_by(&h, e, info->intents & INTENTS_PRIVATE_CHANNELS,
                                      !(info->flags & EVENT_TO_USERS), true);
    }
}

static void events_go_only_to_members_with_the_required_permissions(struct world *w)
{
    struct listeners h;

    open_sessions(w, &h);
    snowflake guild = id_of(h.test_guild.id);
    publish_event_to_loops(
        &h, EVENT_INVITE_CREATE,
        audience_of_members_with_permission(guild, 0, PERMISSION(MANAGE_CHANNELS)), "{}");
    expect_event_received_only_by(&h, EVENT_INVITE_CREATE, INTENT(GUILD_INVITES), false, true);
    publish_event_to_loops(&h, EVENT_INVITE_CREATE,
                           audience_of_members_with_permission(
                               guild, 0, PERMISSION(MANAGE_CHANNELS) | PERMISSION(VIEW_CHANNEL)),
                           "{}");
    expect_event_received_only_by(&h, EVENT_INVITE_CREATE, INTENT(GUILD_INVITES), true, true);
    publish_event_to_loops(&h, EVENT_TYPING_START, audience_of_channel_viewers(guild, 12345),
                           "{}"); /* no such channel */
    expect_event_received_only_by(&h, EVENT_TYPING_START, INTENT(GUILD_MESSAGE_TYPING), false,
                                  false);
    /* Some events need no permission for bots. */
    publish_event_to_loops(
        &h, EVENT_WEBHOOKS_UPDATE,
        audience_of_members_with_permission(guild, 0, PERMISSION(MANAGE_WEBHOOKS)), "{}");
    expect_event_received_only_by(&h, EVENT_WEBHOOKS_UPDATE, INTENT(GUILD_WEBHOOKS), true, true);
}

const struct test gateway_events_tests[] = {
    TEST(guild_events_go_exactly_to_sessions_with_their_intent),
    TEST(events_of_hidden_channels_go_only_to_viewers),
    TEST(private_channel_events_go_to_sessions_with_their_intent),
    TEST(events_go_only_to_members_with_the_required_permissions),
    { 0 },
};
