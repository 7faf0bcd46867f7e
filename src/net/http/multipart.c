/* multipart.c - incremental parser that splits a multipart body into its parts. */
#include "net/http/multipart.h"

#include "base/mem.h"
#include "net/loop.h"
#include "net/http/multipart_head.h"

enum multipart_state {
    PREAMBLE,
    CONTENT,
    DELIMITED, /* after a delimiter; padding and CRLF, or "--", must follow */
    PADDING,
    DELIMITED_LF,
    CLOSING, /* after the first '-' of "--" */
    HEAD,
    OVER, /* after the closing delimiter; all further input is ignored */
};

struct multipart {
    enum multipart_state state;
    enum err error; /* the first error; all later calls return it, too */
    char delimiter[4 + MULTIPART_MAX_BOUNDARY]; /* CRLF, "--" and the boundary */
    size_t delimiter_n;
    size_t matched;         /* number of bytes of the delimiter that match so far */
    size_t virtual_matched; /* how many of the matched bytes were not received:
                             * expect_multipart_delimiter counts a missing CRLF as matched */
    size_t total, max_total;
    struct buf head; /* received headers of the next part */
    size_t count;
    struct multipart_part parts[MULTIPART_MAX_PARTS];
};

/* Returns true if the boundary has 1-70 of the characters that RFC 2046 §5.1.1 allows. */
static bool is_valid_boundary(struct str s)
{
    if (s.n == 0 || s.n > MULTIPART_MAX_BOUNDARY || s.p[s.n - 1] == ' ')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], lower = c | 0x20;
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') &&
            (c == '\0' || !strchr("'()+_,-./:=? ", c)))
            return false;
    }
    return true;
}

/* Expects a delimiter. It starts with CRLF; before the first part, and in a part without content,
 * that CRLF may be missing or already consumed, so it counts as matched. */
static void expect_multipart_delimiter(struct multipart *m, enum multipart_state state)
{
    m->state = state;
    m->matched = m->virtual_matched = 2;
}

struct multipart *multipart_new(struct str boundary, size_t max_total)
{
    if (!is_valid_boundary(boundary))
        return NULL;

    struct multipart *m = mem_new(sizeof *m);
    memcpy(m->delimiter, "\r\n--", 4);
    memcpy(m->delimiter + 4, boundary.p, boundary.n);
    m->delimiter_n = boundary.n + 4;
    m->max_total = max_total;
    buf_init(&m->head, MULTIPART_MAX_PART_HEAD);
    expect_multipart_delimiter(m, PREAMBLE);
    return m;
}

void multipart_free(struct multipart *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        multipart_part_free_fields(&m->parts[i]);
    buf_clear(&m->head);
    mem_free(m);
}

static void multipart_free_callback(void *m)
{
    multipart_free(m);
}

void multipart_free_on_thread_pool(struct multipart *m, struct loop *l)
{
    if (m && m->total >= LOOP_POOL_FREE_MIN_BYTES)
        loop_free_block_on_thread_pool(l, m, multipart_free_callback);
    else
        multipart_free(m);
}

static enum err append_part_content(struct multipart *m, const char *p, size_t n)
{
    if (m->state == PREAMBLE)
        return OK;
    if (n > m->max_total - m->total)
        return ERR_ENTITY_TOO_LARGE;
    m->total += n;
    buf_add(&m->parts[m->count - 1].data, p, n);
    return OK;
}

/* Reads content up to a delimiter. CR occurs in a delimiter only as the first byte. So after a
 * mismatch no delimiter can begin inside the bytes matched so far: they are content, and the search
 * continues at the current byte. */
static enum err read_part_content(struct multipart *m, struct str *s)
{
    enum err e = OK;

    while (s->n && !e) {
        if (m->matched == 0) {
            const char *end = memchr(s->p, '\r', s->n);
            size_t n = end ? (size_t)(end - s->p) : s->n;

            e = append_part_content(m, s->p, n);
            *s = str_skip_bytes(*s, n);
        } else if (s->p[0] != m->delimiter[m->matched]) {
            e = append_part_content(m, m->delimiter + m->virtual_matched,
                                    m->matched - m->virtual_matched);
            m->matched = m->virtual_matched = 0;
            continue;
        }
        if (!s->n)
            break;
        *s = str_skip_bytes(*s, 1);
        if (++m->matched == m->delimiter_n) {
            m->state = DELIMITED;
            break;
        }
    }
    return e;
}

static enum err begin_part_content(struct multipart *m)
{
    struct multipart_part *p = &m->parts[m->count++];

    buf_init(&p->data, m->max_total);
    enum err e = multipart_parse_part_headers(p, buf_as_str(&m->head));
    buf_clear(&m->head);
    expect_multipart_delimiter(m, CONTENT);
    return e;
}

static enum err read_part_head(struct multipart *m, struct str *s)
{
    while (s->n) {
        const struct buf *head = &m->head;

        buf_add_char(&m->head, s->p[0]);
        if (buf_is_full(head))
            return ERR_ENTITY_TOO_LARGE;
        *s = str_skip_bytes(*s, 1);
        /* The headers end with an empty line, which may also be the first line. */
        if (head->n >= 2 && memcmp(head->p + head->n - 2, "\r\n", 2) == 0 &&
            (head->n == 2 || (head->n >= 4 && head->p[head->n - 3] == '\n')))
            return begin_part_content(m);
    }
    return OK;
}

/* Handles one byte between a delimiter and the headers of the next part or the end. */
static enum err read_byte_after_delimiter(struct multipart *m, char c)
{
    bool blank = c == ' ' || c == '\t';

    if (m->state == CLOSING && c == '-') {
        m->state = OVER;
    } else if (m->state == DELIMITED_LF && c == '\n') {
        if (m->count == MULTIPART_MAX_PARTS)
            return ERR_ENTITY_TOO_LARGE;
        m->state = HEAD;
    } else if (m->state == DELIMITED && c == '-') {
        m->state = CLOSING;
    } else if ((m->state == DELIMITED || m->state == PADDING) && (blank || c == '\r')) {
        m->state = blank ? PADDING : DELIMITED_LF;
    } else {
        return ERR_BAD_REQUEST;
    }
    return OK;
}

enum err multipart_feed(struct multipart *m, struct str bytes)
{
    while (bytes.n && !m->error && m->state != OVER) {
        if (m->state == PREAMBLE || m->state == CONTENT) {
            m->error = read_part_content(m, &bytes);
        } else if (m->state == HEAD) {
            m->error = read_part_head(m, &bytes);
        } else {
            m->error = read_byte_after_delimiter(m, bytes.p[0]);
            bytes = str_skip_bytes(bytes, 1);
        }
    }
    return m->error;
}

enum err multipart_finish(struct multipart *m)
{
    if (!m->error && m->state != OVER)
        m->error = ERR_BAD_REQUEST;
    return m->error;
}

size_t multipart_get_part_count(const struct multipart *m)
{
    return m->count;
}

const struct multipart_part *multipart_get_part_at(const struct multipart *m, size_t i)
{
    return i < m->count ? &m->parts[i] : NULL;
}

const struct multipart_part *multipart_find_part(const struct multipart *m, struct str name)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->parts[i].name && str_eq(str_of(m->parts[i].name), name))
            return &m->parts[i];
    return NULL;
}
