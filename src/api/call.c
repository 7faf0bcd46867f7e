/* call.c - the functions of call.h: parameters, replies, events, limits, revocations. */
#include "api/internal.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "model/events/facts.h"
#include "model/text/old_versions.h"
#include "model/permissions/rights.h"

static size_t param_index(const struct call *call, const char *name)
{
    const struct call_run *run = run_of(call);

    for (size_t i = 0; i < run->match.count; i++)
        if (str_is(str_of(run->match.resolvers[i]->name), name))
            return i;
    assert(false && "the path has no such parameter");
    return 0;
}

int call_version(const struct call *call)
{
    const struct call_run *run = run_of(call);

    return call->exchange ? run->match.version : VERSION_NEWEST;
}

snowflake call_id(const struct call *call, const char *name)
{
    return run_of(call)->ids[param_index(call, name)];
}

struct str call_text(const struct call *call, const char *name)
{
    return run_of(call)->match.params[param_index(call, name)];
}

static struct call_slot *call_slot(const struct call *call, const char *type)
{
    struct call_slot *s = run_of(call)->slots;

    while (s && s->type != type && strcmp(s->type, type) != 0)
        s = s->next;
    return s;
}

void call_lend(struct call *call, const char *type, void *value)
{
    struct call_slot *s = call_slot(call, type);

    if (!s) {
        s = arena_alloc(call->arena, sizeof *s);
        *s = (struct call_slot){ .next = run_of(call)->slots, .type = type };
        run_of(call)->slots = s;
    }
    s->value = value;
}

void *call_pass(struct call *call, const char *type, size_t size)
{
    void *value = arena_alloc(call->arena, size);

    call_lend(call, type, value);
    return value;
}

void *call_passed(const struct call *call, const char *type)
{
    const struct call_slot *s = call_slot(call, type);

    return s ? s->value : NULL;
}

enum err call_text_id(struct call *call, const char *name, snowflake *ret)
{
    const struct call_run *run = run_of(call);
    size_t i = param_index(call, name);
    struct place at = place_key(NULL, str_of(run->match.resolvers[i]->field));

    if (snowflake_parse(run->match.params[i], ret))
        return OK;
    form_fail(&call->form, &at, FORM_NOT_SNOWFLAKE, STR_FMT(form_quote(run->match.params[i])));
    return ERR_INVALID_FORM_BODY;
}

enum err call_reply_as(struct call *call, const struct type *type, const void *value)
{
    struct json j = json_to(&call->reply);

    schema_encode(&j, type, value);
    return OK;
}

struct json call_reply_json(struct call *call)
{
    return json_to(&call->reply);
}

enum err call_reply(struct call *call, const void *value)
{
    return call_reply_as(call, call->route->reply, value);
}

enum err call_reply_text(struct call *call, struct str content_type, struct str text)
{
    run_of(call)->answer.type = content_type;
    buf_add_str(&call->reply, text);
    return OK;
}

enum err call_reply_buf(struct call *call, struct str content_type, struct buf *text)
{
    enum err e =
        buf_full(text) ? ERR_ANSWER_TOO_LARGE : call_reply_text(call, content_type, buf_str(text));

    buf_clear(text);
    return e;
}

enum err call_reply_shared(struct call *call, struct shared_text *text)
{
    run_of(call)->answer.shared = text;
    return OK;
}

enum err call_reply_kept(struct call *call, struct str content_type, struct str bytes)
{
    struct call_answer *a = &run_of(call)->answer;

    a->type = content_type;
    a->borrowed = bytes;
    a->no_gzip = true;
    return OK;
}

/* Old files have no row, or a row without a size. */
static const char FIND_FILE[] =
    "select case when size > 0 or digest <> '' then size else -1 end from files "
    "where name = $1 and gone = 0";

enum err call_open_blob(struct call *call, const char *name, int *ret_fd, int64_t *ret_size)
{
    struct store *store = call->api->options.store;
    struct rows row;
    bool found = false;
    enum err e = OK;

    if (blobs_are_inside(store)) {
        if (blob_open_near(store, name, ret_fd, ret_size))
            return OK;
        e = tx_expect_long(call->tx);
    }
    if (!e)
        e = tx_one(call->tx, FIND_FILE, BIND(v_text(str_of(name))), &row, &found);
    if (e)
        return e;
    return found ? blob_open_checked(store, name, row_int(&row, 0), ret_fd, ret_size)
                 : blob_open(store, name, ret_fd, ret_size);
}

enum err call_reply_file(struct call *call, struct str content_type, int fd, int64_t size)
{
    struct call_answer *a = &run_of(call)->answer;

    a->type = content_type;
    a->file = fd;
    a->file_size = size;
    return OK;
}

enum err call_reply_range(struct call *call, struct str content_type, int fd, int64_t size)
{
    struct str range = http_header(call->exchange->request, STR("Range"));
    int64_t first, last;
    int asked = range.p ? http_range(range, size, &first, &last) : 0;

    call_add_header(call, "Accept-Ranges", STR("bytes"));
    if (asked == 0)
        return call_reply_file(call, content_type, fd, size);
    if (asked > 0 && lseek(fd, first, SEEK_SET) == first) {
        call_set_status(call, 206);
        call_add_header(call, "Content-Range",
                        str_printf(call->arena, "bytes %lld-%lld/%lld", (long long)first,
                                   (long long)last, (long long)size));
        return call_reply_file(call, content_type, fd, last - first + 1);
    }
    close(fd);
    call_add_header(call, "Content-Range",
                    str_printf(call->arena, "bytes */%lld", (long long)size));
    call_set_status(call, error_info(ERR_RANGE)->status);
    error_body(ERR_RANGE, NULL, &call->reply);
    return OK;
}

void call_set_status(struct call *call, int status)
{
    run_of(call)->answer.status = status;
}

void call_add_header(struct call *call, const char *name, struct str value)
{
    struct buf *lines = &run_of(call)->answer.headers;

    buf_add_str(lines, str_of(name));
    buf_add_lit(lines, ": ");
    buf_add_str(lines, value);
    buf_add_lit(lines, "\r\n");
}

static uint64_t rights_withheld(const struct call *call)
{
    return call->target.standing ? call->target.standing->withheld_here : 0;
}

enum err call_lacks(const struct call *call, uint64_t needs)
{
    uint64_t missing = needs & ~call->target.rights;

    return missing && !(missing & ~rights_withheld(call)) ? ERR_GUILD_MFA_REQUIRED
                                                          : ERR_MISSING_PERMISSIONS;
}

enum err call_lacks_any(const struct call *call, uint64_t any)
{
    return rights_refusal(rights_withheld(call), any);
}

enum err call_invalid(struct call *call, const char *field, const char *code, const char *message)
{
    struct place at = place_key(NULL, str_of(field));

    form_fail(&call->form, field ? &at : NULL, code, "%s", message);
    return ERR_INVALID_FORM_BODY;
}

/* Adds the members of a private thread to the event, because the gateway does not know them. */
static void add_thread_people(struct call *call, struct announcement *a)
{
    struct list people = { 0 };

    run_of(call)->effects.announce_error = call->api->people(call->tx, a->to.channel_id, &people);
    a->to.people = people.items;
    a->to.people_count = people.count;
}

static void add_announcement(struct call *call, struct announcement made)
{
    struct announcement *a = arena_alloc(call->arena, sizeof *a);
    struct call_effects *effects = &run_of(call)->effects;

    *a = made;
    /* Read the members now, so that a user who leaves later in this call still receives the
     * event. */
    if (a->to.kind == SUBJECT_CHANNEL && call->api->people && !effects->announce_error)
        effects->announce_error = call->api->people(call->tx, a->to.id, &a->people);
    else if (a->to.thread_type && a->to.closed && call->api->people && !effects->announce_error)
        add_thread_people(call, a);
    *effects->announced_end = a;
    effects->announced_end = &a->next;
}

static void announce_object(struct call *call, struct announcement a, const struct schema *schema,
                            const void *object)
{
    struct buf payload;
    struct json j = json_to(&payload);

    buf_init(&payload, CALL_MAX_REPLY);
    schema_encode_object(&j, schema, object);
    a.payload = buf_take(&payload, call->arena);
    a.facts = facts_of(a.event, schema, object, call->arena);
    add_announcement(call, a);
}

void call_emit(struct call *call, enum event event, struct subject to, const struct schema *schema,
               const void *object)
{
    announce_object(call, (struct announcement){ .event = event, .to = to }, schema, object);
}

void call_emit_in(struct call *call, enum event event, snowflake user_id, snowflake guild_id,
                  const struct schema *schema, const void *object)
{
    announce_object(
        call, (struct announcement){ .event = event, .to = to_user(user_id), .guild_id = guild_id },
        schema, object);
}

void call_emit_text(struct call *call, enum event event, struct subject to, snowflake guild_id,
                    struct str json)
{
    assert(facts_kind(event) == FACTS_NONE);
    add_announcement(call, (struct announcement){
                               .event = event, .to = to, .payload = json, .guild_id = guild_id });
}

void call_emit_made(struct call *call, enum event event, struct subject to,
                    const struct schema *schema, const void *object, struct str json)
{
    add_announcement(
        call, (struct announcement){ .event = event,
                                     .to = to,
                                     .payload = json,
                                     .facts = facts_of(event, schema, object, call->arena) });
}

/* Returns the resource key of a shared limit, whose counter has no caller; 0 for other limits. */
static uint64_t count_major(const struct limit *limit, struct str key)
{
    return limit->shared ? hash_str(key) : 0;
}

/* Returns the entry of this limit and key, else a free entry, else NULL. */
static struct call_counted *call_counted(struct call *call, const struct limit *limit, uint64_t key)
{
    struct call_counted *room = NULL;

    for (size_t i = 0; i < CALL_MOST_COUNTED; i++) {
        struct call_counted *c = &run_of(call)->counted[i];

        if (c->limit == limit && c->key == key)
            return c;
        if (!c->limit)
            room = c;
    }
    return room;
}

enum err call_count(struct call *call, const struct limit *limit, struct str key)
{
    struct call_run *run = run_of(call);
    struct call_counted *counted = call_counted(call, limit, hash_str(key));

    if (limits_off(call->api->limits) || (counted && counted->limit))
        return OK;
    struct verdict v =
        limits_count(call->api->limits, hash_str(key), true, limit, count_major(limit, key));
    if (v.allowed) {
        if (counted)
            *counted = (struct call_counted){ limit, hash_str(key) };
        return OK;
    }
    v.of = run->verdict.of;
    v.limit = run->verdict.limit;
    v.remaining = run->verdict.remaining;
    run->verdict = v;
    return ERR_RATE_LIMITED;
}

void call_uncount(struct call *call, const struct limit *limit, struct str key)
{
    struct call_counted *counted = call_counted(call, limit, hash_str(key));

    if (counted)
        *counted = (struct call_counted){ 0 };
    if (!limits_off(call->api->limits))
        limits_return(call->api->limits, hash_str(key), true, limit, count_major(limit, key));
}

enum err call_limit(struct call *call, const struct limit *limit, struct str key)
{
    struct call_run *run = run_of(call);

    if (limits_off(call->api->limits))
        return OK;
    run->verdict =
        limits_count(call->api->limits, hash_str(key), true, limit, count_major(limit, key));
    run->verdict.of = limit;
    if (!run->verdict.allowed)
        return ERR_RATE_LIMITED;
    /* Replace the headers of the route's limit; the call has no other headers yet. */
    buf_reset(&run->answer.headers);
    limits_headers(&run->verdict, limit, &run->answer.headers);
    return OK;
}

enum err call_wait(struct call *call, int64_t ms)
{
    struct call_run *run = run_of(call);

    run->verdict = (struct verdict){
        .limit = 1,
        .reset_at_ms = clock_ms() + ms,
        .reset_after_ms = ms,
    };
    return ERR_RATE_LIMITED;
}

enum err call_wait_shared(struct call *call, int64_t ms)
{
    enum err e = call_wait(call, ms);

    run_of(call)->verdict.shared = true;
    return e;
}

void call_note_voice(struct call *call, const struct voice_fact *fact)
{
    struct noted_voice *v = arena_alloc(call->arena, sizeof *v);

    v->next = NULL;
    v->fact = *fact;
    *run_of(call)->effects.voices_end = v;
    run_of(call)->effects.voices_end = &v->next;
}

static struct forgotten *add_forgotten(struct call *call)
{
    struct forgotten *f = arena_alloc(call->arena, sizeof *f);

    f->next = run_of(call)->effects.forgotten;
    run_of(call)->effects.forgotten = f;
    return f;
}

void call_forget_session(struct call *call, snowflake account, const unsigned char session[8])
{
    struct forgotten *f = add_forgotten(call);

    f->account = account;
    f->one = true;
    memcpy(f->session, session, sizeof f->session);
}

void call_forget_account(struct call *call, snowflake id)
{
    add_forgotten(call)->account = id;
}

void call_forget_grants(struct call *call, snowflake id)
{
    struct forgotten *f = add_forgotten(call);

    f->account = id;
    f->of_apps = true;
}

enum err call_looked(struct call *call)
{
    (void)call;
    return OK;
}

void call_forget_application(struct call *call, snowflake id)
{
    struct forgotten *f = add_forgotten(call);

    f->application = id;
    f->of_apps = true;
}

void call_ban_addresses(struct call *call, const struct network *n, bool banned)
{
    struct forgotten *f = add_forgotten(call);

    f->addresses = banned ? ADDRESSES_BANNED : ADDRESSES_LIFTED;
    f->network = *n;
}
