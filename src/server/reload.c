/* reload.c - applies changed options to a running server. */
#include <string.h>

#include "base/log.h"
#include "net/tls.h"
#include "server/parts.h"

/* Reloads the certificate even if the file names are unchanged: renewals use the same files. */
static bool reload_certificate(struct guildhall *g, const struct config *now, bool *ret_failed)
{
    if (!g->tls || !now->tls_cert || !now->tls_key)
        return false;
    *ret_failed = tls_context_reload(g->tls, now->tls_cert, now->tls_key) != OK;
    return !*ret_failed;
}

static void reload_limits(struct guildhall *g, const struct config *now)
{
    const struct limits_options limits = {
        .global_per_s = (unsigned)now->rate_limit_global,
        .anonymous_per_s = (unsigned)now->rate_limit_anonymous,
        .percent = (unsigned)now->rate_limit_percent,
    };

    api_set_limits(g->api, &limits);
}

/* Lists the names of changed options: those that can be reloaded, or those that cannot. */
static struct str names_of_changes(const struct config *before, const struct config *now,
                                   bool reloads, struct arena *arena)
{
    struct str names = STR("");

    for (const struct option_row *row = config_rows; row->name; row++)
        if (row->reloads == reloads && !option_same(row, before, now))
            names = str_printf(arena, "%.*s%s%s", STR_FMT(names), names.n ? ", " : "", row->name);
    return names;
}

bool guildhall_reload(struct guildhall *g, const struct config *before, const struct config *now)
{
    struct arena *arena = arena_new();
    bool failed = false, certificate = reload_certificate(g, now, &failed);

    reload_limits(g, now);
    log_set_level(log_level_named(now->log_level));
    struct str taken = names_of_changes(before, now, true, arena);
    struct str left = names_of_changes(before, now, false, arena);
    log_info("reloaded: %s%s%.*s", certificate ? "the certificate" : "",
             certificate && taken.n ? ", " : "",
             STR_FMT(taken.n || certificate ? taken : STR("nothing has changed")));
    if (left.n)
        log_warn("reloaded: %.*s changed, but needs a restart to take effect", STR_FMT(left));
    arena_free(arena);
    return !failed;
}
