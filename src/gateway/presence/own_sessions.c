/* own_sessions.c - SESSIONS_REPLACE: the list of an account's sessions, sent to these sessions. */
#include "base/mem.h"
#include "gateway/fanout/bus.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/news.h"
#include "gateway/wire/protocol.h"

static void own_session_write(const char *id, const char *client, unsigned char status,
                              struct str presence, struct json *j)
{
    struct str rest = str_of(client), os = str_cut(&rest, '|'), browser = str_cut(&rest, '|');

    json_object(j);
    json_name(j, "session_id");
    json_text(j, str_of(id));
    json_name(j, "status");
    json_text(j, str_of(presence_word((enum presence_status)status)));
    json_name(j, "activities");
    json_raw(j, presence.p ? presence : STR("[]"));
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

static void sessions_write_all(const struct account *a, struct json *j)
{
    for (const struct link *at = a->sessions.next; at != &a->sessions; at = at->next) {
        const struct session *s = container_of(at, const struct session, of_user);
        char id[SESSION_ID + 1];

        session_id_write(s, id);
        own_session_write(id, session_client(s), s->presence.status, session_activities(s), j);
    }
    for (const struct link *at = a->remotes.next; at != &a->remotes; at = at->next) {
        const struct remote_session *r = container_of(at, const struct remote_session, of_user);

        own_session_write(r->id, r->client, r->status, r->presence, j);
    }
}

void sessions_write(struct gateway *g, snowflake user_id, struct json *j)
{
    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, user_id);
    json_array(j);
    if (a)
        sessions_write_all(a, j);
    json_array_end(j);
    pthread_mutex_unlock(&g->lock);
}

static bool has_others(struct gateway *g, snowflake user_id, unsigned than)
{
    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, user_id);
    bool others = a && a->session_count > than;
    pthread_mutex_unlock(&g->lock);
    return others;
}

static void publish_sessions(struct gateway *g, snowflake user_id, uint64_t except)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    sessions_write(g, user_id, &j);
    struct news *n = news_new(EVENT_SESSIONS_REPLACE, to_user(user_id), buf_str(&out));
    n->except = except;
    publish(g, n);
    buf_clear(&out);
}

void sessions_changed(struct session *s)
{
    struct gateway *g = s->hub->gateway;

    if (has_others(g, s->caller.id, s->listed))
        publish_sessions(g, s->caller.id, s->number);
}

void sessions_changed_there(struct gateway *g, snowflake user_id)
{
    if (has_others(g, user_id, 0))
        publish_sessions(g, user_id, 0);
}
