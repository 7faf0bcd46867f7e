/* curl.h - libcurl, loaded at run time on first use.
 *
 * The functions are members of the struct `curl`: curl.easy_init() calls curl_easy_init(). */
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
    F(easy_reset)          \
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

/* Without type checks, libcurl's header defines these functions as macros, so undefine them. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

struct curl_functions {
#define F(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(F)
#undef F
};

extern struct curl_functions curl;

/* Loads libcurl on the first call; thread-safe. Returns false and logs if loading fails. */
bool load_curl(void);

/* Returns the path of this machine's CA bundle, or NULL to use libcurl's default. Only the static
 * build needs a path, because its libcurl was not configured for this machine. */
const char *find_ca_bundle(void);

#endif
