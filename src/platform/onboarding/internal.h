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
    NEEDED_CHANNELS = 7, /* minimum number of visible channels for enabling onboarding */
    NEEDED_WRITABLE = 5, /* minimum number of visible channels in which @everyone can write */
};
struct onboarding_put_body {
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

/* Reads the version of the guild's onboarding; 0 if onboarding was never set. */
enum err onboarding_read_version(struct tx *tx, snowflake guild_id, int64_t *ret);
enum err onboarding_answers_read(struct tx *tx, snowflake guild_id, snowflake user_id,
                                 struct list *ret);
enum err onboarding_answers_save(struct tx *tx, const struct onboarding_answers *a);
enum err onboarding_answers_delete(struct tx *tx, snowflake guild_id, snowflake user_id);

/* Roles and channels of a guild, sorted by id for binary search. */
struct guild_roles_and_channels {
    struct list roles;    /* struct role */
    struct list channels; /* struct channel, with overwrites */
};
enum err read_guild_roles_and_channels(struct tx *tx, snowflake guild_id,
                                       struct guild_roles_and_channels *ret);
const struct role *find_guild_role_by_id(const struct guild_roles_and_channels *p, snowflake id);
const struct channel *find_guild_channel_by_id(const struct guild_roles_and_channels *p,
                                               snowflake id);
void onboarding_remove_deleted_ids(struct onboarding *o, const struct guild_roles_and_channels *p);

/* --- put_onboarding.c ----------------------------------------------------------------- */

enum err schedule_computing_onboarding_change(struct call *call);
enum err put_onboarding(struct call *call);

/* --- answers.c ------------------------------------------------------------------------ */

enum err schedule_onboarding_answer_check(struct call *call);
enum err submit_onboarding_answers(struct call *call);

/* --- welcome_screen.c ----------------------------------------------------------------- */

struct welcome_screen_row {
    struct welcome_screen screen;
    bool enabled, known;
};
enum err welcome_screen_read_row(struct tx *tx, snowflake guild_id, struct welcome_screen_row *ret);
enum err welcome_screen_save_row(struct tx *tx, snowflake guild_id,
                                 const struct welcome_screen_row *row);

#endif
