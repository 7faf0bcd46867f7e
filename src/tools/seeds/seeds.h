/* seeds.h - large random data sets (accounts, guilds, messages) for benchmarks. */
#ifndef TOOLS_SEEDS_SEEDS_H
#define TOOLS_SEEDS_SEEDS_H

#include "base/snowflake.h"
#include "store/store.h"

struct seed_options {
    int64_t users, guilds, members; /* total numbers */
    int64_t channels_per_guild, roles_per_guild;
    int64_t friends;   /* number of pairs of friends */
    int64_t messages;  /* total number */
    int64_t reactions; /* total number */
    int64_t random;    /* random seed */
};

/* Returns why a data set with these options is impossible, or NULL if it is possible. */
const char *seed_find_option_error(const struct seed_options *o);

/* Writes the data set and reports progress in rows. If there is already a data set, returns
 * ERR_STORE_CONFLICT. */
enum err write_seed_data(struct store *store, const struct seed_options *o,
                         void (*report_progress)(void *arg, int64_t done, int64_t total),
                         void *arg);

/* Return the username of account n, the id of guild n, and the account number of its owner. */
void seed_username(const struct seed_options *o, int64_t n, char out[33]);
snowflake seed_guild_id(const struct seed_options *o, int64_t n);
int64_t seed_guild_owner(const struct seed_options *o, int64_t n);

#endif
