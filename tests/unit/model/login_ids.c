/* login_ids.c - tests the ids and hashes of login sessions. */
#include "unit/unit.h"

#include "base/mem.h"
#include "model/login_ids.h"

/* The hash is SHA-256 in base64; the id is the first half of it as a UUID. */
static void login_session_ids_match_known_hashes(void **state)
{
    static const struct {
        unsigned char session[8];
        const char *id, *hash;
    } known[] = {
        { { 0 },
          "af5570f5-a181-4b7a-a78c-af4bc70a660f",
          "r1Vw9aGBC3r3jK9LxwpmDw31HkK6+R1N5bIyjeDoPfw=" },
        { { 1, 2, 3, 4, 5, 6, 7, 8 },
          "66840dda-154e-4a11-ac31-dd0ad32f7f3a",
          "ZoQN2hVOihE8Md0K0y9/OjZqgOgTaXnY9aEB09Kdb3I=" },
        { { 0, 0, 0, 0, 0, 0, 0x2f, 0xd4 },
          "0de98058-9f81-458e-aa37-9b4672b8960a",
          "DemAWJ+BBY4KN5tGcriWCqrrrvQ3UEfl3ri5SBCwUck=" },
    };
    char id[LOGIN_ID_SIZE], hash[LOGIN_HASH_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        login_session_write_public_ids(known[i].session, id, hash);
        assert_string_equal(id, known[i].id);
        assert_string_equal(hash, known[i].hash);
        memset(id, 'x', sizeof id);
        login_session_write_public_ids(known[i].session, id, NULL);
        assert_string_equal(id, known[i].id);
        memset(hash, 'x', sizeof hash);
        login_session_write_public_ids(known[i].session, NULL, hash);
        assert_string_equal(hash, known[i].hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(login_session_ids_match_known_hashes),
    };
    return cmocka_run_group_tests_name("model/login", tests, NULL, NULL);
}
