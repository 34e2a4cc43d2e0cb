// What computer this is, for reports.
#ifndef LASH_APP_MACHINE_H
#define LASH_APP_MACHINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Name of the processor; "this machine" where it cannot be told.
void app_machine_name(char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
