/* seeds.h - large random worlds. */
#ifndef TOOLS_SEEDS_SEEDS_H
#define TOOLS_SEEDS_SEEDS_H

#include "base/snowflake.h"
#include "store/store.h"

struct seed_options {
    int64_t users, guilds, members; /* in all */
    int64_t channels_per_guild, roles_per_guild;
    int64_t friends;   /* pairs */
    int64_t messages;  /* in all */
    int64_t reactions; /* under all messages */
    int64_t random;    /* the same number gives the same world */
};

/* NULL, or why there can be no such world. */
const char *seed_problem(const struct seed_options *o);

/* Makes the world; ERR_STORE_CONFLICT when some of it is there already. Tells how many
 * rows of how many are written, now and then. */
enum err world_seed(struct store *store, const struct seed_options *o,
                    void (*tell)(void *arg, int64_t done, int64_t total), void *arg);

/* Who is in a seeded world: the nth account, the nth guild and its owner. */
void seed_username(const struct seed_options *o, int64_t n, char out[33]);
snowflake seed_guild_id(const struct seed_options *o, int64_t n);
int64_t seed_guild_owner(const struct seed_options *o, int64_t n);

#endif
