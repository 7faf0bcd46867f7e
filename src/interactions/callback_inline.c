/* callback_inline.c - answers that come back from the app's own address. */
#include "interactions/answers.h"

#include "net/http.h"
#include "net/multipart.h"

/* The parts of a multipart answer; NULL: it is none. */
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

/* What a call does before its handler runs. */
static enum err keep_files(struct call *call, const struct callback *in)
{
    call->look = call->compute = NULL;
    enum err e = prepare_callback_files(call, in);
    if (!e && call->look)
        e = call->look(call);
    if (!e && call->compute)
        e = call->compute(call);
    return e;
}

static enum err read_answer(struct call *call, struct inline_answer *a, struct str json)
{
    void *data = call->data, *in = NULL;
    enum err e = schema_decode(&callback_body, json, &call->form, &in);

    if (!e)
        e = keep_files(call, in);
    a->in = in;
    a->sending = call->data;
    call->data = data;
    return e;
}

enum err inline_answer_read(struct call *call, struct str content_type, struct str body,
                            struct inline_answer *ret)
{
    *ret = (struct inline_answer){ 0 };
    if (!http_media_type_is(content_type, STR("multipart/form-data")))
        return read_answer(call, ret, body);

    struct multipart *parts = ret->parts = read_parts(content_type, body);
    const struct part *json = parts ? multipart_find(parts, STR("payload_json")) : NULL;
    call->parts = parts;
    return json ? read_answer(call, ret, buf_str(&json->data)) : ERR_BAD_REQUEST;
}

void inline_answer_clear(struct call *call, struct inline_answer *a)
{
    call->parts = NULL;
    multipart_free(a->parts);
    a->parts = NULL;
}

enum err inline_answer_apply(struct call *call, struct interaction *it,
                             const struct inline_answer *a)
{
    void *data = call->data;

    call->data = a->sending;
    enum err e = callback_apply(call, it, a->in);
    call->data = data;
    return e;
}
