/* fuzz_gateway.c - fuzzes the parser of gateway messages. Input: a message. As ETF it becomes
 * valid JSON and converts back to the same JSON; as JSON it is parsed by the schema of every
 * opcode. */
#include "fuzz.h"

#include "gateway/opcodes/opcodes.h"
#include "gateway/wire/etf.h"
#include "gateway/wire/gateway_event.h"
#include "json/read.h"
#include "model/permissions/message_content.h"

enum { MAX_PAYLOAD_FORM_BYTES = 1 << 20 };

static void check_term(struct str bytes)
{
    struct arena *a = arena_new();
    struct buf json, terms, again;

    buf_init(&json, MAX_PAYLOAD_FORM_BYTES);
    buf_init(&terms, MAX_PAYLOAD_FORM_BYTES);
    buf_init(&again, MAX_PAYLOAD_FORM_BYTES);
    if (etf_to_json(bytes, &json)) {
        FUZZ_CHECK(json_is_valid(buf_as_str(&json)));
        buf_add_char(&terms, (char)ETF_VERSION);
        FUZZ_CHECK(etf_from_json(buf_as_str(&json), a, &terms));
        FUZZ_CHECK(etf_to_json(buf_as_str(&terms), &again));
        FUZZ_CHECK(str_eq(buf_as_str(&json), buf_as_str(&again)));
    }
    buf_clear(&json);
    buf_clear(&terms);
    buf_clear(&again);
    arena_free(a);
}

static void check_json(struct str text)
{
    struct arena *a = arena_new();
    struct buf out;

    for (const struct gateway_opcode_declaration *r = opcode_rows; r->name; r++) {
        struct form form = { .arena = a };
        void *d;

        if (r->type)
            (void)schema_decode(r->type, text, &form, &d);
    }
    buf_init(&out, MAX_PAYLOAD_FORM_BYTES);
    if (json_is_valid(text) && text.n && text.p[0] == '{') {
        append_message_without_content(text, a, &out);
        FUZZ_CHECK(json_is_valid(buf_as_str(&out)));
    }
    buf_clear(&out);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_slice((const char *)data, size);

    check_term(bytes);
    check_json(bytes);
    return 0;
}
