/* webhook_services.c - webhook messages in Slack format, and GitHub events. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "channel_events.h"
#include "test_guild.h"

struct service_webhook {
    struct client *ada, *nobody;
    struct test_guild test_guild;
    const char *id, *token;
};

static struct service_webhook create_service_webhook(struct world *w)
{
    struct service_webhook s = { world_client(w, "ada"), world_anonymous(w), .id = NULL };

    s.test_guild = world_test_guild(w, s.ada);
    struct answer a =
        client_post(s.ada, "{'name': 'Post'}", "/channels/%s/webhooks", s.test_guild.channel);
    expect_status(a, 200);
    s.id = answer_text(a, "id");
    s.token = answer_text(a, "token");
    return s;
}

static struct answer post_slack(struct service_webhook *s, const char *json)
{
    return client_post(s->nobody, json, "/webhooks/%s/%s/slack", s->id, s->token);
}

static struct answer post_github(struct service_webhook *s, const char *event, const char *json)
{
    struct arena *arena = world_arena(s->test_guild.world);
    char *body = str_dup_cstring(arena, str_of(json));

    for (char *p = body; *p; p++)
        if (*p == '\'')
            *p = '"';
    return client_request(
        s->nobody, "POST", str_printf(arena, "/api/webhooks/%s/%s/github", s->id, s->token).p,
        str_printf(arena, "Content-Type: application/json\r\nX-GitHub-Event: %s\r\n", event).p,
        str_of(body));
}

static int64_t count_messages(struct service_webhook *s)
{
    return world_number(s->test_guild.world, "select count(*) from messages where channel_id = %s",
                        s->test_guild.channel);
}

/* --- Slack ---------------------------------------------------------------------------- */

static void slack_messages_become_content_and_embeds(struct world *w)
{
    struct service_webhook s = create_service_webhook(w);
    struct channel_events room = world_channel_events(w, s.test_guild.channel);
    struct answer a = post_slack(
        &s, "{'text': 'see <https://x.y|this> <b|c> <http://z> <', 'username': 'Bell', "
            "'icon_url': 'https://x.y/i.png', 'attachments': [{'title': 'T', 'title_link': "
            "'https://x.y/t', 'pretext': 'above', 'text': '<https://x.y|in>', 'color': '#36A64f', "
            "'ts': '1700000000', 'footer': 'F', 'footer_icon': 'https://x.y/f.png', 'author_name': "
            "'A', 'author_link': 'https://x.y/a', 'image_url': 'https://x.y/1.png', 'thumb_url': "
            "'https://x.y/2.png', 'fields': [{'title': 'n', 'value': 'v', 'short': true}, "
            "{'name': 'm', 'value': 'w'}], 'fallback': 'not shown'}, {'fallback': 'shown', "
            "'color': 'good'}]}");

    expect_status(a, 200);
    expect(str_is(a.body, "ok"));
    expect_channel_event(
        &room, "MESSAGE_CREATE",
        "{'content': 'see [this](https://x.y) <b|c> <http://z> <', 'webhook_id': '%s', 'author': "
        "{'username': 'Bell'}, 'embeds': [{'type': 'rich', 'title': 'T', 'url': 'https://x.y/t', "
        "'description': 'above\\n[in](https://x.y)', 'color': 3581519, 'timestamp': "
        "'2023-11-14T22:13:20+00:00', 'footer': {'text': 'F', 'icon_url': "
        "'https://x.y/f.png'}, 'author': {'name': 'A', 'url': 'https://x.y/a'}, 'image': {'url': "
        "'https://x.y/1.png'}, 'thumbnail': {'url': 'https://x.y/2.png'}, 'fields': [{'name': "
        "'n', 'value': 'v', 'inline': true}, {'name': 'm', 'value': 'w', 'inline': false}]}, "
        "{'description': 'shown', 'color': 3061894}]}",
        s.id);
}

static void invalid_slack_messages_are_refused(struct world *w)
{
    struct service_webhook s = create_service_webhook(w);
    char body[7000];

    expect_error(post_slack(&s, "{}"), 400, 50006);
    snprintf(body, sizeof body, "{'text': '%02000d'}", 1);
    expect_status(post_slack(&s, body), 200);
    snprintf(body, sizeof body, "{'text': '%02001d'}", 1);
    expect_invalid(post_slack(&s, body), "text", "BASE_TYPE_MAX_LENGTH");
    /* A Slack link is longer in Markdown. */
    snprintf(body, sizeof body, "{'text': '<http://x|y>%01988d'}", 1);
    expect_invalid(post_slack(&s, body), "text", "BASE_TYPE_MAX_LENGTH");
    snprintf(body, sizeof body, "{'attachments': [{'pretext': 'x', 'text': '%04095d'}]}", 1);
    expect_invalid(post_slack(&s, body), "attachments.0.text", "BASE_TYPE_MAX_LENGTH");
    snprintf(body, sizeof body, "{'attachments': [{'text': '%04000d'}, {'text': '%02001d'}]}", 1,
             1);
    expect_invalid(post_slack(&s, body), "attachments", "MAX_EMBED_SIZE_EXCEEDED");
    expect_invalid(post_slack(&s, "{'attachments': [{'color': '#fff'}]}"), "attachments.0.color",
                   "STRING_TYPE_REGEX");
    expect_invalid(post_slack(&s, "{'attachments': [{'color': '#ffffff'}]}"), "attachments.0.text",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(post_slack(&s, "{'attachments': [{'fields': [{'value': 'x'}]}]}"),
                   "attachments.0.fields.0.title", "BASE_TYPE_REQUIRED");
    expect_invalid(post_slack(&s, "{'attachments': [{'text': 'x', 'image_url': 'y'}]}"),
                   "attachments.0.image_url", "URL_TYPE_INVALID_URL");
    expect_invalid(post_slack(&s, "{'attachments': [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]}"),
                   "attachments", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(post_slack(&s, "{'text': 'x', 'username': 'Clyde'}"), "username",
                   "USERNAME_INVALID_CONTAINS");
    expect_error(client_post(s.nobody, "{'text': 5}", "/webhooks/%s/x/slack", s.id), 401, 50027);
    expect(count_messages(&s) == 1);
}

static void slack_form_body_contains_the_message_as_json(struct world *w)
{
    static const char type[] = "Content-Type: application/x-www-form-urlencoded\r\n";
    struct service_webhook s = create_service_webhook(w);
    struct str path =
        str_printf(world_arena(w), "/api/webhooks/%s/%s/slack?wait=false", s.id, s.token);

    struct answer a =
        client_request(s.nobody, "POST", path.p, type, STR("payload=%7B%22text%22%3A%22a+b%22%7D"));
    expect_status(a, 200);
    expect(str_is(a.body, "ok"));
    expect_json(client_get(s.ada, "/channels/%s/messages", s.test_guild.channel),
                "[{'content': 'a b'}]");
    expect_invalid(client_request(s.nobody, "POST", path.p, type, STR("payload=x")), "payload",
                   "MODEL_TYPE_CONVERT");
    expect_invalid(
        client_request(s.nobody, "POST", path.p, type, STR("payload=%7B%22text%22%3A%5B%5D%7D")),
        "payload.text", "STRING_TYPE_CONVERT");
    expect(count_messages(&s) == 1);
}

/* --- GitHub --------------------------------------------------------------------------- */

#define REPOSITORY "'repository': {'full_name': 'o/r', 'html_url': 'https://g/o/r'}, "
#define SENDER                                                               \
    "'sender': {'login': 'ada', 'html_url': 'https://g/ada', 'avatar_url': " \
    "'https://g/ada.png', 'id': 5}"

static void github_events_become_embeds(struct world *w)
{
    static const struct {
        const char *event, *body, *title, *url;
    } cases[] = {
        { "issues",
          "'action': 'opened', 'issue': {'number': 5, 'title': 'T', 'html_url': "
          "'https://g/5', 'body': null}, ",
          "[o/r] Issue opened: #5 T", "https://g/5" },
        { "issue_comment",
          "'action': 'created', 'issue': {'number': 5, 'title': 'T'}, 'comment': {'html_url': "
          "'https://g/5#1'}, ",
          "[o/r] Issue comment created: #5 T", "https://g/5#1" },
        { "commit_comment",
          "'action': 'created', 'comment': {'commit_id': '0123456789', 'html_url': 'https://g/c'}, ",
          "[o/r] Commit comment created: 0123456", "https://g/c" },
        { "create", "'ref': 'b', 'ref_type': 'branch', ", "[o/r] branch created: b",
          "https://g/o/r" },
        { "delete", "'ref': 'v1', 'ref_type': 'tag', ", "[o/r] tag deleted: v1", "https://g/o/r" },
        { "fork", "'forkee': {'name': 'r', 'full_name': 'p/r', 'html_url': 'https://g/p/r'}, ",
          "[o/r] Fork created: p/r", "https://g/p/r" },
        { "member", "'action': 'added', 'member': {'login': 'bob', 'html_url': 'javascript:x'}, ",
          "[o/r] Collaborator added: bob", NULL },
        { "public", "", "[o/r] Repository made public", "https://g/o/r" },
        { "watch", "'action': 'started', ", "[o/r] Star added", "https://g/o/r" },
        { "release", "'action': 'published', 'release': {'name': null, 'tag_name': 'v1'}, ",
          "[o/r] Release published: v1", "https://g/o/r" },
        { "check_run",
          "'action': 'completed', 'check_run': {'name': 'ci', 'conclusion': 'success'}, ",
          "[o/r] Check run completed: ci (success)", "https://g/o/r" },
        { "check_suite",
          "'action': 'completed', 'check_suite': {'head_branch': 'm', 'conclusion': 'failure'}, ",
          "[o/r] Check suite completed: m (failure)", "https://g/o/r" },
        { "pull_request", "'action': 'closed', 'pull_request': {'number': 7, 'title': 'P'}, ",
          "[o/r] Pull request closed: #7 P", "https://g/o/r" },
        { "pull_request_review",
          "'action': 'submitted', 'pull_request': {'number': 7, 'title': 'P'}, 'review': {}, ",
          "[o/r] Pull request review submitted: #7 P", "https://g/o/r" },
        { "pull_request_review_comment",
          "'action': 'created', 'pull_request': {'number': 7, 'title': 'P'}, 'comment': {}, ",
          "[o/r] Pull request review comment created: #7 P", "https://g/o/r" },
        { "discussion", "'action': 'created', 'discussion': {'number': 9, 'title': 'D'}, ",
          "[o/r] Discussion created: #9 D", "https://g/o/r" },
        { "discussion_comment",
          "'action': 'created', 'discussion': {'number': 9, 'title': 'D'}, 'comment': {}, ",
          "[o/r] Discussion comment created: #9 D", "https://g/o/r" },
        { "push",
          "'ref': 'refs/heads/main', 'compare': 'https://g/cmp', 'commits': [{'id': 'abcdef012', "
          "'message': 'one', 'url': 'https://g/1', 'author': {'name': 'Ada'}}], ",
          "[o/r:main] 1 new commit", "https://g/cmp" },
    };
    struct service_webhook s = create_service_webhook(w);
    struct channel_events room = world_channel_events(w, s.test_guild.channel);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str body = str_printf(world_arena(w), "{%s" REPOSITORY SENDER "}", cases[i].body);

        expect_status(post_github(&s, cases[i].event, body.p), 204);
        expect_channel_event(&room, "MESSAGE_CREATE",
                             "{'content': '', 'author': {'username': 'Post'}, 'embeds': [{'title': "
                             "'%s', 'author': {'name': 'ada', 'url': 'https://g/ada', 'icon_url': "
                             "'https://g/ada.png'}%s%s%s}]}",
                             cases[i].title, cases[i].url ? ", 'url': '" : "",
                             cases[i].url ? cases[i].url : "", cases[i].url ? "'" : "");
    }
    expect_json(client_get(s.ada, "/channels/%s/messages?limit=1", s.test_guild.channel),
                "[{'embeds': [{'description': '[`abcdef0`](https://g/1) one - Ada'}]}]");
}

static void long_github_texts_are_truncated(struct world *w)
{
    struct service_webhook s = create_service_webhook(w);
    struct buf body, commits;

    buf_init(&body, 100000);
    buf_printf(
        &body,
        "{'action': 'opened', 'issue': {'number': 5, 'title': '%0300d', 'body': '%0501d'}, " REPOSITORY
            SENDER "}",
        1, 1);
    expect_status(post_github(&s, "issues", buf_move_to_arena(&body, world_arena(w)).p), 204);
    struct answer a = client_get(s.ada, "/channels/%s/messages?limit=1", s.test_guild.channel);
    expect(utf8_length(str_of(answer_text(a, "0.embeds.0.title"))) == 256);
    expect(utf8_length(str_of(answer_text(a, "0.embeds.0.description"))) == 500);

    buf_init(&commits, 100000);
    buf_printf(&commits, "{'ref': 'refs/heads/m', " REPOSITORY SENDER ", 'commits': [{}");
    for (int i = 0; i < 12; i++)
        buf_printf(&commits, ", {'id': 'abcdef0', 'url': 'https://g/1', 'message': '%0200d\\nx'}",
                   i);
    buf_printf(&commits, "]}");
    expect_status(post_github(&s, "push", buf_move_to_arena(&commits, world_arena(w)).p), 204);
    a = client_get(s.ada, "/channels/%s/messages?limit=1", s.test_guild.channel);
    expect_json(a, "[{'embeds': [{'title': '[o/r:m] 13 new commits'}]}]");
    struct str description = str_of(answer_text(a, "0.embeds.0.description"));
    expect(utf8_length(description) <= 500 && description.p[description.n - 1] != '\n');
}

static void github_events_without_content_send_no_message(struct world *w)
{
    struct service_webhook s = create_service_webhook(w);

    expect_status(post_github(&s, "ping", "{'zen': 'x'}"), 204);
    expect_status(post_github(&s, "gollum", "{" REPOSITORY SENDER "}"), 204);
    expect_status(post_github(&s, "push", "{" REPOSITORY SENDER ", 'commits': []}"), 204);
    expect_status(post_github(&s, "check_run", "{" REPOSITORY "'check_run': {'conclusion': null}}"),
                  204);
    expect_status(client_post(s.nobody, "{}", "/webhooks/%s/%s/github", s.id, s.token), 204);
    expect_invalid(post_github(&s, "issues", "{'action': 'opened'}"), "repository",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(post_github(&s, "issues", "{" REPOSITORY SENDER "}"), "issue",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(post_github(&s, "issues", "{'issue': 5}"), "issue", "MODEL_TYPE_CONVERT");
    expect_error(client_post(s.nobody, "{}", "/webhooks/%s/x/github", s.id), 401, 50027);
    expect(count_messages(&s) == 0);
}

/* --- Slack and GitHub ----------------------------------------------------------------- */

static void service_webhooks_post_into_threads_but_not_forums(struct world *w)
{
    struct service_webhook s = create_service_webhook(w);

    world_sql(w,
              "insert into channels (id, guild_id, type, name, parent_id, owner_id) "
              "values (90001, %s, 11, 't', %s, %s)",
              s.test_guild.id, s.test_guild.channel, s.ada->id);
    expect_status(client_post(s.nobody, "{'text': 'x'}", "/webhooks/%s/%s/slack?thread_id=90001",
                              s.id, s.token),
                  200);
    expect(world_number(w, "select count(*) from messages where channel_id = 90001") == 1);
    expect_error(
        client_post(s.nobody, "{'text': 'x'}", "/webhooks/%s/%s/slack?thread_id=7", s.id, s.token),
        404, 10003);
    world_sql(w, "update channels set type = 15 where id = %s", s.test_guild.channel);
    expect_error(post_slack(&s, "{'text': 'x'}"), 400, 220004);
    expect_error(post_github(&s, "public", "{" REPOSITORY SENDER "}"), 400, 220004);
    expect_status(client_post(s.nobody, "{'text': 'x'}", "/webhooks/%s/%s/slack?thread_id=90001",
                              s.id, s.token),
                  200);
}

const struct test webhook_services_tests[] = {
    TEST(slack_messages_become_content_and_embeds),
    TEST(invalid_slack_messages_are_refused),
    TEST(slack_form_body_contains_the_message_as_json),
    TEST(github_events_become_embeds),
    TEST(long_github_texts_are_truncated),
    TEST(github_events_without_content_send_no_message),
    TEST(service_webhooks_post_into_threads_but_not_forums),
    { 0 },
};
