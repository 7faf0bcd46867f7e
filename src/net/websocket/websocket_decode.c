/* websocket_decode.c - decodes the frames of a client (RFC 6455 §5), split at any byte. */
#include "net/websocket/websocket.h"

#include "base/mem.h"

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f };

void ws_reader_init(struct ws_reader *r, size_t max_message)
{
    *r = (struct ws_reader){ .max = max_message };
}

void ws_reader_free(struct ws_reader *r)
{
    if (!r->pieces)
        return;
    buf_clear(&r->pieces->message);
    buf_clear(&r->pieces->control);
    mem_free(r->pieces);
    r->pieces = NULL;
}

static struct ws_partial_message *get_or_create_partial_message(struct ws_reader *r)
{
    if (!r->pieces) {
        r->pieces = mem_new(sizeof *r->pieces);
        buf_init(&r->pieces->message, r->max);
        buf_init(&r->pieces->control, WS_MAX_CONTROL);
    }
    return r->pieces;
}

/* Unmasks payload. The mask is at the end of the frame header; r->phase is the index of the next
 * byte in the mask. */
static void unmask_payload(struct ws_reader *r, char *p, size_t n)
{
    const unsigned char *key = r->head + r->head_n - 4;
    unsigned char rotated_mask[8];
    uint64_t mask, word;
    size_t i = 0;

    for (unsigned k = 0; k < 8; k++)
        rotated_mask[k] = key[(r->phase + k) & 3];
    memcpy(&mask, rotated_mask, 8);
    for (; i + 8 <= n; i += 8) {
        memcpy(&word, p + i, 8);
        word ^= mask;
        memcpy(p + i, &word, 8);
    }
    for (; i < n; i++)
        p[i] = (char)(p[i] ^ rotated_mask[i & 7]);
    r->phase = (unsigned char)((r->phase + n) & 3);
}

/* Returns the state of UTF-8 validation inside a character: the number of bytes that follow, and
 * the valid range of the next byte. The range depends on the first byte of the character. */
static uint32_t utf8_continuation_state(uint32_t count, uint32_t least, uint32_t most)
{
    return count | least << 8 | most << 16;
}

/* Returns the UTF-8 state after the first byte of a character; UINT32_MAX if no character can start
 * with b. */
static uint32_t utf8_state_after_first_byte(unsigned char b)
{
    if (b < 0x80)
        return 0;
    if (b < 0xc2 || b > 0xf4)
        return UINT32_MAX;
    if (b < 0xe0)
        return utf8_continuation_state(1, 0x80, 0xbf);
    if (b < 0xf0) /* the ranges exclude overlong forms and surrogates */
        return utf8_continuation_state(2, b == 0xe0 ? 0xa0 : 0x80, b == 0xed ? 0x9f : 0xbf);
    /* The ranges exclude overlong forms and code points above U+10FFFF. */
    return utf8_continuation_state(3, b == 0xf0 ? 0x90 : 0x80, b == 0xf4 ? 0x8f : 0xbf);
}

/* Validates the next bytes of a UTF-8 text; returns false at the first invalid byte. */
static bool utf8_validate_more(uint32_t *state, const char *p, size_t n)
{
    uint32_t s = *state;
    uint64_t word;

    for (size_t i = 0; i < n; i++) {
        for (; s == 0 && i + 8 <= n; i += 8) {
            memcpy(&word, p + i, 8);
            if (word & 0x8080808080808080)
                break;
        }
        if (i == n)
            break;
        unsigned char b = (unsigned char)p[i];
        if (s == 0) {
            s = utf8_state_after_first_byte(b);
            if (s == UINT32_MAX)
                return false;
            continue;
        }
        if (b < (s >> 8 & 0xff) || b > s >> 16)
            return false;
        s = (s & 0xff) == 1 ? 0 : utf8_continuation_state((s & 0xff) - 1, 0x80, 0xbf);
    }
    *state = s;
    return true;
}

static bool is_control_frame(const struct ws_reader *r)
{
    return r->head[0] & 8;
}

/* Returns the length of the frame header; 2 while too few bytes have arrived to know it. */
static size_t get_frame_head_length(const struct ws_reader *r)
{
    if (r->head_n < 2)
        return 2;
    int length = r->head[1] & LENGTH;
    return length == 127 ? 14 : length == 126 ? 8 : 6;
}

/* Checks the first two bytes of a frame header; returns 0 or a negative close code. */
static int check_frame_head_start(const struct ws_reader *r)
{
    int opcode = r->head[0] & OPCODE, length = r->head[1] & LENGTH;
    bool fin = r->head[0] & FIN;

    if (r->head[0] & RESERVED || !(r->head[1] & MASKED))
        return -1002;
    if (is_control_frame(r))
        return opcode > WS_PONG || !fin || length > WS_MAX_CONTROL ? -1002 : 0;
    if (opcode > WS_BINARY)
        return -1002;
    /* Continuation frames are valid only inside a fragmented message; other data frames are valid
     * only outside of one. */
    return (opcode == WS_CONTINUE) == (r->opcode != 0) ? 0 : -1002;
}

static int check_frame_length(struct ws_reader *r)
{
    size_t bytes = get_frame_head_length(r) - 6;
    uint64_t length = bytes ? 0 : r->head[1] & LENGTH;

    for (size_t i = 0; i < bytes; i++)
        length = length << 8 | r->head[2 + i];
    /* The length must be encoded in its shortest form and have at most 63 bits. */
    if ((bytes == 2 && length < 126) || (bytes == 8 && (length < 65536 || length > INT64_MAX)))
        return -1002;
    if (!is_control_frame(r) && length > r->max - (r->pieces ? r->pieces->message.n : 0))
        return -1009;
    r->left = length;
    return 0;
}

/* Reads a frame header. Returns 1 if it is complete, 0 if more bytes are needed, or a negative
 * close code. */
static int read_frame_head(struct ws_reader *r, const char *bytes, size_t n, size_t *used)
{
    while (r->head_n < get_frame_head_length(r)) {
        if (*used == n)
            return 0;
        r->head[r->head_n++] = (unsigned char)bytes[(*used)++];
        int code = r->head_n == 2 ? check_frame_head_start(r) : 0;
        /* Check the payload length now, although the mask and the payload have not arrived yet. */
        if (!code && r->head_n >= 2 && r->head_n == get_frame_head_length(r) - 4)
            code = check_frame_length(r);
        if (code)
            return code;
    }
    r->in_payload = true;
    r->phase = 0;
    if (!is_control_frame(r) && r->opcode == 0)
        r->opcode = r->head[0] & OPCODE;
    return 1;
}

/* Returns true for close codes that RFC 6455 §7.4 or the IANA registry allow in a frame. */
static bool is_valid_close_code(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

static int finish_close_frame(struct ws_reader *r, struct str payload, struct ws_message *ret)
{
    uint32_t utf8 = 0;

    ret->close_code = WS_NO_CODE;
    r->closed = true;
    if (payload.n == 0)
        return 0;
    if (payload.n == 1 || !payload.p)
        return -1002;
    ret->close_code = (unsigned char)payload.p[0] << 8 | (unsigned char)payload.p[1];
    ret->payload = str_skip_bytes(payload, 2);
    if (!is_valid_close_code(ret->close_code))
        return -1002;
    return utf8_validate_more(&utf8, ret->payload.p, ret->payload.n) && utf8 == 0 ? 0 : -1007;
}

static int finish_frame_or_message(struct ws_reader *r, struct str payload, struct ws_message *ret)
{
    ret->opcode =
        is_control_frame(r) ? (enum ws_opcode)(r->head[0] & OPCODE) : (enum ws_opcode)r->opcode;
    ret->payload = payload;
    if (ret->opcode == WS_CLOSE)
        return finish_close_frame(r, payload, ret);
    if (is_control_frame(r))
        return 0;
    r->opcode = 0;
    return ret->opcode == WS_TEXT && r->utf8 != 0 ? -1007 : 0;
}

/* Returns true if bytes of the current message or control frame were stored earlier. */
static bool has_stored_message_bytes(const struct ws_reader *r)
{
    const struct ws_partial_message *p = r->pieces;

    return p && (is_control_frame(r) ? p->control.n : p->message.n);
}

/* Reads the available payload of the current frame; returns the number of bytes used or a negative
 * close code. */
static long read_frame_payload(struct ws_reader *r, char *p, size_t n, struct ws_message *ret,
                               bool *ret_found)
{
    size_t take = n < r->left ? n : (size_t)r->left;
    bool fin = r->head[0] & FIN;
    struct str payload = { p, take };

    unmask_payload(r, p, take);
    r->left -= take;
    if (!is_control_frame(r) && r->opcode == WS_TEXT && !utf8_validate_more(&r->utf8, p, take))
        return -1007;
    if (r->left || !fin || has_stored_message_bytes(r)) {
        struct ws_partial_message *all = get_or_create_partial_message(r);
        struct buf *b = is_control_frame(r) ? &all->control : &all->message;

        buf_add(b, p, take);
        payload = buf_as_str(b);
    }
    if (r->left)
        return (long)take;

    r->in_payload = false;
    r->head_n = 0;
    int code = fin ? finish_frame_or_message(r, payload, ret) : 0;
    *ret_found = fin;
    return code ? code : (long)take;
}

static void free_returned_message(struct ws_reader *r)
{
    bool message = r->opcode != 0, control = r->in_payload && is_control_frame(r);

    if (!r->pieces)
        return;
    if (!message)
        buf_clear(&r->pieces->message);
    if (!control)
        buf_clear(&r->pieces->control);
    if (!message && !control)
        ws_reader_free(r);
}

bool ws_reader_release_message(struct ws_reader *r)
{
    free_returned_message(r);
    return !r->pieces && !r->head_n && !r->in_payload && !r->opcode && !r->closed;
}

long ws_reader_decode_bytes(struct ws_reader *r, char *bytes, size_t n, struct ws_message *ret,
                            bool *ret_found)
{
    size_t used = 0;
    long code = 0;

    *ret_found = false;
    free_returned_message(r);
    if (r->closed)
        return (long)n;
    while (used < n && !*ret_found) {
        if (!r->in_payload) {
            code = read_frame_head(r, bytes, n, &used);
            if (code <= 0)
                break;
        }
        code = read_frame_payload(r, bytes + used, n - used, ret, ret_found);
        if (code < 0)
            break;
        used += (size_t)code;
    }
    if (code >= 0)
        return (long)used;
    r->closed = true;
    *ret_found = false;
    return code;
}
