/* curl.h - libcurl, loaded when it is first needed.
 *
 * Its functions are members of `curl`: curl.easy_init() is curl_easy_init(). */
#ifndef NET_CURL_H
#define NET_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>

#define CURL_FUNCTIONS(F)  \
    F(global_init)         \
    F(easy_init)           \
    F(easy_setopt)         \
    F(easy_getinfo)        \
    F(easy_perform)        \
    F(easy_pause)          \
    F(easy_strerror)       \
    F(easy_cleanup)        \
    F(multi_init)          \
    F(multi_setopt)        \
    F(multi_add_handle)    \
    F(multi_remove_handle) \
    F(multi_socket_action) \
    F(multi_assign)        \
    F(multi_info_read)     \
    F(multi_cleanup)       \
    F(slist_append)        \
    F(slist_free_all)      \
    F(url)                 \
    F(url_set)             \
    F(url_get)             \
    F(url_cleanup)         \
    F(free)

/* Where type checks are off, these are macros that count their arguments. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

struct curl_functions {
#define F(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(F)
#undef F
};

extern struct curl_functions curl;

/* Once, from any thread; false when it cannot be loaded, which is logged. */
bool curl_load(void);

/* Where this machine keeps the certificates that are trusted; NULL: where the library expects
 * them. The static program runs on machines that its library was not made for. */
const char *curl_ca_file(void);

#endif
