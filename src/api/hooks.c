/* hooks.c - the functions hook_<name>, which call the listeners of all feature folders. */
#include "api/hooks.h"

#include "api/internal.h"

#define HOOK(name, type)                                    \
    enum err hook_##name(struct call *call, type about)     \
    {                                                       \
        const struct domain *const *d = call->api->domains; \
        enum err e = OK;                                    \
                                                            \
        for (; !e && *d; d++)                               \
            if ((*d)->hooks && (*d)->hooks->name)           \
                e = (*d)->hooks->name(call, about);         \
        return e;                                           \
    }
#include "api/hooks.def"
#undef HOOK
