/* login.h - public ids of a login session, derived from its token's session id. */
#ifndef MODEL_LOGIN_H
#define MODEL_LOGIN_H

enum { LOGIN_ID_SIZE = 37, LOGIN_HASH_SIZE = 45 };

/* id: a lower-case UUID, static_client_session_id in READY; it does not reveal the token. hash:
 * SHA-256 in base64, auth_session_id_hash in READY, id_hash in the list of sessions. NULL: not
 * needed. */
void login_names(const unsigned char session[8], char *id, char *hash);

#endif
