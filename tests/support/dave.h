/* dave.h - key packages, commits and welcomes of clients, right or with one fault.
 *
 * Commits and welcomes have no valid secrets, tags or signatures except that of the leaf node,
 * which is all that the server verifies. */
#ifndef TESTS_SUPPORT_DAVE_H
#define TESTS_SUPPORT_DAVE_H

#include "relay/dave/mls.h"

#define DAVE_BYTES(array) str_slice((const char *)(array), sizeof(array))

enum dave_fault {
    FAULT_NONE,
    /* key packages */
    FAULT_VERSION,
    FAULT_SUITE,
    FAULT_INIT_KEY,
    FAULT_INIT_KEY_LENGTH,
    FAULT_SAME_KEYS,
    FAULT_ENCRYPTION_KEY,
    FAULT_SIGNATURE_KEY,
    FAULT_CREDENTIAL,
    FAULT_IDENTITY_LENGTH,
    FAULT_IDENTITY,
    FAULT_VERSIONS,
    FAULT_SUITES,
    FAULT_ODD_LIST,
    FAULT_CREDENTIALS,
    FAULT_SOURCE,
    FAULT_NOT_BEFORE,
    FAULT_NOT_AFTER,
    FAULT_LEAF_EXTENSION,
    FAULT_LEAF_SIGNATURE,
    FAULT_EXTENSION,
    FAULT_SIGNATURE,
    FAULT_TRAILING,
    FAULTS_OF_PACKAGES,
    /* commits */
    FAULT_COMMIT_VERSION,
    FAULT_WIRE_FORMAT,
    FAULT_SENDER,
    FAULT_CONTENT,
    FAULT_NO_REFERENCE,
    FAULT_BY_VALUE,
    FAULT_REFERENCE_LENGTH,
    FAULT_PATH_FLAG,
    FAULT_PATH_NODE,
    FAULT_CONFIRMATION_TAG,
    FAULT_MEMBERSHIP_TAG,
    FAULTS_OF_COMMITS,
};

struct dave_identity {
    snowflake user;
    struct mls_key *signature, *init, *encryption;
};

static inline void identity_init(struct dave_identity *id, snowflake user)
{
    *id = (struct dave_identity){ user, mls_key_new(), mls_key_new(), mls_key_new() };
}

static inline void identity_clear(struct dave_identity *id)
{
    mls_key_free(id->signature);
    mls_key_free(id->init);
    mls_key_free(id->encryption);
}

/* Writes a public key, or with `faulty` one that is no point of the curve. */
static inline void dave_write_key(struct buf *out, const struct mls_key *k, bool faulty)
{
    mls_write_vector(out, mls_key_get_public_key(k));
    if (faulty)
        out->p[out->n - 1] ^= 1;
}

static inline void dave_write_list(struct buf *out, unsigned value)
{
    mls_write_number(out, 2, 1);
    mls_write_number(out, value, 2);
}

/* Writes a signature of everything since the start. */
static inline void dave_write_signature(struct buf *out, const struct mls_key *k, const char *label,
                                        size_t start, struct str more, bool faulty)
{
    struct buf content;

    buf_init(&content, 1 << 20);
    buf_add_str(&content, str_skip_bytes(buf_as_str(out), start));
    if (faulty)
        content.p[0] ^= 1;
    mls_sign_with_label(k, label, buf_as_str(&content), more, out);
    buf_clear(&content);
}

/* source 1: for a key package, 3: for the path of a commit. */
static inline void dave_write_leaf(struct buf *out, const struct dave_identity *id, unsigned source,
                                   struct str more, enum dave_fault f)
{
    size_t start = out->n;

    dave_write_key(out, id->encryption, f == FAULT_ENCRYPTION_KEY);
    dave_write_key(out, id->signature, f == FAULT_SIGNATURE_KEY);
    mls_write_number(out, f == FAULT_CREDENTIAL ? 2 : 1, 2);
    mls_write_number(out, f == FAULT_IDENTITY_LENGTH ? 7 : 8, 1);
    mls_write_number(out, id->user + (f == FAULT_IDENTITY), f == FAULT_IDENTITY_LENGTH ? 7 : 8);
    dave_write_list(out, f == FAULT_VERSIONS ? 2 : 1);
    dave_write_list(out, f == FAULT_SUITES ? 1 : 2);
    mls_write_length(out, 0);
    mls_write_vector(out, f == FAULT_ODD_LIST ? STR("x") : STR(""));
    dave_write_list(out, f == FAULT_CREDENTIALS ? 2 : 1);
    mls_write_number(out, f == FAULT_SOURCE ? 2 : source, 1);
    if (source == 1) {
        mls_write_number(out, f == FAULT_NOT_BEFORE, 8);
        mls_write_number(out, UINT64_MAX - (f == FAULT_NOT_AFTER), 8);
    } else {
        mls_write_length(out, 0);
    }
    mls_write_vector(out, f == FAULT_LEAF_EXTENSION ? STR("\0\1\0") : STR(""));
    dave_write_signature(out, id->signature, "LeafNodeTBS", start, more, f == FAULT_LEAF_SIGNATURE);
}

static inline void dave_write_package(struct buf *out, const struct dave_identity *id,
                                      enum dave_fault f)
{
    size_t start = out->n;

    mls_write_number(out, f == FAULT_VERSION ? 2 : 1, 2);
    mls_write_number(out, f == FAULT_SUITE ? 1 : 2, 2);
    if (f == FAULT_INIT_KEY_LENGTH)
        mls_write_vector(out, str_slice(mls_key_get_public_key(id->init).p, MLS_PUBLIC_KEY - 1));
    else
        dave_write_key(out, f == FAULT_SAME_KEYS ? id->encryption : id->init, f == FAULT_INIT_KEY);
    dave_write_leaf(out, id, 1, (struct str){ 0 }, f);
    mls_write_vector(out, f == FAULT_EXTENSION ? STR("\0\1\5") : STR(""));
    dave_write_signature(out, id->signature, "KeyPackageTBS", start, (struct str){ 0 },
                         f == FAULT_SIGNATURE);
    if (f == FAULT_TRAILING)
        buf_add_char(out, 0);
}

struct dave_commit {
    snowflake group;
    uint64_t epoch;
    uint32_t leaf;
    unsigned char (*references)[MLS_HASH];
    size_t reference_count;
    const struct dave_identity *path; /* NULL: none */
};

static inline void dave_write_commit_path(struct buf *out, const struct dave_commit *c,
                                          enum dave_fault f)
{
    struct buf position, nodes;

    buf_init(&position, 64);
    mls_write_length(&position, sizeof c->group);
    mls_write_number(&position, c->group, sizeof c->group);
    mls_write_number(&position, c->leaf, 4);
    dave_write_leaf(out, c->path, 3, buf_as_str(&position), f);
    buf_init(&nodes, 1024);
    dave_write_key(&nodes, c->path->init, false);
    if (f != FAULT_PATH_NODE) {
        mls_write_length(&nodes, 8);
        mls_write_vector(&nodes, STR("kem"));
        mls_write_vector(&nodes, STR("abc"));
    }
    mls_write_vector(out, buf_as_str(&nodes));
    buf_clear(&nodes);
    buf_clear(&position);
}

static inline void dave_write_commit(struct buf *out, const struct dave_commit *c,
                                     enum dave_fault f)
{
    static const char tag[MLS_HASH];
    struct buf references;

    mls_write_number(out, f == FAULT_COMMIT_VERSION ? 2 : 1, 2);
    mls_write_number(out, f == FAULT_WIRE_FORMAT ? 2 : 1, 2);
    mls_write_length(out, sizeof c->group);
    mls_write_number(out, c->group, sizeof c->group);
    mls_write_number(out, c->epoch, 8);
    mls_write_number(out, f == FAULT_SENDER ? 2 : 1, 1);
    mls_write_number(out, c->leaf, 4);
    mls_write_length(out, 0);
    mls_write_number(out, f == FAULT_CONTENT ? 1 : 3, 1);
    buf_init(&references, 1 << 16);
    for (size_t i = 0; f != FAULT_NO_REFERENCE && i < c->reference_count; i++) {
        mls_write_number(&references, f == FAULT_BY_VALUE ? 1 : 2, 1);
        mls_write_vector(&references, str_slice((const char *)c->references[i],
                                                MLS_HASH - (f == FAULT_REFERENCE_LENGTH)));
    }
    mls_write_vector(out, buf_as_str(&references));
    buf_clear(&references);
    mls_write_number(out, f == FAULT_PATH_FLAG ? 2 : c->path != NULL, 1);
    if (c->path)
        dave_write_commit_path(out, c, f);
    mls_write_vector(out, STR("signature"));
    mls_write_vector(out, str_slice(tag, MLS_HASH - (f == FAULT_CONFIRMATION_TAG)));
    mls_write_vector(out, str_slice(tag, MLS_HASH - (f == FAULT_MEMBERSHIP_TAG)));
}

static inline void dave_write_welcome(struct buf *out, unsigned char (*refs)[MLS_HASH],
                                      size_t count)
{
    struct buf secrets;

    buf_init(&secrets, 1 << 16);
    for (size_t i = 0; i < count; i++) {
        mls_write_vector(&secrets, DAVE_BYTES(refs[i]));
        mls_write_vector(&secrets, STR("kem"));
        mls_write_vector(&secrets, STR("text"));
    }
    mls_write_number(out, 2, 2);
    mls_write_vector(out, buf_as_str(&secrets));
    mls_write_vector(out, STR("group info"));
    buf_clear(&secrets);
}

/* A proposal that a client received. */
struct dave_received {
    bool adds;
    snowflake user; /* added */
    uint32_t leaf;  /* removed */
    unsigned char ref[MLS_HASH], package_ref[MLS_HASH];
};

/* Reads the proposal at the front and checks the signature of the server. */
static inline bool dave_read_proposal(struct mls_reader *r, struct str sender_key,
                                      struct dave_received *ret)
{
    struct str start = r->rest;

    mls_read_number(r, 4);
    mls_read_vector(r);
    mls_read_number(r, 8 + 1);
    mls_read_number(r, 4);
    mls_read_vector(r);
    mls_read_number(r, 1);
    *ret = (struct dave_received){ .adds = mls_read_number(r, 2) == 1 };
    struct str package = r->rest;
    if (ret->adds) {
        mls_read_number(r, 4);
        for (int i = 0; i < 3; i++)
            mls_read_vector(r);
        mls_read_number(r, 3);
        ret->user = mls_read_number(r, 8);
        for (int i = 0; i < 5; i++)
            mls_read_vector(r);
        mls_read_number(r, 1);
        mls_read_number(r, 8);
        mls_read_number(r, 8);
        for (int i = 0; i < 4; i++)
            mls_read_vector(r);
        package.n -= r->rest.n;
        mls_compute_reference_hash("MLS 1.0 KeyPackage Reference", package, ret->package_ref);
    } else {
        ret->leaf = (uint32_t)mls_read_number(r, 4);
    }
    struct str content = str_slice(start.p, start.n - r->rest.n);
    struct str signature = mls_read_vector(r);
    mls_compute_reference_hash("MLS 1.0 Proposal Reference",
                               str_slice(start.p + 2, start.n - r->rest.n - 2), ret->ref);
    return !r->failed && mls_verify_with_label(sender_key, "FramedContentTBS", content,
                                               (struct str){ 0 }, signature);
}

#endif
