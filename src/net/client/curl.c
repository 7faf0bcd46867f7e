/* curl.c - libcurl, loaded at run time on first use. */
#include "net/client/curl.h"

#include <pthread.h>
#include <unistd.h>

#include "base/dynlib.h"

struct curl_functions curl;

static bool loaded;

static void curl_load_library(void)
{
    static const struct dynlib_symbol symbols[] = {
#define F(name) DYNLIB_SYMBOL(curl_##name, &curl.name),
        CURL_FUNCTIONS(F)
#undef F
            { NULL, NULL, NULL },
    };

    loaded = dynlib_load("libcurl.so.4", symbols) && curl.global_init(CURL_GLOBAL_ALL) == CURLE_OK;
}

bool curl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, curl_load_library);
    return loaded;
}

/* --- CA certificates ------------------------------------------------------------------ */

const char *curl_ca_file(void)
{
#ifdef GUILDHALL_STATIC
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora */
        "/etc/ssl/ca-bundle.pem",             /* openSUSE */
        "/etc/ssl/cert.pem",                  /* Void */
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], R_OK) == 0)
            return places[i];
#endif
    return NULL;
}
