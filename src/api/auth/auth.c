/* auth.c - tokens: issue, authenticate with a cache, revoke. */
#include "api/auth/auth.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>

#include "api/auth/key_file.h"
#include "api/auth/address_bans.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/test_faults.h"

enum {
    SECRET_BYTES = 32,
    SESSION_BYTES = 8,
};

/* Value of revocations_seen if auth_record_revocations_before_lookup was not called: then the
 * result of the lookup must not be cached. */
#define UNKNOWN_REVOCATIONS UINT64_MAX

/* A keyed hash of the whole token. The cache stores hashes only, so it contains no usable tokens.
 * Without the key nobody can find two tokens with the same hash. */
struct token_hash {
    unsigned char bytes[crypto_shorthash_siphashx24_BYTES];
};

struct cached_caller {
    struct cache_entry entry;
    bool recognised; /* whether used since the last auth_collect_recently_used_tokens */
    struct token_hash tag;
    struct caller caller;
};

struct token_shard {
    pthread_mutex_t lock;
    struct cache callers;
};

struct auth {
    unsigned char pepper[AUTH_KEY_BYTES];
    unsigned char tag_key[crypto_shorthash_siphashx24_KEYBYTES];
    _Atomic uint64_t revocations; /* number of revocations so far */
    _Atomic int64_t fresh_until;  /* see auth_set_token_cache_valid_until; 0 means always valid */
    struct address_ban_set *bans;
    struct token_shard shards[AUTH_CACHE_SHARDS];
};

static bool cached_caller_matches_key(const struct cache_entry *e, const void *key)
{
    const struct cached_caller *r = (const struct cached_caller *)e, *lookup = key;

    return r->caller.kind == lookup->caller.kind &&
           sodium_memcmp(&r->tag, &lookup->tag, sizeof r->tag) == 0;
}

static struct cache_kind credentials = {
    .name = "credentials",
    .entries = AUTH_SHARD_ENTRIES, /* per shard; 16,384 in total */
    .matches = cached_caller_matches_key,
};

enum err auth_new(const char *folder, struct store *store, struct auth **ret)
{
    struct auth *a = mem_new(sizeof *a);
    enum err e = read_or_create_server_key(folder, store, a->pepper);

    if (e) {
        mem_free(a);
        return e;
    }
    a->bans = address_ban_set_new();
    randombytes_buf(a->tag_key, sizeof a->tag_key);
    for (int i = 0; i < AUTH_CACHE_SHARDS; i++) {
        pthread_mutex_init(&a->shards[i].lock, NULL);
        a->shards[i].callers.kind = &credentials;
    }
    *ret = a;
    return OK;
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    for (int i = 0; i < AUTH_CACHE_SHARDS; i++) {
        pthread_mutex_destroy(&a->shards[i].lock);
        cache_clear(&a->shards[i].callers);
    }
    address_ban_set_free(a->bans);
    sodium_memzero(a->pepper, sizeof a->pepper);
    mem_free(a);
}

struct address_ban_set *auth_get_address_ban_set(const struct auth *a)
{
    return a->bans;
}

bool auth_is_address_banned(const struct auth *a, struct str address)
{
    return address_ban_set_contains(a->bans, address);
}

static bool remove_auth_scheme(struct str *s, struct str word)
{
    if (s->n <= word.n || s->p[word.n] != ' ' || !str_eq_nocase(str_slice(s->p, word.n), word))
        return false;
    *s = str_trim(str_skip_bytes(*s, word.n));
    return true;
}

enum caller_kind parse_credential_kind(struct str authorization, struct str *ret_token)
{
    *ret_token = str_trim(authorization);
    if (remove_auth_scheme(ret_token, STR("Bot")))
        return CALLER_BOT;
    return remove_auth_scheme(ret_token, STR("Bearer")) ? CALLER_BEARER : CALLER_USER;
}

static bool decode_base64_exact(struct str text, unsigned char *out, size_t size)
{
    size_t n;

    return str_base64url_decode(text, out, size, &n) && n == size;
}

bool is_valid_world_file_token(struct str text)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    if (text.n < 16 || text.n > 100)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!text.p[i] || !strchr(good, text.p[i]))
            return false;
    return true;
}

/* Derives session id and secret from the text of a token that a world file has chosen
 * (token_grant.chosen). */
static void derive_secrets_from_chosen_token(struct str text, unsigned char *session,
                                             unsigned char *secret)
{
    unsigned char bytes[SESSION_BYTES + SECRET_BYTES];

    crypto_generichash(bytes, sizeof bytes, (const unsigned char *)text.p, text.n, NULL, 0);
    memcpy(session, bytes, SESSION_BYTES);
    memcpy(secret, bytes + SESSION_BYTES, SECRET_BYTES);
}

bool parse_credential_token(enum caller_kind kind, struct str token, struct parsed_credential *ret)
{
    struct str rest = token;
    struct str account = str_cut(&rest, '.'), session = str_cut(&rest, '.');
    char digits[20];
    size_t n;

    ret->kind = kind;
    ret->token = token;
    ret->revocations_seen = UNKNOWN_REVOCATIONS;
    if (is_valid_world_file_token(token)) {
        ret->account = 0;
        derive_secrets_from_chosen_token(token, ret->session, ret->secret);
        return true;
    }
    return str_base64url_decode(account, digits, sizeof digits, &n) &&
           snowflake_parse(str_slice(digits, n), &ret->account) &&
           decode_base64_exact(session, ret->session, SESSION_BYTES) &&
           decode_base64_exact(rest, ret->secret, SECRET_BYTES);
}

static void compute_token_cache_hash(const struct auth *a, struct str token, struct token_hash *tag)
{
    crypto_shorthash_siphashx24(tag->bytes, (const unsigned char *)token.p, token.n, a->tag_key);
}

static struct token_shard *find_token_shard(struct auth *a, const struct token_hash *tag,
                                            uint64_t *ret_hash)
{
    memcpy(ret_hash, tag->bytes, sizeof *ret_hash);
    return &a->shards[*ret_hash % AUTH_CACHE_SHARDS];
}

void auth_set_token_cache_valid_until(struct auth *a, int64_t until)
{
    atomic_store_explicit(&a->fresh_until, until, memory_order_relaxed);
}

/* Returns false if this node may not have received a revocation by another node, so that its token
 * cache must not be used. */
static bool token_cache_is_up_to_date(struct auth *a)
{
    int64_t until = atomic_load_explicit(&a->fresh_until, memory_order_relaxed);

    return !until || clock_monotonic_ns() < until ||
           test_fault_is_enabled(TEST_FAULT_STALE_CREDENTIALS);
}

bool auth_find_cached_token(struct auth *a, enum caller_kind kind, struct str token,
                            struct caller *ret)
{
    struct cached_caller lookup = { .caller.kind = kind };
    uint64_t hash;

    compute_token_cache_hash(a, token, &lookup.tag);
    struct token_shard *s = find_token_shard(a, &lookup.tag, &hash);
    pthread_mutex_lock(&s->lock);
    struct cached_caller *found = cache_find(&s->callers, hash, &lookup);
    if (found) {
        *ret = found->caller;
        found->recognised = true;
    }
    pthread_mutex_unlock(&s->lock);
    return found && (ret->expires_at == 0 || ret->expires_at > clock_us()) &&
           token_cache_is_up_to_date(a);
}

size_t auth_collect_recently_used_tokens(struct auth *a, unsigned part,
                                         struct login_session_id ret[AUTH_SHARD_ENTRIES])
{
    struct token_shard *s = &a->shards[part];
    size_t count = 0, at = 0;

    pthread_mutex_lock(&s->lock);
    for (struct cached_caller *r; (r = map_next_value(&s->callers.entries, &at));) {
        if (!r->recognised)
            continue;
        r->recognised = false;
        memcpy(ret[count++].session, r->caller.session, SESSION_BYTES);
    }
    pthread_mutex_unlock(&s->lock);
    return count;
}

uint64_t auth_revocation_count(struct auth *a)
{
    return atomic_load(&a->revocations);
}

void auth_record_revocations_before_lookup(struct auth *a, struct parsed_credential *c)
{
    c->revocations_seen = auth_revocation_count(a);
}

static void cache_caller_of_token(struct auth *a, const struct parsed_credential *c,
                                  const struct caller *caller)
{
    struct cached_caller *r = mem_new(sizeof *r);
    uint64_t hash;

    r->recognised = true;
    r->caller = *caller;
    compute_token_cache_hash(a, c->token, &r->tag);
    struct token_shard *s = find_token_shard(a, &r->tag, &hash);
    pthread_mutex_lock(&s->lock);
    /* If any token was revoked since the lookup began, it may be this token, so do not cache the
     * result of the lookup. */
    if (auth_revocation_count(a) == c->revocations_seen)
        cache_insert(&s->callers, hash, sizeof *r, &r->entry);
    else
        mem_free(r);
    pthread_mutex_unlock(&s->lock);
}

/* Removes matching tokens from the cache by scanning the whole cache. Revocations are rare, so the
 * cache has no index by session or account. */
static uint64_t evict_matching_callers(struct auth *a,
                                       bool (*matches)(const struct cache_entry *, const void *),
                                       const void *what)
{
    /* Count the revocation before the cache is searched, so that lookups in progress do not cache
     * their result. */
    atomic_fetch_add(&a->revocations, 1);
    for (int shard = 0; shard < AUTH_CACHE_SHARDS; shard++) {
        struct token_shard *s = &a->shards[shard];

        pthread_mutex_lock(&s->lock);
        cache_evict_if(&s->callers, matches, what);
        pthread_mutex_unlock(&s->lock);
    }
    /* Count the revocation again, and return this count. A lookup that begins at this count or
     * later finds the token neither in the store nor in the cache. */
    return atomic_fetch_add(&a->revocations, 1) + 1;
}

static const struct caller *get_caller_of_cache_entry(const struct cache_entry *e)
{
    return &((const struct cached_caller *)e)->caller;
}

static bool caller_has_session(const struct cache_entry *e, const void *session)
{
    return memcmp(get_caller_of_cache_entry(e)->session, session, SESSION_BYTES) == 0;
}

static bool caller_has_account(const struct cache_entry *e, const void *id)
{
    return get_caller_of_cache_entry(e)->id == *(const snowflake *)id;
}

static bool caller_has_application(const struct cache_entry *e, const void *id)
{
    return get_caller_of_cache_entry(e)->application_id == *(const snowflake *)id;
}

uint64_t auth_evict_application_tokens(struct auth *a, snowflake application_id)
{
    return evict_matching_callers(a, caller_has_application, &application_id);
}

uint64_t auth_evict_session_token(struct auth *a, const unsigned char session[8])
{
    return evict_matching_callers(a, caller_has_session, session);
}

uint64_t auth_evict_account_tokens(struct auth *a, snowflake user_id)
{
    return evict_matching_callers(a, caller_has_account, &user_id);
}

static void compute_token_secret_digest(const struct auth *a, const unsigned char *secret,
                                        unsigned char *digest)
{
    crypto_auth_hmacsha256_state state;

    crypto_auth_hmacsha256_init(&state, a->pepper, sizeof a->pepper);
    crypto_auth_hmacsha256_update(&state, secret, SECRET_BYTES);
    crypto_auth_hmacsha256_final(&state, digest);
}

static struct str session_id_as_str(const unsigned char *session)
{
    return str_slice((const char *)session, SESSION_BYTES);
}

static uint64_t parse_scope_bits(struct str scopes)
{
    uint64_t bits = 0;

    while (scopes.n)
        bits |= auth_oauth2_scope_bit(str_cut(&scopes, ' '));
    return bits;
}

static const char FIND_TOKEN[] =
    "select t.digest, t.user_id, coalesce(t.application_id, 0), t.scopes, coalesce(t.expires_at, 0), "
    "u.disabled, u.deleting from tokens t join users u on u.id = t.user_id "
    "where t.id = $1 and t.kind = $2 and not exists "
    "(select 1 from applications a where a.id = t.application_id and a.removed = 1)";

enum err auth_find_stored_token(struct auth *a, struct tx *tx, const struct parsed_credential *c,
                                struct caller *ret)
{
    unsigned char digest[crypto_auth_hmacsha256_BYTES];
    struct rows row;

    enum err e =
        tx_one_or(tx, FIND_TOKEN, BIND(v_bytes(session_id_as_str(c->session)), v_int(c->kind)),
                  ERR_UNAUTHORIZED, &row);
    if (e)
        return e;

    struct str stored = row_bytes(&row, 0);
    compute_token_secret_digest(a, c->secret, digest);
    *ret = (struct caller){
        .kind = c->kind,
        .id = row_id(&row, 1),
        .application_id = row_id(&row, 2),
        .scopes = parse_scope_bits(row_text(&row, 3)),
        .expires_at = row_int(&row, 4),
        .disabled = row_bool(&row, 5),
        .deleting = row_bool(&row, 6),
    };
    memcpy(ret->session, c->session, SESSION_BYTES);
    if (stored.n != sizeof digest || sodium_memcmp(stored.p, digest, sizeof digest) != 0 ||
        (c->account && ret->id != c->account) || (ret->expires_at && ret->expires_at <= clock_us()))
        return ERR_UNAUTHORIZED;
    cache_caller_of_token(a, c, ret);
    return OK;
}

static const char ADD_TOKEN[] =
    "insert into tokens (id, kind, user_id, application_id, scopes, digest, created_at, expires_at, "
    "client, code_digest) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

static void create_token_secrets(const struct auth *a, const struct token_to_issue *g,
                                 unsigned char *session, unsigned char *secret)
{
    unsigned char bytes[SESSION_BYTES + SECRET_BYTES];

    if (g->chosen.p) {
        derive_secrets_from_chosen_token(g->chosen, session, secret);
        return;
    }
    if (g->lasting.p)
        auth_derive_key(a, "lasting token", g->user_id, g->lasting, bytes, sizeof bytes);
    else
        randombytes_buf(bytes, sizeof bytes);
    memcpy(session, bytes, SESSION_BYTES);
    memcpy(secret, bytes + SESSION_BYTES, SECRET_BYTES);
    sodium_memzero(bytes, sizeof bytes);
}

enum err auth_issue_token(struct auth *a, struct tx *tx, const struct token_to_issue *g,
                          struct str *ret_token)
{
    unsigned char session[SESSION_BYTES], secret[SECRET_BYTES],
        digest[crypto_auth_hmacsha256_BYTES];
    struct arena *arena = tx_arena(tx);
    char id[SNOWFLAKE_TEXT_SIZE];

    create_token_secrets(a, g, session, secret);
    compute_token_secret_digest(a, secret, digest);
    enum err e = tx_exec(
        tx, ADD_TOKEN,
        BIND(v_bytes(session_id_as_str(session)), v_int(g->kind), v_id(g->user_id),
             g->application_id ? v_id(g->application_id) : v_null(), v_text(g->scopes),
             v_bytes(str_slice((const char *)digest, sizeof digest)), v_int(clock_us()),
             g->expires_at ? v_int(g->expires_at) : v_null(),
             g->client.p ? v_text(g->client) : v_null(), g->code.p ? v_bytes(g->code) : v_null()),
        NULL);
    if (e)
        return e;

    int n = snprintf(id, sizeof id, "%llu", (unsigned long long)g->user_id);
    struct str one = str_base64url_encode(arena, id, (size_t)n);
    struct str two = str_base64url_encode(arena, session, sizeof session);
    struct str three = str_base64url_encode(arena, secret, sizeof secret);
    *ret_token = g->chosen.p ? str_dup(arena, g->chosen)
                             : STR_CONCAT(arena, one, STR("."), two, STR("."), three);
    sodium_memzero(secret, sizeof secret);
    return OK;
}

static const char END_TOKEN[] = "delete from tokens where id = $1";

enum err auth_delete_token(struct tx *tx, const unsigned char session[8])
{
    return tx_exec(tx, END_TOKEN, BIND(v_bytes(session_id_as_str(session))), NULL);
}

void auth_derive_key(const struct auth *a, const char *word, snowflake id, struct str salt,
                     unsigned char *out, size_t n)
{
    crypto_generichash_state state;

    crypto_generichash_init(&state, a->pepper, sizeof a->pepper, n);
    crypto_generichash_update(&state, (const unsigned char *)word, strlen(word) + 1);
    crypto_generichash_update(&state, (const unsigned char *)&id, sizeof id);
    crypto_generichash_update(&state, (const unsigned char *)salt.p, salt.n);
    crypto_generichash_final(&state, out, n);
}

uint64_t auth_oauth2_scope_bit(struct str name)
{
    static const char *const scopes[] = {
        "identify",
        "email",
        "guilds",
        "guilds.join",
        "bot",
        "applications.commands",
        "applications.commands.update",
        "applications.commands.permissions.update",
        "relationships.read",
        "relationships.write",
        "voice",
        "connections",
        "guilds.members.read",
        "gdm.join",
        "role_connections.write",
        "applications.entitlements",
        "openid",
        "webhook.incoming",
    };

    for (size_t i = 0; i < COUNT_OF(scopes); i++)
        if (str_is(name, scopes[i]))
            return UINT64_C(1) << i;
    return 0;
}
