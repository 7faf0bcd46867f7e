/* walk.c - iterates over the rows of all routes. */
#include "walk.h"

#include <stdio.h>
#include <string.h>

void each_route(struct world *w, void (*check)(struct world *w, const struct route *r))
{
    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            check(w, r);
}

const struct path_resolver *resolver_named(struct str name)
{
    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct path_resolver *r = (*d)->resolvers; r && r->name; r++)
            if (str_is(name, r->name))
                return r;
    fail_test(__FILE__, __LINE__, "no resolver '%.*s'", STR_ARGS(name));
}

/* --- paths ---------------------------------------------------------------------------- */

/* Copies the path and replaces each parameter. */
static struct str fill_path(struct arena *a, const struct route *r, const char *id, size_t bad,
                            const char **ret_field)
{
    struct str rest = str_of(r->path);
    struct buf out;
    size_t i = 0;

    buf_init(&out, HTTP_MAX_LINE);
    buf_add_str(&out, r->service ? STR("") : STR("/api/v10"));
    while (rest.n) {
        buf_add_str(&out, str_cut(&rest, '{'));
        struct str name = str_cut(&rest, '}');
        if (name.n == 0)
            continue;
        const struct path_resolver *p = resolver_named(name);

        if (!p->is_text && i++ == bad) {
            *ret_field = p->field;
            buf_add_char(&out, 'x');
        } else {
            buf_add_str(&out, str_of(p->prefix ? p->prefix : ""));
            buf_add_str(&out, str_of(p->is_text ? "text" : id));
        }
    }
    struct str url = str_dup(a, buf_as_str(&out));
    buf_clear(&out);
    return url;
}

const char *route_url(struct world *w, const struct route *r, const char *id)
{
    const char *field;

    return fill_path(world_arena(w), r, id, SIZE_MAX, &field).p;
}

const char *route_url_with_bad(struct world *w, const struct route *r, const char *id, size_t bad,
                               const char **ret_field)
{
    *ret_field = NULL;
    const char *url = fill_path(world_arena(w), r, id, bad, ret_field).p;

    return *ret_field ? url : NULL;
}

bool route_is_plain(const struct route *r)
{
    for (struct str rest = str_of(r->path); rest.n;) {
        str_cut(&rest, '{');
        struct str name = str_cut(&rest, '}');

        if (name.n)
            return false;
    }
    return !r->needs;
}

bool route_is_open(const struct route *r)
{
    return r->service || r->auth & AUTH_OPEN;
}

/* --- callers -------------------------------------------------------------------------- */

struct client *route_caller(struct world *w, const struct route *r)
{
    static unsigned number;
    char name[32];

    snprintf(name, sizeof name, "caller.%u", number++);
    if (route_is_open(r))
        return world_anonymous(w);
    if (r->auth & AUTH_USER)
        return world_client(w, name);
    if (r->auth & AUTH_BOT)
        return world_bot(w, name);
    return world_token(w, world_client(w, name), CALLER_BEARER, r->scope, 0);
}

struct answer route_call(struct client *c, const struct route *r, const char *url, const char *json)
{
    return client_request(c, http_method_name(r->method), url,
                          json ? "Content-Type: application/json\r\n" : NULL,
                          json ? str_of(json) : (struct str){ 0 });
}

/* --- bodies --------------------------------------------------------------------------- */

static void write_smallest_valid_json_value(struct json_writer *j, const struct type *t);

static void write_smallest_valid_json_text(struct json_writer *j, const struct type *t)
{
    char text[256];
    size_t n = t->min > 0 && t->min < 256 ? (size_t)t->min : 1;

    memset(text, 'a', n);
    json_write_text(j, t->choices ? str_of(t->choices->text) : str_slice(text, n));
}

static void write_smallest_valid_json_object(struct json_writer *j, const struct schema *s)
{
    json_begin_object(j);
    for (const struct field *f = s->fields; f->name.p; f++) {
        if (f->flags & OPTIONAL)
            continue;
        json_write_key(j, f->name);
        write_smallest_valid_json_value(j, f->type);
    }
    json_end_object(j);
}

static void write_smallest_valid_json_value(struct json_writer *j, const struct type *t)
{
    switch (t->kind) {
    case KIND_STRING:
        write_smallest_valid_json_text(j, t);
        break;
    case KIND_INT:
    case KIND_REAL:
        json_write_int(j, t->choices ? t->choices->value : t->min);
        break;
    case KIND_BOOL:
        json_write_bool(j, false);
        break;
    case KIND_ID:
    case KIND_BITS:
        json_write_text(j, STR("1"));
        break;
    case KIND_TIME:
        json_write_text(j, STR("2030-01-01T00:00:00Z"));
        break;
    case KIND_IMAGE:
        json_write_text(j, STR(PNG));
        break;
    case KIND_RAW:
    case KIND_MAP:
        json_begin_object(j);
        json_end_object(j);
        break;
    case KIND_ARRAY:
        json_begin_array(j);
        for (int64_t i = 0; i < t->min; i++)
            write_smallest_valid_json_value(j, t->of);
        json_end_array(j);
        break;
    case KIND_OBJECT:
        write_smallest_valid_json_object(j, t->schema);
        break;
    }
}

struct str least_body(struct arena *a, const struct type *t)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 1024 * 1024);
    write_smallest_valid_json_value(&j, t);
    struct str text = str_dup(a, buf_as_str(&out));
    buf_clear(&out);
    return text;
}
