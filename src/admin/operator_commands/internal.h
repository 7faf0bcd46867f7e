/* internal.h - functions shared by the operator commands. */
#ifndef ADMIN_OPERATOR_COMMANDS_INTERNAL_H
#define ADMIN_OPERATOR_COMMANDS_INTERNAL_H

#include "admin/operator_commands/operator_commands.h"
#include "model/user.h"

struct running_operator_command {
    const struct operator_command_row *row;
    /* Arguments after the noun and the verb of the command. */
    struct str words[OPERATOR_ARGUMENTS_MAX];
    int count;
    unsigned uid;
    snowflake after; /* for lists: the page starts after the row with this id */
    int64_t limit;   /* for lists: page size */
    struct str password_hash;
    const void *body; /* last argument, decoded with row->body */
    struct api *api;
    /* Voice relay; NULL for commands that are console routes, or if there is no voice relay. */
    struct relay *relay;
    struct arena *arena;
    /* True: the output is JSON objects; false: lines of text with tab-separated values. */
    bool as_json;
    struct buf out;      /* output while run or run_blocking writes */
    struct str output;   /* output of `run` or `run_blocking`, allocated in the arena */
    const char *problem; /* error sentence; NULL if the error code says enough */
};

/* --- operator_commands.c: for the control socket and the console --------------------------- */

/* Runs a command that has row->run_blocking; blocks the thread. */
enum err operator_command_run_blocking(struct running_operator_command *o);
/* Runs a command without row->run_blocking in the call's transaction, which the store may
 * repeat. */
enum err operator_command_run_in_transaction(struct call *call, struct running_operator_command *o);
void operator_command_write_reply(const struct running_operator_command *o, struct buf *out);

/* --- output_rows.c: output rows ------------------------------------------------------- */

/* Writes an output row with one value per column. `names` has the format of
 * operator_command_row.columns. */
void operator_command_write_output_row(struct buf *out, const char *names, bool as_json,
                                       const struct value *values);
void operator_command_add_output_row(struct running_operator_command *o,
                                     const struct value *values);
#define OPERATOR_ROW(o, ...) \
    operator_command_add_output_row(o, (const struct value[]){ __VA_ARGS__ })

static inline struct value v_cstr(const char *text)
{
    return v_text(str_of(text));
}

/* Runs a command that consists of one query, and outputs its rows. */
enum err operator_command_run_query(struct call *call, struct running_operator_command *o);
/* Sets the error sentence of the command and returns e. */
enum err operator_command_set_error_sentence(struct running_operator_command *o, enum err e,
                                             const char *problem);

/* --- users.c -------------------------------------------------------------------------- */

/* Finds the account whose name or id is argument `word`. Sets o->problem if there is none. */
enum err operator_command_find_user_of_argument(struct call *call,
                                                struct running_operator_command *o, int word,
                                                struct user *ret);

enum err operator_user_show(struct call *call, struct running_operator_command *o);
enum err operator_user_add(struct call *call, struct running_operator_command *o);
enum err operator_user_set_password(struct call *call, struct running_operator_command *o);
enum err operator_user_disable(struct call *call, struct running_operator_command *o);
enum err operator_user_enable(struct call *call, struct running_operator_command *o);
enum err operator_user_delete(struct call *call, struct running_operator_command *o);
enum err operator_user_restore(struct call *call, struct running_operator_command *o);
enum err operator_user_export(struct call *call, struct running_operator_command *o);
enum err operator_user_erase(struct call *call, struct running_operator_command *o);
enum err operator_user_disable_mfa(struct call *call, struct running_operator_command *o);
enum err operator_user_set_premium(struct call *call, struct running_operator_command *o);
enum err operator_token_revoke(struct call *call, struct running_operator_command *o);

/* --- guilds.c and applications.c ------------------------------------------------------ */

enum err operator_guild_set_owner(struct call *call, struct running_operator_command *o);
enum err operator_guild_delete(struct call *call, struct running_operator_command *o);
enum err operator_guild_resend_to_members(struct call *call, struct running_operator_command *o);
enum err operator_app_renew_token(struct call *call, struct running_operator_command *o);

/* --- mirror.c ------------------------------------------------------------------------- */

enum err operator_apply_mirrored_message_change(struct call *call,
                                                struct running_operator_command *o);
enum err operator_delete_mirrored_messages(struct call *call, struct running_operator_command *o);
enum err operator_apply_mirrored_reaction_change(struct call *call,
                                                 struct running_operator_command *o);
enum err operator_apply_mirrored_channel_change(struct call *call,
                                                struct running_operator_command *o);
enum err operator_apply_mirrored_role_change(struct call *call, struct running_operator_command *o);
enum err operator_apply_mirrored_member_change(struct call *call,
                                               struct running_operator_command *o);
enum err operator_apply_mirrored_guild_change(struct call *call,
                                              struct running_operator_command *o);

/* --- content.c ------------------------------------------------------------------------ */

enum err operator_message_show(struct call *call, struct running_operator_command *o);
enum err operator_message_delete(struct call *call, struct running_operator_command *o);
enum err operator_message_purge(struct call *call, struct running_operator_command *o);
enum err operator_message_purge_show_progress(struct call *call,
                                              struct running_operator_command *o);
enum err operator_file_show(struct call *call, struct running_operator_command *o);
enum err operator_file_delete(struct call *call, struct running_operator_command *o);

/* --- reports.c, bans.c and announcement.c -------------------------------------------- */

enum err operator_report_list(struct call *call, struct running_operator_command *o);
enum err operator_report_show(struct call *call, struct running_operator_command *o);
enum err operator_report_close(struct call *call, struct running_operator_command *o);
enum err operator_ban_list(struct call *call, struct running_operator_command *o);
enum err operator_ban_add(struct call *call, struct running_operator_command *o);
enum err operator_ban_lift(struct call *call, struct running_operator_command *o);

enum err operator_announcement_show(struct call *call, struct running_operator_command *o);
enum err operator_announcement_set(struct call *call, struct running_operator_command *o);
enum err operator_announcement_clear(struct call *call, struct running_operator_command *o);

/* --- service.c ------------------------------------------------------------------------ */

enum err operator_invite_create(struct call *call, struct running_operator_command *o);
enum err operator_invite_list(struct call *call, struct running_operator_command *o);
enum err operator_invite_revoke(struct call *call, struct running_operator_command *o);
enum err operator_stats_show(struct call *call, struct running_operator_command *o);
/* --- clock.c, faults.c, sessions.c, snapshots.c --------------------------------------- */

extern const struct type operator_clock_type, operator_fault_type, operator_session_action_type;
enum err operator_health_show(struct call *call,
                              struct running_operator_command *o); /* health_stats.c */
enum err operator_clock_show(struct call *call, struct running_operator_command *o);
enum err operator_test_clock_move(struct call *call, struct running_operator_command *o);
enum err operator_fault_list(struct call *call, struct running_operator_command *o);
enum err operator_fault_add(struct call *call, struct running_operator_command *o);
enum err operator_fault_clear(struct call *call, struct running_operator_command *o);
enum err operator_sessions_list(struct running_operator_command *o);
enum err operator_voice_sessions_list(struct running_operator_command *o);
enum err operator_session_apply_test_action(struct call *call, struct running_operator_command *o);
enum err operator_snapshot_list(struct running_operator_command *o);
enum err operator_snapshot_count_restores(struct running_operator_command *o);
enum err operator_snapshot_create(struct running_operator_command *o);
enum err operator_snapshot_restore(struct running_operator_command *o);
enum err operator_snapshot_delete(struct running_operator_command *o);

/* Records a command that changes data in the operator log. */
enum err operator_log_record_command(struct call *call, const struct running_operator_command *o);

#endif
