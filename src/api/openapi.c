/* openapi.c - the OpenAPI 3.1 document, written from the rows. */
#include "api/internal.h"

#include "model/permissions.h"

static void openapi_text(struct json *j, const char *name, const char *value)
{
    json_key(j, str_of(name));
    json_text(j, str_of(value));
}

static void write_parameter(struct json *j, const struct resolver *r)
{
    json_object(j);
    openapi_text(j, "name", r->name);
    openapi_text(j, "in", "path");
    json_name(j, "required");
    json_bool(j, true);
    if (r->doc)
        openapi_text(j, "description", r->doc);
    json_name(j, "schema");
    json_object(j);
    openapi_text(j, "type", "string");
    if (!r->is_text)
        openapi_text(j, "format", "snowflake");
    json_object_end(j);
    json_object_end(j);
}

static void write_query_field(struct json *j, const struct field *f)
{
    json_object(j);
    json_name(j, "name");
    json_text(j, f->name);
    openapi_text(j, "in", "query");
    json_name(j, "required");
    json_bool(j, !(f->flags & OPTIONAL));
    if (f->flags & DEPRECATED) {
        json_name(j, "deprecated");
        json_bool(j, true);
    }
    if (f->doc)
        openapi_text(j, "description", f->doc);
    json_name(j, "schema");
    schema_describe(j, f->type);
    json_object_end(j);
}

/* {user.id} of the path and the fields of the query. */
static void write_parameters(struct json *j, const struct domain *const *domains,
                             const struct route *r)
{
    json_name(j, "parameters");
    json_array(j);
    for (struct str rest = str_of(r->path); rest.n;) {
        str_cut(&rest, '{');
        struct str name = str_cut(&rest, '}');

        if (name.n)
            write_parameter(j, router_resolver(domains, name));
    }
    for (const struct field *f = r->query ? r->query->fields : NULL; f && f->name.p; f++)
        write_query_field(j, f);
    json_array_end(j);
}

static void write_content(struct json *j, const char *media, const struct type *type)
{
    json_key(j, str_of(media));
    json_object(j);
    json_name(j, "schema");
    schema_describe(j, type);
    json_object_end(j);
}

static void write_body(struct json *j, const struct route *r)
{
    if (!r->body)
        return;
    json_name(j, "requestBody");
    json_object(j);
    json_name(j, "content");
    json_object(j);
    write_content(j, "application/json", r->body);
    if (r->body_kinds & BODY_FORM)
        write_content(j, "application/x-www-form-urlencoded", r->body);
    if (r->body_kinds & (BODY_MULTIPART | BODY_PARTS))
        write_content(j, "multipart/form-data", r->body);
    json_object_end(j);
    json_object_end(j);
}

static void write_responses(struct json *j, const struct route *r)
{
    struct buf status;

    buf_init(&status, 8);
    buf_add_i64(&status, route_status(r));
    json_name(j, "responses");
    json_object(j);
    json_key(j, buf_str(&status));
    json_object(j);
    openapi_text(j, "description", status_reason(route_status(r)));
    if (r->reply) {
        json_name(j, "content");
        json_object(j);
        write_content(j, "application/json", r->reply);
        json_object_end(j);
    }
    json_object_end(j);
    json_name(j, "4XX");
    json_object(j);
    openapi_text(j, "$ref", "#/components/responses/Error");
    json_object_end(j);
    json_object_end(j);
    buf_clear(&status);
}

/* Which credentials open the route; an empty object stands for none. */
static void write_security(struct json *j, const struct route *r)
{
    static const struct {
        unsigned auth;
        const char *name;
    } kinds[] = { { AUTH_USER, "user" }, { AUTH_BOT, "bot" }, { AUTH_BEARER, "oauth2" } };

    json_name(j, "security");
    json_array(j);
    if (r->service || r->auth & AUTH_OPEN) {
        json_object(j);
        json_object_end(j);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(r->auth & kinds[i].auth))
            continue;
        json_object(j);
        json_key(j, str_of(kinds[i].name));
        json_array(j);
        if (kinds[i].auth == AUTH_BEARER && r->scope)
            json_text(j, str_of(r->scope));
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

/* What JSON has no word for: rights and events, as extensions. */
static void write_extensions(struct json *j, const struct route *r)
{
    if (r->needs) {
        struct buf names;

        buf_init(&names, 4096);
        permissions_phrase(&names, r->needs);
        json_name(j, "x-permissions");
        json_text(j, buf_str(&names));
        buf_clear(&names);
    }
    if (r->fires) {
        json_name(j, "x-fires");
        json_array(j);
        for (const enum event *e = r->fires; *e; e++)
            json_text(j, str_of(event_name(*e)));
        json_array_end(j);
    }
}

static void write_operation(struct json *j, const struct domain *const *domains,
                            const struct domain *d, const struct route *r)
{
    struct str method = str_of(http_method_name(r->method));
    char lower[8] = { 0 };

    for (size_t i = 0; i < method.n && i < sizeof lower; i++)
        lower[i] = (char)(method.p[i] | 32);
    json_key(j, str_slice(lower, method.n));
    json_object(j);
    openapi_text(j, "operationId", r->name);
    openapi_text(j, "summary", r->doc);
    json_name(j, "tags");
    json_array(j);
    json_text(j, str_of(d->name));
    json_array_end(j);
    write_parameters(j, domains, r);
    write_body(j, r);
    write_responses(j, r);
    write_security(j, r);
    write_extensions(j, r);
    json_object_end(j);
}

static void write_url(struct json *j, const struct route *r)
{
    struct buf url;

    buf_init(&url, HTTP_MAX_LINE);
    buf_add_str(&url, r->service ? STR("") : STR("/api/v10"));
    buf_add_str(&url, str_of(r->path));
    json_key(j, buf_str(&url));
    buf_clear(&url);
}

/* Rows with the same path stand under one key: the first row of a path writes all. */
static bool is_first_of_path(const struct domain *const *domains, const struct route *route)
{
    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (r->service == route->service && strcmp(r->path, route->path) == 0)
                return r == route;
    return false;
}

static void write_path(struct json *j, const struct domain *const *domains,
                       const struct route *path)
{
    write_url(j, path);
    json_object(j);
    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (r->service == path->service && strcmp(r->path, path->path) == 0)
                write_operation(j, domains, *d, r);
    json_object_end(j);
}

static void write_paths(struct json *j, const struct domain *const *domains)
{
    json_name(j, "paths");
    json_object(j);
    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (is_first_of_path(domains, r))
                write_path(j, domains, r);
    json_object_end(j);
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

static void write_components(struct json *j, const struct domain *const *domains)
{
    struct schema_set c = { 0 };

    schemas_gather(domains, &c);
    json_name(j, "components");
    json_object(j);
    json_name(j, "schemas");
    json_object(j);
    for (size_t i = 0; i < c.count; i++) {
        json_key(j, str_of(c.list[i]->name));
        schema_describe_object(j, c.list[i]);
    }
    json_object_end(j);
    json_name(j, "responses");
    json_raw(j, STR(ERROR_COMPONENTS));
    json_name(j, "securitySchemes");
    json_raw(j, STR(SECURITY_SCHEMES));
    json_object_end(j);
}

void api_openapi(const struct domain *const *domains, const char *version, struct buf *out)
{
    struct json j = json_to(out);

    json_object(&j);
    openapi_text(&j, "openapi", "3.1.0");
    json_name(&j, "info");
    json_object(&j);
    openapi_text(&j, "title", "Guildhall");
    openapi_text(&j, "version", version);
    openapi_text(&j, "description", "Apps, friends and voice of a chat platform.");
    json_object_end(&j);
    json_name(&j, "tags");
    json_array(&j);
    for (const struct domain *const *d = domains; *d; d++) {
        if (!(*d)->routes)
            continue;
        json_object(&j);
        openapi_text(&j, "name", (*d)->name);
        openapi_text(&j, "description", (*d)->doc);
        json_object_end(&j);
    }
    json_array_end(&j);
    write_paths(&j, domains);
    write_components(&j, domains);
    json_object_end(&j);
}
