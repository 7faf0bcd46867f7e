/* emojis.h - public interface of emojis/: custom emoji of guilds and applications.
 *
 * The folder owns both tables, decides which emoji an account may use, and serves the routes of
 * guild emoji and of pictures; the routes of application emoji are in applications/. It uses
 * accounts/, guilds/ and members/. Start with rows.c. */
#ifndef PLATFORM_EMOJIS_EMOJIS_H
#define PLATFORM_EMOJIS_EMOJIS_H

#include "model/emoji.h"
#include "model/permissions/member_permissions.h"
#include "platform/accounts/accounts.h"

/* --- reading and writing emoji ------------------------------------------------------- */

/* Lists the emoji of a guild as struct emoji, oldest first, without .user. */
enum err guild_emojis_list(struct tx *tx, snowflake guild_id, struct list *ret);
enum err application_emojis_list(struct tx *tx, snowflake application_id, struct list *ret);
/* Finds an emoji of a guild or an application. Returns ERR_UNKNOWN_EMOJI if there is none. */
enum err emoji_find(struct tx *tx, snowflake id, struct emoji *ret);
/* Inserts an emoji. Returns ERR_STORE_CONFLICT if the application has an emoji of this name. */
enum err emoji_insert(struct tx *tx, const struct emoji *e);
/* Updates name and roles of an emoji. */
enum err emoji_update(struct tx *tx, const struct emoji *e);
/* Deletes the emoji and its picture. */
enum err emoji_delete(struct call *call, const struct emoji *e);
enum err emojis_read_uploaders(struct tx *tx, struct list *emojis);

/* --- permission to change emoji ------------------------------------------------------- */

/* Checks whether the caller may change an emoji, sticker or sound of the call's guild that user_id
 * uploaded. The caller needs MANAGE_GUILD_EXPRESSIONS; CREATE_GUILD_EXPRESSIONS suffices for the
 * caller's own uploads. */
enum err check_change_expression_permission(const struct call *call, snowflake user_id);

/* --- permission to use emoji ---------------------------------------------------------- */

/* An account, and the channel in which it wants to use an emoji. */
struct emoji_use_context {
    snowflake user_id;        /* id of the account; 0 if a webhook uses the emoji */
    snowflake application_id; /* id of the app; 0 if the account is not an app */
    snowflake guild_id;       /* guild in which the emoji is used; 0 in a private channel */
    uint64_t permissions;     /* permissions of the account in that channel */
};
/* Finds an emoji. Returns ERR_UNKNOWN_EMOJI if it does not exist or the account may not use it
 * there. */
enum err emoji_find_usable(struct tx *tx, const struct emoji_use_context *account, snowflake id,
                           struct emoji *ret);

/* --- request bodies of guild and application emoji ----------------------------------- */

struct emoji_create_request {
    struct str name;
    struct opt_image image;
    struct opt_list roles; /* snowflakes */
};
struct emoji_patch {
    struct opt_str name;
    struct opt_list roles;
};
/* Id and picture hash of a new emoji, which an earlier stage passes to the handler. */
struct emoji_upload {
    snowflake id;
    struct opt_str image;
};

/* Schedules `check` and then the storage of the new emoji's picture, both before the handler. Call
 * it in the prepare stage of a route that creates an emoji. */
enum err emoji_schedule_storing_picture(struct call *call, enum err (*check)(struct call *call));
/* Builds an emoji from the call's body. The caller then sets the field guild_id or
 * application_id. */
struct emoji emoji_from_create_request(struct call *call);

extern const struct type type_emoji_image;
extern const struct type emoji_create_body, emoji_patch_body, application_emoji_create_body,
    application_emoji_patch_body;

/* Shared rate limit of all changes of a guild's emoji, stickers and sounds. */
extern const struct rate_limit limit_expression_writes;

extern const struct domain emojis_domain;      /* routes of guild emoji */
extern const struct domain emoji_files_domain; /* route /emojis, without the API prefix */
extern const struct world_file_fields emojis_world;

#endif
