/* onboarding.h - what newcomers of a guild are asked, and the roles that their answers give them.
 *
 * A guild's questions are one row: they are written together and read together. With 75,000 ids at
 * most they are checked and encoded between transactions (change.c). The welcome screen, which
 * newcomers see first, is here too (welcome.c). Begin with routes.c. */
#ifndef PLATFORM_ONBOARDING_ONBOARDING_H
#define PLATFORM_ONBOARDING_ONBOARDING_H

#include "platform/guilds/guilds.h"

enum onboarding_mode { ONBOARDING_DEFAULT = 0, ONBOARDING_ADVANCED = 1 };

struct option_emoji {
    struct opt_id id;
    struct opt_str name;
    bool animated;
};
struct onboarding_option {
    struct opt_id given_id; /* in requests */
    snowflake id;
    struct str title;
    struct opt_str given_description; /* in requests; null: none */
    struct str description;
    const struct option_emoji *emoji;
    struct list role_ids, channel_ids; /* snowflakes */

    /* In requests: what the emoji is made of. */
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

    int64_t version; /* not shown; 0: it was never set */
};
extern const struct type type_onboarding_prompts;

/* As it is kept, with ids of what is gone meanwhile. A guild without has none. What is long is
 * read aside. */
enum err onboarding_find(struct tx *tx, snowflake guild_id, struct onboarding *ret);
/* Its prompts and default channels as text. */
enum err onboarding_save(struct tx *tx, const struct onboarding *o, struct str prompts,
                         struct str channels);

struct welcome_screen;
/* The welcome screen as newcomers see it; NULL: there is none, or it is not enabled. */
enum err welcome_screen_shown(struct tx *tx, snowflake guild_id, const struct welcome_screen **ret);

extern const struct domain onboarding_domain;
extern const struct domain welcome_domain; /* the welcome screen */
extern const struct world_parts welcome_world;
extern const struct world_parts onboarding_world;

#endif
