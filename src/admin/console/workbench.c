/* workbench.c - creates, starts and stops the workbench. */
#include "admin/console/workbench.h"

#include "base/mem.h"
#include "admin/console/internal.h"

enum { DEFAULT_TRAFFIC_BYTES = 8 * 1024 * 1024 };

struct workbench *workbench_new(const struct workbench_options *options)
{
    struct workbench *w = mem_new(sizeof *w);
    size_t bytes = options->traffic_bytes;

    w->options = *options;
    w->traffic = traffic_ring_new(bytes ? bytes : DEFAULT_TRAFFIC_BYTES, bytes > 0);
    for (int i = 0; i < 2; i++)
        w->feed_upgrades[i] = (struct traffic_feed_upgrade_request){ w, i == 1 };
    return w;
}

struct traffic_ring *workbench_get_traffic_ring_buffer(struct workbench *w)
{
    return w->traffic;
}

bool workbench_controls_are_enabled(const struct workbench *w)
{
    return w && w->options.controls;
}

static void derive_console_key(struct workbench *w, const struct auth *auth)
{
    unsigned char bytes[CONSOLE_KEY_BYTES];
    struct arena *arena = arena_new();

    auth_derive_key(auth, "console", 0, STR(""), bytes, sizeof bytes);
    struct str text = str_base64url_encode(arena, bytes, sizeof bytes);
    memcpy(w->key, text.p, text.n < sizeof w->key ? text.n : sizeof w->key - 1);
    arena_free(arena);
}

void workbench_start(struct workbench *w, struct api *api, struct loops *loops)
{
    w->api = api;
    derive_console_key(w, api_get_options(api)->auth);
    w->health = health_stats_start_sampling(api, loops_get_loop_at(loops, 0));
    if (w->options.log)
        w->log = call_log_start_printing(w, loops_get_loop_at(loops, 0));
}

void workbench_stop(struct workbench *w)
{
    if (!w)
        return;
    call_log_stop_printing(w->log);
    w->log = NULL;
    health_stats_stop_sampling(w->health);
}

void workbench_free(struct workbench *w)
{
    if (!w)
        return;
    traffic_ring_free(w->traffic);
    health_stats_free(w->health);
    mem_free(w);
}

const char *workbench_get_console_key(const struct workbench *w)
{
    return w->key;
}
