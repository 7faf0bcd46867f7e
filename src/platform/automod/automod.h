/* automod.h - rules that a guild has its messages and names looked at by.
 *
 * This folder owns the rules, what they are compiled to, and what happens when one is broken. It
 * is told of texts by hooks (hooks.h: struct text_judged, struct name_judged), which are called
 * only in guilds that have rules in force. A guild's rules are compiled to one set (sets.c) on the
 * pool, kept in memory under the version that the guild's row names, and freed when another
 * version takes its place. Begin with routes.c for the rules, with judge.c for texts. */
#ifndef PLATFORM_AUTOMOD_AUTOMOD_H
#define PLATFORM_AUTOMOD_AUTOMOD_H

#include "api/hooks.h"
#include "platform/accounts/accounts.h"

/* --- rules ---------------------------------------------------------------------------- */

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

/* What is not of a rule's trigger is absent. */
struct automod_metadata {
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
    struct automod_metadata *trigger_metadata;
    struct list actions; /* struct automod_action */
    bool enabled;
    struct list exempt_roles, exempt_channels; /* snowflakes */
    int64_t pattern_cost; /* of its patterns together; written, never read back */
};

/* What the patterns of a guild may cost together (pattern_cost): 4,000 characters take 20 ms. */
enum { AUTOMOD_MOST_COST = 1200 };

extern const struct type type_automod_rule, type_automod_metadata, type_automod_actions,
    type_automod_trigger;

/* Writes a rule that has been checked; the guild's messages are looked at by it from then on. */
enum err automod_rule_insert(struct tx *tx, const struct automod_rule *r);
/* The oldest first. struct automod_rule */
enum err automod_rules(struct tx *tx, snowflake guild_id, struct list *ret);
/* What a rule's trigger says nothing of is taken out of its metadata, what it needs put in. */
void automod_rule_settle(struct arena *arena, struct automod_rule *r);
/* What the patterns of the guild's other rules cost. */
enum err automod_cost_of_others(struct tx *tx, snowflake guild_id, snowflake id, int64_t *ret);
/* What a body or a world file could have wrong, noted below `here`. others: what patterns of other
 * rules cost. Sets .pattern_cost. */
void automod_rule_check(struct form *form, const struct place *here, struct automod_rule *r,
                        int64_t others);
/* Gives the guild's rules another version. */
enum err automod_renew(struct tx *tx, snowflake guild_id);

/* --- presets -------------------------------------------------------------------------- */

/* Words that presets stand for, from a file: lines, below [profanity], [sexual] or [slurs]; NULL
 * or "": none. At the start of a process, before there are threads. */
bool automod_presets_set(const char *path, const char **ret_problem);

extern const struct domain automod_domain;
extern const struct world_parts automod_world;

#endif
