/* onboarding.h - onboarding prompts for new members, and welcome screens. One row per guild
 * contains all prompts, with up to 75,000 ids, so they are validated and encoded outside of
 * transactions (put_onboarding.c). Owns the tables guild_onboarding, onboarding_answers and
 * guild_welcome_screens. May include threads/ and lower layers. Start with routes.c. */
#ifndef PLATFORM_ONBOARDING_ONBOARDING_H
#define PLATFORM_ONBOARDING_ONBOARDING_H

#include "platform/guilds/guilds.h"

enum onboarding_mode { ONBOARDING_DEFAULT = 0, ONBOARDING_ADVANCED = 1 };

struct onboarding_option_emoji {
    struct opt_id id;
    struct opt_str name;
    bool animated;
};
struct onboarding_option {
    struct opt_id given_id; /* id that the client sent; set only in requests */
    snowflake id;
    struct str title;
    struct opt_str given_description; /* set only in requests; null means no description */
    struct str description;
    const struct onboarding_option_emoji *emoji;
    struct list role_ids, channel_ids; /* snowflakes */

    /* Emoji fields of a request. */
    struct opt_id emoji_id;
    struct opt_str emoji_name;
    struct opt_bool emoji_animated;
};
struct onboarding_prompt {
    snowflake id;
    int64_t type;
    struct str title;
    struct list options; /* struct onboarding_option */
    bool single_select, required, in_onboarding;
};
struct onboarding {
    snowflake guild_id;
    struct list prompts;             /* struct onboarding_prompt */
    struct list default_channel_ids; /* snowflakes */
    bool enabled;
    int64_t mode;

    int64_t version; /* version of the stored row, not in the JSON; 0 if onboarding was never set */
};
extern const struct type type_onboarding_prompts;

/* Reads the stored onboarding of a guild. *ret is empty if the guild has none. It may contain ids
 * of deleted roles and channels. A long row is decoded on a background thread. */
enum err onboarding_find(struct tx *tx, snowflake guild_id, struct onboarding *ret);
/* Saves the onboarding of a guild. prompts and channels: JSON of its prompts and of its default
 * channels. */
enum err onboarding_save(struct tx *tx, const struct onboarding *o, struct str prompts,
                         struct str channels);

struct welcome_screen;
/* Reads the welcome screen for new members. *ret is NULL if the guild has none or has disabled
 * it. */
enum err welcome_screen_read_if_enabled(struct tx *tx, snowflake guild_id,
                                        const struct welcome_screen **ret);

extern const struct domain onboarding_domain;
extern const struct domain welcome_domain; /* routes of the welcome screen */
extern const struct world_file_fields welcome_world;
extern const struct world_file_fields onboarding_world;

#endif
