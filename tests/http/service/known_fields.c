/* known_fields.c - nothing that the published interface lets a request say is lost unread: the
 * schemas know every field, and what a field is not taken for is refused. */
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

/* "/a/{b.id}" has the form of "/a/{}". */
static bool has_form(struct str path, struct str form)
{
    while (path.n && form.n) {
        struct str part = str_cut(&path, '/'), wanted = str_cut(&form, '/');

        if (str_is(wanted, "{}") ? part.n == 0 || part.p[0] != '{' : !str_eq(part, wanted))
            return false;
    }
    return !path.n && !form.n;
}

static const struct field *field_of(const struct schema *s, struct str name)
{
    for (const struct field *f = s ? s->fields : NULL; f && f->name.p; f++)
        if (str_eq(f->name, name))
            return f;
    return NULL;
}

/* What stands below a text that is looked at later is not its schema's business. */
static bool type_has(const struct type *type, struct str path)
{
    while (type && (type->kind == KIND_ARRAY || type->kind == KIND_MAP))
        type = type->of;
    if (!path.n || (type && type->kind == KIND_RAW))
        return type;
    struct str name = str_cut(&path, '.');
    const struct field *f = type ? field_of(type->schema, name) : NULL;
    return f && type_has(f->type, path);
}

static bool route_has(const struct route *r, bool in_body, struct str name)
{
    return in_body ? type_has(r->body, name) : field_of(r->query, name) != NULL;
}

static bool some_route_has(size_t row, bool in_body, struct str name)
{
    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (r->method == known[row].method &&
                has_form(str_of(r->path), str_of(known[row].path)) && route_has(r, in_body, name))
                return true;
    return false;
}

static void look_at_names(size_t row, bool in_body)
{
    struct str names = str_of(in_body ? known[row].body : known[row].query);

    while (names.n) {
        struct str name = str_cut(&names, ' ');

        if (name.n && !some_route_has(row, in_body, name))
            fail_test(__FILE__, __LINE__, "%s %s: nothing is known of %s %.*s",
                      http_method_name(known[row].method), known[row].path,
                      in_body ? "the body's" : "the query's", STR_FMT(name));
    }
}

static void every_field_of_the_interface_is_known(struct world *w)
{
    (void)w;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        look_at_names(i, true);
        look_at_names(i, false);
    }
}

const struct test known_fields_tests[] = {
    TEST(every_field_of_the_interface_is_known),
    { 0 },
};
