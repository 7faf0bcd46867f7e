/* background_work.c - starts and stops jobs, outgoing requests and password threads. */
#include "api/internal.h"

#include "api/auth/address_bans.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/client/fetcher.h"

void api_start(struct api *api, struct loops *loops)
{
    api->loops = loops;
    api->durations = call_durations_new(api->domains, loops_get_count(loops));
    api->fetchers = mem_new(loops_get_count(loops) * sizeof *api->fetchers);
    api->hashing = password_hasher_new(api->options.password_threads, api->options.password_queue);
    if (api->options.auth && api->options.store &&
        address_ban_set_read(auth_get_address_ban_set(api->options.auth), api->options.store))
        log_error("api: cannot read the banned addresses; restart the server to retry");
    job_scheduler_start(api->jobs, loops_get_loop_at(loops, 0));
    file_removal_start(api->file_removal, loops_get_loop_at(loops, 0));
    token_last_use_writer_start(api->token_uses, loops_get_loop_at(loops, 0));
}

struct fetcher *api_get_http_client_of_loop(struct api *api, struct loop *loop)
{
    struct fetcher **f = &api->fetchers[loop_get_index(loop)];

    if (!*f)
        *f = fetcher_new(
            loop, &(struct fetch_options){ .allow_private = api->options.private_endpoints });
    return *f;
}

static void free_loop_fetcher(struct loop *loop, void *arg)
{
    struct api *api = arg;

    fetcher_free(api->fetchers[loop_get_index(loop)]);
    api->fetchers[loop_get_index(loop)] = NULL;
}

static bool has_any_loop_fetcher(const struct api *api)
{
    for (unsigned i = 0; i < loops_get_count(api->loops); i++)
        if (api->fetchers[i])
            return true;
    return false;
}

void api_stop(struct api *api)
{
    if (!api->loops)
        return;
    job_scheduler_stop(api->jobs);
    file_removal_stop(api->file_removal);
    token_last_use_writer_stop(api->token_uses);
    /* Repeat until no request is left: cancelling an outgoing request may start an internal call,
     * and that call may send another request. */
    do {
        for (unsigned i = 0; i < loops_get_count(api->loops); i++)
            loop_run_function_and_wait(loops_get_loop_at(api->loops, i), free_loop_fetcher, api);
        api_wait_until_all_calls_end(api);
    } while (has_any_loop_fetcher(api));
    /* Free the hasher before the loops stop, because a password thread may still post to a loop. */
    password_hasher_free(api->hashing);
    api->hashing = NULL;
    mem_free(api->fetchers);
    api->fetchers = NULL;
    api->loops = NULL;
}
