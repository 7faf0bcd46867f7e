/* show.c - filters, names and redacts traffic records for display. */
#include "admin/console/show.h"

#include <stdio.h>

#include "base/mem.h"
#include "net/http/http.h"
#include "admin/console/hide.h"

enum {
    MOST_LOOKED_AT = 1000,   /* records read per page */
    MOST_BYTES = 512 * 1024, /* approximate limit of a page */
};

static const char *const kinds[] = {
    [TRAFFIC_CALL] = "call",       [TRAFFIC_OPENED] = "opened", [TRAFFIC_RECEIVED] = "received",
    [TRAFFIC_SENT] = "sent",       [TRAFFIC_CLOSED] = "closed", [TRAFFIC_DELIVERED] = "delivered",
    [TRAFFIC_REFUSED] = "refused",
};

const char *shown_kind(const struct shown *s)
{
    return kinds[s->r.kind];
}

/* Formats a session number as READY does: the beginning of a session id. */
void shown_session(uint64_t number, char out[SHOWN_SESSION + 1])
{
    unsigned char bytes[8];

    memcpy(bytes, &number, sizeof bytes);
    for (int i = 0; i < 8; i++)
        snprintf(out + (size_t)i * 2, 3, "%02x", bytes[i]);
}

struct known_name {
    struct known_name *next;
    snowflake id;
    struct str name;
};

static enum err name_of(struct tx *tx, struct known_name **names, snowflake id, struct str *ret)
{
    struct known_name *n = *names;
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
        *n = (struct known_name){ *names, id, found ? row_text(&row, 0) : STR("") };
        *names = n;
    }
    *ret = n->name;
    return OK;
}

static struct str hidden_body(struct arena *arena, struct str text, const char *place)
{
    struct buf out;

    buf_init(&out, SHOWN_TEXT);
    hide_body(text, place, &out);
    return buf_take(&out, arena);
}

static struct str hidden_target(struct arena *arena, struct str text, const char *place)
{
    struct buf out;

    buf_init(&out, SHOWN_TEXT);
    hide_target(text, place, &out);
    return buf_take(&out, arena);
}

static struct str hidden_problem(struct arena *arena, struct str text, const char *place)
{
    struct buf out;

    buf_init(&out, SHOWN_TEXT);
    hide_problem(text, place, &out);
    return buf_take(&out, arena);
}

/* Shows only reply headers that the API sets; other headers describe the transport. */
static void show_headers(struct shown *s, const struct buf *room, struct arena *arena)
{
    const struct traffic_record *r = &s->r;
    struct str type = traffic_text(r, room, TRAFFIC_REPLY_TYPE);
    struct buf out;

    buf_init(&out, SHOWN_TEXT);
    hide_headers(traffic_text(r, room, TRAFFIC_REQUEST_HEAD), r->place, &out);
    s->request_headers = buf_take(&out, arena);
    buf_init(&out, SHOWN_TEXT);
    if (type.n)
        hide_headers(STR_CONCAT(arena, STR("Content-Type: "), type), r->place, &out);
    hide_headers(traffic_text(r, room, TRAFFIC_REPLY_HEAD), r->place, &out);
    s->reply_headers = buf_take(&out, arena);
}

static void show_texts(struct shown *s, const struct buf *room, struct arena *arena)
{
    const struct traffic_record *r = &s->r;
    struct str target = traffic_text(r, room, TRAFFIC_TARGET);

    s->target = hidden_target(arena, target, r->place);
    s->problem = hidden_problem(arena, traffic_text(r, room, TRAFFIC_PROBLEM), r->place);
    s->address = str_dup(arena, traffic_text(r, room, TRAFFIC_ADDRESS));
    s->request = hidden_body(arena, traffic_text(r, room, TRAFFIC_REQUEST), r->place);
    s->reply = hidden_body(arena, traffic_text(r, room, TRAFFIC_REPLY), r->place);
    if (r->kind == TRAFFIC_CALL)
        show_headers(s, room, arena);
    s->hint = mistake_of(r, target);
}

static bool str_holds(struct str s, struct str part)
{
    return part.n == 0 || (s.n && memmem(s.p, s.n, part.p, part.n));
}

/* Returns whether the record is a call or a rejected attempt. */
static bool is_request(const struct traffic_record *r)
{
    return r->kind == TRAFFIC_CALL || r->kind == TRAFFIC_REFUSED;
}

static bool kind_fits(const struct traffic_record *r, struct str kind)
{
    if (!kind.n)
        return true;
    if (str_is(kind, "request"))
        return is_request(r);
    if (str_is(kind, "frame"))
        return !is_request(r);
    return str_is(kind, kinds[r->kind]);
}

static bool status_fits(const struct traffic_record *r, struct str status)
{
    uint64_t number;

    if (!status.n)
        return true;
    if (!is_request(r))
        return false;
    if (str_is(status, "error"))
        return r->status >= 400;
    if (status.n == 3 && status.p[1] == 'x')
        return r->status / 100 == status.p[0] - '0';
    return str_to_u64(status, &number) && r->status == (int64_t)number;
}

static bool session_fits(const struct traffic_record *r, struct str session)
{
    char text[SHOWN_SESSION + 1];

    if (!session.n)
        return true;
    shown_session(r->session, text);
    return r->session && session.n >= SHOWN_SESSION && memcmp(session.p, text, SHOWN_SESSION) == 0;
}

static bool user_fits(const struct shown *s, struct str user)
{
    snowflake id;

    return !user.n || (s->username.n && str_eq(s->username, user)) ||
           (snowflake_parse(user, &id) && id == s->r.user_id);
}

static bool record_fits(const struct traffic_record *r, const struct traffic_filter *f)
{
    const char *method = r->kind == TRAFFIC_CALL ? http_method_name(r->method) : "";
    bool is_call = r->kind == TRAFFIC_CALL;

    return kind_fits(r, f->kind) && status_fits(r, f->status) && session_fits(r, f->session) &&
           (!f->method.n || str_eq_nocase(f->method, str_of(method))) &&
           (!f->application || f->application == r->application_id) &&
           (!f->event.n || (!is_call && str_is(f->event, r->name ? r->name : ""))) &&
           (!f->route.n || (is_call && (str_holds(str_of(r->name), f->route) ||
                                        str_holds(str_of(r->place), f->route))));
}

static bool text_fits(const struct shown *s, struct str text)
{
    return !text.n || str_holds(s->target, text) || str_holds(s->problem, text) ||
           str_holds(s->request, text) || str_holds(s->reply, text) ||
           str_holds(s->request_headers, text) || str_holds(s->reply_headers, text) ||
           str_holds(str_of(s->r.name), text);
}

struct page_reader {
    struct tx *tx;
    struct traffic *traffic;
    struct traffic_page *page;
    struct known_name *names;
    struct buf room;
    bool counts; /* count only; texts are skipped unless the filter searches them */
};

/* *ret: whether the record matches the filter. */
static enum err read_one(struct page_reader *p, uint64_t number, struct shown *s, bool *ret)
{
    const struct traffic_filter *f = &p->page->filter;
    enum err e = OK;

    *ret = false;
    *s = (struct shown){ 0 };
    if (!traffic_get(p->traffic, number, &s->r, &p->room) || !record_fits(&s->r, f))
        return OK;
    if (s->r.user_id)
        e = name_of(p->tx, &p->names, s->r.user_id, &s->username);
    if (e || !user_fits(s, f->user))
        return e;
    if (p->counts && !f->text.n) {
        *ret = true;
        return OK;
    }
    show_texts(s, &p->room, tx_arena(p->tx));
    *ret = text_fits(s, f->text);
    return OK;
}

/* Finds the first record of a page that ends with the newest one. */
static enum err find_start(struct page_reader *p, uint64_t oldest, uint64_t *ret)
{
    uint64_t at = p->page->newest;
    int64_t found = 0;
    enum err e = OK;

    for (int looked = 0; at >= oldest && at && looked < MOST_LOOKED_AT && !e; looked++, at--) {
        struct shown s;
        bool fits;

        e = read_one(p, at, &s, &fits);
        if (fits && ++found == p->page->limit)
            break;
    }
    *ret = at ? at : 1;
    return e;
}

static enum err read_page(struct page_reader *p, uint64_t at,
                          void (*show)(const struct shown *s, void *arg), void *arg)
{
    struct traffic_page *page = p->page;
    size_t used = arena_used(tx_arena(p->tx));
    int64_t found = 0;

    for (int looked = 0; at <= page->newest && looked < MOST_LOOKED_AT; looked++, at++) {
        struct shown s;
        bool fits;
        enum err e = read_one(p, at, &s, &fits);

        if (e)
            return e;
        page->last = at;
        if (fits)
            show(&s, arg);
        if (fits && ++found == page->limit)
            break;
        if (arena_used(tx_arena(p->tx)) - used > MOST_BYTES)
            break;
    }
    return OK;
}

enum err traffic_each(struct tx *tx, struct traffic *t, struct traffic_page *page,
                      void (*show)(const struct shown *s, void *arg), void *arg)
{
    struct page_reader p = { .tx = tx, .traffic = t, .page = page };
    uint64_t oldest, at;
    enum err e = OK;

    buf_init(&p.room, TRAFFIC_TEXTS * TRAFFIC_LONGEST + 1);
    traffic_range(t, &oldest, &page->newest);
    at = page->after + 1 > oldest ? page->after + 1 : oldest;
    page->lost = oldest > page->after + 1 && !page->from_end ? oldest - page->after - 1 : 0;
    page->last = page->after < page->newest ? page->after : page->newest;
    p.counts = true;
    if (page->from_end)
        e = find_start(&p, oldest, &at);
    p.counts = false;
    if (!e && oldest)
        e = read_page(&p, at, show, arg);
    buf_clear(&p.room);
    return e;
}

static void add_to_page(const struct shown *s, void *arg)
{
    struct buf *out = arg;
    struct json j = json_to(out);

    if (out->n)
        buf_add_char(out, ',');
    shown_write(s, &j);
}

enum err traffic_read(struct tx *tx, struct traffic *t, struct traffic_page *page)
{
    buf_reset(page->out);
    return traffic_each(tx, t, page, add_to_page, page->out);
}
