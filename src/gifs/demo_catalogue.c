/* demo_catalogue.c - a small demo catalogue of generated animations. */
#include "gifs/internal.h"

#include <math.h>

#include "base/mem.h"
#include "gifs/picture_encoder.h"

enum { WIDTH = 240, HEIGHT = 180, FRAMES = 16, FRAME_HUNDREDTHS = 6 };

/* --- patterns: brightness (0 to 1) of a point (-1 to 1) at a time (0 to 1) ------------ */

static double radians_of_turn(double t)
{
    return 2 * M_PI * t;
}

static double wave_brightness(double x, double y, double t)
{
    return 0.5 + 0.5 * sin(6 * x + 3 * sin(2 * y) - radians_of_turn(t));
}

static double ripple_brightness(double x, double y, double t)
{
    return 0.5 + 0.5 * sin(14 * hypot(x, y) - radians_of_turn(t));
}

static double spin_brightness(double x, double y, double t)
{
    return 0.5 + 0.5 * sin(5 * atan2(y, x) + radians_of_turn(t));
}

static double spiral_brightness(double x, double y, double t)
{
    return 0.5 + 0.5 * sin(3 * atan2(y, x) + 10 * hypot(x, y) - radians_of_turn(t));
}

static double plasma_brightness(double x, double y, double t)
{
    return 0.5 + 0.25 * (sin(5 * x + radians_of_turn(t)) +
                         sin(4 * y - radians_of_turn(t) + 2 * sin(3 * x)));
}

static double bounce_brightness(double x, double y, double t)
{
    return hypot(x, y - 0.7 + 1.2 * fabs(sin(radians_of_turn(t) / 2))) < 0.25 ? 1 : 0.2 * (y + 1);
}

static double heart_brightness(double x, double y, double t)
{
    double size = 0.75 + 0.15 * fabs(sin(radians_of_turn(t)));
    double u = x / size, v = -y / size - 0.1;
    double inside = pow(u * u + v * v - 0.4, 3) - u * u * v * v * v;

    return inside < 0 ? 0.9 : 0.1;
}

static double stripes_brightness(double x, double y, double t)
{
    return fmod(4 * (x + y) + t + 8, 1) < 0.5 ? 0.95 : 0.1;
}

static double checks_brightness(double x, double y, double t)
{
    int cells = (int)floor(4 * x + 2 * t) + (int)floor(4 * y);

    return cells & 1 ? 0.9 : 0.15;
}

static double rain_brightness(double x, double y, double t)
{
    double column = floor((x + 1) * 12), speed = 1 + fmod(column * 7, 3);

    return pow(fmod(8 + fmod(column * 0.37, 1) - y / 2 + speed * t, 1), 4);
}

/* --- catalogue ------------------------------------------------------------------------ */

static const struct demo_entry {
    const char *id, *title, *description, *tags;
    double (*shade)(double x, double y, double t);
    int hue; /* colour, 0 to 11 */
} demo_entries[] = {
    { "demo-wave", "Rolling waves", "Blue waves that never end", "calm;water;hello;loop",
      wave_brightness, 7 },
    { "demo-ripple", "Ripples on a pond", "Rings that run outwards", "calm;water;loop",
      ripple_brightness, 6 },
    { "demo-spin", "Spinning wheel", "A wheel that turns while you wait", "loading;wait;loop;dance",
      spin_brightness, 1 },
    { "demo-spiral", "Falling asleep", "A spiral that makes you sleepy", "sleepy;wait;calm;loop",
      spiral_brightness, 9 },
    { "demo-plasma", "Party lights", "Colours for a party", "party;dance;happy;loop",
      plasma_brightness, 10 },
    { "demo-bounce", "Bouncing ball", "Jumping for joy", "happy;dance;ball;yes", bounce_brightness,
      2 },
    { "demo-heart", "Beating heart", "Thank you, with love", "love;thanks;happy;hello",
      heart_brightness, 0 },
    { "demo-stripes", "Working on it", "Please wait while we build", "loading;wait;work;loop",
      stripes_brightness, 3 },
    { "demo-checks", "Finish line", "Done! The flag is out", "yes;party;work;happy",
      checks_brightness, 5 },
    { "demo-rain", "Rainy day", "It rains on everybody", "sad;water;calm;rain", rain_brightness,
      7 },
    { "demo-applause", "Applause", "Everybody claps", "yes;party;thanks;happy", plasma_brightness,
      2 },
    { "demo-dizzy", "Dizzy", "Too much of everything", "no;sleepy;dance;wait", spiral_brightness,
      4 },
};

/* Returns sixteen colours of one hue, from dark to bright. */
static struct picture_palette create_palette(int hue)
{
    struct picture_palette p;

    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < 3; k++) {
            double tone = 0.5 + 0.5 * cos(radians_of_turn(hue / 12.0 + i / 60.0 - k / 3.0));
            double light = 30 + 225 * (i / 15.0) * (0.35 + 0.65 * tone);

            p.rgb[i][k] = (unsigned char)(light > 255 ? 255 : light);
        }
    }
    return p;
}

static void draw_demo_frame(const struct demo_entry *e, int frame, int width, int height,
                            unsigned char *pixels)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            double u = (2.0 * x - width) / height, v = 2.0 * y / height - 1;
            double shade = e->shade(u, v, (double)frame / FRAMES);

            pixels[y * width + x] = (unsigned char)(shade <= 0   ? 0
                                                    : shade >= 1 ? 15
                                                                 : shade * 15.99);
        }
    }
}

static void draw_demo_gif(const struct demo_entry *e, uint16_t width, uint16_t height,
                          struct buf *out)
{
    struct picture_palette p = create_palette(e->hue);
    unsigned char *pixels = mem_new((size_t)width * height);
    struct picture_frame f = { width, height, pixels };

    gif_encode_begin(out, width, height, &p);
    for (int i = 0; i < FRAMES; i++) {
        draw_demo_frame(e, i, width, height, pixels);
        gif_encode_frame(out, &f, FRAME_HUNDREDTHS);
    }
    gif_encode_end(out);
    mem_free(pixels);
}

static void draw_demo_preview(const struct demo_entry *e, uint16_t width, uint16_t height,
                              struct buf *out)
{
    struct picture_palette p = create_palette(e->hue);
    unsigned char *pixels = mem_new((size_t)width * height);

    draw_demo_frame(e, 0, width, height, pixels);
    png_encode_picture(out, &(struct picture_frame){ width, height, pixels }, &p);
    mem_free(pixels);
}

/* --- import --------------------------------------------------------------------------- */

struct demo_import {
    struct store *store;
    struct gifs_import_report *report;
};

static struct list split_demo_tags(struct arena *a, const char *text)
{
    struct list tags = { 0 };

    for (struct str rest = str_of(text); rest.n;)
        *(struct str *)list_append(a, &tags, sizeof(struct str)) = str_cut(&rest, ';');
    return tags;
}

static enum err import_demo_entry(struct tx *tx, struct demo_import *demo,
                                  const struct demo_entry *e)
{
    static const struct {
        enum gif_format format;
        int divisor;
    } sizes[] = { { GIF_GIF, 1 }, { GIF_TINYGIF, 2 }, { GIF_NANOGIF, 4 }, { GIF_PREVIEW, 2 } };
    struct imported_gif draft = {
        .id = str_of(e->id),
        .title = str_of(e->title),
        .description = str_of(e->description),
        .tags = split_demo_tags(tx_arena(tx), e->tags),
        .locale = STR("*"),
        .rating = STR("g"),
        .weight = 1,
    };
    struct gif_file files[COUNT_OF(sizes)];
    struct buf bytes[COUNT_OF(sizes)];
    bool made;

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        uint16_t width = (uint16_t)(WIDTH / sizes[i].divisor),
                 height = (uint16_t)(HEIGHT / sizes[i].divisor);

        buf_init(&bytes[i], 16 * 1024 * 1024);
        (sizes[i].format == GIF_PREVIEW ? draw_demo_preview : draw_demo_gif)(e, width, height,
                                                                             &bytes[i]);
        files[i] = (struct gif_file){ sizes[i].format, buf_as_str(&bytes[i]), { width, height } };
    }
    enum err err = write_imported_gif(tx, demo->store, &draft,
                                      &(struct list){ files, COUNT_OF(files) }, &made);
    demo->report->made += made;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        buf_clear(&bytes[i]);
    return err;
}

static enum err import_demo_entries(struct tx *tx, void *arg)
{
    struct demo_import *demo = arg;
    enum err e = OK;

    *demo->report = (struct gifs_import_report){ 0 };
    for (size_t i = 0; i < COUNT_OF(demo_entries) && !e; i++)
        e = import_demo_entry(tx, demo, &demo_entries[i]);
    return e ? e : recount_gif_tags(tx);
}

enum err gifs_import_demo(struct store *store, struct gifs_import_report *ret)
{
    struct demo_import demo = { store, ret };

    enum err e =
        store_run_transaction_and_wait(store, STORE_WRITE, NULL, import_demo_entries, &demo);
    if (!e)
        mark_gif_blobs_committed(store);
    return e;
}
