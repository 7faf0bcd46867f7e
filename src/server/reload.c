/* reload.c - applies changed options to a running server. */
#include <string.h>

#include "base/log.h"
#include "net/tls.h"
#include "server/guildhall_internal.h"

/* Loads the certificate again, even if its file names are unchanged, because renewed certificates
 * are written to the same files. */
static bool reload_certificate(struct guildhall *g, const struct config *now, bool *ret_failed)
{
    if (!g->tls || !now->tls_cert || !now->tls_key)
        return false;
    *ret_failed = tls_context_reload(g->tls, now->tls_cert, now->tls_key) != OK;
    return !*ret_failed;
}

static void reload_rate_limits(struct guildhall *g, const struct config *now)
{
    const struct rate_limit_options limits = {
        .global_per_s = (unsigned)now->rate_limit_global,
        .anonymous_per_s = (unsigned)now->rate_limit_anonymous,
        .percent = (unsigned)now->rate_limit_percent,
    };

    api_set_rate_limits(g->api, &limits);
}

/* Lists the changed options: those that can be reloaded if `reloads` is set, otherwise those that
 * need a restart. */
static struct str list_changed_options(const struct config *before, const struct config *now,
                                       bool reloads, struct arena *arena)
{
    struct str names = STR("");

    for (const struct option_row *row = config_option_rows; row->name; row++)
        if (row->reloadable == reloads && !option_values_are_equal(row, before, now))
            names = str_printf(arena, "%.*s%s%s", STR_ARGS(names), names.n ? ", " : "", row->name);
    return names;
}

bool guildhall_reload(struct guildhall *g, const struct config *before, const struct config *now)
{
    struct arena *arena = arena_new();
    bool failed = false, certificate = reload_certificate(g, now, &failed);

    reload_rate_limits(g, now);
    log_set_level(log_level_from_name(now->log_level));
    struct str applied = list_changed_options(before, now, true, arena);
    struct str left = list_changed_options(before, now, false, arena);
    log_info("reloaded: the new configuration is in effect; changed: %s%s%.*s",
             certificate ? "the certificate" : "", certificate && applied.n ? ", " : "",
             STR_ARGS(applied.n || certificate ? applied : STR("nothing")));
    if (left.n)
        log_warn(
            "reloaded: the changed options %.*s take effect only after a restart of the server",
            STR_ARGS(left));
    arena_free(arena);
    return !failed;
}
