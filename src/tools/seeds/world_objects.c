/* world_objects.c - computes ids, names, sizes and members of a random data set. */
#include "tools/seeds/world_objects.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"

enum {
    /* Must be less than 4,096, which is the number of snowflakes per millisecond. */
    MAX_IDS_PER_GUILD = 4000,
    GUILDS_PER_BIG_GUILD = 10, /* every tenth guild is big */
    BIG_GUILD_WEIGHT = 11,     /* size of a big guild, as a multiple of the size of other guilds */
    MIN_ACCOUNT_WINDOW = 5000,
};

#define DAY_MS INT64_C(86400000)
/* Periods of the creation times in ms: first accounts, then guilds, then members, then messages. */
static const int64_t USERS_FROM = 1640995200000, USERS_FOR = 700 * DAY_MS;
static const int64_t GUILDS_FROM = 1704067200000, GUILDS_FOR = 360 * DAY_MS;
static const int64_t JOINED_FROM = 1735689600000, JOINED_FOR = 180 * DAY_MS;
static const int64_t MESSAGES_FROM = 1751328000000, MESSAGES_FOR = 300 * DAY_MS;

uint64_t seed_random(const struct seed_options *o, enum seed_random what, int64_t i, int64_t j)
{
    uint64_t mixed = hash_u64((uint64_t)o->random * 31 + what);

    mixed = hash_u64(mixed ^ (uint64_t)i);
    return hash_u64(mixed + (uint64_t)j * UINT64_C(0x9e3779b97f4a7c15));
}

/* Returns id number n of `count` ids, which are spread over a period and at least one millisecond
 * apart. */
static snowflake nth_id_spread_over_time(const struct seed_options *o, int64_t from, int64_t span,
                                         int64_t count, int64_t n)
{
    int64_t step = span / (count ? count : 1);
    snowflake node = (snowflake)(o->random & 1023) << 12;

    return snowflake_from_ms(from + n * (step ? step : 1)) | node;
}

/* --- accounts ------------------------------------------------------------------------- */

snowflake seed_user_id(const struct seed_options *o, int64_t n)
{
    return nth_id_spread_over_time(o, USERS_FROM, USERS_FOR, o->users, n);
}

void seed_username(const struct seed_options *o, int64_t n, char out[33])
{
    /* The number is zero-padded, so that sorting by name is sorting by number, and rows are
     * inserted in the order of the key. */
    snprintf(out, 33, "s%lld_%09lld", (long long)o->random, (long long)n);
}

struct str seed_display_name(const struct seed_options *o, int64_t n, char *out, size_t max)
{
    static const char *const first[] = { "Ada",  "Bo",   "Cleo", "Dara", "Eli", "Fay",
                                         "Gus",  "Hana", "Ivo",  "Juno", "Kai", "Lior",
                                         "Mina", "Noor", "Otis", "Pia" };
    static const char *const last[] = { "Ash",   "Brook", "Cole", "Dale",  "Elm",   "Frost",
                                        "Glade", "Hill",  "Isle", "Jones", "Lake",  "Moor",
                                        "North", "Oak",   "Pond", "Quill", "Ridge", "Stone" };
    uint64_t draw = seed_random(o, RANDOM_NAME, n, 0);
    int length = snprintf(out, max, "%s %s", first[draw % COUNT_OF(first)],
                          last[(draw >> 32) % COUNT_OF(last)]);

    return str_slice(out, (size_t)length);
}

/* --- guilds --------------------------------------------------------------------------- */

/* The sequence number of a guild id is never 0, because in command permissions guild id - 1 means
 * "all channels". */
snowflake seed_guild_id(const struct seed_options *o, int64_t n)
{
    return nth_id_spread_over_time(o, GUILDS_FROM, GUILDS_FOR, o->guilds, n) + 1;
}

snowflake seed_role_id(const struct seed_options *o, int64_t guild, int64_t role)
{
    return seed_guild_id(o, guild) + 1 + (snowflake)role;
}

snowflake seed_channel_id(const struct seed_options *o, int64_t guild, int64_t channel)
{
    return seed_role_id(o, guild, o->roles_per_guild) + (snowflake)channel;
}

bool seed_channel_is_voice(int64_t channel)
{
    return channel % 5 == 3;
}

/* Returns true if the data set has enough members and accounts for big guilds. */
static bool seed_has_big_guilds(const struct seed_options *o)
{
    return o->members / o->guilds >= 4 && o->members / o->guilds < o->users / BIG_GUILD_WEIGHT;
}

static int64_t sum_of_guild_weights_before(const struct seed_options *o, int64_t guild)
{
    if (!seed_has_big_guilds(o))
        return guild;
    return guild +
           (guild + GUILDS_PER_BIG_GUILD - 1) / GUILDS_PER_BIG_GUILD * (BIG_GUILD_WEIGHT - 1);
}

static int64_t count_members_of_guilds_before(const struct seed_options *o, int64_t guild)
{
    return count_elements_before_part(o->members, sum_of_guild_weights_before(o, guild),
                                      sum_of_guild_weights_before(o, o->guilds));
}

int64_t seed_guild_size(const struct seed_options *o, int64_t guild)
{
    return count_members_of_guilds_before(o, guild + 1) - count_members_of_guilds_before(o, guild);
}

/* Returns the account of a member. Each guild takes its members from a window of accounts, which
 * moves with each guild. The window is divided evenly among the members, so that no account is a
 * member twice. Inserts into the index from accounts to guilds stay close together. */
int64_t seed_member_account(const struct seed_options *o, int64_t guild, int64_t j)
{
    int64_t size = seed_guild_size(o, guild);
    int64_t window = size * 4 > MIN_ACCOUNT_WINDOW ? size * 4 : MIN_ACCOUNT_WINDOW;

    if (window > o->users)
        window = o->users;
    int64_t first =
        o->guilds > 1 ? count_elements_before_part(o->users - window, guild, o->guilds - 1) : 0;
    int64_t low = count_elements_before_part(window, j, size),
            high = count_elements_before_part(window, j + 1, size);
    return first + low +
           (int64_t)(seed_random(o, RANDOM_MEMBER, guild, j) %
                     (uint64_t)(high > low ? high - low : 1));
}

int64_t seed_guild_owner(const struct seed_options *o, int64_t n)
{
    uint64_t draw = seed_random(o, RANDOM_OWNER, n, 0), size = (uint64_t)seed_guild_size(o, n);

    return seed_member_account(o, n, size ? (int64_t)(draw % size) : 0);
}

int64_t seed_joined_at(const struct seed_options *o, int64_t guild, int64_t j)
{
    uint64_t draw = seed_random(o, RANDOM_JOINED, guild, j);

    return (JOINED_FROM + (int64_t)(draw % (uint64_t)JOINED_FOR)) * 1000;
}

/* --- messages ------------------------------------------------------------------------- */

static int64_t text_channel_count(const struct seed_options *o)
{
    int64_t count = 0;

    for (int64_t c = 0; c < o->channels_per_guild; c++)
        count += !seed_channel_is_voice(c);
    return count;
}

static int64_t channel_number_of_text_channel(int64_t n)
{
    return n / 4 * 5 + n % 4 + (n % 4 == 3);
}

static int64_t text_channel_index_of_channel(int64_t channel)
{
    return channel / 5 * 4 + channel % 5 - (channel % 5 > 3);
}

int64_t seed_guild_message_count(const struct seed_options *o, int64_t guild)
{
    return count_elements_before_part(o->messages, guild + 1, o->guilds) -
           count_elements_before_part(o->messages, guild, o->guilds);
}

static int64_t number_of_first_channel_message(const struct seed_options *o, int64_t guild,
                                               int64_t n)
{
    return count_elements_before_part(seed_guild_message_count(o, guild), n, text_channel_count(o));
}

int64_t seed_message_channel(const struct seed_options *o, int64_t guild, int64_t j)
{
    int64_t messages = seed_guild_message_count(o, guild);
    int64_t n = messages ? j * text_channel_count(o) / messages : 0;

    while (number_of_first_channel_message(o, guild, n + 1) <= j)
        n++;
    return channel_number_of_text_channel(n);
}

snowflake seed_message_id(const struct seed_options *o, int64_t guild, int64_t j)
{
    return nth_id_spread_over_time(o, MESSAGES_FROM, MESSAGES_FOR, o->messages,
                                   count_elements_before_part(o->messages, guild, o->guilds) + j);
}

snowflake seed_last_message_id(const struct seed_options *o, int64_t guild, int64_t channel)
{
    if (seed_channel_is_voice(channel))
        return 0;
    int64_t n = text_channel_index_of_channel(channel);
    int64_t next = number_of_first_channel_message(o, guild, n + 1);
    return next > number_of_first_channel_message(o, guild, n) ? seed_message_id(o, guild, next - 1)
                                                               : 0;
}

int64_t seed_message_reaction_count(const struct seed_options *o, int64_t guild, int64_t j)
{
    int64_t n = count_elements_before_part(o->messages, guild, o->guilds) + j;

    return count_elements_before_part(o->reactions, n + 1, o->messages) -
           count_elements_before_part(o->reactions, n, o->messages);
}

struct str seed_message_text(const struct seed_options *o, int64_t guild, int64_t j)
{
    static const char *const words[] = {
        "Good morning!",
        "Has anybody seen the notes of yesterday?",
        "I pushed a fix, please have a look.",
        "Who is in for a round tonight?",
        "That was quick, thank you.",
        "Lunch?",
        "The build is green again.",
        "See you at eight in the voice channel.",
        "Ha, I said the same thing last week.",
        "Could you say more about that?",
    };

    return str_of(words[seed_random(o, RANDOM_WORDS, guild, j) % COUNT_OF(words)]);
}

/* --- friends -------------------------------------------------------------------------- */

int64_t seed_max_following_friends(const struct seed_options *o)
{
    if (o->friends == 0)
        return 0;
    for (int64_t scope = 1; scope < o->users; scope++)
        if (o->friends <= scope * (o->users - scope))
            return scope;
    return -1;
}

int64_t seed_count_following_friends(const struct seed_options *o, int64_t n)
{
    int64_t from = o->users - seed_max_following_friends(o);

    if (o->friends == 0 || n < 0 || n >= from)
        return 0;
    return count_elements_before_part(o->friends, n + 1, from) -
           count_elements_before_part(o->friends, n, from);
}

/* --- validation of options ------------------------------------------------------------ */

const char *seed_find_option_error(const struct seed_options *o)
{
    if (o->guilds && o->members < o->guilds)
        return "every guild has an owner: --members must not be below --guilds";
    if (o->members && !o->guilds)
        return "members need guilds: set --guilds";
    if (o->guilds && (o->members + o->guilds - 1) / o->guilds > o->users)
        return "a user can be in a guild only once: use more --users, or fewer --members";
    if (1 + o->roles_per_guild + o->channels_per_guild > MAX_IDS_PER_GUILD)
        return "a guild may have at most 4000 roles and channels together";
    if (o->messages && (!o->guilds || !o->channels_per_guild))
        return "messages need guilds with channels: set --guilds and --channels-per-guild";
    if (o->reactions && !o->messages)
        return "reactions need messages: set --messages";
    if (o->messages &&
        o->reactions / o->messages >= SEED_MAX_EMOJI * seed_guild_size(o, o->guilds - 1))
        return "each member can add at most 20 reactions to a message: use fewer --reactions";
    if (seed_max_following_friends(o) < 0)
        return "there are fewer pairs of users than --friends: use fewer --friends";
    return NULL;
}
