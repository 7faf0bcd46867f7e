/* emojis.h - the little pictures of guilds and applications.
 *
 * This folder owns the rows of both kinds, who may use which, the routes of guilds and the
 * address of the pictures; an application's routes are in applications/. It stands below
 * channels/ and messages/, which have emoji in what they keep. Begin with rows.c. */
#ifndef PLATFORM_EMOJIS_EMOJIS_H
#define PLATFORM_EMOJIS_EMOJIS_H

#include "model/emoji.h"
#include "model/permissions/rights.h"
#include "platform/accounts/accounts.h"

/* --- rows ----------------------------------------------------------------------------- */

/* The oldest first, without .user. struct emoji */
enum err guild_emojis(struct tx *tx, snowflake guild_id, struct list *ret);
void guild_emojis_prefetch(struct tx *tx, snowflake guild_id);
enum err application_emojis(struct tx *tx, snowflake application_id, struct list *ret);
/* Of a guild or an application; ERR_UNKNOWN_EMOJI. */
enum err emoji_find(struct tx *tx, snowflake id, struct emoji *ret);
/* ERR_STORE_CONFLICT: the application has one of this name. */
enum err emoji_insert(struct tx *tx, const struct emoji *e);
/* Its name and roles. */
enum err emoji_update(struct tx *tx, const struct emoji *e);
/* With its picture. */
enum err emoji_delete(struct call *call, const struct emoji *e);
/* Adds who brought them, each looked for once. */
enum err emojis_load_users(struct tx *tx, struct list *emojis);

/* --- changing -------------------------------------------------------------------------- */

/* May the caller change an emoji, a sticker or a sound of the call's guild that this account
 * brought? Own ones for those who could bring them, others' for those who manage them. */
enum err expression_may_change(const struct call *call, snowflake user_id);

/* --- use ------------------------------------------------------------------------------ */

/* Who wants to use an emoji, and where. */
struct emoji_user {
    snowflake user_id;        /* 0: nobody's account, such as a webhook's */
    snowflake application_id; /* 0: no app */
    snowflake guild_id;       /* 0: a private channel */
    uint64_t rights;          /* there */
};
/* ERR_UNKNOWN_EMOJI also for one that this account may not use there. */
enum err emoji_use(struct tx *tx, const struct emoji_user *who, snowflake id, struct emoji *ret);

/* --- bodies that guilds and applications share ----------------------------------------- */

struct emoji_draft {
    struct str name;
    struct opt_image image;
    struct opt_list roles; /* snowflakes */
};
struct emoji_patch {
    struct opt_str name;
    struct opt_list roles;
};
/* What stages before the handler made. */
struct emoji_upload {
    snowflake id;
    struct opt_str image;
};

/* The row's prepare; check runs before the picture is kept. */
enum err emoji_prepare(struct call *call, enum err (*check)(struct call *call));
/* From the body of the call to an emoji that belongs to nobody yet. */
struct emoji emoji_from_draft(struct call *call);

extern const struct type type_emoji_image;
extern const struct type emoji_draft_body, emoji_patch_body, application_emoji_draft_body,
    application_emoji_patch_body;

/* What changes pictures and sounds of a guild; all of them count together. */
extern const struct limit expression_writes;

extern const struct domain emojis_domain;      /* of guilds */
extern const struct domain emoji_files_domain; /* /emojis, at the root */
extern const struct world_parts emojis_world;

#endif
