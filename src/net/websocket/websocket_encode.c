/* websocket_encode.c - encodes the server's side of a WebSocket: handshake and frames. */
#include "net/websocket/websocket.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <sodium.h>

enum { KEY_BYTES = 16, KEY_TEXT_LENGTH = 24 };

/* Finds a header that must occur exactly once. Returns false if it is missing or repeated. */
static bool find_single_header(const struct http_request *r, struct str name, struct str *ret)
{
    int found = 0;

    for (size_t i = 0; i < r->header_count; i++) {
        if (str_eq_nocase(r->headers[i].name, name)) {
            *ret = r->headers[i].value;
            found++;
        }
    }
    return found == 1;
}

static bool websocket_key_is_valid(struct str key)
{
    unsigned char nonce[KEY_BYTES];

    /* A key of 24 base64 characters decodes to 16-18 bytes. If it has more than 16 bytes, decoding
     * fails, because they do not fit into nonce. */
    return key.n == KEY_TEXT_LENGTH &&
           sodium_base642bin(nonce, sizeof nonce, key.p, key.n, NULL, NULL, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0;
}

static EVP_MD *handshake_digest;

/* Fetches OpenSSL's SHA-1 implementation once, because fetching takes longer than hashing. */
static void fetch_sha1_once(void)
{
    handshake_digest = EVP_MD_fetch(NULL, "SHA1", NULL);
}

static bool hash_handshake_key(const unsigned char *text, size_t n,
                               unsigned char digest[SHA_DIGEST_LENGTH])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fetch_sha1_once);
    return handshake_digest && EVP_Digest(text, n, digest, NULL, handshake_digest, NULL) == 1;
}

bool ws_check_handshake(const struct http_request *r, char accept[29], int *ret_status)
{
    static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455 §1.3 */
    unsigned char text[KEY_TEXT_LENGTH + sizeof magic - 1], digest[SHA_DIGEST_LENGTH];
    struct str key, version;

    *ret_status = 400;
    if (!r->upgrade_websocket)
        return false;
    if (!find_single_header(r, STR("Sec-WebSocket-Version"), &version) || !str_is(version, "13")) {
        *ret_status = 426;
        return false;
    }
    if (!find_single_header(r, STR("Sec-WebSocket-Key"), &key) || !websocket_key_is_valid(key))
        return false;

    memcpy(text, key.p, KEY_TEXT_LENGTH);
    memcpy(text + KEY_TEXT_LENGTH, magic, sizeof magic - 1);
    if (!hash_handshake_key(text, sizeof text, digest)) {
        *ret_status = 500;
        return false;
    }
    EVP_EncodeBlock((unsigned char *)accept, digest, sizeof digest);
    return true;
}

size_t ws_encode_frame_head(char out[WS_MAX_HEAD], enum ws_opcode opcode, uint64_t payload)
{
    size_t bytes = payload < 126 ? 0 : payload < 65536 ? 2 : 8;

    out[0] = (char)(0x80 | opcode);
    out[1] = (char)(bytes == 0 ? payload : bytes == 2 ? 126 : 127);
    for (size_t i = 0; i < bytes; i++)
        out[2 + i] = (char)(payload >> 8 * (bytes - 1 - i));
    return 2 + bytes;
}

void ws_append_frame(struct buf *out, enum ws_opcode opcode, struct str payload)
{
    char head[WS_MAX_HEAD];
    size_t n = ws_encode_frame_head(head, opcode, payload.n);

    if (!buf_reserve(out, n + payload.n))
        return;
    buf_add(out, head, n);
    buf_add_str(out, payload);
}

void ws_append_close_frame(struct buf *out, int code, struct str reason)
{
    char payload[WS_MAX_CONTROL];
    size_t n = reason.n < sizeof payload - 2 ? reason.n : sizeof payload - 2;

    if (code == WS_NO_CODE) {
        ws_append_frame(out, WS_CLOSE, STR(""));
        return;
    }
    /* Do not truncate the close reason inside a UTF-8 character. */
    while (n && n < reason.n && ((unsigned char)reason.p[n] & 0xc0) == 0x80)
        n--;
    payload[0] = (char)(code >> 8);
    payload[1] = (char)code;
    if (n)
        memcpy(payload + 2, reason.p, n);
    ws_append_frame(out, WS_CLOSE, str_slice(payload, n + 2));
}
