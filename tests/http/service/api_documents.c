/* api_documents.c - route rows are complete, and the generated documents contain all of them. */
#include "http/walk.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "schema_fault.h"

/* --- route rows ----------------------------------------------------------------------- */

static void check_route_row_is_complete(struct world *w, const struct route *r)
{
    size_t same = 0;

    (void)w;
    if (!r->name || !r->doc || !r->handle || !*r->doc || !(r->auth || r->service))
        fail_test(__FILE__, __LINE__, "%s lacks a name, a doc, an auth or a handler", r->path);
    if (r->doc[strlen(r->doc) - 1] != '.')
        fail_test(__FILE__, __LINE__, "%s: its doc is no sentence", r->name);
    if (r->service && (r->auth || r->needs || (r->limit && !r->limit->by_address)))
        fail_test(__FILE__, __LINE__, "%s: the service knows no callers", r->name);
    /* Any scope is allowed only on routes for bearer tokens alone. */
    if (r->auth & AUTH_BEARER &&
        (r->scope ? !auth_oauth2_scope_bit(str_of(r->scope)) : r->auth != AUTH_BEARER))
        fail_test(__FILE__, __LINE__, "%s: no scope for bearers", r->name);
    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct route *other = (*d)->routes; other && other->path; other++)
            same += strcmp(r->name, other->name) == 0;
    if (same != 1)
        fail_test(__FILE__, __LINE__, "the name %s stands twice", r->name);
}

/* A resolver is found by its name in any path. */
static void resolver_names_are_unique(struct world *w)
{
    (void)w;
    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct path_resolver *r = (*d)->resolvers; r && r->name; r++)
            if (router_find_path_resolver(guildhall_domains, str_of(r->name)) != r)
                fail_test(__FILE__, __LINE__, "the resolver %s stands twice", r->name);
}

static void every_route_row_is_complete(struct world *w)
{
    each_route(w, check_route_row_is_complete);
}

static void check_schema_matches_its_struct(const struct schema *s, void *arg)
{
    const char *fault = schema_fault(s, world_arena(arg));

    if (fault)
        fail_test(__FILE__, __LINE__, "%s: %s", s->name ? s->name : "a schema without name", fault);
}

static void check_schemas_of_route_match_structs(struct world *w, const struct route *r)
{
    if (r->body)
        schema_visit_contained_schemas(r->body, check_schema_matches_its_struct, w);
    if (r->reply)
        schema_visit_contained_schemas(r->reply, check_schema_matches_its_struct, w);
    if (r->query)
        check_schema_matches_its_struct(r->query, w);
}

static void every_schema_matches_its_struct(struct world *w)
{
    each_route(w, check_schemas_of_route_match_structs);
}

static void check_rate_limit_of_route_is_complete(struct world *w, const struct route *r)
{
    (void)w;
    if (r->limit && (!r->limit->name || !r->limit->count || !r->limit->window_s))
        fail_test(__FILE__, __LINE__, "%s: its limit lacks a name, a count or a window", r->name);
}

static void every_rate_limit_has_name_count_and_window(struct world *w)
{
    each_route(w, check_rate_limit_of_route_is_complete);
}

/* --- the OpenAPI document ------------------------------------------------------------- */

static const struct dom *openapi; /* the document as the server sends it */

static const struct dom *require_member(const struct dom *d, const char *key, const struct route *r)
{
    const struct dom *found = dom_member(d, str_of(key));

    if (!found)
        fail_test(__FILE__, __LINE__, "openapi.json: %s has no %s", r->name, key);
    return found;
}

static void check_operation_documents_parameter(const struct dom *operation, struct str name,
                                                const char *in)
{
    const struct dom *list = dom_member(operation, STR("parameters"));

    for (size_t i = 0; list && i < list->count; i++)
        if (str_eq(dom_at(&list->items[i], "name")->text, name) &&
            str_is(dom_at(&list->items[i], "in")->text, in))
            return;
    fail_test(__FILE__, __LINE__, "openapi.json: no parameter %.*s in the %s", STR_ARGS(name), in);
}

/* Returns the path of a route in the document. Interaction followups share the paths and
 * parameter names of webhooks. */
static const char *document_path(struct world *w, const struct route *r)
{
    static const char twin[] = "/webhooks/{interaction.application.id}/{interaction.token}";

    if (strncmp(r->path, twin, strlen(twin)) != 0)
        return r->path;
    return str_printf(world_arena(w), "/webhooks/{webhook.id}/{webhook.token}%s",
                      r->path[strlen(twin)] ? "/messages/{webhook.message.id}" : "")
        .p;
}

static void check_operation_documents_route(struct world *w, const struct route *r)
{
    const char *path = document_path(w, r);
    struct str url = str_printf(world_arena(w), "%s%s", r->service ? "" : "/api/v10", path);
    char method[16] = { 0 };

    for (size_t i = 0; http_method_name(r->method)[i]; i++)
        method[i] = (char)tolower(http_method_name(r->method)[i]);
    const struct dom *paths = require_member(openapi, "paths", r);
    const struct dom *operation = require_member(require_member(paths, url.p, r), method, r);
    expect(path != r->path || str_is(require_member(operation, "operationId", r)->text, r->name));
    expect(memmem(require_member(operation, "summary", r)->text.p,
                  require_member(operation, "summary", r)->text.n, r->doc, strlen(r->doc)));
    if (r->body)
        require_member(operation, "requestBody", r);
    struct str status = str_printf(world_arena(w), "%d", route_get_success_status(r));
    require_member(require_member(operation, "responses", r), status.p, r);

    for (struct str rest = str_of(path); rest.n;) {
        str_cut(&rest, '{');
        struct str name = str_cut(&rest, '}');
        if (name.n)
            check_operation_documents_parameter(operation, name, "path");
    }
    for (const struct field *f = r->query ? r->query->fields : NULL; f && f->name.p; f++)
        check_operation_documents_parameter(operation, f->name, "query");
}

/* Checks that every reference such as "#/components/schemas/User" has a target. */
static void check_references_of_document_exist(struct world *w, const struct dom *d)
{
    const struct dom *ref = dom_member(d, STR("$ref"));

    if (ref && ref->kind == JSON_STRING) {
        const struct dom *target = openapi;
        struct str rest = ref->text;

        expect(str_is(str_cut(&rest, '/'), "#"));
        while (rest.n && target)
            target = dom_member(target, str_cut(&rest, '/'));
        if (!target)
            fail_test(__FILE__, __LINE__, "openapi.json: %.*s leads nowhere", STR_ARGS(ref->text));
    }
    for (size_t i = 0; i < d->count; i++)
        check_references_of_document_exist(w, &d->items[i]);
}

static void check_names_of_object_are_unique(const struct dom *object)
{
    for (size_t i = 0; i < object->count; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(object->items[i].key, object->items[j].key))
                fail_test(__FILE__, __LINE__, "openapi.json: two are called %.*s",
                          STR_ARGS(object->items[i].key));
}

static void openapi_document_describes_every_route(struct world *w)
{
    struct answer a =
        client_request(world_anonymous(w), "GET", "/openapi.json", NULL, (struct str){ 0 });

    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "application/json"));
    expect_json(a, "{'openapi': '3.1.0', 'info': {'title': 'Guildhall', 'version': '%s'}}",
                GUILDHALL_VERSION);
    openapi = a.json;
    each_route(w, check_operation_documents_route);
    check_references_of_document_exist(w, openapi);
    check_names_of_object_are_unique(dom_at(openapi, "components.schemas"));
}

/* --- the reference -------------------------------------------------------------------- */

static struct buf reference;

static void check_reference_chapter_of_route(struct world *w, const struct route *r)
{
    struct str title = str_printf(world_arena(w), "### %s `%s`\n\n%s\n",
                                  http_method_name(r->method), r->path, r->doc);

    if (!memmem(reference.p, reference.n, title.p, title.n))
        fail_test(__FILE__, __LINE__, "the reference lacks %s %s", http_method_name(r->method),
                  r->path);
}

static void reference_document_contains_every_route_error_and_event(struct world *w)
{
    buf_init(&reference, 16 * 1024 * 1024);
    api_write_reference_page(guildhall_domains, &reference);
    each_route(w, check_reference_chapter_of_route);
    for (int e = OK + 1; e < ERR_COUNT; e++) {
        struct str message = str_of(error_info((enum err)e)->message);

        expect(memmem(reference.p, reference.n, message.p, message.n));
    }
    for (int e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        struct str name = str_of(get_name_of_event_type((enum event)e));

        expect(memmem(reference.p, reference.n, name.p, name.n));
    }
    buf_clear(&reference);
}

static void openapi_document_merges_operations_of_a_shared_path(struct world *w)
{
    static const char *const queries[] = { "wait", "thread_id", "with_components" };
    struct answer a =
        client_request(world_anonymous(w), "GET", "/openapi.json", NULL, (struct str){ 0 });
    const struct dom *paths = dom_at(a.json, "paths");
    const struct dom *path =
        dom_member(paths, STR("/api/v10/webhooks/{webhook.id}/{webhook.token}"));
    const struct dom *post = path ? dom_member(path, STR("post")) : NULL;

    expect(post);
    expect(!dom_member(paths, STR("/api/v10/webhooks/{interaction.application.id}/"
                                  "{interaction.token}")));
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        check_operation_documents_parameter(post, str_of(queries[i]), "query");
    expect(str_is(dom_at(post, "operationId")->text, "execute_webhook"));
    const struct dom *content = dom_at(post, "requestBody.content");
    for (size_t i = 0; i < 3; i++) {
        static const char *const media[] = { "application/json", "multipart/form-data",
                                             "application/x-www-form-urlencoded" };
        const struct dom *of = dom_member(content, str_of(media[i]));

        expect(of && dom_at(of, "schema.anyOf")->count == 2);
    }
    const struct dom *fields = dom_at(a.json, "components.schemas.WebhookMessageDraft.properties");
    expect(dom_member(fields, STR("username")) && dom_member(fields, STR("avatar_url")) &&
           dom_member(fields, STR("thread_name")) && dom_member(fields, STR("applied_tags")));
}

/* A path with {id} also serves @me if the resolver accepts it. */
static void reference_document_counts_served_operations(struct world *w)
{
    struct buf out;

    (void)w;
    buf_init(&out, 8 * 1024 * 1024);
    api_write_reference_page(guildhall_domains, &out);
    expect(memmem(out.p, out.n, "222 of the 222 that", 19));
    expect(!memmem(out.p, out.n, "| PUT `/channels/{}/thread-members/@me`", 39));
    expect(memmem(out.p, out.n, "The path is shared with `/webhooks/{interaction.", 48));
    buf_clear(&out);
}

const struct test api_documents_tests[] = {
    TEST(resolver_names_are_unique),
    TEST(every_route_row_is_complete),
    TEST(every_schema_matches_its_struct),
    TEST(every_rate_limit_has_name_count_and_window),
    TEST(openapi_document_describes_every_route),
    TEST(openapi_document_merges_operations_of_a_shared_path),
    TEST(reference_document_counts_served_operations),
    TEST(reference_document_contains_every_route_error_and_event),
    { 0 },
};
