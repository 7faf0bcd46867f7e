/* gifs.c - GIF catalogues for tests. */
#include "gifs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "gifs/gifs.h"
#include "platforms.h"

/* --- files ---------------------------------------------------------------------------- */

static void put(struct world *w, const char *name, const void *bytes, size_t n)
{
    char path[512];

    snprintf(path, sizeof path, "%s/gif-files/%s", world_folder(w), name);
    FILE *f = fopen(path, "wb");
    expect(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static void put_gif(struct world *w, const char *name, unsigned width, unsigned height)
{
    unsigned char b[14] = "GIF89a";

    b[6] = width & 0xff;
    b[7] = (unsigned char)(width >> 8);
    b[8] = height & 0xff;
    b[9] = (unsigned char)(height >> 8);
    b[13] = 0x3b;
    put(w, name, b, sizeof b);
}

static void big32(unsigned char *at, unsigned v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* Writes ftyp, then moov with one trak with one tkhd of version 0. */
static void put_mp4(struct world *w, const char *name, unsigned width, unsigned height)
{
    enum { HEADER = 92 };
    unsigned char b[16 + 16 + HEADER] = { 0 };

    big32(b, 16);
    memcpy(b + 4, "ftypisom", 8);
    big32(b + 16, 16 + HEADER);
    memcpy(b + 20, "moov", 4);
    big32(b + 24, 8 + HEADER);
    memcpy(b + 28, "trak", 4);
    big32(b + 32, HEADER);
    memcpy(b + 36, "tkhd", 4);
    big32(b + 32 + HEADER - 8, width << 16);
    big32(b + 32 + HEADER - 4, height << 16);
    put(w, name, b, sizeof b);
}

static void put_webm(struct world *w, const char *name)
{
    static const unsigned char b[] = {
        0x1a, 0x45, 0xdf, 0xa3, 0x80,                   /* EBML, empty */
        0x18, 0x53, 0x80, 0x67, 0x91,                   /* Segment, 17 bytes */
        0x16, 0x54, 0xae, 0x6b, 0x8c,                   /* Tracks, 12 */
        0xae, 0x8a,                                     /* TrackEntry, 10 */
        0xe0, 0x88,                                     /* Video, 8 */
        0xb0, 0x82, 0x02, 0x80, 0xba, 0x82, 0x01, 0x68, /* 640 x 360 */
    };

    put(w, name, b, sizeof b);
}

static void put_webp(struct world *w, const char *name)
{
    unsigned char b[30] = "RIFF\x16\0\0\0WEBPVP8X\x0a";

    b[24] = (498 - 1) & 0xff;
    b[25] = (498 - 1) >> 8;
    b[27] = (280 - 1) & 0xff;
    b[28] = (280 - 1) >> 8;
    put(w, name, b, sizeof b);
}

static void put_png(struct world *w, const char *name)
{
    unsigned char b[33] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    big32(b + 16, 220);
    big32(b + 20, 124);
    put(w, name, b, sizeof b);
}

const char *world_gif_folder(struct world *w)
{
    static char folder[400];

    snprintf(folder, sizeof folder, "%s/gif-files", world_folder(w));
    if (mkdir(folder, 0700) != 0)
        return folder;
    put_gif(w, "f.gif", 498, 280);
    put_gif(w, "medium.gif", 448, 252);
    put_gif(w, "tiny.gif", 220, 124);
    put_gif(w, "nano.gif", 120, 68);
    put_mp4(w, "f.mp4", 640, 360);
    put_mp4(w, "tiny.mp4", 320, 180);
    put_mp4(w, "sizeless.mp4", 0, 0);
    put_webm(w, "f.webm");
    put_webp(w, "f.webp");
    put_png(w, "still.png");
    put(w, "not.gif", "PK\3\4 not a picture", 18);
    return folder;
}

/* --- rows ----------------------------------------------------------------------------- */

static void append_import_problem(void *arg, size_t row, struct str what)
{
    buf_printf(arg, "%zu: %.*s\n", row, STR_ARGS(what));
}

struct gif_import world_import_gif_text(struct world *w, struct str text)
{
    struct gifs_import_report report;
    struct buf problems;

    buf_init(&problems, 64 * 1024);
    struct gifs_import in = {
        .text = text,
        .folder = world_gif_folder(w),
        .problem = append_import_problem,
        .problem_arg = &problems,
    };
    expect(gifs_import(guildhall_get_store(world_server(w)), &in, &report) == OK);
    struct gif_import done = { report.made, report.renewed, report.refused,
                               str_dup_cstring(world_arena(w), buf_as_str(&problems)) };
    buf_clear(&problems);
    return done;
}

struct gif_import world_import_gifs(struct world *w, const char *text)
{
    char *copy = str_dup_cstring(world_arena(w), str_of(text));

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return world_import_gif_text(w, str_of(copy));
}

const char *gif_ids(struct answer a)
{
    struct buf out;

    expect_status(a, 200);
    expect(a.json && a.json->kind == JSON_ARRAY);
    buf_init(&out, 64 * 1024);
    for (size_t i = 0; i < a.json->count; i++) {
        const struct dom *item = &a.json->items[i];
        const struct dom *id = item->kind == JSON_STRING ? item : dom_at(item, "id");

        expect(id);
        buf_printf(&out, "%s%.*s", i ? " " : "", STR_ARGS(id->text));
    }
    char *text = str_dup_cstring(world_arena(a.client->world), buf_as_str(&out));
    buf_clear(&out);
    return text;
}

void world_count_choices(struct world *w)
{
    clock_restart_wall_and_monotonic(); /* a choice during a count waits for the next count */
    world_wait(w, 1);
    expect_number(w, 0, "select count(*) from gif_choices");
    clock_stop_wall_and_monotonic();
}

void expect_gifs_at(const char *file, int line, struct world *w, const char *query, const char *ids)
{
    const char *found = gif_ids(client_get(world_anonymous(w), "/gifs/search?q=%s", query));

    if (strcmp(found, ids) != 0)
        fail_test(file, line, "'%s' finds '%s', not '%s'", query, found, ids);
}
