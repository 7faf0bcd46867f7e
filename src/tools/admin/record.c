/* record.c - `guildhall record FILE --user BOT`: saves the recorded traffic of a bot as JSON lines,
 * which `guildhall replay` reads. docs/testing-your-bot.md describes the format. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timestamp.h"
#include "json/read.h"
#include "json/schema.h"
#include "json/write.h"
#include "model/fields/types.h"
#include "server/guildhall.h"
#include "tools/admin/console.h"

enum {
    RECORD_POLL_US = 200 * 1000,
    /* If the offset of the server's clock changes by more than this, the clock was moved; a smaller
     * change is a delay. */
    CLOCK_JUMP_MS = 500,
};

#define RECORD_OFFSET(member) .offset = offsetof(struct command_settings, console.member)

const struct option_row record_option_rows[] = {
    { "user", OPTION_TEXT, RECORD_OFFSET(user), .value = "NAME",
      .help = "The bot whose calls and events are saved" },
    { "seconds", OPTION_INT, RECORD_OFFSET(seconds), .fallback = "0", .min = 0, .max = 86400,
      .help = "Continue for this time; 0: save what was recorded so far" },
    { 0 },
};

struct record_page {
    bool on;
    int64_t last, newest, lost;
    struct list records; /* items: struct str with JSON */
};
struct record_times {
    int64_t at, monotonic_ms;
};
static const struct type type_record_list = { .kind = KIND_ARRAY, .of = &type_raw };
static const struct field page_fields[] = {
    { FIELD(struct record_page, on), .type = &type_bool },
    { FIELD(struct record_page, last), .type = &type_int },
    { FIELD(struct record_page, newest), .type = &type_int },
    { FIELD(struct record_page, lost), .type = &type_int },
    { FIELD(struct record_page, records), .type = &type_record_list },
    { 0 },
};
static const struct schema page_schema = { .size = sizeof(struct record_page),
                                           .fields = page_fields };
static const struct type type_page = { .kind = KIND_OBJECT, .schema = &page_schema };
static const struct field times_fields[] = {
    { FIELD(struct record_times, at), .type = &type_time },
    { FIELD(struct record_times, monotonic_ms), .type = &type_int },
    { 0 },
};
static const struct schema times_schema = { .size = sizeof(struct record_times),
                                            .fields = times_fields };
static const struct type type_times = { .kind = KIND_OBJECT, .schema = &times_schema };

struct recorder {
    const struct command_settings *settings;
    FILE *file;
    int64_t after, saved, lost;
    /* Server's clock minus monotonic clock in ms, at the last record; 0 without a record. */
    int64_t clock_offset_ms;
};

/* Returns whether recordings omit this member of a traffic record, because it describes the bot's
 * machine or repeats another member. */
static bool record_is_omitted_from_recording(struct str name)
{
    return str_is(name, "address") || str_is(name, "request_headers") || str_is(name, "line");
}

static void append_record_line(struct buf *out, struct str record, struct arena *arena)
{
    struct json_writer j = json_writer_to_buf(out);
    struct json_reader r;
    struct str name, value;

    json_reader_init(&r, record, arena);
    json_begin_object(&j);
    json_enter_container(&r);
    while (json_next_member(&r, &name)) {
        if (!json_skip_value(&r, &value))
            break;
        if (record_is_omitted_from_recording(name))
            continue;
        json_write_key(&j, name);
        json_write_raw(&j, value);
    }
    json_end_object(&j);
    buf_add_char(out, '\n');
}

/* Appends a line that records the move if the server's clock was moved since the last record. */
static void append_clock_line(struct recorder *r, struct buf *out, const struct record_times *t)
{
    int64_t offset = t->at / 1000 - t->monotonic_ms, moved = offset - r->clock_offset_ms;

    if (r->clock_offset_ms && (moved > CLOCK_JUMP_MS || moved < -CLOCK_JUMP_MS))
        buf_printf(out,
                   "{\"kind\":\"clock\",\"monotonic_ms\":%" PRId64 ",\"moved_ms\":%" PRId64 "}\n",
                   t->monotonic_ms, moved);
    r->clock_offset_ms = offset;
}

static bool write_page_of_records(struct recorder *r, const struct record_page *page,
                                  struct arena *arena)
{
    const struct str *records = page->records.items;
    struct buf out;

    buf_init(&out, SIZE_MAX);
    for (size_t i = 0; i < page->records.count; i++) {
        const struct record_times *t = schema_decode_or_null(&type_times, records[i], arena);

        if (t)
            append_clock_line(r, &out, t);
        append_record_line(&out, records[i], arena);
    }
    bool ok = fwrite(out.p ? out.p : "", 1, out.n, r->file) == out.n && fflush(r->file) == 0;
    buf_clear(&out);
    r->saved += (int64_t)page->records.count;
    r->lost += page->lost;
    r->after = page->last;
    return ok;
}

/* Saves all traffic records up to now. Returns 0, or the exit status after an error. */
static int save_new_records(struct recorder *r)
{
    const char *user = r->settings->console.user;
    struct arena *arena = arena_new();
    int status = 0;
    bool more = true;

    while (more && !status) {
        arena_reset(arena);
        struct str path = str_printf(arena, "/console/traffic?after=%" PRId64 "&limit=200&user=%s",
                                     r->after, user);
        struct api_client_response a = send_console_request(
            &r->settings->config, arena, "GET", str_dup_cstring(arena, path), (struct str){ 0 });
        const struct record_page *page =
            a.status == 200 ? schema_decode_or_null(&type_page, a.body, arena) : NULL;

        if (!page) {
            if (a.status)
                fprintf(stderr, "guildhall: the server refused to show its traffic: %.*s\n",
                        STR_ARGS(a.body));
            status = 1;
        } else if (!page->on) {
            fprintf(stderr, "guildhall: the server records no traffic; start it with --traffic 8, "
                            "or use 'guildhall demo'\n");
            status = 3;
        } else if (!write_page_of_records(r, page, arena)) {
            fprintf(stderr, "guildhall: cannot write the recording: %s\n", strerror(errno));
            status = 1;
        }
        more = page && page->last < page->newest;
    }
    arena_free(arena);
    return status;
}

static void write_recording_head(struct recorder *r, const char *url)
{
    char now[TIMESTAMP_TEXT_SIZE];
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    timestamp_format(clock_us(), now);
    buf_init(&out, SIZE_MAX);
    json_begin_object(&j);
    json_write_name(&j, "guildhall_recording");
    json_write_int(&j, 1);
    json_write_name(&j, "made_at");
    json_write_text(&j, str_of(now));
    json_write_name(&j, "version");
    json_write_text(&j, STR(GUILDHALL_VERSION));
    json_write_name(&j, "url");
    json_write_text(&j, str_of(url));
    json_write_name(&j, "bot");
    json_write_text(&j, str_of(r->settings->console.user));
    json_end_object(&j);
    fprintf(r->file, "%.*s\n", STR_ARGS(buf_as_str(&out)));
    buf_clear(&out);
}

static bool is_valid_user_argument(const char *user)
{
    return user && *user && strlen(user) <= 64 &&
           user[strspn(user,
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] == 0;
}

static int record_traffic(struct recorder *r)
{
    int64_t until = clock_monotonic_ns() + r->settings->console.seconds * INT64_C(1000000000);
    int status = save_new_records(r);

    while (!status && clock_monotonic_ns() < until) {
        usleep(RECORD_POLL_US);
        status = save_new_records(r);
    }
    if (r->lost)
        fprintf(stderr,
                "guildhall: the recording is incomplete: %" PRId64
                " older records were overwritten; start the server with a larger --traffic\n",
                r->lost);
    if (!status && !r->saved)
        fprintf(stderr, "guildhall: no call and no event of '%s' was recorded; check the name\n",
                r->settings->console.user);
    return status ? status : r->saved ? 0 : 3;
}

int run_command_record(const struct command_settings *s, char **arguments)
{
    struct recorder r = { .settings = s };
    struct arena *arena;

    if (!arguments[0] || arguments[1] || !is_valid_user_argument(s->console.user))
        return print_usage_forms("record FILE --user BOT");
    arena = arena_new();
    const char *url = find_server_url_of_data_folder(&s->config, arena);
    int status = 1;
    if (url) {
        r.file = strcmp(arguments[0], "-") == 0 ? stdout : fopen(arguments[0], "wx");
        if (!r.file)
            fprintf(stderr, "guildhall: cannot write '%s': %s\n", arguments[0], strerror(errno));
    }
    if (r.file) {
        write_recording_head(&r, url);
        status = record_traffic(&r);
        if (r.file != stdout)
            fclose(r.file);
        if (r.file != stdout && !r.saved)
            unlink(arguments[0]);
        if (!status)
            fprintf(stderr, "saved %" PRId64 " records of %s\n", r.saved, s->console.user);
    }
    arena_free(arena);
    return status;
}
