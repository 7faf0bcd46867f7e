/* activities.c - checks and stores the activities of op 2 and op 3, limits presence changes.
 *
 * Only valid activities are accepted, because other users' clients fail on anything else. */
#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"
#include "json/read.h"

enum { WINDOW_UPDATES = 5, ACTIVITIES_MAX = 2048, TYPE_MAX = 5, MOST_LEVELS = 8 };

struct activity {
    struct str name; /* name, state and url are JSON; p == NULL: absent */
    int64_t type;
    struct str state, url;
};

static bool is_text(struct str raw)
{
    return raw.n >= 2 && raw.p[0] == '"';
}

/* Limits nesting to MOST_LEVELS and refuses infinite numbers, because every recipient has to
 * parse the activities. */
static bool is_readable(struct json_reader *r, int levels)
{
    enum json_kind kind = json_peek(r);
    struct json_number n;
    struct str key;

    if (kind == JSON_NUMBER)
        return json_take_number(r, &n) && isfinite(n.d);
    if (kind != JSON_OBJECT && kind != JSON_ARRAY)
        return json_skip(r, &key);
    if (!levels)
        return false;
    json_enter(r);
    while (kind == JSON_OBJECT ? json_next_member(r, &key) : json_next_item(r))
        if (!is_readable(r, levels - 1))
            return false;
    return json_ok(r);
}

static bool activity_is_readable(struct str raw, struct arena *arena)
{
    struct json_reader r;

    json_reader_init(&r, raw, arena);
    return is_readable(&r, MOST_LEVELS);
}

/* Checks the JSON type of fields that client libraries use without a check of their own. */
static bool has_its_kind(struct str key, struct str value)
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

/* The type of a bot's activity may be a string of digits, because it is encoded again; the type
 * of a user's activity must be a number. */
static bool activity_read(struct str raw, bool bot, struct arena *arena, struct activity *ret)
{
    struct json_reader r;
    struct str key, value;

    *ret = (struct activity){ 0 };
    json_reader_init(&r, raw, arena);
    if (json_peek(&r) != JSON_OBJECT)
        return false;
    json_enter(&r);
    while (json_next_member(&r, &key) && json_skip(&r, &value)) {
        if (!has_its_kind(key, value))
            return false;
        if (str_is(key, "name"))
            ret->name = value;
        else if (str_is(key, "type") &&
                 !(bot ? json_raw_int(value, &ret->type) : str_to_i64(value, &ret->type)))
            return false;
        else if (str_is(key, "state") && is_text(value))
            ret->state = value;
        else if (str_is(key, "url") && is_text(value))
            ret->url = value;
    }
    return json_ok(&r) && is_text(ret->name) && ret->name.n > 2 && ret->type >= 0 &&
           ret->type <= TYPE_MAX;
}

static void activity_member(struct json *j, const char *name, struct str raw)
{
    if (!raw.p)
        return;
    json_key(j, str_of(name));
    json_raw(j, raw);
}

/* Writes a bot's activity, which has only these fields. The activity of a user is passed on
 * unchanged. */
static void activity_write(const struct activity *a, struct json *j)
{
    json_object(j);
    activity_member(j, "name", a->name);
    json_name(j, "type");
    json_int(j, a->type);
    activity_member(j, "state", a->state);
    activity_member(j, "url", a->url);
    json_object_end(j);
}

static void add_activity(struct str raw, bool bot, struct arena *arena, struct json *j)
{
    struct activity a;

    if (!activity_read(raw, bot, arena, &a) || !activity_is_readable(raw, arena))
        return;
    if (bot)
        activity_write(&a, j);
    else
        json_raw(j, raw);
}

/* Accepts a list, or a single activity as older libraries send it. */
static void write_activities(struct str raw, bool bot, struct arena *arena, struct json *j)
{
    struct json_reader r;
    struct str item;

    json_reader_init(&r, raw, arena);
    json_array(j);
    if (json_peek(&r) == JSON_OBJECT) {
        add_activity(raw, bot, arena, j);
    } else if (json_peek(&r) == JSON_ARRAY) {
        json_enter(&r);
        while (json_next_item(&r) && json_skip(&r, &item))
            add_activity(item, bot, arena, j);
    }
    json_array_end(j);
}

struct str presence_activities(const struct presence_update *in)
{
    bool list = in->activities.p && !str_is(in->activities, "null");

    return list ? in->activities : in->game;
}

void session_set_activities(struct session *s, struct str raw, struct arena *arena)
{
    struct buf out;
    struct json j = json_to(&out);
    char *copy = NULL;

    if (s->own) {
        mem_free((void *)(uintptr_t)s->own->activities.p);
        s->own->activities = (struct str){ 0 };
    }
    if (raw.n < 3 || raw.n > ACTIVITIES_MAX)
        return;
    buf_init(&out, ACTIVITIES_MAX * 2);
    write_activities(raw, s->bot, arena, &j);
    if (out.n > 2 && !buf_full(&out)) {
        copy = mem_resize(NULL, out.n);
        memcpy(copy, out.p, out.n);
        session_own_presence(s)->activities = str_slice(copy, out.n);
    }
    buf_clear(&out);
}

/* Allows five announcements in 20 s; further changes wait for the next window. */
static bool may_tell(struct session *s)
{
    int64_t now = clock_ms();
    struct own_presence *own = s->own;

    /* since_ms moves with a session to other nodes, so it is wall-clock time. If the clock was
     * set back, since_ms is in the future. */
    if (now < own->since_ms || now - own->since_ms >= PRESENCE_MS) {
        own->since_ms = now;
        own->count = 0;
        deadline_touch(s->hub->timers.windows, &own->window);
    }
    return own->count < WINDOW_UPDATES || s->hub->gateway->options.no_limits;
}

void presence_tell(struct session *s)
{
    if (!s->presence.due || !may_tell(s))
        return;
    s->presence.due = false;
    s->own->count++;
    presence_change(s, false);
    if (!s->bot)
        sessions_changed(s);
}

void presence_window_ended(struct deadline *d)
{
    presence_tell(container_of(d, struct own_presence, window)->session);
}

void handle_presence(struct peer *p, int op, struct str raw, const void *d)
{
    const struct presence_update *in = d;
    struct session *s = p->session;
    struct gateway *g = p->hub->gateway;

    (void)op, (void)raw;
    pthread_mutex_lock(&g->lock);
    session_own_presence(s);
    s->presence.status = (unsigned char)presence_status(in->status, s->presence.status);
    session_set_activities(s, presence_activities(in), p->hub->arena);
    pthread_mutex_unlock(&g->lock);
    journal_note_presence(s);
    s->presence.due = true;
    presence_tell(s);
}
