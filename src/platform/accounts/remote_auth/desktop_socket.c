/* desktop_socket.c - the WebSocket /remote-auth (version 2) of a device that shows a QR code.
 *
 * Worst case: DESKTOPS_MAX sockets read their rows twice a second by the primary key; an address
 * may start ten log-ins per minute. An RSA encryption takes about 0.1 ms on the loop. */
#include <pthread.h>
#include <sodium.h>

#include "api/jobs/internal_call.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "net/loop.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/remote_auth/remote_auth.h"

enum {
    POLL_INTERVAL_MS = 500,
    TICKS_MAX = REMOTE_LOGIN_SECONDS * 1000 / POLL_INTERVAL_MS,
    HEARTBEAT_MS = 41250,
    DESKTOPS_MAX = 500,            /* sockets of this process */
    DESKTOPS_PER_ADDRESS_MAX = 30, /* limit_desktop allows fewer in 150 seconds */
    MESSAGE_MAX = 4096,
    UNSENT_MAX = 64 * 1024,
    CLOSE_NORMAL = 1000,
    CLOSE_TRY_AGAIN_LATER = 1013,
    CLOSE_BAD_VERSION = 4000,
    CLOSE_BAD_MESSAGE = 4001,
    CLOSE_HANDSHAKE_FAILED = 4002,
    CLOSE_TIMEOUT = 4003,
};

enum desktop_state { AWAITS_INIT, AWAITS_PROOF, INSERTING, SHOWS_CODE, SCANNED };

struct desktop {
    struct api *api;
    struct websocket *ws; /* NULL after the socket was closed */
    struct loop *loop;
    uv_timer_t timer;
    struct arena *arena; /* owns the strings */
    struct str public_key, fingerprint;
    unsigned char nonce[32];
    uint64_t address_key;
    struct desktop_slot *slot; /* NULL: refused */
    snowflake id;              /* of the row */
    enum desktop_state state;
    bool calling; /* whether an internal call runs */
    unsigned ticks;

    /* Result of the last read. */
    struct remote_login row;
    struct str user_payload, ticket;
    bool found;
};

/* Slots of the open sockets. One IP address cannot occupy all slots. */
static struct desktop_slot {
    bool taken;
    uint64_t address_key;
} slots[DESKTOPS_MAX];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

static const struct rate_limit limit_desktop = {
    .name = "remote-auth-code", .count = 10, .window_s = 60, .by_address = true
};

/* Occupies a slot. Returns NULL if this process or the IP address has too many sockets. */
static struct desktop_slot *take_desktop_slot(uint64_t address_key)
{
    struct desktop_slot *ret = NULL;
    int of_address = 0;

    pthread_mutex_lock(&slots_lock);
    for (size_t i = 0; i < DESKTOPS_MAX; i++) {
        if (slots[i].taken)
            of_address += slots[i].address_key == address_key;
        else
            ret = &slots[i];
    }
    if (of_address >= DESKTOPS_PER_ADDRESS_MAX)
        ret = NULL;
    if (ret)
        *ret = (struct desktop_slot){ true, address_key };
    pthread_mutex_unlock(&slots_lock);
    return ret;
}

static void release_desktop_slot(struct desktop_slot *slot)
{
    pthread_mutex_lock(&slots_lock);
    if (slot)
        slot->taken = false;
    pthread_mutex_unlock(&slots_lock);
}

static void desktop_socket_free(uv_handle_t *handle)
{
    struct desktop *d = handle->data;

    release_desktop_slot(d->slot);
    arena_free(d->arena);
    mem_free(d);
}

static void desktop_socket_free_if_closed(struct desktop *d)
{
    if (!d->ws && !d->calling)
        uv_close((uv_handle_t *)&d->timer, desktop_socket_free);
}

static void desktop_socket_send(struct desktop *d, const char *op, const char *key,
                                struct str value)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, UNSENT_MAX);
    json_begin_object(&j);
    json_write_name(&j, "op");
    json_write_text(&j, str_of(op));
    if (key) {
        json_write_key(&j, str_of(key));
        json_write_text(&j, value);
    }
    json_end_object(&j);
    websocket_send(d->ws, WS_TEXT, buf_as_str(&out));
    buf_clear(&out);
}

/* --- the row ---------------------------------------------------------------------------- */

static enum err count_remote_login_against_rate_limit(struct call *call)
{
    const struct desktop *d = call_get_stage_data(call, "desktop");

    return call_count_against_rate_limit(
        call, &limit_desktop, str_slice((const char *)&d->address_key, sizeof d->address_key));
}

static enum err insert_remote_login_row(struct call *call)
{
    const struct desktop *d = call_get_stage_data(call, "desktop");

    return remote_login_insert(call->tx, d->id, d->public_key, d->fingerprint);
}

static void on_remote_login_row_inserted(struct call *call, enum err e, void *arg)
{
    struct desktop *d = arg;

    (void)call;
    d->calling = false;
    if (d->ws && e)
        websocket_close(d->ws, CLOSE_TRY_AGAIN_LATER, STR("try again in a minute"));
    if (d->ws && !e) {
        d->state = SHOWS_CODE;
        desktop_socket_send(d, "pending_remote_init", "fingerprint", d->fingerprint);
    }
    desktop_socket_free_if_closed(d);
}

/* The payload is "id:discriminator:avatar or 0:username". */
static struct str encode_user_payload(struct arena *arena, const struct user *u)
{
    return str_printf(arena, "%llu:0:%.*s:%.*s", (unsigned long long)u->id,
                      STR_ARGS(u->avatar.given == GIVEN ? u->avatar.value : STR("0")),
                      STR_ARGS(u->username));
}

/* Reads the row of the log-in. Issues the ticket of a confirmed log-in only after the desktop has
 * received the name of the person who scanned the code. */
static enum err read_remote_login_row_of_desktop(struct call *call)
{
    struct desktop *d = call_get_stage_data(call, "desktop");
    struct user user;
    enum err e = remote_login_find(call->tx, d->id, &d->row, &d->found);

    d->ticket = d->user_payload = (struct str){ 0 };
    if (e || !d->found || !d->row.user_id)
        return e;
    if (d->state == SHOWS_CODE) {
        e = user_find(call->tx, d->row.user_id, &user);
        if (!e)
            d->user_payload = str_dup(d->arena, encode_user_payload(call->arena, &user));
    }
    return e;
}

static enum err issue_ticket_to_desktop(struct call *call)
{
    struct desktop *d = call_get_stage_data(call, "desktop");
    struct str ticket;
    enum err e = remote_login_find(call->tx, d->id, &d->row, &d->found);

    d->ticket = (struct str){ 0 };
    if (!e && d->found)
        e = remote_login_issue_ticket(call->tx, d->id, &ticket);
    if (!e && d->found && ticket.p)
        d->ticket = str_dup(d->arena, ticket);
    return e;
}

static void on_ticket_issued(struct call *call, enum err e, void *arg)
{
    struct desktop *d = arg;

    (void)call;
    d->calling = false;
    if (d->ws && !e && d->ticket.p) {
        desktop_socket_send(d, "pending_login", "ticket", d->ticket);
        websocket_close(d->ws, CLOSE_NORMAL, STR(""));
    }
    desktop_socket_free_if_closed(d);
}

static void start_internal_call_for_desktop(struct desktop *d, const struct internal_call *what)
{
    struct internal_call call = *what;

    call.name = "log-in by QR code";
    call.type = "desktop";
    call.data = call.arg = d;
    d->calling = true;
    internal_call_start(d->api, d->loop, &call);
}

static void send_user_payload(struct desktop *d)
{
    struct str encrypted;

    if (!remote_auth_key_encrypt(d->arena, d->public_key, d->user_payload, &encrypted)) {
        websocket_close(d->ws, CLOSE_HANDSHAKE_FAILED, STR("the key cannot encrypt a name"));
        return;
    }
    d->state = SCANNED;
    desktop_socket_send(d, "pending_ticket", "encrypted_user_payload", encrypted);
}

static void on_remote_login_row_read(struct call *call, enum err e, void *arg)
{
    struct desktop *d = arg;

    (void)call;
    d->calling = false;
    if (d->ws && !e && (!d->found || d->row.state == REMOTE_LOGIN_CANCELLED)) {
        desktop_socket_send(d, "cancel", NULL, STR(""));
        websocket_close(d->ws, CLOSE_NORMAL, STR(""));
    } else if (d->ws && !e && d->user_payload.p) {
        send_user_payload(d);
    } else if (d->ws && !e && d->state == SCANNED && d->row.state == REMOTE_LOGIN_CONFIRMED) {
        start_internal_call_for_desktop(d, &(struct internal_call){ .store = ROUTE_STORE_WRITE,
                                                                    .run = issue_ticket_to_desktop,
                                                                    .done = on_ticket_issued });
        return;
    }
    desktop_socket_free_if_closed(d);
}

static void on_desktop_timer(uv_timer_t *timer)
{
    struct desktop *d = timer->data;

    if (!d->ws)
        return;
    if (++d->ticks >= TICKS_MAX) {
        websocket_close(d->ws, CLOSE_TIMEOUT, STR("the code has expired"));
        return;
    }
    if (!d->calling && d->state >= SHOWS_CODE)
        start_internal_call_for_desktop(
            d, &(struct internal_call){ .store = ROUTE_STORE_READ,
                                        .run = read_remote_login_row_of_desktop,
                                        .done = on_remote_login_row_read });
}

/* --- messages ----------------------------------------------------------------------------- */

struct desktop_message {
    struct str op;
    struct opt_str encoded_public_key, nonce, proof;
};
static const struct field message_fields[] = {
    { FIELD(struct desktop_message, op), .type = &type_text },
    { FIELD(struct desktop_message, encoded_public_key), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct desktop_message, nonce), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct desktop_message, proof), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
static const struct schema message_schema = {
    .name = "RemoteAuthMessage",
    .size = sizeof(struct desktop_message),
    .fields = message_fields,
    .doc = "A message of a device that logs in by a QR code.",
};
static const struct type type_message = { .kind = KIND_OBJECT, .schema = &message_schema };

static bool send_encrypted_nonce_to_desktop(struct desktop *d, const struct desktop_message *in)
{
    struct str nonce, encrypted;

    if (d->state != AWAITS_INIT || in->encoded_public_key.given != GIVEN)
        return false;
    d->public_key = str_dup(d->arena, in->encoded_public_key.value);
    randombytes_buf(d->nonce, sizeof d->nonce);
    nonce = str_slice((const char *)d->nonce, sizeof d->nonce);
    if (!remote_auth_key_parse(d->arena, d->public_key, &d->fingerprint) ||
        !remote_auth_key_encrypt(d->arena, d->public_key, nonce, &encrypted))
        return false;
    d->state = AWAITS_PROOF;
    desktop_socket_send(d, "nonce_proof", "encrypted_nonce", encrypted);
    return true;
}

static bool nonce_proof_equals(const struct opt_str *given, struct str expected)
{
    return given->given == GIVEN && given->value.n == expected.n &&
           sodium_memcmp(given->value.p, expected.p, expected.n) == 0;
}

/* Clients send the decrypted nonce or, in an older form of the protocol, its SHA-256 digest as
 * "proof". */
static bool check_nonce_proof_of_desktop(struct desktop *d, const struct desktop_message *in)
{
    unsigned char digest[crypto_hash_sha256_BYTES];

    if (d->state != AWAITS_PROOF)
        return false;
    crypto_hash_sha256(digest, d->nonce, sizeof d->nonce);
    if (!nonce_proof_equals(&in->nonce,
                            str_base64url_encode(d->arena, d->nonce, sizeof d->nonce)) &&
        !nonce_proof_equals(&in->proof, str_base64url_encode(d->arena, digest, sizeof digest)))
        return false;
    d->state = INSERTING;
    d->id = snowflake_new();
    start_internal_call_for_desktop(
        d, &(struct internal_call){ .store = ROUTE_STORE_WRITE,
                                    .decode = count_remote_login_against_rate_limit,
                                    .run = insert_remote_login_row,
                                    .done = on_remote_login_row_inserted });
    return true;
}

static void on_desktop_message(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    struct desktop *d = websocket_get_data(ws);
    struct arena *arena = arena_new();
    const struct desktop_message *in =
        schema_decode_or_null(&type_message, str_dup(arena, payload), arena);

    (void)opcode;
    if (in && str_is(in->op, "heartbeat"))
        desktop_socket_send(d, "heartbeat_ack", NULL, STR(""));
    else if (!in || (!str_is(in->op, "init") && !str_is(in->op, "nonce_proof")))
        websocket_close(ws, CLOSE_BAD_MESSAGE, STR("invalid message"));
    else if (!(str_is(in->op, "init") ? send_encrypted_nonce_to_desktop(d, in)
                                      : check_nonce_proof_of_desktop(d, in)))
        websocket_close(ws, CLOSE_HANDSHAKE_FAILED, STR("the handshake failed"));
    arena_free(arena);
}

static void on_desktop_open(struct websocket *ws, void *arg)
{
    struct desktop *d = mem_new(sizeof *d);
    char hello[100];

    d->api = arg;
    d->ws = ws;
    d->loop = websocket_get_loop(ws);
    d->arena = arena_new();
    d->address_key = websocket_address_key(ws);
    d->timer.data = d;
    uv_timer_init(loop_get_uv_loop(d->loop), &d->timer);
    uv_timer_start(&d->timer, on_desktop_timer, POLL_INTERVAL_MS, POLL_INTERVAL_MS);
    websocket_set_data(ws, d);
    d->slot = take_desktop_slot(d->address_key);
    if (!d->slot) {
        websocket_close(ws, CLOSE_TRY_AGAIN_LATER, STR("too many devices log in"));
        return;
    }
    snprintf(hello, sizeof hello, "{\"op\":\"hello\",\"timeout_ms\":%d,\"heartbeat_interval\":%d}",
             REMOTE_LOGIN_SECONDS * 1000, HEARTBEAT_MS);
    websocket_send(ws, WS_TEXT, str_of(hello));
}

static void on_desktop_closed(struct websocket *ws, int code)
{
    struct desktop *d = websocket_get_data(ws);

    (void)code;
    if (!d)
        return;
    d->ws = NULL;
    desktop_socket_free_if_closed(d);
}

static void refuse_remote_auth_version(struct websocket *ws, void *arg)
{
    (void)arg;
    websocket_close(ws, CLOSE_BAD_VERSION, STR("version 2 is served: connect with ?v=2"));
}

static void ignore_message_after_refusal(struct websocket *ws, enum ws_opcode opcode,
                                         struct str payload)
{
    (void)ws, (void)opcode, (void)payload;
}

static void ignore_close_after_refusal(struct websocket *ws, int code)
{
    (void)ws, (void)code;
}

bool remote_auth_accept_websocket(struct api *api, const struct http_request *r,
                                  struct websocket_handler *ret)
{
    if (!str_is(r->path, "/remote-auth") && !str_is(r->path, "/remote-auth/"))
        return false;
    *ret = (struct websocket_handler){ .arg = api,
                                       .max_message = MESSAGE_MAX,
                                       .max_unsent = UNSENT_MAX,
                                       .open = on_desktop_open,
                                       .message = on_desktop_message,
                                       .closed = on_desktop_closed };
    if (!str_is(r->query, "v=2")) {
        ret->open = refuse_remote_auth_version;
        ret->message = ignore_message_after_refusal;
        ret->closed = ignore_close_after_refusal;
    }
    return true;
}
