/* console.c - the console's routes, called from the command line. */
#include "tools/console.h"

#include <stdio.h>

#include "control.h"

static bool ask_server(const struct config *config, const char *question, struct arena *arena,
                       const char **ret)
{
    struct buf out;

    buf_init(&out, 4096);
    bool ok = control_ask(config->data, question, &out) == OK && out.n;
    *ret = str_dupz(arena, buf_str(&out));
    buf_clear(&out);
    if (!ok)
        fprintf(stderr, "guildhall: no server runs on '%s'\n", config->data);
    return ok;
}

int tool_console_key(const struct settings *s, char **arguments)
{
    struct arena *arena = arena_new();
    const char *key;

    if (*arguments)
        return usage("console-key takes options only");
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
    if (w)
        wire_set_token(w, str_dupz(arena, str_printf(arena, "Bearer %s", key)));
    return w;
}
