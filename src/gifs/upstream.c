/* upstream.c - queries an external GIF provider.
 *
 * A call without a cached answer waits asynchronously on its loop. The number of waiting calls is
 * limited, so that a provider that hangs does not affect other requests. The provider learns the
 * search terms, but not the user. */
#include "gifs/internal.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/client/client.h"
#include "platform/accounts/accounts.h"

/* MOST_WAITING also limits memory: each waiting call may receive MOST_ANSWER bytes. */
enum { PATIENCE_MS = 2000, MOST_ANSWER = 2 * 1024 * 1024, MOST_WAITING = 32 };

/* --- one query ------------------------------------------------------------------------ */

struct upstream_question {
    struct api *api;
    struct loop *loop;
    enum upstream_kind kind;
    char *key, *url;
    bool again;        /* this is the second attempt of the request */
    struct call *call; /* the waiting call; NULL: none */
};

static void answer_came(struct call *call, enum upstream_kind kind);

static void end_question(struct upstream_question *q)
{
    struct call *call = q->call;
    enum upstream_kind kind = q->kind;

    mem_free(q->key);
    mem_free(q->url);
    mem_free(q);
    if (call)
        answer_came(call, kind);
}

static void upstream_ask(struct upstream_question *q);

static void upstream_answered(void *arg, enum fetch_result result, int status, struct str type,
                              struct buf *body)
{
    struct upstream_question *q = arg;
    bool good = result == FETCH_OK && status == 200 && upstream_valid(q->kind, buf_str(body));
    bool passing = result == FETCH_TIMEOUT || result == FETCH_UNREACHABLE || status >= 500;

    (void)type;
    if (!good && passing && !q->again && !api_draining(q->api)) {
        q->again = true;
        upstream_ask(q);
        return;
    }
    if (good) {
        upstream_cache_put(str_of(q->key), buf_str(body));
    } else {
        log_warn(
            "gifs: the provider failed or sent an invalid response (result %d, HTTP status %d)",
            (int)result, status);
        upstream_cache_give_up(str_of(q->key));
    }
    breaker_note(good);
    end_question(q);
}

static void upstream_ask(struct upstream_question *q)
{
    struct fetch f = {
        .method = "GET",
        .url = q->url,
        .timeout_ms = PATIENCE_MS,
        .max_answer = MOST_ANSWER,
        .done = upstream_answered,
        .arg = q,
    };

    fetcher_start(api_fetcher(q->api, q->loop), &f);
}

/* --- URLs ----------------------------------------------------------------------------- */

/* Returns the provider's URL for a path with its query. */
static char *address_of(struct arena *a, struct str path)
{
    const struct gif_config *c = gif_config();
    struct buf out;

    buf_init(&out, 64 * 1024);
    buf_add_str(&out, c->provider);
    buf_add_str(&out, path);
    if (c->provider_key.n) {
        buf_add_str(&out, memchr(path.p, '?', path.n) ? STR("&key=") : STR("?key="));
        buf_add_str(&out, str_escape(a, c->provider_key));
    }
    return str_dupz(a, buf_take(&out, a));
}

/* --- queries of a call ---------------------------------------------------------------- */

static _Atomic int waiting; /* number of waiting calls */

static struct upstream_question *question_new(struct call *call, enum upstream_kind kind,
                                              struct str key)
{
    struct upstream_question *q = mem_new(sizeof *q);

    q->api = call->api;
    q->loop = call->loop;
    q->kind = kind;
    q->key = mem_dupz(str_dupz(call->arena, key));
    q->url = mem_dupz(address_of(call->arena, key));
    return q;
}

static void close_one(struct call *call)
{
    struct inquiry *in = call_passed(call, "inquiry");

    if (--in->open)
        return;
    atomic_fetch_sub(&waiting, 1);
    call_resume(call, OK);
}

static void answer_came(struct call *call, enum upstream_kind kind)
{
    struct inquiry *in = call_passed(call, "inquiry");
    struct upstream_asked *a = &in->of[kind];
    struct str said;
    bool refresh;

    a->answer.failed = upstream_cache_find(a->key, call->arena, &said, &refresh) != CACHED_FRESH;
    if (!a->answer.failed)
        a->answer.body = said;
    close_one(call);
}

/* Sends all queries of a call. The call resumes when the last one has ended; each has a timeout. */
static void ask_all(struct call *call)
{
    struct inquiry *in = call_passed(call, "inquiry");
    bool room = atomic_fetch_add(&waiting, 1) < MOST_WAITING;

    in->open = 1;
    for (int kind = 0; kind < UPSTREAM_KINDS; kind++) {
        struct upstream_asked *a = &in->of[kind];

        if (!a->answer.failed || !room || !breaker_allows())
            continue;
        struct upstream_question *q = question_new(call, (enum upstream_kind)kind, a->key);
        q->call = call;
        in->open++;
        upstream_ask(q);
    }
    close_one(call);
}

static void upstream_inquire(struct call *call, enum upstream_kind kind, struct str key)
{
    struct inquiry *in = call_passed(call, "inquiry");
    bool refresh;

    if (!in)
        in = call_pass(call, "inquiry", sizeof *in);
    struct upstream_asked *a = &in->of[kind];
    a->key = key;
    a->answer.asked = true;
    enum cached found = upstream_cache_find(key, call->arena, &a->answer.body, &refresh);
    a->answer.failed = found == CACHED_NOT || found == CACHED_TOO_OLD;
    if (a->answer.failed && breaker_allows())
        call->await = ask_all;
    if (refresh)
        upstream_ask(question_new(call, kind, key));
}

bool upstream_wants_local(const struct call *call)
{
    const struct inquiry *in = call_passed(call, "inquiry");

    if (!in || gif_config()->source == GIFS_MERGED)
        return true;
    for (int kind = 0; kind < UPSTREAM_KINDS; kind++)
        if (in->of[kind].answer.failed)
            return true;
    return false;
}

/* --- query strings for the provider --------------------------------------------------- */

/* Returns the locale from the request's query or headers only, because there is no transaction
 * yet. */
static struct str plain_locale(const struct call *call, const struct opt_str *named)
{
    struct str known = named && named->given == GIVEN && named->value.n ? locale_known(named->value)
                                                                        : request_head_locale(call);

    return known.p ? known : STR("en-US");
}

static struct str question_key(struct call *call, const char *path, bool with_q, int64_t limit)
{
    const struct gif_query *in = call->query;
    struct buf out;

    buf_init(&out, 8 * 1024);
    buf_printf(&out, "%s?locale=%.*s", path, STR_FMT(plain_locale(call, &in->locale)));
    if (limit)
        buf_printf(&out, "&limit=%lld", (long long)limit);
    if (with_q) {
        buf_add_lit(&out, "&q=");
        buf_add_str(&out, str_escape(call->arena, words_normal(call->arena, in->q)));
    }
    return buf_take(&out, call->arena);
}

/* --- .prepare of the routes ----------------------------------------------------------- */

static bool upstream_begin(enum err *ret)
{
    enum gif_source source = gif_config()->source;

    *ret = source == GIFS_OFF ? ERR_FEATURE_DISABLED : OK;
    return source == GIFS_UPSTREAM || source == GIFS_MERGED;
}

static int64_t limit_of(const struct call *call)
{
    return ((const struct gif_query *)call->query)->limit;
}

enum err upstream_ask_search(struct call *call)
{
    enum err e;

    if (upstream_begin(&e))
        upstream_inquire(call, UPSTREAM_GIFS, question_key(call, "/search", true, limit_of(call)));
    return e;
}

enum err upstream_ask_trending(struct call *call)
{
    enum err e;

    if (upstream_begin(&e))
        upstream_inquire(call, UPSTREAM_GIFS,
                         question_key(call, "/trending", false, limit_of(call)));
    return e;
}

enum err upstream_ask_trends(struct call *call)
{
    enum err e;

    if (upstream_begin(&e)) {
        upstream_inquire(call, UPSTREAM_CATEGORIES, question_key(call, "/categories", false, 0));
        upstream_inquire(call, UPSTREAM_GIFS, question_key(call, "/trending", false, 1));
    }
    return e;
}

enum err upstream_ask_suggestions(struct call *call)
{
    enum err e;

    if (upstream_begin(&e))
        upstream_inquire(call, UPSTREAM_TERMS,
                         question_key(call, "/suggest", true, limit_of(call)));
    return e;
}

enum err upstream_ask_terms(struct call *call)
{
    enum err e;

    if (upstream_begin(&e))
        upstream_inquire(call, UPSTREAM_TERMS,
                         question_key(call, "/trending-terms", false, limit_of(call)));
    return e;
}

/* --- choices -------------------------------------------------------------------------- */

static void upstream_told(void *arg, enum fetch_result result, int status, struct str type,
                          struct buf *body)
{
    (void)arg, (void)result, (void)status, (void)type, (void)body;
}

void upstream_tell_choice(struct call *call)
{
    static const struct fetch_header json = { STR_INIT("Content-Type"),
                                              STR_INIT("application/json") };
    const struct gif_config *c = gif_config();
    const struct gif_choice *in = call->body;
    struct buf body;
    struct json j = json_to(&body);

    if ((c->source != GIFS_UPSTREAM && c->source != GIFS_MERGED) ||
        !str_starts(in->id, STR("u_")) || in->id.n > 512 || !breaker_allows())
        return;
    buf_init(&body, 4 * 1024);
    json_object(&j);
    json_name(&j, "id");
    json_text(&j, str_from(in->id, 2));
    json_name(&j, "q");
    json_text(&j, in->q);
    json_name(&j, "locale");
    json_text(&j, plain_locale(call, NULL));
    json_object_end(&j);
    struct fetch f = {
        .method = "POST",
        .url = address_of(call->arena, STR("/registershare")),
        .headers = &json,
        .header_count = 1,
        .body = buf_str(&body),
        .timeout_ms = PATIENCE_MS,
        .max_answer = 64 * 1024,
        .done = upstream_told,
    };
    /* Do not forward a choice whose search text is too long. */
    if (!buf_full(&body))
        fetcher_start(api_fetcher(call->api, call->loop), &f);
    buf_clear(&body);
}
