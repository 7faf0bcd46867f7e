/* census.c - lists all sessions of the process as JSON lines, for the operator. */
#include "base/mem.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "json/write.h"

struct census {
    struct gateway *gateway;
    struct buf *out;
};

static size_t count_guilds(const struct session *s)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->seats.count; i++)
        n += s->seats.items[i]->topic->kind == SUBJECT_GUILD;
    return n;
}

static const char *census_transport(const struct peer *p)
{
    static const char *const names[] = { "json", "json, zlib", "json, zstd",
                                         "etf",  "etf, zlib",  "etf, zstd" };

    return names[p->dialect->compression + (p->dialect->etf ? 3 : 0)];
}

static void census_write_session(const struct session *s, struct json *j)
{
    char id[SESSION_ID + 1];

    session_id_write(s, id);
    json_object(j);
    json_name(j, "user_id");
    json_id(j, s->caller.id);
    json_name(j, "bot");
    json_bool(j, s->bot);
    json_name(j, "session_id");
    json_text(j, str_of(id));
    json_name(j, "connected");
    json_bool(j, s->peer != NULL);
    json_name(j, "address");
    json_text(j, s->peer ? websocket_remote(s->peer->ws) : STR(""));
    json_name(j, "transport");
    json_text(j, str_of(s->peer ? census_transport(s->peer) : ""));
    json_name(j, "shard");
    json_array(j);
    json_int(j, s->options.shard_id);
    json_int(j, s->options.shard_count);
    json_array_end(j);
    json_name(j, "intents");
    json_int(j, s->options.intents);
    json_name(j, "guilds");
    json_int(j, (int64_t)count_guilds(s));
    json_name(j, "events");
    json_int(j, (int64_t)s->seq);
    json_name(j, "waiting");
    json_int(j, s->peer ? (int64_t)(s->seq - s->output.sent) : 0);
    json_name(j, "buffered_bytes");
    json_int(j, s->peer ? (int64_t)(websocket_waiting(s->peer->ws) + s->behind_bytes) : 0);
    json_name(j, "client");
    json_text(j, str_of(session_client(s)));
    json_name(j, "loop");
    json_int(j, loop_index(s->hub->loop));
    json_object_end(j);
}

static void write_here(struct loop *loop, void *arg)
{
    struct census *c = arg;
    const struct hub *h = c->gateway->hubs[loop_index(loop)];

    for (const struct link *at = h->sessions.next; at != &h->sessions; at = at->next) {
        struct json j = json_to(c->out);

        census_write_session(container_of(at, const struct session, link), &j);
        buf_add_char(c->out, '\n');
    }
}

void gateway_census(struct gateway *g, struct buf *out)
{
    struct census c = { g, out };

    for (unsigned i = 0; i < g->hub_count; i++)
        loop_call(g->hubs[i]->loop, write_here, &c);
}
