/* session_bytes.c - serialises a session for another process that continues it.
 *
 * Dispatches are written in the form in which they were sent: a bot without the intent
 * MESSAGE_CONTENT gets them without content again. */
#include "gateway/resume/session_bytes.h"

#include <limits.h>

#include "base/mem.h"
#include "base/serial.h"
#include "gateway/member_lists/lists.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"

enum { SESSION_VERSION = 3, STATUS_MAX = PRESENCE_INVISIBLE };

static const char SESSION_MAGIC[] = { 'G', 'H', 'S', SESSION_VERSION };

void session_places_read(const struct session *s, struct session_places *ret)
{
    *ret = (struct session_places){ .guilds = mem_new((s->seats.count + 1) * sizeof(snowflake)) };
    for (size_t i = s->seats.count; i--;) {
        const struct seat *seat = s->seats.items[i];

        if (seat->topic->kind != SUBJECT_GUILD)
            continue;
        ret->guilds[ret->count++] = seat->topic->id;
        if (!s->bot)
            seen_channels_add(&ret->seen, seat);
    }
}

void session_places_clear(struct session_places *p)
{
    mem_free(p->guilds);
    seen_channels_clear(&p->seen);
    *p = (struct session_places){ 0 };
}

static void places_write(const struct session_places *p, struct buf *out)
{
    serial_put(out, p->count);
    for (size_t i = 0; i < p->count; i++)
        serial_put(out, p->guilds[i]);
    serial_put(out, p->seen.count);
    for (uint32_t i = 0; i < p->seen.count; i++) {
        serial_put(out, p->seen.items[i].guild_id);
        serial_put(out, p->seen.items[i].id);
        serial_put(out, (uint64_t)p->seen.items[i].type);
    }
}

static void places_get(struct serial_reader *r, struct session_places *ret)
{
    size_t count = serial_get_count(r, 8);

    ret->guilds = mem_new((count + 1) * sizeof *ret->guilds);
    for (; ret->count < count; ret->count++)
        ret->guilds[ret->count] = serial_get(r);
    count = serial_get_count(r, 24);
    ret->seen.items = mem_new((count + 1) * sizeof *ret->seen.items);
    ret->seen.cap = (uint32_t)count + 1;
    for (; ret->seen.count < count; ret->seen.count++) {
        struct seen_channel *c = &ret->seen.items[ret->seen.count];

        c->guild_id = serial_get(r);
        c->id = serial_get(r);
        c->type = (int64_t)serial_get(r);
    }
}

/* Returns the number of newest dispatches to write. */
static uint32_t count_kept(const struct session *s, const struct session_limits *limits)
{
    uint64_t unsent = s->seq - s->output.sent;
    uint32_t n = 0;
    size_t bytes = 0;

    for (; n < s->replay.count; n++) {
        const struct kept *k = replay_at(&s->replay, s->replay.count - 1 - n);

        bytes += news_payload(k->news).n;
        if (n >= unsent && (n >= limits->count || bytes > limits->bytes))
            break;
    }
    return n;
}

static void replay_write(struct session *s, const struct session_limits *limits, struct buf *out)
{
    uint32_t count = count_kept(s, limits);

    serial_put(out, count);
    for (uint32_t i = s->replay.count - count; i < s->replay.count; i++) {
        const struct kept *k = replay_at(&s->replay, i);

        serial_put_bytes(out, str_of(event_name(k->news->event)));
        serial_put(out, k->at_s);
        serial_put_bytes(
            out, news_bytes(k->news, k->form & NEWS_EMPTIED, s->hub->packer, s->hub->arena));
    }
}

static void replay_get(struct serial_reader *r, struct session *s)
{
    for (size_t count = serial_get_count(r, 24); count && !r->bad; count--) {
        enum event event = event_named(serial_get_bytes(r));
        uint64_t at_s = serial_get(r);
        struct str payload = serial_get_bytes(r);

        r->bad |= event == EVENT_NONE || at_s > UINT32_MAX;
        if (r->bad)
            return;
        struct news *n = news_new(event, to_session(s->number), payload);
        replay_add(&s->replay, n, 0, (int64_t)at_s);
        news_unref(n);
    }
}

enum { SESSION_NUMBERS = 13 };

static void head_write(const char *id, const uint64_t numbers[SESSION_NUMBERS], struct str presence,
                       const char *client, struct buf *out)
{
    buf_add(out, SESSION_MAGIC, sizeof SESSION_MAGIC);
    serial_put_bytes(out, str_of(id));
    for (size_t i = 0; i < SESSION_NUMBERS; i++)
        serial_put(out, numbers[i]);
    serial_put_bytes(out, presence);
    serial_put_bytes(out, str_of(client));
}

bool session_write(struct session *s, const struct session_places *places,
                   const struct session_limits *limits, struct buf *out)
{
    const uint64_t numbers[SESSION_NUMBERS] = { s->caller.id,
                                                (uint64_t)s->caller.kind,
                                                s->resume.seen,
                                                s->presences,
                                                s->seq,
                                                s->options.intents,
                                                s->options.shard_id,
                                                s->options.shard_count,
                                                s->presence.status,
                                                s->presence.kind,
                                                s->options.capabilities,
                                                s->large_threshold,
                                                (uint64_t)session_presence_ms(s) };
    char id[SESSION_ID + 1];

    if (!session_is_ready(s) || s->revoked || session_errand_count(s) ||
        s->seq - s->output.sent > s->replay.count)
        return false;
    session_id_write(s, id);
    head_write(id, numbers, session_activities(s), session_client(s), out);
    places_write(places, out);
    lists_write(s, out);
    replay_write(s, limits, out);
    return !buf_full(out);
}

void session_write_recovered(const struct journal_entry *entry, uint64_t seq,
                             const struct list *guilds, struct buf *out)
{
    const struct journal_slot *slot = entry->slot;
    const uint64_t numbers[SESSION_NUMBERS] = { slot->user_id,
                                                slot->caller_kind,
                                                entry->seen,
                                                slot->presences,
                                                seq,
                                                slot->intents,
                                                slot->shard_id,
                                                slot->shard_count,
                                                slot->status,
                                                slot->client_kind,
                                                (uint64_t)slot->capabilities,
                                                (uint64_t)slot->large_threshold,
                                                (uint64_t)slot->presence_ms };
    const struct session_places places = { .guilds = guilds->items, .count = guilds->count };

    head_write(slot->id, numbers, str_slice(slot->presence, slot->presence_n), slot->client, out);
    places_write(&places, out);
    serial_put(out, 0); /* no member list subscriptions: such a session is not recovered */
    serial_put(out, 0); /* no dispatches */
}

bool session_bytes_seen(struct str bytes, uint64_t *ret)
{
    struct serial_reader r = { .rest = bytes };

    serial_get_raw(&r, sizeof SESSION_MAGIC);
    serial_get_bytes(&r); /* skips id, account and kind */
    serial_get(&r);
    serial_get(&r);
    *ret = serial_get(&r);
    return !r.bad;
}

static void numbers_get(struct serial_reader *r, struct session *s)
{
    s->resume.seen = serial_get(r);
    s->presences = serial_get(r);
    s->seq = serial_get(r);
    s->options.intents = (uint32_t)serial_get(r);
    s->options.shard_id = (uint32_t)serial_get(r);
    s->options.shard_count = (uint32_t)serial_get(r);
    uint64_t status = serial_get(r), kind = serial_get(r);
    s->options.capabilities = (uint32_t)serial_get(r);
    uint64_t threshold = serial_get(r);
    int64_t presence_ms = (int64_t)serial_get(r);
    if (presence_ms)
        session_own_presence(s)->since_ms = presence_ms;
    r->bad |= !s->options.shard_count || status > STATUS_MAX || kind >= CLIENT_KINDS ||
              threshold > UCHAR_MAX;
    s->large_threshold = (unsigned char)threshold;
    s->presence.status = (unsigned char)status;
    s->presence.kind = (unsigned char)kind;
}

static void texts_get(struct serial_reader *r, struct session *s)
{
    struct str presence = serial_get_bytes(r), client = serial_get_bytes(r);
    char name[CLIENT_NAME] = { 0 };

    if (presence.n) {
        char *copy = mem_resize(NULL, presence.n);

        memcpy(copy, presence.p, presence.n);
        session_own_presence(s)->activities = str_slice(copy, presence.n);
    }
    r->bad |= client.n >= sizeof name;
    if (client.n && !r->bad) {
        memcpy(name, client.p, client.n);
        session_set_client(s, name);
    }
}

struct session *session_read(struct hub *h, const struct caller *caller, const char *id,
                             struct str bytes, struct session_places *ret)
{
    struct serial_reader r = { .rest = bytes };
    struct str magic = serial_get_raw(&r, sizeof SESSION_MAGIC);

    *ret = (struct session_places){ 0 };
    if (r.bad || memcmp(magic.p, SESSION_MAGIC, sizeof SESSION_MAGIC) != 0 ||
        !str_is(serial_get_bytes(&r), id) || serial_get(&r) != caller->id ||
        serial_get(&r) != (uint64_t)caller->kind)
        return NULL;
    struct session *s = session_new_known(h, caller, id);
    numbers_get(&r, s);
    texts_get(&r, s);
    places_get(&r, ret);
    lists_get(&r, s);
    replay_get(&r, s);
    session_detach(s);
    s->output.sent = s->seq;
    s->presence.faded = true; /* until the client is connected */
    if (!r.bad && !r.rest.n)
        return s;
    session_attach(s, h);
    session_end(s);
    session_places_clear(ret);
    return NULL;
}
