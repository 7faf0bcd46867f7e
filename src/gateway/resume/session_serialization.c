/* session_serialization.c - serialises a session for another process that continues it.
 *
 * Dispatches are serialised as they were sent: without message content if the bot lacks the intent
 * MESSAGE_CONTENT. */
#include "gateway/resume/session_serialization.h"

#include <limits.h>

#include "base/mem.h"
#include "base/serial.h"
#include "gateway/member_lists/lists.h"
#include "gateway/resume/session_interest.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/topics.h"

enum { SESSION_VERSION = 4, STATUS_MAX = PRESENCE_INVISIBLE };

static const char SESSION_MAGIC[] = { 'G', 'H', 'S', SESSION_VERSION };

void collect_session_guilds_and_channels(const struct session *s,
                                         struct session_guilds_and_channels *ret)
{
    *ret = (struct session_guilds_and_channels){ .guilds = mem_new((s->subscriptions.count + 1) *
                                                                   sizeof(snowflake)) };
    for (size_t i = s->subscriptions.count; i--;) {
        const struct topic_subscription *seat = s->subscriptions.items[i];

        if (seat->topic->kind != AUDIENCE_GUILD)
            continue;
        ret->guilds[ret->count++] = seat->topic->id;
        if (!s->bot)
            visible_channels_add_all_of_subscription(&ret->visible_channels, seat);
    }
}

void session_guilds_and_channels_clear(struct session_guilds_and_channels *p)
{
    mem_free(p->guilds);
    visible_channels_clear(&p->visible_channels);
    *p = (struct session_guilds_and_channels){ 0 };
}

static void serialize_guilds_and_channels(const struct session_guilds_and_channels *p,
                                          struct buf *out)
{
    serialize_u64(out, p->count);
    for (size_t i = 0; i < p->count; i++)
        serialize_u64(out, p->guilds[i]);
    serialize_u64(out, p->visible_channels.count);
    for (uint32_t i = 0; i < p->visible_channels.count; i++) {
        serialize_u64(out, p->visible_channels.items[i].guild_id);
        serialize_u64(out, p->visible_channels.items[i].id);
        serialize_u64(out, (uint64_t)p->visible_channels.items[i].type);
    }
}

static void deserialize_guilds_and_channels(struct serialized_data_reader *r,
                                            struct session_guilds_and_channels *ret)
{
    size_t count = deserialize_element_count(r, 8);

    ret->guilds = mem_new((count + 1) * sizeof *ret->guilds);
    for (; ret->count < count; ret->count++)
        ret->guilds[ret->count] = deserialize_u64(r);
    count = deserialize_element_count(r, 24);
    ret->visible_channels.items = mem_new((count + 1) * sizeof *ret->visible_channels.items);
    ret->visible_channels.cap = (uint32_t)count + 1;
    for (; ret->visible_channels.count < count; ret->visible_channels.count++) {
        struct visible_channel *c = &ret->visible_channels.items[ret->visible_channels.count];

        c->guild_id = deserialize_u64(r);
        c->id = deserialize_u64(r);
        c->type = (int64_t)deserialize_u64(r);
    }
}

/* Returns how many of the session's newest dispatches are serialised. */
static uint32_t count_dispatches_to_write(const struct session *s,
                                          const struct serialized_dispatch_limits *limits)
{
    uint64_t unsent = s->seq - s->output.sent;
    uint32_t n = 0;
    size_t bytes = 0;

    for (; n < s->replay.count; n++) {
        const struct replay_entry *k = replay_buffer_entry_at(&s->replay, s->replay.count - 1 - n);

        bytes += gateway_event_get_payload(k->event).n;
        if (n >= unsent && (n >= limits->count || bytes > limits->bytes))
            break;
    }
    return n;
}

static void serialize_replay_buffer(struct session *s,
                                    const struct serialized_dispatch_limits *limits,
                                    struct buf *out)
{
    uint32_t count = count_dispatches_to_write(s, limits);

    serialize_u64(out, count);
    for (uint32_t i = s->replay.count - count; i < s->replay.count; i++) {
        const struct replay_entry *k = replay_buffer_entry_at(&s->replay, i);

        serialize_bytes(out, str_of(get_name_of_event_type(k->event->type)));
        serialize_u64(out, k->at_s);
        serialize_bytes(out, gateway_event_get_payload_in_form(
                                 k->event, k->form & PAYLOAD_WITHOUT_CONTENT,
                                 s->gateway_loop->packer, s->gateway_loop->arena));
    }
}

static void deserialize_replay_buffer(struct serialized_data_reader *r, struct session *s)
{
    for (size_t count = deserialize_element_count(r, 24); count && !r->bad; count--) {
        enum event event = find_event_type_by_name(deserialize_bytes(r));
        uint64_t at_s = deserialize_u64(r);
        struct str payload = deserialize_bytes(r);

        r->bad |= event == EVENT_NONE || at_s > UINT32_MAX;
        if (r->bad)
            return;
        struct gateway_event *n = gateway_event_new(event, audience_of_session(s->number), payload);
        replay_buffer_add(&s->replay, n, 0, (int64_t)at_s);
        gateway_event_unref(n);
    }
}

enum { SESSION_NUMBERS = 13 };

static void serialize_session_head(const char *id, const uint64_t numbers[SESSION_NUMBERS],
                                   struct str presence, const char *client, struct buf *out)
{
    buf_add(out, SESSION_MAGIC, sizeof SESSION_MAGIC);
    serialize_bytes(out, str_of(id));
    for (size_t i = 0; i < SESSION_NUMBERS; i++)
        serialize_u64(out, numbers[i]);
    serialize_bytes(out, presence);
    serialize_bytes(out, str_of(client));
}

bool serialize_session(struct session *s, const struct session_guilds_and_channels *positions,
                       const struct serialized_dispatch_limits *limits, struct buf *out)
{
    const uint64_t numbers[SESSION_NUMBERS] = { s->caller.id,
                                                (uint64_t)s->caller.kind,
                                                s->resume.delivered_elsewhere,
                                                s->presences,
                                                s->seq,
                                                s->options.intents,
                                                s->options.shard_id,
                                                s->options.shard_count,
                                                s->presence.status,
                                                s->presence.kind,
                                                s->options.capabilities,
                                                s->large_threshold,
                                                (uint64_t)session_presence_window_ms(s) };
    char id[SESSION_ID + 1];

    if (!session_is_ready(s) || s->revoked || session_count_tasks(s) ||
        s->seq - s->output.sent > s->replay.count)
        return false;
    session_id_format(s, id);
    serialize_session_head(id, numbers, session_get_activities(s), session_get_client_name(s), out);
    serialize_guilds_and_channels(positions, out);
    serialize_member_list_subscriptions(s, out);
    serialize_replay_buffer(s, limits, out);
    return !buf_is_full(out);
}

void serialize_recovered_session(const struct found_journal_session *entry, uint64_t seq,
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
    const struct session_guilds_and_channels positions = { .guilds = guilds->items,
                                                           .count = guilds->count };

    serialize_session_head(slot->id, numbers, str_slice(slot->presence, slot->presence_n),
                           slot->client, out);
    serialize_guilds_and_channels(&positions, out);
    /* Number of member list subscriptions: 0, because sessions with any are not recovered. */
    serialize_u64(out, 0);
    serialize_u64(out, 0); /* no dispatches */
}

bool serialized_session_read_last_sent_event(struct str bytes, uint64_t *ret)
{
    struct serialized_data_reader r = { .rest = bytes };

    deserialize_slice_of_bytes(&r, sizeof SESSION_MAGIC);
    deserialize_bytes(&r); /* skip id, account and kind of caller, which were read before */
    deserialize_u64(&r);
    deserialize_u64(&r);
    *ret = deserialize_u64(&r);
    return !r.bad;
}

void serialized_session_read_interest(struct str bytes, snowflake user_id,
                                      struct session_interest *ret)
{
    struct serialized_data_reader r = { .rest = bytes };

    session_interest_init(ret, user_id);
    deserialize_slice_of_bytes(&r, sizeof SESSION_MAGIC);
    deserialize_bytes(&r);
    for (size_t i = 0; i < SESSION_NUMBERS; i++)
        deserialize_u64(&r);
    deserialize_bytes(&r); /* skip the presence and the name of the client */
    deserialize_bytes(&r);
    for (size_t count = deserialize_element_count(&r, 8); count && !r.bad; count--)
        session_interest_add_guild(ret, deserialize_u64(&r));
}

static void deserialize_session_numbers(struct serialized_data_reader *r, struct session *s)
{
    s->resume.delivered_elsewhere = deserialize_u64(r);
    s->presences = deserialize_u64(r);
    s->seq = deserialize_u64(r);
    s->options.intents = (uint32_t)deserialize_u64(r);
    s->options.shard_id = (uint32_t)deserialize_u64(r);
    s->options.shard_count = (uint32_t)deserialize_u64(r);
    uint64_t status = deserialize_u64(r), kind = deserialize_u64(r);
    s->options.capabilities = (uint32_t)deserialize_u64(r);
    uint64_t threshold = deserialize_u64(r);
    int64_t presence_ms = (int64_t)deserialize_u64(r);
    if (presence_ms)
        session_get_or_create_presence_state(s)->since_ms = presence_ms;
    r->bad |= !s->options.shard_count || status > STATUS_MAX || kind >= CLIENT_KINDS ||
              threshold > UCHAR_MAX;
    s->large_threshold = (unsigned char)threshold;
    s->presence.status = (unsigned char)status;
    s->presence.kind = (unsigned char)kind;
}

static void deserialize_activities_and_client(struct serialized_data_reader *r, struct session *s)
{
    struct str presence = deserialize_bytes(r), client = deserialize_bytes(r);
    char name[CLIENT_NAME_BYTES] = { 0 };

    if (presence.n) {
        char *copy = mem_resize(NULL, presence.n);

        memcpy(copy, presence.p, presence.n);
        session_get_or_create_presence_state(s)->activities = str_slice(copy, presence.n);
    }
    r->bad |= client.n >= sizeof name;
    if (client.n && !r->bad) {
        memcpy(name, client.p, client.n);
        session_set_client_name(s, name);
    }
}

struct session *deserialize_session(struct gateway_loop *h, const struct caller *caller,
                                    const char *id, struct str bytes,
                                    struct session_guilds_and_channels *ret)
{
    struct serialized_data_reader r = { .rest = bytes };
    struct str magic = deserialize_slice_of_bytes(&r, sizeof SESSION_MAGIC);

    *ret = (struct session_guilds_and_channels){ 0 };
    if (r.bad || memcmp(magic.p, SESSION_MAGIC, sizeof SESSION_MAGIC) != 0 ||
        !str_is(deserialize_bytes(&r), id) || deserialize_u64(&r) != caller->id ||
        deserialize_u64(&r) != (uint64_t)caller->kind)
        return NULL;
    struct session *s = session_new_with_id(h, caller, id);
    deserialize_session_numbers(&r, s);
    deserialize_activities_and_client(&r, s);
    deserialize_guilds_and_channels(&r, ret);
    deserialize_member_list_subscriptions(&r, s);
    deserialize_replay_buffer(&r, s);
    session_detach_from_loop(s);
    s->output.sent = s->seq;
    /* the session is shown as offline until its client is connected */
    s->presence.shown_offline = true;
    if (!r.bad && !r.rest.n)
        return s;
    session_attach_to_loop(s, h);
    session_end(s);
    session_guilds_and_channels_clear(ret);
    return NULL;
}
