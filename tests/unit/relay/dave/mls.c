/* mls.c - MLS messages of DAVE: messages of a real library, and each refusal. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/dave.h"
#include "unit/relay/dave/vectors.h"

#define GROUP UINT64_C(1099511627776)
#define USER  UINT64_C(281474976710657)

static struct str hex(const char *text, char *out)
{
    size_t n = strlen(text) / 2;
    unsigned byte;

    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
        out[i] = (char)byte;
    }
    return str_slice(out, n);
}

/* Copies to memory of that size, so that the sanitizer sees a read beyond the end. */
static struct str copy_of(struct str s)
{
    char *p = malloc(s.n ? s.n : 1);

    assert_non_null(p);
    if (s.n)
        memcpy(p, s.p, s.n);
    return str_slice(p, s.n);
}

static void copy_free(struct str s)
{
    free((void *)(uintptr_t)s.p);
}

/* --- reading and writing ---------------------------------------------------------------- */

static void mls_lengths_are_written_in_the_shortest_form(void **state)
{
    static const struct {
        size_t n, bytes;
    } cases[] = { { 0, 1 }, { 63, 1 }, { 64, 2 }, { 16383, 2 }, { 16384, 4 }, { 70000, 4 } };
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *content = calloc(1, cases[i].n + 1);

        buf_reset(&b);
        mls_write_vector(&b, str_slice(content, cases[i].n));
        assert_int_equal(b.n, cases[i].n + cases[i].bytes);
        struct mls_reader r = { .rest = buf_as_str(&b) };
        assert_int_equal(mls_read_vector(&r).n, cases[i].n);
        assert_false(r.failed);
        assert_int_equal(r.rest.n, 0);
        free(content);
    }
    buf_clear(&b);
}

static void mls_lengths_not_in_shortest_form_are_refused(void **state)
{
    static const unsigned char longer[][4] = { { 0x40, 63 },
                                               { 0x80, 0, 0, 63 },
                                               { 0x80, 0, 0x3f, 0xff },
                                               { 0xc0 },
                                               { 0xff, 0xff, 0xff, 0xff } };
    char bytes[4 + 16383] = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        memcpy(bytes, longer[i], 4);
        struct mls_reader r = { .rest = str_slice(bytes, sizeof bytes) };
        mls_read_vector(&r);
        assert_true(r.failed);
    }
}

static void mls_reader_stays_failed_after_reading_beyond_the_end(void **state)
{
    struct mls_reader r = { .rest = STR("\1\2\3") };

    (void)state;
    assert_int_equal(mls_read_number(&r, 2), 0x0102);
    assert_int_equal(mls_read_number(&r, 2), 0);
    assert_true(r.failed);
    assert_int_equal(mls_read_number(&r, 1), 0);
    r = (struct mls_reader){ .rest = STR("\3ab") };
    assert_int_equal(mls_read_vector(&r).n, 0);
    assert_true(r.failed);
}

/* --- key packages ----------------------------------------------------------------------- */

static void key_package_of_the_davey_library_is_accepted(void **state)
{
    char bytes[MLS_KEY_PACKAGE], wrapped[MLS_KEY_PACKAGE] = { 0, 1, 0, 5 };
    struct str bare = hex(davey_package_1, bytes);
    struct mls_key_package k, w;

    (void)state;
    assert_true(mls_key_package_read(bare, USER, &k));
    assert_int_equal(k.leaf.user, USER);
    assert_true(str_eq(k.bytes, bare));
    assert_false(mls_key_package_read(bare, USER + 1, &k));

    memcpy(wrapped + 4, bare.p, bare.n);
    assert_true(mls_key_package_read(str_slice(wrapped, bare.n + 4), USER, &w));
    assert_true(str_eq(w.bytes, bare));
    assert_memory_equal(k.ref, w.ref, MLS_HASH);
    assert_false(mls_key_package_read(str_slice(wrapped, bare.n + 5), USER, &w));
}

static void key_package_is_refused_if_truncated_or_changed_anywhere(void **state)
{
    char bytes[MLS_KEY_PACKAGE];
    struct str whole = hex(davey_package_2, bytes);
    struct mls_key_package k;

    (void)state;
    for (size_t n = 0; n < whole.n; n++) {
        struct str part = copy_of(str_slice(whole.p, n));

        assert_false(mls_key_package_read(part, USER + 1, &k));
        copy_free(part);
        bytes[n] ^= 1;
        assert_false(mls_key_package_read(whole, USER + 1, &k));
        bytes[n] ^= 1;
    }
    assert_true(mls_key_package_read(whole, USER + 1, &k));
}

static void key_package_with_any_single_fault_is_refused(void **state)
{
    struct dave_identity id;
    struct mls_key_package k;
    struct buf b;

    (void)state;
    identity_init(&id, USER);
    buf_init(&b, 4 * MLS_KEY_PACKAGE);
    for (enum dave_fault f = FAULT_NONE; f < FAULTS_OF_PACKAGES; f++) {
        buf_reset(&b);
        dave_write_package(&b, &id, f);
        if (mls_key_package_read(buf_as_str(&b), USER, &k) != (f == FAULT_NONE))
            fail_msg("fault %d is not refused", f);
    }
    buf_clear(&b);
    identity_clear(&id);
}

static void key_package_may_have_2_kib(void **state)
{
    struct dave_identity id;
    struct mls_key_package k;
    struct buf b;

    (void)state;
    identity_init(&id, USER);
    buf_init(&b, 4 * MLS_KEY_PACKAGE);
    for (size_t n = MLS_KEY_PACKAGE; n <= MLS_KEY_PACKAGE + 1; n++) {
        size_t padding = 1500;

        do { /* the length of signatures varies */
            char *extension = calloc(1, padding);

            buf_reset(&b);
            mls_write_number(&b, 1, 2);
            mls_write_number(&b, 2, 2);
            dave_write_key(&b, id.init, false);
            dave_write_leaf(&b, &id, 1, (struct str){ 0 }, FAULT_NONE);
            mls_write_length(&b, padding + 4);
            mls_write_number(&b, 0x0a0a, 2);
            mls_write_vector(&b, str_slice(extension, padding));
            dave_write_signature(&b, id.signature, "KeyPackageTBS", 0, (struct str){ 0 }, false);
            free(extension);
            padding += n - b.n;
        } while (b.n != n);
        assert_int_equal(mls_key_package_read(buf_as_str(&b), USER, &k), n == MLS_KEY_PACKAGE);
    }
    buf_clear(&b);
    identity_clear(&id);
}

/* --- commits and welcomes --------------------------------------------------------------- */

static void commit_and_welcome_of_the_davey_library_are_read(void **state)
{
    static const char *const packages[] = { davey_package_2, davey_package_3 };
    char bytes[4096], package[MLS_KEY_PACKAGE];
    struct str whole = hex(davey_commit_adds, bytes);
    struct mls_reader r = { .rest = whole };
    struct mls_key_package k;
    struct mls_commit c;
    struct mls_welcome w, one;
    struct buf b;

    (void)state;
    assert_true(mls_commit_read(&r, &c));
    assert_int_equal(c.group.n, 8);
    assert_int_equal(c.epoch, 0);
    assert_int_equal(c.leaf, 0);
    assert_int_equal(c.reference_count, 2);
    assert_false(c.has_path);
    assert_true(mls_commit_verify_path(&c));
    assert_memory_equal(mls_commit_proposal_reference_at(&c, 0), c.references.p + 2, MLS_HASH);
    assert_memory_equal(mls_commit_proposal_reference_at(&c, 1), c.references.p + 36, MLS_HASH);
    assert_true(mls_welcome_read(&r, &w));
    assert_int_equal(r.rest.n, 0);
    assert_int_equal(w.secret_count, 2);
    assert_int_equal(c.bytes.n + w.bytes.n, whole.n);

    buf_init(&b, 1 << 16);
    assert_true(mls_welcome_write(&w, NULL, &b));
    assert_true(str_eq(buf_as_str(&b), w.bytes));
    for (size_t i = 0; i < 2; i++) {
        assert_true(mls_key_package_read(hex(packages[i], package), USER + 1 + i, &k));
        assert_true(mls_welcome_has_secrets_for(&w, k.ref));
        buf_reset(&b);
        assert_true(mls_welcome_write(&w, k.ref, &b));
        r = (struct mls_reader){ .rest = buf_as_str(&b) };
        assert_true(mls_welcome_read(&r, &one));
        assert_int_equal(one.secret_count, 1);
        assert_true(mls_welcome_has_secrets_for(&one, k.ref));
        assert_true(str_eq(one.group_info, w.group_info));
    }
    assert_true(mls_key_package_read(hex(davey_package_1, package), USER, &k));
    assert_false(mls_welcome_has_secrets_for(&w, k.ref));
    buf_reset(&b);
    assert_false(mls_welcome_write(&w, k.ref, &b));
    assert_int_equal(b.n, 0);
    buf_clear(&b);
}

static void commit_with_path_of_the_davey_library_is_verified(void **state)
{
    char bytes[4096], package[MLS_KEY_PACKAGE];
    struct mls_reader r = { .rest = hex(davey_commit_removes, bytes) };
    struct mls_key_package k;
    struct mls_commit c;

    (void)state;
    assert_true(mls_commit_read(&r, &c));
    assert_int_equal(r.rest.n, 0);
    assert_int_equal(c.epoch, 1);
    assert_int_equal(c.reference_count, 1);
    assert_true(c.has_path);
    assert_true(mls_key_package_read(hex(davey_package_1, package), USER, &k));
    assert_int_equal(c.path.user, USER);
    assert_true(str_eq(c.path.signature_key, k.leaf.signature_key));
    assert_true(mls_commit_verify_path(&c));
    c.leaf++;
    assert_false(mls_commit_verify_path(&c));
    c.leaf--;
    c.group = STR("12345678");
    assert_false(mls_commit_verify_path(&c));
}

static void commit_and_welcome_are_refused_if_truncated_anywhere(void **state)
{
    static const char *const vectors[] = { davey_commit_adds, davey_commit_removes };
    char bytes[4096];
    struct mls_commit c;
    struct mls_welcome w;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct mls_reader r = { .rest = hex(vectors[i], bytes) };
        struct str whole = r.rest;

        assert_true(mls_commit_read(&r, &c));
        for (size_t n = 0; n < whole.n; n++) {
            struct str part = copy_of(str_slice(bytes, n));
            struct mls_reader p = { .rest = part };

            assert_int_equal(mls_commit_read(&p, &c), n >= whole.n - r.rest.n);
            if (!p.failed)
                assert_false(mls_welcome_read(&p, &w));
            copy_free(part);
        }
    }
}

static void commit_with_any_single_fault_is_refused(void **state)
{
    unsigned char references[2][MLS_HASH] = { { 1 }, { 2 } };
    struct dave_identity id;
    struct mls_commit c;
    struct buf b;

    (void)state;
    identity_init(&id, USER);
    buf_init(&b, 1 << 16);
    for (enum dave_fault f = FAULTS_OF_PACKAGES; f < FAULTS_OF_COMMITS; f++) {
        struct dave_commit commit = { GROUP, 7, 3, references, 2, &id };
        bool right = f == FAULTS_OF_PACKAGES;

        buf_reset(&b);
        dave_write_commit(&b, &commit, right ? FAULT_NONE : f);
        struct mls_reader r = { .rest = buf_as_str(&b) };
        if (mls_commit_read(&r, &c) != right)
            fail_msg("fault %d is not refused", f);
        if (right)
            assert_true(c.epoch == 7 && c.leaf == 3 && mls_commit_verify_path(&c));
    }
    static const enum dave_fault of_leaves[] = { FAULT_ENCRYPTION_KEY, FAULT_SIGNATURE_KEY,
                                                 FAULT_CREDENTIAL,     FAULT_IDENTITY_LENGTH,
                                                 FAULT_VERSIONS,       FAULT_SUITES,
                                                 FAULT_CREDENTIALS,    FAULT_SOURCE,
                                                 FAULT_LEAF_EXTENSION, FAULT_LEAF_SIGNATURE };
    for (size_t i = 0; i < sizeof of_leaves / sizeof *of_leaves; i++) {
        struct dave_commit commit = { GROUP, 7, 3, references, 2, &id };

        buf_reset(&b);
        dave_write_commit(&b, &commit, of_leaves[i]);
        struct mls_reader r = { .rest = buf_as_str(&b) };
        if (mls_commit_read(&r, &c) && mls_commit_verify_path(&c))
            fail_msg("fault %d is not refused", of_leaves[i]);
    }
    buf_clear(&b);
    identity_clear(&id);
}

static void welcome_with_any_single_fault_is_refused(void **state)
{
    unsigned char refs[2][MLS_HASH] = { { 1 }, { 2 } };
    struct mls_welcome w;
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 16);
    dave_write_welcome(&b, refs, 2);
    struct mls_reader r = { .rest = buf_as_str(&b) };
    assert_true(mls_welcome_read(&r, &w));
    b.p[1] = 1; /* suite */
    r = (struct mls_reader){ .rest = buf_as_str(&b) };
    assert_false(mls_welcome_read(&r, &w));
    b.p[1] = 2;
    size_t length_of_ref = 4;
    assert_int_equal(b.p[length_of_ref], MLS_HASH);
    b.p[length_of_ref]--;
    r = (struct mls_reader){ .rest = buf_as_str(&b) };
    assert_false(mls_welcome_read(&r, &w));
    buf_reset(&b);
    dave_write_welcome(&b, refs, 0);
    r = (struct mls_reader){ .rest = buf_as_str(&b) };
    assert_false(mls_welcome_read(&r, &w));
    buf_clear(&b);
}

/* --- messages of the server ------------------------------------------------------------- */

static void external_sender_package_has_the_documented_layout(void **state)
{
    struct mls_key *key = mls_key_new();
    struct buf b;

    (void)state;
    buf_init(&b, 256);
    mls_write_external_sender(key, &b);
    struct mls_reader r = { .rest = buf_as_str(&b) };
    assert_true(str_eq(mls_read_vector(&r), mls_key_get_public_key(key)));
    assert_int_equal(mls_read_number(&r, 2), 1);
    assert_str(mls_read_vector(&r), "guildhall");
    assert_true(!r.failed && !r.rest.n);
    buf_clear(&b);
    mls_key_free(key);
}

static void proposals_are_signed_and_have_the_documented_layout(void **state)
{
    static const unsigned char head[] = { 0, 1, 0, 1, 8, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                          0, 0, 0, 0, 0, 0, 5, 2, 0, 0, 0, 0, 0, 2 };
    struct mls_key *key = mls_key_new(), *other = mls_key_new();
    char package[MLS_KEY_PACKAGE];
    struct dave_received received;
    struct mls_key_package k;
    unsigned char ref[MLS_HASH];
    struct buf b;

    (void)state;
    assert_true(mls_key_package_read(hex(davey_package_1, package), USER, &k));
    buf_init(&b, 2 * MLS_PROPOSAL);
    mls_write_add_proposal(key, GROUP, 5, k.bytes, &b, ref);
    assert_memory_equal(b.p, head, sizeof head);
    assert_memory_equal(b.p + sizeof head, "\0\1", 2);
    assert_memory_equal(b.p + sizeof head + 2, k.bytes.p, k.bytes.n);
    struct mls_reader r = { .rest = buf_as_str(&b) };
    assert_true(dave_read_proposal(&r, mls_key_get_public_key(key), &received));
    assert_int_equal(r.rest.n, 0);
    assert_memory_equal(received.ref, ref, MLS_HASH);
    assert_memory_equal(received.package_ref, k.ref, MLS_HASH);
    r = (struct mls_reader){ .rest = buf_as_str(&b) };
    assert_false(dave_read_proposal(&r, mls_key_get_public_key(other), &received));

    size_t start = b.n; /* a second proposal in the same buffer */
    mls_write_remove_proposal(key, GROUP, 5, 9, &b, ref);
    assert_memory_equal(b.p + start, head, sizeof head);
    assert_memory_equal(b.p + start + sizeof head, "\0\3\0\0\0\x09", 6);
    r = (struct mls_reader){ .rest = str_skip_bytes(buf_as_str(&b), start) };
    assert_true(dave_read_proposal(&r, mls_key_get_public_key(key), &received));
    assert_memory_equal(received.ref, ref, MLS_HASH);
    buf_clear(&b);
    mls_key_free(key);
    mls_key_free(other);
}

static void signatures_are_bound_to_label_and_key(void **state)
{
    struct mls_key *key = mls_key_new();
    struct buf b;

    (void)state;
    buf_init(&b, 256);
    mls_sign_with_label(key, "LeafNodeTBS", STR("con"), STR("tent"), &b);
    struct mls_reader r = { .rest = buf_as_str(&b) };
    struct str signature = mls_read_vector(&r), public_key = mls_key_get_public_key(key);
    assert_true(
        mls_verify_with_label(public_key, "LeafNodeTBS", STR("content"), STR(""), signature));
    assert_false(
        mls_verify_with_label(public_key, "KeyPackageTBS", STR("content"), STR(""), signature));
    assert_false(
        mls_verify_with_label(public_key, "LeafNodeTBS", STR("contents"), STR(""), signature));
    assert_false(
        mls_verify_with_label(STR("key"), "LeafNodeTBS", STR("content"), STR(""), signature));
    assert_false(
        mls_verify_with_label(public_key, "LeafNodeTBS", STR("content"), STR(""), STR("")));
    buf_clear(&b);
    mls_key_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mls_lengths_are_written_in_the_shortest_form),
        cmocka_unit_test(mls_lengths_not_in_shortest_form_are_refused),
        cmocka_unit_test(mls_reader_stays_failed_after_reading_beyond_the_end),
        cmocka_unit_test(key_package_of_the_davey_library_is_accepted),
        cmocka_unit_test(key_package_is_refused_if_truncated_or_changed_anywhere),
        cmocka_unit_test(key_package_with_any_single_fault_is_refused),
        cmocka_unit_test(key_package_may_have_2_kib),
        cmocka_unit_test(commit_and_welcome_of_the_davey_library_are_read),
        cmocka_unit_test(commit_with_path_of_the_davey_library_is_verified),
        cmocka_unit_test(commit_and_welcome_are_refused_if_truncated_anywhere),
        cmocka_unit_test(commit_with_any_single_fault_is_refused),
        cmocka_unit_test(welcome_with_any_single_fault_is_refused),
        cmocka_unit_test(external_sender_package_has_the_documented_layout),
        cmocka_unit_test(proposals_are_signed_and_have_the_documented_layout),
        cmocka_unit_test(signatures_are_bound_to_label_and_key),
    };

    return cmocka_run_group_tests_name("relay/dave/mls", tests, NULL, NULL);
}
