/* fuzz_webauthn.c - fuzzes the parsers of what security keys send: CBOR, authenticator data, keys
 * and JSON. Input: one byte that chooses the parser, then the bytes. */
#include "fuzz.h"

#include "base/arena.h"
#include "platform/accounts/mfa/cbor.h"
#include "platform/accounts/mfa/webauthn.h"

static bool is_inside(struct str part, struct str whole)
{
    return !part.n || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void check_authenticator_data(struct str bytes, const struct webauthn_authenticator_data *d)
{
    FUZZ_CHECK(d->rp_id_hash.n == 32 && is_inside(d->rp_id_hash, bytes));
    FUZZ_CHECK(d->sign_count >= 0 && d->sign_count <= UINT32_MAX);
    FUZZ_CHECK(d->credential_id.n <= WEBAUTHN_MAX_CREDENTIAL_ID);
    FUZZ_CHECK(is_inside(d->credential_id, bytes) && is_inside(d->public_key, bytes));
    FUZZ_CHECK(!d->credential_id.n == !d->public_key.n);
}

static void parse_binary(struct arena *a, char kind, struct str bytes)
{
    struct webauthn_authenticator_data d = { 0 };
    struct webauthn_response r = { .client_data = STR("{}"),
                                   .authenticator_data = bytes,
                                   .signature = bytes };
    struct cbor_reader reader;

    if (kind == 'a' && webauthn_attestation_parse(bytes, &d)) {
        FUZZ_CHECK(d.public_key.n);
        check_authenticator_data(bytes, &d);
    }
    if (kind == 'd' && webauthn_authenticator_data_parse(bytes, &d))
        check_authenticator_data(bytes, &d);
    if (d.public_key.n || kind == 'k') {
        struct str key = kind == 'k' ? bytes : d.public_key;
        bool supported = webauthn_key_is_supported(key);

        FUZZ_CHECK(!webauthn_verify_signature(a, key, &r) || supported);
    }
    cbor_reader_init(&reader, bytes);
    while (reader.at != reader.end && cbor_skip(&reader))
        FUZZ_CHECK(reader.at <= reader.end);
}

static void parse_json(struct arena *a, struct str json)
{
    struct webauthn_response r = { 0 };
    struct webauthn_client_data d;

    if (webauthn_response_parse(a, json, &r))
        FUZZ_CHECK(r.credential_id.n <= json.n && r.client_data.n <= json.n);
    if (webauthn_client_data_parse(a, json, &d))
        FUZZ_CHECK(d.challenge_length <= sizeof d.challenge &&
                   webauthn_host_of_origin(a, d.origin).n <= d.origin.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();

    if (size) {
        struct str rest = str_slice((const char *)data + 1, size - 1);

        if (data[0] == 'j')
            parse_json(a, rest);
        else
            parse_binary(a, (char)data[0], rest);
    }
    arena_free(a);
    return 0;
}
