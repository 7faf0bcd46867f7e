/* peers.c - WebSockets of the voice gateway: open, close, timeouts, messages to clients. */
#include "relay/peers.h"

#include "base/mem.h"

void voice_peer_write(struct voice_peer *p, enum voice_op op, struct str d)
{
    struct buf *out = &p->hub->out;

    buf_reset(out);
    buf_printf(out, "{\"op\":%d,\"d\":%.*s}", op, STR_FMT(d));
    websocket_send(p->ws, WS_TEXT, buf_str(out));
}

/* Marks the stored voice state as disconnected, before the client can identify again. */
static void peer_unplace(struct voice_peer *p)
{
    const struct relay_source *source = &p->hub->relay->options.source;

    if (p->placed)
        source->live(source->arg, &p->place, false);
    p->placed = false;
}

void voice_peer_close(struct voice_peer *p, enum relay_close code, const char *reason)
{
    if (p->closing)
        return;
    p->closing = true;
    peer_unplace(p);
    deadline_drop(&p->deadline);
    websocket_close(p->ws, code, str_of(reason));
}

struct relay_note *voice_peer_note(const struct voice_peer *p, enum note_kind kind, size_t text)
{
    struct relay_note *n = note_new(p->hub->relay, kind, text);

    n->loop = p->hub->loop;
    n->peer = p->number;
    n->version = p->version;
    return n;
}

void voice_peer_open(struct websocket *ws, void *arg)
{
    const struct voice_door *door = arg;
    struct relay *r = door->relay;
    struct voice_peer *p = mem_new(sizeof *p);
    char hello[64];

    p->hub = r->hubs[loop_index(websocket_loop(ws))];
    p->ws = ws;
    p->number = atomic_fetch_add(&r->peers, 1) + 1;
    p->version = door->version;
    p->seq_ack = -1;
    websocket_set_data(ws, p);
    map_put(&p->hub->peers, p->number, p);
    atomic_fetch_add(&r->count.sockets, 1);
    if (!door->version) {
        voice_peer_close(p, RELAY_BAD_REQUEST, "unsupported gateway version");
        return;
    }
    p->counted = relay_count_stranger(r, websocket_address(ws));
    if (!p->counted) {
        voice_peer_close(p, RELAY_TOO_MANY, "too many unauthenticated connections");
        return;
    }
    deadline_touch(p->hub->strangers, &p->deadline);
    int n = snprintf(hello, sizeof hello, "{\"v\":%d,\"heartbeat_interval\":%d}", p->version,
                     VOICE_HEARTBEAT_MS);
    voice_peer_write(p, VOICE_HELLO, str_slice(hello, (size_t)n));
}

static void voice_peer_uncount(struct voice_peer *p)
{
    if (p->counted)
        relay_uncount_stranger(p->hub->relay, websocket_address(p->ws));
    p->counted = false;
}

void voice_peer_closed(struct websocket *ws, int code)
{
    struct voice_peer *p = websocket_data(ws);

    (void)code;
    if (!p)
        return;
    voice_peer_uncount(p);
    peer_unplace(p);
    deadline_drop(&p->deadline);
    note_send(voice_peer_note(p, NOTE_GONE, 0));
    map_remove(&p->hub->peers, p->number);
    atomic_fetch_sub(&p->hub->relay->count.sockets, 1);
    mem_free(p);
}

/* Closes with 4014, after which clients wait for the VOICE_SERVER_UPDATE that they get when their
 * gateway session resumes. With any other code they reconnect at once, and discord.py and
 * @discordjs/voice then stop trying. */
void voice_peer_shutdown(struct websocket *ws)
{
    struct voice_peer *p = websocket_data(ws);

    if (p)
        voice_peer_close(p, RELAY_DISCONNECTED, "");
}

static void voice_stranger_expired(struct deadline *d)
{
    voice_peer_close(container_of(d, struct voice_peer, deadline), RELAY_NOT_IDENTIFIED,
                     "not identified");
}

static void voice_overdue_expired(struct deadline *d)
{
    voice_peer_close(container_of(d, struct voice_peer, deadline), RELAY_TIMED_OUT, "no heartbeat");
}

/* --- messages from the relay's thread ----------------------------------------------------- */

static void voice_peer_welcome(struct voice_peer *p, const struct relay_letter *l)
{
    const struct relay_source *source = &p->hub->relay->options.source;

    voice_peer_uncount(p);
    p->state = VOICE_KNOWN;
    p->place = l->place;
    p->placed = true;
    websocket_set_max_waiting(p->ws, VOICE_MAX_KNOWN);
    deadline_touch(p->hub->overdue, &p->deadline);
    if (l->kind == LETTER_WELCOME_BACK)
        source->live(source->arg, &p->place, true);
}

static void peer_receive(struct voice_peer *p, const struct relay_letter *l)
{
    const struct relay_source *source = &p->hub->relay->options.source;

    switch (l->kind) {
    case LETTER_WELCOME:
    case LETTER_WELCOME_BACK:
        voice_peer_welcome(p, l);
        break;
    case LETTER_REPLACED:
        p->placed = false;
        voice_peer_close(p, l->code, "");
        return;
    case LETTER_CLOSE:
        voice_peer_close(p, l->code, "");
        return;
    case LETTER_ACTIVE:
        source->active(source->arg, &p->place);
        return;
    case LETTER_TEXT:
        break;
    }
    if (!l->text)
        return;
    struct buf *out = &p->hub->out;
    buf_reset(out);
    relay_text_write(l->text, l->seq, out);
    websocket_send(p->ws, WS_TEXT, buf_str(out));
}

/* The socket was closed while its IDENTIFY was checked: marks the stored voice state as
 * disconnected and informs the relay's thread. */
static void hub_return(struct relay_hub *h, const struct relay_letter *l)
{
    const struct relay_source *source = &h->relay->options.source;
    struct relay_note *n = note_new(h->relay, NOTE_GONE, 0);

    source->live(source->arg, &l->place, false);
    n->loop = h->loop;
    n->peer = l->peer;
    note_send(n);
}

void relay_hub_deliver(struct relay_hub *h, const struct relay_letter *l)
{
    struct voice_peer *p = map_get(&h->peers, l->peer);

    if (p && !p->closing)
        peer_receive(p, l);
    else if (l->kind == LETTER_WELCOME || l->kind == LETTER_WELCOME_BACK)
        hub_return(h, l);
}

struct relay_hub *relay_hub_new(struct relay *r, struct loop *loop)
{
    struct relay_hub *h = mem_new(sizeof *h);

    h->relay = r;
    h->loop = loop;
    map_init(&h->peers);
    buf_init(&h->out, SIZE_MAX); /* the functions that create messages limit their size */
    h->arena = arena_new();
    h->strangers = deadlines_new(loop, VOICE_STRANGER_MS, true, voice_stranger_expired);
    h->overdue = deadlines_new(loop, VOICE_OVERDUE_MS, true, voice_overdue_expired);
    return h;
}

void relay_hub_free(struct relay_hub *h)
{
    if (!h)
        return;
    deadlines_free(h->strangers);
    deadlines_free(h->overdue);
    map_clear(&h->peers);
    buf_clear(&h->out);
    arena_free(h->arena);
    mem_free(h);
}
