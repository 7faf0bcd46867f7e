/* gateway_events.c - walks the table of events: who receives each of them.
 *
 * A bot has a session for every intent and one without any, ada is a person in the
 * same guild, eve is in none. Each event is published as it is declared; a marker
 * after it says when everybody has heard what there was to hear. */
#include <stdio.h>
#include <stdlib.h>

#include "facts_read.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "guilds.h"
#include "test_guild.h"

enum { BITS = 22, NONE = BITS, PERSON, STRANGER, LISTENERS };

struct hall {
    struct world *world;
    struct client *ada, *bot, *eve;
    struct test_guild test_guild;
    struct gateway_conn *gates[LISTENERS];
    const char *payload;
};

static void publish(struct hall *h, enum event event, struct subject to, const char *payload)
{
    struct announcement a = { .event = event, .to = to, .payload = str_of(payload) };

    a.facts = facts_read(event, a.payload, world_arena(h->world));
    gateway_announce(guildhall_gateway(world_server(h->world)), &a);
}

/* A session of the bot with one intent, or none, that has its guild. */
static struct gateway_conn *bot_session(struct hall *h, int bit)
{
    char more[32];

    snprintf(more, sizeof more, "'intents': %d", bit == NONE ? 0 : 1 << bit);
    struct gateway_conn *g = conn_session(h->bot, "v=10", more);
    if (bit == 0)
        expect_dispatch(g, "GUILD_CREATE", "{}");
    /* What is asked for comes after the guilds. */
    conn_send(g, "{'op':8,'d':{'guild_id':'%s','user_ids':['%s']}}", h->test_guild.id, h->bot->id);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{}");
    return g;
}

/* Everybody has heard of everybody; from here on presences count. */
static void settle(struct hall *h)
{
    for (int i = 0; i < LISTENERS; i++) {
        conn_watch(h->gates[i], false);
        expect_quiet(h->gates[i]);
        conn_watch(h->gates[i], true);
    }
}

static void open_hall(struct world *w, struct hall *h)
{
    *h = (struct hall){ .world = w,
                        .ada = world_client(w, "ada"),
                        .bot = world_bot(w, "robot"),
                        .eve = world_client(w, "eve") };
    h->test_guild = world_test_guild(w, h->ada);
    test_guild_add_with(&h->test_guild, h->bot, 1, PERMISSION(VIEW_CHANNEL));
    for (int i = 0; i <= NONE; i++)
        h->gates[i] = bot_session(h, i);
    h->gates[PERSON] = conn_session(h->ada, "v=10", "");
    h->gates[STRANGER] = conn_session(h->eve, "v=10", "");
    settle(h);
    /* A thing of every kind, so that every event finds what it is about. */
    h->payload = str_printf(world_arena(w),
                            "{\"id\":\"%s\",\"type\":0,\"user\":{\"id\":\"1\"},\"role_id\":\"5\","
                            "\"role\":{\"id\":\"5\",\"permissions\":\"0\"},\"roles\":[],"
                            "\"guild_id\":\"%s\"}",
                            h->test_guild.channel, h->test_guild.id)
                     .p;
}

/* Was this the only thing told before the marker? */
static bool heard(struct gateway_conn *g, enum event event)
{
    bool found = false;

    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m != NULL);
        conn_count(g, m);
        const struct dom *t = dom_at(m, "t");
        if (str_is(t->text, "USER_UPDATE"))
            return found;
        expect(!found && str_is(t->text, event_name(event)));
        found = true;
    }
}

static void mark(struct hall *h)
{
    struct client *all[] = { h->ada, h->bot, h->eve };

    for (int i = 0; i < 3; i++)
        publish(h, EVENT_USER_UPDATE, to_user(id_of(all[i]->id)), "{}");
}

/* Exactly these: the bot's sessions with one of the intents (or all, when it needs
 * none), and the person. */
static void expect_heard(struct hall *h, enum event event, unsigned intents, bool bots, bool person)
{
    mark(h);
    for (int i = 0; i < LISTENERS; i++) {
        bool wanted = i == PERSON     ? person && !(event_info(event)->flags & EVENT_TO_BOTS)
                      : i == STRANGER ? false
                                      : bots && (!event_info(event)->intents ||
                                                 (i != NONE && intents >> i & 1));
        bool got = heard(h->gates[i], event);

        if (got != wanted)
            fail_test(__FILE__, __LINE__, "%s: listener %d %s", event_name(event), i,
                      got ? "heard it" : "did not hear it");
    }
}

static bool is_for_one(enum event e)
{
    return e == EVENT_USER_UPDATE || e == EVENT_READY || e == EVENT_RESUMED ||
           e == EVENT_GUILD_CREATE || e == EVENT_GUILD_DELETE;
}

static void every_event_in_a_guild_reaches_who_asked(struct world *w)
{
    struct hall h;

    open_hall(w, &h);
    for (enum event e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        const struct event_info *info = event_info(e);
        snowflake guild = id_of(h.test_guild.id);

        if (is_for_one(e))
            continue;
        /* The other intents are for who it is about, and these get a part of their own. */
        unsigned asked =
            info->flags & EVENT_CONCERNED ? (unsigned)INTENT(GUILD_MEMBERS) : info->intents;
        publish(&h, e, to_guild(guild), h.payload);
        expect_heard(&h, e, asked & ~INTENTS_PRIVATE, !(info->flags & EVENT_TO_USERS), true);
    }
}

/* The same with a channel that nobody but the owner may see. */
static void hidden_channels_keep_their_events(struct world *w)
{
    struct hall h;

    open_hall(w, &h);
    world_sql(w, "delete from member_roles where user_id = %s", h.bot->id);
    char payload[400];
    snprintf(payload, sizeof payload,
             "{\"id\":\"%s\",\"type\":0,\"guild_id\":\"%s\",\"permission_overwrites\":"
             "[{\"id\":\"%s\",\"type\":1,\"allow\":\"0\",\"deny\":\"1024\"}]}",
             h.test_guild.channel, h.test_guild.id, h.bot->id);
    for (enum event e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        const struct event_info *info = event_info(e);
        struct subject to = to_viewers(id_of(h.test_guild.id), id_of(h.test_guild.channel));

        if (is_for_one(e) || e == EVENT_CHANNEL_DELETE || e == EVENT_THREAD_DELETE)
            continue;
        /* Others may have changed what the channel hides. */
        publish(&h, EVENT_CHANNEL_UPDATE, to, payload);
        expect_heard(&h, EVENT_CHANNEL_UPDATE, INTENT(GUILDS), true, true);
        publish(&h, e, to, payload);
        /* Bots know the structure of a guild, whatever they may look into. */
        bool structure = info->flags & (EVENT_STRUCTURE | EVENT_BY_INTENT);
        expect_heard(&h, e, info->intents & ~INTENTS_PRIVATE, structure, true);
    }
}

static void every_event_of_a_private_channel_reaches_who_asked(struct world *w)
{
    struct hall h;

    open_hall(w, &h);
    struct answer a =
        client_post(h.ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", h.bot->id).p,
                    "/users/@me/channels");
    expect_status(a, 200);
    const char *channel = answer_text(a, "id");
    /* Sessions that begin now know it. */
    for (int i = 0; i <= NONE; i++) {
        conn_close(h.gates[i], 1000);
        h.gates[i] = bot_session(&h, i);
    }
    conn_close(h.gates[PERSON], 1000);
    h.gates[PERSON] = conn_session(h.ada, "v=10", "");
    settle(&h);
    for (enum event e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        const struct event_info *info = event_info(e);

        if (is_for_one(e) || info->flags & EVENT_CONCERNED) /* of threads, which guilds have */
            continue;
        snowflake people[] = { id_of(h.ada->id), id_of(h.bot->id) };
        struct announcement n = { .event = e,
                                  .to = to_channel(id_of(channel)),
                                  .people = { people, 2 },
                                  .payload = str_of(h.payload) };
        n.facts = facts_read(e, n.payload, world_arena(w));
        gateway_announce(guildhall_gateway(world_server(w)), &n);
        expect_heard(&h, e, info->intents & INTENTS_PRIVATE, !(info->flags & EVENT_TO_USERS), true);
    }
}

static void rights_narrow_an_event(struct world *w)
{
    struct hall h;

    open_hall(w, &h);
    snowflake guild = id_of(h.test_guild.id);
    publish(&h, EVENT_INVITE_CREATE, to_entitled(guild, 0, PERMISSION(MANAGE_CHANNELS)), "{}");
    expect_heard(&h, EVENT_INVITE_CREATE, INTENT(GUILD_INVITES), false, true);
    publish(&h, EVENT_INVITE_CREATE,
            to_entitled(guild, 0, PERMISSION(MANAGE_CHANNELS) | PERMISSION(VIEW_CHANNEL)), "{}");
    expect_heard(&h, EVENT_INVITE_CREATE, INTENT(GUILD_INVITES), true, true);
    publish(&h, EVENT_TYPING_START, to_viewers(guild, 12345), "{}"); /* no such channel */
    expect_heard(&h, EVENT_TYPING_START, INTENT(GUILD_MESSAGE_TYPING), false, false);
    /* Of some things bots need no right to hear. */
    publish(&h, EVENT_WEBHOOKS_UPDATE, to_entitled(guild, 0, PERMISSION(MANAGE_WEBHOOKS)), "{}");
    expect_heard(&h, EVENT_WEBHOOKS_UPDATE, INTENT(GUILD_WEBHOOKS), true, true);
}

const struct test gateway_events_tests[] = {
    TEST(every_event_in_a_guild_reaches_who_asked),
    TEST(hidden_channels_keep_their_events),
    TEST(every_event_of_a_private_channel_reaches_who_asked),
    TEST(rights_narrow_an_event),
    { 0 },
};
