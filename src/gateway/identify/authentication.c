/* authentication.c - authenticates the token of IDENTIFY or RESUME. */
#include "gateway/identify/authentication.h"

#include "base/mem.h"
#include "gateway/sessions/registry.h"

bool gateway_authentication_init(struct gateway_authentication *g, struct gateway_socket *p,
                                 struct str token)
{
    enum caller_kind kind = parse_credential_kind(token, &token);

    g->bot_only = kind == CALLER_BOT;
    if (kind == CALLER_BEARER || token.n >= sizeof g->token ||
        auth_is_address_banned(p->gateway_loop->gateway->options.auth,
                               websocket_get_client_address(p->ws)))
        return false;
    memcpy(g->token, token.p, token.n);
    if (!parse_credential_token(CALLER_BOT, str_slice(g->token, token.n), &g->credential))
        return false;
    auth_record_revocations_before_lookup(p->gateway_loop->gateway->options.auth, &g->credential);
    g->socket = p;
    p->request_socket = &g->socket;
    p->state = SOCKET_AUTHENTICATING;
    linked_list_append(&p->gateway_loop->authentications, &g->link);
    gateway_socket_on_identify(p);
    return true;
}

/* A bot's token may be sent without the prefix "Bot ", so whether the caller is a bot or a user is
 * known only after the token was found. */
static const enum caller_kind possible_caller_kinds[] = { CALLER_BOT, CALLER_USER };

static bool find_cached_token_account(struct gateway_authentication *g, struct auth *auth)
{
    for (int i = 0; i < (g->bot_only ? 1 : 2); i++)
        if (auth_find_cached_token(auth, possible_caller_kinds[i], g->credential.token, &g->caller))
            return true;
    return false;
}

static enum err find_account_of_token(struct gateway_authentication *g, struct tx *tx)
{
    struct auth *auth = g->store_read.gateway_loop->gateway->options.auth;
    enum err e = find_cached_token_account(g, auth) ? OK : ERR_UNAUTHORIZED;

    for (int i = 0; i < (g->bot_only ? 1 : 2) && e == ERR_UNAUTHORIZED; i++) {
        g->credential.kind = possible_caller_kinds[i];
        e = auth_find_stored_token(auth, tx, &g->credential, &g->caller);
    }
    if (!e && (g->caller.disabled || g->caller.deleting))
        e = ERR_UNAUTHORIZED;
    return e;
}

static enum err read_credential_and_guilds(struct session_store_read *l, struct tx *tx)
{
    struct gateway_authentication *g = container_of(l, struct gateway_authentication, store_read);
    const struct gateway_source *source = l->gateway_loop->gateway->options.source;

    g->result = find_account_of_token(g, tx);
    if (g->result == ERR_UNAUTHORIZED)
        return OK;
    enum err e = g->result;
    if (!e && g->caller.kind == CALLER_BOT)
        e = source->application(tx, g->caller.id, &g->application_id, &g->application_flags);
    if (!e && g->caller.kind == CALLER_BOT && g->wants_guilds)
        e = source->starts(tx, g->caller.id, current_day_number(), &g->starts);
    if (!e && g->wants_guilds)
        e = source->guilds(tx, g->caller.id, &g->guilds);
    if (!e && g->read_more)
        e = g->read_more(g, tx);
    return e;
}

static void on_credential_and_guilds_read(struct session_store_read *l, enum err e)
{
    struct gateway_authentication *g = container_of(l, struct gateway_authentication, store_read);

    if (g->revoked)
        g->result = ERR_UNAUTHORIZED;
    if (g->socket && !e && !g->result) {
        g->on_authenticated(g);
        return;
    }
    struct gateway_socket *p = gateway_authentication_end(g);
    if (p && e)
        gateway_socket_close(p, CLOSE_UNKNOWN, "internal error");
    else if (p)
        gateway_socket_close(p, CLOSE_BAD_TOKEN, "authentication failed");
    g->on_failed(g);
}

void gateway_authentication_begin(struct gateway_authentication *g)
{
    g->store_read.run = read_credential_and_guilds;
    g->store_read.done = on_credential_and_guilds_read;
    begin_unordered_session_store_read(g->socket->gateway_loop, &g->store_read);
}

struct gateway_socket *gateway_authentication_end(struct gateway_authentication *g)
{
    struct gateway_socket *p = g->socket;

    if (p) {
        p->request_socket = NULL;
        p->state = SOCKET_UNAUTHENTICATED;
    }
    linked_list_remove(&g->link);
    g->socket = NULL;
    return p;
}
