/* provider_queries.c - sends queries to an external GIF provider. If there is no cached response,
 * the call waits on its event loop without blocking it. The number of waiting calls is limited, so
 * that a provider that hangs does not affect other requests. The provider gets the search terms,
 * but nothing about the user. */
#include "gifs/internal.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/client/fetcher.h"
#include "platform/accounts/accounts.h"

/* MOST_WAITING is the maximum number of waiting calls. It also limits the memory, because each of
 * them may receive MOST_ANSWER bytes. */
enum { TIMEOUT_MS = 2000, MOST_ANSWER = 2 * 1024 * 1024, MOST_WAITING = 32 };

/* --- one query ------------------------------------------------------------------------ */

struct provider_fetch {
    struct api *api;
    struct loop *loop;
    enum gif_provider_list_kind kind;
    char *key, *url;
    bool again;        /* whether the request is sent for the second time */
    struct call *call; /* the waiting call, or NULL */
};

static void on_provider_result(struct call *call, enum gif_provider_list_kind kind);

static void finish_provider_fetch(struct provider_fetch *q)
{
    struct call *call = q->call;
    enum gif_provider_list_kind kind = q->kind;

    mem_free(q->key);
    mem_free(q->url);
    mem_free(q);
    if (call)
        on_provider_result(call, kind);
}

static void send_provider_fetch(struct provider_fetch *q);

static void on_provider_response(void *arg, enum fetch_result result, int status, struct str type,
                                 struct buf *body)
{
    struct provider_fetch *q = arg;
    bool good = result == FETCH_OK && status == 200 &&
                is_valid_gif_provider_response(q->kind, buf_as_str(body));
    bool passing = result == FETCH_TIMEOUT || result == FETCH_UNREACHABLE || status >= 500;

    (void)type;
    if (!good && passing && !q->again && !api_is_draining(q->api)) {
        q->again = true;
        send_provider_fetch(q);
        return;
    }
    if (good) {
        gif_provider_cache_store(str_of(q->key), buf_as_str(body));
    } else {
        log_warn(
            "gifs: the provider failed or sent an invalid response (result %d, HTTP status %d)",
            (int)result, status);
        gif_provider_cache_record_failed_refresh(str_of(q->key));
    }
    gif_provider_circuit_breaker_record_result(good);
    finish_provider_fetch(q);
}

static void send_provider_fetch(struct provider_fetch *q)
{
    struct fetch_request f = {
        .method = "GET",
        .url = q->url,
        .timeout_ms = TIMEOUT_MS,
        .max_response = MOST_ANSWER,
        .done = on_provider_response,
        .arg = q,
    };

    fetcher_start_request(api_get_http_client_of_loop(q->api, q->loop), &f);
}

/* --- URLs ----------------------------------------------------------------------------- */

static char *build_gif_provider_url(struct arena *a, struct str path)
{
    const struct gif_config *c = gif_get_config();
    struct buf out;

    buf_init(&out, 64 * 1024);
    buf_add_str(&out, c->provider);
    buf_add_str(&out, path);
    if (c->provider_key.n) {
        buf_add_str(&out, memchr(path.p, '?', path.n) ? STR("&key=") : STR("?key="));
        buf_add_str(&out, str_percent_encode(a, c->provider_key));
    }
    return str_dup_cstring(a, buf_move_to_arena(&out, a));
}

/* --- queries of a call ---------------------------------------------------------------- */

static _Atomic int waiting_calls;

static struct provider_fetch *provider_fetch_new(struct call *call,
                                                 enum gif_provider_list_kind kind, struct str key)
{
    struct provider_fetch *q = mem_new(sizeof *q);

    q->api = call->api;
    q->loop = call->loop;
    q->kind = kind;
    q->key = mem_dup_cstring(str_dup_cstring(call->arena, key));
    q->url = mem_dup_cstring(build_gif_provider_url(call->arena, key));
    return q;
}

static void finish_gif_provider_query(struct call *call)
{
    struct provider_queries *in = call_get_stage_data(call, "provider_queries");

    if (--in->open)
        return;
    atomic_fetch_sub(&waiting_calls, 1);
    call_resume_after_await(call, OK);
}

static void on_provider_result(struct call *call, enum gif_provider_list_kind kind)
{
    struct provider_queries *in = call_get_stage_data(call, "provider_queries");
    struct gif_provider_query *a = &in->of[kind];
    struct str cached_body;
    bool refresh;

    a->answer.failed =
        gif_provider_cache_find(a->key, call->arena, &cached_body, &refresh) != CACHED_FRESH;
    if (!a->answer.failed)
        a->answer.body = cached_body;
    finish_gif_provider_query(call);
}

/* Sends all queries of a call. The call continues after the last response or timeout. */
static void send_provider_queries_of_call(struct call *call)
{
    struct provider_queries *in = call_get_stage_data(call, "provider_queries");
    bool room = atomic_fetch_add(&waiting_calls, 1) < MOST_WAITING;

    in->open = 1;
    for (int kind = 0; kind < UPSTREAM_KINDS; kind++) {
        struct gif_provider_query *a = &in->of[kind];

        if (!a->answer.failed || !room || !gif_provider_circuit_breaker_allows_request())
            continue;
        struct provider_fetch *q =
            provider_fetch_new(call, (enum gif_provider_list_kind)kind, a->key);
        q->call = call;
        in->open++;
        send_provider_fetch(q);
    }
    finish_gif_provider_query(call);
}

static void add_gif_provider_query(struct call *call, enum gif_provider_list_kind kind,
                                   struct str key)
{
    struct provider_queries *in = call_get_stage_data(call, "provider_queries");
    bool refresh;

    if (!in)
        in = call_store_stage_data(call, "provider_queries", sizeof *in);
    struct gif_provider_query *a = &in->of[kind];
    a->key = key;
    a->answer.asked = true;
    enum cached_gif_response_age found =
        gif_provider_cache_find(key, call->arena, &a->answer.body, &refresh);
    a->answer.failed = found == CACHED_NOT || found == CACHED_TOO_OLD;
    if (a->answer.failed && gif_provider_circuit_breaker_allows_request())
        call->await = send_provider_queries_of_call;
    if (refresh)
        send_provider_fetch(provider_fetch_new(call, kind, key));
}

bool should_search_local_gif_catalogue(const struct call *call)
{
    const struct provider_queries *in = call_get_stage_data(call, "provider_queries");

    if (!in || gif_get_config()->source == GIFS_MERGED)
        return true;
    for (int kind = 0; kind < UPSTREAM_KINDS; kind++)
        if (in->of[kind].answer.failed)
            return true;
    return false;
}

/* --- query strings for the provider --------------------------------------------------- */

/* Returns the locale from the query or the request headers. Ignores the user's settings, because
 * reading them needs a transaction. */
static struct str locale_from_query_or_headers(const struct call *call, const struct opt_str *named)
{
    struct str known = named && named->given == GIVEN && named->value.n
                           ? locale_find_supported(named->value)
                           : determine_locale_from_request_headers(call);

    return known.p ? known : STR("en-US");
}

static struct str build_provider_path_and_query(struct call *call, const char *path, bool with_q,
                                                int64_t limit)
{
    const struct gif_query *in = call->query;
    struct buf out;

    buf_init(&out, 8 * 1024);
    buf_printf(&out, "%s?locale=%.*s", path,
               STR_ARGS(locale_from_query_or_headers(call, &in->locale)));
    if (limit)
        buf_printf(&out, "&limit=%lld", (long long)limit);
    if (with_q) {
        buf_add_lit(&out, "&q=");
        buf_add_str(&out,
                    str_percent_encode(call->arena, normalize_search_text(call->arena, in->q)));
    }
    return buf_move_to_arena(&out, call->arena);
}

/* --- .prepare of the routes ----------------------------------------------------------- */

static bool gif_provider_is_enabled(enum err *ret)
{
    enum gif_source source = gif_get_config()->source;

    *ret = source == GIFS_OFF ? ERR_FEATURE_DISABLED : OK;
    return source == GIFS_UPSTREAM || source == GIFS_MERGED;
}

static int64_t limit_of_gif_query(const struct call *call)
{
    return ((const struct gif_query *)call->query)->limit;
}

enum err send_gif_search_to_provider(struct call *call)
{
    enum err e;

    if (gif_provider_is_enabled(&e))
        add_gif_provider_query(
            call, UPSTREAM_GIFS,
            build_provider_path_and_query(call, "/search", true, limit_of_gif_query(call)));
    return e;
}

enum err request_trending_gifs_of_provider(struct call *call)
{
    enum err e;

    if (gif_provider_is_enabled(&e))
        add_gif_provider_query(
            call, UPSTREAM_GIFS,
            build_provider_path_and_query(call, "/trending", false, limit_of_gif_query(call)));
    return e;
}

enum err request_gif_trends_of_provider(struct call *call)
{
    enum err e;

    if (gif_provider_is_enabled(&e)) {
        add_gif_provider_query(call, UPSTREAM_CATEGORIES,
                               build_provider_path_and_query(call, "/categories", false, 0));
        add_gif_provider_query(call, UPSTREAM_GIFS,
                               build_provider_path_and_query(call, "/trending", false, 1));
    }
    return e;
}

enum err request_gif_suggestions_of_provider(struct call *call)
{
    enum err e;

    if (gif_provider_is_enabled(&e))
        add_gif_provider_query(
            call, UPSTREAM_TERMS,
            build_provider_path_and_query(call, "/suggest", true, limit_of_gif_query(call)));
    return e;
}

enum err request_trending_gif_terms_of_provider(struct call *call)
{
    enum err e;

    if (gif_provider_is_enabled(&e))
        add_gif_provider_query(call, UPSTREAM_TERMS,
                               build_provider_path_and_query(call, "/trending-terms", false,
                                                             limit_of_gif_query(call)));
    return e;
}

/* --- choices -------------------------------------------------------------------------- */

static void on_gif_selection_forwarded(void *arg, enum fetch_result result, int status,
                                       struct str type, struct buf *body)
{
    (void)arg, (void)result, (void)status, (void)type, (void)body;
}

void forward_gif_selection_to_provider(struct call *call)
{
    static const struct fetch_header json = { STR_INIT("Content-Type"),
                                              STR_INIT("application/json") };
    const struct gif_config *c = gif_get_config();
    const struct gif_select_body *in = call->body;
    struct buf body;
    struct json_writer j = json_writer_to_buf(&body);

    if ((c->source != GIFS_UPSTREAM && c->source != GIFS_MERGED) ||
        !str_starts_with(in->id, STR("u_")) || in->id.n > 512 ||
        !gif_provider_circuit_breaker_allows_request())
        return;
    buf_init(&body, 4 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_text(&j, str_skip_bytes(in->id, 2));
    json_write_name(&j, "q");
    json_write_text(&j, in->q);
    json_write_name(&j, "locale");
    json_write_text(&j, locale_from_query_or_headers(call, NULL));
    json_end_object(&j);
    struct fetch_request f = {
        .method = "POST",
        .url = build_gif_provider_url(call->arena, STR("/registershare")),
        .headers = &json,
        .header_count = 1,
        .body = buf_as_str(&body),
        .timeout_ms = TIMEOUT_MS,
        .max_response = 64 * 1024,
        .done = on_gif_selection_forwarded,
    };
    /* If the search text is too long, the choice is not forwarded. */
    if (!buf_is_full(&body))
        fetcher_start_request(api_get_http_client_of_loop(call->api, call->loop), &f);
    buf_clear(&body);
}
