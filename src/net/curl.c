/* curl.c - libcurl, loaded when it is first needed. */
#include "net/curl.h"

#include <pthread.h>

#include "base/dynlib.h"

struct curl_functions curl;

static bool loaded;

static void curl_load_library(void)
{
    static const struct dynlib_symbol symbols[] = {
#define F(name) { "curl_" #name, &curl.name },
        CURL_FUNCTIONS(F)
#undef F
            { NULL, NULL },
    };

    loaded = dynlib_load("libcurl.so.4", symbols) && curl.global_init(CURL_GLOBAL_ALL) == CURLE_OK;
}

bool curl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, curl_load_library);
    return loaded;
}
