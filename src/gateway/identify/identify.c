/* identify.c - handles IDENTIFY: checks in a fixed order, creates the session, then sends READY. */
#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway/identify/identification.h"
#include "gateway/presence/directory.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"

enum { LARGE_THRESHOLD_MIN = 25, LARGE_THRESHOLD_MAX = 250, LARGE_THRESHOLD_BOT = 50 };

static unsigned char clamp_large_threshold(int64_t asked, bool bot)
{
    int64_t n = asked ? asked : bot ? LARGE_THRESHOLD_BOT : LARGE_THRESHOLD_MAX;

    return (unsigned char)(n < LARGE_THRESHOLD_MIN   ? LARGE_THRESHOLD_MIN
                           : n > LARGE_THRESHOLD_MAX ? LARGE_THRESHOLD_MAX
                                                     : n);
}

static uint32_t session_capabilities(const struct parsed_identify_fields *i)
{
    uint32_t capabilities = (uint32_t)i->capabilities & ~(uint32_t)CAPABILITY_SPACEBAR;

    return i->authentication.socket->dialect->spacebar
               ? (capabilities & ~(uint32_t)CAPABILITY_NO_SETTINGS) | CAPABILITY_SPACEBAR
               : capabilities;
}

static struct session *create_identified_session(struct parsed_identify_fields *i,
                                                 struct gateway_loop *h)
{
    struct session *s = session_new(h, &i->authentication.caller);

    session_set_credential(s, &i->authentication);
    s->options.intents = identify_fields_get_intents(i);
    s->options.shard_id = (uint32_t)i->shard[0];
    s->options.shard_count = (uint32_t)i->shard[1];
    s->options.capabilities = session_capabilities(i);
    s->large_threshold = clamp_large_threshold(i->large_threshold, s->bot);
    s->presence.status = i->status;
    session_set_activities(s, buf_as_str(&i->activities), h->arena);
    session_set_client_name(s, i->client);
    s->presence.kind = (unsigned char)client_kind_from_client_name(session_get_client_name(s));
    return s;
}

static void refuse_identify(struct parsed_identify_fields *i, enum gateway_close_code code)
{
    struct gateway_socket *p = gateway_authentication_end(&i->authentication);

    if (code)
        gateway_socket_refuse(p, code, get_reason_of_identify_close_code(code),
                              &i->authentication.caller,
                              identify_fields_explain_close_code(i, code, p->gateway_loop->arena));
    else
        session_invalidate_and_end(p);
    identify_fields_free(i);
}

/* --- session starts of a bot today: stored, because they also count after a restart ----- */

struct session_start_write {
    struct session_store_read store_write;
    snowflake bot_id;
    int64_t day;
};

static enum err insert_session_start(struct session_store_read *l, struct tx *tx)
{
    struct session_start_write *n = container_of(l, struct session_start_write, store_write);

    return l->gateway_loop->gateway->options.source->add_start(tx, n->bot_id, n->day);
}

static void on_session_start_written(struct session_store_read *l, enum err e)
{
    (void)e; /* if the write failed, the session start is counted only in memory */
    mem_free(container_of(l, struct session_start_write, store_write));
}

/* Stores the session start in the background; the session does not wait for it. */
static void begin_session_start_write(struct gateway_loop *h, snowflake bot_id)
{
    struct session_start_write *n = mem_new(sizeof *n);

    n->store_write = (struct session_store_read){ .writes = true,
                                                  .run = insert_session_start,
                                                  .done = on_session_start_written };
    n->bot_id = bot_id;
    n->day = current_day_number();
    begin_unordered_session_store_read(h, &n->store_write);
}

static void copy_client_address(const struct gateway_socket *p, struct payload_recipient *v)
{
    struct str from = websocket_get_client_address(p->ws);
    size_t n = from.n < sizeof v->address ? from.n : sizeof v->address - 1;

    memcpy(v->address, from.p, n);
    v->address[n] = '\0';
}

static void on_identify_authenticated(struct gateway_authentication *g)
{
    struct parsed_identify_fields *i =
        container_of(g, struct parsed_identify_fields, authentication);
    struct gateway_loop *h = g->socket->gateway_loop;
    enum gateway_close_code code = identify_fields_get_close_code(i);

    if (code) {
        refuse_identify(i, code);
        return;
    }
    i->session = create_identified_session(i, h);
    if (!registry_add_session(h->gateway, i->session)) {
        session_end(i->session);
        refuse_identify(i, CLOSE_TOO_MANY_SESSIONS);
        return;
    }
    int64_t starts;
    if (!registry_count_session_start(h->gateway, g->caller.id, i->session->options.shard_id,
                                      g->starts, &starts)) {
        session_end(i->session);
        refuse_identify(i, 0);
        return;
    }
    if (starts && i->session->bot) {
        begin_session_start_write(h, g->caller.id);
        session_directory_publish_session_start(h->gateway, g->caller.id,
                                                i->session->options.shard_id);
    }
    i->viewer = payload_recipient_of_session(i->session);
    copy_client_address(g->socket, &i->viewer);
    begin_sending_ready(i, h);
}

static void on_identify_failed(struct gateway_authentication *g)
{
    identify_fields_free(container_of(g, struct parsed_identify_fields, authentication));
}

void handle_identify_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    const struct identify_message *in = d;
    struct parsed_identify_fields *i = mem_new(sizeof *i);

    (void)op, (void)raw;
    identify_fields_parse(i, p->gateway_loop->arena, in);
    if (!gateway_authentication_init(&i->authentication, p, in->token)) {
        gateway_socket_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        identify_fields_free(i);
        return;
    }
    i->authentication.on_authenticated = on_identify_authenticated;
    i->authentication.on_failed = on_identify_failed;
    i->authentication.wants_guilds = true;
    gateway_authentication_begin(&i->authentication);
}
