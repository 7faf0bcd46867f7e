/* login_ids.h - public ids of a login session, derived from the session id in its token. */
#ifndef MODEL_LOGIN_IDS_H
#define MODEL_LOGIN_IDS_H

enum { LOGIN_ID_SIZE = 37, LOGIN_HASH_SIZE = 45 };

/* Writes the public ids of a login session. `id` or `hash` may be NULL if it is not needed. id is a
 * lower-case UUID that does not reveal the token (static_client_session_id in READY). hash is
 * SHA-256 in base64 (auth_session_id_hash in READY). */
void login_session_write_public_ids(const unsigned char session[8], char *id, char *hash);

#endif
