/* scopes.c - parses OAuth2 scopes to a list and a bit set. */
#include "platform/oauth2/internal.h"

static void add_scope_to_set(struct arena *a, struct oauth2_scopes *s, struct str name)
{
    uint64_t bit = auth_oauth2_scope_bit(name);

    if (s->bits & bit)
        return;
    s->bits |= bit;
    *(struct str *)list_append(a, &s->list, sizeof name) = name;
    s->text = s->text.n ? STR_CONCAT(a, s->text, STR(" "), name) : name;
}

bool oauth2_scopes_parse(struct arena *a, struct str text, struct oauth2_scopes *ret)
{
    *ret = (struct oauth2_scopes){ .text = STR("") };
    while (text.n) {
        struct str name = str_cut(&text, ' ');

        if (name.n && !auth_oauth2_scope_bit(name))
            return false;
        if (name.n)
            add_scope_to_set(a, ret, name);
    }
    return ret->bits != 0;
}

struct oauth2_scopes oauth2_scopes_union(struct arena *a, const struct oauth2_scopes *one,
                                         const struct oauth2_scopes *two)
{
    struct oauth2_scopes s = { .text = STR("") };

    for (size_t i = 0; i < one->list.count; i++)
        add_scope_to_set(a, &s, ((const struct str *)one->list.items)[i]);
    for (size_t i = 0; i < two->list.count; i++)
        add_scope_to_set(a, &s, ((const struct str *)two->list.items)[i]);
    return s;
}

bool oauth2_scopes_contain(const struct oauth2_scopes *s, const char *name)
{
    return s->bits & auth_oauth2_scope_bit(str_of(name));
}
