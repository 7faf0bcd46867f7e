/* own_sessions.c - the list of an account's sessions, for those sessions. */
#include "base/mem.h"
#include "gateway/fanout/bus.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/news.h"
#include "gateway/wire/protocol.h"

static void own_session_write(const struct session *s, struct json *j)
{
    struct str rest = str_of(s->client), os = str_cut(&rest, '|'), browser = str_cut(&rest, '|');

    json_object(j);
    json_name(j, "session_id");
    json_text(j, str_of(s->id));
    json_name(j, "status");
    json_text(j, str_of(presence_word((enum presence_status)s->status)));
    json_name(j, "activities");
    json_raw(j, s->presence.p ? s->presence : STR("[]"));
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
            own_session_write(container_of(at, const struct session, of_user), j);
    json_array_end(j);
    pthread_mutex_unlock(&g->lock);
}

static bool has_others(struct gateway *g, const struct session *s)
{
    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, s->caller.id);
    bool others = a && a->session_count > s->listed;
    pthread_mutex_unlock(&g->lock);
    return others;
}

void sessions_changed(struct session *s)
{
    struct gateway *g = s->hub->gateway;
    struct buf out;
    struct json j = json_to(&out);

    if (!has_others(g, s))
        return;
    buf_init(&out, MAX_PAYLOAD);
    sessions_write(g, s->caller.id, &j);
    struct news *n = news_new(EVENT_SESSIONS_REPLACE, to_user(s->caller.id), buf_str(&out));
    n->except = s->number;
    publish(g, n);
    buf_clear(&out);
}
