/* reason.c - finds in the server's traffic log why an app did not reply. */
#include <inttypes.h>

#include "tools/admin/console.h"
#include "tools/invoke/invoke.h"

struct seen_record {
    struct str kind;
    struct opt_str route, event, problem;
    int64_t status, code;
    struct opt_object user; /* struct seen_user */
};
struct seen_user {
    struct str kind;
};
struct seen_page {
    bool on;
    struct list records; /* struct seen_record */
};

static const struct field seen_user_fields[] = {
    { FIELD(struct seen_user, kind), .type = &type_text },
    { 0 },
};
static const struct schema seen_user_schema = { .size = sizeof(struct seen_user),
                                                .fields = seen_user_fields };
static const struct type type_seen_user = { .kind = KIND_OBJECT, .schema = &seen_user_schema };
static const struct field record_fields[] = {
    { FIELD(struct seen_record, kind), .type = &type_text },
    { FIELD(struct seen_record, route), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct seen_record, event), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct seen_record, problem), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct seen_record, status), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct seen_record, code), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct seen_record, user), .type = &type_seen_user, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema record_schema = { .size = sizeof(struct seen_record),
                                             .fields = record_fields };
static const struct type type_record = { .kind = KIND_OBJECT, .schema = &record_schema };
static const struct type type_records = { .kind = KIND_ARRAY, .of = &type_record };
static const struct field page_fields[] = {
    { FIELD(struct seen_page, on), .type = &type_bool },
    { FIELD(struct seen_page, records), .type = &type_records },
    { 0 },
};
static const struct schema page_schema = { .size = sizeof(struct seen_page),
                                           .fields = page_fields };
static const struct type type_page = { .kind = KIND_OBJECT, .schema = &page_schema };

/* Reads the traffic records of the interaction; returns NULL if they are not available. */
static const struct seen_page *look_at_traffic(struct invoke_run *v, snowflake interaction)
{
    struct str path = str_printf(v->arena, "/console/traffic?limit=200&text=%" PRIu64, interaction);

    if (!v->options->as || !interaction)
        return NULL;
    struct wire_answer a =
        console_call(v->config, v->arena, "GET", str_dupz(v->arena, path), (struct str){ 0 });
    const struct seen_page *page =
        a.status == 200 ? schema_read(&type_page, a.body, v->arena) : NULL;
    return page && page->on ? page : NULL;
}

static const char *say_refused(struct invoke_run *v, const struct seen_record *r)
{
    struct str problem = r->problem.given == GIVEN ? r->problem.value : STR("");

    return str_dupz(v->arena,
                    str_printf(v->arena,
                               "the app replied, but the server refused the reply: %lld %lld%s%.*s",
                               (long long)r->status, (long long)r->code, problem.n ? ", " : "",
                               STR_FMT(problem)));
}

static const char *say_delivered(struct invoke_run *v, const struct seen_record *r)
{
    if (!r->status)
        return str_dupz(v->arena,
                        str_printf(v->arena, "the app's endpoint %.*s", STR_FMT(r->problem.value)));
    if (r->status == 200)
        return "the app's endpoint responded with status 200, but its response is invalid";
    return str_dupz(v->arena, str_printf(v->arena, "the app's endpoint responded with status %lld",
                                         (long long)r->status));
}

static bool was_told(const struct seen_record *r)
{
    const struct seen_user *u = r->user.value;

    return r->event.given == GIVEN && str_is(r->event.value, "INTERACTION_CREATE") && u &&
           str_is(u->kind, "bot");
}

const char *invoke_reason(struct invoke_run *v, struct step_outcome *out)
{
    const struct seen_page *page = look_at_traffic(v, out->interaction_id);
    const struct seen_record *r = page ? page->records.items : NULL;
    bool told = false;

    if (!page)
        return NULL;
    for (size_t i = 0; i < page->records.count; i++) {
        if (r[i].route.given == GIVEN && str_is(r[i].route.value, "create_interaction_response") &&
            r[i].status >= 400) {
            out->status = INVOKE_FAILED;
            return say_refused(v, &r[i]);
        }
        if (str_is(r[i].kind, "delivered") && r[i].status != 202)
            return say_delivered(v, &r[i]);
        told |= was_told(&r[i]);
    }
    return told ? "the app is connected and received the interaction, but did not reply; did its "
                  "handler throw?"
                : "the app is not connected: its bot has no session, and it has no endpoint";
}
