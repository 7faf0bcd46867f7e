/* presence.c - what others see of somebody's sessions. */
#include "gateway/presence.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/opcodes.h"

enum { WINDOW_MS = 20 * 1000, WINDOW_UPDATES = 5, ACTIVITIES_MAX = 2048 };

static const char *const words[] = { "online", "idle", "dnd", "invisible" };

enum presence_status presence_status(struct opt_str word, enum presence_status fallback)
{
    if (word.given != GIVEN)
        return fallback;
    if (str_is(word.value, "offline"))
        return PRESENCE_INVISIBLE;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_is(word.value, words[i]))
            return (enum presence_status)i;
    return fallback;
}

static struct str shown_status(const struct session *s)
{
    return s->status == PRESENCE_INVISIBLE ? STR("offline") : str_of(words[s->status]);
}

/* --- lists of sessions -------------------------------------------------------------------- */

static void write_session(const struct session *s, struct json *j)
{
    struct str rest = str_of(s->client), os = str_cut(&rest, '|'), browser = str_cut(&rest, '|');

    json_object(j);
    json_name(j, "session_id");
    json_text(j, str_of(s->id));
    json_name(j, "status");
    json_text(j, str_of(words[s->status]));
    json_name(j, "activities");
    json_raw(j, STR("[]"));
    json_name(j, "client_info");
    json_object(j);
    json_name(j, "client");
    json_text(j, browser.n ? browser : STR("unknown"));
    json_name(j, "os");
    json_text(j, os.n ? os : STR("unknown"));
    json_name(j, "version");
    json_int(j, 0);
    json_object_end(j);
    json_object_end(j);
}

void sessions_write(struct gateway *g, snowflake user_id, struct json *j)
{
    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, user_id);
    json_array(j);
    if (a)
        for (const struct link *at = a->sessions.next; at != &a->sessions; at = at->next)
            write_session(container_of(at, const struct session, of_user), j);
    json_array_end(j);
    pthread_mutex_unlock(&g->lock);
}

static bool is_only_session(struct gateway *g, snowflake user_id)
{
    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, user_id);
    bool only = !a || a->session_count < 2;
    pthread_mutex_unlock(&g->lock);
    return only;
}

void sessions_changed(struct session *s)
{
    struct gateway *g = s->hub->gateway;
    struct buf out;
    struct json j = json_to(&out);

    if (is_only_session(g, s->caller.id))
        return;
    buf_init(&out, MAX_PAYLOAD);
    sessions_write(g, s->caller.id, &j);
    struct news *n = news_new(EVENT_SESSIONS_REPLACE, to_user(s->caller.id), buf_str(&out));
    n->except = s->number;
    publish(g, n);
    buf_clear(&out);
}

/* --- op 3 ------------------------------------------------------------------------------------ */

static void write_presence(const struct session *s, snowflake guild_id, struct json *j)
{
    struct str status = shown_status(s);

    json_object(j);
    json_name(j, "user");
    json_object(j);
    json_name(j, "id");
    json_id(j, s->caller.id);
    json_object_end(j);
    json_name(j, "guild_id");
    json_id(j, guild_id);
    json_name(j, "status");
    json_text(j, status);
    json_name(j, "activities");
    json_raw(j, s->presence.p && s->status != PRESENCE_INVISIBLE ? s->presence : STR("[]"));
    json_name(j, "client_status");
    json_object(j);
    if (s->status != PRESENCE_INVISIBLE) {
        json_name(j, "web");
        json_text(j, status);
    }
    json_object_end(j);
    json_object_end(j);
}

static void tell_guilds(struct session *s)
{
    struct gateway *g = s->hub->gateway;

    for (uint32_t i = 0; i < s->seat_count; i++) {
        const struct topic *t = s->seats[i]->topic;
        struct buf out;
        struct json j = json_to(&out);

        if (t->kind != SUBJECT_GUILD)
            continue;
        buf_init(&out, MAX_PAYLOAD);
        write_presence(s, t->id, &j);
        publish(g, news_new(EVENT_PRESENCE_UPDATE, to_guild(t->id), buf_str(&out)));
        buf_clear(&out);
    }
}

static void keep_activities(struct session *s, struct str activities)
{
    mem_free((void *)(uintptr_t)s->presence.p);
    s->presence = (struct str){ 0 };
    if (activities.n < 3 || activities.n > ACTIVITIES_MAX || activities.p[0] != '[')
        return;
    char *copy = mem_resize(NULL, activities.n);
    memcpy(copy, activities.p, activities.n);
    s->presence = str_slice(copy, activities.n);
}

/* Five in twenty seconds are told; of more the newest waits for the next window. */
static bool may_tell(struct session *s)
{
    int64_t now = clock_ms();

    if (now - s->presence_ms >= WINDOW_MS) {
        s->presence_ms = now;
        s->presence_count = 0;
    }
    return s->presence_count < WINDOW_UPDATES;
}

void presence_tell(struct session *s)
{
    if (!s->presence_due || !may_tell(s))
        return;
    s->presence_due = false;
    s->presence_count++;
    tell_guilds(s);
    if (!s->bot)
        sessions_changed(s);
}

void handle_presence(struct peer *p, int op, struct str raw, const void *d)
{
    const struct presence_update *in = d;
    struct session *s = p->session;
    struct gateway *g = p->hub->gateway;

    (void)op, (void)raw;
    pthread_mutex_lock(&g->lock);
    s->status = (unsigned char)presence_status(in->status, s->status);
    pthread_mutex_unlock(&g->lock);
    keep_activities(s, in->activities);
    s->presence_due = true;
    presence_tell(s);
}
