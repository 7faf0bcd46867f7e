/* internal.h - declarations shared by the files of automod/. */
#ifndef PLATFORM_AUTOMOD_INTERNAL_H
#define PLATFORM_AUTOMOD_INTERNAL_H

#include "model/permissions/member_permissions.h"
#include "platform/automod/automod.h"
#include "platform/automod/rule_sets.h"

/* --- schema.c ------------------------------------------------------------------------- */

/* Request body of PATCH. The body of POST has more required fields. */
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

/* Returns ERR_NOT_FOUND if the guild has no such rule. */
enum err automod_rule_find(struct tx *tx, snowflake guild_id, snowflake id,
                           struct automod_rule *ret);
enum err automod_rule_update(struct tx *tx, const struct automod_rule *r);
enum err automod_rule_delete(struct tx *tx, snowflake id);
enum err automod_count_rules_of_type(struct tx *tx, snowflake guild_id, int64_t trigger,
                                     int64_t *ret);
/* Lists the enabled rules without their trigger metadata: only actions and exemptions. */
enum err automod_rules_list_without_metadata(struct tx *tx, snowflake guild_id, struct list *ret);
/* Counts this text for its author. *ret_spam: it is the fifth occurrence within ten seconds. */
enum err automod_count_repeated_text(struct tx *tx, snowflake guild_id, snowflake user_id,
                                     struct str text, bool *ret_spam);

/* --- routes.c ------------------------------------------------------------------------- */

void automod_emit_rule_event(struct call *call, enum event event, const struct automod_rule *r);

/* --- exemptions.c --------------------------------------------------------------------- */

enum err automod_remove_exempt_role(struct call *call, const struct role *role);
enum err automod_remove_exempt_channel(struct call *call, const struct channel *c);

/* --- audit.c -------------------------------------------------------------------------- */

/* Writes the audit log entry. before: NULL for a new rule; now: NULL for a deleted rule. */
enum err automod_audit_rule_change(struct call *call, const struct automod_rule *before,
                                   const struct automod_rule *now);

/* Adds to the log the rules that its audit log entries refer to. */
enum err automod_add_rules_to_audit_log(struct call *call, struct audit_log_objects *log);

/* --- check_texts.c: finds the rules that a text breaks -------------------------------- */

/* The texts of one request and the rules that they break. */
struct automod_check {
    snowflake guild_id, version;
    struct str title, text, name;
    struct list rules; /* struct automod_rule, for the pool to compile; empty: set is cached */
    struct list hits;  /* struct automod_hit: matches in title and text */
    struct list named; /* struct automod_hit: matches in the name */
    snowflake spam;    /* id of the rule against spam, or 0 */
    bool found;        /* the results are valid for .version */
};

/* Matches the texts with the guild's compiled set. If the set is not compiled or the match would
 * take long, restarts the call: the match then runs on the thread pool before the transaction, and
 * the function returns the error of call_restart_at_read. */
enum err automod_match_texts(struct call *call, struct automod_check *about);
/* Removes the hits of rules that exempt this member or channel. channel: NULL for a name. Returns
 * the struct automod_rule of each remaining hit, in the same order. */
enum err automod_remove_exempt_hits(struct call *call, const struct member *m,
                                    const struct channel *channel, struct list *hits,
                                    struct list *ret_rules);

extern const struct hooks automod_hooks;

/* --- actions.c: executes the actions of broken rules ---------------------------------- */

/* The offending text or name and its author. */
struct automod_offence {
    const struct member *member;
    const struct channel *channel; /* NULL: the offence is a name */
    snowflake message_id;          /* 0: the message was not stored */
    struct str content;
    bool blocked;
    const char *profile; /* for names: the changed field, or where the name was found; else NULL */
    const char *seen_by; /* for existing names: the occasion of the check */
};

/* Returns true if one of these rules has this action. */
bool automod_rules_have_action(const struct list *rules, enum automod_action_type type);
/* Executes the actions by type: alerts, time-outs, quarantines, then blocks. */
enum err automod_execute_actions(struct call *call, const struct automod_offence *o,
                                 const struct list *hits, const struct list *rules);
/* Replies with status 400 and this code; the transaction still commits. */
enum err automod_reply_refused(struct call *call, enum err code);

/* --- check_names.c -------------------------------------------------------------------- */

/* Returns all names of a member, one per line. */
enum err automod_collect_member_names(struct call *call, const struct member *m, struct str *ret);
enum err automod_check_name(struct call *call, struct checked_nickname *about);
enum err automod_check_new_member(struct call *call, const struct member *m);
enum err automod_on_account_changed(struct call *call, const struct user *user);

/* --- incidents.c ---------------------------------------------------------------------- */

extern const struct type incident_body; /* also the reply */
enum err put_incident_actions(struct call *call);

#endif
