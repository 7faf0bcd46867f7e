/* mls.h - the part of MLS (RFC 9420) that a DAVE server needs.
 *
 * DAVE is Discord's end-to-end encryption of voice. The server is the external sender of an MLS
 * group: it proposes to add and remove members, and members commit. The server has no secret of the
 * group. It parses key packages, commits and welcomes, verifies signatures of leaf nodes and signs
 * its own proposals. Cipher suite 2 only: P-256, SHA-256, AES-128-GCM.
 *
 * Parsed structs point into the input, so the input must outlive them. */
#ifndef RELAY_DAVE_MLS_H
#define RELAY_DAVE_MLS_H

#include "base/buf.h"
#include "base/snowflake.h"

enum {
    MLS_HASH = 32,          /* size of a hash, which is a reference or a tag, in bytes */
    MLS_PUBLIC_KEY = 65,    /* uncompressed point of P-256 */
    MLS_SIGNATURE = 72,     /* maximum size of an ECDSA signature in DER encoding, in bytes */
    MLS_KEY_PACKAGE = 2048, /* most bytes that are accepted */
    MLS_PROPOSAL = MLS_KEY_PACKAGE + 256,
};

/* --- reading and writing ---------------------------------------------------------------- */

/* Reads MLS structures. A read beyond the end, or of an invalid length, sets `failed`; this read
 * and all later reads return 0 or an empty string. Check `failed` once after the last read. */
struct mls_reader {
    struct str rest;
    bool failed;
};

uint64_t mls_read_number(struct mls_reader *r, unsigned bytes); /* big-endian, 1 to 8 bytes */
/* Reads a length, then as many bytes as the length says. A length that is not in its shortest
 * encoding is invalid. */
struct str mls_read_vector(struct mls_reader *r);

void mls_write_number(struct buf *out, uint64_t v, unsigned bytes);
void mls_write_length(struct buf *out, size_t n); /* n < 2^30 */
void mls_write_vector(struct buf *out, struct str bytes);

/* --- keys ------------------------------------------------------------------------------- */

struct mls_key; /* ECDSA key pair on P-256. It is immutable, so all OS threads may share it. */

struct mls_key *mls_key_new(void);
void mls_key_free(struct mls_key *k); /* accepts NULL */
struct str mls_key_get_public_key(const struct mls_key *k);

/* SignWithLabel and VerifyWithLabel of RFC 9420. The signed bytes are `content`, then `more`. */
void mls_sign_with_label(const struct mls_key *k, const char *label, struct str content,
                         struct str more, struct buf *out);
bool mls_verify_with_label(struct str public_key, const char *label, struct str content,
                           struct str more, struct str signature);
/* RefHash */
void mls_compute_reference_hash(const char *label, struct str value, unsigned char ret[MLS_HASH]);

/* --- messages of clients ---------------------------------------------------------------- */

struct mls_leaf {
    snowflake user; /* identity of the basic credential */
    struct str signature_key, encryption_key;
    unsigned source; /* leaf_node_source: 1 for a key package, 2 for an update, 3 for a commit */
    struct str signed_part, signature;
};

struct mls_key_package {
    struct str bytes; /* without the header of an MLSMessage */
    struct mls_leaf leaf;
    unsigned char ref[MLS_HASH];
};

/* Reads a key package, bare or in an MLSMessage. Returns false if it is malformed, has another
 * cipher suite, version or user, has a limited lifetime, contains a key that is not on the curve,
 * or has a wrong signature. */
bool mls_key_package_read(struct str bytes, snowflake user, struct mls_key_package *ret);

struct mls_commit {
    struct str bytes; /* the MLSMessage */
    struct str group;
    uint64_t epoch;
    uint32_t leaf; /* leaf index of the committer */
    struct str references;
    size_t reference_count;
    bool has_path;
    struct mls_leaf path; /* the committer's new leaf node */
};

/* Reads the commit at the front of the input, for example in opcode 28. Refuses a commit with
 * embedded proposals, and a sender that is no member. Does not verify signatures. */
bool mls_commit_read(struct mls_reader *r, struct mls_commit *ret);
const char *mls_commit_proposal_reference_at(const struct mls_commit *c,
                                             size_t i); /* MLS_HASH bytes */
/* Verifies the signature of the leaf node in the commit's path. Returns true without a path. */
bool mls_commit_verify_path(const struct mls_commit *c);

struct mls_welcome {
    struct str bytes;
    struct str secrets; /* one entry per new member */
    size_t secret_count;
    struct str group_info;
};

/* Reads a Welcome (without an MLSMessage header) at the front of the input. */
bool mls_welcome_read(struct mls_reader *r, struct mls_welcome *ret);
bool mls_welcome_has_secrets_for(const struct mls_welcome *w, const unsigned char ref[MLS_HASH]);
/* Writes the Welcome with the secrets of one recipient, whose key package has the reference `ref`,
 * or of all recipients if ref is NULL. If the Welcome has no such secrets, writes nothing and
 * returns false. */
bool mls_welcome_write(const struct mls_welcome *w, const unsigned char *ref, struct buf *out);

/* --- messages of the server ------------------------------------------------------------- */

/* Writes the external sender package (opcode 25). */
void mls_write_external_sender(const struct mls_key *k, struct buf *out);

/* Write a signed external proposal as an MLSMessage, and return the proposal's reference. */
void mls_write_add_proposal(const struct mls_key *k, snowflake group, uint64_t epoch,
                            struct str key_package, struct buf *out,
                            unsigned char ret_ref[MLS_HASH]);
void mls_write_remove_proposal(const struct mls_key *k, snowflake group, uint64_t epoch,
                               uint32_t leaf, struct buf *out, unsigned char ret_ref[MLS_HASH]);

#endif
