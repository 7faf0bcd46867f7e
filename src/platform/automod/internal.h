/* internal.h - declarations shared by the files of automod/. */
#ifndef PLATFORM_AUTOMOD_INTERNAL_H
#define PLATFORM_AUTOMOD_INTERNAL_H

#include "model/permissions/member_permissions.h"
#include "platform/automod/automod.h"
#include "platform/automod/rule_sets.h"

/* --- schema.c ------------------------------------------------------------------------- */

/* Request body that creates or changes a rule. Creating requires more fields than changing. */
struct automod_rule_patch {
    struct opt_str name;
    struct opt_int event_type, trigger_type;
    struct opt_object trigger_metadata; /* struct automod_trigger_metadata */
    struct opt_list actions;            /* struct automod_action */
    struct opt_bool enabled;
    struct opt_list exempt_roles, exempt_channels; /* snowflakes */
};

extern const struct schema automod_rule_schema;
extern const struct type type_automod_rules, automod_rule_create_body, automod_rule_patch_body;

/* Payload of the event AUTO_MODERATION_ACTION_EXECUTION. */
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

/* Finds a rule of a guild. Returns ERR_NOT_FOUND if the guild does not have it. */
enum err automod_rule_find(struct tx *tx, snowflake guild_id, snowflake id,
                           struct automod_rule *ret);
enum err automod_rule_update(struct tx *tx, const struct automod_rule *r);
enum err automod_rule_delete(struct tx *tx, snowflake id);
enum err automod_count_rules_of_type(struct tx *tx, snowflake guild_id, int64_t trigger,
                                     int64_t *ret);
/* Lists the enabled rules of a guild without their trigger metadata. */
enum err automod_rules_list_without_metadata(struct tx *tx, snowflake guild_id, struct list *ret);
/* Counts a text that a member sent. *ret_spam is true if this is the fifth time within ten seconds
 * that the member sent the same text. */
enum err automod_count_repeated_text(struct tx *tx, snowflake guild_id, snowflake user_id,
                                     struct str text, bool *ret_spam);

/* --- routes.c ------------------------------------------------------------------------- */

void automod_emit_rule_event(struct call *call, enum event event, const struct automod_rule *r);

/* --- exemptions.c --------------------------------------------------------------------- */

enum err automod_remove_exempt_role(struct call *call, const struct role *role);
enum err automod_remove_exempt_channel(struct call *call, const struct channel *c);

/* --- audit.c -------------------------------------------------------------------------- */

/* Writes the audit log entry of a change. before is NULL for a new rule, now for a deleted rule. */
enum err automod_write_rule_audit_entry(struct call *call, const struct automod_rule *before,
                                        const struct automod_rule *now);

/* Adds to an audit log reply the rules to which its entries refer. */
enum err audit_log_reply_add_automod_rules(struct call *call, struct audit_log_objects *log);

/* --- check_texts.c: finds the rules that a text violates ------------------------------ */

/* The texts of one request and the rules that they violate. */
struct automod_text_check {
    snowflake guild_id, version;
    struct str title, text, name;
    struct list rules; /* rules to compile (struct automod_rule); empty if already compiled */
    struct list hits;  /* matched rules of title and text (struct automod_hit) */
    struct list named; /* struct automod_hit of the name */
    snowflake spam;    /* id of the guild's rule against spam; 0 if it has none */
    bool found;        /* whether .hits and .named are the result for the rules of .version */
};

/* Matches the texts with the guild's compiled rules. If the rules are not compiled yet, or if
 * matching would take long, returns the error of call_restart_at_read_stage: the call starts again,
 * and the thread pool compiles the rules and matches the texts before the transaction. */
enum err automod_match_texts(struct call *call, struct automod_text_check *about);
/* Removes matches (hits) of rules that exempt this member or channel; channel is NULL if a name is
 * checked. *ret_rules has the struct automod_rule of each remaining hit, in the same order. */
enum err automod_remove_hits_of_exempting_rules(struct call *call, const struct member *m,
                                                const struct channel *channel, struct list *hits,
                                                struct list *ret_rules);

extern const struct hook_listeners automod_hooks;

/* --- actions.c: executes the actions of violated rules -------------------------------- */

/* A text or name that violates a rule, and its author. */
struct automod_offence {
    const struct member *member;
    const struct channel *channel; /* channel of the text; NULL if a name violated the rule */
    snowflake message_id;          /* id of the stored message; 0 if it was not stored */
    struct str content;
    bool blocked;
    const char
        *profile; /* "nickname_update" or "username" if a name violated the rule; else NULL */
    const char *seen_by; /* "guild_join" or "message_send" if a username was checked; else NULL */
};

bool automod_rules_have_action(const struct list *rules, enum automod_action_type type);
/* Executes the actions of the matched rules: first alerts, then time-outs, quarantines, blocks. */
enum err automod_execute_actions(struct call *call, const struct automod_offence *o,
                                 const struct list *hits, const struct list *rules);
/* Replies with status 400 and this error code. Returns OK, so that the transaction still
 * commits. */
enum err automod_reply_with_refusal(struct call *call, enum err code);

/* --- check_names.c -------------------------------------------------------------------- */

/* Returns all names of a member, one per line. */
enum err automod_collect_member_names(struct call *call, const struct member *m, struct str *ret);
enum err automod_check_nickname_of_member(struct call *call,
                                          struct automod_checked_nickname *about);
enum err automod_check_new_member(struct call *call, const struct member *m);
enum err automod_on_account_changed(struct call *call, const struct user *user);

/* --- incidents.c ---------------------------------------------------------------------- */

extern const struct type incident_body; /* type of the request body and of the reply */
enum err put_incident_actions(struct call *call);

#endif
