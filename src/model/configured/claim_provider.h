/* claim_provider.h - the server from which guilds were copied, as an OAuth2 provider: people who
 * log in there can claim their placeholder accounts here.
 *
 * The configuration is set once at the start and does not change afterwards. */
#ifndef MODEL_CLAIM_PROVIDER_H
#define MODEL_CLAIM_PROVIDER_H

#include <stdbool.h>

#include "base/str.h"

/* Configuration options; NULL if not set. */
struct claim_provider_options {
    const char *api;       /* base URL of the API, such as "https://discord.com/api/v10" */
    const char *client_id; /* this server's application at the provider */
    const char *secret_file;
    const char *public_url; /* address of this server */
};
/* Applies the options and reads the secret. Returns false if an option is invalid or missing;
 * *ret_problem names option and reason. */
bool claim_provider_configure(const struct claim_provider_options *o, const char **ret_problem);

bool claim_provider_is_configured(void);
/* The API's base URL without a trailing slash; the part of it before the path; the host. */
struct str claim_provider_get_api_url(void), claim_provider_get_api_origin(void),
    claim_provider_get_api_host(void);
struct str claim_provider_get_client_id(void), claim_provider_get_client_secret(void);
/* The page of this server to which the provider redirects browsers after the log-in. */
struct str claim_provider_get_redirect_uri(void);

#endif
