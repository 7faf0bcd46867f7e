/* github.c - webhook endpoint for GitHub events. */
#include "platform/webhooks/github.h"

#include "net/http/http_parser.h"
#include "net/http/server.h"
#include "platform/messages/message_body.h"
#include "platform/webhooks/internal.h"

enum { MOST_COMMITS = 2048 };

/* A field of a GitHub payload. All fields are optional and nullable, and long texts are truncated
 * instead of refused: GitHub ignores error replies, so nobody would see an error. */
/* clang-format off */
#define GITHUB_FIELD(struct_, member_, type_)                                                      \
    { FIELD(struct struct_, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field object_fields[] = {
    GITHUB_FIELD(github_object, number, type_count),
    GITHUB_FIELD(github_object, title, type_text),
    GITHUB_FIELD(github_object, full_name, type_text),
    GITHUB_FIELD(github_object, name, type_text),
    GITHUB_FIELD(github_object, tag_name, type_text),
    GITHUB_FIELD(github_object, head_branch, type_text),
    GITHUB_FIELD(github_object, login, type_text),
    GITHUB_FIELD(github_object, commit_id, type_text),
    GITHUB_FIELD(github_object, html_url, type_text),
    GITHUB_FIELD(github_object, avatar_url, type_text),
    GITHUB_FIELD(github_object, body, type_text),
    GITHUB_FIELD(github_object, conclusion, type_text),
    { 0 },
};
static const struct schema object_schema = {
    .name = "GithubObject",
    .size = sizeof(struct github_object),
    .fields = object_fields,
    .doc = "An object of GitHub with a name and a page.",
};
static const struct type type_github_object = { .kind = KIND_OBJECT, .schema = &object_schema };

static const struct field commit_fields[] = {
    GITHUB_FIELD(github_commit, id, type_text),
    GITHUB_FIELD(github_commit, message, type_text),
    GITHUB_FIELD(github_commit, url, type_text),
    GITHUB_FIELD(github_commit, author, type_github_object),
    { 0 },
};
static const struct schema commit_schema = {
    .name = "GithubCommit",
    .size = sizeof(struct github_commit),
    .fields = commit_fields,
    .doc = "A commit that was pushed.",
};
static const struct type type_github_commit = { .kind = KIND_OBJECT, .schema = &commit_schema };
static const struct type type_github_commits = {
    .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .max = MOST_COMMITS, .of = &type_github_commit
};

static const struct field payload_fields[] = {
    GITHUB_FIELD(github_payload, action, type_text),
    GITHUB_FIELD(github_payload, ref, type_text),
    GITHUB_FIELD(github_payload, ref_type, type_text),
    GITHUB_FIELD(github_payload, compare, type_text),
    GITHUB_FIELD(github_payload, repository, type_github_object),
    GITHUB_FIELD(github_payload, sender, type_github_object),
    GITHUB_FIELD(github_payload, issue, type_github_object),
    GITHUB_FIELD(github_payload, comment, type_github_object),
    GITHUB_FIELD(github_payload, pull_request, type_github_object),
    GITHUB_FIELD(github_payload, review, type_github_object),
    GITHUB_FIELD(github_payload, release, type_github_object),
    GITHUB_FIELD(github_payload, forkee, type_github_object),
    GITHUB_FIELD(github_payload, member, type_github_object),
    GITHUB_FIELD(github_payload, discussion, type_github_object),
    GITHUB_FIELD(github_payload, check_run, type_github_object),
    GITHUB_FIELD(github_payload, check_suite, type_github_object),
    { FIELD(struct github_payload, commits), .type = &type_github_commits, .flags = OPTIONAL },
    { 0 },
};
static const struct schema payload_schema = {
    .name = "GithubEvent",
    .size = sizeof(struct github_payload),
    .fields = payload_fields,
    .doc = "Payload of the GitHub event that the header X-GitHub-Event names.",
};
const struct type github_body = { .kind = KIND_OBJECT, .schema = &payload_schema };

enum err convert_github_event_to_message(struct call *call)
{
    struct str event = http_find_header(call->exchange->request, STR("X-GitHub-Event"));
    struct message_body *out = arena_alloc(call->arena, sizeof *out);
    struct embed *card = arena_alloc(call->arena, sizeof *card);

    if (!github_build_embed(&call->form, event, call->body, card))
        return pass_on_converted_webhook_message(call, NULL);
    *out = (struct message_body){ .embeds = { GIVEN, { .items = card, .count = 1 } } };
    return pass_on_converted_webhook_message(call, out);
}

/* POST /webhooks/{webhook.id}/{webhook.token}/github */
enum err execute_github_webhook(struct call *call)
{
    return call_get_message_send_state(call)->in ? send_converted_webhook_message(call) : OK;
}
