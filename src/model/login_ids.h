/* login_ids.h - public ids of a login session, derived from its token's session id. */
#ifndef MODEL_LOGIN_IDS_H
#define MODEL_LOGIN_IDS_H

enum { LOGIN_ID_SIZE = 37, LOGIN_HASH_SIZE = 45 };

/* Writes the public ids of a login session. id: a lower-case UUID, static_client_session_id in
 * READY, which does not reveal the token. hash: SHA-256 in base64, auth_session_id_hash in READY.
 * NULL: not needed. */
void login_public_ids(const unsigned char session[8], char *id, char *hash);

#endif
