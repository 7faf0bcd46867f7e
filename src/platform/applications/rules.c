/* rules.c - pure functions about applications: bot usernames, default install types. */
#include "platform/applications/internal.h"

enum { LONGEST_NAME = 32, LONGEST_STEM = 22 };

static char username_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
}

/* Replaces each run of characters that usernames cannot contain by one '_'. */
static struct str application_squeeze(struct arena *a, struct str name, size_t max)
{
    char *out = arena_alloc(a, max + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n && n < max; i++) {
        char c = username_char(name.p[i]);

        if (c != '_' || (n && out[n - 1] != '_'))
            out[n++] = c;
    }
    while (n && out[n - 1] == '_')
        n--;
    return str_slice(out, n);
}

struct str bot_name(struct arena *a, struct str name)
{
    struct str s = application_squeeze(a, name, LONGEST_NAME);

    return s.n >= 2 ? s : STR_CONCAT(a, STR("bot_"), s.n ? s : STR("app"));
}

struct str bot_name_with(struct arena *a, struct str name, snowflake id)
{
    struct str s = application_squeeze(a, name, LONGEST_STEM);

    /* Bits 12 and up of a snowflake also differ between ids of the same second. */
    return str_printf(a, "%.*s_%08llx", STR_FMT(s.n ? s : STR("bot")),
                      (unsigned long long)(id >> 12 & 0xffffffff));
}

struct list default_integration_types(void)
{
    static struct integration_type_item both[] = { { .key = STR_INIT("0") },
                                                   { .key = STR_INIT("1") } };

    return (struct list){ both, 2 };
}
