/* activities.c - checks and stores the activities of op 2 and op 3, limits presence changes.
 *
 * Invalid activities are dropped, because clients of other users would fail on them. */
#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"
#include "json/read.h"

enum {
    PRESENCES_PER_WINDOW = 5,
    ACTIVITIES_MAX_BYTES = 2048,
    ACTIVITY_TYPE_MAX = 5,
    ACTIVITY_MAX_DEPTH = 8
};

struct activity {
    struct str name; /* JSON value of the activity's name; p is NULL if the field is absent */
    int64_t type;
    struct str state, url;
};

static bool is_json_string(struct str raw)
{
    return raw.n >= 2 && raw.p[0] == '"';
}

/* Returns whether the JSON value has finite numbers only and is nested no deeper than `levels`,
 * because every recipient must be able to parse the activities. */
static bool activity_value_is_acceptable(struct json_reader *r, int levels)
{
    enum json_value_kind kind = json_peek_kind(r);
    struct json_number n;
    struct str key;

    if (kind == JSON_NUMBER)
        return json_read_number(r, &n) && isfinite(n.d);
    if (kind != JSON_OBJECT && kind != JSON_ARRAY)
        return json_skip_value(r, &key);
    if (!levels)
        return false;
    json_enter_container(r);
    while (kind == JSON_OBJECT ? json_next_member(r, &key) : json_next_item(r))
        if (!activity_value_is_acceptable(r, levels - 1))
            return false;
    return json_reader_has_no_error(r);
}

static bool activity_json_is_acceptable(struct str raw, struct arena *arena)
{
    struct json_reader r;

    json_reader_init(&r, raw, arena);
    return activity_value_is_acceptable(&r, ACTIVITY_MAX_DEPTH);
}

/* Returns whether the field has the right JSON type. Checks only fields that client libraries use
 * without a check of their own. */
static bool activity_field_type_is_valid(struct str key, struct str value)
{
    static const struct {
        const char *key;
        char first;
    } kinds[] = {
        { "timestamps", '{' }, { "emoji", '{' },   { "party", '{' },
        { "assets", '{' },     { "secrets", '{' }, { "buttons", '[' },
        { "details", '"' },    { "state", '"' },   { "url", '"' },
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (str_is(key, kinds[i].key))
            return value.p[0] == kinds[i].first || str_is(value, "null");
    return true;
}

/* Parses an activity. The type of a bot's activity may be a string of digits, because the server
 * encodes a bot's activity again. The type of a user's activity must be a number, because the
 * server sends a user's activity unchanged. */
static bool parse_activity(struct str raw, bool bot, struct arena *arena, struct activity *ret)
{
    struct json_reader r;
    struct str key, value;

    *ret = (struct activity){ 0 };
    json_reader_init(&r, raw, arena);
    if (json_peek_kind(&r) != JSON_OBJECT)
        return false;
    json_enter_container(&r);
    while (json_next_member(&r, &key) && json_skip_value(&r, &value)) {
        if (!activity_field_type_is_valid(key, value))
            return false;
        if (str_is(key, "name"))
            ret->name = value;
        else if (str_is(key, "type") &&
                 !(bot ? json_parse_int_text(value, &ret->type) : str_to_i64(value, &ret->type)))
            return false;
        else if (str_is(key, "state") && is_json_string(value))
            ret->state = value;
        else if (str_is(key, "url") && is_json_string(value))
            ret->url = value;
    }
    return json_reader_has_no_error(&r) && is_json_string(ret->name) && ret->name.n > 2 &&
           ret->type >= 0 && ret->type <= ACTIVITY_TYPE_MAX;
}

static void write_activity_field(struct json_writer *j, const char *name, struct str raw)
{
    if (!raw.p)
        return;
    json_write_key(j, str_of(name));
    json_write_raw(j, raw);
}

/* Writes a bot's activity, which has only these fields. A user's activity is sent unchanged. */
static void write_bot_activity_json(const struct activity *a, struct json_writer *j)
{
    json_begin_object(j);
    write_activity_field(j, "name", a->name);
    json_write_name(j, "type");
    json_write_int(j, a->type);
    write_activity_field(j, "state", a->state);
    write_activity_field(j, "url", a->url);
    json_end_object(j);
}

static void append_valid_activity(struct str raw, bool bot, struct arena *arena,
                                  struct json_writer *j)
{
    struct activity a;

    if (!parse_activity(raw, bot, arena, &a) || !activity_json_is_acceptable(raw, arena))
        return;
    if (bot)
        write_bot_activity_json(&a, j);
    else
        json_write_raw(j, raw);
}

/* Writes the valid activities of a list, or of a single activity, which older libraries send. */
static void write_activities_json(struct str raw, bool bot, struct arena *arena,
                                  struct json_writer *j)
{
    struct json_reader r;
    struct str item;

    json_reader_init(&r, raw, arena);
    json_begin_array(j);
    if (json_peek_kind(&r) == JSON_OBJECT) {
        append_valid_activity(raw, bot, arena, j);
    } else if (json_peek_kind(&r) == JSON_ARRAY) {
        json_enter_container(&r);
        while (json_next_item(&r) && json_skip_value(&r, &item))
            append_valid_activity(item, bot, arena, j);
    }
    json_end_array(j);
}

struct str presence_encode_activities_json(const struct presence_update *in)
{
    bool list = in->activities.p && !str_is(in->activities, "null");

    return list ? in->activities : in->game;
}

void session_set_activities(struct session *s, struct str raw, struct arena *arena)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    char *copy = NULL;

    if (s->client_presence) {
        mem_free((void *)(uintptr_t)s->client_presence->activities.p);
        s->client_presence->activities = (struct str){ 0 };
    }
    if (raw.n < 3 || raw.n > ACTIVITIES_MAX_BYTES)
        return;
    buf_init(&out, ACTIVITIES_MAX_BYTES * 2);
    write_activities_json(raw, s->bot, arena, &j);
    if (out.n > 2 && !buf_is_full(&out)) {
        copy = mem_resize(NULL, out.n);
        memcpy(copy, out.p, out.n);
        session_get_or_create_presence_state(s)->activities = str_slice(copy, out.n);
    }
    buf_clear(&out);
}

/* Returns whether the session may announce a presence change now: five times in 20 s. Further
 * changes are announced when the rate limit window ends. */
static bool presence_rate_limit_allows(struct session *s)
{
    int64_t now = clock_ms();
    struct client_presence *own = s->client_presence;

    /* since_ms is wall-clock time, because the session takes it to other nodes. If the clock was
     * set back, since_ms is in the future. */
    if (now < own->since_ms || now - own->since_ms >= PRESENCE_MS) {
        own->since_ms = now;
        own->count = 0;
        deadline_restart(s->gateway_loop->timers.windows, &own->window);
    }
    return own->count < PRESENCES_PER_WINDOW || s->gateway_loop->gateway->options.no_limits;
}

static void announce_pending_presence(struct session *s)
{
    if (!s->presence.due || !presence_rate_limit_allows(s))
        return;
    s->presence.due = false;
    s->client_presence->count++;
    presence_on_session_change(s, false);
    if (!s->bot)
        send_session_list_after_local_change(s);
}

void on_presence_rate_limit_window_end(struct deadline *d)
{
    announce_pending_presence(container_of(d, struct client_presence, window)->session);
}

void handle_presence_update_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    const struct presence_update *in = d;
    struct session *s = p->session;
    struct gateway *g = p->gateway_loop->gateway;

    (void)op, (void)raw;
    pthread_mutex_lock(&g->lock);
    session_get_or_create_presence_state(s);
    s->presence.status = (unsigned char)parse_presence_status(in->status, s->presence.status);
    session_set_activities(s, presence_encode_activities_json(in), p->gateway_loop->arena);
    pthread_mutex_unlock(&g->lock);
    journal_record_presence(s);
    s->presence.due = true;
    announce_pending_presence(s);
}
