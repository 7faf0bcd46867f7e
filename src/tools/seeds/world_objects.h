/* world_objects.h - computes every object of a random data set.
 *
 * Each object is computed from the options and a position (account n, member j of guild n). So the
 * writer stores no state, and writes rows in the order of their keys. */
#ifndef TOOLS_SEEDS_WORLD_OBJECTS_H
#define TOOLS_SEEDS_WORLD_OBJECTS_H

#include "tools/seeds/seeds.h"

/* Purpose of a random number. At one position, each purpose has a different random number. */
enum seed_random {
    RANDOM_NAME = 1,
    RANDOM_MEMBER,
    RANDOM_JOINED,
    RANDOM_ROLE,
    RANDOM_OWNER,
    RANDOM_WORDS,
    RANDOM_AUTHOR,
};
uint64_t seed_random(const struct seed_options *o, enum seed_random what, int64_t i, int64_t j);

/* Distributes n elements evenly over `parts` parts. Returns the number of elements before part
 * i. */
static inline int64_t count_elements_before_part(int64_t n, int64_t i, int64_t parts)
{
    return parts ? (int64_t)((__extension__(__int128) n * i) / parts) : 0;
}

snowflake seed_user_id(const struct seed_options *o, int64_t n);
struct str seed_display_name(const struct seed_options *o, int64_t n, char *out, size_t max);

int64_t seed_guild_size(const struct seed_options *o, int64_t guild);
int64_t seed_member_account(const struct seed_options *o, int64_t guild, int64_t j);
snowflake seed_role_id(const struct seed_options *o, int64_t guild, int64_t role);
snowflake seed_channel_id(const struct seed_options *o, int64_t guild, int64_t channel);
bool seed_channel_is_voice(int64_t channel);

/* Return the number of messages in a guild, and the text channel of message j. */
int64_t seed_guild_message_count(const struct seed_options *o, int64_t guild);
int64_t seed_message_channel(const struct seed_options *o, int64_t guild, int64_t j);
snowflake seed_message_id(const struct seed_options *o, int64_t guild, int64_t j);
/* Returns the id of the channel's last message, or 0 if it has none. */
snowflake seed_last_message_id(const struct seed_options *o, int64_t guild, int64_t channel);
/* Returns how many reactions of each emoji a message has; it has at most SEED_MAX_EMOJI emoji. */
enum { SEED_MAX_EMOJI = 20 };
int64_t seed_message_reaction_count(const struct seed_options *o, int64_t guild, int64_t j);
struct str seed_message_text(const struct seed_options *o, int64_t guild, int64_t j);

/* Returns k: the friends of account n include the accounts n + 1 to n + k. */
int64_t seed_count_following_friends(const struct seed_options *o, int64_t n);
int64_t seed_max_following_friends(const struct seed_options *o); /* -1 if too many */

int64_t seed_joined_at(const struct seed_options *o, int64_t guild, int64_t j);

#endif
