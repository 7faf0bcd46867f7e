/* reference.c - writes docs/reference.md from the routes. */
#include "api/internal.h"

#include <string.h>

#include "model/permissions/permissions.h"

static void write_allowed_callers(struct buf *out, const struct route *r)
{
    const char *comma = "";

    if (r->service || r->auth & AUTH_OPEN) {
        buf_add_lit(out, "anybody");
        return;
    }
    if (r->auth & AUTH_USER) {
        buf_add_lit(out, "users");
        comma = ", ";
    }
    if (r->auth & AUTH_BOT) {
        buf_printf(out, "%sbots", comma);
        comma = ", ";
    }
    if (r->auth & AUTH_BEARER && r->scope)
        buf_printf(out, "%sBearer with `%s`", comma, r->scope);
    else if (r->auth & AUTH_BEARER)
        buf_printf(out, "%sBearer", comma);
}

static void write_default_value(struct buf *out, const struct field *f)
{
    if (f->fallback_text)
        buf_printf(out, "; default `%s`", f->fallback_text);
    else if (f->type->kind == KIND_BOOL && f->member == MEMBER_BOOL)
        buf_printf(out, "; default `%s`", f->fallback ? "true" : "false");
    else if (f->type->kind == KIND_INT && f->member == MEMBER_INT)
        buf_printf(out, "; default `%lld`", (long long)f->fallback);
}

static void write_field_table(struct buf *out, const struct schema *s)
{
    buf_add_lit(out, "| Field | Type | |\n|---|---|---|\n");
    for (const struct field *f = s->fields; f->name.p; f++) {
        const char *doc = f->doc ? f->doc : f->type->doc ? f->type->doc : "";

        buf_printf(out, "| %.*s%s | %s", STR_ARGS(f->name), f->flags & OPTIONAL ? "?" : "",
                   f->flags & NULLABLE ? "?" : "");
        schema_append_type_in_words(out, f->type);
        buf_printf(out, " | %s%s", doc, f->flags & DEPRECATED ? " (deprecated)" : "");
        if (f->flags & OPTIONAL)
            write_default_value(out, f);
        buf_add_lit(out, " |\n");
    }
    buf_add_char(out, '\n');
}

static void write_required_permissions(struct buf *out, const struct route *r)
{
    if (!r->needs)
        return;
    buf_add_lit(out, ". Needs ");
    permission_set_append_names(out, r->needs);
}

/* Lists other routes with the same method and path. The values of the parameters decide which of
 * these routes handles a request. */
static void write_routes_of_same_path(struct buf *out, const struct domain *const *domains,
                                      const struct route *route)
{
    for (; *domains; domains++)
        for (const struct route *r = (*domains)->routes; r && r->path; r++)
            if (r != route && r->method == route->method && routes_have_same_path(r, route))
                buf_printf(out, " The path is shared with `%s`.", r->path);
}

static void write_route_section(struct buf *out, const struct domain *const *domains,
                                const struct route *r)
{
    buf_printf(out, "### %s `%s`\n\n%s\n\n", http_method_name(r->method), r->path, r->doc);
    buf_add_lit(out, "For ");
    write_allowed_callers(out, r);
    write_required_permissions(out, r);
    buf_printf(out, ". Answers %d", route_get_success_status(r));
    if (r->reply) {
        buf_add_lit(out, " with ");
        schema_append_type_in_words(out, r->reply);
    }
    buf_add_lit(out, ".");
    if (r->before_standby)
        buf_add_lit(out, " With `--store-standby` the answer may be a moment old.");
    write_routes_of_same_path(out, domains, r);
    for (const enum event *e = r->fires; e && *e; e++)
        buf_printf(out, "%s%s", e == r->fires ? " Fires " : ", ", get_name_of_event_type(*e));
    buf_add_lit(out, "\n\n");
    if (r->query) {
        buf_add_lit(out, "Query:\n\n");
        write_field_table(out, r->query);
    }
    if (r->body && r->body->schema) {
        buf_add_lit(out, "Body:\n\n");
        write_field_table(out, r->body->schema);
    } else if (r->body) {
        buf_add_lit(out, "Body: ");
        schema_append_type_in_words(out, r->body);
        buf_add_lit(out, "\n\n");
    }
}

static void write_object_sections(struct buf *out, const struct domain *const *domains)
{
    struct schema_set o = { 0 };

    collect_route_schemas(domains, &o);
    buf_add_lit(out, "## Objects\n\n");
    for (size_t i = 0; i < o.count; i++) {
        buf_printf(out, "### %s\n\n%s\n\n", o.list[i]->name, o.list[i]->doc ? o.list[i]->doc : "");
        write_field_table(out, o.list[i]);
    }
}

static void write_error_table(struct buf *out)
{
    buf_add_lit(out,
                "## Errors\n\n"
                "`{\"message\", \"code\"}`; with code 50035 also `errors`, which mirrors the body "
                "and has `_errors` at each failing place.\n\n"
                "| Status | Code | Message |\n|---|---|---|\n");
    for (int e = OK + 1; e < ERR_COUNT; e++) {
        const struct error_info *i = error_info((enum err)e);

        buf_printf(out, "| %d | %d | %s |\n", i->status, i->code, i->message);
    }
    buf_add_char(out, '\n');
}

static void write_event_table(struct buf *out)
{
    buf_add_lit(out, "## Events\n\n| Name | |\n|---|---|\n");
    for (int e = EVENT_NONE + 1; e < EVENT_COUNT; e++)
        buf_printf(out, "| %s | %s |\n", get_name_of_event_type((enum event)e),
                   get_description_of_event_type((enum event)e));
}

void api_write_reference_page(const struct domain *const *domains, struct buf *out)
{
    buf_add_lit(out,
                "# Reference\n\n"
                "Written from the tables in the code by `guildhall reference`; `make test` fails "
                "when it is out of date. Paths are below `/api/v10` (`/api/v9` and `/api` answer "
                "the same) unless they belong to the service. A `?` after a field's name: it may "
                "be absent; before a type: it may be null.\n\n");
    for (const struct domain *const *d = domains; *d; d++) {
        if (!(*d)->routes)
            continue;
        buf_printf(out, "## %s\n\n%s\n\n", (*d)->name, (*d)->doc);
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            write_route_section(out, domains, r);
    }
    write_object_sections(out, domains);
    write_error_table(out);
    write_event_table(out);
    buf_add_char(out, '\n');
    write_unimplemented_discord_operations(domains, out);
}
