/* callback_inline.c - callbacks in the HTTP response of the app's interactions endpoint. */
#include "interactions/answers.h"

#include "api/jobs/errand.h"
#include "base/mem.h"
#include "net/http/http.h"
#include "net/http/multipart.h"

enum { MOST_READ_AT_ONCE = 64 * 1024 }; /* longer responses are parsed off the event loop */

/* The HTTP response of the app's endpoint. The body may have 32 MiB and is never copied. */
struct returned {
    snowflake id;
    struct buf type, body;
    struct multipart *parts; /* NULL: not multipart */
};

/* Parses a multipart response; returns NULL if it is malformed. */
static struct multipart *read_parts(struct str content_type, struct str body)
{
    char boundary[MULTIPART_MAX_BOUNDARY];
    size_t n;

    if (!http_parameter(content_type, STR("boundary"), boundary, sizeof boundary, &n))
        return NULL;
    struct multipart *m = multipart_new(str_slice(boundary, n), MESSAGE_MAX_UPLOAD);
    if (m && (multipart_feed(m, body) || multipart_end(m))) {
        multipart_free(m);
        m = NULL;
    }
    return m;
}

static bool is_multipart(struct str content_type)
{
    return http_media_type_is(content_type, STR("multipart/form-data"));
}

/* Prepares the internal call like the callback route: body, interaction and files. */
static enum err inline_answer_decode(struct call *call)
{
    struct returned *r = call_passed(call, "returned");
    struct str json = buf_str(&r->body);

    if (is_multipart(buf_str(&r->type))) {
        call->parts = r->parts = read_parts(buf_str(&r->type), json);
        const struct part *p = r->parts ? multipart_find(r->parts, STR("payload_json")) : NULL;
        if (!p)
            return ERR_BAD_REQUEST;
        json = buf_str(&p->data);
    }
    call->target.interaction = arena_alloc(call->arena, sizeof *call->target.interaction);
    call->target.interaction->id = r->id;
    enum err e = schema_decode(&callback_body, json, &call->form, (void **)&call->body);
    return e ? e : prepare_callback(call);
}

static enum err inline_answer_run(struct call *call)
{
    struct interaction *it = call->target.interaction;
    enum err e = interaction_find(call->tx, it->id, it);

    return e ? e : callback_apply(call, it, call->body);
}

/* Frees the response. An unusable callback fails the interaction; a second callback has no
 * effect. */
static void inline_answer_done(struct call *call, enum err e, void *arg)
{
    struct returned *r = arg;

    if (e)
        interaction_start_failing(call->api, call->loop, r->id, FAILURE_UNKNOWN);
    multipart_dispose(r->parts, call->loop);
    buf_clear(&r->type);
    loop_dispose_buf(call->loop, &r->body);
    mem_free(r);
}

void inline_answer_take(struct api *api, struct loop *loop, snowflake id, struct str content_type,
                        struct buf *body)
{
    struct returned *r = mem_new(sizeof *r);

    *r = (struct returned){ .id = id, .body = *body };
    buf_init(body, 0);
    buf_init(&r->type, content_type.n);
    buf_add_str(&r->type, content_type);
    errand_start(
        api, loop,
        &(struct errand){ .name = "interaction",
                          .store = ROUTE_STORE_WRITE,
                          .decode = inline_answer_decode,
                          .long_input = r->body.n > MOST_READ_AT_ONCE || is_multipart(content_type),
                          .run = inline_answer_run,
                          .done = inline_answer_done,
                          .type = "returned",
                          .data = r,
                          .arg = r });
}
