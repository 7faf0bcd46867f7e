/* remote_auth.h - log-in by a QR code: a device that is logged in lets another device in.
 *
 * The new device ("desktop") opens the WebSocket /remote-auth, proves that it has the private key
 * of an RSA key, and shows the key's fingerprint as a QR code. The logged-in device ("mobile")
 * sends the fingerprint, then confirms or cancels. The desktop receives a ticket, which works once,
 * and exchanges it for a token that is encrypted with its key.
 *
 * All state is one row of remote_logins, which the desktop's socket reads twice a second, so the
 * two devices may be connected to different nodes. Fingerprint, handshake token and ticket are
 * stored as digests. The row ends after 150 seconds, and when the session that scanned the code
 * ends, for any reason: log-out, new password, disabled or deleted account. */
#ifndef PLATFORM_ACCOUNTS_REMOTE_AUTH_REMOTE_AUTH_H
#define PLATFORM_ACCOUNTS_REMOTE_AUTH_REMOTE_AUTH_H

#include "api/call.h"
#include "platform/accounts/accounts.h"

struct http_request;
struct websocket_handler;

/* Accepts WebSockets on /remote-auth; for http_server_callbacks.upgrade. */
bool remote_auth_accept_websocket(struct api *api, const struct http_request *r,
                                  struct websocket_handler *ret);

/* --- public_key.c ----------------------------------------------------------------------- */

/* Returns whether the text is the base64 form of the DER encoding (SPKI) of an RSA public key of
 * 2048 to 4096 bits, with an exponent of at most 32 bits. *ret_fingerprint is the base64url form of
 * its SHA-256 digest. */
bool remote_auth_key_parse(struct arena *arena, struct str key, struct str *ret_fingerprint);
/* Encrypts a text (RSA-OAEP, SHA-256); *ret is base64. Returns false if the text is too long. */
bool remote_auth_key_encrypt(struct arena *arena, struct str key, struct str text, struct str *ret);

/* --- rows.c ----------------------------------------------------------------------------- */

enum remote_login_state {
    REMOTE_LOGIN_WAITING,   /* nobody has scanned the code */
    REMOTE_LOGIN_SCANNED,   /* a device has sent the fingerprint */
    REMOTE_LOGIN_CONFIRMED, /* the device that scanned has confirmed */
    REMOTE_LOGIN_CANCELLED,
    REMOTE_LOGIN_TICKET, /* the desktop has the ticket */
};

struct remote_login {
    snowflake id, user_id;
    struct str public_key;
    int64_t state;
};

enum { REMOTE_LOGIN_SECONDS = 150 };

/* Inserts a row for the key, replaces an older row of the same key, and deletes expired rows. */
enum err remote_login_insert(struct tx *tx, snowflake id, struct str public_key,
                             struct str fingerprint);
/* Finds a log-in by QR code unless it has expired or the session that scanned the code has
 * ended. */
enum err remote_login_find(struct tx *tx, snowflake id, struct remote_login *ret, bool *ret_found);
enum err remote_login_find_by_ticket(struct tx *tx, struct str ticket, struct remote_login *ret,
                                     bool *ret_found);
/* Changes the state of a log-in from waiting to scanned. *ret_token is a new handshake token; its
 * p is NULL if no log-in with this fingerprint is waiting. */
enum err remote_login_mark_scanned(struct call *call, struct str fingerprint,
                                   struct str *ret_token);
/* Changes the state of a log-in from scanned to confirmed or cancelled. Only the session that
 * scanned the code may do it. */
enum err remote_login_confirm_or_cancel(struct call *call, struct str handshake_token,
                                        enum remote_login_state state, bool *ret_found);
/* Issues the ticket of a confirmed log-in. ret_ticket->p is NULL if the log-in is not in the
 * state "confirmed". */
enum err remote_login_issue_ticket(struct tx *tx, snowflake id, struct str *ret_ticket);
enum err remote_login_delete(struct tx *tx, snowflake id, bool *ret_deleted);

#endif
