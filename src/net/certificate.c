/* certificate.c - creates certificates for development and tests: self-signed, or signed by a new
 * certificate authority. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "net/tls.h"

enum { DAY = 24 * 60 * 60, VALID_FOR = 825 * DAY, RENEW_BEFORE = 7 * DAY };

static bool join_path_of_folder_and_name(char *out, size_t max, const char *folder,
                                         const char *name)
{
    int n = snprintf(out, max, "%s/%s", folder, name);

    return n > 0 && (size_t)n < max;
}

/* Writes a file of mode 0600: first under a temporary name, so that a partial file never has the
 * final name. */
static bool write_pem_file(const char *path, BIO *content)
{
    char temporary[4096];
    char *p = NULL;
    long n = BIO_get_mem_data(content, &p);

    if (n <= 0 || snprintf(temporary, sizeof temporary, "%s.new", path) >= (int)sizeof temporary)
        return false;
    unlink(temporary);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("tls: cannot write the certificate or key file '%s': %s", temporary,
                  strerror(errno));
        return false;
    }
    bool ok = write_all_bytes(fd, str_slice(p, (size_t)n)) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok && rename(temporary, path) == 0;
    if (!ok) {
        log_error("tls: cannot write the certificate or key file '%s': %s", path, strerror(errno));
        unlink(temporary);
    }
    return ok;
}

static bool certificate_covers_host(X509 *certificate, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];

    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_check_ip_asc(certificate, host, 0) == 1;
    return X509_check_host(certificate, host, 0, 0, NULL) == 1;
}

/* Returns whether the file has a certificate for the host and all names, and the certificate stays
 * valid for some days. names may be NULL. */
static bool certificate_is_usable(const char *path, const char *host, const char *const *names)
{
    FILE *f = fopen(path, "re");
    X509 *certificate = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    time_t soon = (time_t)clock_s() + RENEW_BEFORE;
    bool good = certificate && X509_cmp_time(X509_get0_notAfter(certificate), &soon) > 0 &&
                certificate_covers_host(certificate, host);

    for (; good && names && *names; names++)
        good = certificate_covers_host(certificate, *names);
    if (f)
        fclose(f);
    X509_free(certificate);
    ERR_clear_error();
    return good;
}

/* A certificate to create, and its key. The issuer signs it; a certificate without an issuer is
 * self-signed. */
struct certificate_draft {
    X509 *certificate;
    EVP_PKEY *key;
    const struct certificate_draft *issuer;
};

static bool certificate_draft_init(struct certificate_draft *d,
                                   const struct certificate_draft *issuer)
{
    *d = (struct certificate_draft){ .certificate = X509_new(),
                                     .key = EVP_EC_gen("P-256"),
                                     .issuer = issuer };
    return d->certificate && d->key;
}

static void certificate_draft_clear(struct certificate_draft *d)
{
    X509_free(d->certificate);
    EVP_PKEY_free(d->key);
}

static bool add_certificate_extension(struct certificate_draft *d, int kind, const char *value)
{
    X509 *issuer = d->issuer ? d->issuer->certificate : d->certificate;
    X509V3_CTX context;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, d->certificate, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    bool ok = e && X509_add_ext(d->certificate, e, -1) == 1;

    X509_EXTENSION_free(e);
    return ok;
}

static bool add_alternative_names(struct certificate_draft *d, const char *host,
                                  const char *const *more)
{
    unsigned char address[sizeof(struct in6_addr)];
    bool ip = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    struct buf names;

    buf_init(&names, 8192);
    /* In the text form of subjectAltName, a comma in the host would start another name. */
    if (!strchr(host, ',') && strlen(host) <= 255 && host[0] && strcmp(host, "localhost") != 0)
        buf_printf(&names, "%s:%s,", ip ? "IP" : "DNS", host);
    buf_add_lit(&names, "DNS:localhost,IP:127.0.0.1,IP:::1");
    for (; more && *more; more++)
        buf_printf(&names, ",DNS:%s", *more);
    buf_add_char(&names, 0);
    bool ok = !buf_is_full(&names) && add_certificate_extension(d, NID_subject_alt_name, names.p);
    buf_clear(&names);
    return ok;
}

static bool fill_subject_and_validity(struct certificate_draft *d, const char *common_name)
{
    X509 *c = d->certificate;
    time_t now = (time_t)clock_s();
    uint64_t serial = 0;
    X509_NAME *name = X509_get_subject_name(c);

    RAND_bytes((unsigned char *)&serial, sizeof serial);
    /* The certificate is valid from one hour before now, because a client's clock may be slow. */
    return X509_set_version(c, 2) == 1 &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(c), (serial >> 1) + 1) == 1 &&
           X509_time_adj_ex(X509_getm_notBefore(c), 0, -3600, &now) &&
           X509_time_adj_ex(X509_getm_notAfter(c), 0, VALID_FOR - 2 * 3600, &now) &&
           X509_set_pubkey(c, d->key) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common_name,
                                      -1, -1, 0) == 1 &&
           X509_set_issuer_name(c, d->issuer ? X509_get_subject_name(d->issuer->certificate)
                                             : name) == 1;
}

static bool certificate_sign(struct certificate_draft *d)
{
    return X509_sign(d->certificate, d->issuer ? d->issuer->key : d->key, EVP_sha256()) > 0;
}

/* Fills and signs a server certificate for the host and for `names`, which may be NULL. */
static bool fill_and_sign_certificate(struct certificate_draft *d, const char *host,
                                      const char *const *names)
{
    return fill_subject_and_validity(d, d->issuer ? "Guildhall, for tests"
                                                  : "Guildhall, self-signed") &&
           add_alternative_names(d, host, names) &&
           add_certificate_extension(d, NID_basic_constraints, "critical,CA:FALSE") &&
           add_certificate_extension(d, NID_ext_key_usage, "serverAuth") &&
           (!d->issuer || add_certificate_extension(d, NID_authority_key_identifier, "keyid")) &&
           certificate_sign(d);
}

static bool fill_and_sign_authority(struct certificate_draft *d)
{
    return fill_subject_and_validity(d, "Guildhall, authority for tests") &&
           add_certificate_extension(d, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           add_certificate_extension(d, NID_key_usage, "critical,keyCertSign") &&
           add_certificate_extension(d, NID_subject_key_identifier, "hash") && certificate_sign(d);
}

static bool write_certificate(X509 *c, const char *path)
{
    BIO *pem = BIO_new(BIO_s_mem());
    bool ok = pem && PEM_write_bio_X509(pem, c) == 1 && write_pem_file(path, pem);

    BIO_free(pem);
    return ok;
}

static bool write_certificate_and_key(const struct certificate_draft *d,
                                      const char *certificate_path, const char *key_path)
{
    BIO *key_pem = BIO_new(BIO_s_secmem());
    bool ok =
        key_pem && PEM_write_bio_PrivateKey(key_pem, d->key, NULL, NULL, 0, NULL, NULL) == 1 &&
        write_pem_file(key_path, key_pem) && write_certificate(d->certificate, certificate_path);

    BIO_free(key_pem);
    return ok;
}

/* Paths of the files in a folder for certificates. */
struct certificate_files {
    char certificate[4000], key[4000], authority[4000];
};

static bool create_self_signed_certificate(const struct certificate_files *f, const char *host)
{
    struct certificate_draft d;
    bool ok = certificate_draft_init(&d, NULL) && fill_and_sign_certificate(&d, host, NULL) &&
              write_certificate_and_key(&d, f->certificate, f->key);

    certificate_draft_clear(&d);
    return ok;
}

static bool create_issued_certificate(const struct certificate_files *f, const char *host,
                                      const char *const *names)
{
    struct certificate_draft authority, d = { 0 };
    bool ok = certificate_draft_init(&authority, NULL) && fill_and_sign_authority(&authority) &&
              certificate_draft_init(&d, &authority) &&
              fill_and_sign_certificate(&d, host, names) &&
              write_certificate(authority.certificate, f->authority) &&
              write_certificate_and_key(&d, f->certificate, f->key);

    certificate_draft_clear(&d);
    certificate_draft_clear(&authority);
    return ok;
}

/* Opens the certificate of a folder; if necessary, creates it first. If names is NULL, the
 * certificate is self-signed. */
static enum err open_or_create_certificate(const char *folder, const char *host,
                                           const char *const *names, struct tls_context **ret)
{
    struct certificate_files f;

    if (!join_path_of_folder_and_name(f.certificate, sizeof f.certificate, folder, "cert.pem") ||
        !join_path_of_folder_and_name(f.key, sizeof f.key, folder, "key.pem") ||
        !join_path_of_folder_and_name(f.authority, sizeof f.authority, folder, "ca.pem")) {
        log_error("tls: the path of the certificate folder is too long");
        return ERR_INTERNAL;
    }
    /* Check the key, too: after a crash between writing the two files, certificate and key do not
     * match, and both are created again. */
    if (certificate_is_usable(f.certificate, host, names) &&
        (!names || access(f.authority, R_OK) == 0) &&
        tls_context_open(f.certificate, f.key, ret) == OK)
        return OK;
    bool ok = names ? create_issued_certificate(&f, host, names)
                    : create_self_signed_certificate(&f, host);
    ERR_clear_error();
    if (!ok) {
        log_error("tls: cannot create a certificate for '%s' in '%s'", host, folder);
        return ERR_INTERNAL;
    }
    return tls_context_open(f.certificate, f.key, ret);
}

enum err tls_context_open_self_signed(const char *folder, const char *host,
                                      struct tls_context **ret)
{
    return open_or_create_certificate(folder, host, NULL, ret);
}

enum err tls_context_open_issued_by_own_authority(const char *folder, const char *host,
                                                  const char *const *names,
                                                  struct tls_context **ret)
{
    return open_or_create_certificate(folder, host, names, ret);
}
