/* deleted_channels.c - a channel that is being deleted in steps is invisible to every reader. */
#include <string.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "http/walk.h"
#include "test_guild.h"
#include "waits.h"
#include "world_files.h"

#define WORD "zzsecret" /* in all texts of the channel and its threads */

/* Objects of the channel, by the names of path parameters. */
static struct {
    struct client *ada;
    struct test_guild v;
    const char *other, *here; /* a channel that stays; the current value of {channel.id} */
    const char *channel, *open, *archived, *message, *webhook, *token, *code;
    unsigned shown; /* number of responses that contain something of the channel */
} d;

static const char *send_message(const char *channel)
{
    return answer_text(
        client_post(d.ada, "{'content': '" WORD " @everyone'}", "/channels/%s/messages", channel),
        "id");
}

static void create_channel_content(struct world *w)
{
    memset(&d, 0, sizeof d);
    d.ada = world_client(w, "ada");
    d.v = world_test_guild(w, d.ada);
    d.channel = d.v.channel;
    d.other =
        answer_text(client_post(d.ada, "{'name': 'stays'}", "/guilds/%s/channels", d.v.id), "id");
    client_patch(d.ada, "{'name': '" WORD "'}", "/channels/%s", d.channel);
    d.open = answer_text(
        client_post(d.ada, "{'name': '" WORD "', 'type': 11}", "/channels/%s/threads", d.channel),
        "id");
    d.archived = answer_text(
        client_post(d.ada, "{'name': '" WORD "', 'type': 12}", "/channels/%s/threads", d.channel),
        "id");
    send_message(d.open);
    send_message(d.archived);
    client_patch(d.ada, "{'archived': true}", "/channels/%s", d.archived);
    d.message = send_message(d.channel);
    client_put(d.ada, "", "/channels/%s/pins/%s", d.channel, d.message);
    struct answer a =
        client_post(d.ada, "{'name': '" WORD "'}", "/channels/%s/webhooks", d.channel);
    d.webhook = answer_text(a, "id");
    d.token = answer_text(a, "token");
    d.code = answer_text(client_post(d.ada, "{'max_age': 0}", "/channels/%s/invites", d.channel),
                         "code");
    world_sql(w, "update guilds set widget_enabled = 1, widget_channel_id = %s where id = %s",
              d.channel, d.v.id);
    expect_soon((world_wait(w, 1), !world_count_unindexed_messages(w)));
}

/* Marks the channel as after the first deletion step, with the job for the rest on hold. */
static void mark_channel_deleted(struct world *w)
{
    world_sql(w, "update channels set type = -1, guild_id = null where id = %s", d.open);
    world_sql(w, "update channels set type = -1, guild_id = null, parent_id = null where id = %s",
              d.channel);
    world_sql(w,
              "insert into jobs (kind, key, due, data) values ('channel-leftovers', %s, "
              "9000000000000000, '')",
              d.channel);
}

static const char *path_parameter(struct str name)
{
    return str_is(name, "guild.id")        ? d.v.id
           : str_is(name, "channel.id")    ? d.here
           : str_is(name, "message.id")    ? d.message
           : str_is(name, "webhook.id")    ? d.webhook
           : str_is(name, "webhook.token") ? d.token
           : str_is(name, "invite.code")   ? d.code
                                           : d.ada->id;
}

static const char *write_url(struct world *w, const struct route *r)
{
    struct str rest = str_of(r->path), out = STR("/api/v10");

    while (rest.n) {
        struct str before = str_cut(&rest, '{'), name = str_cut(&rest, '}');

        out = STR_CONCAT(world_arena(w), out, before, str_of(name.n ? path_parameter(name) : ""));
    }
    return str_dup_cstring(world_arena(w), out);
}

static bool response_contains(struct answer a, const char *text)
{
    return memmem(a.body.p, a.body.n, text, strlen(text)) != NULL;
}

static void expect_response_hides_deleted_channel(struct world *w, const char *url)
{
    struct answer a = client_request(d.ada, "GET", url, NULL, (struct str){ 0 });

    if (a.status >= 500)
        fail_test(__FILE__, __LINE__, "%s answered %d", url, a.status);
    if (response_contains(a, WORD) || (a.status == 200 && response_contains(a, d.code))) {
        d.shown++;
        if (world_number(w, "select count(*) from jobs where kind = 'channel-leftovers'"))
            fail_test(__FILE__, __LINE__, "%s shows the channel: %.*s", url, (int)a.body.n,
                      a.body.p);
    }
}

/* The audit log keeps entries of deleted channels. */
static void expect_get_route_hides_deleted_channel(struct world *w, const struct route *r)
{
    const char *const here[] = { d.channel, d.open, d.archived, d.other, NULL };

    if (r->service || r->method != HTTP_GET || !strcmp(r->name, "get_guild_audit_log"))
        return;
    for (size_t i = 0; here[i] && (i == 0 || strstr(r->path, "{channel.id}")); i++) {
        d.here = here[i];
        expect_response_hides_deleted_channel(w, write_url(w, r));
    }
}

static void expect_all_get_routes_hide_deleted_channel(struct world *w)
{
    d.shown = 0;
    each_route(w, expect_get_route_hides_deleted_channel);
    expect_response_hides_deleted_channel(
        w, TEXT(w, "/api/v10/guilds/%s/messages/search?content=" WORD, d.v.id));
    expect_response_hides_deleted_channel(
        w, TEXT(w, "/api/v10/guilds/%s/messages/search?channel_id=%s", d.v.id, d.channel));
    expect_response_hides_deleted_channel(
        w, TEXT(w, "/api/v10/guilds/%s/messages/search?channel_id=%s", d.v.id, d.archived));
    expect_response_hides_deleted_channel(
        w, TEXT(w, "/api/v10/channels/%s/messages/search?content=" WORD, d.channel));
}

static void every_get_route_omits_a_channel_that_is_being_deleted(struct world *w)
{
    create_channel_content(w);
    expect_all_get_routes_hide_deleted_channel(w);
    expect(d.shown > 20); /* the routes do return the channel before its deletion */
    mark_channel_deleted(w);
    expect_all_get_routes_hide_deleted_channel(w);
    expect(d.shown == 0);
    struct answer a = client_get(d.ada, "/guilds/%s/audit-logs", d.v.id);
    expect_absent(a, "webhooks.0");
    expect_absent(a, "threads.0");
    /* An invite to the channel does not make the list of invites fail (once it was 404). */
    expect_json(client_get(d.ada, "/guilds/%s/invites", d.v.id), "[]");
    expect_json(client_get(d.ada, "/guilds/%s/webhooks", d.v.id), "[]");
    expect_json(client_get(d.ada, "/guilds/%s/messages/search?content=" WORD, d.v.id),
                "{'total_results': 0, 'messages': []}");
    expect_error(client_get(d.ada, "/invites/%s", d.code), 404, 10006);
    expect_error(
        client_post(world_anonymous(w), "{'content': 'x'}", "/webhooks/%s/%s", d.webhook, d.token),
        404, 10015);
    const struct dom *ready;
    struct gateway_conn *g = conn_open(d.ada, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "");
    ready = expect_dispatch(g, "READY", "{'guilds': [{'id': '%s'}]}", d.v.id);
    expect(!dom_at(ready, "guilds.0.threads.0"));
    conn_kill(g);
    struct str file = world_exported_here(w);
    expect(file.n && !memmem(file.p, file.n, WORD, strlen(WORD)));
}

/* An archived private thread of a member, whose channel is being deleted. */
static void members_get_no_threads_of_a_channel_being_deleted(struct world *w)
{
    struct client *bob = world_client(w, "bob");

    create_channel_content(w);
    test_guild_add(&d.v, bob);
    expect_status(client_patch(d.ada, "{'archived': false}", "/channels/%s", d.archived), 200);
    expect_status(client_put(d.ada, "", "/channels/%s/thread-members/%s", d.archived, bob->id),
                  204);
    expect_status(client_patch(d.ada, "{'archived': true}", "/channels/%s", d.archived), 200);
    d.ada = bob;
    struct gateway_conn *g = conn_open(bob, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *ready = expect_dispatch(g, "READY", "{}");
    expect(dom_at(ready, "read_state.0")); /* unread mentions of everyone */
    conn_kill(g);
    mark_channel_deleted(w);
    expect_all_get_routes_hide_deleted_channel(w);
    expect(d.shown == 0);
    g = conn_open(bob, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "");
    ready = expect_dispatch(g, "READY", "{}");
    expect(!dom_at(ready, "read_state.0"));
    conn_kill(g);
}

const struct test deleted_channels_tests[] = {
    TEST(every_get_route_omits_a_channel_that_is_being_deleted),
    TEST(members_get_no_threads_of_a_channel_being_deleted),
    { 0 },
};
