/* internal.h - functions shared by the operator commands. */
#ifndef ADMIN_ORDERS_INTERNAL_H
#define ADMIN_ORDERS_INTERNAL_H

#include "admin/orders/orders.h"
#include "model/user.h"

struct order {
    const struct order_row *row;
    struct str words[ORDER_WORDS]; /* arguments after noun and verb */
    int count;
    unsigned uid;
    snowflake after; /* lists: page after this id */
    int64_t limit;   /* lists: page size */
    struct str password_hash;
    const void *body; /* decoded with row->body */
    struct api *api;
    struct relay *relay; /* NULL: no voice relay, or console route */
    struct arena *arena;
    bool as_json;        /* output: JSON objects, else lines of cells */
    struct buf out;      /* used only while gather or run writes */
    struct str answer;   /* output of gather or run, in the arena */
    const char *problem; /* error sentence, if the error code is not enough */
};

/* --- orders.c: used by control socket and console ------------------------------------- */

/* Runs a command that has row->gather; blocks. */
enum err order_gather(struct order *o);
/* Runs the command in the call's transaction, which may be repeated. No effect if the row has
 * gather. */
enum err order_run(struct call *call, struct order *o);
/* Writes the reply of the command. */
void order_write_answer(const struct order *o, struct buf *out);

/* --- table.c: output rows ------------------------------------------------------------- */

/* Writes a row with one value per column; `names` as in order_row.columns. */
void row_write(struct buf *out, const char *names, bool as_json, const struct value *values);
/* Adds a row to the reply. */
void order_row_add(struct order *o, const struct value *values);
#define ORDER_ROW(o, ...) order_row_add(o, (const struct value[]){ __VA_ARGS__ })

static inline struct value v_cstr(const char *text)
{
    return v_text(str_of(text));
}

/* Runs a command that is one query, and outputs its rows. */
enum err order_query(struct call *call, struct order *o);
/* Sets the error sentence and returns e. */
enum err order_refuse(struct order *o, enum err e, const char *problem);

/* --- users.c -------------------------------------------------------------------------- */

/* Finds an account by name or id. Sets o->problem if there is none. */
enum err order_user(struct call *call, struct order *o, int word, struct user *ret);

enum err order_user_show(struct call *call, struct order *o);
enum err order_user_add(struct call *call, struct order *o);
enum err order_user_passwd(struct call *call, struct order *o);
enum err order_user_disable(struct call *call, struct order *o);
enum err order_user_enable(struct call *call, struct order *o);
enum err order_user_delete(struct call *call, struct order *o);
enum err order_user_restore(struct call *call, struct order *o);
enum err order_user_export(struct call *call, struct order *o);
enum err order_user_erase(struct call *call, struct order *o);
enum err order_user_mfa_off(struct call *call, struct order *o);
enum err order_user_premium(struct call *call, struct order *o);
enum err order_token_revoke(struct call *call, struct order *o);

/* --- guilds.c and applications.c ------------------------------------------------------ */

enum err order_guild_owner(struct call *call, struct order *o);
enum err order_guild_delete(struct call *call, struct order *o);
enum err order_app_token(struct call *call, struct order *o);

/* --- content.c ------------------------------------------------------------------------ */

enum err order_message_show(struct call *call, struct order *o);
enum err order_message_delete(struct call *call, struct order *o);
enum err order_message_purge(struct call *call, struct order *o);
enum err order_message_purging(struct call *call, struct order *o);
enum err order_file_show(struct call *call, struct order *o);
enum err order_file_delete(struct call *call, struct order *o);

/* --- reports.c and bans.c ------------------------------------------------------------- */

enum err order_report_list(struct call *call, struct order *o);
enum err order_report_show(struct call *call, struct order *o);
enum err order_report_close(struct call *call, struct order *o);
enum err order_ban_list(struct call *call, struct order *o);
enum err order_ban_add(struct call *call, struct order *o);
enum err order_ban_lift(struct call *call, struct order *o);

/* --- service.c ------------------------------------------------------------------------ */

enum err order_invite_create(struct call *call, struct order *o);
enum err order_invite_list(struct call *call, struct order *o);
enum err order_invite_revoke(struct call *call, struct order *o);
enum err order_stats(struct call *call, struct order *o);
/* --- clock.c, faults.c, sessions.c, snapshots.c --------------------------------------- */

extern const struct type order_clock_type, order_fault_type, order_push_type;
enum err order_health(struct call *call, struct order *o); /* console/health.c */
enum err order_clock(struct call *call, struct order *o);
enum err order_clock_move(struct call *call, struct order *o);
enum err order_fault_list(struct call *call, struct order *o);
enum err order_fault_add(struct call *call, struct order *o);
enum err order_fault_clear(struct call *call, struct order *o);
enum err order_sessions(struct order *o);
enum err order_sessions_voice(struct order *o);
enum err order_sessions_push(struct call *call, struct order *o);
enum err order_snapshot_list(struct order *o);
enum err order_snapshot_count(struct order *o);
enum err order_snapshot_make(struct order *o);
enum err order_snapshot_restore(struct order *o);
enum err order_snapshot_delete(struct order *o);

/* Records a command that changes something in the operator log. */
enum err order_note(struct call *call, const struct order *o);

#endif
