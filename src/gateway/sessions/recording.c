/* recording.c - records messages of gateway sockets for the traffic viewer. */
#include "gateway/sessions/recording.h"

#include "base/clock.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

static struct traffic *traffic_of(const struct peer *p)
{
    return p->hub->gateway->options.traffic;
}

static void record_message(struct peer *p, struct traffic_record *r,
                           struct str texts[TRAFFIC_TEXTS])
{
    const struct session *s = p->session;

    r->at_us = clock_us();
    r->socket = p->turn;
    if (s) {
        r->session = s->number;
        r->user_id = s->caller.id;
        r->application_id = s->caller.application_id;
        r->caller = (uint8_t)s->caller.kind;
    }
    texts[TRAFFIC_ADDRESS] = websocket_remote(p->ws);
    traffic_add(traffic_of(p), r, texts);
}

static void record_other(struct peer *p, enum traffic_kind kind, int op, struct str d)
{
    struct traffic_record r = { .kind = (uint8_t)kind, .status = op };
    struct str texts[TRAFFIC_TEXTS] = { 0 };

    texts[kind == TRAFFIC_SENT ? TRAFFIC_REPLY : TRAFFIC_REQUEST] = d;
    record_message(p, &r, texts);
}

void record_op(struct peer *p, enum traffic_kind kind, int op, struct str d)
{
    if (traffic_is_on(traffic_of(p)))
        record_other(p, kind, op, d);
}

/* A separate function, so that the record is prepared only while recording is on. */
static void record_news(struct peer *p, uint64_t seq, struct news *n, unsigned form)
{
    struct traffic_record r = { .kind = TRAFFIC_SENT, .seq = seq, .name = event_name(n->event) };
    struct str texts[TRAFFIC_TEXTS] = { 0 };

    /* The payload is recorded as JSON, whatever encoding the socket uses. */
    texts[TRAFFIC_REPLY] = news_bytes(n, form & NEWS_EMPTIED, p->hub->packer, p->hub->arena);
    record_message(p, &r, texts);
}

void record_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form)
{
    if (traffic_is_on(traffic_of(p)))
        record_news(p, seq, n, form);
}

void record_close(struct peer *p, int code, const char *reason)
{
    struct traffic_record r = { .kind = TRAFFIC_CLOSED, .status = code };
    struct str texts[TRAFFIC_TEXTS] = { [TRAFFIC_PROBLEM] = str_of(reason) };

    if (traffic_is_on(traffic_of(p)))
        record_message(p, &r, texts);
}
