/* recording.c - reads a recording, which consists of JSON lines. The first line is the head. */
#include "tools/replay/recording.h"

#include <stdio.h>

#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/tools.h"

struct recording_head {
    int64_t guildhall_recording; /* version of the format */
    struct str url, bot;
};
static const struct field head_fields[] = {
    { FIELD(struct recording_head, guildhall_recording), .type = &type_int },
    { FIELD(struct recording_head, url), .type = &type_text },
    { FIELD(struct recording_head, bot), .type = &type_text },
    { 0 },
};
static const struct schema head_schema = { .size = sizeof(struct recording_head),
                                           .fields = head_fields };
static const struct type type_head = { .kind = KIND_OBJECT, .schema = &head_schema };

struct recorded_line {
    struct str kind;
    int64_t monotonic_ms;
    struct opt_str method, path, request, reply, event, d;
    struct opt_int status;
    struct opt_bool request_cut, reply_cut, d_cut;
};
static const struct field line_fields[] = {
    { FIELD(struct recorded_line, kind), .type = &type_text },
    { FIELD(struct recorded_line, monotonic_ms), .type = &type_int },
    { FIELD(struct recorded_line, method), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct recorded_line, path), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct recorded_line, request), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct recorded_line, reply), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct recorded_line, event), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct recorded_line, d), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct recorded_line, status), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct recorded_line, request_cut), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct recorded_line, reply_cut), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct recorded_line, d_cut), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema line_schema = { .size = sizeof(struct recorded_line),
                                           .fields = line_fields };
static const struct type type_line = { .kind = KIND_OBJECT, .schema = &line_schema };

struct str remove_version_from_path(struct str path)
{
    struct str rest;

    if (str_starts_with(path, STR("/api/")))
        path = str_skip_bytes(path, 4);
    rest = path;
    if (str_starts_with(path, STR("/v"))) {
        rest = str_skip_bytes(rest, 2);
        while (rest.n && rest.p[0] >= '0' && rest.p[0] <= '9')
            rest = str_skip_bytes(rest, 1);
        if (rest.n && rest.p[0] == '/' && rest.p > path.p + 2)
            return rest;
    }
    return path;
}

bool recorded_path_matches(struct str recorded, struct str path)
{
    while (recorded.n && path.n) {
        struct str a = str_cut(&recorded, '/'), b = str_cut(&path, '/');

        if (!str_is(a, "***") && !str_eq(a, b))
            return false;
    }
    return !recorded.n && !path.n;
}

static void add_recorded_call(struct recorded_traffic *r, const struct recorded_line *l)
{
    struct str query = l->path.value, path = str_cut(&query, '?');

    r->calls[r->call_count++] = (struct recorded_call){
        .method = l->method.value,
        .path = remove_version_from_path(path),
        .query = query,
        .request = l->request.value,
        .reply = l->reply.value,
        .status = l->status.value,
        .at_ms = l->monotonic_ms,
        .request_is_cut = l->request_cut.value,
    };
    r->end_ms = l->monotonic_ms;
}

/* Adds an event of the recording. If the bot had several sessions, their events are appended
 * without READY and RESUMED, because the replay uses one session. */
static void add_recorded_event(struct recorded_traffic *r, const struct recorded_line *l)
{
    bool starts = str_is(l->event.value, "READY") || str_is(l->event.value, "RESUMED");

    if (r->event_count ? starts : !str_is(l->event.value, "READY"))
        return;
    r->events[r->event_count++] = (struct recorded_event){ .name = l->event.value,
                                                           .data = l->d.value,
                                                           .at_ms = l->monotonic_ms,
                                                           .calls_before = r->call_count };
    r->end_ms = l->monotonic_ms;
}

static size_t count_lines(struct str text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.n; i++)
        count += text.p[i] == '\n';
    return count;
}

static bool read_recording_head(struct str *text, struct arena *arena, struct recorded_traffic *ret)
{
    const struct recording_head *head =
        schema_decode_or_null(&type_head, str_cut(text, '\n'), arena);

    if (!head || head->guildhall_recording != 1)
        return false;
    struct str rest = head->url, scheme = str_cut(&rest, '/');
    str_cut(&rest, '/');
    ret->authority = rest.n ? str_cut(&rest, '/') : scheme;
    ret->bot = head->bot;
    return true;
}

/* Adds the lines of a recording. Returns how many texts in it are truncated, or -1 if a line is not
 * valid. */
static int64_t read_lines(struct str text, struct arena *arena, struct recorded_traffic *ret)
{
    int64_t cut = 0;

    while (text.n) {
        struct str json = str_cut(&text, '\n');
        const struct recorded_line *l =
            json.n ? schema_decode_or_null(&type_line, json, arena) : NULL;

        if (!json.n)
            continue;
        if (!l)
            return -1;
        if (str_is(l->kind, "call"))
            add_recorded_call(ret, l);
        else if (str_is(l->kind, "sent") && l->event.given == GIVEN)
            add_recorded_event(ret, l);
        else if (str_is(l->kind, "clock"))
            ret->moved_clocks++;
        cut += l->reply_cut.value || l->d_cut.value;
    }
    return cut;
}

bool recorded_traffic_read(const char *path, struct arena *arena, struct recorded_traffic *ret)
{
    struct buf in;

    buf_init(&in, SIZE_MAX);
    if (!read_file_or_stdin(path, &in))
        return false;
    struct str text = buf_move_to_arena(&in, arena);
    size_t lines = count_lines(text);
    *ret = (struct recorded_traffic){ .calls = arena_array(arena, struct recorded_call, lines),
                                      .events = arena_array(arena, struct recorded_event, lines) };
    int64_t cut = read_recording_head(&text, arena, ret) ? read_lines(text, arena, ret) : -1;
    if (cut < 0)
        fprintf(stderr, "guildhall: '%s' is not a recording of 'guildhall record'\n", path);
    else if (cut)
        fprintf(stderr,
                "guildhall: %lld texts of the recording are truncated, so it cannot be replayed; "
                "record it on a server with --traffic 8 or more\n",
                (long long)cut);
    else if (!ret->event_count)
        fprintf(stderr,
                "guildhall: the recording has no event READY; record the bot from its start\n");
    return !cut && ret->event_count;
}
