/* secrets.c - tests that a sealed secret can be opened only for its owner. */
#include "unit/unit.h"

#include <ftw.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "integrations/internal.h"

static char folder[64];
static struct auth *auth;
static struct arena *arena;

static int open_auth(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/guildhall-secrets-XXXXXX");
    arena = arena_new();
    return sodium_init() < 0 || !mkdtemp(folder) || auth_new(folder, NULL, &auth) ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s, (void)type, (void)f;
    return remove(path);
}

static int close_auth(void **state)
{
    (void)state;
    auth_free(auth);
    arena_free(arena);
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void encrypted_secret_can_be_decrypted(void **state)
{
    struct str sealed = encrypt_linked_account_secret(arena, auth, 7, STR("the secret"));

    (void)state;
    assert_null(memmem(sealed.p, sealed.n, "secret", 6));
    assert_str(decrypt_linked_account_secret(arena, auth, 7, sealed), "the secret");
    /* Each sealing of the same text gives another result. */
    assert_false(str_eq(sealed, encrypt_linked_account_secret(arena, auth, 7, STR("the secret"))));
}

static void encrypted_secret_needs_its_owner_and_all_bytes(void **state)
{
    struct str sealed = encrypt_linked_account_secret(arena, auth, 7, STR("the secret"));

    (void)state;
    assert_null(decrypt_linked_account_secret(arena, auth, 8, sealed).p);
    for (size_t n = 0; n < sealed.n; n++)
        assert_null(decrypt_linked_account_secret(arena, auth, 7, str_slice(sealed.p, n)).p);
    for (size_t i = 0; i < sealed.n; i++) {
        struct str bent = str_dup(arena, sealed);

        ((char *)bent.p)[i] ^= 1;
        assert_null(decrypt_linked_account_secret(arena, auth, 7, bent).p);
    }
    assert_null(encrypt_linked_account_secret(arena, auth, 7, STR("")).p);
    assert_null(decrypt_linked_account_secret(arena, auth, 7, (struct str){ 0 }).p);
}

static void secret_digest_depends_on_purpose_and_text(void **state)
{
    struct str one = compute_digest_of_account_link_secret(arena, auth, "one", STR("x"));

    (void)state;
    assert_true(str_eq(one, compute_digest_of_account_link_secret(arena, auth, "one", STR("x"))));
    assert_false(str_eq(one, compute_digest_of_account_link_secret(arena, auth, "two", STR("x"))));
    assert_false(str_eq(one, compute_digest_of_account_link_secret(arena, auth, "one", STR("y"))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encrypted_secret_can_be_decrypted),
        cmocka_unit_test(encrypted_secret_needs_its_owner_and_all_bytes),
        cmocka_unit_test(secret_digest_depends_on_purpose_and_text),
    };

    return cmocka_run_group_tests_name("integrations/secrets", tests, open_auth, close_auth);
}
