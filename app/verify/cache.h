// Runs that several claims and figures look at, each made once.
#ifndef LASH_APP_VERIFY_CACHE_H
#define LASH_APP_VERIFY_CACHE_H

#include <stddef.h>
#include <stdint.h>

typedef struct Cache Cache;

Cache* cache_create(void);
void cache_destroy(Cache* cache); // with all it holds; NULL is allowed
// The key of a case: its kind and the bytes of all that decides the run. Cases that differ have different
// keys; padding may make equal ones differ, which costs a run and no more.
uint64_t cache_key(uint64_t key, const void* data, size_t size); // begin with 0
void* cache_find(Cache* cache, uint64_t key); // NULL: not made yet; make and keep it next
// Keeps the value, which the cache owns from now on: lash_free after `release`, which may be NULL.
void cache_keep(Cache* cache, uint64_t key, void* value, void (*release)(void* value));

#endif
