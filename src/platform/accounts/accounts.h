/* accounts.h - accounts and what they own. */
#ifndef PLATFORM_ACCOUNTS_ACCOUNTS_H
#define PLATFORM_ACCOUNTS_ACCOUNTS_H

#include "api/api.h"
#include "model/user.h"

extern const struct domain accounts_domain;        /* /auth, /users */
extern const struct domain assets_domain;          /* /avatars, /banners */
extern const struct domain default_avatars_domain; /* /embed/avatars */
extern const struct domain mfa_domain;
extern const struct domain mail_domain; /* /auth/forgot, /auth/verify */
extern const struct domain own_domain;  /* settings, notes, sessions */
extern const struct domain settings_proto_domain;
extern const struct world_parts accounts_world;

/* ERR_UNKNOWN_USER when there is none. */
enum err user_find(struct tx *tx, snowflake id, struct user *ret);
void user_prefetch(struct tx *tx, snowflake id);

/* The two colours of somebody's profile, as JSON; null: none were chosen. */
enum err theme_colors_find(struct tx *tx, snowflake id, struct opt_str *ret);

/* The language of a call: its X-Discord-Locale, else the best of its Accept-Language,
 * else the account's own, else en-US. Tags that are none of ours are skipped. */
enum err request_locale(struct call *call, struct str *ret);
/* What the head alone asks for; p == NULL: nothing that we have. */
struct str request_head_locale(const struct call *call);
/* The same as request_locale for who has read the caller's account. */
struct str request_locale_of(const struct call *call, const struct user *caller);

/* 2-32 of the characters that names have. */
bool username_allowed(struct str name);
/* Names that nobody gets. */
bool username_reserved(struct str name);

/* --- pictures ------------------------------------------------------------------------- */

/* Keeps a picture that a body brought, in a compute stage (it is written to the disk).
 * *ret is its hash; null and absent stay what they are. area: "avatars", "icons" …,
 * owner: whose picture it is. */
enum err picture_keep(struct call *call, const char *area, snowflake owner,
                      const struct opt_image *image, struct opt_str *ret);
/* In the transaction: a picture goes, with its owner or alone. No hash: there is none. */
enum err picture_drop(struct call *call, const char *area, snowflake owner,
                      const struct opt_str *hash);
/* The same for one that another (or none) takes the place of; fine when it is the same. */
enum err picture_replace(struct call *call, const char *area, snowflake owner,
                         const struct opt_str *before, const struct opt_str *now);

/* The name of a picture among those of its owner; id: of the upload. */
struct str image_hash(struct arena *a, const struct image *image, snowflake id);
/* In an import: the row of a picture, and the name it has; its bytes are kept when all is
 * committed. */
struct importing;
enum err world_note_picture(struct importing *im, const struct image *image, const char *area,
                            snowflake id, struct opt_str *ret);
/* The token that the file names, or a fresh one that somebody wants to see. */
enum err world_issue_token(struct importing *im, struct str username, const struct opt_str *chosen,
                           const struct place *up);
/* Answers with it, for ever cacheable. ERR_NOT_FOUND. */
enum err picture_reply(struct call *call, const char *area, snowflake owner, struct str hash);
/* Whether an answer can lead there: 4096 bytes, where what is not ASCII counts three times. */
bool picture_address_fits(struct str url);
/* Whether this server leads people there: to itself, or to a public host where its own calls go to
 * none but those, too. */
bool picture_address_allowed(const struct call *call, struct str url);
/* A picture that lies elsewhere: *ret is the name that it is shown by, among avatars. owner: a
 * webhook. */
enum err picture_note_address(struct tx *tx, snowflake owner, struct str url, struct opt_str *ret);
/* Answers with a ring on a colour, for what has no picture of its own. */
enum err picture_reply_default(struct call *call, snowflake owner);

/* Argon2id at this cost; takes tens of milliseconds and megabytes, so never on a loop. */
enum err password_make(unsigned long long ops, size_t memory, struct arena *a, struct str password,
                       struct str *ret);

/* For tools and tests: an account without going through the interface. Empty
 * password: none. The token is in the transaction's arena. */
struct account_draft {
    struct str username, global_name, password_hash;
    bool bot;
};
enum err account_create(struct tx *tx, struct auth *auth, const struct account_draft *draft,
                        struct user *ret_user, struct str *ret_token);

#endif
