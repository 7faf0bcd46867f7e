/* internal.h - what the orders share. */
#ifndef ADMIN_ORDERS_INTERNAL_H
#define ADMIN_ORDERS_INTERNAL_H

#include "model/user.h"
#include "admin/orders/orders.h"

struct order {
    const struct order_row *row;
    struct str words[ORDER_WORDS]; /* the order's own, behind noun and verb */
    int count;
    unsigned uid;
    snowflake after; /* lists: a page behind this id … */
    int64_t limit;   /* … of so many */
    struct str password_hash;
    struct buf out;
    const char *problem; /* a sentence, when the error alone says too little */
};

/* --- table.c: what comes back --------------------------------------------------------- */

/* Names with their kinds, and a tab between them: "$id\t$name\t#members". */
void order_columns(struct order *o, const char *columns);
/* Cells in the order of the columns. */
void order_text(struct order *o, struct str text);
void order_id(struct order *o, snowflake id);
void order_int(struct order *o, int64_t number);
void order_bool(struct order *o, bool yes);
void order_row_end(struct order *o);

/* --- users.c -------------------------------------------------------------------------- */

/* By name, or by an id. *problem is set when there is none. */
enum err order_user(struct call *call, struct order *o, int word, struct user *ret);

enum err order_user_list(struct call *call, struct order *o);
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

/* --- guilds.c ------------------------------------------------------------------------- */

enum err order_guild_list(struct call *call, struct order *o);
enum err order_guild_show(struct call *call, struct order *o);
enum err order_guild_owner(struct call *call, struct order *o);
enum err order_guild_delete(struct call *call, struct order *o);

/* --- applications.c ------------------------------------------------------------------- */

enum err order_app_list(struct call *call, struct order *o);
enum err order_app_show(struct call *call, struct order *o);
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
enum err order_log_list(struct call *call, struct order *o);
/* Notes an order that changes something. */
enum err order_note(struct call *call, const struct order *o);

#endif
