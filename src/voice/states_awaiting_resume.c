/* states_awaiting_resume.c - voice states from before a restart, which wait until their gateway
 * sessions resume. A restart closes all voice sockets. Clients do not send op 4 again: they
 * reconnect on VOICE_SERVER_UPDATE. Therefore a resumed session gets VOICE_SERVER_UPDATE for each
 * of its voice states. If RESUME is refused, the client starts a new session; the new session of a
 * bot takes over the voice state in each guild that it has received. A bot without a refused RESUME
 * was itself restarted, and is in no channel. */
#include "voice/states_awaiting_resume.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "voice/state_rows.h"

enum {
    REFUSED_RESUME_MS = 60 * 1000
}; /* maximum time between a refused RESUME and the guilds of the account's next session */

struct refused_resume {
    snowflake user_id;
    int64_t at_ms;
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* --- accounts with a refused RESUME -------------------------------------------------- */

void refused_resumes_add_account(struct map *refusals, snowflake user_id)
{
    struct refused_resume *r = map_find_value(refusals, user_id);

    if (!r) {
        r = mem_new(sizeof *r);
        r->user_id = user_id;
        map_set_value(refusals, user_id, r);
    }
    r->at_ms = now_ms();
}

bool refused_resumes_contain_account(const struct map *refusals, snowflake user_id)
{
    const struct refused_resume *r = map_find_value(refusals, user_id);

    return r && now_ms() - r->at_ms < REFUSED_RESUME_MS;
}

void refused_resumes_remove(struct map *refusals, bool all)
{
    struct refused_resume **old = mem_new((refusals->count + 1) * sizeof *old);
    size_t at = 0, count = 0;

    for (struct refused_resume *r; (r = map_next_value(refusals, &at));)
        if (all || now_ms() - r->at_ms >= REFUSED_RESUME_MS)
            old[count++] = r;
    for (size_t i = 0; i < count; i++) {
        map_remove_value(refusals, old[i]->user_id);
        mem_free(old[i]);
    }
    mem_free(old);
}

/* --- taking a state back -------------------------------------------------------------- */

struct state_restore {
    struct voice_service *voice;
    snowflake user_id, guild_id;
    uint64_t session;
    char session_id[33];
    /* True: restore all voice states of the session. False: only the one in guild_id. */
    bool resumed;
};

static enum err find_voice_states_to_restore(struct call *call, const struct state_restore *r,
                                             struct list *ret)
{
    struct voice_state s;

    if (r->resumed)
        return list_voice_states_of_session(call->tx, str_of(r->session_id), ret);
    *ret = (struct list){ 0 };
    enum err e = voice_state_find(call->tx, r->guild_id, r->user_id, &s);
    if (!e && s.node == VOICE_NODE_AWAITING_RESUME)
        *(struct voice_state *)list_append(call->arena, ret, sizeof s) = s;
    return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
}

/* Reads whether there are voice states to restore. Saves a write transaction for most sessions,
 * which are not in voice. */
static enum err read_voice_states_to_restore(struct call *call)
{
    struct list states;
    enum err e =
        find_voice_states_to_restore(call, call_get_stage_data(call, "state_restore"), &states);

    return e ? e : states.count ? OK : ERR_UNKNOWN_VOICE_STATE;
}

static enum err prepare_restoring_voice_states(struct call *call)
{
    call->read = read_voice_states_to_restore;
    return OK;
}

/* Does not emit VOICE_STATE_UPDATE, because a resumed session has the same id. */
static enum err restore_voice_state_of_session(struct call *call, const struct state_restore *r,
                                               struct voice_state *s)
{
    enum err e;

    s->node = snowflake_get_node();
    s->session = r->session;
    if (r->resumed) {
        e = voice_state_write_row(call->tx, s);
    } else {
        s->session_id = str_of(r->session_id);
        s->salt = voice_token_salt_new(call->arena);
        e = voice_state_save(call, s, voice_state_get_channel_id(s));
    }
    return e || s->live ? e : emit_voice_server_update(call, s);
}

static enum err restore_voice_states_of_session(struct call *call)
{
    const struct state_restore *r = call_get_stage_data(call, "state_restore");
    struct list states;
    enum err e = find_voice_states_to_restore(call, r, &states);

    for (size_t i = 0; !e && i < states.count; i++)
        e = restore_voice_state_of_session(call, r, (struct voice_state *)states.items + i);
    return e;
}

static void on_voice_states_restored(struct call *call, enum err e, void *arg)
{
    const struct state_restore *r = call_get_stage_data(call, "state_restore");

    (void)arg;
    if (e && e != ERR_UNKNOWN_VOICE_STATE)
        log_warn("voice: cannot restore the voice states of session %s: %s", r->session_id,
                 error_info(e)->message);
    session_opcodes_on_voice_states_restored(r->voice, r->session, !e);
}

static void start_restoring_voice_states(struct voice_service *v, struct api *api,
                                         const struct gateway_hook_session *who, snowflake guild_id,
                                         bool resumed)
{
    struct state_restore r = { .voice = v,
                               .user_id = who->caller->id,
                               .guild_id = guild_id,
                               .session = who->session,
                               .resumed = resumed };

    memcpy(r.session_id, who->session_id, sizeof r.session_id);
    internal_call_start(api, loop_get_current(),
                        &(struct internal_call){ .name = "voice_return",
                                                 .caller = who->caller,
                                                 .store = ROUTE_STORE_WRITE,
                                                 .decode = prepare_restoring_voice_states,
                                                 .run = restore_voice_states_of_session,
                                                 .done = on_voice_states_restored,
                                                 .type = "state_restore",
                                                 .data = &r,
                                                 .size = sizeof r });
}

void restore_voice_states_of_resumed_session(struct voice_service *v, struct api *api,
                                             const struct gateway_hook_session *who)
{
    start_restoring_voice_states(v, api, who, 0, true);
}

void restore_voice_state_of_new_session(struct voice_service *v, struct api *api,
                                        const struct gateway_hook_session *who, snowflake guild_id)
{
    start_restoring_voice_states(v, api, who, guild_id, false);
}
