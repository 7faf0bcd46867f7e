/* held.c - voice states from before a restart, which wait until their gateway sessions resume. A
 * restart closes all voice sockets. Clients do not send op 4 again: they reconnect on
 * VOICE_SERVER_UPDATE. A resumed session therefore gets one for each of its states. If RESUME is
 * refused, the client starts a new session; a bot's new session takes over its state in each guild
 * when it has received the guild. Without a refused RESUME, the bot was restarted and is in no
 * channel. */
#include "voice/held.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "voice/state_rows.h"

enum { REFUSED_MS = 60 * 1000 }; /* time from a refused RESUME to the guilds of the next session */

struct refused_account {
    snowflake user_id;
    int64_t at_ms;
};

static int64_t now_ms(void)
{
    return clock_mono() / 1000000;
}

/* --- accounts with a refused RESUME -------------------------------------------------- */

void refusals_note(struct map *refusals, snowflake user_id)
{
    struct refused_account *r = map_get(refusals, user_id);

    if (!r) {
        r = mem_new(sizeof *r);
        r->user_id = user_id;
        map_put(refusals, user_id, r);
    }
    r->at_ms = now_ms();
}

bool refusals_have(const struct map *refusals, snowflake user_id)
{
    const struct refused_account *r = map_get(refusals, user_id);

    return r && now_ms() - r->at_ms < REFUSED_MS;
}

void refusals_forget(struct map *refusals, bool all)
{
    struct refused_account **old = mem_new((refusals->count + 1) * sizeof *old);
    size_t at = 0, count = 0;

    for (struct refused_account *r; (r = map_next(refusals, &at));)
        if (all || now_ms() - r->at_ms >= REFUSED_MS)
            old[count++] = r;
    for (size_t i = 0; i < count; i++) {
        map_remove(refusals, old[i]->user_id);
        mem_free(old[i]);
    }
    mem_free(old);
}

/* --- taking a state back -------------------------------------------------------------- */

struct voice_return {
    struct voice *voice;
    snowflake user_id, guild_id;
    uint64_t session;
    char session_id[33];
    bool resumed; /* restore all states of the session; otherwise only the one in the guild */
};

static enum err return_find(struct call *call, const struct voice_return *r, struct list *ret)
{
    struct voice_state s;

    if (r->resumed)
        return voice_of_session(call->tx, str_of(r->session_id), ret);
    *ret = (struct list){ 0 };
    enum err e = voice_find(call->tx, r->guild_id, r->user_id, &s);
    if (!e && s.node == VOICE_NODE_HELD)
        *(struct voice_state *)list_add(call->arena, ret, sizeof s) = s;
    return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
}

/* Avoids a write transaction for most sessions, which are not in voice. */
static enum err return_look(struct call *call)
{
    struct list states;
    enum err e = return_find(call, call_passed(call, "voice_return"), &states);

    return e ? e : states.count ? OK : ERR_UNKNOWN_VOICE_STATE;
}

static enum err return_prepare(struct call *call)
{
    call->look = return_look;
    return OK;
}

/* A resumed session has the same id, so it needs no VOICE_STATE_UPDATE. */
static enum err return_state(struct call *call, const struct voice_return *r, struct voice_state *s)
{
    enum err e;

    s->node = snowflake_node();
    s->session = r->session;
    if (r->resumed) {
        e = voice_put(call->tx, s);
    } else {
        s->session_id = str_of(r->session_id);
        s->salt = voice_salt(call->arena);
        e = voice_save(call, s, voice_channel(s));
    }
    return e || s->live ? e : voice_send_server(call, s);
}

static enum err return_run(struct call *call)
{
    const struct voice_return *r = call_passed(call, "voice_return");
    struct list states;
    enum err e = return_find(call, r, &states);

    for (size_t i = 0; !e && i < states.count; i++)
        e = return_state(call, r, (struct voice_state *)states.items + i);
    return e;
}

static void return_done(struct call *call, enum err e, void *arg)
{
    const struct voice_return *r = call_passed(call, "voice_return");

    (void)arg;
    if (e && e != ERR_UNKNOWN_VOICE_STATE)
        log_warn("voice: cannot restore the voice states of session %s: %s", r->session_id,
                 error_info(e)->message);
    voice_line_settle(r->voice, r->session, !e);
}

static void return_start(struct voice *v, struct api *api, const struct gateway_caller *who,
                         snowflake guild_id, bool resumed)
{
    struct voice_return r = { .voice = v,
                              .user_id = who->caller->id,
                              .guild_id = guild_id,
                              .session = who->session,
                              .resumed = resumed };

    memcpy(r.session_id, who->session_id, sizeof r.session_id);
    errand_start(api, loop_current(),
                 &(struct errand){ .name = "voice_return",
                                   .caller = who->caller,
                                   .store = ROUTE_STORE_WRITE,
                                   .decode = return_prepare,
                                   .run = return_run,
                                   .done = return_done,
                                   .type = "voice_return",
                                   .data = &r,
                                   .size = sizeof r });
}

void voice_return_resumed(struct voice *v, struct api *api, const struct gateway_caller *who)
{
    return_start(v, api, who, 0, true);
}

void voice_return_begun(struct voice *v, struct api *api, const struct gateway_caller *who,
                        snowflake guild_id)
{
    return_start(v, api, who, guild_id, false);
}
