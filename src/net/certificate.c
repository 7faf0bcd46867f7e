/* certificate.c - creates a self-signed certificate, for development and tests. */
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

static bool join_path(char *out, size_t max, const char *folder, const char *name)
{
    int n = snprintf(out, max, "%s/%s", folder, name);

    return n > 0 && (size_t)n < max;
}

/* Writes a temporary file of mode 0600 and renames it, so that no partial file is ever visible. */
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
        log_error("tls: cannot write '%s': %s", temporary, strerror(errno));
        return false;
    }
    bool ok = write_all_bytes(fd, str_slice(p, (size_t)n)) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok && rename(temporary, path) == 0;
    if (!ok) {
        log_error("tls: cannot write '%s': %s", path, strerror(errno));
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

static bool certificate_is_usable(const char *path, const char *host)
{
    FILE *f = fopen(path, "re");
    X509 *certificate = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    time_t soon = (time_t)clock_s() + RENEW_BEFORE;
    bool good = certificate && X509_cmp_time(X509_get0_notAfter(certificate), &soon) > 0 &&
                certificate_covers_host(certificate, host);

    if (f)
        fclose(f);
    X509_free(certificate);
    ERR_clear_error();
    return good;
}

static bool add_certificate_extension(X509 *c, int kind, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, kind, value);
    bool ok = e && X509_add_ext(c, e, -1) == 1;

    X509_EXTENSION_free(e);
    return ok;
}

static bool add_alternative_names(X509 *c, const char *host)
{
    static const char always[] = "DNS:localhost,IP:127.0.0.1,IP:::1";
    unsigned char address[sizeof(struct in6_addr)];
    bool ip = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    char names[512];

    /* In the subjectAltName extension, a comma in the host would start another name. */
    if (strchr(host, ',') || strlen(host) > 255 || host[0] == 0 || strcmp(host, "localhost") == 0)
        return add_certificate_extension(c, NID_subject_alt_name, always);
    snprintf(names, sizeof names, "%s:%s,%s", ip ? "IP" : "DNS", host, always);
    return add_certificate_extension(c, NID_subject_alt_name, names);
}

static bool fill_and_sign_certificate(X509 *c, EVP_PKEY *key, const char *host)
{
    time_t now = (time_t)clock_s();
    uint64_t serial = 0;
    X509_NAME *name = X509_get_subject_name(c);

    RAND_bytes((unsigned char *)&serial, sizeof serial);
    /* The certificate is valid from one hour ago, because clocks of clients differ. */
    return X509_set_version(c, 2) == 1 &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(c), (serial >> 1) + 1) == 1 &&
           X509_time_adj_ex(X509_getm_notBefore(c), 0, -3600, &now) &&
           X509_time_adj_ex(X509_getm_notAfter(c), 0, VALID_FOR - 2 * 3600, &now) &&
           X509_set_pubkey(c, key) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                      (const unsigned char *)"Guildhall, self-signed", -1, -1,
                                      0) == 1 &&
           X509_set_issuer_name(c, name) == 1 && add_alternative_names(c, host) &&
           add_certificate_extension(c, NID_basic_constraints, "critical,CA:FALSE") &&
           add_certificate_extension(c, NID_ext_key_usage, "serverAuth") &&
           X509_sign(c, key, EVP_sha256()) > 0;
}

static bool write_certificate_and_key(X509 *c, EVP_PKEY *key, const char *certificate_path,
                                      const char *key_path)
{
    BIO *certificate_pem = BIO_new(BIO_s_mem()), *key_pem = BIO_new(BIO_s_secmem());
    bool ok = certificate_pem && key_pem && PEM_write_bio_X509(certificate_pem, c) == 1 &&
              PEM_write_bio_PrivateKey(key_pem, key, NULL, NULL, 0, NULL, NULL) == 1 &&
              write_pem_file(key_path, key_pem) &&
              write_pem_file(certificate_path, certificate_pem);

    BIO_free(certificate_pem);
    BIO_free(key_pem);
    return ok;
}

static bool create_certificate(const char *certificate_path, const char *key_path, const char *host)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *c = X509_new();
    bool ok = key && c && fill_and_sign_certificate(c, key, host) &&
              write_certificate_and_key(c, key, certificate_path, key_path);

    if (!ok)
        log_error("tls: cannot create a self-signed certificate for '%s'", host);
    ERR_clear_error();
    X509_free(c);
    EVP_PKEY_free(key);
    return ok;
}

enum err tls_context_open_self_signed(const char *folder, const char *host,
                                      struct tls_context **ret)
{
    char certificate[4000], key[4000];

    if (!join_path(certificate, sizeof certificate, folder, "cert.pem") ||
        !join_path(key, sizeof key, folder, "key.pem")) {
        log_error("tls: the path of the certificate folder is too long");
        return ERR_INTERNAL;
    }
    /* After a crash between the two writes, certificate and key do not match. Recreate both. */
    if (certificate_is_usable(certificate, host) && tls_context_open(certificate, key, ret) == OK)
        return OK;
    if (!create_certificate(certificate, key, host))
        return ERR_INTERNAL;
    return tls_context_open(certificate, key, ret);
}
