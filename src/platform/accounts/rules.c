/* rules.c - pure functions about accounts: age, usernames, picture hashes. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "base/mem.h"
#include "base/pictures/pictures.h"

/* Compares the "-MM-DD" parts: if today's is less than that of the birth date, this year's birthday
 * is still to come. */
int64_t age_in_years_on(struct str birth, struct str today)
{
    uint64_t born = 0, now = 0;

    str_to_u64(str_slice(birth.p, 4), &born);
    str_to_u64(str_slice(today.p, 4), &now);
    return (int64_t)(now - born) - (memcmp(today.p + 4, birth.p + 4, 6) < 0);
}

bool username_is_allowed(struct str name)
{
    return type_username.rule->is_valid(name) && name.n >= 2 && name.n <= 32;
}

bool username_is_reserved(struct str name)
{
    static const char *const reserved[] = {
        "everyone", "here", "me", "system", "guildhall", "admin"
    };

    for (size_t i = 0; i < COUNT_OF(reserved); i++)
        if (str_is(name, reserved[i]))
            return true;
    return false;
}

struct str compute_picture_hash_of_upload(struct arena *a, const struct uploaded_image *image,
                                          snowflake id)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;

    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)&id, sizeof id);
    crypto_hash_sha256_update(&state, (const unsigned char *)image->bytes.p, image->bytes.n);
    crypto_hash_sha256_final(&state, digest);
    struct str hex = str_hex_encode(a, digest, 16);
    return picture_is_animated(image->bytes) ? str_printf(a, "a_%.*s", STR_ARGS(hex)) : hex;
}
