/* console.c - calls console routes from the command line. */
#include "tools/admin/console.h"

#include <stdio.h>
#include <string.h>

#include "admin/control/control.h"

static bool ask_server(const struct config *config, const char *question, struct arena *arena,
                       const char **ret)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    enum err e = control_ask(config->data, question, &out);
    bool ok = !e && out.n;
    *ret = str_dupz(arena, buf_str(&out));
    buf_clear(&out);
    if (!ok)
        no_server(config->data, e ? e : ERR_OVERLOADED);
    return ok;
}

int tool_console_key(const struct settings *s, char **arguments)
{
    struct arena *arena = arena_new();
    const char *key;

    if (*arguments)
        return usage("console-key accepts only options");
    bool ok = ask_server(&s->config, "console-key", arena, &key);
    if (ok)
        puts(key);
    arena_free(arena);
    return ok ? 0 : 1;
}

struct wire *console_reach(const struct config *config, struct arena *arena)
{
    const char *url, *key;

    if (!ask_server(config, "address", arena, &url) ||
        !ask_server(config, "console-key", arena, &key))
        return NULL;
    struct wire *w = wire_new(url, arena);
    if (w) {
        wire_trust_server_of(w, config->data);
        wire_set_token(w, str_dupz(arena, str_printf(arena, "Bearer %s", key)));
    }
    return w;
}

struct wire_answer console_call(const struct config *config, struct arena *arena,
                                const char *method, const char *path, struct str body)
{
    struct wire *w = console_reach(config, arena);
    struct wire_answer a = { 0 };

    if (w && !wire_call(w, method, path, body, NULL, 0, &a))
        a.status = 0;
    wire_free(w);
    return a;
}

bool read_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = { { "ms", 1 },          { "s", 1000 },     { "m", 60 * 1000 },
                  { "h", 3600 * 1000 }, { "d", 86400000 }, { "", 1000 } };
    size_t digits = strspn(text, "0123456789");
    uint64_t number;

    if (digits > 9 || !str_to_u64(str_slice(text, digits), &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].unit) == 0) {
            *ret_ms = (int64_t)number * units[i].ms;
            return true;
        }
    }
    return false;
}
