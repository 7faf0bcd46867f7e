/* keys.c - public keys that prove the identity of voice participants (DAVE protocol). A client
 * creates a key pair and uploads the public key, with a signature that this key made over the id of
 * the client's login session. Other clients ask whether a key that they received belongs to a
 * user. */
#include "voice/internal.h"

#include "model/login_ids.h"
#include "model/fields/types.h"
#include "voice/p256_keys.h"

enum { MAX_DATA = 1024 };

struct key_upload {
    int64_t key_version;
    struct str public_key, signature;
};
struct key_match_request {
    int64_t key_version;
    struct str public_key;
};
struct key_match_response {
    bool is_match;
};

/* --- schemas -------------------------------------------------------------------------- */

static const struct enum_choice versions[] = { { 1, NULL, "P256", "A point on P-256" }, { 0 } };
static const struct type type_version = { .kind = KIND_INT, .choices = versions };
static const struct type type_data = {
    .kind = KIND_STRING, .min = 1, .max = MAX_DATA, .doc = "data:application/octet-stream;base64,…"
};

static const struct field upload_fields[] = {
    { FIELD(struct key_upload, key_version), .type = &type_version },
    { FIELD(struct key_upload, public_key), .type = &type_data,
      .doc = "X9.62 point, compressed or not" },
    { FIELD(struct key_upload, signature), .type = &type_data,
      .doc = "Of the login's id, a colon and the key, with the label ServiceSelfSignature" },
    { 0 },
};
static const struct schema upload_schema = {
    .name = "VoicePublicKey",
    .size = sizeof(struct key_upload),
    .fields = upload_fields,
    .doc = "A public key that identifies the login in voice.",
};
static const struct type upload_body = { .kind = KIND_OBJECT, .schema = &upload_schema };

static const struct field match_fields[] = {
    { FIELD(struct key_match_request, key_version), .type = &type_version },
    { FIELD(struct key_match_request, public_key), .type = &type_data },
    { 0 },
};
static const struct schema match_schema = {
    .name = "VoicePublicKeyQuestion",
    .size = sizeof(struct key_match_request),
    .fields = match_fields,
    .doc = "A public key that a client received from another user.",
};
static const struct type match_body = { .kind = KIND_OBJECT, .schema = &match_schema };

static const struct field match_reply_fields[] = {
    { FIELD(struct key_match_response, is_match), .type = &type_bool },
    { 0 },
};
static const struct schema match_reply_schema = {
    .name = "VoicePublicKeyMatch",
    .size = sizeof(struct key_match_response),
    .fields = match_reply_fields,
    .doc = "Whether a public key belongs to a user.",
};
static const struct type match_reply = { .kind = KIND_OBJECT, .schema = &match_reply_schema };

static const struct rate_limit upload_limit = { .name = "voice-keys", .count = 5, .window_s = 60 };
static const struct rate_limit match_limit = { .name = "voice-key-match",
                                               .count = 30,
                                               .window_s = 60 };

/* Decodes a data URI of any media type, or bare base64. */
static bool decode_data_uri(struct arena *a, struct str text, struct str *ret)
{
    struct str head = text, data = text;

    if (memchr(text.p, ',', text.n)) {
        head = str_cut(&data, ',');
        if (!str_eq_nocase(str_cut(&head, ':'), STR("data")))
            return false;
        do
            str_cut(&head, ';'); /* skips the parameters that follow the media type */
        while (memchr(head.p, ';', head.n));
        if (!str_eq_nocase(str_skip_spaces(head), STR("base64")))
            return false;
        data = str_skip_spaces(data);
    }
    return data.n && str_base64_decode(a, data, ret);
}

static enum err refuse_invalid_key(struct call *call)
{
    return call_add_field_error(call, "public_key", "PUBLIC_KEY_INVALID", "Not a point on P-256.");
}

static enum err parse_public_key(struct call *call, struct str text, struct str *ret_bytes,
                                 unsigned char ret_point[P256_KEY_SIZE])
{
    if (!decode_data_uri(call->arena, text, ret_bytes) || !p256_key_parse(*ret_bytes, ret_point))
        return refuse_invalid_key(call);
    return OK;
}

/* --- PUT ------------------------------------------------------------------------------ */

/* True if is_self_signed also accepts keys that are signed with the second MLS label. */
static bool accepts_second_label = true;

void voice_keys_set_accept_second_label(bool accept_second_label)
{
    accepts_second_label = accept_second_label;
}

static bool is_self_signed(struct call *call, struct str key, struct str signature)
{
    static const char *const labels[] = { "ServiceSelfSignature", "DiscordSelfSignature" };
    char id[LOGIN_ID_SIZE];

    login_session_write_public_ids(call->caller->session, id, NULL);
    struct str content = STR_CONCAT(call->arena, str_of(id), STR(":"), key);
    for (int i = 0; i < (accepts_second_label ? 2 : 1); i++)
        if (p256_verify_signature(key, mls_encode_sign_content(call->arena, labels[i], content),
                                  signature))
            return true;
    return false;
}

struct voice_public_key {
    unsigned char bytes[P256_KEY_SIZE];
};

/* Verifies the signature of the uploaded key, on the thread pool, because this is slow. */
static enum err verify_uploaded_key(struct call *call)
{
    const struct key_upload *in = call->body;
    struct str key, signature;
    struct voice_public_key *point = call_store_stage_data(call, "voice_public_key", sizeof *point);

    enum err e = parse_public_key(call, in->public_key, &key, point->bytes);
    if (e)
        return e;
    if (!decode_data_uri(call->arena, in->signature, &signature) ||
        !is_self_signed(call, key, signature))
        return call_add_field_error(call, "signature", "SIGNATURE_INVALID",
                                    "Not a signature of the key with itself.");
    return OK;
}

static enum err prepare_key_upload(struct call *call)
{
    call->compute = verify_uploaded_key;
    return OK;
}

static const char FIND_KEY_OF_OTHER_LOGIN[] =
    "select 1 from voice_keys where point = $1 and token_id <> $2 limit 1";
static const char UPSERT_KEY[] =
    "insert into voice_keys (token_id, key_version, user_id, point) values ($1, $2, $3, $4) "
    "on conflict (token_id, key_version) do update set point = excluded.point";

/* PUT /voice/public-keys */
static enum err upload_voice_public_key(struct call *call)
{
    const struct key_upload *in = call->body;
    const struct voice_public_key *made = call_get_stage_data(call, "voice_public_key");
    struct str point = str_slice((const char *)made->bytes, P256_KEY_SIZE);
    struct str login = str_slice((const char *)call->caller->session, 8);
    bool found;

    enum err e =
        tx_exists(call->tx, FIND_KEY_OF_OTHER_LOGIN, BIND(v_bytes(point), v_bytes(login)), &found);
    if (e)
        return e;
    if (found)
        return call_add_field_error(call, "public_key", "PUBLIC_KEY_ALREADY_USED",
                                    "Another login has uploaded this key.");
    return tx_exec(
        call->tx, UPSERT_KEY,
        BIND(v_bytes(login), v_int(in->key_version), v_id(call->caller->id), v_bytes(point)), NULL);
}

/* --- POST ----------------------------------------------------------------------------- */

static const char FIND_KEY[] = "select 1 from voice_keys where user_id = $1 and key_version = $2 "
                               "and point = $3";

/* POST /voice/{user.id}/match-public-key */
static enum err match_voice_public_key(struct call *call)
{
    const struct key_match_request *in = call->body;
    unsigned char point[P256_KEY_SIZE];
    struct str bytes;
    bool found;

    enum err e = parse_public_key(call, in->public_key, &bytes, point);
    if (!e)
        e = tx_exists(call->tx, FIND_KEY,
                      BIND(v_id(call->target.user->id), v_int(in->key_version),
                           v_bytes(str_slice((const char *)point, sizeof point))),
                      &found);
    return e ? e : call_reply_with_object(call, &(struct key_match_response){ found });
}

static const struct route routes[] = {
    {
        .method = PUT,
        .path = "/voice/public-keys",
        .name = "upload_voice_public_key",
        .doc =
            "Upload the public key that identifies this login in voice; replaces the previous one.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "voice",
        .body = &upload_body,
        .limit = &upload_limit,
        .prepare = prepare_key_upload,
        .handle = upload_voice_public_key,
    },
    {
        .method = POST,
        .path = "/voice/{user.id}/match-public-key",
        .name = "match_voice_public_key",
        .doc = "Check whether a public key belongs to a user.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "voice",
        .body = &match_body,
        .reply = &match_reply,
        .store = ROUTE_STORE_READ,
        .limit = &match_limit,
        .handle = match_voice_public_key,
    },
    { 0 },
};

const struct domain voice_keys_domain = {
    .name = "Voice keys",
    .doc = "Public keys that identify users in voice (end-to-end encryption).",
    .routes = routes,
};
