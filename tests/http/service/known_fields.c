/* known_fields.c - every request field of the published API is in the schema of its route. */
#include "http/walk.h"

#include <string.h>

#include "api/internal.h"

static const struct {
    enum http_method method;
    const char *path, *body, *query;
} known[] = {
#define FIELDS(method_, path_, body_, query_) { HTTP_##method_, path_, body_, query_ },
#include "known_fields.def"
#undef FIELDS
};

/* Returns whether "/a/{b.id}" matches "/a/{}". */
static bool path_matches(struct str path, struct str form)
{
    while (path.n && form.n) {
        struct str part = str_cut(&path, '/'), wanted = str_cut(&form, '/');

        if (str_is(wanted, "{}") ? part.n == 0 || part.p[0] != '{' : !str_eq(part, wanted))
            return false;
    }
    return !path.n && !form.n;
}

static const struct field *find_field(const struct schema *s, struct str name)
{
    for (const struct field *f = s ? s->fields : NULL; f && f->name.p; f++)
        if (str_eq(f->name, name))
            return f;
    return NULL;
}

/* Fields below a raw JSON value are not part of the schema. */
static bool type_has(const struct type *type, struct str path)
{
    while (type && (type->kind == KIND_ARRAY || type->kind == KIND_MAP))
        type = type->of;
    if (!path.n || (type && type->kind == KIND_RAW))
        return type;
    struct str name = str_cut(&path, '.');
    const struct field *f = type ? find_field(type->schema, name) : NULL;
    return f && type_has(f->type, path);
}

static bool route_has_field(const struct route *r, bool in_body, struct str name)
{
    return in_body ? type_has(r->body, name) : find_field(r->query, name) != NULL;
}

static bool some_route_has_field(size_t row, bool in_body, struct str name)
{
    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (r->method == known[row].method &&
                path_matches(str_of(r->path), str_of(known[row].path)) &&
                route_has_field(r, in_body, name))
                return true;
    return false;
}

static void check_published_fields_are_in_schema(size_t row, bool in_body)
{
    struct str names = str_of(in_body ? known[row].body : known[row].query);

    while (names.n) {
        struct str name = str_cut(&names, ' ');

        if (name.n && !some_route_has_field(row, in_body, name))
            fail_test(__FILE__, __LINE__, "%s %s: nothing is known of %s %.*s",
                      http_method_name(known[row].method), known[row].path,
                      in_body ? "the body's" : "the query's", STR_ARGS(name));
    }
}

static void every_published_request_field_is_in_its_schema(struct world *w)
{
    (void)w;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        check_published_fields_are_in_schema(i, true);
        check_published_fields_are_in_schema(i, false);
    }
}

const struct test known_fields_tests[] = {
    TEST(every_published_request_field_is_in_its_schema),
    { 0 },
};
