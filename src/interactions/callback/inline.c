/* inline.c - callbacks that an app's interactions endpoint sends in its HTTP response. */
#include "interactions/responses.h"

#include "api/jobs/internal_call.h"
#include "base/mem.h"
#include "net/http/http_parser.h"
#include "net/http/multipart.h"

/* Maximum size in bytes of a response that is parsed on the event loop; longer ones are parsed on
 * the thread pool. */
enum { MOST_READ_AT_ONCE = 64 * 1024 };

/* The HTTP response of the app's endpoint. Its body may have 32 MiB, so the body is not copied. */
struct http_callback {
    snowflake id;
    struct buf type, body;
    struct multipart *parts; /* parts of a multipart response; NULL for other content types */
};

/* Parses a multipart response. Returns NULL if it is malformed. */
static struct multipart *parse_multipart_callback(struct str content_type, struct str body)
{
    char boundary[MULTIPART_MAX_BOUNDARY];
    size_t n;

    if (!http_copy_header_parameter(content_type, STR("boundary"), boundary, sizeof boundary, &n))
        return NULL;
    struct multipart *m = multipart_new(str_slice(boundary, n), MESSAGE_MAX_UPLOAD);
    if (m && (multipart_feed(m, body) || multipart_finish(m))) {
        multipart_free(m);
        m = NULL;
    }
    return m;
}

static bool is_multipart_type(struct str content_type)
{
    return http_media_type_is(content_type, STR("multipart/form-data"));
}

/* Decodes body, interaction and files of the app's HTTP response, as the callback route does with a
 * request. */
static enum err decode_http_callback(struct call *call)
{
    struct http_callback *r = call_get_stage_data(call, "http_callback");
    struct str json = buf_as_str(&r->body);

    if (is_multipart_type(buf_as_str(&r->type))) {
        call->parts = r->parts = parse_multipart_callback(buf_as_str(&r->type), json);
        const struct multipart_part *p =
            r->parts ? multipart_find_part(r->parts, STR("payload_json")) : NULL;
        if (!p)
            return ERR_BAD_REQUEST;
        json = buf_as_str(&p->data);
    }
    call->target.interaction = arena_alloc(call->arena, sizeof *call->target.interaction);
    call->target.interaction->id = r->id;
    enum err e = schema_decode(&callback_body, json, &call->form, (void **)&call->body);
    return e ? e : prepare_interaction_callback(call);
}

static enum err run_http_callback(struct call *call)
{
    struct interaction *it = call->target.interaction;
    enum err e = read_interaction(call->tx, it->id, it);

    return e ? e : apply_interaction_callback(call, it, call->body);
}

/* Frees the HTTP response. Fails the interaction if the callback was invalid, unless the
 * interaction was acknowledged before. */
static void on_http_callback_done(struct call *call, enum err e, void *arg)
{
    struct http_callback *r = arg;

    if (e)
        fail_interaction_in_background(call->api, call->loop, r->id, FAILURE_UNKNOWN);
    multipart_free_on_thread_pool(r->parts, call->loop);
    buf_clear(&r->type);
    loop_free_buf_on_thread_pool(call->loop, &r->body);
    mem_free(r);
}

void apply_http_response_as_interaction_callback(struct api *api, struct loop *loop, snowflake id,
                                                 struct str content_type, struct buf *body)
{
    struct http_callback *r = mem_new(sizeof *r);

    *r = (struct http_callback){ .id = id, .body = *body };
    buf_init(body, 0);
    buf_init(&r->type, content_type.n);
    buf_add_str(&r->type, content_type);
    internal_call_start(api, loop,
                        &(struct internal_call){ .name = "interaction",
                                                 .store = ROUTE_STORE_WRITE,
                                                 .decode = decode_http_callback,
                                                 .long_input = r->body.n > MOST_READ_AT_ONCE ||
                                                               is_multipart_type(content_type),
                                                 .run = run_http_callback,
                                                 .done = on_http_callback_done,
                                                 .type = "http_callback",
                                                 .data = r,
                                                 .arg = r });
}
