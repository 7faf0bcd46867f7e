/* traffic_records.c - filters traffic records, adds names to them, and redacts them for display. */
#include "admin/console/traffic_records.h"

#include <stdio.h>

#include "base/mem.h"
#include "net/http/http_parser.h"
#include "admin/console/redact.h"

enum {
    RECORDS_EXAMINED_MAX = 1000, /* records examined per page */
    PAGE_MAX_BYTES = 512 * 1024, /* approximate maximum size of a page of records, in bytes */
};

static const char *const record_kind_names[] = {
    [TRAFFIC_CALL] = "call",       [TRAFFIC_OPENED] = "opened", [TRAFFIC_RECEIVED] = "received",
    [TRAFFIC_SENT] = "sent",       [TRAFFIC_CLOSED] = "closed", [TRAFFIC_DELIVERED] = "delivered",
    [TRAFFIC_REFUSED] = "refused",
};

const char *traffic_record_kind_name(const struct displayed_traffic_record *s)
{
    return record_kind_names[s->r.kind];
}

/* Formats a session number as hexadecimal digits. The session_id in READY begins with the same
 * digits. */
void format_traffic_session_number(uint64_t number, char out[SESSION_NUMBER_HEX + 1])
{
    unsigned char bytes[8];

    memcpy(bytes, &number, sizeof bytes);
    for (int i = 0; i < 8; i++)
        snprintf(out + (size_t)i * 2, 3, "%02x", bytes[i]);
}

struct cached_username {
    struct cached_username *next;
    snowflake id;
    struct str name;
};

static enum err find_username(struct tx *tx, struct cached_username **names, snowflake id,
                              struct str *ret)
{
    struct cached_username *n = *names;
    struct rows row;
    bool found;

    while (n && n->id != id)
        n = n->next;
    if (!n) {
        n = arena_alloc(tx_arena(tx), sizeof *n);
        enum err e =
            tx_one(tx, "select username from users where id = $1", BIND(v_id(id)), &row, &found);
        if (e)
            return e;
        *n = (struct cached_username){ *names, id, found ? row_text(&row, 0) : STR("") };
        *names = n;
    }
    *ret = n->name;
    return OK;
}

struct cached_bot {
    struct cached_bot *next;
    snowflake application_id, bot_id; /* bot_id 0: the application has none */
};

/* Finds the bot of an application, because a call that has its credential in the path is shown as a
 * call of this bot. */
static enum err find_bot_of_application(struct tx *tx, struct cached_bot **bots,
                                        struct traffic_record *r)
{
    struct cached_bot *b = *bots;

    while (b && b->application_id != r->application_id)
        b = b->next;
    if (!b) {
        b = arena_alloc(tx_arena(tx), sizeof *b);
        *b = (struct cached_bot){ *bots, r->application_id, 0 };
        enum err e =
            tx_read_id(tx, "select bot_id from applications where id = $1 and bot_id is not null",
                       BIND(v_id(r->application_id)), &b->bot_id);
        if (e)
            return e;
        *bots = b;
    }
    r->user_id = b->bot_id;
    return OK;
}

static struct str redacted_body(struct arena *arena, struct str text, const char *location)
{
    struct buf out;

    buf_init(&out, TRAFFIC_VIEW_MAX_BYTES);
    redact_secrets_in_body(text, location, &out);
    return buf_move_to_arena(&out, arena);
}

static struct str redacted_request_target(struct arena *arena, struct str text,
                                          const char *location)
{
    struct buf out;

    buf_init(&out, TRAFFIC_VIEW_MAX_BYTES);
    redact_secrets_in_request_target(text, location, &out);
    return buf_move_to_arena(&out, arena);
}

static struct str redacted_problem(struct arena *arena, struct str text, const char *location)
{
    struct buf out;

    buf_init(&out, TRAFFIC_VIEW_MAX_BYTES);
    redact_secrets_in_error_text(text, location, &out);
    return buf_move_to_arena(&out, arena);
}

/* Copies only reply headers that the API sets; other headers describe the transport. */
static void fill_redacted_headers(struct displayed_traffic_record *s, const struct buf *room,
                                  struct arena *arena)
{
    const struct traffic_record *r = &s->r;
    struct str type = traffic_record_text(r, room, TRAFFIC_REPLY_TYPE);
    struct buf out;

    buf_init(&out, TRAFFIC_VIEW_MAX_BYTES);
    redact_secrets_in_headers(traffic_record_text(r, room, TRAFFIC_REQUEST_HEAD), r->path_pattern,
                              &out);
    s->request_headers = buf_move_to_arena(&out, arena);
    buf_init(&out, TRAFFIC_VIEW_MAX_BYTES);
    if (type.n)
        redact_secrets_in_headers(STR_CONCAT(arena, STR("Content-Type: "), type), r->path_pattern,
                                  &out);
    redact_secrets_in_headers(traffic_record_text(r, room, TRAFFIC_REPLY_HEAD), r->path_pattern,
                              &out);
    s->reply_headers = buf_move_to_arena(&out, arena);
}

static void fill_redacted_texts(struct displayed_traffic_record *s, const struct buf *room,
                                struct arena *arena)
{
    const struct traffic_record *r = &s->r;
    struct str target = traffic_record_text(r, room, TRAFFIC_TARGET);

    s->target = redacted_request_target(arena, target, r->path_pattern);
    s->problem =
        redacted_problem(arena, traffic_record_text(r, room, TRAFFIC_PROBLEM), r->path_pattern);
    s->address = str_dup(arena, traffic_record_text(r, room, TRAFFIC_ADDRESS));
    s->request =
        redacted_body(arena, traffic_record_text(r, room, TRAFFIC_REQUEST), r->path_pattern);
    s->reply = redacted_body(arena, traffic_record_text(r, room, TRAFFIC_REPLY), r->path_pattern);
    if (r->kind == TRAFFIC_CALL)
        fill_redacted_headers(s, room, arena);
    traffic_record_find_hint(s, target, traffic_record_text(r, room, TRAFFIC_CAUSE), arena);
}

static bool text_contains_word(struct str s, struct str part)
{
    return part.n == 0 || (s.n && memmem(s.p, s.n, part.p, part.n));
}

/* Returns whether the record is an API call or a refused request. */
static bool record_is_request(const struct traffic_record *r)
{
    return r->kind == TRAFFIC_CALL || r->kind == TRAFFIC_REFUSED;
}

static bool record_kind_matches(const struct traffic_record *r, struct str kind)
{
    if (!kind.n)
        return true;
    if (str_is(kind, "request"))
        return record_is_request(r);
    if (str_is(kind, "frame"))
        return !record_is_request(r);
    return str_is(kind, record_kind_names[r->kind]);
}

static bool record_status_matches(const struct traffic_record *r, struct str status)
{
    uint64_t number;

    if (!status.n)
        return true;
    if (!record_is_request(r))
        return false;
    if (str_is(status, "error"))
        return r->status >= 400;
    if (status.n == 3 && status.p[1] == 'x')
        return r->status / 100 == status.p[0] - '0';
    return str_to_u64(status, &number) && r->status == (int64_t)number;
}

static bool record_session_matches(const struct traffic_record *r, struct str session)
{
    char text[SESSION_NUMBER_HEX + 1];

    if (!session.n)
        return true;
    format_traffic_session_number(r->session, text);
    return r->session && session.n >= SESSION_NUMBER_HEX &&
           memcmp(session.p, text, SESSION_NUMBER_HEX) == 0;
}

static bool record_user_matches(const struct displayed_traffic_record *s, struct str user)
{
    snowflake id;

    return !user.n || (s->username.n && str_eq(s->username, user)) ||
           (snowflake_parse(user, &id) && id == s->r.user_id);
}

static bool record_matches_filter(const struct traffic_record *r, const struct traffic_filter *f)
{
    const char *method = r->kind == TRAFFIC_CALL ? http_method_name(r->method) : "";
    bool is_call = r->kind == TRAFFIC_CALL;

    return record_kind_matches(r, f->kind) && record_status_matches(r, f->status) &&
           record_session_matches(r, f->session) &&
           (!f->method.n || str_eq_nocase(f->method, str_of(method))) &&
           (!f->application || f->application == r->application_id) &&
           (!f->event.n || (!is_call && str_is(f->event, r->name ? r->name : ""))) &&
           (!f->route.n || (is_call && (text_contains_word(str_of(r->name), f->route) ||
                                        text_contains_word(str_of(r->path_pattern), f->route))));
}

static bool record_text_matches(const struct displayed_traffic_record *s, struct str text)
{
    return !text.n || text_contains_word(s->target, text) || text_contains_word(s->problem, text) ||
           text_contains_word(s->hint, text) || text_contains_word(s->request, text) ||
           text_contains_word(s->reply, text) || text_contains_word(s->request_headers, text) ||
           text_contains_word(s->reply_headers, text) ||
           text_contains_word(str_of(s->r.name), text);
}

struct page_reader {
    struct tx *tx;
    struct traffic_ring *traffic;
    struct traffic_record_page *page;
    struct cached_username *names;
    struct cached_bot *bots;
    struct buf room;
    /* Whether records are only counted; then texts are read only if the filter searches them. */
    bool counts;
};

/* Reads a record. Sets *ret to true if the record matches the filter. */
static enum err read_matching_record(struct page_reader *p, uint64_t number,
                                     struct displayed_traffic_record *s, bool *ret)
{
    const struct traffic_filter *f = &p->page->filter;
    enum err e = OK;

    *ret = false;
    *s = (struct displayed_traffic_record){ 0 };
    if (!traffic_read_record(p->traffic, number, &s->r, &p->room) ||
        !record_matches_filter(&s->r, f))
        return OK;
    if (!s->r.user_id && s->r.application_id)
        e = find_bot_of_application(p->tx, &p->bots, &s->r);
    if (!e && s->r.user_id)
        e = find_username(p->tx, &p->names, s->r.user_id, &s->username);
    if (e || !record_user_matches(s, f->user))
        return e;
    if (p->counts && !f->text.n) {
        *ret = true;
        return OK;
    }
    fill_redacted_texts(s, &p->room, tx_arena(p->tx));
    e = find_hint_for_unknown_id(p->tx, s);
    *ret = !e && record_text_matches(s, f->text);
    return e;
}

/* Finds the first matching record of a page that ends with the newest record; without a match, sets
 * *ret to the number after the newest record. The page starts at a match, so that PAGE_MAX_BYTES
 * does not end it among older records that do not match. */
static enum err find_first_record_of_page(struct page_reader *p, uint64_t oldest, uint64_t *ret)
{
    uint64_t at = p->page->newest;
    int64_t found = 0;
    enum err e = OK;

    *ret = at + 1;
    for (int looked = 0; at >= oldest && at && looked < RECORDS_EXAMINED_MAX && !e;
         looked++, at--) {
        struct displayed_traffic_record s;
        bool fits;

        e = read_matching_record(p, at, &s, &fits);
        if (fits)
            *ret = at;
        if (fits && ++found == p->page->limit)
            break;
    }
    return e;
}

static enum err read_traffic_page(struct page_reader *p, uint64_t at,
                                  void (*show)(const struct displayed_traffic_record *s, void *arg),
                                  void *arg)
{
    struct traffic_record_page *page = p->page;
    size_t used = arena_used_bytes(tx_arena(p->tx));
    int64_t found = 0;

    for (int looked = 0; at <= page->newest && looked < RECORDS_EXAMINED_MAX; looked++, at++) {
        struct displayed_traffic_record s;
        bool fits;
        enum err e = read_matching_record(p, at, &s, &fits);

        if (e)
            return e;
        page->last = at;
        if (fits)
            show(&s, arg);
        if (fits && ++found == page->limit)
            break;
        if (arena_used_bytes(tx_arena(p->tx)) - used > PAGE_MAX_BYTES)
            break;
    }
    return OK;
}

enum err traffic_for_each_record(struct tx *tx, struct traffic_ring *t,
                                 struct traffic_record_page *page,
                                 void (*show)(const struct displayed_traffic_record *s, void *arg),
                                 void *arg)
{
    struct page_reader p = { .tx = tx, .traffic = t, .page = page };
    uint64_t oldest, at;
    enum err e = OK;

    buf_init(&p.room, TRAFFIC_TEXTS * TRAFFIC_MAX_TEXT + 1);
    traffic_read_record_number_range(t, &oldest, &page->newest);
    at = page->after + 1 > oldest ? page->after + 1 : oldest;
    page->lost = oldest > page->after + 1 && !page->from_end ? oldest - page->after - 1 : 0;
    page->last = page->after < page->newest ? page->after : page->newest;
    p.counts = true;
    if (page->from_end) {
        e = find_first_record_of_page(&p, oldest, &at);
        page->last = at - 1;
    }
    p.counts = false;
    if (!e && oldest)
        e = read_traffic_page(&p, at, show, arg);
    buf_clear(&p.room);
    return e;
}

static void append_record_to_page(const struct displayed_traffic_record *s, void *arg)
{
    struct buf *out = arg;
    struct json_writer j = json_writer_to_buf(out);

    if (out->n)
        buf_add_char(out, ',');
    write_traffic_record_json(s, &j);
}

enum err traffic_read_record_page_json(struct tx *tx, struct traffic_ring *t,
                                       struct traffic_record_page *page)
{
    buf_reset(page->out);
    return traffic_for_each_record(tx, t, page, append_record_to_page, page->out);
}
