/* rules.c - decisions about accounts, without input or output. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "base/mem.h"

/* Dates of the same form compare like text: month and day decide whether this
 * year's birthday has been. */
int64_t age_on(struct str birth, struct str today)
{
    uint64_t born = 0, now = 0;

    str_to_u64(str_slice(birth.p, 4), &born);
    str_to_u64(str_slice(today.p, 4), &now);
    return (int64_t)(now - born) - (memcmp(today.p + 4, birth.p + 4, 6) < 0);
}

bool username_allowed(struct str name)
{
    return type_username.rule->holds(name) && name.n >= 2 && name.n <= 32;
}

bool username_reserved(struct str name)
{
    static const char *const reserved[] = {
        "everyone", "here", "me", "system", "guildhall", "admin"
    };

    for (size_t i = 0; i < COUNT_OF(reserved); i++)
        if (str_is(name, reserved[i]))
            return true;
    return false;
}

/* A GIF with more than one picture: a second image descriptor after a graphic
 * control extension is what every encoder writes. A WebP says so in its VP8X flags. */
static bool is_animated(const struct image *image)
{
    const struct str b = image->bytes;

    if (strcmp(image->extension, "gif") == 0) {
        static const char control[] = { 0x21, (char)0xf9, 0x04 };
        const char *first = memmem(b.p, b.n, control, sizeof control);

        return first && memmem(first + 3, b.n - (size_t)(first + 3 - b.p), control, sizeof control);
    }
    if (strcmp(image->extension, "webp") == 0)
        return b.n > 20 && memcmp(b.p + 12, "VP8X", 4) == 0 && (b.p[20] & 2);
    return false;
}

struct str image_hash(struct arena *a, const struct image *image, snowflake id)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;

    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)&id, sizeof id);
    crypto_hash_sha256_update(&state, (const unsigned char *)image->bytes.p, image->bytes.n);
    crypto_hash_sha256_final(&state, digest);
    struct str hex = str_hex(a, digest, 16);
    return is_animated(image) ? str_printf(a, "a_%.*s", STR_FMT(hex)) : hex;
}
