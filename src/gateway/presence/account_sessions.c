/* account_sessions.c - sends SESSIONS_REPLACE, the list of an account's sessions, to these
 * sessions. */
#include "base/mem.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/gateway_event.h"
#include "gateway/wire/protocol.h"

static void write_account_session_json(const char *id, const char *client, unsigned char status,
                                       struct str presence, struct json_writer *j)
{
    struct str rest = str_of(client), os = str_cut(&rest, '|'), browser = str_cut(&rest, '|');

    json_begin_object(j);
    json_write_name(j, "session_id");
    json_write_text(j, str_of(id));
    json_write_name(j, "status");
    json_write_text(j, str_of(presence_status_name((enum presence_status)status)));
    json_write_name(j, "activities");
    json_write_raw(j, presence.p ? presence : STR("[]"));
    json_write_name(j, "client_info");
    json_begin_object(j);
    json_write_name(j, "client");
    json_write_text(j, browser.n ? browser : STR("unknown"));
    json_write_name(j, "os");
    json_write_text(j, os.n ? os : STR("unknown"));
    json_write_name(j, "version");
    json_write_int(j, 0);
    json_end_object(j);
    json_end_object(j);
}

static void write_account_sessions_json(const struct gateway_account *a, struct json_writer *j)
{
    for (const struct list_link *at = a->sessions.next; at != &a->sessions; at = at->next) {
        const struct session *s = container_of(at, const struct session, of_user);
        char id[SESSION_ID + 1];

        session_id_format(s, id);
        write_account_session_json(id, session_get_client_name(s), s->presence.status,
                                   session_get_activities(s), j);
    }
    for (const struct list_link *at = a->remotes.next; at != &a->remotes; at = at->next) {
        const struct remote_session *r = container_of(at, const struct remote_session, of_user);

        write_account_session_json(r->id, r->client, r->status, r->presence, j);
    }
}

void write_session_list_json(struct gateway *g, snowflake user_id, struct json_writer *j)
{
    pthread_mutex_lock(&g->lock);
    const struct gateway_account *a = map_find_value(&g->accounts, user_id);
    json_begin_array(j);
    if (a)
        write_account_sessions_json(a, j);
    json_end_array(j);
    pthread_mutex_unlock(&g->lock);
}

static bool account_has_more_sessions_than(struct gateway *g, snowflake user_id, unsigned than)
{
    pthread_mutex_lock(&g->lock);
    const struct gateway_account *a = map_find_value(&g->accounts, user_id);
    bool others = a && a->session_count > than;
    pthread_mutex_unlock(&g->lock);
    return others;
}

static void publish_sessions_replace(struct gateway *g, snowflake user_id, uint64_t except)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_PAYLOAD);
    write_session_list_json(g, user_id, &j);
    struct gateway_event *n =
        gateway_event_new(EVENT_SESSIONS_REPLACE, audience_of_user(user_id), buf_as_str(&out));
    n->except = except;
    publish_event_to_loops(g, n);
    buf_clear(&out);
}

void send_session_list_after_local_change(struct session *s)
{
    struct gateway *g = s->gateway_loop->gateway;

    if (account_has_more_sessions_than(g, s->caller.id, s->listed))
        publish_sessions_replace(g, s->caller.id, s->number);
}

void send_session_list_after_remote_change(struct gateway *g, snowflake user_id)
{
    if (account_has_more_sessions_than(g, user_id, 0))
        publish_sessions_replace(g, user_id, 0);
}
