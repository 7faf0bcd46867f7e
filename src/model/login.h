/* login.h - the name of a login, the same for all that is done with its token. */
#ifndef MODEL_LOGIN_H
#define MODEL_LOGIN_H

enum { LOGIN_ID_SIZE = 37 };

/* A UUID in lower case, as READY has it in static_client_session_id. It says nothing
 * about the token. */
void login_id(const unsigned char session[8], char ret[LOGIN_ID_SIZE]);

#endif
