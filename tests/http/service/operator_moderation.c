/* operator_moderation.c - operator commands for messages, files, reports and address bans. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps.h"
#include "admin/control/control.h"
#include "base/clock.h"
#include "gateway_conn.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define REPORT "{'channel_id': '%s', 'message_id': '%s', 'reason': %d}"

/* Sends an operator command, whose words are separated by tabs, and returns the reply. */
static const char *run_operator_command(struct world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *run_operator_command(struct world *w, const char *fmt, ...)
{
    char question[4096] = "operate ";
    struct buf out;
    va_list args;

    va_start(args, fmt);
    vsnprintf(question + 8, sizeof question - 8, fmt, args);
    va_end(args);
    buf_init(&out, SIZE_MAX);
    expect(control_socket_send_request(world_folder(w), question, &out) == OK);
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&out));
    buf_clear(&out);
    return text;
}

static bool is_ok_reply(const char *answer)
{
    return strncmp(answer, "ok\n", 3) == 0;
}

static bool is_error_reply(const char *answer, const char *part)
{
    return strncmp(answer, "error ", 6) == 0 && strstr(answer, part);
}

/* Returns the first cell of the first row. */
static const char *first_cell(struct world *w, const char *answer)
{
    struct str rest = str_of(answer);

    str_cut(&rest, '\n');
    str_cut(&rest, '\n');
    return str_dup_cstring(world_arena(w), str_cut(&rest, '\t'));
}

/* --- messages ------------------------------------------------------------------------- */

static void operator_can_show_and_delete_a_message(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(bob, v.channel, "something forbidden");
    const char *other = say_text(ada, v.channel, "something else");
    struct channel_events room = world_channel_events(w, v.channel);

    expect_status(client_put(ada, NULL, "/channels/%s/messages/%s/reactions/%%F0%%9F%%91%%8D/@me",
                             v.channel, id),
                  204);
    expect_channel_event(&room, "MESSAGE_REACTION_ADD", "{}");
    const char *shown = run_operator_command(
        w, "message\tshow\thttps://chat.example/channels/%s/%s/%s", v.id, v.channel, id);
    expect(is_ok_reply(shown) && strstr(shown, "something forbidden") && strstr(shown, bob->id));
    expect(is_ok_reply(run_operator_command(w, "message\tshow\t%s/%s", v.channel, id)));
    expect(is_ok_reply(run_operator_command(w, "message\tdelete\t%s\t%s", v.channel, id)));
    expect_channel_event(&room, "MESSAGE_DELETE",
                         "{'id': '%s', 'channel_id': '%s', 'guild_id': '%s'}", id, v.channel, v.id);
    expect_error(client_get(ada, "/channels/%s/messages/%s", v.channel, id), 404, 10008);
    expect_status(client_get(ada, "/channels/%s/messages/%s", v.channel, other), 200);
    expect_json(client_get(ada, "/guilds/%s/messages/search?content=forbidden", v.id),
                "{'total_results': 0}");
    expect(is_error_reply(run_operator_command(w, "message\tdelete\t%s\t%s", v.channel, id),
                          "no such message"));
    expect(is_error_reply(run_operator_command(w, "message\tshow\tx"), "no such message"));
    /* Showing and deleting are logged; failed commands are not. */
    expect(world_number(w, "select count(*) from operator_log") == 3);
}

static void operator_can_delete_private_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct answer dm =
        client_post(ada, TEXT(w, "{'recipient_id': '%s'}", bob->id), "/users/@me/channels");
    const char *channel = answer_text(dm, "id"), *id = say_text(ada, channel, "private");
    struct channel_events room = world_channel_events(w, channel);

    expect(
        strstr(run_operator_command(w, "message\tshow\thttps://x/channels/@me/%s/%s", channel, id),
               "private"));
    expect(is_ok_reply(run_operator_command(w, "message\tdelete\t%s\t%s", channel, id)));
    expect_channel_event(&room, "MESSAGE_DELETE", "{'id': '%s', 'channel_id': '%s'}", id, channel);
    expect_channel_silence(&room);
}

static void operator_can_delete_all_messages_of_an_account_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct answer dm =
        client_post(bob, TEXT(w, "{'recipient_id': '%s'}", ada->id), "/users/@me/channels");
    const char *channel = answer_text(dm, "id");
    const char *stays = say_text(ada, v.channel, "hers");

    say_text(bob, channel, "private");
    say_text(bob, v.channel, "his");
    for (snowflake i = 1; i <= 450; i++)
        world_insert_message(w, i, v.channel, bob->id, "many");
    expect(strstr(run_operator_command(w, "message\tpurging\tbob"), "not running"));
    const char *begun = run_operator_command(w, "message\tpurge\tbob");
    expect(is_ok_reply(begun) && strstr(begun, "\trunning\t"));
    world_settle(w);
    expect(strstr(run_operator_command(w, "message\tpurging\tbob"), "not running"));
    expect(world_number(w, "select count(*) from messages where author_id = %s", bob->id) == 0);
    expect_status(client_get(ada, "/channels/%s/messages/%s", v.channel, stays), 200);
    /* 452 messages: 451 in the guild, at most 100 per event, and one in the private channel. */
    expect(world_count_events(w, EVENT_MESSAGE_DELETE_BULK) >= 6);
    expect(is_error_reply(run_operator_command(w, "message\tpurge\tnobody"),
                          "no such account; 'user list' prints the names"));
    expect(is_error_reply(run_operator_command(w, "message\tpurge\tbobb"),
                          "no such account; did you mean 'bob'?"));
    expect(is_error_reply(run_operator_command(w, "message\tpurge\tdaa"),
                          "no such account; did you mean 'ada'?"));
}

/* --- files ---------------------------------------------------------------------------- */

static const char *send_message_with_file(struct client *c, const char *channel, const char *json)
{
    struct upload uploads[] = { { "files[0]", "bad.txt", STR("bad bytes") }, { 0 } };
    struct answer a = client_upload(c, "POST", json, uploads, "/channels/%s/messages", channel);

    expect_status(a, 200);
    return answer_text(a, "id");
}

static void operator_can_delete_a_file_from_all_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *with_text = send_message_with_file(bob, v.channel, "{'content': 'see this'}");
    struct answer a = client_get(ada, "/channels/%s/messages/%s", v.channel, with_text);
    const char *file = answer_text(a, "attachments.0.id"),
               *url = answer_text(a, "attachments.0.url");
    a = client_post(bob,
                    TEXT(w,
                         "{'message_reference': {'type': 1, 'channel_id': '%s', 'message_id': "
                         "'%s'}}",
                         v.channel, with_text),
                    "/channels/%s/messages", v.channel);
    expect_status(a, 200);
    const char *forward = answer_text(a, "id");
    struct channel_events room = world_channel_events(w, v.channel);

    const char *shown = run_operator_command(w, "file\tshow\t%s", url);
    expect(is_ok_reply(shown) && strstr(shown, "bad.txt") && strstr(shown, "attachments/"));
    expect(strstr(shown, "\t2\n"));
    expect(is_ok_reply(run_operator_command(w, "file\tdelete\t%s", file)));
    expect_channel_event(&room, "MESSAGE_UPDATE",
                         "{'id': '%s', 'content': 'see this', "
                         "'attachments': []}",
                         with_text);
    expect_channel_event(&room, "MESSAGE_DELETE", "{'id': '%s'}", forward);
    world_settle(w);
    expect_soon(world_number(w, "select count(*) from files where id = %s", file) == 0);
    expect(is_error_reply(run_operator_command(w, "file\tdelete\t%s", file),
                          "no message has this file"));
    expect(is_error_reply(run_operator_command(w, "file\tshow\tx"), "no message has this file"));
}

static void deleting_the_file_of_an_empty_message_deletes_the_message(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *id = send_message_with_file(ada, v.channel, "{}");
    struct answer a = client_get(ada, "/channels/%s/messages/%s", v.channel, id);
    struct channel_events room = world_channel_events(w, v.channel);

    expect(is_ok_reply(
        run_operator_command(w, "file\tdelete\t%s", answer_text(a, "attachments.0.id"))));
    expect_channel_event(&room, "MESSAGE_DELETE", "{'id': '%s'}", id);
}

/* --- reports -------------------------------------------------------------------------- */

static void report_stores_the_messages_content_at_that_time(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *cyd = world_client(w, "cyd");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(bob, v.channel, "an insult");

    expect_json(client_get(ada, "/report"), "[{'reason': 2}, {}, {'reason': 4, 'label': "
                                            "'Illegal content'}, {}]");
    struct answer a = client_post(ada, TEXT(w, REPORT, v.channel, id, 4), "/report");
    expect_status(a, 200);
    const char *report = answer_text(a, "id");
    expect_json(client_post(ada, TEXT(w, REPORT, v.channel, id, 3), "/report"), "{'id': '%s'}",
                report);
    /* Reporting sends no events. */
    struct channel_events room = world_channel_events(w, v.channel);
    expect_channel_silence(&room);
    expect_status(client_delete(bob, "/channels/%s/messages/%s", v.channel, id), 204);

    const char *list = run_operator_command(w, "report\tlist\t0\t100");
    expect(strcmp(first_cell(w, list), report) == 0 && strstr(list, "\tillegal\t"));
    const char *shown = run_operator_command(w, "report\tshow\t%s", report);
    expect(is_ok_reply(shown) && strstr(shown, "an insult") && strstr(shown, ada->id));
    expect(is_ok_reply(run_operator_command(w, "report\tclose\t%s\tdeleted it", report)));
    expect(!strstr(run_operator_command(w, "report\tlist\t0\t100"), report));
    expect(strstr(run_operator_command(w, "report\tshow\t%s", report), "deleted it"));
    expect(is_error_reply(run_operator_command(w, "report\tclose\t1"), "no report"));
    expect(is_error_reply(run_operator_command(w, "report\tshow\tx"), "no report"));

    /* Refused reports. */
    id = say_text(bob, v.channel, "more");
    expect_error(client_post(cyd, TEXT(w, REPORT, v.channel, id, 4), "/report"), 403, 50001);
    expect_error(client_post(ada, TEXT(w, REPORT, v.channel, "1", 4), "/report"), 404, 10008);
    expect_error(client_post(ada, TEXT(w, REPORT, "1", id, 4), "/report"), 404, 10003);
    expect_invalid(client_post(bob, TEXT(w, REPORT, v.channel, id, 4), "/report"), "message_id",
                   "REPORT_OWN_MESSAGE");
    expect_invalid(client_post(ada, TEXT(w, REPORT, v.channel, id, 1), "/report"), "reason",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_post(ada, "{'message_id': '1', 'reason': 4}", "/report"), "channel_id",
                   "BASE_TYPE_REQUIRED");
    test_guild_take_right(&v, PERMISSION(READ_MESSAGE_HISTORY));
    id = say_text(ada, v.channel, "hers");
    expect_error(client_post(bob, TEXT(w, REPORT, v.channel, id, 4), "/report"), 403, 50001);
    expect(world_number(w, "select count(*) from reports") == 1);
}

static void report_menu_lists_reasons_and_accepts_reports(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(bob, v.channel, "an insult");

    expect_json(
        client_get(ada, "/reporting/menu/message"),
        "{'name': 'message', 'root_node_id': 1, 'postback_url': '/reporting/message', "
        "'nodes': {'1': {'button': null, 'children': [['Spam or fraud', 2], ['Abuse or harassment', 3], "
        "['Illegal content', 4], ['Something else', 5]]}, '4': "
        "{'button': {'type': 'submit'}}, '6': {}}}");
    expect_json(client_get(ada, "/reporting/menu/first_dm"), "{'name': 'first_dm'}");
    struct answer a =
        client_post(ada,
                    TEXT(w,
                         "{'version': '1.0', 'variant': '1', 'language': 'en', 'name': 'message', "
                         "'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s', 'breadcrumbs': "
                         "[1, 4], 'elements': {'free_text': 'look'}}",
                         v.channel, id, v.id),
                    "/reporting/message");
    expect_status(a, 200);
    expect(
        strstr(run_operator_command(w, "report\tshow\t%s", answer_text(a, "report_id")), "look"));
    expect_invalid(client_post(ada,
                               TEXT(w,
                                    "{'channel_id': '%s', 'message_id': '%s', 'breadcrumbs': "
                                    "[1]}",
                                    v.channel, id),
                               "/reporting/message"),
                   "breadcrumbs", "BASE_TYPE_CHOICES");
    expect_invalid(client_post(ada,
                               TEXT(w,
                                    "{'channel_id': '%s', 'message_id': '%s', 'breadcrumbs': "
                                    "[]}",
                                    v.channel, id),
                               "/reporting/first_dm"),
                   "breadcrumbs", "BASE_TYPE_BAD_LENGTH");
}

static void erasing_an_account_deletes_its_closed_reports(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, world_client(w, "owner"));
    test_guild_add(&v, ada);
    test_guild_add(&v, bob);
    const char *ids[2] = { say_text(bob, v.channel, "one"), say_text(bob, v.channel, "two") };
    const char *reports[2];

    for (int i = 0; i < 2; i++)
        reports[i] =
            answer_text(client_post(ada, TEXT(w, REPORT, v.channel, ids[i], 4), "/report"), "id");
    expect(is_ok_reply(run_operator_command(w, "report\tclose\t%s", reports[0])));
    expect(is_ok_reply(run_operator_command(w, "user\terase\tada")));
    world_settle(w);
    expect(world_number(w, "select count(*) from reports where reporter_id is null") == 2);
    expect(is_ok_reply(run_operator_command(w, "user\terase\tbob")));
    world_settle(w);
    expect(is_error_reply(run_operator_command(w, "report\tshow\t%s", reports[0]), "no report"));
    expect(strstr(run_operator_command(w, "report\tshow\t%s", reports[1]), "two"));
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

static void reports_are_rate_limited(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = { 0 };

    for (int i = 0; i < 20; i++)
        expect_error(client_post(ada, TEXT(w, REPORT, "1", "1", 4), "/report"), 404, 10003);
    a = client_post(ada, TEXT(w, REPORT, "1", "1", 4), "/report");
    expect(a.status == 429);
    a = client_post(ada, "{'channel_id': '1', 'message_id': '1', 'breadcrumbs': [1, 4]}",
                    "/reporting/message");
    expect(a.status == 429);
}

/* --- bans ----------------------------------------------------------------------------- */

static void banned_addresses_are_refused_and_disconnected(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *nobody = world_anonymous(w);

    snprintf(bob->address, sizeof bob->address, "127.0.9.1");
    snprintf(nobody->address, sizeof nobody->address, "127.0.9.2");
    struct gateway_conn *here = conn_session(ada, "v=10", ""),
                        *there = conn_session(bob, "v=10", "");
    const char *session = conn_id(there);
    const char *answer = run_operator_command(w, "ban\tadd\t127.0.9.0/24\tspam");
    expect(is_ok_reply(answer) && strstr(answer, "127.0.9.0/24"));
    expect_close(there, 4004);
    expect_error(client_get(bob, "/users/@me"), 403, 40333);
    expect_error(client_post(nobody,
                             "{'username': 'cyd', 'password': 'correct horse', 'consent': "
                             "true}",
                             "/auth/register"),
                 403, 40333);
    expect_error(
        client_post(nobody, "{'login': 'bob', 'password': 'correct horse'}", "/auth/login"), 403,
        40333);
    struct gateway_conn *again = conn_open(bob, "v=10");
    expect_op(again, 10);
    conn_resume(again, session, 1);
    expect_close(again, 4004);
    again = conn_open(bob, "v=10");
    expect_op(again, 10);
    conn_identify(again, "");
    expect_close(again, 4004);
    /* Other addresses are not affected. */
    expect_status(client_get(ada, "/users/@me"), 200);
    conn_beat(here);

    expect(is_error_reply(run_operator_command(w, "ban\tadd\t127.0.9.0/24"), "is already banned"));
    expect(is_error_reply(run_operator_command(w, "ban\tadd\t127.0.9.1/24"), "must be zero"));
    expect(is_error_reply(run_operator_command(w, "ban\tadd\tevil.example"), "192.0.2.0/24"));
    expect(is_error_reply(run_operator_command(w, "ban\tadd\t127.0.9.0/33"), "192.0.2.0/24"));
    world_restart(w);
    expect_error(client_get(bob, "/users/@me"), 403, 40333);
    const char *id = first_cell(w, run_operator_command(w, "ban\tlist\t0\t100"));
    expect(is_ok_reply(run_operator_command(w, "ban\tlift\t%s", id)));
    expect_status(client_get(bob, "/users/@me"), 200);
    expect(is_error_reply(run_operator_command(w, "ban\tlift\t%s", id), "no ban"));
}

static void configure_trusted_proxy(struct config *config)
{
    config->trusted_proxies = "loopback";
}

static int status_for_forwarded_address(struct client *c, const char *address)
{
    char headers[100];

    snprintf(headers, sizeof headers, "X-Forwarded-For: %s\r\n", address);
    return client_request(c, "GET", "/api/v10/users/@me", headers, (struct str){ 0 }).status;
}

static void address_bans_apply_to_clients_behind_a_proxy(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect(is_ok_reply(run_operator_command(w, "ban\tadd\t192.0.2.128/25")));
    expect(is_ok_reply(run_operator_command(w, "ban\tadd\t2001:db8:7::/48")));
    expect(is_ok_reply(run_operator_command(w, "ban\tadd\t198.51.100.7")));
    expect(status_for_forwarded_address(ada, "192.0.2.127") == 200);
    expect(status_for_forwarded_address(ada, "192.0.2.128") == 403);
    expect(status_for_forwarded_address(ada, "192.0.2.255") == 403);
    expect(status_for_forwarded_address(ada, "192.0.3.0") == 200);
    expect(status_for_forwarded_address(ada, "2001:db8:7:ffff::1") == 403);
    expect(status_for_forwarded_address(ada, "2001:db8:8::1") == 200);
    expect(status_for_forwarded_address(ada, "198.51.100.7") == 403);
    expect(status_for_forwarded_address(ada, "198.51.100.8") == 200);
}

/* --- registration codes --------------------------------------------------------------- */

static void configure_registration_by_invite(struct config *config)
{
    config->registration = "invite";
}

static struct answer register_with_code(struct world *w, const char *name, const char *code)
{
    return client_post(world_anonymous(w),
                       TEXT(w,
                            "{'username': '%s', 'password': 'correct horse', 'consent': true, "
                            "'invite': '%s'}",
                            name, code),
                       "/auth/register");
}

static void registration_codes_can_be_created_listed_and_revoked(struct world *w)
{
    const char *code = first_cell(w, run_operator_command(w, "invite\tcreate\t3"));
    const char *other = first_cell(w, run_operator_command(w, "invite\tcreate\t3"));

    expect(strlen(code) == 20);
    expect(world_number(w, "select count(*) from registration_invites where code like 'reg-%%'") ==
           0);
    expect_status(register_with_code(w, "ada", code), 200);
    const char *list = run_operator_command(w, "invite\tlist\t0\t100");
    expect(!strstr(list, code) && strstr(list, TEXT(w, "%.8s", code)) && strstr(list, "\t2\t"));
    expect(is_ok_reply(run_operator_command(w, "invite\trevoke\t%s", first_cell(w, list))));
    expect_invalid(register_with_code(w, "bob", code), "invite", "INVITE_INVALID");
    expect(is_ok_reply(run_operator_command(w, "invite\trevoke\t%s", other)));
    expect_invalid(register_with_code(w, "bob", other), "invite", "INVITE_INVALID");
    expect(is_error_reply(run_operator_command(w, "invite\trevoke\t%s", other), "no such code"));
    expect(is_error_reply(run_operator_command(w, "invite\trevoke\tx"), "no such code"));
    /* The operator log contains no code, not even a revoked one. */
    expect(world_number(w, "select count(*) from operator_log where command like '%%reg-%%'") == 0);
}

/* Earlier versions stored codes in plain text; these are valid and are replaced by digests. */
static void plain_text_registration_codes_are_valid_and_become_digests(struct world *w)
{
    world_sql(w, "insert into registration_invites (code, uses_left, expires_at, created_at) "
                 "values ('reg-abcdefghijklmnop', 2, 9000000000000000, 1)");
    expect_status(register_with_code(w, "ada", "reg-abcdefghijklmnop"), 200);
    world_sql(w, "insert into jobs (kind, key, due, data) values ('registration-codes', 1, 0, '')");
    world_restart(w);
    world_settle(w);
    expect_soon(world_number(w, "select count(*) from registration_invites where code like "
                                "'reg-%%'") == 0);
    expect(strstr(run_operator_command(w, "invite\tlist\t0\t100"), "reg-abcd\t1\t"));
    expect_status(register_with_code(w, "bob", "reg-abcdefghijklmnop"), 200);
    expect_invalid(register_with_code(w, "cyd", "reg-abcdefghijklmnop"), "invite",
                   "INVITE_INVALID");
}

/* --- commands by HTTP ----------------------------------------------------------------- */

/* Runs an operator command with the console key. JSON is written with single quotes. */
static struct answer call_command(struct world *w, const char *method, const char *path,
                                  const char *json)
{
    char body[500];
    struct buf key;

    for (size_t i = 0; i <= strlen(json); i++)
        body[i] = json[i] == '\'' ? '"' : json[i];
    buf_init(&key, SIZE_MAX);
    expect(control_socket_send_request(world_folder(w), "console-key", &key) == OK);
    const char *head = TEXT(w, "Content-Type: application/json\r\nAuthorization: Bearer %.*s\r\n",
                            STR_ARGS(buf_as_str(&key)));
    buf_clear(&key);
    return client_request(world_anonymous(w), method, TEXT(w, "/console/commands/%s", path), head,
                          str_of(body));
}

static void operator_commands_can_be_run_by_http(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(bob, v.channel, "bad words");

    expect_status(client_post(ada, TEXT(w, REPORT, v.channel, id, 4), "/report"), 200);
    struct answer a = call_command(w, "GET", "report/list?limit=1", "");
    expect_json(a, "[{'message': '%s', 'author_id': '%s'}]", id, bob->id);
    const char *report = answer_text(a, "0.id");
    expect_json(call_command(w, "GET", TEXT(w, "report/list?after=%s", report), ""), "[]");
    expect_json(call_command(w, "GET", TEXT(w, "report/show?argument=%s", report), ""),
                "[{'id': '%s'}]", report);
    expect_json(call_command(w, "POST", "message/delete",
                             TEXT(w, "{'arguments': ['%s', '%s']}", v.channel, id)),
                "[{'state': 'deleted'}]");
    expect_error(client_get(ada, "/channels/%s/messages/%s", v.channel, id), 404, 10008);
    expect_json(call_command(w, "POST", "report/close",
                             TEXT(w, "{'arguments': ['%s', 'deleted']}", report)),
                "[{'state': 'closed'}]");
    expect_json(call_command(w, "GET", "report/list", ""), "[]");
    expect(world_number(w, "select count(*) from operator_log where uid = 4294967295") == 2);

    expect_invalid(call_command(w, "POST", "ban/add", "{'arguments': ['x']}"), "arguments",
                   "BASE_TYPE_CHOICES");
    expect_invalid(call_command(w, "POST", "ban/add", "{'arguments': []}"), "arguments",
                   "BASE_TYPE_CHOICES");
    expect_invalid(
        call_command(w, "POST", "ban/add", "{'arguments': ['1','2','3','4','5','6','7']}"),
        "arguments", "BASE_TYPE_MAX_LENGTH");
    /* Passwords, blocking commands and commands of tests are only for the control socket. */
    static const char *const refused[] = { "user/passwd", "snapshot/make", "clock/move",
                                           "report/list", "no/such" };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_error(call_command(w, "POST", refused[i], "{'arguments': ['a', 'b']}"), 404, 0);
    expect_error(call_command(w, "GET", "ban/add?argument=192.0.2.0/24", ""), 404, 0);
    expect_error(client_request(ada, "GET", "/console/commands/report/list", NULL, STR("")), 401,
                 0);
    expect_error(client_request(world_anonymous(w), "POST", "/console/commands/ban/add",
                                "Content-Type: application/json\r\n",
                                STR("{\"arguments\":[\"192.0.2.0/24\"]}")),
                 401, 0);
}

/* --- announcement --------------------------------------------------------------------- */

#define ANNOUNCEMENT "/policies/instance/announcement"

static void announcement_is_shown_to_everybody_until_it_expires(struct world *w)
{
    struct client *anybody = world_anonymous(w);

    expect_json(client_get(anybody, ANNOUNCEMENT), "{'announcement': null}");
    expect(is_error_reply(run_operator_command(w, "announcement\tshow"), "no announcement"));
    expect(is_ok_reply(run_operator_command(w, "announcement\tset\tFirst")));
    expect(is_ok_reply(run_operator_command(w, "announcement\tset\tMaintenance at noon\t2")));
    expect_json(client_get(anybody, ANNOUNCEMENT),
                "{'announcement': {'content': 'Maintenance at noon'}}");
    expect(strstr(run_operator_command(w, "announcement\tshow"), "Maintenance at noon"));
    expect(world_number(w, "select count(*) from announcements") == 1);
    expect(is_error_reply(run_operator_command(w, "announcement\tset\tx\t366"), "DAYS"));
    expect(is_error_reply(run_operator_command(w, "announcement\tset\t%02001d", 0), "TEXT"));
    world_sql(w, "update announcements set expires_at = 1");
    expect_json(client_get(anybody, ANNOUNCEMENT), "{'announcement': null}");
    expect(is_ok_reply(run_operator_command(w, "announcement\tset\tAgain")));
    expect(is_ok_reply(run_operator_command(w, "announcement\tclear")));
    expect_json(client_get(anybody, ANNOUNCEMENT), "{'announcement': null}");
}

/* The new message has an id that is ahead of the clock. */
static void purge_deletes_messages_that_were_sent_after_the_clock_was_set_back(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    say_text(bob, v.channel, "before");
    clock_step_wall_clock(-10 * INT64_C(60000000));
    say_text(bob, v.channel, "after");
    expect(is_ok_reply(run_operator_command(w, "message\tpurge\tbob")));
    world_settle(w);
    expect(world_number(w, "select count(*) from messages where author_id = %s", bob->id) == 0);
    clock_step_wall_clock(10 * INT64_C(60000000));
}

const struct test operator_moderation_tests[] = {
    TEST(operator_can_show_and_delete_a_message),
    TEST(operator_can_delete_private_messages),
    TEST(operator_can_delete_all_messages_of_an_account_in_batches),
    TEST(purge_deletes_messages_that_were_sent_after_the_clock_was_set_back),
    TEST(operator_can_delete_a_file_from_all_messages),
    TEST(deleting_the_file_of_an_empty_message_deletes_the_message),
    TEST(report_stores_the_messages_content_at_that_time),
    TEST(report_menu_lists_reasons_and_accepts_reports),
    TEST(erasing_an_account_deletes_its_closed_reports),
    TEST_WITH(reports_are_rate_limited, configure_enabled_rate_limits),
    TEST(banned_addresses_are_refused_and_disconnected),
    TEST_WITH(address_bans_apply_to_clients_behind_a_proxy, configure_trusted_proxy),
    TEST(operator_commands_can_be_run_by_http),
    TEST(announcement_is_shown_to_everybody_until_it_expires),
    TEST_WITH(registration_codes_can_be_created_listed_and_revoked,
              configure_registration_by_invite),
    TEST_WITH(plain_text_registration_codes_are_valid_and_become_digests,
              configure_registration_by_invite),
    { 0 },
};
