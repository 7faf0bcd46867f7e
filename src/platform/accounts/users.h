/* users.h - user columns for the queries of other folders. */
#ifndef PLATFORM_ACCOUNTS_USERS_H
#define PLATFORM_ACCOUNTS_USERS_H

#include "model/user.h"
#include "store/store.h"

/* Columns of the table `users u`, in the order that user_from_row expects. */
#define USER_COLUMNS                                                                        \
    "u.id, u.username, u.global_name, u.avatar, u.banner, u.email, u.accent_color, u.bio, " \
    "u.locale, u.flags, u.public_flags, u.premium_type, u.verified, u.bot, u.system, "      \
    "u.password_hash, u.date_of_birth, u.disabled, u.deleting, u.phone, "                   \
    "u.mfa_enabled, u.pronouns"

void user_from_row(const struct rows *r, int column, struct user *ret);

/* Public columns of the table `users u`, in the order that partial_user_from_row expects. */
#define PARTIAL_USER_COLUMNS \
    "u.id, u.username, u.global_name, u.avatar, u.public_flags, u.bot, u.system"
enum { PARTIAL_USER_COLUMN_COUNT = 7 };
void partial_user_from_row(const struct rows *r, int column, struct user *ret);
/* Finds a user with its public fields. Returns ERR_UNKNOWN_USER if the user does not exist. */
enum err user_find_partial(struct tx *tx, snowflake id, struct user *ret);

#endif
