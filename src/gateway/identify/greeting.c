/* greeting.c - authenticates the token of IDENTIFY or RESUME. */
#include "gateway/identify/greeting.h"

#include "base/mem.h"
#include "gateway/sessions/registry.h"

bool greeting_init(struct greeting *g, struct peer *p, struct str token)
{
    enum caller_kind kind = credential_kind(token, &token);

    g->bot_only = kind == CALLER_BOT;
    if (kind == CALLER_BEARER || token.n >= sizeof g->token ||
        auth_bans_address(p->hub->gateway->options.auth, websocket_remote(p->ws)))
        return false;
    memcpy(g->token, token.p, token.n);
    if (!credential_parse(CALLER_BOT, str_slice(g->token, token.n), &g->credential))
        return false;
    auth_will_find(p->hub->gateway->options.auth, &g->credential);
    g->peer = p;
    p->asking = &g->peer;
    p->state = PEER_ASKING;
    links_append(&p->hub->greetings, &g->link);
    peer_identified(p);
    return true;
}

/* A bot's token may be sent without "Bot ", so the kind of caller is known only after the
 * lookup. */
static const enum caller_kind kinds[] = { CALLER_BOT, CALLER_USER };

static bool greeting_remembered(struct greeting *g, struct auth *auth)
{
    for (int i = 0; i < (g->bot_only ? 1 : 2); i++)
        if (auth_remembered(auth, kinds[i], g->credential.token, &g->caller))
            return true;
    return false;
}

static enum err greeting_find(struct greeting *g, struct tx *tx)
{
    struct auth *auth = g->load.hub->gateway->options.auth;
    enum err e = greeting_remembered(g, auth) ? OK : ERR_UNAUTHORIZED;

    for (int i = 0; i < (g->bot_only ? 1 : 2) && e == ERR_UNAUTHORIZED; i++) {
        g->credential.kind = kinds[i];
        e = auth_find(auth, tx, &g->credential, &g->caller);
    }
    if (!e && (g->caller.disabled || g->caller.deleting))
        e = ERR_UNAUTHORIZED;
    return e;
}

static enum err greeting_look(struct load *l, struct tx *tx)
{
    struct greeting *g = container_of(l, struct greeting, load);
    const struct gateway_source *source = l->hub->gateway->options.source;

    g->verdict = greeting_find(g, tx);
    if (g->verdict == ERR_UNAUTHORIZED)
        return OK;
    enum err e = g->verdict;
    if (!e && g->caller.kind == CALLER_BOT)
        e = source->application(tx, g->caller.id, &g->application_id, &g->application_flags);
    if (!e && g->caller.kind == CALLER_BOT && g->wants_guilds)
        e = source->starts(tx, g->caller.id, registry_today(), &g->starts);
    if (!e && g->wants_guilds)
        e = source->guilds(tx, g->caller.id, &g->guilds);
    if (!e && g->read_more)
        e = g->read_more(g, tx);
    return e;
}

static void greeting_looked(struct load *l, enum err e)
{
    struct greeting *g = container_of(l, struct greeting, load);

    if (g->revoked)
        g->verdict = ERR_UNAUTHORIZED;
    if (g->peer && !e && !g->verdict) {
        g->known(g);
        return;
    }
    struct peer *p = greeting_end(g);
    if (p && e)
        peer_close(p, CLOSE_UNKNOWN, "internal error");
    else if (p)
        peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
    g->drop(g);
}

void greeting_begin(struct greeting *g)
{
    g->load.run = greeting_look;
    g->load.done = greeting_looked;
    hub_load_now(g->peer->hub, &g->load);
}

struct peer *greeting_end(struct greeting *g)
{
    struct peer *p = g->peer;

    if (p) {
        p->asking = NULL;
        p->state = PEER_STRANGER;
    }
    link_remove(&g->link);
    g->peer = NULL;
    return p;
}
