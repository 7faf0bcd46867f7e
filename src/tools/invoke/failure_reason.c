/* failure_reason.c - finds in the server's traffic log why an app did not reply. */
#include <inttypes.h>
#include <unistd.h>

#include "tools/admin/console.h"
#include "tools/invoke/invoke.h"

struct traffic_entry {
    struct str kind;
    struct opt_str route, event, problem, hint, docs;
    int64_t status, code;
    struct opt_object user; /* struct traffic_entry_user */
};
struct traffic_entry_user {
    struct str kind;
};
struct failure_records {
    bool on;
    struct list records; /* struct traffic_entry */
};

static const struct field seen_user_fields[] = {
    { FIELD(struct traffic_entry_user, kind), .type = &type_text },
    { 0 },
};
static const struct schema seen_user_schema = { .size = sizeof(struct traffic_entry_user),
                                                .fields = seen_user_fields };
static const struct type type_seen_user = { .kind = KIND_OBJECT, .schema = &seen_user_schema };
static const struct field record_fields[] = {
    { FIELD(struct traffic_entry, kind), .type = &type_text },
    { FIELD(struct traffic_entry, route), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct traffic_entry, event), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct traffic_entry, problem), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct traffic_entry, hint), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct traffic_entry, docs), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct traffic_entry, status), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct traffic_entry, code), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct traffic_entry, user), .type = &type_seen_user, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema record_schema = { .size = sizeof(struct traffic_entry),
                                             .fields = record_fields };
static const struct type type_record = { .kind = KIND_OBJECT, .schema = &record_schema };
static const struct type type_records = { .kind = KIND_ARRAY, .of = &type_record };
static const struct field page_fields[] = {
    { FIELD(struct failure_records, on), .type = &type_bool },
    { FIELD(struct failure_records, records), .type = &type_records },
    { 0 },
};
static const struct schema page_schema = { .size = sizeof(struct failure_records),
                                           .fields = page_fields };
static const struct type type_page = { .kind = KIND_OBJECT, .schema = &page_schema };

/* Reads the traffic records of the interaction; returns NULL if they are not available. */
static const struct failure_records *read_interaction_traffic(struct invoke_command_state *v,
                                                              snowflake interaction)
{
    struct str path = str_printf(v->arena, "/console/traffic?limit=200&text=%" PRIu64, interaction);

    if (!v->options->as || !interaction)
        return NULL;
    struct api_client_response a = send_console_request(
        v->config, v->arena, "GET", str_dup_cstring(v->arena, path), (struct str){ 0 });
    const struct failure_records *page =
        a.status == 200 ? schema_decode_or_null(&type_page, a.body, v->arena) : NULL;
    return page && page->on ? page : NULL;
}

static const char *format_reason_of_refused_reply(struct invoke_command_state *v,
                                                  const struct traffic_entry *r)
{
    struct str problem = r->problem.given == GIVEN ? r->problem.value : STR("");
    struct str hint = r->hint.given == GIVEN ? r->hint.value : STR("");
    struct str docs = r->docs.given == GIVEN ? r->docs.value : STR("");

    return str_dup_cstring(
        v->arena,
        str_printf(v->arena,
                   "the app replied, but the server refused the reply: %lld %lld%s%.*s; %.*s "
                   "(%.*s)",
                   (long long)r->status, (long long)r->code, problem.n ? ", " : "",
                   STR_ARGS(problem), STR_ARGS(hint), STR_ARGS(docs)));
}

static const char *format_endpoint_failure(struct invoke_command_state *v,
                                           const struct traffic_entry *r)
{
    if (!r->status)
        return str_dup_cstring(
            v->arena, str_printf(v->arena, "the app's endpoint %.*s", STR_ARGS(r->problem.value)));
    if (r->status == 200)
        return "the app's endpoint responded with status 200, but its response is invalid";
    return str_dup_cstring(v->arena,
                           str_printf(v->arena, "the app's endpoint responded with status %lld",
                                      (long long)r->status));
}

static bool interaction_was_sent_to_bot(const struct traffic_entry *r)
{
    const struct traffic_entry_user *u = r->user.value;

    return r->event.given == GIVEN && str_is(r->event.value, "INTERACTION_CREATE") && u &&
           str_is(u->kind, "bot");
}

/* Returns why the reply failed according to the traffic records, or NULL. Sets *ret_sent to true if
 * the bot received the interaction. */
static const char *reason_in_records(struct invoke_command_state *v,
                                     struct invocation_step_outcome *out,
                                     const struct failure_records *page, bool *ret_sent)
{
    const struct traffic_entry *r = page->records.items;

    for (size_t i = 0; i < page->records.count; i++) {
        if (r[i].route.given == GIVEN && str_is(r[i].route.value, "create_interaction_response") &&
            r[i].status >= 400) {
            out->status = INVOKE_FAILED;
            return format_reason_of_refused_reply(v, &r[i]);
        }
        if (str_is(r[i].kind, "delivered") && r[i].status != 202)
            return format_endpoint_failure(v, &r[i]);
        *ret_sent |= interaction_was_sent_to_bot(&r[i]);
    }
    return NULL;
}

enum { LATE_REPLY_TRIES = 5, LATE_REPLY_WAIT_MS = 200 };

/* Waits up to one second for a late reply, because a bot that received the interaction may still
 * reply. The traffic record of the reply shows its delay. */
const char *find_reason_of_missing_reply(struct invoke_command_state *v,
                                         struct invocation_step_outcome *out)
{
    for (int i = 0; i < LATE_REPLY_TRIES; i++) {
        const struct failure_records *page = read_interaction_traffic(v, out->interaction_id);
        bool sent = false;
        const char *reason = page ? reason_in_records(v, out, page, &sent) : NULL;

        if (!page || reason)
            return reason;
        if (!sent)
            return "the app is not connected: its bot has no session, and it has no endpoint";
        usleep(LATE_REPLY_WAIT_MS * 1000);
    }
    return "the app is connected and received the interaction, but did not reply; did its "
           "handler throw?";
}
