/* fuzz_multipart.c - fuzzes the multipart parser: the parts must not depend on how the bytes are
 * split. Input: the first line is the boundary, the rest the body. */
#include "fuzz.h"

#include "base/utf8.h"
#include "net/http/multipart.h"

enum { MAX_TOTAL = 4096 };

static struct multipart *read_parts(struct str boundary, struct str body, size_t step,
                                    enum err *ret_end)
{
    struct multipart *m = multipart_new(boundary, MAX_TOTAL);

    for (size_t at = 0; m && at < body.n; at += step) {
        size_t n = body.n - at < step ? body.n - at : step;
        if (multipart_feed(m, str_slice(body.p + at, n)))
            break;
    }
    *ret_end = m ? multipart_finish(m) : OK;
    return m;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_parts(const struct multipart *m)
{
    size_t total = 0;

    FUZZ_CHECK(multipart_get_part_count(m) <= MULTIPART_MAX_PARTS);
    for (size_t i = 0; i < multipart_get_part_count(m); i++) {
        const struct multipart_part *p = multipart_get_part_at(m, i);

        FUZZ_CHECK(p->name && utf8_is_valid(str_of(p->name)));
        FUZZ_CHECK(!p->filename || utf8_is_valid(str_of(p->filename)));
        total += p->data.n;
    }
    FUZZ_CHECK(total <= MAX_TOTAL);
}

static void check_same(const struct multipart *a, const struct multipart *b)
{
    FUZZ_CHECK(multipart_get_part_count(a) == multipart_get_part_count(b));
    for (size_t i = 0; i < multipart_get_part_count(a); i++) {
        const struct multipart_part *p = multipart_get_part_at(a, i),
                                    *q = multipart_get_part_at(b, i);

        FUZZ_CHECK(same_text(p->name, q->name) && same_text(p->filename, q->filename));
        FUZZ_CHECK(same_text(p->content_type, q->content_type));
        FUZZ_CHECK(str_eq(buf_as_str(&p->data), buf_as_str(&q->data)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;

    struct str body = { (const char *)data, size }, boundary = str_cut(&body, '\n');
    enum err end, pieces_end;
    struct multipart *whole = read_parts(boundary, body, body.n, &end);

    if (!whole)
        return 0;
    if (end == OK)
        check_parts(whole);
    for (size_t step = 1; step < 8; step += 2) {
        struct multipart *pieces = read_parts(boundary, body, step, &pieces_end);

        FUZZ_CHECK(pieces_end == end);
        if (end == OK)
            check_same(whole, pieces);
        multipart_free(pieces);
    }
    multipart_free(whole);
    return 0;
}
