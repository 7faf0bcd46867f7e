/* rules.c - pure functions about applications: bot usernames, default install types. */
#include "platform/applications/internal.h"

enum { LONGEST_NAME = 32, LONGEST_STEM = 22 };

static char to_username_character(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
}

/* Replaces each sequence of characters that usernames cannot contain with one '_'. */
static struct str normalize_bot_username(struct arena *a, struct str name, size_t max)
{
    char *out = arena_alloc(a, max + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n && n < max; i++) {
        char c = to_username_character(name.p[i]);

        if (c != '_' || (n && out[n - 1] != '_'))
            out[n++] = c;
    }
    while (n && out[n - 1] == '_')
        n--;
    return str_slice(out, n);
}

struct str derive_bot_username_from_app_name(struct arena *a, struct str name)
{
    struct str s = normalize_bot_username(a, name, LONGEST_NAME);

    return s.n >= 2 ? s : STR_CONCAT(a, STR("bot_"), s.n ? s : STR("app"));
}

struct str derive_bot_username_from_app_name_and_id(struct arena *a, struct str name, snowflake id)
{
    struct str s = normalize_bot_username(a, name, LONGEST_STEM);

    /* Appends bits 12 to 43 of the id, which differ even if two ids were created in the same
     * second. */
    return str_printf(a, "%.*s_%08llx", STR_ARGS(s.n ? s : STR("bot")),
                      (unsigned long long)(id >> 12 & 0xffffffff));
}

struct list get_default_application_install_types(void)
{
    static struct integration_type_config_entry both[] = { { .key = STR_INIT("0") },
                                                           { .key = STR_INIT("1") } };

    return (struct list){ both, 2 };
}
