/* seed.h - what is where in a random world.
 *
 * Everything follows from the options and a place in the world (the nth account,
 * the jth member of the nth guild) without looking at anything else. So nothing has
 * to be remembered while a world is written, and it is written in the order of
 * its keys. */
#ifndef TOOLS_SEEDS_SEED_H
#define TOOLS_SEEDS_SEED_H

#include "tools/seeds/seeds.h"

/* What a draw is for: the same place gives another number for each. */
enum seed_draw {
    DRAW_NAME = 1,
    DRAW_MEMBER,
    DRAW_JOINED,
    DRAW_ROLE,
    DRAW_OWNER,
    DRAW_WORDS,
    DRAW_AUTHOR,
};
uint64_t seed_draw(const struct seed_options *o, enum seed_draw what, int64_t i, int64_t j);

/* How n things fall to `parts` places, as evenly as they can: how many before place i. */
static inline int64_t share_before(int64_t n, int64_t i, int64_t parts)
{
    return parts ? (int64_t)((__extension__(__int128) n * i) / parts) : 0;
}

snowflake seed_user_id(const struct seed_options *o, int64_t n);
struct str seed_display_name(const struct seed_options *o, int64_t n, char *out, size_t max);

int64_t seed_guild_size(const struct seed_options *o, int64_t guild);
/* The number of the account that is a guild's jth member; rises with j. */
int64_t seed_member(const struct seed_options *o, int64_t guild, int64_t j);
snowflake seed_role_id(const struct seed_options *o, int64_t guild, int64_t role);
snowflake seed_channel_id(const struct seed_options *o, int64_t guild, int64_t channel);
bool seed_channel_is_voice(int64_t channel);

/* Messages of a guild, and which text channel the jth of them is in. */
int64_t seed_guild_messages(const struct seed_options *o, int64_t guild);
int64_t seed_message_channel(const struct seed_options *o, int64_t guild, int64_t j);
snowflake seed_message_id(const struct seed_options *o, int64_t guild, int64_t j);
/* 0: none. */
snowflake seed_last_message(const struct seed_options *o, int64_t guild, int64_t channel);
/* How many reactions that message has, of SEED_EMOJI emoji. */
enum { SEED_EMOJI = 20 };
int64_t seed_reactions(const struct seed_options *o, int64_t guild, int64_t j);
struct str seed_words(const struct seed_options *o, int64_t guild, int64_t j);

/* Pairs of friends: account n and account n + d, for d up to n's reach. */
int64_t seed_reach(const struct seed_options *o, int64_t n);
int64_t seed_longest_reach(const struct seed_options *o); /* -1: too many friends */

int64_t seed_joined_at(const struct seed_options *o, int64_t guild, int64_t j);

#endif
