/* internal.h - what the files of automod/ share. */
#ifndef PLATFORM_AUTOMOD_INTERNAL_H
#define PLATFORM_AUTOMOD_INTERNAL_H

#include "model/permissions/rights.h"
#include "platform/automod/automod.h"
#include "platform/automod/sets.h"

/* --- schema.c ------------------------------------------------------------------------- */

/* What a body says of a rule; bodies of new ones must say more of it. */
struct automod_patch {
    struct opt_str name;
    struct opt_int event_type, trigger_type;
    struct opt_object trigger_metadata; /* struct automod_metadata */
    struct opt_list actions;            /* struct automod_action */
    struct opt_bool enabled;
    struct opt_list exempt_roles, exempt_channels; /* snowflakes */
};

extern const struct schema automod_rule_schema;
extern const struct type type_automod_rules, automod_draft_body, automod_patch_body;

/* AUTO_MODERATION_ACTION_EXECUTION */
struct automod_execution {
    snowflake guild_id;
    const struct automod_action *action;
    snowflake rule_id;
    int64_t rule_trigger_type;
    snowflake user_id;
    struct opt_id channel_id, message_id, alert_system_message_id;
    struct str content;
    struct opt_str matched_keyword, matched_content;
};
extern const struct schema automod_execution_schema;

/* --- rows.c --------------------------------------------------------------------------- */

/* ERR_NOT_FOUND. */
enum err automod_rule_find(struct tx *tx, snowflake guild_id, snowflake id,
                           struct automod_rule *ret);
enum err automod_rule_update(struct tx *tx, const struct automod_rule *r);
enum err automod_rule_delete(struct tx *tx, snowflake id);
enum err automod_count_of_type(struct tx *tx, snowflake guild_id, int64_t trigger, int64_t *ret);
/* The rules in force without their metadata: what is done and to whom it does not apply. */
enum err automod_rules_light(struct tx *tx, snowflake guild_id, struct list *ret);
/* Notes that somebody wrote this, and says whether it is the fifth time within ten seconds. */
enum err automod_count_echo(struct tx *tx, snowflake guild_id, snowflake user_id, struct str text,
                            bool *ret_spam);

/* --- routes.c ------------------------------------------------------------------------- */

void automod_announce(struct call *call, enum event event, const struct automod_rule *r);

/* --- exempt.c ------------------------------------------------------------------------- */

enum err automod_forget_role(struct call *call, const struct role *role);
enum err automod_forget_channel(struct call *call, const struct channel *c);

/* --- audit.c -------------------------------------------------------------------------- */

/* before, now: NULL where there was none, or is none any more. */
enum err automod_audit(struct call *call, const struct automod_rule *before,
                       const struct automod_rule *now);

/* Those that entries of the log are about. */
enum err automod_in_audit(struct call *call, struct audit_shown *log);

/* --- judge.c: from a text to the rules that it breaks ---------------------------------- */

/* A text that somebody wants to be seen, and what was found in it. */
struct judging {
    snowflake guild_id, version;
    struct str title, text, name;
    struct list rules; /* struct automod_rule, for the pool to compile; empty: they are kept */
    struct list hits;  /* struct automod_hit: of title and text … */
    struct list named; /* … and of the name */
    snowflake spam;    /* the rule against repetition, or 0 */
    bool found;        /* these are those of this version */
};

/* Fills in what the set in force finds, at once or, where that takes long or the set is not
 * compiled, by going back to the stages before the transaction: then the error is that of
 * call_look_again. */
enum err judge_texts(struct call *call, struct judging *about);
/* Leaves the hits of rules that count for this member here. channel: NULL where it is about a
 * name. rules: struct automod_rule, of the hits that stay, in their order. */
enum err judge_exempt(struct call *call, const struct member *m, const struct channel *channel,
                      struct list *hits, struct list *ret_rules);

extern const struct hooks automod_hooks;

/* --- actions.c: what follows ----------------------------------------------------------- */

/* What was written or named, and by whom. */
struct offence {
    const struct member *member;
    const struct channel *channel; /* NULL: a name */
    snowflake message_id;          /* 0: it is not to be seen */
    struct str content;
    bool blocked;
    const char *profile; /* of names: what was changed, or where it was seen; else NULL */
    const char *seen_by; /* of names that are seen: on which occasion */
};

/* Whether one of these rules does this. */
bool rules_have_action(const struct list *rules, enum automod_action_type type);
/* Alerts first, then time-outs, then what is noted of blocks. */
enum err offence_answer(struct call *call, const struct offence *o, const struct list *hits,
                        const struct list *rules);
/* Answers 400 with this code, and what was done stays done. */
enum err offence_refuse(struct call *call, enum err code);

/* --- names.c -------------------------------------------------------------------------- */

/* All names that somebody has there, of a line each. */
enum err automod_names(struct call *call, const struct member *m, struct str *ret);
enum err automod_judge_name(struct call *call, struct name_judged *about);
enum err automod_meet_newcomer(struct call *call, const struct member *m);
enum err automod_account_changed(struct call *call, const struct user *user);

/* --- incidents.c ---------------------------------------------------------------------- */

extern const struct type incident_body; /* and what is answered */
enum err put_incident_actions(struct call *call);

#endif
