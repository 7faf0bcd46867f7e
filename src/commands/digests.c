/* digests.c - keyed digests (Poly1305) of texts, which are compared instead of the texts
 * themselves. The key is secret, and digests are not sent, so nobody can produce collisions on
 * purpose. Poly1305 is several times as fast as an unkeyed cryptographic hash. */
#include "commands/internal.h"

#include <sodium.h>

void compute_command_digest(const struct call *call, const void *p, size_t n,
                            unsigned char ret[COMMANDS_DIGEST])
{
    unsigned char key[crypto_onetimeauth_KEYBYTES];

    _Static_assert(COMMANDS_DIGEST == crypto_onetimeauth_BYTES, "a tag of Poly1305");
    auth_derive_key(api_get_options(call->api)->auth, "command-digests", 0, STR(""), key,
                    sizeof key);
    crypto_onetimeauth(ret, p, n, key);
}
