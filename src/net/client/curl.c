/* curl.c - libcurl, loaded at run time on first use. */
#include "net/client/curl.h"

#include <pthread.h>
#include <unistd.h>

#include "base/dynlib.h"

struct curl_functions curl;

static bool curl_is_loaded;

static void load_curl_once(void)
{
    static const struct dynlib_symbol symbols[] = {
#define F(name) DYNLIB_SYMBOL(curl_##name, &curl.name),
        CURL_FUNCTIONS(F)
#undef F
            { NULL, NULL, NULL },
    };

    curl_is_loaded = dynlib_load_functions("libcurl.so.4", symbols) &&
                     curl.global_init(CURL_GLOBAL_ALL) == CURLE_OK;
}

bool load_curl(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_curl_once);
    return curl_is_loaded;
}

const char *find_ca_bundle(void)
{
#ifdef GUILDHALL_STATIC
    static const char *const paths[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* path on Debian, Arch, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* path on Fedora */
        "/etc/ssl/ca-bundle.pem",             /* path on openSUSE */
        "/etc/ssl/cert.pem",                  /* path on Void */
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], R_OK) == 0)
            return paths[i];
#endif
    return NULL;
}
