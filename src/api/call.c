/* call.c - the functions of call.h: path parameters, responses, events, limits, revocations. */
#include "api/internal.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "model/events/event_routing.h"
#include "model/text/old_api_encoding.h"
#include "model/permissions/member_permissions.h"

static size_t find_path_parameter(const struct call *call, const char *name)
{
    const struct call_context *run = call_get_context(call);

    for (size_t i = 0; i < run->match.count; i++)
        if (str_is(str_of(run->match.resolvers[i]->name), name))
            return i;
    assert(false && "the path has no such parameter");
    return 0;
}

int call_get_api_version(const struct call *call)
{
    const struct call_context *run = call_get_context(call);

    return call->exchange ? run->match.version : VERSION_NEWEST;
}

snowflake call_get_path_id(const struct call *call, const char *name)
{
    return call_get_context(call)->ids[find_path_parameter(call, name)];
}

struct str call_get_path_text(const struct call *call, const char *name)
{
    return call_get_context(call)->match.params[find_path_parameter(call, name)];
}

static struct call_stage_data *find_stage_data(const struct call *call, const char *type)
{
    struct call_stage_data *s = call_get_context(call)->slots;

    while (s && s->type != type && strcmp(s->type, type) != 0)
        s = s->next;
    return s;
}

void call_store_borrowed_stage_data(struct call *call, const char *type, void *value)
{
    struct call_stage_data *s = find_stage_data(call, type);

    if (!s) {
        s = arena_alloc(call->arena, sizeof *s);
        *s = (struct call_stage_data){ .next = call_get_context(call)->slots, .type = type };
        call_get_context(call)->slots = s;
    }
    s->value = value;
}

void *call_store_stage_data(struct call *call, const char *type, size_t size)
{
    void *value = arena_alloc(call->arena, size);

    call_store_borrowed_stage_data(call, type, value);
    return value;
}

void *call_get_stage_data(const struct call *call, const char *type)
{
    const struct call_stage_data *s = find_stage_data(call, type);

    return s ? s->value : NULL;
}

enum err call_parse_path_id(struct call *call, const char *name, snowflake *ret)
{
    const struct call_context *run = call_get_context(call);
    size_t i = find_path_parameter(call, name);
    struct json_path at = json_path_key(NULL, str_of(run->match.resolvers[i]->field));

    if (snowflake_parse(run->match.params[i], ret))
        return OK;
    form_add_error(&call->form, &at, FORM_NOT_SNOWFLAKE,
                   STR_ARGS(form_shorten_quoted_value(run->match.params[i])));
    return ERR_INVALID_FORM_BODY;
}

enum err call_reply_with_object_of_type(struct call *call, const struct type *type,
                                        const void *value)
{
    struct json_writer j = json_writer_to_buf(&call->reply);

    schema_encode(&j, type, value);
    return OK;
}

struct json_writer call_get_reply_json_writer(struct call *call)
{
    return json_writer_to_buf(&call->reply);
}

enum err call_reply_with_object(struct call *call, const void *value)
{
    return call_reply_with_object_of_type(call, call->route->reply, value);
}

enum err call_reply_with_text(struct call *call, struct str content_type, struct str text)
{
    call_get_context(call)->response.type = content_type;
    buf_add_str(&call->reply, text);
    return OK;
}

enum err call_reply_with_buf(struct call *call, struct str content_type, struct buf *text)
{
    enum err e = buf_is_full(text) ? ERR_ANSWER_TOO_LARGE
                                   : call_reply_with_text(call, content_type, buf_as_str(text));

    buf_clear(text);
    return e;
}

enum err call_reply_with_shared_text(struct call *call, struct shared_text *text)
{
    call_get_context(call)->response.shared = text;
    return OK;
}

enum err call_reply_with_static_bytes(struct call *call, struct str content_type, struct str bytes)
{
    struct call_response *a = &call_get_context(call)->response;

    a->type = content_type;
    a->borrowed = bytes;
    a->no_gzip = true;
    return OK;
}

/* Selects the size of a file. Files stored by old program versions have no row, or no size (-1). */
static const char FIND_FILE[] =
    "select case when size > 0 or digest <> '' then size else -1 end from files "
    "where name = $1 and gone = 0";

enum err call_open_blob(struct call *call, const char *name, int *ret_fd, int64_t *ret_size)
{
    struct store *store = call->api->options.store;
    struct rows row;
    bool found = false;
    enum err e = OK;

    if (blobs_are_remote(store)) {
        if (blob_open_without_network(store, name, ret_fd, ret_size))
            return OK;
        e = tx_require_background_thread(call->tx);
    }
    if (!e)
        e = tx_one(call->tx, FIND_FILE, BIND(v_text(str_of(name))), &row, &found);
    if (e)
        return e;
    return found ? blob_open_and_check_size(store, name, row_int(&row, 0), ret_fd, ret_size)
                 : blob_open(store, name, ret_fd, ret_size);
}

enum err call_reply_with_file(struct call *call, struct str content_type, int fd, int64_t size)
{
    struct call_response *a = &call_get_context(call)->response;

    a->type = content_type;
    a->file = fd;
    a->file_size = size;
    return OK;
}

enum err call_reply_with_file_range(struct call *call, struct str content_type, int fd,
                                    int64_t size)
{
    struct str range = http_find_header(call->exchange->request, STR("Range"));
    int64_t first, last;
    int range_result = range.p ? http_parse_range(range, size, &first, &last) : 0;

    call_add_header(call, "Accept-Ranges", STR("bytes"));
    if (range_result == 0)
        return call_reply_with_file(call, content_type, fd, size);
    if (range_result > 0 && lseek(fd, first, SEEK_SET) == first) {
        call_set_status(call, 206);
        call_add_header(call, "Content-Range",
                        str_printf(call->arena, "bytes %lld-%lld/%lld", (long long)first,
                                   (long long)last, (long long)size));
        return call_reply_with_file(call, content_type, fd, last - first + 1);
    }
    close(fd);
    call_add_header(call, "Content-Range",
                    str_printf(call->arena, "bytes */%lld", (long long)size));
    call_set_status(call, error_info(ERR_RANGE)->status);
    write_error_response_json(ERR_RANGE, NULL, &call->reply);
    return OK;
}

void call_set_status(struct call *call, int status)
{
    call_get_context(call)->response.status = status;
}

void call_add_header(struct call *call, const char *name, struct str value)
{
    struct buf *lines = &call_get_context(call)->response.headers;

    buf_add_str(lines, str_of(name));
    buf_add_lit(lines, ": ");
    buf_add_str(lines, value);
    buf_add_lit(lines, "\r\n");
}

static uint64_t permissions_withheld_by_mfa(const struct call *call)
{
    return call->target.member_access ? call->target.member_access->withheld_here : 0;
}

enum err call_get_missing_permissions_error(const struct call *call, uint64_t needs)
{
    uint64_t missing = needs & ~call->target.permissions;

    call_get_context(call)->refusal =
        (struct call_refusal_cause){ .all = missing ? missing : needs };
    return missing && !(missing & ~permissions_withheld_by_mfa(call)) ? ERR_GUILD_MFA_REQUIRED
                                                                      : ERR_MISSING_PERMISSIONS;
}

enum err call_require_permissions(const struct call *call, uint64_t needs)
{
    return (call->target.permissions & needs) == needs
               ? OK
               : call_get_missing_permissions_error(call, needs);
}

enum err call_get_missing_any_permission_error(const struct call *call, uint64_t any)
{
    call_get_context(call)->refusal = (struct call_refusal_cause){ .any = any };
    return get_error_for_missing_permissions(permissions_withheld_by_mfa(call), any);
}

enum err call_get_rank_too_low_error(const struct call *call)
{
    call_get_context(call)->refusal = (struct call_refusal_cause){ .rank = true };
    return ERR_MISSING_PERMISSIONS;
}

enum err call_get_not_guild_owner_error(const struct call *call)
{
    call_get_context(call)->refusal = (struct call_refusal_cause){ .owner = true };
    call_set_refusal_cause(call, "only the owner of the server may do this");
    return ERR_MISSING_PERMISSIONS;
}

enum err call_add_field_error(struct call *call, const char *field, const char *code,
                              const char *message)
{
    struct json_path at = json_path_key(NULL, str_of(field));

    form_add_error(&call->form, field ? &at : NULL, code, "%s", message);
    return ERR_INVALID_FORM_BODY;
}

/* Adds the members of a private Discord thread to the audience of the event, because the gateway
 * does not store them. */
static void add_private_thread_members_to_audience(struct call *call, struct emitted_event *a)
{
    struct list members = { 0 };

    call_get_context(call)->effects.announce_error =
        call->api->read_private_members(call->tx, a->to.channel_id, &members);
    a->to.user_ids = members.items;
    a->to.user_count = members.count;
}

static void record_emitted_event(struct call *call, struct emitted_event made)
{
    struct emitted_event *a = arena_alloc(call->arena, sizeof *a);
    struct call_commit_effects *effects = &call_get_context(call)->effects;

    *a = made;
    /* Read the members of a private channel now, in the transaction, so that a user who leaves the
     * channel later in this call still receives the event. */
    if (a->to.kind == AUDIENCE_CHANNEL && call->api->read_private_members &&
        !effects->announce_error)
        effects->announce_error =
            call->api->read_private_members(call->tx, a->to.id, &a->member_ids);
    else if (a->to.thread_type && a->to.private_thread && call->api->read_private_members &&
             !effects->announce_error)
        add_private_thread_members_to_audience(call, a);
    *effects->announced_end = a;
    effects->announced_end = &a->next;
}

static void record_emitted_event_with_object(struct call *call, struct emitted_event a,
                                             const struct schema *schema, const void *object)
{
    struct buf payload;
    struct json_writer j = json_writer_to_buf(&payload);

    buf_init(&payload, CALL_MAX_REPLY);
    schema_encode_object(&j, schema, object);
    a.payload = buf_move_to_arena(&payload, call->arena);
    a.routing = event_routing_extract(a.event, schema, object, call->arena);
    record_emitted_event(call, a);
}

void call_emit_event(struct call *call, enum event event, struct audience to,
                     const struct schema *schema, const void *object)
{
    record_emitted_event_with_object(call, (struct emitted_event){ .event = event, .to = to },
                                     schema, object);
}

void call_emit_guild_event_to_user(struct call *call, enum event event, snowflake user_id,
                                   snowflake guild_id, const struct schema *schema,
                                   const void *object)
{
    record_emitted_event_with_object(call,
                                     (struct emitted_event){ .event = event,
                                                             .to = audience_of_user(user_id),
                                                             .guild_id = guild_id },
                                     schema, object);
}

void call_emit_json_event(struct call *call, enum event event, struct audience to,
                          snowflake guild_id, struct str json)
{
    assert(event_routing_kind(event) == ROUTING_NONE);
    record_emitted_event(
        call,
        (struct emitted_event){ .event = event, .to = to, .payload = json, .guild_id = guild_id });
}

void call_emit_encoded_event(struct call *call, enum event event, struct audience to,
                             const struct schema *schema, const void *object, struct str json)
{
    record_emitted_event(call, (struct emitted_event){ .event = event,
                                                       .to = to,
                                                       .payload = json,
                                                       .routing = event_routing_extract(
                                                           event, schema, object, call->arena) });
}

/* Returns the resource key of a shared limit, which counts the calls of all callers together. For
 * other limits returns 0. */
static uint64_t limit_resource_key(const struct rate_limit *limit, struct str key)
{
    return limit->shared ? hash_str(key) : 0;
}

/* Returns the call's array element for this limit and key, or a free one, or NULL if all are in
 * use. */
static struct counted_rate_limit *find_limit_count_or_free_entry(struct call *call,
                                                                 const struct rate_limit *limit,
                                                                 uint64_t key)
{
    struct counted_rate_limit *room = NULL;

    for (size_t i = 0; i < CALL_MOST_COUNTED; i++) {
        struct counted_rate_limit *c = &call_get_context(call)->counted[i];

        if (c->limit == limit && c->key == key)
            return c;
        if (!c->limit)
            room = c;
    }
    return room;
}

enum err call_count_against_rate_limit(struct call *call, const struct rate_limit *limit,
                                       struct str key)
{
    struct call_context *run = call_get_context(call);
    struct counted_rate_limit *counted = find_limit_count_or_free_entry(call, limit, hash_str(key));

    if (rate_limits_are_disabled(call->api->limits) || (counted && counted->limit))
        return OK;
    struct rate_limit_result v = rate_limits_count_call(call->api->limits, hash_str(key), true,
                                                        limit, limit_resource_key(limit, key));
    if (v.allowed) {
        if (counted)
            *counted = (struct counted_rate_limit){ limit, hash_str(key) };
        return OK;
    }
    v.of = run->limit_result.of;
    v.limit = run->limit_result.limit;
    v.remaining = run->limit_result.remaining;
    run->limit_result = v;
    return ERR_RATE_LIMITED;
}

void call_revert_rate_limit_count(struct call *call, const struct rate_limit *limit, struct str key)
{
    struct counted_rate_limit *counted = find_limit_count_or_free_entry(call, limit, hash_str(key));

    if (counted)
        *counted = (struct counted_rate_limit){ 0 };
    if (!rate_limits_are_disabled(call->api->limits))
        rate_limits_revert_call_count(call->api->limits, hash_str(key), true, limit,
                                      limit_resource_key(limit, key));
}

enum err call_replace_route_rate_limit(struct call *call, const struct rate_limit *limit,
                                       struct str key)
{
    struct call_context *run = call_get_context(call);

    if (rate_limits_are_disabled(call->api->limits))
        return OK;
    run->limit_result = rate_limits_count_call(call->api->limits, hash_str(key), true, limit,
                                               limit_resource_key(limit, key));
    run->limit_result.of = limit;
    if (!run->limit_result.allowed)
        return ERR_RATE_LIMITED;
    /* Replace the rate-limit headers of the route; no other response header was written yet. */
    buf_reset(&run->response.headers);
    write_rate_limit_headers(&run->limit_result, limit, &run->response.headers);
    return OK;
}

enum err call_refuse_as_rate_limited(struct call *call, int64_t ms)
{
    struct call_context *run = call_get_context(call);

    run->limit_result = (struct rate_limit_result){
        .limit = 1,
        .reset_at_ms = clock_ms() + ms,
        .reset_after_ms = ms,
    };
    return ERR_RATE_LIMITED;
}

enum err call_refuse_as_shared_rate_limited(struct call *call, int64_t ms)
{
    enum err e = call_refuse_as_rate_limited(call, ms);

    call_get_context(call)->limit_result.shared = true;
    return e;
}

void call_record_voice_state_change(struct call *call, const struct relay_voice_state *fact)
{
    struct voice_state_change *v = arena_alloc(call->arena, sizeof *v);

    v->next = NULL;
    v->state = *fact;
    *call_get_context(call)->effects.voice_changes_end = v;
    call_get_context(call)->effects.voice_changes_end = &v->next;
}

static struct revocation_record *add_revocation_record(struct call *call)
{
    struct revocation_record *f = arena_alloc(call->arena, sizeof *f);

    f->next = call_get_context(call)->effects.revocations;
    call_get_context(call)->effects.revocations = f;
    return f;
}

void call_revoke_session_token(struct call *call, snowflake account, const unsigned char session[8])
{
    struct revocation_record *f = add_revocation_record(call);

    f->account = account;
    f->one = true;
    memcpy(f->session, session, sizeof f->session);
}

void call_revoke_account_tokens(struct call *call, snowflake id)
{
    add_revocation_record(call)->account = id;
}

void call_revoke_oauth2_tokens(struct call *call, snowflake id)
{
    struct revocation_record *f = add_revocation_record(call);

    f->account = id;
    f->applications_only = true;
}

enum err call_read_nothing_but_path_objects(struct call *call)
{
    (void)call;
    return OK;
}

void call_revoke_application_tokens(struct call *call, snowflake id)
{
    struct revocation_record *f = add_revocation_record(call);

    f->application = id;
    f->applications_only = true;
}

void call_set_address_range_banned(struct call *call, const struct ip_network *n, bool banned)
{
    struct revocation_record *f = add_revocation_record(call);

    f->addresses = banned ? ADDRESSES_BANNED : ADDRESSES_LIFTED;
    f->network = *n;
}
