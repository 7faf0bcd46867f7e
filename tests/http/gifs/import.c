/* import.c - importing GIFs into the catalogue. */
#include "gifs.h"

#include <stdio.h>
#include <string.h>

#include "gifs/gifs.h"

#define MEDIA "'media': {'gif': 'f.gif'}}"

static void gifs_can_be_imported_from_json_json_lines_or_csv(struct world *w)
{
    struct gif_import done =
        world_import_gifs(w, " \n[{'id': 'a', 'title': 'one, [two] {', " MEDIA ",\n {'id': 'b', "
                             "'tags': ['tagged', 'a\\'b]'], " MEDIA " ]\n");
    expect(done.made == 2 && done.refused == 0);
    done = world_import_gifs(w, "{'id': 'c', 'title': 'three', " MEDIA "\n\n{'id': 'd', " MEDIA);
    expect(done.made == 2 && done.refused == 0);
    done = world_import_gif_text(
        w, STR("\xef\xbb\xbfid,title,tags,media.gif,media.mp4,weight,ignored\r\n"
               "e,\"four, \"\"five\"\"\",red; green ;,f.gif,,2.5,x\r\n"
               "f,\"two\nlines\",\"[\"\"blue\"\",\"\"sky blue\"\"]\",,f.mp4,,\n"
               "g,six,,f.gif\n"));
    expect(done.made == 3 && done.refused == 0);
    expect_gifs(w, "two", "a f");
    expect_gifs(w, "tagged", "b");
    expect_gifs(w, "five", "e");
    expect_gifs(w, "green", "e");
    expect_gifs(w, "lines", "f");
    expect_gifs(w, "sky", "f");
    expect_gifs(w, "six", "g");
}

static void invalid_import_rows_are_reported_and_skipped(struct world *w)
{
    static const struct {
        const char *row, *problem;
    } cases[] = {
        { "{'id': 'a b', " MEDIA, "id" },
        { "{'id': 'u_theirs', " MEDIA, "id" },
        { "{'id': '12345678901234567890123456789012345678901234567890123456789012345', " MEDIA,
          "id" },
        { "{'id': 'x', 'tags': 'cat', " MEDIA, "tags" },
        { "{'id': 'x', 'locale': 'not a tag', " MEDIA, "locale" },
        { "{'id': 'x', 'rating': 'x', " MEDIA, "rating" },
        { "{'id': 'x', 'weight': -1, " MEDIA, "weight" },
        { "{'id': 'x'}", "media" },
        { "{'id': 'x', 'media': {}}", "media" },
        { "{'id': 'x', 'media': {'webp': 'f.webp'}}", "media" },
        { "{'id': 'x', 'media': {'gif': 'f.gif', 'bmp': 'f.gif'}}", "bmp" },
        { "{'id': 'x', 'media': {'gif': 'missing.gif'}}", "missing.gif" },
        { "{'id': 'x', 'media': {'gif': '../gif-files/f.gif'}}", "inside" },
        { "{'id': 'x', 'media': {'gif': '/etc/passwd'}}", "inside" },
        { "{'id': 'x', 'media': {'gif': 'not.gif'}}", "not.gif" },
        { "{'id': 'x', 'media': {'gif': 'f.mp4'}}", "not a gif" },
        { "{'id': 'x', 'media': {'mp4': 'sizeless.mp4'}}", "width and height" },
        { "{'id': 'x', 'media': {'gif': 'https://example.org/a.gif'}}", "example.org" },
        { "{'id': 'x', " MEDIA "}", "JSON" },
        { "not json", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text =
            str_printf(world_arena(w), "[{'id': 'ok%zu', " MEDIA ",%s]", i, cases[i].row).p;
        struct gif_import done = world_import_gifs(w, text);

        expect(done.made == 1 && done.refused == 1);
        if (strncmp(done.problems, "2: ", 3) != 0 || !strstr(done.problems, cases[i].problem))
            fail_test(__FILE__, __LINE__, "%s: %s", cases[i].row, done.problems);
    }
    expect(world_import_gifs(w, "{'id': 's', 'width': 100, 'height': 50, 'title': 'sized', "
                                "'media': {'mp4': 'sizeless.mp4'}}")
               .made == 1);
    expect_json(client_get(world_anonymous(w), "/gifs/search?q=sized"),
                "[{'width': 100, 'height': 50}]");
}

static void import_row_length_limits_are_exact(struct world *w)
{
    static const struct {
        const char *field;
        int most;
    } cases[] = { { "title", 256 }, { "description", 1024 } };

    for (size_t i = 0; i < 2; i++) {
        for (int more = 0; more < 2; more++) {
            const char *row = str_printf(world_arena(w), "{'%s': '%0*d', " MEDIA, cases[i].field,
                                         cases[i].most + more, 1)
                                  .p;

            expect(world_import_gifs(w, row).made == (more ? 0 : 1));
        }
    }
    for (int more = 0; more < 2; more++) {
        const char *tag = str_printf(world_arena(w), "{'tags': ['%0*d'], " MEDIA, 64 + more, 1).p;
        struct buf tags;

        expect(world_import_gifs(w, tag).made == (more ? 0 : 1));
        buf_init(&tags, 4096);
        for (int i = 0; i < 32 + more; i++)
            buf_printf(&tags, "%st%d", i ? ";" : "", i);
        expect(world_import_gif_text(w, str_printf(world_arena(w), "tags,media.gif\n%.*s,f.gif\n",
                                                   STR_ARGS(buf_as_str(&tags))))
                   .made == (more ? 0 : 1));
        buf_clear(&tags);
    }
}

static void importing_a_known_gif_id_updates_the_gif(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    world_import_gifs(w, "[{'id': 'a', 'title': 'old', 'tags': ['before'], 'media': {'gif': "
                         "'f.gif', 'mp4': 'f.mp4'}}, {'id': 'b', 'weight': 5, " MEDIA "]");
    expect_status(client_post(world_client(w, "ada"), "{'id': 'a', 'q': ''}", "/gifs/select"), 204);
    world_count_choices(w);
    for (int i = 0; i < 2; i++) { /* importing again changes nothing */
        struct gif_import done = world_import_gifs(
            w, "{'id': 'a', 'title': 'new', 'tags': ['after'], 'media': {'gif': 'tiny.gif'}}");

        expect(done.made == 0 && done.renewed == 1);
    }
    expect_gifs(w, "old", "");
    expect_gifs(w, "before", "");
    expect_gifs(w, "new", "a");
    expect_gifs(w, "after", "a");
    expect_json(client_get(nobody, "/gifs/search?q=new"), "[{'width': 220, 'height': 124}]");
    expect_status(client_request(nobody, "GET", "/gifs/a/mp4.mp4", NULL, STR("")), 404);
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/trending-gifs")), "a b") == 0);
    expect_json(client_get(nobody, "/gifs/suggest?q=before"), "[]");
    expect_json(client_get(nobody, "/gifs/suggest?q=aft"), "['after']");
}

static void imported_gif_without_id_gets_a_unique_id(struct world *w)
{
    world_import_gifs(w, "[{'title': 'x', " MEDIA ", {'id': '', 'title': 'x', " MEDIA "]");
    struct answer a = client_get(world_anonymous(w), "/gifs/search?q=x");
    expect_json(a, "[{}, {}]");
    expect(strcmp(answer_text(a, "0.id"), answer_text(a, "1.id")) != 0);
    expect_status(
        client_request(world_anonymous(w), "GET",
                       str_printf(world_arena(w), "/gifs/%s/gif.gif", answer_text(a, "0.id")).p,
                       NULL, STR("")),
        200);
}

/* --- GIFs of the demo ----------------------------------------------------------------- */

/* Decodes a GIF frame and returns its number of pixels, or 0 if the codes are invalid. Only the
 * lengths of the LZW words are needed. */
static size_t frame_pixels(const unsigned char *data, size_t n, unsigned colour_bits)
{
    unsigned clear = 1U << colour_bits, size = colour_bits + 1, count = clear + 2, before = 0;
    static size_t lengths[4096];
    size_t pixels = 0, bit = 0;

    for (unsigned i = 0; i < clear; i++)
        lengths[i] = 1;
    for (; bit + size <= n * 8;) {
        unsigned code = 0;

        for (unsigned i = 0; i < size; i++, bit++)
            code |= (unsigned)(data[bit / 8] >> bit % 8 & 1) << i;
        if (code == clear + 1)
            return pixels;
        if (code == clear) {
            size = colour_bits + 1;
            count = clear + 2;
            before = 0;
            continue;
        }
        if (code > count || (code == count && !before))
            return 0;
        if (before && count < 4096) {
            lengths[count++] = before + 1;
            if (count == 1U << size && size < 12)
                size++;
        }
        before = (unsigned)lengths[code];
        pixels += lengths[code];
    }
    return 0;
}

static size_t count_frames(struct str gif)
{
    const unsigned char *b = (const unsigned char *)gif.p;
    size_t at = 13 + 16 * 3, frames = 0, area = (size_t)(b[6] | b[7] << 8) * (b[8] | b[9] << 8);
    static unsigned char data[1 << 20];

    while (at < gif.n && b[at] != 0x3b) {
        size_t n = 0;
        bool frame = b[at] == 0x2c;

        expect(frame || b[at] == 0x21);
        at += frame ? 11 : 2;
        for (; at < gif.n && b[at]; at += b[at] + 1) {
            memcpy(data + n, b + at + 1, b[at]);
            n += b[at];
        }
        at++;
        frames += frame;
        expect(!frame || frame_pixels(data, n, 4) == area);
    }
    expect(at == gif.n - 1);
    return frames;
}

static void demo_gifs_are_listed_and_their_files_are_valid(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    struct gifs_import_report report;

    expect(gifs_import_demo(guildhall_get_store(world_server(w)), &report) == OK);
    struct answer a = client_get(nobody, "/gifs/trending-gifs?media_format=gif");
    expect(a.json->count == report.made && report.made >= 10);
    for (size_t i = 0; i < a.json->count; i++) {
        static const char *const fields[] = { "src", "gif_src", "preview", "url" };

        for (size_t k = 0; k < 4; k++) {
            struct str url = dom_at(&a.json->items[i], fields[k])->text;
            const char *path = strstr(str_dup_cstring(world_arena(w), url), "/gifs/");
            struct answer file = client_request(nobody, "GET", path, NULL, STR(""));

            expect_status(file, 200);
            expect(file.body.n > 100);
            if (k < 2)
                expect(count_frames(file.body) == 16);
        }
    }
    a = client_get(nobody, "/gifs/trending");
    expect(dom_at(a.json, "categories")->count >= 4 && dom_at(a.json, "gifs")->count == 1);
}

const struct test gifs_import_tests[] = {
    TEST(gifs_can_be_imported_from_json_json_lines_or_csv),
    TEST(invalid_import_rows_are_reported_and_skipped),
    TEST(import_row_length_limits_are_exact),
    TEST(importing_a_known_gif_id_updates_the_gif),
    TEST(imported_gif_without_id_gets_a_unique_id),
    TEST(demo_gifs_are_listed_and_their_files_are_valid),
    { 0 },
};
