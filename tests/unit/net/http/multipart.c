/* multipart.c - tests the parsing of multipart forms, whole and in every pair of pieces. */
#include "unit/unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/http/multipart.h"

enum { MAX_TOTAL = 64 };

#define FIELD(name, content) \
    "--b\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" content "\r\n"
#define PART(lines)       "--b\r\n" lines "\r\nx\r\n--b--"
#define NAMED(parameters) PART("Content-Disposition: form-data; " parameters "\r\n")
#define END               "--b--"

struct reading {
    const char *name;
    struct str body;
    const char *expect; /* name(filename,type)=content for each part; or an error */
};

static const struct reading readings[] = {
    { "one field", STR_INIT(FIELD("a", "1") END), "a=1 " },
    { "two fields", STR_INIT(FIELD("a", "1") FIELD("b", "2") END), "a=1 b=2 " },
    { "no parts", STR_INIT(END), "" },
    { "a file",
      STR_INIT("--b\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"a.png\"\r\n"
               "Content-Type: image/png\r\n\r\n\x89PNG\r\n--b--\r\n"),
      "files[0](a.png,image/png)=\x89PNG " },
    { "a preamble", STR_INIT("This is ignored.\r\n" FIELD("a", "1") END), "a=1 " },
    { "an empty line before", STR_INIT("\r\n" FIELD("a", "1") END), "a=1 " },
    { "a boundary inside the preamble's line", STR_INIT("x--b\r\n" FIELD("a", "1") END), "a=1 " },
    { "an epilogue", STR_INIT(FIELD("a", "1") END "\r\n--b\r\nignored"), "a=1 " },
    { "padding behind a boundary",
      STR_INIT("--b \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--"), "a=1 " },

    /* Content. */
    { "empty content", STR_INIT(FIELD("a", "") END), "a= " },
    { "no content at all", STR_INIT("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n--b--"),
      "a= " },
    { "line ends in content", STR_INIT(FIELD("a", "\r\n1\r\n\r\n") END), "a=\r\n1\r\n\r\n " },
    { "a bare CR before a boundary", STR_INIT(FIELD("a", "1\r") END), "a=1\r " },
    { "many CRs before a boundary", STR_INIT(FIELD("a", "\r\r\r") END), "a=\r\r\r " },
    { "a bare LF before dashes", STR_INIT(FIELD("a", "1\n--b") END), "a=1\n--b " },
    { "the beginning of a boundary", STR_INIT(FIELD("a", "\r\n--") END), "a=\r\n-- " },
    { "the beginning of a boundary, twice", STR_INIT(FIELD("a", "\r\n-\r\n--\r\n--x") END),
      "a=\r\n-\r\n--\r\n--x " },
    { "dashes at the start of content", STR_INIT(FIELD("a", "--x") END), "a=--x " },
    { "a dash at the start of content", STR_INIT(FIELD("a", "-") END), "a=- " },
    { "NUL and others in content", STR_INIT(FIELD("a", "\x01\xff") END), "a=\x01\xff " },
    { "a boundary that goes on", STR_INIT(FIELD("a", "\r\n--bc") END), "bad" },

    /* Names. */
    { "a name without quotes", STR_INIT(NAMED("name=a")), "a=x " },
    { "brackets without quotes", STR_INIT(NAMED("name=files[0]")), "files[0]=x " },
    { "a name in UTF-8", STR_INIT(NAMED("name=\"\xc3\xa9\"")), "\xc3\xa9=x " },
    { "an empty name", STR_INIT(NAMED("name=\"\"")), "=x " },
    { "quotes in a name", STR_INIT(NAMED("name=\"a\\\"b\\\\\"")), "a\"b\\=x " },
    { "a backslash in a name", STR_INIT(NAMED("name=\"C:\\dir\"")), "C:\\dir=x " },
    { "a semicolon in a name", STR_INIT(NAMED("name=\"a;b\"")), "a;b=x " },
    { "a filename without quotes", STR_INIT(NAMED("name=a; filename=f.txt")), "a(f.txt,)=x " },
    { "an empty filename", STR_INIT(NAMED("name=a; filename=\"\"")), "a(,)=x " },
    { "an extended filename", STR_INIT(NAMED("name=a; filename*=UTF-8''%e2%82%AC%20x.txt")),
      "a(\xe2\x82\xac x.txt,)=x " },
    { "an extended filename with a language", STR_INIT(NAMED("name=a; filename*=utf-8'en'f.txt")),
      "a(f.txt,)=x " },
    { "an extended filename counts for more",
      STR_INIT(NAMED("name=a; filename*=UTF-8''new; filename=old")), "a(new,)=x " },
    { "names of parameters in any case", STR_INIT(NAMED("NAME=a; FileName=f")), "a(f,)=x " },
    { "other parameters are ignored", STR_INIT(NAMED("size=5; name=a")), "a=x " },
    { "other headers are ignored",
      STR_INIT(PART("X-A: b\r\ncontent-disposition:form-data;name=a\r\nContent-Length: 1\r\n")),
      "a=x " },
    { "an encoding that is none",
      STR_INIT(PART("Content-Disposition: form-data; name=a\r\n"
                    "Content-Transfer-Encoding: binary\r\n")),
      "a=x " },

    /* Refused bodies. */
    { "no bytes at all", STR_INIT(""), "bad" },
    { "no boundary", STR_INIT("hello"), "bad" },
    { "no closing boundary", STR_INIT(FIELD("a", "1")), "bad" },
    { "half a closing boundary", STR_INIT(FIELD("a", "1") "--b-"), "bad" },
    { "a closing boundary with one dash", STR_INIT(FIELD("a", "1") "--b-\r\n"), "bad" },
    { "a boundary in the middle of a line", STR_INIT("--b\r\nA: b\r\n\r\nx--b--"), "bad" },
    { "a bare LF behind a boundary",
      STR_INIT("--b\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--"), "bad" },
    { "dashes behind padding", STR_INIT("--b --\r\n"), "bad" },
    { "no head", STR_INIT("--b\r\n\r\nx\r\n--b--"), "bad" },
    { "no disposition", STR_INIT(PART("Content-Type: a/b\r\n")), "bad" },
    { "another disposition", STR_INIT(PART("Content-Disposition: file; name=a\r\n")), "bad" },
    { "two dispositions",
      STR_INIT(PART("Content-Disposition: form-data; name=a\r\n"
                    "Content-Disposition: form-data; name=b\r\n")),
      "bad" },
    { "two content types",
      STR_INIT(PART("Content-Disposition: form-data; name=a\r\n"
                    "Content-Type: a/b\r\nContent-Type: c/d\r\n")),
      "bad" },
    { "an encoding to be undone",
      STR_INIT(PART("Content-Disposition: form-data; name=a\r\n"
                    "Content-Transfer-Encoding: base64\r\n")),
      "bad" },
    { "no name", STR_INIT(PART("Content-Disposition: form-data\r\n")), "bad" },
    { "a filename only", STR_INIT(NAMED("filename=a")), "bad" },
    { "two names", STR_INIT(NAMED("name=a; name=b")), "bad" },
    { "two filenames", STR_INIT(NAMED("name=a; filename=b; filename=c")), "bad" },
    { "two extended filenames", STR_INIT(NAMED("name=a; filename*=UTF-8''b; filename*=UTF-8''c")),
      "bad" },
    { "a name with an open quote", STR_INIT(NAMED("name=\"a")), "bad" },
    { "a name with a space behind its sign", STR_INIT(NAMED("name= a")), "bad" },
    { "words behind a name", STR_INIT(NAMED("name=a b")), "bad" },
    { "no semicolon between parameters", STR_INIT(NAMED("name=a filename=b")), "bad" },
    { "NUL in a name", STR_INIT(NAMED("name=\"a\0b\"")), "bad" },
    { "a control in a name", STR_INIT(NAMED("name=\"a\x1f\"")), "bad" },
    { "a tab in a name", STR_INIT(NAMED("name=\"a\tb\"")), "bad" },
    { "DEL in a filename", STR_INIT(NAMED("name=a; filename=\"\x7f\"")), "bad" },
    { "a name that is not UTF-8", STR_INIT(NAMED("name=\"\xff\"")), "bad" },
    { "NUL in an extended filename", STR_INIT(NAMED("name=a; filename*=UTF-8''a%00b")), "bad" },
    { "an extended filename that is not UTF-8", STR_INIT(NAMED("name=a; filename*=UTF-8''%ff")),
      "bad" },
    { "an extended filename of another charset", STR_INIT(NAMED("name=a; filename*=ISO-8859-1''a")),
      "bad" },
    { "an extended filename without quotes", STR_INIT(NAMED("name=a; filename*=UTF-8'a")), "bad" },
    { "a broken escape", STR_INIT(NAMED("name=a; filename*=UTF-8''a%4")), "bad" },
    { "an escape that is none", STR_INIT(NAMED("name=a; filename*=UTF-8''a%4g")), "bad" },
    { "a folded header", STR_INIT(PART("Content-Disposition: form-data;\r\n name=a\r\n")), "bad" },
    { "a space before a colon", STR_INIT(PART("Content-Disposition : form-data; name=a\r\n")),
      "bad" },
    { "NUL in another header",
      STR_INIT(PART("Content-Disposition: form-data; name=a\r\nA: \0\r\n")), "bad" },
    { "a header without colon", STR_INIT(PART("Content-Disposition: form-data; name=a\r\nA\r\n")),
      "bad" },
    { "a header without name", STR_INIT(PART("Content-Disposition: form-data; name=a\r\n: b\r\n")),
      "bad" },
    { "a bare LF in a head", STR_INIT(PART("A: b\nContent-Disposition: form-data; name=a\r\n")),
      "bad" },
    { "a bare CR in a head", STR_INIT(PART("A: b\rContent-Disposition: form-data; name=a\r\n")),
      "bad" },

    /* 64 bytes for all parts together. */
    { "as much content as there may be",
      STR_INIT(FIELD("a", "0123456789012345678901234567890")
                   FIELD("b", "012345678901234567890123456789012") END),
      "a=0123456789012345678901234567890 b=012345678901234567890123456789012 " },
    { "more content than there may be",
      STR_INIT(FIELD("a", "0123456789012345678901234567890")
                   FIELD("b", "0123456789012345678901234567890123") END),
      "large" },
    { "more content that looks like a boundary",
      STR_INIT(FIELD("a", "012345678901234567890123456789012345678901234567890123456789"
                          "\r\n--x") END),
      "large" },
};

static void describe(struct buf *out, const struct multipart *m)
{
    for (size_t i = 0; i < multipart_get_part_count(m); i++) {
        const struct multipart_part *p = multipart_get_part_at(m, i);

        buf_printf(out, "%s", p->name);
        if (p->filename)
            buf_printf(out, "(%s,%s)", p->filename, p->content_type ? p->content_type : "");
        buf_add_char(out, '=');
        buf_add_str(out, buf_as_str(&p->data));
        buf_add_char(out, ' ');
    }
}

static enum err feed(struct multipart *m, struct str piece)
{
    char *copy = malloc(piece.n + !piece.n);

    if (piece.n)
        memcpy(copy, piece.p, piece.n);
    enum err e = multipart_feed(m, str_slice(copy, piece.n));
    free(copy);
    return e;
}

static void check_multipart_in_pieces(const struct reading *c, size_t first, size_t step)
{
    struct multipart *m = multipart_new(STR("b"), MAX_TOTAL);
    struct buf out;

    buf_init(&out, 4096);
    enum err e = feed(m, str_slice(c->body.p, first));
    for (size_t at = first; at < c->body.n; at += step) {
        enum err next =
            feed(m, str_slice(c->body.p + at, c->body.n - at < step ? c->body.n - at : step));
        /* Every call after an error returns the same error. */
        assert_true(!e || next == e);
        e = next;
    }
    enum err end = multipart_finish(m);
    assert_true(!e || end == e);
    if (end == OK)
        describe(&out, m);
    else
        buf_printf(&out, end == ERR_BAD_REQUEST ? "bad" : "large");
    assert_true(end == OK || end == ERR_BAD_REQUEST || end == ERR_ENTITY_TOO_LARGE);
    if (!str_is(buf_as_str(&out), c->expect))
        fail_msg("%s: '%.*s' instead of '%s' (%zu, then %zu a piece)", c->name,
                 STR_ARGS(buf_as_str(&out)), c->expect, first, step);
    buf_clear(&out);
    multipart_free(m);
}

static void multipart_bodies_are_parsed_equally_in_all_pieces(void **state)
{
    const struct reading *c = *state;

    for (size_t first = 0; first <= c->body.n; first++)
        check_multipart_in_pieces(c, first, c->body.n);
    check_multipart_in_pieces(c, 0, 1);
    check_multipart_in_pieces(c, 1, 3);
}

static void invalid_multipart_boundaries_are_refused(void **state)
{
    (void)state;
    static const char *const good[] = {
        "a", "----WebKitFormBoundary0", "'()+_,-./:=?", "a b",
        "1234567890123456789012345678901234567890123456789012345678901234567890"
    };
    static const char *const bad[] = {
        "",      " ",   "a ",
        "a\"b",  "a;b", "a\r",
        "a\x80", "a@b", "12345678901234567890123456789012345678901234567890123456789012345678901"
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct multipart *m = multipart_new(str_of(good[i]), 1);
        assert_non_null(m);
        multipart_free(m);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_null(multipart_new(str_of(bad[i]), 1));
    assert_null(multipart_new(STR("a\0b"), 1));
    multipart_free(NULL);
}

static void multipart_parts_are_found_by_name(void **state)
{
    (void)state;
    struct multipart *m = multipart_new(STR("b"), MAX_TOTAL);

    assert_int_equal(multipart_feed(m, STR(FIELD("a", "1") FIELD("b", "2") FIELD("b", "3") END)),
                     OK);
    assert_int_equal(multipart_finish(m), OK);
    assert_int_equal(multipart_get_part_count(m), 3);
    assert_str(buf_as_str(&multipart_find_part(m, STR("b"))->data), "2");
    assert_null(multipart_find_part(m, STR("c")));
    assert_null(multipart_get_part_at(m, 3));
    multipart_free(m);
}

static enum err feed_fields(int count)
{
    struct multipart *m = multipart_new(STR("b"), MAX_TOTAL);
    enum err e = OK;

    for (int i = 0; i < count && !e; i++)
        e = multipart_feed(m, STR(FIELD("a", "")));
    if (!e)
        e = multipart_feed(m, STR(END));
    if (!e)
        e = multipart_finish(m);
    multipart_free(m);
    return e;
}

static void number_of_multipart_parts_is_limited(void **state)
{
    (void)state;

    assert_int_equal(feed_fields(MULTIPART_MAX_PARTS), OK);
    assert_int_equal(feed_fields(MULTIPART_MAX_PARTS + 1), ERR_ENTITY_TOO_LARGE);
}

/* Feeds a part whose header has n bytes. */
static enum err feed_head(size_t n)
{
    const char *start = "Content-Disposition: form-data; name=a\r\nA: ";
    struct multipart *m = multipart_new(STR("b"), MAX_TOTAL);
    enum err e = multipart_feed(m, STR("--b\r\n"));

    assert_int_equal(e, OK);
    e = multipart_feed(m, str_of(start));
    for (size_t i = strlen(start) + 4; i < n && !e; i++)
        e = multipart_feed(m, STR("a"));
    if (!e)
        e = multipart_feed(m, STR("\r\n\r\n\r\n" END));
    if (!e)
        e = multipart_finish(m);
    multipart_free(m);
    return e;
}

static void multipart_part_header_size_is_limited(void **state)
{
    (void)state;

    assert_int_equal(feed_head(MULTIPART_MAX_PART_HEAD), OK);
    assert_int_equal(feed_head(MULTIPART_MAX_PART_HEAD + 1), ERR_ENTITY_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(invalid_multipart_boundaries_are_refused),
        cmocka_unit_test(multipart_parts_are_found_by_name),
        cmocka_unit_test(number_of_multipart_parts_is_limited),
        cmocka_unit_test(multipart_part_header_size_is_limited),
    };
    struct CMUnitTest tests[COUNT_OF(readings) + COUNT_OF(others)];

    for (size_t i = 0; i < COUNT_OF(readings); i++)
        tests[i] =
            (struct CMUnitTest){ .name = readings[i].name,
                                 .test_func = multipart_bodies_are_parsed_equally_in_all_pieces,
                                 .initial_state = (void *)(uintptr_t)&readings[i] };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        tests[COUNT_OF(readings) + i] = others[i];
    return cmocka_run_group_tests_name("net/multipart", tests, NULL, NULL);
}
