/* internal.h - declarations shared by the files of onboarding/. */
#ifndef PLATFORM_ONBOARDING_INTERNAL_H
#define PLATFORM_ONBOARDING_INTERNAL_H

#include "platform/channels/channels.h"
#include "model/welcome.h"
#include "platform/onboarding/onboarding.h"

enum {
    MAX_PROMPTS = 15,
    MAX_OPTIONS = 50,
    MAX_OPTION_IDS = 50,
    MAX_DEFAULT_CHANNELS = 500,
    NEEDED_CHANNELS = 7, /* number of visible channels needed to enable onboarding */
    NEEDED_WRITABLE = 5, /* number of channels in which @everyone must be able to write */
};
struct onboarding_change {
    struct opt_list prompts, default_channel_ids;
    struct opt_bool enabled;
    struct opt_int mode;
};
struct onboarding_answers {
    snowflake guild_id, user_id;
    struct list onboarding_responses; /* snowflakes */
    struct list onboarding_prompts_seen, onboarding_responses_seen;
};

extern const struct type type_onboarding, type_onboarding_prompt, type_onboarding_options;
extern const struct type onboarding_body, onboarding_answers_body, onboarding_answers_reply;
extern const struct type type_seen;

/* --- rows.c --------------------------------------------------------------------------- */

/* Reads the version of the guild's onboarding; 0: never set. */
enum err onboarding_version(struct tx *tx, snowflake guild_id, int64_t *ret);
enum err answers_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct list *ret);
enum err answers_save(struct tx *tx, const struct onboarding_answers *a);
enum err answers_forget(struct tx *tx, snowflake guild_id, snowflake user_id);

/* Roles and channels of a guild, sorted by id for binary search. */
struct guild_places {
    struct list roles;    /* struct role */
    struct list channels; /* struct channel, with overwrites */
};
enum err guild_places(struct tx *tx, snowflake guild_id, struct guild_places *ret);
const struct role *places_role(const struct guild_places *p, snowflake id);
const struct channel *places_channel(const struct guild_places *p, snowflake id);
/* Removes ids of deleted roles and channels from the onboarding. */
void onboarding_prune(struct onboarding *o, const struct guild_places *p);

/* --- change.c ------------------------------------------------------------------------- */

enum err prepare_put_onboarding(struct call *call);
enum err put_onboarding(struct call *call);

/* --- answers.c ------------------------------------------------------------------------ */

enum err prepare_answer_onboarding(struct call *call);
enum err answer_onboarding(struct call *call);

/* --- welcome.c ------------------------------------------------------------------------ */

struct welcome_row {
    struct welcome_screen screen;
    bool enabled, known;
};
enum err welcome_find(struct tx *tx, snowflake guild_id, struct welcome_row *ret);
enum err welcome_save(struct tx *tx, snowflake guild_id, const struct welcome_row *row);

#endif
