/* settings_proto.c - user settings as protocol buffers and as JSON (/users/@me/settings-proto). The
 * server interprets only the numbers or names of the top-level fields, and the version. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "base/mem.h"
#include "json/read.h"
#include "model/fields/types.h"
#include "platform/accounts/settings/proto_fields.h"
#include "platform/accounts/settings/settings.h"

enum {
    PROTO_TYPES = 3,
    LONGEST_PROTO = 1024 * 1024, /* maximum number of base64 characters */
    FIELD_VERSIONS = 1,          /* number of the top-level field that the server writes */
    FIELD_DATA_VERSION = 3,      /* number of the change counter inside FIELD_VERSIONS */
};

/* --- request bodies, replies and events ---------------------------------------------- */

struct proto_change {
    struct str settings;
    struct opt_int required_data_version;
};
static const struct type type_proto = { .kind = KIND_STRING,
                                        .max = LONGEST_PROTO,
                                        .doc = "Base64" };
static const struct field change_fields[] = {
    { FIELD(struct proto_change, settings), .type = &type_proto },
    { FIELD(struct proto_change, required_data_version), .type = &type_count,
      .flags = OPTIONAL | NULLABLE, .doc = "Nothing changes if the stored version is newer" },
    { 0 },
};
static const struct schema change_schema = {
    .name = "SettingsProtoChange",
    .size = sizeof(struct proto_change),
    .fields = change_fields,
    .doc = "Fields to replace; other fields stay unchanged.",
};
static const struct type proto_body = { .kind = KIND_OBJECT, .schema = &change_schema };

struct proto_reply_body {
    struct str settings;
    struct opt_bool out_of_date;
};
static const struct field reply_fields[] = {
    { FIELD(struct proto_reply_body, settings), .type = &type_text, .doc = "Base64" },
    { FIELD(struct proto_reply_body, out_of_date), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema reply_schema = {
    .name = "SettingsProto",
    .size = sizeof(struct proto_reply_body),
    .fields = reply_fields,
    .doc = "Settings of a client.",
};
static const struct type proto_reply = { .kind = KIND_OBJECT, .schema = &reply_schema };

struct proto_part {
    int64_t type;
    struct str proto;
};
struct proto_event {
    const struct proto_part *settings;
    bool partial;
};
static const struct field part_fields[] = {
    { FIELD(struct proto_part, type), .type = &type_count },
    { FIELD(struct proto_part, proto), .type = &type_text },
    { 0 },
};
static const struct schema part_schema = { .size = sizeof(struct proto_part),
                                           .fields = part_fields };
static const struct type type_part = { .kind = KIND_OBJECT, .schema = &part_schema };
static const struct field event_fields[] = {
    { FIELD(struct proto_event, settings), .type = &type_part },
    { FIELD(struct proto_event, partial), .type = &type_bool },
    { 0 },
};
static const struct schema event_schema = {
    .name = "SettingsProtoChanged",
    .size = sizeof(struct proto_event),
    .fields = event_fields,
    .doc = "Settings of a client that changed.",
};

struct proto_row {
    int64_t version;     /* 0 if there is no row */
    struct str settings; /* base64; the version field comes first */
};

static const char FIND_PROTO[] =
    "select version, settings from settings_protos where user_id = $1 and type = $2";
static const char FIND_VERSION[] =
    "select version from settings_protos where user_id = $1 and type = $2";
static const char PUT_PROTO[] =
    "insert into settings_protos (user_id, type, version, settings) values ($1, $2, $3, $4) "
    "on conflict (user_id, type) do update set version = $3, settings = $4";

/* Encodes settings as base64 with the version field first; `fields` must not contain one. */
static struct str encode_settings_proto(struct arena *a, int64_t version, struct str fields)
{
    struct buf versions, out;

    buf_init(&versions, 64);
    protobuf_append_varint_field(&versions, FIELD_DATA_VERSION, (uint64_t)version);
    buf_init(&out, 2 * LONGEST_PROTO);
    protobuf_append_bytes_field(&out, FIELD_VERSIONS, buf_as_str(&versions));
    buf_add_str(&out, fields);
    buf_clear(&versions);
    struct str bytes = buf_move_to_arena(&out, a);
    size_t size = sodium_base64_encoded_len(bytes.n, sodium_base64_VARIANT_ORIGINAL);
    char *text = arena_alloc_unzeroed(a, size);

    sodium_bin2base64(text, size, (const unsigned char *)bytes.p, bytes.n,
                      sodium_base64_VARIANT_ORIGINAL);
    return str_slice(text, size - 1);
}

/* Returns whether the stored settings have the version field, which is always the first. Rows of
 * earlier program versions lack it. */
static bool settings_proto_has_version_field(struct arena *a, struct str text)
{
    struct str begin;

    return str_base64_decode(a, str_slice(text.p, text.n < 4 ? text.n : 4), &begin) && begin.n &&
           (unsigned char)begin.p[0] == (FIELD_VERSIONS << 3 | 2);
}

static enum err read_settings_proto(struct tx *tx, snowflake user_id, int64_t type,
                                    struct proto_row *ret)
{
    struct rows row;
    bool found = false;
    struct str bytes;
    enum err e = tx_one(tx, FIND_PROTO, BIND(v_id(user_id), v_int(type)), &row, &found);

    *ret = (struct proto_row){ 0, STR("") };
    if (e || !found)
        return e;
    *ret = (struct proto_row){ row_int(&row, 0), row_text(&row, 1) };
    if (!settings_proto_has_version_field(tx_arena(tx), ret->settings) &&
        str_base64_decode(tx_arena(tx), ret->settings, &bytes))
        ret->settings = encode_settings_proto(tx_arena(tx), ret->version, bytes);
    return OK;
}

static enum err read_settings_proto_version(struct tx *tx, snowflake user_id, int64_t type,
                                            int64_t *ret)
{
    return tx_read_int(tx, FIND_VERSION, BIND(v_id(user_id), v_int(type)), ret);
}

static enum err check_settings_proto_type(struct call *call)
{
    snowflake type = call_get_path_id(call, "proto.type");

    return type >= 1 && type <= PROTO_TYPES ? OK : ERR_NOT_FOUND;
}

static enum err get_settings_proto(struct call *call)
{
    struct proto_row p;
    enum err e = read_settings_proto(call->tx, call->caller->id,
                                     (int64_t)call_get_path_id(call, "proto.type"), &p);

    return e ? e : call_reply_with_object(call, &(struct proto_reply_body){ p.settings, { 0 } });
}

/* Settings before and after a change. The thread pool merges and encodes them, because each may
 * have 1 MiB. */
struct settings_proto_merge {
    struct proto_row before, after;
    bool good;
};

static enum err read_settings_proto_before_merge(struct call *call)
{
    struct settings_proto_merge *m = call_get_stage_data(call, "settings_proto_merge");

    return read_settings_proto(call->tx, call->caller->id,
                               (int64_t)call_get_path_id(call, "proto.type"), &m->before);
}

static bool decode_settings_proto(struct arena *a, struct str text, struct list *ret)
{
    struct str bytes;

    return str_base64_decode(a, text, &bytes) && protobuf_split_fields(a, bytes, ret);
}

static enum err merge_settings_proto(struct call *call)
{
    const struct proto_change *in = call->body;
    struct settings_proto_merge *m = call_get_stage_data(call, "settings_proto_merge");
    struct list before, fields;

    m->good = decode_settings_proto(call->arena, in->settings, &fields);
    if (!m->good)
        return OK;
    if (!decode_settings_proto(call->arena, m->before.settings, &before))
        before = (struct list){ 0 };
    struct str merged = protobuf_merge_fields(call->arena, &before, &fields, FIELD_VERSIONS);
    m->after.version = m->before.version + 1;
    m->after.settings = merged.n > LONGEST_PROTO
                            ? (struct str){ 0 }
                            : encode_settings_proto(call->arena, m->after.version, merged);
    return OK;
}

static enum err schedule_settings_proto_merge(struct call *call)
{
    call_store_stage_data(call, "settings_proto_merge", sizeof(struct settings_proto_merge));
    call->read = read_settings_proto_before_merge;
    call->compute = merge_settings_proto;
    return OK;
}

static enum err write_settings_proto(struct call *call, int64_t type, const struct proto_row *p)
{
    struct proto_part part = { type, p->settings };
    enum err e = tx_exec(
        call->tx, PUT_PROTO,
        BIND(v_id(call->caller->id), v_int(type), v_int(p->version), v_text(p->settings)), NULL);

    if (e)
        return e;
    call_emit_event(call, EVENT_USER_SETTINGS_PROTO_UPDATE, audience_of_user(call->caller->id),
                    &event_schema, &(struct proto_event){ &part, false });
    return call_reply_with_object(call, &(struct proto_reply_body){ part.proto, { 0 } });
}

static enum err modify_settings_proto(struct call *call)
{
    const struct proto_change *in = call->body;
    const struct settings_proto_merge *m = call_get_stage_data(call, "settings_proto_merge");
    int64_t type = (int64_t)call_get_path_id(call, "proto.type"), version;

    if (!m->good)
        return call_add_field_error(call, "settings", "INVALID_USER_SETTINGS_DATA",
                                    "Invalid user settings.");
    enum err e = read_settings_proto_version(call->tx, call->caller->id, type, &version);
    if (e)
        return e;
    if (version != m->before.version)
        return call_restart_at_read_stage(call);
    if (in->required_data_version.given == GIVEN && in->required_data_version.value < version)
        return call_reply_with_object(
            call, &(struct proto_reply_body){ m->before.settings, opt_true_or_absent(true) });
    if (!m->after.settings.p)
        return call_add_field_error(call, "settings", "BASE_TYPE_MAX_LENGTH",
                                    "The new and the existing settings together are too long.");
    return write_settings_proto(call, type, &m->after);
}

/* --- settings as JSON ----------------------------------------------------------------- */

/* Clients that know no protocol buffers store JSON with the same meaning. The names of its fields
 * differ from client to client, so the server does not convert one form to the other: the JSON is
 * in a separate row, whose type is JSON_TYPES higher. */
enum { JSON_TYPES = 100 };

struct json_settings {
    struct str settings;
};
static const struct type type_json_settings = { .kind = KIND_RAW,
                                                .max = LONGEST_PROTO,
                                                .doc = "Object" };
static const struct field json_settings_fields[] = {
    { FIELD(struct json_settings, settings), .type = &type_json_settings },
    { 0 },
};
static const struct schema json_settings_schema = {
    .name = "JsonSettings",
    .size = sizeof(struct json_settings),
    .fields = json_settings_fields,
    .doc = "Settings of a client as a JSON object.",
};
static const struct type json_settings_type = { .kind = KIND_OBJECT,
                                                .schema = &json_settings_schema };

static int64_t json_settings_row_type(const struct call *call)
{
    return JSON_TYPES + (int64_t)call_get_path_id(call, "proto.type");
}

static enum err read_json_settings(struct tx *tx, snowflake user_id, int64_t type,
                                   struct proto_row *ret)
{
    struct rows row;
    bool found = false;
    enum err e = tx_one(tx, FIND_PROTO, BIND(v_id(user_id), v_int(type)), &row, &found);

    *ret = (struct proto_row){ 0, STR("{}") };
    if (!e && found)
        *ret = (struct proto_row){ row_int(&row, 0), row_text(&row, 1) };
    return e;
}

static enum err get_json_settings(struct call *call)
{
    struct proto_row p;
    enum err e = read_json_settings(call->tx, call->caller->id, json_settings_row_type(call), &p);

    return e ? e : call_reply_with_object(call, &(struct json_settings){ p.settings });
}

static enum err read_json_settings_before_merge(struct call *call)
{
    struct settings_proto_merge *m = call_get_stage_data(call, "settings_proto_merge");

    return read_json_settings(call->tx, call->caller->id, json_settings_row_type(call), &m->before);
}

enum { JSON_SETTINGS_MEMBERS_MAX = 100 };

/* Members of a JSON object, in the order of its text. */
struct json_members {
    struct str keys[JSON_SETTINGS_MEMBERS_MAX], values[JSON_SETTINGS_MEMBERS_MAX];
    size_t count;
};

/* Returns the index of a key, or the number of members if the object lacks the key. */
static size_t json_members_find(const struct json_members *m, struct str key)
{
    size_t i = 0;

    while (i < m->count && !str_eq(m->keys[i], key))
        i++;
    return i;
}

/* Returns false if the text is not an object or has too many members. If several members have the
 * same key, the last one is used. */
static bool json_members_read(struct arena *a, struct str text, struct json_members *ret)
{
    struct json_reader r;
    struct str key, value;

    ret->count = 0;
    json_reader_init(&r, text, a);
    if (json_peek_kind(&r) != JSON_OBJECT)
        return false;
    json_enter_container(&r);
    while (json_next_member(&r, &key) && json_skip_value(&r, &value)) {
        size_t i = json_members_find(ret, key);

        if (i == JSON_SETTINGS_MEMBERS_MAX)
            return false;
        ret->keys[i] = key;
        ret->values[i] = value;
        if (i == ret->count)
            ret->count++;
    }
    return json_is_at_end(&r);
}

/* Replaces those members of the stored JSON object that the request contains. */
static enum err merge_settings_json_members(struct call *call)
{
    const struct json_settings *in = call->body;
    struct settings_proto_merge *m = call_get_stage_data(call, "settings_proto_merge");
    struct json_members *parts = arena_array(call->arena, struct json_members, 2);
    size_t count = 0;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    m->good = json_members_read(call->arena, in->settings, &parts[1]);
    if (!m->good)
        return OK;
    json_members_read(call->arena, m->before.settings, &parts[0]);
    buf_init(&out, 3 * LONGEST_PROTO);
    json_begin_object(&j);
    for (int is_new = 0; is_new < 2; is_new++)
        for (size_t i = 0; i < parts[is_new].count; i++) {
            if (!is_new && json_members_find(&parts[1], parts[0].keys[i]) < parts[1].count)
                continue;
            json_write_key(&j, parts[is_new].keys[i]);
            json_write_raw(&j, parts[is_new].values[i]);
            count++;
        }
    json_end_object(&j);
    m->after = (struct proto_row){ m->before.version + 1, buf_move_to_arena(&out, call->arena) };
    if (m->after.settings.n > LONGEST_PROTO || count > JSON_SETTINGS_MEMBERS_MAX)
        m->after.settings = (struct str){ 0 };
    return OK;
}

static enum err schedule_json_settings_merge(struct call *call)
{
    call_store_stage_data(call, "settings_proto_merge", sizeof(struct settings_proto_merge));
    call->read = read_json_settings_before_merge;
    call->compute = merge_settings_json_members;
    return OK;
}

static enum err modify_json_settings(struct call *call)
{
    const struct settings_proto_merge *m = call_get_stage_data(call, "settings_proto_merge");
    int64_t type = json_settings_row_type(call), version;

    if (!m->good)
        return call_add_field_error(call, "settings", "INVALID_USER_SETTINGS_DATA",
                                    "Must be an object with at most 100 members.");
    enum err e = read_settings_proto_version(call->tx, call->caller->id, type, &version);
    if (e)
        return e;
    if (version != m->before.version)
        return call_restart_at_read_stage(call);
    if (!m->after.settings.p)
        return call_add_field_error(call, "settings", "BASE_TYPE_MAX_LENGTH",
                                    "The new and the existing settings together are too long.");
    e = tx_exec(call->tx, PUT_PROTO,
                BIND(v_id(call->caller->id), v_int(type), v_int(m->after.version),
                     v_text(m->after.settings)),
                NULL);
    return e ? e : call_reply_with_object(call, &(struct json_settings){ m->after.settings });
}

enum err write_ready_settings_proto(struct tx *tx, snowflake user_id, struct json_writer *out)
{
    struct proto_row p;
    enum err e = read_settings_proto(tx, user_id, 1, &p);

    if (e)
        return e;
    json_write_name(out, "user_settings_proto");
    json_write_text(out, p.settings);
    return OK;
}

static const struct path_resolver resolvers[] = {
    {
        .name = "proto.type",
        .field = "type",
        .doc = "1, 2 or 3.",
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/settings-proto/{proto.type}",
        .name = "get_settings_proto",
        .doc = "Settings that clients store as protocol buffers.",
        .auth = AUTH_USER,
        .reply = &proto_reply,
        .admit = check_settings_proto_type,
        .handle = get_settings_proto,
    },
    {
        .method = PATCH,
        .path = "/users/@me/settings-proto/{proto.type}",
        .name = "modify_settings_proto",
        .doc = "Change protocol buffer settings: fields that are sent are replaced, others stay "
               "unchanged.",
        .auth = AUTH_USER,
        .body = &proto_body,
        .max_body = LONGEST_PROTO + 4096,
        .reply = &proto_reply,
        .fires = (const enum event[]){ EVENT_USER_SETTINGS_PROTO_UPDATE, EVENT_NONE },
        .prepare = schedule_settings_proto_merge,
        .admit = check_settings_proto_type,
        .handle = modify_settings_proto,
    },
    {
        .method = GET,
        .path = "/users/@me/settings-proto/{proto.type}/json",
        .name = "get_json_settings",
        .doc = "Settings that clients store as JSON. They are apart from the protocol buffers.",
        .auth = AUTH_USER,
        .reply = &json_settings_type,
        .admit = check_settings_proto_type,
        .handle = get_json_settings,
    },
    {
        .method = PATCH,
        .path = "/users/@me/settings-proto/{proto.type}/json",
        .name = "modify_json_settings",
        .doc = "Change JSON settings: members that are sent are replaced, others stay unchanged.",
        .auth = AUTH_USER,
        .body = &json_settings_type,
        .max_body = LONGEST_PROTO + 4096,
        .reply = &json_settings_type,
        .prepare = schedule_json_settings_merge,
        .admit = check_settings_proto_type,
        .handle = modify_json_settings,
    },
    { 0 },
};

const struct domain settings_proto_domain = {
    .name = "Settings of clients",
    .doc = "Settings as protocol buffers.",
    .routes = routes,
    .resolvers = resolvers,
};
