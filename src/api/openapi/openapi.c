/* openapi.c - writes the OpenAPI 3.1 document. */
#include "api/internal.h"

#include "model/permissions/permissions.h"

static void write_text_property(struct json_writer *j, const char *name, const char *value)
{
    json_write_key(j, str_of(name));
    json_write_text(j, str_of(value));
}

static void write_path_parameter(struct json_writer *j, const struct path_resolver *r)
{
    json_begin_object(j);
    write_text_property(j, "name", r->name);
    write_text_property(j, "in", "path");
    json_write_name(j, "required");
    json_write_bool(j, true);
    if (r->doc)
        write_text_property(j, "description", r->doc);
    json_write_name(j, "schema");
    json_begin_object(j);
    write_text_property(j, "type", "string");
    if (!r->is_text)
        write_text_property(j, "format", "snowflake");
    json_end_object(j);
    json_end_object(j);
}

static void write_query_field(struct json_writer *j, const struct field *f)
{
    json_begin_object(j);
    json_write_name(j, "name");
    json_write_text(j, f->name);
    write_text_property(j, "in", "query");
    json_write_name(j, "required");
    json_write_bool(j, !(f->flags & OPTIONAL));
    if (f->flags & DEPRECATED) {
        json_write_name(j, "deprecated");
        json_write_bool(j, true);
    }
    if (f->doc)
        write_text_property(j, "description", f->doc);
    json_write_name(j, "schema");
    schema_write_json_schema(j, f->type);
    json_end_object(j);
}

/* The routes that form one OpenAPI operation: they have the same method, and their paths differ
 * only in parameter names. An example is executing a webhook and sending a follow-up message. */
enum { MAX_ROUTES_OF_OPERATION = 4 };
struct openapi_operation {
    const struct route *path; /* the route whose parameter names appear in the document */
    const struct route *rows[MAX_ROUTES_OF_OPERATION];
    const struct domain *domains[MAX_ROUTES_OF_OPERATION];
    size_t count;
};

/* Returns true if an earlier route of the operation has a query field of this name. */
static bool query_field_was_written(const struct openapi_operation *o, size_t row, struct str name)
{
    for (size_t i = 0; i < row; i++)
        for (const struct field *f = o->rows[i]->query ? o->rows[i]->query->fields : NULL;
             f && f->name.p; f++)
            if (str_eq(f->name, name))
                return true;
    return false;
}

/* Writes the parameters of the path and of the query. */
static void write_parameters(struct json_writer *j, const struct domain *const *domains,
                             const struct openapi_operation *o)
{
    json_write_name(j, "parameters");
    json_begin_array(j);
    for (struct str rest = str_of(o->path->path); rest.n;) {
        str_cut(&rest, '{');
        struct str name = str_cut(&rest, '}');

        if (name.n)
            write_path_parameter(j, router_find_path_resolver(domains, name));
    }
    for (size_t i = 0; i < o->count; i++)
        for (const struct field *f = o->rows[i]->query ? o->rows[i]->query->fields : NULL;
             f && f->name.p; f++)
            if (!query_field_was_written(o, i, f->name))
                write_query_field(j, f);
    json_end_array(j);
}

static const struct type *get_route_body_type(const struct route *r)
{
    return r->body;
}

static const struct type *get_route_reply_type(const struct route *r)
{
    return r->reply;
}

/* Writes the type of the operation's body or response. If routes have different types, writes
 * anyOf. */
static void write_media_type_schema(struct json_writer *j, const char *media,
                                    const struct openapi_operation *o,
                                    const struct type *(*of)(const struct route *))
{
    const struct type *types[MAX_ROUTES_OF_OPERATION];
    size_t count = 0;

    for (size_t i = 0, k; i < o->count; i++) {
        const struct type *type = of(o->rows[i]);

        for (k = 0; k < count && types[k] != type;)
            k++;
        if (type && k == count)
            types[count++] = type;
    }
    json_write_key(j, str_of(media));
    json_begin_object(j);
    json_write_name(j, "schema");
    if (count > 1) {
        json_begin_object(j);
        json_write_name(j, "anyOf");
        json_begin_array(j);
    }
    for (size_t k = 0; k < count; k++)
        schema_write_json_schema(j, types[k]);
    if (count > 1) {
        json_end_array(j);
        json_end_object(j);
    }
    json_end_object(j);
}

static void write_request_body(struct json_writer *j, const struct openapi_operation *o)
{
    unsigned kinds = 0;
    bool any = false;

    for (size_t i = 0; i < o->count; i++) {
        kinds |= o->rows[i]->body_kinds;
        any |= o->rows[i]->body != NULL;
    }
    if (!any)
        return;
    json_write_name(j, "requestBody");
    json_begin_object(j);
    json_write_name(j, "content");
    json_begin_object(j);
    write_media_type_schema(j, "application/json", o, get_route_body_type);
    if (kinds & BODY_FORM)
        write_media_type_schema(j, "application/x-www-form-urlencoded", o, get_route_body_type);
    if (kinds & (BODY_MULTIPART | BODY_PARTS))
        write_media_type_schema(j, "multipart/form-data", o, get_route_body_type);
    json_end_object(j);
    json_end_object(j);
}

static void write_responses(struct json_writer *j, const struct openapi_operation *o)
{
    const struct route *r = o->rows[0];
    struct buf status;

    buf_init(&status, 8);
    buf_add_i64(&status, route_get_success_status(r));
    json_write_name(j, "responses");
    json_begin_object(j);
    json_write_key(j, buf_as_str(&status));
    json_begin_object(j);
    write_text_property(j, "description", http_reason_phrase(route_get_success_status(r)));
    if (r->reply) {
        json_write_name(j, "content");
        json_begin_object(j);
        write_media_type_schema(j, "application/json", o, get_route_reply_type);
        json_end_object(j);
    }
    json_end_object(j);
    json_write_name(j, "4XX");
    json_begin_object(j);
    write_text_property(j, "$ref", "#/components/responses/Error");
    json_end_object(j);
    json_end_object(j);
    buf_clear(&status);
}

/* Writes which credentials the route accepts; an empty object means that no credential is
 * needed. */
static void write_security(struct json_writer *j, const struct route *r)
{
    static const struct {
        unsigned auth;
        const char *name;
    } kinds[] = { { AUTH_USER, "user" }, { AUTH_BOT, "bot" }, { AUTH_BEARER, "oauth2" } };

    json_write_name(j, "security");
    json_begin_array(j);
    if (r->service || r->auth & AUTH_OPEN) {
        json_begin_object(j);
        json_end_object(j);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(r->auth & kinds[i].auth))
            continue;
        json_begin_object(j);
        json_write_key(j, str_of(kinds[i].name));
        json_begin_array(j);
        if (kinds[i].auth == AUTH_BEARER && r->scope)
            json_write_text(j, str_of(r->scope));
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
}

/* Writes properties of the route for which OpenAPI has no fields as extensions. */
static void write_extensions(struct json_writer *j, const struct route *r)
{
    if (r->needs) {
        struct buf names;

        buf_init(&names, 4096);
        permission_set_append_names(&names, r->needs);
        json_write_name(j, "x-permissions");
        json_write_text(j, buf_as_str(&names));
        buf_clear(&names);
    }
    if (r->before_standby) {
        json_write_name(j, "x-may-be-stale");
        json_write_bool(j, true);
    }
    if (r->fires) {
        json_write_name(j, "x-fires");
        json_begin_array(j);
        for (const enum event *e = r->fires; *e; e++)
            json_write_text(j, str_of(get_name_of_event_type(*e)));
        json_end_array(j);
    }
}

static void write_summary(struct json_writer *j, const struct openapi_operation *o)
{
    struct buf text;

    buf_init(&text, 16 * 1024);
    for (size_t i = 0; i < o->count; i++)
        buf_printf(&text, "%s%s", i ? " Or: " : "", o->rows[i]->doc);
    json_write_name(j, "summary");
    json_write_text(j, buf_as_str(&text));
    buf_clear(&text);
}

static void write_operation(struct json_writer *j, const struct domain *const *domains,
                            const struct openapi_operation *o)
{
    const struct route *r = o->rows[0];
    struct str method = str_of(http_method_name(r->method));
    char lower[8] = { 0 };

    for (size_t i = 0; i < method.n && i < sizeof lower; i++)
        lower[i] = (char)(method.p[i] | 32);
    json_write_key(j, str_slice(lower, method.n));
    json_begin_object(j);
    write_text_property(j, "operationId", r->name);
    write_summary(j, o);
    json_write_name(j, "tags");
    json_begin_array(j);
    for (size_t i = 0; i < o->count; i++)
        if (!i || o->domains[i] != o->domains[i - 1])
            json_write_text(j, str_of(o->domains[i]->name));
    json_end_array(j);
    write_parameters(j, domains, o);
    write_request_body(j, o);
    write_responses(j, o);
    write_security(j, r);
    write_extensions(j, r);
    json_end_object(j);
}

static void write_path_key(struct json_writer *j, const struct route *r)
{
    struct buf url;

    buf_init(&url, HTTP_MAX_LINE);
    buf_add_str(&url, r->service ? STR("") : STR("/api/v10"));
    buf_add_str(&url, str_of(r->path));
    json_write_key(j, buf_as_str(&url));
    buf_clear(&url);
}

bool routes_have_same_path(const struct route *a, const struct route *b)
{
    struct str x = str_of(a->path), y = str_of(b->path);

    while (x.n && y.n) {
        struct str first_segment = str_cut(&x, '/'), second_segment = str_cut(&y, '/');
        bool both =
            str_starts_with(first_segment, STR("{")) && str_starts_with(second_segment, STR("{"));

        if (!both && !str_eq(first_segment, second_segment))
            return false;
    }
    return x.n == y.n && a->service == b->service;
}

/* Returns true if no earlier route has this path. Such a route writes the operations of all routes
 * with the path. */
static bool is_first_route_of_path(const struct domain *const *domains, const struct route *route)
{
    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (routes_have_same_path(r, route))
                return r == route;
    return false;
}

static void write_path_item(struct json_writer *j, const struct domain *const *domains,
                            const struct route *path)
{
    write_path_key(j, path);
    json_begin_object(j);
    for (int method = 0; method < HTTP_METHODS; method++) {
        struct openapi_operation o = { .path = path };

        for (const struct domain *const *d = domains; *d; d++)
            for (const struct route *r = (*d)->routes; r && r->path; r++)
                if ((int)r->method == method && routes_have_same_path(r, path) &&
                    o.count < MAX_ROUTES_OF_OPERATION) {
                    o.domains[o.count] = *d;
                    o.rows[o.count++] = r;
                }
        if (o.count)
            write_operation(j, domains, &o);
    }
    json_end_object(j);
}

static void write_paths(struct json_writer *j, const struct domain *const *domains)
{
    json_write_name(j, "paths");
    json_begin_object(j);
    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (is_first_route_of_path(domains, r))
                write_path_item(j, domains, r);
    json_end_object(j);
}

static const char ERROR_COMPONENTS[] =
    "{\"Error\":{\"description\":\"Refused\",\"content\":{\"application/json\":{\"schema\":"
    "{\"type\":\"object\",\"required\":[\"message\",\"code\"],\"properties\":{"
    "\"message\":{\"type\":\"string\"},\"code\":{\"type\":\"integer\"},"
    "\"errors\":{\"type\":\"object\",\"description\":\"Mirrors the body; _errors at each failing "
    "place\"}}}}}}}";

static const char SECURITY_SCHEMES[] =
    "{\"user\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"Authorization\",\"description\":"
    "\"<token>\"},\"bot\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"Authorization\","
    "\"description\":\"Bot <token>\"},\"oauth2\":{\"type\":\"http\",\"scheme\":\"bearer\"}}";

static void write_components(struct json_writer *j, const struct domain *const *domains)
{
    struct schema_set c = { 0 };

    collect_route_schemas(domains, &c);
    json_write_name(j, "components");
    json_begin_object(j);
    json_write_name(j, "schemas");
    json_begin_object(j);
    for (size_t i = 0; i < c.count; i++) {
        json_write_key(j, str_of(c.list[i]->name));
        schema_write_json_schema_component(j, c.list[i]);
    }
    json_end_object(j);
    json_write_name(j, "responses");
    json_write_raw(j, STR(ERROR_COMPONENTS));
    json_write_name(j, "securitySchemes");
    json_write_raw(j, STR(SECURITY_SCHEMES));
    json_end_object(j);
}

void api_write_openapi_document(const struct domain *const *domains, const char *version,
                                struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    write_text_property(&j, "openapi", "3.1.0");
    json_write_name(&j, "info");
    json_begin_object(&j);
    write_text_property(&j, "title", "Guildhall");
    write_text_property(&j, "version", version);
    write_text_property(&j, "description", "Apps, friends and voice of a chat platform.");
    json_end_object(&j);
    json_write_name(&j, "tags");
    json_begin_array(&j);
    for (const struct domain *const *d = domains; *d; d++) {
        if (!(*d)->routes)
            continue;
        json_begin_object(&j);
        write_text_property(&j, "name", (*d)->name);
        write_text_property(&j, "description", (*d)->doc);
        json_end_object(&j);
    }
    json_end_array(&j);
    write_paths(&j, domains);
    write_components(&j, domains);
    json_end_object(&j);
}
