/* automod.h - AutoMod: rules that check the messages and names of a guild. The folder owns the
 * rules and their compiled form, and executes the actions of violated rules. Other folders pass
 * texts to it through hooks (hooks.h: struct automod_checked_text, struct nickname_check), which
 * are called only in guilds with enabled rules. The thread pool compiles all rules of a guild into
 * one set (rule_sets.c), which is cached under the version number in the guild's row. The folder
 * may use threads/ and the folders below it. Start with routes.c (rules) and check_texts.c (check
 * of a text). */
#ifndef PLATFORM_AUTOMOD_AUTOMOD_H
#define PLATFORM_AUTOMOD_AUTOMOD_H

#include "api/hooks.h"
#include "platform/accounts/accounts.h"

/* --- AutoMod rules ------------------------------------------------------------------- */

enum automod_event { AUTOMOD_ON_MESSAGE = 1, AUTOMOD_ON_PROFILE = 2 };
enum automod_trigger {
    AUTOMOD_KEYWORD = 1,
    AUTOMOD_SPAM = 3,
    AUTOMOD_PRESET = 4,
    AUTOMOD_MENTIONS = 5,
    AUTOMOD_PROFILE = 6,
};
enum automod_action_type {
    AUTOMOD_BLOCK = 1,
    AUTOMOD_ALERT = 2,
    AUTOMOD_TIMEOUT = 3,
    AUTOMOD_QUARANTINE = 4,
};

/* Trigger metadata of a rule. Fields that do not belong to the rule's trigger type are absent. */
struct automod_trigger_metadata {
    struct opt_list keyword_filter, regex_patterns, allow_list; /* struct str */
    struct opt_list presets;                                    /* int64_t */
    struct opt_int mention_total_limit;
    struct opt_bool mention_raid_protection_enabled;
};
struct automod_action_metadata {
    struct opt_id channel_id;
    struct opt_int duration_seconds;
    struct opt_str custom_message;
};
struct automod_action {
    int64_t type;
    struct automod_action_metadata *metadata;
};
struct automod_rule {
    snowflake id, guild_id, creator_id;
    struct str name;
    int64_t event_type, trigger_type;
    struct automod_trigger_metadata *trigger_metadata;
    struct list actions; /* struct automod_action */
    bool enabled;
    struct list exempt_roles, exempt_channels; /* snowflakes */
    int64_t
        pattern_cost; /* total matching cost of the patterns; only automod_rule_validate sets it */
};

/* Maximum sum of pattern_cost over the rules of a guild. At the maximum, matching 4,000 characters
 * takes 20 ms. */
enum { AUTOMOD_MAX_PATTERN_COST = 1200 };

extern const struct type type_automod_rule, type_automod_metadata, type_automod_actions,
    type_automod_trigger;

/* Inserts a validated rule. After the commit, every new message of the guild is checked with it. */
enum err automod_rule_insert(struct tx *tx, const struct automod_rule *r);
/* Lists the rules of a guild as struct automod_rule, oldest first. */
enum err automod_rules_list(struct tx *tx, snowflake guild_id, struct list *ret);
/* Removes metadata that the trigger type does not use, and adds defaults that it needs. */
void automod_rule_normalize(struct arena *arena, struct automod_rule *r);
/* Returns the sum of pattern_cost over all rules of the guild except the rule `id`. */
enum err automod_read_matching_cost_of_other_rules(struct tx *tx, snowflake guild_id, snowflake id,
                                                   int64_t *ret);
/* Validates a rule of a request body or a world file and sets its pattern_cost. Reports errors
 * below the path `here`. others is the sum of pattern_cost over the guild's other rules. */
void automod_rule_validate(struct form *form, const struct json_path *here, struct automod_rule *r,
                           int64_t others);
/* Changes the version number of the guild's rules, so that cached compiled sets are no longer
 * used. */
enum err automod_rules_renew_version(struct tx *tx, snowflake guild_id);

/* --- keywords of the presets --------------------------------------------------------- */

/* Reads the keywords of Discord's keyword presets from a file: one per line, below the headings
 * [profanity], [sexual] and [slurs]. If path is NULL or "", the presets have no keywords. Call it
 * before OS threads are started. */
bool automod_presets_read_file(const char *path, const char **ret_problem);

extern const struct domain automod_domain;
extern const struct world_file_fields automod_world;

#endif
