/* message_cipher.c - tests the encryption of NATS messages and the protection against replays. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/message_cipher.h"

static const unsigned char KEY[CIPHER_KEY_BYTES] = "a key of thirty-two bytes, or so";

struct pair_of_ciphers {
    struct message_cipher from, to;
    struct buf message, plain;
};

static void pair_init(struct pair_of_ciphers *p)
{
    message_cipher_init(&p->from, KEY, 7);
    message_cipher_init(&p->to, KEY, 8);
    buf_init(&p->message, 1 << 20);
    buf_init(&p->plain, 1 << 20);
}

static void pair_clear(struct pair_of_ciphers *p)
{
    message_cipher_clear(&p->from);
    message_cipher_clear(&p->to);
    buf_clear(&p->message);
    buf_clear(&p->plain);
}

static void pair_seal(struct pair_of_ciphers *p, const char *text)
{
    buf_reset(&p->message);
    message_cipher_encrypt(&p->from, STR("a.log"), 42, str_of(text), &p->message);
}

static enum message_decrypt_result pair_open(struct pair_of_ciphers *p, const char *subject)
{
    struct str bytes = { 0 };
    int64_t position = 0;
    enum message_decrypt_result v = message_cipher_decrypt(
        &p->to, str_of(subject), buf_as_str(&p->message), &p->plain, &position, &bytes);

    if (v == CIPHER_GOOD) {
        assert_int_equal(position, 42);
        assert_true(str_is(bytes, "a secret text") || !bytes.n);
    }
    return v;
}

static void encrypted_message_opens_only_with_its_key_and_subject(void **state)
{
    (void)state;
    struct pair_of_ciphers p;

    pair_init(&p);
    pair_seal(&p, "a secret text");
    assert_int_equal(p.message.n, CIPHER_OVERHEAD + strlen("a secret text"));
    assert_null(memmem(p.message.p, p.message.n, "secret", 6));
    assert_int_equal(pair_open(&p, "b.log"), CIPHER_FORGED); /* replayed under another subject */
    for (size_t i = 0; i < p.message.n; i++) {
        p.message.p[i] ^= 1;
        assert_int_equal(pair_open(&p, "a.log"), CIPHER_FORGED);
        p.message.p[i] ^= 1;
    }
    p.to.key[0] ^= 1;
    assert_int_equal(pair_open(&p, "a.log"), CIPHER_FORGED);
    p.to.key[0] ^= 1;
    assert_int_equal(pair_open(&p, "a.log"), CIPHER_GOOD);
    p.from.sender = 8; /* a message of the receiver itself */
    pair_seal(&p, "");
    assert_int_equal(pair_open(&p, "a.log"), CIPHER_REPEATED);
    p.from.sender = 7;
    pair_seal(&p, "");
    assert_int_equal(pair_open(&p, "a.log"), CIPHER_GOOD);
    for (size_t n = 0; n < CIPHER_OVERHEAD; n++) {
        p.message.n = n;
        assert_int_equal(pair_open(&p, "a.log"), CIPHER_FORGED);
    }
    pair_clear(&p);
}

static void encrypted_message_is_accepted_only_once(void **state)
{
    (void)state;
    struct pair_of_ciphers p;
    struct buf retained[3];

    pair_init(&p);
    for (int i = 0; i < 3; i++) {
        pair_seal(&p, "a secret text");
        retained[i] = p.message;
        buf_init(&p.message, 1 << 20);
    }
    static const int order[] = { 2, 0, 1 }; /* threads of the sender may reorder messages */
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3; i++) {
            struct buf own = p.message;

            p.message = retained[order[i]];
            assert_int_equal(pair_open(&p, "a.log"), round ? CIPHER_REPEATED : CIPHER_GOOD);
            p.message = own;
        }
    for (int i = 0; i < CIPHER_WINDOW; i++) {
        pair_seal(&p, "");
        assert_int_equal(pair_open(&p, "a.log"), CIPHER_GOOD);
        assert_int_equal(pair_open(&p, "a.log"), CIPHER_REPEATED);
    }
    /* A gap in the counters, as after an outage of NATS. */
    atomic_fetch_add(&p.from.counter, 3 * CIPHER_WINDOW + 5);
    pair_seal(&p, "");
    assert_int_equal(pair_open(&p, "a.log"), CIPHER_GOOD);
    for (int i = 0; i < 3; i++) {
        struct buf own = p.message;

        p.message = retained[i];
        assert_int_equal(pair_open(&p, "a.log"), CIPHER_REPEATED);
        p.message = own;
        buf_clear(&retained[i]);
    }
    pair_clear(&p);
}

/* A node that has just started knows no counters: only the timestamp shows that a message is
 * old. */
static void encrypted_message_older_than_the_age_limit_is_refused(void **state)
{
    (void)state;
    struct pair_of_ciphers p;

    pair_init(&p);
    pair_seal(&p, "a secret text");
    clock_advance_wall_and_monotonic((CIPHER_AGE_MS - 1000) * INT64_C(1000));
    assert_int_equal(pair_open(&p, "a.log"), CIPHER_GOOD);
    pair_seal(&p, "a secret text");
    clock_advance_wall_and_monotonic((CIPHER_AGE_MS + 1000) * INT64_C(1000));
    assert_int_equal(pair_open(&p, "a.log"), CIPHER_LATE);
    pair_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encrypted_message_opens_only_with_its_key_and_subject),
        cmocka_unit_test(encrypted_message_is_accepted_only_once),
        cmocka_unit_test(encrypted_message_older_than_the_age_limit_is_refused),
    };

    return cmocka_run_group_tests_name("cluster/cipher", tests, NULL, NULL);
}
