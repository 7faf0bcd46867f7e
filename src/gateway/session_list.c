/* session_list.c - lists all sessions of the process as JSON lines, for the operator. */
#include "base/mem.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "json/write.h"

struct session_list_writer {
    struct gateway *gateway;
    struct buf *out;
};

static size_t count_session_guilds(const struct session *s)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->subscriptions.count; i++)
        n += s->subscriptions.items[i]->topic->kind == AUDIENCE_GUILD;
    return n;
}

static const char *encoding_and_compression_name(const struct gateway_socket *p)
{
    static const char *const names[] = { "json", "json, zlib", "json, zstd",
                                         "etf",  "etf, zlib",  "etf, zstd" };

    return names[p->dialect->compression + (p->dialect->etf ? 3 : 0)];
}

static void write_session_json(const struct session *s, struct json_writer *j)
{
    char id[SESSION_ID + 1];

    session_id_format(s, id);
    json_begin_object(j);
    json_write_name(j, "user_id");
    json_write_id(j, s->caller.id);
    json_write_name(j, "bot");
    json_write_bool(j, s->bot);
    json_write_name(j, "session_id");
    json_write_text(j, str_of(id));
    json_write_name(j, "connected");
    json_write_bool(j, s->socket != NULL);
    json_write_name(j, "address");
    json_write_text(j, s->socket ? websocket_get_client_address(s->socket->ws) : STR(""));
    json_write_name(j, "transport");
    json_write_text(j, str_of(s->socket ? encoding_and_compression_name(s->socket) : ""));
    json_write_name(j, "shard");
    json_begin_array(j);
    json_write_int(j, s->options.shard_id);
    json_write_int(j, s->options.shard_count);
    json_end_array(j);
    json_write_name(j, "intents");
    json_write_int(j, s->options.intents);
    json_write_name(j, "guilds");
    json_write_int(j, (int64_t)count_session_guilds(s));
    json_write_name(j, "events");
    json_write_int(j, (int64_t)s->seq);
    json_write_name(j, "waiting");
    json_write_int(j, s->socket ? (int64_t)(s->seq - s->output.sent) : 0);
    json_write_name(j, "buffered_bytes");
    json_write_int(j, s->socket
                          ? (int64_t)(websocket_count_unsent_bytes(s->socket->ws) + s->behind_bytes)
                          : 0);
    json_write_name(j, "client");
    json_write_text(j, str_of(session_get_client_name(s)));
    json_write_name(j, "loop");
    json_write_int(j, loop_get_index(s->gateway_loop->loop));
    json_end_object(j);
}

static void write_json_of_sessions_on_loop(struct loop *loop, void *arg)
{
    struct session_list_writer *c = arg;
    const struct gateway_loop *h = c->gateway->gateway_loops[loop_get_index(loop)];

    for (const struct list_link *at = h->sessions.next; at != &h->sessions; at = at->next) {
        struct json_writer j = json_writer_to_buf(c->out);

        write_session_json(container_of(at, const struct session, link), &j);
        buf_add_char(c->out, '\n');
    }
}

void gateway_write_session_list(struct gateway *g, struct buf *out)
{
    struct session_list_writer c = { g, out };

    for (unsigned i = 0; i < g->gateway_loop_count; i++)
        loop_run_function_and_wait(g->gateway_loops[i]->loop, write_json_of_sessions_on_loop, &c);
}

struct account_session_lister {
    struct gateway *gateway;
    snowflake user_id;
    struct gateway_session_options *out;
    size_t count, max;
};

static void list_account_sessions_of_loop(struct loop *loop, void *arg)
{
    struct account_session_lister *l = arg;
    const struct gateway_loop *h = l->gateway->gateway_loops[loop_get_index(loop)];

    for (const struct list_link *at = h->sessions.next; at != &h->sessions && l->count < l->max;
         at = at->next) {
        const struct session *s = container_of(at, const struct session, link);

        if (s->caller.id == l->user_id)
            l->out[l->count++] = (struct gateway_session_options){ s->options.intents,
                                                                   s->options.shard_id,
                                                                   s->options.shard_count,
                                                                   s->socket != NULL,
                                                                   s->bot,
                                                                   s->number };
    }
}

size_t gateway_list_account_sessions(struct gateway *g, snowflake user_id,
                                     struct gateway_session_options *out, size_t max)
{
    struct account_session_lister l = { g, user_id, out, 0, max };

    for (unsigned i = 0; i < g->gateway_loop_count; i++)
        loop_run_function_and_wait(g->gateway_loops[i]->loop, list_account_sessions_of_loop, &l);
    return l.count;
}
