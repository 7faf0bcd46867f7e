/* key_file.c - the key file of the server (pepper.key), and the check that it belongs to the
 * database.
 *
 * Without the right key no token and no file URL is valid. A new key for a used database would
 * invalidate all credentials, so a key is created only for a database that was never used. The
 * database stores a digest of its key. */
#include "api/auth/key_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static const char KEY_NAME[] = "pepper.key";

static bool read_key_file(const char *path, unsigned char *key)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, key, AUTH_KEY_BYTES);

    if (fd >= 0)
        close(fd);
    return n == AUTH_KEY_BYTES;
}

/* Writes the key file and syncs it to disk before the key is used: if a crash destroyed the key,
 * tokens that were made with it could not be verified any more. */
static bool write_key_file(const char *path, const unsigned char *key)
{
    char temporary[4096];

    snprintf(temporary, sizeof temporary, "%s.new", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, key, AUTH_KEY_BYTES) == AUTH_KEY_BYTES && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok && rename(temporary, path) == 0;
}

static enum err create_key_file(const char *path, unsigned char *key)
{
    randombytes_buf(key, AUTH_KEY_BYTES);
    if (access(path, F_OK) != 0 && write_key_file(path, key))
        return OK;
    log_error("auth: cannot read or create the key file '%s'; check its permissions", path);
    return ERR_INTERNAL;
}

struct server_key {
    bool was_used; /* whether the database contains tokens that were made with any key */
    bool is_known;
    char digest[2 * crypto_generichash_BYTES + 1];
};

static const char FIND_KEY[] = "select digest from server_keys where name = $1";
static const char HAS_TOKENS[] = "select 1 from tokens limit 1";

static enum err read_key_digest(struct tx *tx, void *arg)
{
    struct server_key *q = arg;
    struct rows row;
    enum err e = tx_one(tx, FIND_KEY, BIND(v_text(str_of(KEY_NAME))), &row, &q->is_known);

    if (!e && q->is_known)
        snprintf(q->digest, sizeof q->digest, "%.*s", STR_ARGS(row_text(&row, 0)));
    return e ? e : tx_one(tx, HAS_TOKENS, NO_BIND, &row, &q->was_used);
}

static const char INSERT_KEY_DIGEST[] =
    "insert into server_keys (name, digest) values ($1, $2) on conflict (name) do nothing";

static enum err insert_key_digest(struct tx *tx, void *arg)
{
    const struct server_key *q = arg;

    return tx_exec(tx, INSERT_KEY_DIGEST, BIND(v_text(str_of(KEY_NAME)), v_text(str_of(q->digest))),
                   NULL);
}

static void compute_key_digest(const unsigned char *key, char *out, size_t size)
{
    static const char purpose[] = "guildhall: which key is it";
    unsigned char digest[crypto_generichash_BYTES];

    crypto_generichash(digest, sizeof digest, (const unsigned char *)purpose, sizeof purpose, key,
                       AUTH_KEY_BYTES);
    sodium_bin2hex(out, size, digest, sizeof digest);
}

static enum err check_key_matches_database(struct store *store, const char *path,
                                           const struct server_key *q, const unsigned char *key)
{
    struct server_key current = { 0 };

    compute_key_digest(key, current.digest, sizeof current.digest);
    if (!q->is_known)
        return store_run_transaction_and_wait(store, STORE_WRITE, NULL, insert_key_digest,
                                              &current);
    if (strcmp(current.digest, q->digest) == 0)
        return OK;
    log_error("auth: the key file '%s' does not belong to this database; restore the right one "
              "from a backup of the data folder",
              path);
    return ERR_INTERNAL;
}

enum err read_or_create_server_key(const char *folder, struct store *store,
                                   unsigned char key[AUTH_KEY_BYTES])
{
    struct server_key q = { 0 };
    char path[4000];
    enum err e =
        store ? store_run_transaction_and_wait(store, STORE_READ, NULL, read_key_digest, &q) : OK;

    if (e)
        return e;
    if (snprintf(path, sizeof path, "%s/%s", folder, KEY_NAME) >= (int)sizeof path)
        return ERR_INTERNAL;
    if (!read_key_file(path, key)) {
        if (access(path, F_OK) != 0 && (q.is_known || q.was_used)) {
            log_error(
                "auth: the key file '%s' is missing, and this database cannot be used without "
                "it; restore it from a backup of the data folder",
                path);
            return ERR_INTERNAL;
        }
        e = create_key_file(path, key);
    }
    return e || !store ? e : check_key_matches_database(store, path, &q, key);
}
