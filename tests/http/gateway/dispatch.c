/* dispatch.c - each event is delivered exactly to the sessions that may receive it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "guilds.h"
#include "test_guild.h"

static const char *const PLAIN = "v=10&encoding=json";

enum {
    GUILDS = 1 << 0,
    MEMBERS = 1 << 1,
    MODERATION = 1 << 2,
    PRESENCES = 1 << 8,
    MESSAGES = 1 << 9,
    DIRECT = 1 << 12,
    CONTENT = 1 << 15,
};

static struct gateway_conn *open_bot_session(struct client *bot, int intents)
{
    char more[64];

    snprintf(more, sizeof more, "'intents': %d", intents);
    return conn_session(bot, PLAIN, more);
}

static struct gateway_conn *open_user_session(struct client *c)
{
    return conn_session(c, PLAIN, "");
}

static const char *send_message(struct client *c, const char *channel, const char *json)
{
    struct answer a = client_post(c, json, "/channels/%s/messages", channel);

    expect_status(a, 200);
    return answer_text(a, "id");
}

/* --- connecting ----------------------------------------------------------------------- */

static void bot_gets_guild_create_for_each_guild_after_ready(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild one = world_test_guild(w, ada), two = world_test_guild(w, ada);

    test_guild_add(&one, bot);
    test_guild_add(&two, bot);
    struct gateway_conn *g = conn_open(bot, PLAIN);
    expect_op(g, 10);
    conn_identify(g, "'intents': 1");
    expect_dispatch(g, "READY",
                    "{'guilds': [{'id': '%s', 'unavailable': true},"
                    " {'id': '%s', 'unavailable': true}]}",
                    one.id, two.id);
    expect_dispatch(g, "GUILD_CREATE",
                    "{'id': '%s', 'unavailable': false, 'member_count': 2, 'large': false,"
                    " 'channels': [{'id': '%s'}], 'roles': [{'id': '%s'}]}",
                    one.id, one.channel, one.id);
    expect_dispatch(g, "GUILD_CREATE", "{'id': '%s', 'unavailable': false}", two.id);
    expect_quiet(g);
    g = open_bot_session(bot, 0);
    expect_quiet(g);
}

static void user_ready_contains_full_guilds(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *g = conn_open(bob, PLAIN);
    expect_op(g, 10);
    conn_identify(g, "");
    expect_dispatch(g, "READY",
                    "{'guilds': [{'id': '%s', 'channels': [{'id': '%s'}], 'member_count': 2}]}",
                    v.id, v.channel);
    expect_quiet(g);
}

static void guilds_are_distributed_over_shards(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    const char *ids[6];
    struct gateway_conn *shards[2];

    for (int i = 0; i < 6; i++) {
        ids[i] = found_guild(ada, "A guild");
        put_member(ids[i], bot);
        world_wait(w, 0.002); /* the shard follows from the snowflake's timestamp */
    }
    for (int s = 0; s < 2; s++) {
        char more[64];

        snprintf(more, sizeof more, "'intents': 1, 'shard': [%d, 2]", s);
        shards[s] = conn_session(bot, PLAIN, more);
    }
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 6; i++)
            if ((id_of(ids[i]) >> 22) % 2 == (snowflake)s)
                expect_dispatch(shards[s], "GUILD_CREATE", "{'id': '%s'}", ids[i]);
    for (int i = 0; i < 6; i++) {
        struct gateway_conn *mine = shards[(id_of(ids[i]) >> 22) % 2];

        expect_status(client_patch(ada, "{'name': 'Renamed'}", "/guilds/%s", ids[i]), 200);
        expect_dispatch(mine, "GUILD_UPDATE", "{'id': '%s', 'name': 'Renamed'}", ids[i]);
    }
    /* Events outside guilds go to every shard. */
    struct emitted_event n = { .event = EVENT_USER_UPDATE,
                               .to = audience_of_user(id_of(bot->id)),
                               .payload = STR("{}") };
    gateway_publish_announcements(guildhall_get_gateway(world_server(w)), &n);
    n.guild_id = (snowflake)1 << 22;
    gateway_publish_announcements(guildhall_get_gateway(world_server(w)), &n);
    expect_dispatch(shards[0], "USER_UPDATE", "{}");
    expect_dispatch(shards[1], "USER_UPDATE", "{}");
    expect_quiet(shards[0]);
    expect_quiet(shards[1]);
}

/* --- recipients ----------------------------------------------------------------------- */

static void message_create_goes_only_to_viewers_of_the_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot"),
                  *deaf = world_bot(w, "deaf");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    test_guild_add(&v, deaf);
    struct gateway_conn *a = open_user_session(ada), *b = open_user_session(bob),
                        *e = open_user_session(eve);
    struct gateway_conn *r = open_bot_session(bot, MESSAGES | CONTENT),
                        *d = open_bot_session(deaf, DIRECT);
    const char *id = send_message(ada, v.channel, "{'content': 'hello'}");

    expect_dispatch(a, "MESSAGE_CREATE", "{'id': '%s', 'content': 'hello', 'guild_id': '%s'}", id,
                    v.id);
    expect_dispatch(b, "MESSAGE_CREATE", "{'id': '%s', 'content': 'hello'}", id);
    expect_dispatch(r, "MESSAGE_CREATE", "{'id': '%s', 'content': 'hello'}", id);
    expect_quiet(e);
    expect_quiet(d);
    /* A channel hidden from @everyone. */
    struct answer made = client_post(ada,
                                     str_printf(world_arena(w),
                                                "{'name': 'secret', 'permission_overwrites':"
                                                " [{'id': '%s', 'type': 0, 'deny': '1024'}]}",
                                                v.id)
                                         .p,
                                     "/guilds/%s/channels", v.id);
    expect_status(made, 201);
    const char *secret = answer_text(made, "id");
    expect_dispatch(a, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_dispatch(a, "CHANNEL_CREATE", "{'id': '%s'}", secret);
    send_message(ada, secret, "{'content': 'psst'}");
    expect_dispatch(a, "MESSAGE_CREATE", "{'content': 'psst'}");
    expect_quiet(b);
    expect_quiet(r);
    /* A role makes the channel visible again. */
    const char *role = make_role(ada, v.id, "{'name': 'insider'}");
    expect_dispatch(a, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_dispatch(a, "GUILD_ROLE_CREATE", "{}");
    expect_dispatch(b, "GUILD_ROLE_CREATE", "{}");
    expect_status(client_put(ada, "{'type': 0, 'allow': '1024'}", "/channels/%s/permissions/%s",
                             secret, role),
                  204);
    expect_dispatch(a, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_dispatch(a, "CHANNEL_UPDATE", "{'id': '%s'}", secret);
    expect_status(client_put(ada, NULL, "/guilds/%s/members/%s/roles/%s", v.id, bob->id, role),
                  204);
    expect_dispatch(a, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}, 'roles': ['%s']}", bob->id,
                    role);
    expect_dispatch(a, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_dispatch(b, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}}", bob->id);
    expect_dispatch(b, "CHANNEL_CREATE", "{'id': '%s'}", secret);
    expect_dispatch(b, "THREAD_LIST_SYNC", "{'channel_ids': ['%s']}", secret);
    send_message(ada, secret, "{'content': 'welcome'}");
    expect_dispatch(b, "MESSAGE_CREATE", "{'content': 'welcome'}");
    expect_quiet(r);
}

static void hiding_a_channel_sends_channel_delete_to_users(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *b = open_user_session(bob), *r = open_bot_session(bot, GUILDS);
    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_status(client_put(ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s",
                             v.channel, v.id),
                  204);
    expect_dispatch(b, "CHANNEL_DELETE", "{'id': '%s'}", v.channel);
    expect_dispatch(r, "CHANNEL_UPDATE", "{'id': '%s'}", v.channel);
    expect_status(client_delete(ada, "/channels/%s/permissions/%s", v.channel, v.id), 204);
    expect_dispatch(b, "CHANNEL_CREATE", "{'id': '%s'}", v.channel);
    expect_dispatch(b, "THREAD_LIST_SYNC", "{'channel_ids': ['%s']}", v.channel);
    expect_dispatch(r, "CHANNEL_UPDATE", "{'id': '%s'}", v.channel);
    expect_dispatch(r, "THREAD_LIST_SYNC", "{'channel_ids': ['%s']}", v.channel);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_dispatch(b, "CHANNEL_DELETE", "{'id': '%s'}", v.channel);
    expect_dispatch(r, "CHANNEL_DELETE", "{'id': '%s'}", v.channel);
}

static void message_content_requires_the_intent_or_a_mention(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, bot, 1, PERMISSION(SEND_MESSAGES) | PERMISSION(VIEW_CHANNEL));
    struct gateway_conn *with = open_bot_session(bot, MESSAGES | CONTENT),
                        *without = open_bot_session(bot, MESSAGES);
    struct gateway_conn *packed = conn_session(bot, "v=10&compress=zlib-stream", "'intents': 512");
    struct gateway_conn *terms = conn_session(bot, "v=10&encoding=etf", "'intents': 512");

    send_message(ada, v.channel, "{'content': 'hello'}");
    expect_dispatch(with, "MESSAGE_CREATE", "{'content': 'hello'}");
    expect_dispatch(without, "MESSAGE_CREATE",
                    "{'content': '', 'embeds': [], 'author': {'id': '%s'}}", ada->id);
    expect_dispatch(packed, "MESSAGE_CREATE", "{'content': '', 'embeds': []}");
    expect_dispatch(terms, "MESSAGE_CREATE", "{'content': '', 'embeds': []}");
    char mention[64];
    snprintf(mention, sizeof mention, "{'content': 'you, <@%s>'}", bot->id);
    send_message(ada, v.channel, mention);
    expect_dispatch(without, "MESSAGE_CREATE", "{'content': 'you, <@%s>'}", bot->id);
    send_message(bot, v.channel, "{'content': 'mine'}");
    expect_dispatch(without, "MESSAGE_CREATE", "{'content': 'mine'}");
}

/* The replied message was sent without its content, too. */
static void referenced_message_has_no_content_without_the_intent(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    struct answer secret =
        client_post(ada, "{'content': 'secret'}", "/channels/%s/messages", v.channel);
    const char *answer = "{'content': 'yes%s', 'message_reference': {'message_id': '%s'}}";
    struct gateway_conn *with = open_bot_session(bot, MESSAGES | CONTENT),
                        *without = open_bot_session(bot, MESSAGES);
    const char *id = answer_text(secret, "id");

    send_message(ada, v.channel, TEXT(w, answer, "", id));
    expect_dispatch(with, "MESSAGE_CREATE", "{'referenced_message': {'content': 'secret'}}");
    expect_dispatch(without, "MESSAGE_CREATE",
                    "{'content': '', 'referenced_message': {'content': '', 'id': '%s'}}", id);
    send_message(ada, v.channel, TEXT(w, answer, TEXT(w, ", <@%s>", bot->id), id));
    expect_dispatch(without, "MESSAGE_CREATE", "{'referenced_message': {'content': 'secret'}}");
    expect_status(client_delete(ada, "/channels/%s/messages/%s", v.channel, id), 204);
    expect_dispatch(without, "MESSAGE_DELETE", "{'id': '%s'}", id);
}

static void direct_messages_are_delivered_to_both_recipients(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *b = open_user_session(bob);
    struct gateway_conn *r = open_bot_session(bot, DIRECT), *deaf = open_bot_session(bot, MESSAGES);
    struct answer open =
        client_post(ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", bob->id).p,
                    "/users/@me/channels");
    expect_status(open, 200);
    send_message(ada, answer_text(open, "id"), "{'content': 'hi'}");
    expect_dispatch(b, "CHANNEL_CREATE", "{'type': 1, 'recipients': [{'id': '%s'}]}", ada->id);
    expect_dispatch(b, "MESSAGE_CREATE", "{'content': 'hi'}");
    open = client_post(ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", bot->id).p,
                       "/users/@me/channels");
    send_message(ada, answer_text(open, "id"), "{'content': 'you too'}");
    expect_dispatch(r, "MESSAGE_CREATE", "{'content': 'you too'}");
    expect_quiet(deaf);
    expect_quiet(b);
    /* A session that starts after the channel was created. */
    struct gateway_conn *late = open_user_session(bob);
    send_message(
        ada,
        answer_text(client_post(ada,
                                str_printf(world_arena(w), "{'recipient_id': '%s'}", bob->id).p,
                                "/users/@me/channels"),
                    "id"),
        "{'content': 'again'}");
    expect_dispatch(late, "MESSAGE_CREATE", "{'content': 'again'}");
}

/* --- joining and leaving -------------------------------------------------------------- */

static void creating_updating_and_deleting_a_guild_sends_events(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *a = open_user_session(ada);
    const char *guild = found_guild(ada, "New");
    const struct dom *d = expect_dispatch(a, "GUILD_CREATE", "{'id': '%s', 'name': 'New'}", guild);

    expect(!dom_at(d, "unavailable"));
    expect_status(client_patch(ada, "{'name': 'Old'}", "/guilds/%s", guild), 200);
    expect_dispatch(a, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_dispatch(a, "GUILD_UPDATE", "{'id': '%s', 'name': 'Old'}", guild);
    expect_status(client_delete(ada, "/guilds/%s", guild), 204);
    expect_dispatch(a, "GUILD_DELETE", "{'id': '%s'}", guild);
    expect_quiet(a);
}

static void member_who_left_receives_no_more_guild_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *a = open_user_session(ada), *b = open_user_session(bob);
    struct gateway_conn *r = open_bot_session(bot, GUILDS | MEMBERS | MESSAGES | CONTENT);
    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_status(client_delete(bob, "/users/@me/guilds/%s", v.id), 204);
    expect_dispatch(b, "GUILD_DELETE", "{'id': '%s'}", v.id);
    expect_dispatch(a, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", bob->id);
    expect_dispatch(r, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", bob->id);
    send_message(ada, v.channel, "{'content': 'gone'}");
    expect_dispatch(r, "MESSAGE_CREATE", "{'content': 'gone'}");
    expect_quiet(b);
    expect_status(client_delete(ada, "/guilds/%s/members/%s", v.id, bot->id), 204);
    expect_dispatch(r, "GUILD_DELETE", "{'id': '%s'}", v.id);
    expect_quiet(r);
}

static void ban_events_go_only_to_members_who_can_ban(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    test_guild_add_with(&v, bot, 1, PERMISSION(BAN_MEMBERS));
    struct gateway_conn *b = open_user_session(bob), *r = open_bot_session(bot, MODERATION);
    struct gateway_conn *members = open_bot_session(bot, MEMBERS);
    expect_status(client_put(ada, "{}", "/guilds/%s/bans/%s", v.id, eve->id), 204);
    expect_dispatch(r, "GUILD_BAN_ADD", "{'user': {'id': '%s'}}", eve->id);
    expect_dispatch(members, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", eve->id);
    expect_dispatch(b, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", eve->id);
    expect_quiet(b);
    expect_quiet(members);
}

/* A bot receives events about its own member without the members intent. */
static void bot_receives_its_own_member_update_without_intent(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *r = open_bot_session(bot, 0);
    expect_quiet(r);
    expect_status(client_patch(ada, "{'nick': 'Bobby'}", "/guilds/%s/members/%s", v.id, bob->id),
                  200);
    expect_status(client_patch(ada, "{'nick': 'Robby'}", "/guilds/%s/members/%s", v.id, bot->id),
                  200);
    expect_dispatch(r, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}, 'nick': 'Robby'}", bot->id);
}

/* Tests of other folders may read delivered events in place of announced ones. */
static void connected_test_clients_receive_message_create(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    client_connect(ada);
    client_connect(bot);
    send_message(ada, v.channel, "{'content': 'hello'}");
    expect_event(ada, "MESSAGE_CREATE", "{'content': 'hello'}");
    expect_event(bot, "MESSAGE_CREATE", "{'content': 'hello'}");
    expect_silence(ada);
    expect_silence(bot);
}

/* --- requests ------------------------------------------------------------------------- */

static void configure_enabled_rate_limits(struct config *c)
{
    c->rate_limits = true;
}

static struct gateway_conn *request_all_members_twice(struct world *w, struct test_guild *v)
{
    struct client *bot = world_bot(w, "robot");

    *v = world_test_guild(w, world_client(w, "ada"));
    test_guild_add(v, bot);
    struct gateway_conn *g = open_bot_session(bot, MEMBERS);
    expect_quiet(g);
    for (int i = 0; i < 2; i++)
        conn_send(g, "{'op':8,'d':{'guild_id':'%s','query':'','limit':0,'nonce':'%d'}}", v->id, i);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{'guild_id': '%s', 'nonce': '0'}", v->id);
    return g;
}

static void second_request_for_all_members_is_rate_limited(struct world *w)
{
    struct test_guild v;
    struct gateway_conn *g = request_all_members_twice(w, &v);

    expect_dispatch(g, "RATE_LIMITED", "{'opcode': 8, 'meta': {'guild_id': '%s', 'nonce': '1'}}",
                    v.id);
    expect_quiet(g);
}

static void all_members_can_be_requested_again_without_rate_limits(struct world *w)
{
    struct test_guild v;
    struct gateway_conn *g = request_all_members_twice(w, &v);

    expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{'guild_id': '%s', 'nonce': '1'}", v.id);
    expect_quiet(g);
}

static void request_guild_members_returns_member_chunks(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *g = open_bot_session(bot, MEMBERS), *poor = open_bot_session(bot, 0);
    expect_quiet(g);
    conn_send(g, "{'op':8,'d':{'guild_id':['%s'],'query':'','limit':0,'nonce':'abc'}}", v.id);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK",
                    "{'guild_id': '%s', 'chunk_index': 0, 'chunk_count': 1, 'nonce': 'abc',"
                    " 'members': [{'user': {'id': '%s'}}, {'user': {'id': '%s'}},"
                    " {'user': {'id': '%s'}}]}",
                    v.id, ada->id, bob->id, bot->id);
    /* Ids are accepted as numbers, too, beyond the precision of a double. */
    conn_send(g, "{'op':8,'d':{'guild_id':%s,'user_ids':[%s,1],'limit':0}}", v.id, bob->id);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK",
                    "{'members': [{'user': {'id': '%s'}}], 'not_found': ['1']}", bob->id);
    /* An empty list of user ids matches nobody. */
    conn_send(g, "{'op':8,'d':{'guild_id':'%s','user_ids':[],'limit':0}}", v.id);
    expect(
        dom_at(expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{'chunk_count': 1}"), "members")->count ==
        0);
    conn_send(g, "{'op':8,'d':{'guild_id':'%s','query':'bo','limit':5}}", v.id);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{'members': [{'user': {'id': '%s'}}]}", bob->id);
    /* A guild without the caller gets an empty chunk. */
    conn_send(g, "{'op':8,'d':{'guild_id':'5','query':'','limit':0,'nonce':'n'}}");
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK",
                    "{'guild_id': '5', 'members': [], 'chunk_count': 1, 'nonce': 'n'}");
    expect_quiet(g);
    conn_send(poor, "{'op':8,'d':{'guild_id':'%s','query':'','limit':0}}", v.id);
    expect_dispatch(poor, "GUILD_MEMBERS_CHUNK", "{'members': [], 'chunk_count': 1}");
    struct gateway_conn *u = open_user_session(bob);
    conn_send(u, "{'op':35,'d':{'guild_id':'%s','query':'','continuation_token':null}}", v.id);
    expect_dispatch(u, "GUILD_MEMBERS_CHUNK", "{'guild_id': '%s'}", v.id);
}

static void soundboard_and_channel_info_requests_are_answered(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct gateway_conn *g = open_user_session(ada);

    conn_send(g, "{'op':31,'d':{'guild_ids':['%s','5']}}", v.id);
    expect_dispatch(g, "SOUNDBOARD_SOUNDS", "{'guild_id': '%s', 'soundboard_sounds': []}", v.id);
    conn_send(g, "{'op':36,'d':{'guild_id':'%s'}}", v.id);
    expect_dispatch(g, "CHANNEL_STATUSES", "{'guild_id': '%s', 'channels': []}", v.id);
    conn_send(g, "{'op':43,'d':{'guild_id':'%s','fields':['status']}}", v.id);
    expect_dispatch(g, "CHANNEL_INFO", "{'guild_id': '%s', 'channels': []}", v.id);
    expect_quiet(g);
}

static void presence_update_requires_the_presence_intent(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *a = open_user_session(ada), *b = open_user_session(bob);
    struct gateway_conn *watches = open_bot_session(bot, PRESENCES),
                        *deaf = open_bot_session(bot, GUILDS);
    conn_watch(deaf, true);
    expect_dispatch(deaf, "GUILD_CREATE", "{}");
    expect_quiet(watches);
    conn_watch(watches, true);
    conn_send(a, "{'op':3,'d':{'status':'dnd','since':null,'afk':false,'activities':"
                 "[{'name':'chess','type':0}]}}");
    expect_dispatch(watches, "PRESENCE_UPDATE",
                    "{'user': {'id': '%s'}, 'guild_id': '%s', 'status': 'dnd',"
                    " 'activities': [{'name': 'chess'}], 'client_status': {'web': 'dnd'}}",
                    ada->id, v.id);
    conn_send(a, "{'op':3,'d':{'status':'invisible','since':null,'afk':false,'activities':null}}");
    expect_dispatch(watches, "PRESENCE_UPDATE",
                    "{'status': 'offline', 'activities': [], 'client_status': {}}");
    conn_send(a, "{'op':3,'d':{'game':null,'status':'unknown'}}"); /* unchanged presence */
    expect_quiet(a);
    expect_quiet(b);
    expect_quiet(deaf);
    /* Five updates at once; of further ones only the last is sent later. */
    for (int i = 0; i < 5; i++)
        conn_send(a, "{'op':3,'d':{'status':'%s'}}", i % 2 ? "dnd" : "idle");
    expect_dispatch(watches, "PRESENCE_UPDATE", "{'status': 'idle'}");
    expect_dispatch(watches, "PRESENCE_UPDATE", "{'status': 'dnd'}");
    expect_quiet(a);
    expect_quiet(watches);
    world_wait(w, 20);
    expect_dispatch(watches, "PRESENCE_UPDATE", "{'status': 'idle'}");
}

static void privileged_intents_without_application_flag_close_with_4014(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *app = make_application(ada, "Watcher");
    struct client *bot = application_bot(ada, app);
    static const int bits[] = { PRESENCES, MEMBERS, CONTENT };

    world_sql(w, "update applications set flags = 0 where id = %s", app);
    for (int i = 0; i < 3; i++) {
        char more[64];
        struct gateway_conn *g = conn_open(bot, PLAIN);

        snprintf(more, sizeof more, "'intents': %d", bits[i]);
        expect_op(g, 10);
        conn_identify(g, more);
        expect_close(g, 4014);
    }
    open_bot_session(bot, GUILDS | MESSAGES);
    world_sql(w, "update applications set flags = %d where id = %s", 1 << 14, app);
    open_bot_session(bot, MEMBERS);
}

/* A user session without intents receives all events. */
static void user_session_with_intents_receives_only_their_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    struct gateway_conn *all = conn_session(ada, PLAIN, "'intents': 0"),
                        *friends = conn_session(ada, PLAIN, "'intents': 4194304"),
                        *messages = conn_session(ada, PLAIN, "'intents': 512");

    expect_dispatch(all, "SESSIONS_REPLACE", "[{}, {}]");
    expect_dispatch(all, "SESSIONS_REPLACE", "[{}, {}, {}]");
    expect_dispatch(friends, "SESSIONS_REPLACE", "[{}, {}, {}]");
    expect_status(client_put(ada, NULL, "/users/@me/relationships/%s/ignore", bob->id), 204);
    expect_dispatch(all, "RELATIONSHIP_ADD", "{'id': '%s'}", bob->id);
    expect_dispatch(friends, "RELATIONSHIP_ADD", "{'id': '%s'}", bob->id);
    send_message(ada, v.channel, "{'content': 'hello'}");
    expect_dispatch(all, "MESSAGE_CREATE", "{'content': 'hello'}");
    expect_dispatch(messages, "MESSAGE_CREATE", "{'content': 'hello'}");
    expect_quiet(friends);
    expect_quiet(messages);
}

const struct test gateway_dispatch_tests[] = {
    TEST(bot_gets_guild_create_for_each_guild_after_ready),
    TEST(user_ready_contains_full_guilds),
    TEST(guilds_are_distributed_over_shards),
    TEST(message_create_goes_only_to_viewers_of_the_channel),
    TEST(hiding_a_channel_sends_channel_delete_to_users),
    TEST(message_content_requires_the_intent_or_a_mention),
    TEST(referenced_message_has_no_content_without_the_intent),
    TEST(direct_messages_are_delivered_to_both_recipients),
    TEST(creating_updating_and_deleting_a_guild_sends_events),
    TEST(member_who_left_receives_no_more_guild_events),
    TEST(ban_events_go_only_to_members_who_can_ban),
    TEST(bot_receives_its_own_member_update_without_intent),
    TEST(connected_test_clients_receive_message_create),
    TEST_WITH(second_request_for_all_members_is_rate_limited, configure_enabled_rate_limits),
    TEST(all_members_can_be_requested_again_without_rate_limits),
    TEST(request_guild_members_returns_member_chunks),
    TEST(soundboard_and_channel_info_requests_are_answered),
    TEST_WITH(presence_update_requires_the_presence_intent, configure_enabled_rate_limits),
    TEST(privileged_intents_without_application_flag_close_with_4014),
    TEST(user_session_with_intents_receives_only_their_events),
    { 0 },
};
