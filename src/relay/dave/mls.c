/* mls.c - parses, verifies and signs the MLS messages of DAVE. */
#include "relay/dave/mls.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/mem.h"

enum {
    MLS_10 = 1,
    SUITE_P256 = 2,
    WIRE_PUBLIC_MESSAGE = 1,
    WIRE_KEY_PACKAGE = 5,
    SENDER_MEMBER = 1,
    SENDER_EXTERNAL = 2,
    CONTENT_PROPOSAL = 2,
    CONTENT_COMMIT = 3,
    PROPOSAL_ADD = 1,
    PROPOSAL_REMOVE = 3,
    PROPOSAL_BY_REFERENCE = 2,
    CREDENTIAL_BASIC = 1,
    LEAF_KEY_PACKAGE = 1,
    LEAF_COMMIT = 3,
    REFERENCE = 1 + 1 + MLS_HASH, /* size of a proposal reference in a commit, in bytes */
    LENGTH_MAX = 4,               /* most bytes of a length */
};

/* --- reading and writing ---------------------------------------------------------------- */

static struct str mls_read_bytes(struct mls_reader *r, size_t n)
{
    struct str taken = str_slice(r->rest.p, n);

    if (r->failed || n > r->rest.n) {
        r->failed = true;
        return (struct str){ 0 };
    }
    r->rest = str_skip_bytes(r->rest, n);
    return taken;
}

uint64_t mls_read_number(struct mls_reader *r, unsigned bytes)
{
    struct str s = mls_read_bytes(r, bytes);
    uint64_t v = 0;

    for (size_t i = 0; i < s.n; i++)
        v = v << 8 | (unsigned char)s.p[i];
    return v;
}

/* Reads the length of a vector. The two highest bits of its first byte are the base-2 logarithm of
 * the number of bytes that encode the length. */
static size_t read_vector_length(struct mls_reader *r)
{
    static const size_t least[] = { 0, 1 << 6, 1 << 14 };
    size_t n = mls_read_number(r, 1);
    unsigned form = (unsigned)n >> 6;

    n &= 0x3f;
    if (form == 3) {
        r->failed = true;
        return 0;
    }
    if (form)
        n = n << (form == 1 ? 8 : 24) | mls_read_number(r, form == 1 ? 1 : 3);
    if (n < least[form])
        r->failed = true;
    return n;
}

struct str mls_read_vector(struct mls_reader *r)
{
    size_t n = read_vector_length(r);

    return mls_read_bytes(r, n);
}

static void read_expected_number(struct mls_reader *r, unsigned bytes, uint64_t value)
{
    if (mls_read_number(r, bytes) != value)
        r->failed = true;
}

/* Reads a vector that has exactly n bytes. */
static struct str read_vector_of_size(struct mls_reader *r, size_t n)
{
    struct str s = mls_read_vector(r);

    if (s.n != n)
        r->failed = true;
    return s;
}

static struct str read_signature(struct mls_reader *r)
{
    struct str s = mls_read_vector(r);

    if (s.n > MLS_SIGNATURE)
        r->failed = true;
    return s;
}

/* Returns the bytes that were read after `start`, which was the rest of the input earlier. */
static struct str mls_get_bytes_read_since(const struct mls_reader *r, struct str start)
{
    return str_slice(start.p, start.n - r->rest.n);
}

void mls_write_number(struct buf *out, uint64_t v, unsigned bytes)
{
    while (bytes--)
        buf_add_char(out, (char)(v >> (8 * bytes)));
}

static unsigned encode_vector_length(size_t n, unsigned char out[LENGTH_MAX])
{
    unsigned bytes = n < 1 << 6 ? 1 : n < 1 << 14 ? 2 : 4;
    uint32_t v = (uint32_t)n | (bytes == 4 ? 0x80000000u : bytes == 2 ? 0x4000u : 0);

    assert(n < 1 << 30);
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (unsigned char)(v >> (8 * (bytes - 1 - i)));
    return bytes;
}

void mls_write_length(struct buf *out, size_t n)
{
    unsigned char length[LENGTH_MAX];

    buf_add(out, length, encode_vector_length(n, length));
}

void mls_write_vector(struct buf *out, struct str bytes)
{
    mls_write_length(out, bytes.n);
    buf_add_str(out, bytes);
}

/* --- keys ------------------------------------------------------------------------------- */

struct mls_key {
    EVP_PKEY *pair;
    char public_key[MLS_PUBLIC_KEY];
};

struct mls_key *mls_key_new(void)
{
    struct mls_key *k = mem_new(sizeof *k);
    size_t n = 0;

    k->pair = EVP_EC_gen("P-256");
    bool made = k->pair &&
                EVP_PKEY_get_octet_string_param(k->pair, OSSL_PKEY_PARAM_PUB_KEY,
                                                (unsigned char *)k->public_key,
                                                sizeof k->public_key, &n) == 1 &&
                n == MLS_PUBLIC_KEY;
    assert(made);
    (void)made;
    return k;
}

void mls_key_free(struct mls_key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->pair);
    mem_free(k);
}

struct str mls_key_get_public_key(const struct mls_key *k)
{
    return str_slice(k->public_key, sizeof k->public_key);
}

/* Imports a P-256 public key. Returns NULL if the bytes are not a point of the curve. */
static EVP_PKEY *public_key_import(struct str bytes)
{
    unsigned char copy[MLS_PUBLIC_KEY];
    char group[] = "prime256v1";
    EVP_PKEY *key = NULL;

    if (bytes.n != MLS_PUBLIC_KEY || bytes.p[0] != 4)
        return NULL;
    memcpy(copy, bytes.p, sizeof copy);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, copy, sizeof copy),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (!c || EVP_PKEY_fromdata_init(c) != 1 ||
        EVP_PKEY_fromdata(c, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(c);
    ERR_clear_error();
    return key;
}

static bool public_key_is_valid(struct str bytes)
{
    EVP_PKEY *key = public_key_import(bytes);

    EVP_PKEY_free(key);
    return key;
}

static bool mls_digest_add_bytes(EVP_MD_CTX *c, const void *p, size_t n)
{
    return EVP_DigestUpdate(c, p, n) == 1; /* works for signing and verifying too */
}

static bool mls_digest_add_length(EVP_MD_CTX *c, size_t n)
{
    unsigned char length[LENGTH_MAX];

    return mls_digest_add_bytes(c, length, encode_vector_length(n, length));
}

/* SignContent of RFC 9420, section 5.1.2. */
static bool digest_add_labelled_content(EVP_MD_CTX *c, const char *label, struct str content,
                                        struct str more)
{
    struct str version = STR("MLS 1.0 ");

    return mls_digest_add_length(c, version.n + strlen(label)) &&
           mls_digest_add_bytes(c, version.p, version.n) &&
           mls_digest_add_bytes(c, label, strlen(label)) &&
           mls_digest_add_length(c, content.n + more.n) &&
           mls_digest_add_bytes(c, content.p, content.n) && mls_digest_add_bytes(c, more.p, more.n);
}

void mls_sign_with_label(const struct mls_key *k, const char *label, struct str content,
                         struct str more, struct buf *out)
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    unsigned char signature[MLS_SIGNATURE];
    size_t n = sizeof signature;
    bool done = c && EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, k->pair) == 1 &&
                digest_add_labelled_content(c, label, content, more) &&
                EVP_DigestSignFinal(c, signature, &n) == 1;

    assert(done);
    (void)done;
    EVP_MD_CTX_free(c);
    mls_write_vector(out, str_slice((const char *)signature, n));
}

bool mls_verify_with_label(struct str public_key, const char *label, struct str content,
                           struct str more, struct str signature)
{
    EVP_PKEY *key = public_key_import(public_key);
    EVP_MD_CTX *c = key ? EVP_MD_CTX_new() : NULL;
    bool valid = c && EVP_DigestVerifyInit(c, NULL, EVP_sha256(), NULL, key) == 1 &&
                 digest_add_labelled_content(c, label, content, more) &&
                 EVP_DigestVerifyFinal(c, (const unsigned char *)signature.p, signature.n) == 1;

    EVP_MD_CTX_free(c);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return valid;
}

void mls_compute_reference_hash(const char *label, struct str value, unsigned char ret[MLS_HASH])
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    bool done = c && EVP_DigestInit_ex2(c, EVP_sha256(), NULL) == 1 &&
                mls_digest_add_length(c, strlen(label)) &&
                mls_digest_add_bytes(c, label, strlen(label)) &&
                mls_digest_add_length(c, value.n) && mls_digest_add_bytes(c, value.p, value.n) &&
                EVP_DigestFinal_ex(c, ret, NULL) == 1;

    assert(done);
    (void)done;
    EVP_MD_CTX_free(c);
}

/* --- leaf nodes and key packages -------------------------------------------------------- */

/* Reads a list of 16-bit numbers, which must contain `number`. */
static void read_number_list_containing(struct mls_reader *r, unsigned number)
{
    struct mls_reader list = { .rest = mls_read_vector(r) };
    bool found = false;

    while (!list.failed && list.rest.n)
        found |= mls_read_number(&list, 2) == number;
    r->failed |= list.failed || !found;
}

static void skip_number_list(struct mls_reader *r)
{
    if (mls_read_vector(r).n % 2)
        r->failed = true;
}

static void skip_extensions(struct mls_reader *r)
{
    struct mls_reader list = { .rest = mls_read_vector(r) };

    while (!list.failed && list.rest.n) {
        mls_read_number(&list, 2);
        mls_read_vector(&list);
    }
    r->failed |= list.failed;
}

/* Reads a leaf node. DAVE allows only leaf nodes without extensions and without lifetime limits. */
static void read_leaf_node(struct mls_reader *r, unsigned source, struct mls_leaf *ret)
{
    struct str start = r->rest;

    ret->encryption_key = read_vector_of_size(r, MLS_PUBLIC_KEY);
    ret->signature_key = read_vector_of_size(r, MLS_PUBLIC_KEY);
    read_expected_number(r, 2, CREDENTIAL_BASIC);
    read_expected_number(r, 1, sizeof ret->user);
    ret->user = mls_read_number(r, sizeof ret->user);
    read_number_list_containing(r, MLS_10);
    read_number_list_containing(r, SUITE_P256);
    skip_number_list(r); /* skip the lists of supported extensions and proposals */
    skip_number_list(r);
    read_number_list_containing(r, CREDENTIAL_BASIC);
    read_expected_number(r, 1, source);
    ret->source = source;
    if (source == LEAF_KEY_PACKAGE) {
        read_expected_number(r, 8, 0);
        read_expected_number(r, 8, UINT64_MAX);
    } else {
        mls_read_vector(r); /* parent hash */
    }
    read_vector_of_size(r, 0);
    ret->signed_part = mls_get_bytes_read_since(r, start);
    ret->signature = read_signature(r);
}

bool mls_key_package_read(struct str bytes, snowflake user, struct mls_key_package *ret)
{
    struct mls_reader r = { .rest = bytes };
    struct mls_key_package k = { 0 };

    if (bytes.n > MLS_KEY_PACKAGE)
        return false;
    read_expected_number(&r, 2, MLS_10);
    if (r.rest.n >= 2 && r.rest.p[0] == 0 && r.rest.p[1] == WIRE_KEY_PACKAGE) {
        r.rest = str_skip_bytes(r.rest, 2);
        k.bytes = r.rest;
        read_expected_number(&r, 2, MLS_10);
    } else {
        k.bytes = bytes;
    }
    read_expected_number(&r, 2, SUITE_P256);
    struct str init_key = read_vector_of_size(&r, MLS_PUBLIC_KEY);
    read_leaf_node(&r, LEAF_KEY_PACKAGE, &k.leaf);
    skip_extensions(&r);
    struct str signed_part = mls_get_bytes_read_since(&r, k.bytes);
    struct str signature = read_signature(&r);
    if (r.failed || r.rest.n || k.leaf.user != user || str_eq(init_key, k.leaf.encryption_key))
        return false;
    if (!public_key_is_valid(init_key) || !public_key_is_valid(k.leaf.encryption_key) ||
        !mls_verify_with_label(k.leaf.signature_key, "LeafNodeTBS", k.leaf.signed_part,
                               (struct str){ 0 }, k.leaf.signature) ||
        !mls_verify_with_label(k.leaf.signature_key, "KeyPackageTBS", signed_part,
                               (struct str){ 0 }, signature))
        return false;
    mls_compute_reference_hash("MLS 1.0 KeyPackage Reference", k.bytes, k.ref);
    *ret = k;
    return true;
}

/* --- commits ---------------------------------------------------------------------------- */

static void read_proposal_references(struct mls_reader *r, struct mls_commit *ret)
{
    struct mls_reader list = { .rest = mls_read_vector(r) };

    ret->references = list.rest;
    while (!list.failed && list.rest.n) {
        read_expected_number(&list, 1, PROPOSAL_BY_REFERENCE);
        read_vector_of_size(&list, MLS_HASH);
        ret->reference_count++;
    }
    r->failed |= list.failed || !ret->reference_count;
}

static void read_update_path(struct mls_reader *r, struct mls_commit *ret)
{
    read_leaf_node(r, LEAF_COMMIT, &ret->path);
    struct mls_reader nodes = { .rest = mls_read_vector(r) };
    while (!nodes.failed && nodes.rest.n) {
        read_vector_of_size(&nodes, MLS_PUBLIC_KEY);
        struct mls_reader secrets = { .rest = mls_read_vector(&nodes) };
        while (!secrets.failed && secrets.rest.n) {
            mls_read_vector(&secrets); /* KEM output and ciphertext */
            mls_read_vector(&secrets);
        }
        nodes.failed |= secrets.failed;
    }
    r->failed |= nodes.failed;
}

bool mls_commit_read(struct mls_reader *r, struct mls_commit *ret)
{
    struct mls_commit c = { 0 };
    struct str start = r->rest;

    read_expected_number(r, 2, MLS_10);
    read_expected_number(r, 2, WIRE_PUBLIC_MESSAGE);
    c.group = mls_read_vector(r);
    c.epoch = mls_read_number(r, 8);
    read_expected_number(r, 1, SENDER_MEMBER);
    c.leaf = (uint32_t)mls_read_number(r, 4);
    mls_read_vector(r); /* authenticated data */
    read_expected_number(r, 1, CONTENT_COMMIT);
    read_proposal_references(r, &c);
    uint64_t paths = mls_read_number(r, 1);
    c.has_path = paths == 1;
    if (c.has_path)
        read_update_path(r, &c);
    read_signature(r);
    read_vector_of_size(r, MLS_HASH); /* confirmation tag */
    read_vector_of_size(r, MLS_HASH); /* membership tag */
    if (r->failed || paths > 1)
        return false;
    c.bytes = mls_get_bytes_read_since(r, start);
    *ret = c;
    return true;
}

const char *mls_commit_proposal_reference_at(const struct mls_commit *c, size_t i)
{
    assert(i < c->reference_count);
    return c->references.p + i * REFERENCE + (REFERENCE - MLS_HASH);
}

bool mls_commit_verify_path(const struct mls_commit *c)
{
    struct buf position;
    bool valid;

    if (!c->has_path)
        return true;
    buf_init(&position, MLS_KEY_PACKAGE);
    mls_write_vector(&position, c->group);
    mls_write_number(&position, c->leaf, 4);
    valid = !buf_is_full(&position) && public_key_is_valid(c->path.encryption_key) &&
            mls_verify_with_label(c->path.signature_key, "LeafNodeTBS", c->path.signed_part,
                                  buf_as_str(&position), c->path.signature);
    buf_clear(&position);
    return valid;
}

/* --- welcomes --------------------------------------------------------------------------- */

/* Reads one entry of a Welcome's secrets: key package reference, KEM output, ciphertext. */
static struct str skip_welcome_secret(struct mls_reader *r)
{
    struct str ref = read_vector_of_size(r, MLS_HASH);

    mls_read_vector(r);
    mls_read_vector(r);
    return ref;
}

bool mls_welcome_read(struct mls_reader *r, struct mls_welcome *ret)
{
    struct mls_welcome w = { 0 };
    struct str start = r->rest;

    read_expected_number(r, 2, SUITE_P256);
    w.secrets = mls_read_vector(r);
    w.group_info = mls_read_vector(r);
    struct mls_reader list = { .rest = w.secrets };
    while (!list.failed && list.rest.n) {
        skip_welcome_secret(&list);
        w.secret_count++;
    }
    if (r->failed || list.failed || !w.secret_count)
        return false;
    w.bytes = mls_get_bytes_read_since(r, start);
    *ret = w;
    return true;
}

static bool find_secrets_of_recipient(const struct mls_welcome *w, const unsigned char *ref,
                                      struct str *ret)
{
    struct mls_reader list = { .rest = w->secrets };

    while (list.rest.n) {
        struct str start = list.rest;

        if (memcmp(skip_welcome_secret(&list).p, ref, MLS_HASH) == 0) {
            *ret = mls_get_bytes_read_since(&list, start);
            return true;
        }
    }
    return false;
}

bool mls_welcome_has_secrets_for(const struct mls_welcome *w, const unsigned char ref[MLS_HASH])
{
    struct str secrets;

    return find_secrets_of_recipient(w, ref, &secrets);
}

bool mls_welcome_write(const struct mls_welcome *w, const unsigned char *ref, struct buf *out)
{
    struct str secrets = w->secrets;

    if (ref && !find_secrets_of_recipient(w, ref, &secrets))
        return false;
    mls_write_number(out, SUITE_P256, 2);
    mls_write_vector(out, secrets);
    mls_write_vector(out, w->group_info);
    return true;
}

/* --- messages of the server ------------------------------------------------------------- */

void mls_write_external_sender(const struct mls_key *k, struct buf *out)
{
    mls_write_vector(out, mls_key_get_public_key(k));
    mls_write_number(out, CREDENTIAL_BASIC, 2);
    mls_write_vector(out, STR("guildhall"));
}

/* Writes a signed proposal: to add key_package or, if key_package is NULL, to remove a leaf. */
static void write_signed_proposal(const struct mls_key *k, snowflake group, uint64_t epoch,
                                  const struct str *key_package, uint32_t leaf, struct buf *out,
                                  unsigned char ret_ref[MLS_HASH])
{
    size_t start = out->n;

    mls_write_number(out, MLS_10, 2);
    mls_write_number(out, WIRE_PUBLIC_MESSAGE, 2);
    mls_write_length(out, sizeof group);
    mls_write_number(out, group, sizeof group);
    mls_write_number(out, epoch, 8);
    mls_write_number(out, SENDER_EXTERNAL, 1);
    mls_write_number(out, 0, 4); /* index among the external senders */
    mls_write_length(out, 0);    /* authenticated data */
    mls_write_number(out, CONTENT_PROPOSAL, 1);
    mls_write_number(out, key_package ? PROPOSAL_ADD : PROPOSAL_REMOVE, 2);
    if (key_package)
        buf_add_str(out, *key_package);
    else
        mls_write_number(out, leaf, 4);

    struct buf signature;
    buf_init(&signature, MLS_SIGNATURE + LENGTH_MAX);
    mls_sign_with_label(k, "FramedContentTBS", str_skip_bytes(buf_as_str(out), start),
                        (struct str){ 0 }, &signature);
    buf_add_str(out, buf_as_str(&signature));
    buf_clear(&signature);
    /* Compute the hash over AuthenticatedContent, which starts after the protocol version. */
    mls_compute_reference_hash("MLS 1.0 Proposal Reference",
                               str_skip_bytes(buf_as_str(out), start + 2), ret_ref);
}

void mls_write_add_proposal(const struct mls_key *k, snowflake group, uint64_t epoch,
                            struct str key_package, struct buf *out,
                            unsigned char ret_ref[MLS_HASH])
{
    write_signed_proposal(k, group, epoch, &key_package, 0, out, ret_ref);
}

void mls_write_remove_proposal(const struct mls_key *k, snowflake group, uint64_t epoch,
                               uint32_t leaf, struct buf *out, unsigned char ret_ref[MLS_HASH])
{
    write_signed_proposal(k, group, epoch, NULL, leaf, out, ret_ref);
}
