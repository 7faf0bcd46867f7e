/* routes.c - routes that report a message, and the client's menu of report reasons. */
#include "platform/reports/internal.h"

#include <stdio.h>
#include <string.h>

#include "api/deletion.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/permissions/permissions.h"
#include "model/fields/types.h"
#include "platform/channels/channels.h"
#include "platform/message_parts/column_json.h"
#include "platform/messages/messages.h"

static const struct rate_limit limit_report = { .name = "report", .count = 20, .window_s = 3600 };

/* A reason for a report. It is also a node of the client's report menu, identified by a number. */
struct report_reason {
    int64_t reason;
    struct str key, label, description;
};

static const struct report_reason reasons[] = {
    { 2, STR_INIT("spam"), STR_INIT("Spam or fraud"),
      STR_INIT("Advertising, phishing, malware or scams.") },
    { 3, STR_INIT("abuse"), STR_INIT("Abuse or harassment"),
      STR_INIT("Threats, insults, hate or private data of somebody.") },
    { 4, STR_INIT("illegal"), STR_INIT("Illegal content"),
      STR_INIT("Content that breaks the law.") },
    { 5, STR_INIT("other"), STR_INIT("Something else"),
      STR_INIT("Anything else that the operator should see.") },
};
enum { NODE_ROOT = 1, NODE_SUCCESS = 6, NODE_FAIL = 7 };

static const struct report_reason *find_report_reason(int64_t number)
{
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (reasons[i].reason == number)
            return &reasons[i];
    return NULL;
}

/* --- schemas -------------------------------------------------------------------------- */

static const struct type type_comment = { .kind = KIND_STRING,
                                          .max = 1000,
                                          .doc = "What the operator should know." };
static const struct type type_reason = { .kind = KIND_INT, .doc = "A reason of GET /report." };
static const struct type type_node = { .kind = KIND_INT };
static const struct type type_nodes = { .kind = KIND_ARRAY,
                                        .of = &type_node,
                                        .min = 1,
                                        .max = 20,
                                        .doc = "Nodes of the menu, from its root on." };

struct report_body {
    snowflake channel_id, message_id;
    int64_t reason;
    struct opt_str comment;
};
static const struct field report_fields[] = {
    { FIELD(struct report_body, channel_id), .type = &type_id },
    { FIELD(struct report_body, message_id), .type = &type_id },
    { FIELD(struct report_body, reason), .type = &type_reason },
    { FIELD(struct report_body, comment), .type = &type_comment, .flags = OPTIONAL },
    { 0 },
};
static const struct schema report_schema = { .name = "ReportBody",
                                             .size = sizeof(struct report_body),
                                             .fields = report_fields,
                                             .doc = "A message, and the reason for the report." };
static const struct type report_body_type = { .kind = KIND_OBJECT, .schema = &report_schema };

struct report_menu_body {
    snowflake channel_id, message_id;
    struct list breadcrumbs; /* int64_t */
    struct opt_str elements;
};
static const struct field menu_body_fields[] = {
    { FIELD(struct report_menu_body, channel_id), .type = &type_id },
    { FIELD(struct report_menu_body, message_id), .type = &type_id },
    { FIELD(struct report_menu_body, breadcrumbs), .type = &type_nodes },
    { FIELD(struct report_menu_body, elements), .type = &type_raw, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema menu_body_schema = { .name = "ReportMenuBody",
                                                .size = sizeof(struct report_menu_body),
                                                .fields = menu_body_fields,
                                                .doc =
                                                    "A message, and the path through the menu." };
static const struct type menu_body_type = { .kind = KIND_OBJECT, .schema = &menu_body_schema };

struct report_created {
    snowflake id, report_id;
};
static const struct field made_fields[] = {
    { FIELD(struct report_created, id), .type = &type_id },
    { FIELD(struct report_created, report_id), .type = &type_id },
    { 0 },
};
static const struct schema made_schema = { .name = "ReportMade",
                                           .size = sizeof(struct report_created),
                                           .fields = made_fields,
                                           .doc = "The id of a report, in both fields." };
static const struct type made_type = { .kind = KIND_OBJECT, .schema = &made_schema };

static const struct field reason_fields[] = {
    { FIELD(struct report_reason, reason), .type = &type_count },
    { FIELD(struct report_reason, label), .type = &type_text },
    { FIELD(struct report_reason, description), .type = &type_text },
    { 0 },
};
static const struct schema reason_schema = { .name = "ReportReason",
                                             .size = sizeof(struct report_reason),
                                             .fields = reason_fields,
                                             .doc = "A reason to report a message." };
static const struct type reason_type = { .kind = KIND_OBJECT, .schema = &reason_schema };
static const struct type reasons_type = { .kind = KIND_ARRAY, .of = &reason_type };

/* --- reporting ------------------------------------------------------------------------ */

static void log_new_report(struct call *call)
{
    (void)call;
    log_info("reports: a user reported a message; see 'guildhall report list'");
}

static enum err read_reported_message(struct call *call, snowflake channel_id, snowflake message_id,
                                      struct message *ret)
{
    enum err e = resolve_channel_by_id(call, channel_id);

    if (!e && !(call->target.permissions & PERMISSION(READ_MESSAGE_HISTORY)))
        e = ERR_MISSING_ACCESS;
    if (!e)
        e = message_find(call, channel_id, message_id, ret);
    if (!e && ret->author_id == call->caller->id)
        e = call_add_field_error(call, "message_id", "REPORT_OWN_MESSAGE",
                                 "You cannot report your own message. Delete it instead.");
    return e;
}

static enum err create_message_report(struct call *call, struct message_report *r)
{
    struct message m;
    snowflake known;
    enum err e = read_reported_message(call, r->channel_id, r->message_id, &m);

    if (!e)
        e = report_find_of_reporter(call->tx, call->caller->id, m.id, &known);
    if (!e && !known) {
        r->id = known = snowflake_new();
        r->reporter_id = call->caller->id;
        r->guild_id = call->target.channel->guild_id.value;
        r->author_id = m.author_id;
        r->snapshot = encode_json_for_database_column(call->arena, &type_message, &m);
        e = report_insert(call->tx, r);
        call->after = log_new_report;
    }
    return e ? e : call_reply_with_object(call, &(struct report_created){ known, known });
}

/* POST /report */
static enum err create_report(struct call *call)
{
    const struct report_body *in = call->body;
    const struct report_reason *why = find_report_reason(in->reason);

    if (!why)
        return call_add_field_error(call, "reason", "BASE_TYPE_CHOICES",
                                    "Must be a reason of GET /report.");
    return create_message_report(
        call, &(struct message_report){ .channel_id = in->channel_id,
                                        .message_id = in->message_id,
                                        .reason = why->key,
                                        .comment = in->comment.given == GIVEN ? in->comment.value
                                                                              : STR("") });
}

/* POST /reporting/message and /reporting/first_dm */
static enum err submit_report_menu(struct call *call)
{
    const struct report_menu_body *in = call->body;
    const int64_t *nodes = in->breadcrumbs.items;
    const struct report_reason *why = find_report_reason(nodes[in->breadcrumbs.count - 1]);
    bool says_more = in->elements.given == GIVEN && !str_is(in->elements.value, "{}");

    if (!why)
        return call_add_field_error(call, "breadcrumbs", "BASE_TYPE_CHOICES",
                                    "Must end with a node of the menu that submits.");
    if (says_more && in->elements.value.n > 2000)
        return call_add_field_error(call, "elements", "BASE_TYPE_MAX_LENGTH",
                                    "Must be 2000 or fewer bytes of JSON.");
    return create_message_report(
        call, &(struct message_report){ .channel_id = in->channel_id,
                                        .message_id = in->message_id,
                                        .reason = why->key,
                                        .comment = says_more ? in->elements.value : STR("") });
}

/* GET /report */
static enum err get_report_reasons(struct call *call)
{
    return call_reply_with_object(call, &(struct list){ (void *)reasons, COUNT_OF(reasons) });
}

/* --- the menu ------------------------------------------------------------------------- */

struct report_menu_node {
    int64_t id;
    struct str key, header;
    const char *button, *element, *report_type;
};

static void write_menu_child_nodes_json(struct json_writer *j, bool root)
{
    json_write_key(j, STR("children"));
    json_begin_array(j);
    for (size_t i = 0; root && i < COUNT_OF(reasons); i++) {
        json_begin_array(j);
        json_write_text(j, reasons[i].label);
        json_write_int(j, reasons[i].reason);
        json_end_array(j);
    }
    json_end_array(j);
}

static void write_menu_element_json(struct json_writer *j, const char *type)
{
    json_write_key(j, STR("elements"));
    json_begin_array(j);
    if (type) {
        json_begin_object(j);
        json_write_key(j, STR("name"));
        json_write_text(j, str_of(type));
        json_write_key(j, STR("type"));
        json_write_text(j, str_of(type));
        json_write_key(j, STR("data"));
        json_write_null(j);
        for (int i = 0; i < 3; i++) {
            json_write_key(j, i == 0   ? STR("should_submit_data")
                              : i == 1 ? STR("skip_if_unlocalized")
                                       : STR("is_localized"));
            json_write_bool(j, false);
        }
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_menu_button_json(struct json_writer *j, const char *type)
{
    json_write_key(j, STR("button"));
    if (!type) {
        json_write_null(j);
        return;
    }
    json_begin_object(j);
    json_write_key(j, STR("type"));
    json_write_text(j, str_of(type));
    json_write_key(j, STR("target"));
    json_write_null(j);
    json_end_object(j);
}

static void write_menu_node_json(struct json_writer *j, const struct report_menu_node *n)
{
    char name[24];

    snprintf(name, sizeof name, "%lld", (long long)n->id);
    json_write_key(j, str_of(name));
    json_begin_object(j);
    json_write_key(j, STR("id"));
    json_write_int(j, n->id);
    json_write_key(j, STR("key"));
    json_write_text(j, n->key);
    json_write_key(j, STR("header"));
    json_write_text(j, n->header);
    for (int i = 0; i < 2; i++) {
        json_write_key(j, i ? STR("info") : STR("subheader"));
        json_write_null(j);
    }
    json_write_key(j, STR("report_type"));
    if (n->report_type)
        json_write_text(j, str_of(n->report_type));
    else
        json_write_null(j);
    write_menu_child_nodes_json(j, n->id == NODE_ROOT);
    write_menu_element_json(j, n->element);
    write_menu_button_json(j, n->button);
    for (int i = 0; i < 2; i++) {
        json_write_key(j, i ? STR("is_auto_submit") : STR("is_multi_select_required"));
        json_write_bool(j, false);
    }
    json_end_object(j);
}

static void write_report_menu_json(struct json_writer *j, const char *name)
{
    struct report_menu_node ends[] = {
        { NODE_ROOT, STR("ROOT"), STR("Why do you report this message?"), NULL, NULL, NULL },
        { NODE_SUCCESS, STR("SUCCESS"), STR("The operator of this server will look at it."), "done",
          "success", NULL },
        { NODE_FAIL, STR("FAIL"), STR("The report was not sent. Try again later."), "done", "fail",
          NULL },
    };

    json_begin_object(j);
    json_write_key(j, STR("name"));
    json_write_text(j, str_of(name));
    json_write_key(j, STR("variant"));
    json_write_text(j, STR("1"));
    json_write_key(j, STR("version"));
    json_write_text(j, STR("1.0"));
    json_write_key(j, STR("postback_url"));
    json_write_text(j, strcmp(name, "message") == 0 ? STR("/reporting/message")
                                                    : STR("/reporting/first_dm"));
    json_write_key(j, STR("language"));
    json_write_text(j, STR("en"));
    json_write_key(j, STR("root_node_id"));
    json_write_int(j, NODE_ROOT);
    json_write_key(j, STR("success_node_id"));
    json_write_int(j, NODE_SUCCESS);
    json_write_key(j, STR("fail_node_id"));
    json_write_int(j, NODE_FAIL);
    json_write_key(j, STR("nodes"));
    json_begin_object(j);
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        write_menu_node_json(j, &ends[i]);
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        write_menu_node_json(j, &(struct report_menu_node){ reasons[i].reason, reasons[i].key,
                                                            reasons[i].description, "submit", NULL,
                                                            reasons[i].key.p });
    json_end_object(j);
    json_end_object(j);
}

static enum err get_report_menu(struct call *call)
{
    struct json_writer j = call_get_reply_json_writer(call);

    write_report_menu_json(&j, "message");
    return OK;
}

static enum err get_first_dm_menu(struct call *call)
{
    struct json_writer j = call_get_reply_json_writer(call);

    write_report_menu_json(&j, "first_dm");
    return OK;
}

#define SUBMIT_ROUTE(path_, name_)                                                               \
    {                                                                                            \
        .method = POST, .path = (path_), .name = (name_),                                        \
        .doc = "Report a message to the operator, with the path through the menu.",              \
        .auth = AUTH_USER, .body = &menu_body_type, .reply = &made_type, .limit = &limit_report, \
        .handle = submit_report_menu,                                                            \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/report",
        .name = "get_report_reasons",
        .doc = "Reasons to report a message.",
        .auth = AUTH_USER,
        .reply = &reasons_type,
        .handle = get_report_reasons,
    },
    {
        .method = POST,
        .path = "/report",
        .name = "create_report",
        .doc = "Report a message to the operator of this server, with a snapshot of it. A "
               "second report of the same message by the caller returns the first.",
        .auth = AUTH_USER,
        .body = &report_body_type,
        .reply = &made_type,
        .limit = &limit_report,
        .handle = create_report,
    },
    {
        .method = GET,
        .path = "/reporting/menu/message",
        .name = "get_report_menu",
        .doc = "The menu that clients show before a message is reported.",
        .auth = AUTH_USER,
        .reply = &type_raw,
        .handle = get_report_menu,
    },
    {
        .method = GET,
        .path = "/reporting/menu/first_dm",
        .name = "get_first_dm_menu",
        .doc =
            "The menu that clients show before the first message of a private channel is reported.",
        .auth = AUTH_USER,
        .reply = &type_raw,
        .handle = get_first_dm_menu,
    },
    {
        .method = GET,
        .path = "/safety-hub/@me",
        .name = "get_safety_hub",
        .doc = "The standing of the caller's account: always good, without infractions.",
        .auth = AUTH_USER,
        .reply = &safety_hub_reply,
        .handle = get_safety_hub,
    },
    SUBMIT_ROUTE("/reporting/message", "report_message"),
    SUBMIT_ROUTE("/reporting/first_dm", "report_first_dm"),
    { 0 },
};

const struct domain reports_domain = {
    .name = "reports",
    .doc = "Users report messages to the operator of this server.",
    .routes = routes,
    .deletions =
        (const struct deletion_rule[]){
            { WITH_ACCOUNT, "reports",
              .remove = { &"update reports set reporter_id = null, comment = '' where reporter_id = $1 and "
                           "id in (select id from reports where reporter_id = $1 limit $2)" } },
            { DELETE_WHERE(WITH_ACCOUNT, "reports", "id",
                           "author_id = $1 and closed_at is not null") },
            { 0 } },
};
