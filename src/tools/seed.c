/* seed.c - `guildhall seed`: writes random accounts, guilds and messages for benchmarks. */
#include "tools/tools.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "server/guildhall.h"
#include "tools/progress.h"

#define SEED_OFFSET(member) .offset = offsetof(struct command_settings, member)
#define SEED_MAX            INT64_C(100000000)

const struct option_row seed_option_rows[] = {
    { "users", OPTION_INT, SEED_OFFSET(seed.users), .fallback = "1000", .min = 1, .max = SEED_MAX,
      .help = "Accounts" },
    { "guilds", OPTION_INT, SEED_OFFSET(seed.guilds), .fallback = "10", .min = 0, .max = SEED_MAX,
      .help = "Guilds" },
    { "members", OPTION_INT, SEED_OFFSET(seed.members), .fallback = "5000", .min = 0,
      .max = SEED_MAX, .help = "Members, in all guilds together" },
    { "channels-per-guild", OPTION_INT, SEED_OFFSET(seed.channels_per_guild), .fallback = "5",
      .min = 0, .max = 500, .help = "Channels of each guild" },
    { "roles-per-guild", OPTION_INT, SEED_OFFSET(seed.roles_per_guild), .fallback = "5", .min = 0,
      .max = 250, .help = "Roles of each guild, without @everyone" },
    { "friends", OPTION_INT, SEED_OFFSET(seed.friends), .fallback = "0", .min = 0, .max = SEED_MAX,
      .help = "Pairs of friends" },
    { "messages", OPTION_INT, SEED_OFFSET(seed.messages), .fallback = "0", .min = 0,
      .max = SEED_MAX, .help = "Messages, in all channels together" },
    { "reactions", OPTION_INT, SEED_OFFSET(seed.reactions), .fallback = "0", .min = 0,
      .max = SEED_MAX, .help = "Reactions to all messages together" },
    { "random", OPTION_INT, SEED_OFFSET(seed.random), .fallback = "1", .min = 0, .max = 1000000,
      .help = "Seed of the random numbers; another number creates another world" },
    { "tokens", OPTION_INT, SEED_OFFSET(token_count), .fallback = "0", .min = 0, .max = 10000,
      .help = "Number of lines to print with a guild, its owner and a token" },
    { 0 },
};

static void on_seed_progress(void *arg, int64_t done, int64_t total)
{
    progress_print(arg, "rows", done, total);
}

/* --- command -------------------------------------------------------------------------- */

static enum err print_seed_tokens(const struct command_settings *s, struct store *store)
{
    struct auth *auth;
    int64_t count = s->token_count < s->seed.guilds ? s->token_count : s->seed.guilds;
    enum err e = count ? auth_new(s->config.data, store, &auth) : OK;

    if (e || !count)
        return e;
    for (int64_t n = 0; n < count && !e; n++) {
        struct account_token_request request = { .auth = auth };
        char name[33], purpose[40];

        /* Each printed line needs a token of its own, because a user may own several guilds. */
        snprintf(purpose, sizeof purpose, "guildhall seed %lld", (long long)n);
        request.purpose = str_of(purpose);
        seed_username(&s->seed, seed_guild_owner(&s->seed, n), name);
        request.username = str_of(name);
        e = issue_account_token(store, &request);
        if (!e)
            printf("%llu %s %s\n", (unsigned long long)seed_guild_id(&s->seed, n), name,
                   request.token);
    }
    auth_free(auth);
    return e;
}

int run_command_seed(const struct command_settings *s, char **arguments)
{
    const char *problem = seed_find_option_error(&s->seed);
    struct progress_output m;
    struct store *store;

    (void)arguments;
    if (problem)
        return print_usage_error(problem);
    if (open_store_as_data_folder_owner(&s->config, &store))
        return 1;
    progress_begin(&m, "seed");
    enum err e = write_seed_data(store, &s->seed, on_seed_progress, &m);
    progress_end(&m);
    if (e == ERR_STORE_CONFLICT)
        fprintf(stderr,
                "guildhall: rows of this world already exist; another --random creates another "
                "world\n");
    else if (!e)
        e = print_seed_tokens(s, store);
    store_close(store);
    return e ? 1 : 0;
}
