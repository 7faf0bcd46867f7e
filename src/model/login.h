/* login.h - the names of a login, the same for all that is done with its token. */
#ifndef MODEL_LOGIN_H
#define MODEL_LOGIN_H

enum { LOGIN_ID_SIZE = 37, LOGIN_HASH_SIZE = 45 };

/* id: a UUID in lower case, as READY has it in static_client_session_id. It says nothing about the
 * token. hash: SHA-256 in base64, what READY calls auth_session_id_hash and the list of logins
 * id_hash. Of these sizes; either may be NULL. */
void login_names(const unsigned char session[8], char *id, char *hash);

#endif
