/* accounts.h - public interface of accounts/: users, log-in, sessions, settings, notes, pictures.
 *
 * The folder owns the tables of users, settings, notes, second factors, mailed links and
 * registration codes. It is the lowest folder of platform/ and uses only model/, api/ and below.
 * Invariants: passwords, tokens and mailed links are never stored in plain text; password hashing
 * never runs on an event loop. Start with routes.c (register, log in), rows.c (SQL), internal.h. */
#ifndef PLATFORM_ACCOUNTS_ACCOUNTS_H
#define PLATFORM_ACCOUNTS_ACCOUNTS_H

#include "api/api.h"
#include "model/user.h"

extern const struct domain accounts_domain;        /* routes below /auth and /users */
extern const struct domain assets_domain;          /* routes below /avatars, /banners and so on */
extern const struct domain default_avatars_domain; /* routes below /embed/avatars */
extern const struct domain mfa_domain;
extern const struct domain webauthn_domain;
extern const struct domain remote_auth_domain; /* log-in by a QR code */
extern const struct domain mail_domain; /* routes /auth/forgot, /auth/reset and /auth/verify */
extern const struct domain current_user_domain; /* routes below /users/@me */
extern const struct domain settings_proto_domain;
extern const struct world_file_fields accounts_world;

/* Finds a user by id. Returns ERR_UNKNOWN_USER if the user does not exist. */
enum err user_find(struct tx *tx, snowflake id, struct user *ret);

/* Inserts an account. *ret_taken is "username" or "email" if another account has that
 * value, else NULL. */
enum err user_insert(struct tx *tx, const struct user *u, const char **ret_taken);
/* Inserts an account. The caller must have checked that no other account has its name or email
 * address. */
enum err user_insert_without_uniqueness_check(struct tx *tx, const struct user *u);

/* Writes the types of second factors that the account has: 1 is a security key, 2 is TOTP. */
enum err write_authenticator_types_json(struct tx *tx, snowflake user_id, struct json_writer *out);

/* Reads the two profile theme colours as a JSON array; null if the user has not chosen any. */
enum err profile_theme_colors_find(struct tx *tx, snowflake id, struct opt_str *ret);

/* Determines the locale of a request: X-Discord-Locale, else the best match of Accept-Language,
 * else the account's locale, else en-US. Unsupported language tags are skipped. */
enum err determine_request_locale(struct call *call, struct str *ret);
/* Determines the locale from the request headers only. The result's p is NULL if the headers name
 * no supported locale. */
struct str determine_locale_from_request_headers(const struct call *call);
/* Determines the locale of a request whose handler has already read the caller's account. */
struct str determine_request_locale_of_user(const struct call *call, const struct user *caller);

/* True if the name has 2-32 characters, all of them allowed in usernames. */
bool username_is_allowed(struct str name);
/* True for usernames that cannot be registered, such as "everyone". */
bool username_is_reserved(struct str name);

/* --- storing and serving pictures ---------------------------------------------------- */

/* Stores an image from the request body. Call it in a compute stage (on the thread pool), because
 * it writes to disk. *ret is the image's hash; it is null or absent if the image is null or absent.
 * area is "avatars", "icons" and so on; owner is the id of the object that shows the picture. */
enum err store_uploaded_picture(struct call *call, const char *area, snowflake owner,
                                const struct opt_image *image, struct opt_str *ret);
/* Deletes a picture in the call's transaction. Does nothing if hash is null or absent. */
enum err delete_stored_picture(struct call *call, const char *area, snowflake owner,
                               const struct opt_str *hash);
/* Deletes the previous picture of an object. before and now are the hashes of the previous and the
 * new picture. If they are equal, does nothing. */
enum err delete_previous_picture(struct call *call, const char *area, snowflake owner,
                                 const struct opt_str *before, const struct opt_str *now);

/* Returns a hash of the picture's bytes and the upload's id, unique among its owner's pictures. */
struct str compute_picture_hash_of_upload(struct arena *a, const struct uploaded_image *image,
                                          snowflake id);
/* Inserts a picture of an imported world file; *ret is the picture's hash. */
struct world_file_importer;
enum err world_file_import_picture(struct world_file_importer *im,
                                   const struct uploaded_image *image, const char *area,
                                   snowflake id, struct opt_str *ret);
/* Issues a token for an account of a world file: the token that the file declares or, if it
 * declares none, a new token, which the import prints. */
enum err world_file_import_token(struct world_file_importer *im, struct str username,
                                 const struct opt_str *chosen, const struct json_path *up);
/* Replies with the picture and an immutable Cache-Control header, or with ERR_NOT_FOUND. */
enum err reply_with_stored_picture(struct call *call, const char *area, snowflake owner,
                                   struct str hash);
/* True if the URL, percent-encoded, fits a Location header of 4096 bytes. */
bool external_picture_url_fits_header(struct str url);
/* True if this server may redirect to the URL: URLs of this server and public hosts; private hosts
 * only if outgoing requests to private networks are allowed. */
bool external_picture_url_is_allowed(const struct call *call, struct str url);
/* Inserts the URL of an externally hosted webhook avatar. *ret is the hash under which clients
 * request the picture below /avatars. owner is the webhook's id. */
enum err external_picture_insert_url(struct tx *tx, snowflake owner, struct str url,
                                     struct opt_str *ret);
/* Replies with the generated default picture: a ring on a coloured background. */
enum err reply_with_default_picture(struct call *call, snowflake owner);
/* Returns the URL of the user's avatar or default avatar. */
struct str user_avatar_url(struct call *call, const struct user *u);

/* Hashes a password with Argon2id, which takes tens of milliseconds and several megabytes. Never
 * call it on an event loop; requests call it in the hash stage, which has threads of its own. */
enum err password_hash(const struct api *api, struct arena *a, struct str password,
                       struct str *ret);

/* Account that tools and tests create without a request. An empty password_hash means no
 * password. */
struct account_to_create {
    struct str username, global_name, password_hash;
    bool bot;
};
enum err account_create(struct tx *tx, struct auth *auth, const struct account_to_create *draft,
                        struct user *ret_user, struct str *ret_token);

#endif
