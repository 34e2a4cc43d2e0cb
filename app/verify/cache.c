// A list of values by 64-bit key (FNV-1a): there are some hundred, each found a few times. With each stands which
// operators its run used, so that a claim that finds it counts them as if it had made the run.
#include "app/verify/cache.h"

#include "app/verify/verify_internal.h"
#include "core/arena.h"

typedef struct Entry {
    uint64_t key;
    void* value;
    void (*release)(void* value);
    OperatorCounts used;
    struct Entry* next;
} Entry;

struct Cache {
    Entry* first;
    OperatorCounts
        before; // when the last value was not found: what is counted from then on is its run
};

Cache* cache_create(void) {
    Cache* cache = lash_alloc(sizeof *cache);
    *cache = (Cache){0};
    return cache;
}

void cache_destroy(Cache* cache) {
    if (cache == NULL) return;
    for (Entry *entry = cache->first, *next; entry != NULL; entry = next) {
        next = entry->next;
        if (entry->release != NULL) entry->release(entry->value);
        lash_free(entry->value);
        lash_free(entry);
    }
    lash_free(cache);
}

uint64_t cache_key(uint64_t key, const void* data, size_t size) {
    const unsigned char* byte = data;
    if (key == 0) key = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; ++i) {
        key ^= byte[i];
        key *= 0x100000001b3u;
    }
    return key;
}

void* cache_find(Cache* cache, uint64_t key) {
    for (const Entry* entry = cache->first; entry != NULL; entry = entry->next) {
        if (entry->key != key) continue;
        verify_operators_add(&entry->used);
        return entry->value;
    }
    cache->before = verify_operators_now();
    return NULL;
}

void cache_keep(Cache* cache, uint64_t key, void* value, void (*release)(void* value)) {
    Entry* entry = lash_alloc(sizeof *entry);
    *entry = (Entry){key, value, release, verify_operators_now(), cache->first};
    for (int i = 0; i < OPERATORS; ++i) entry->used.count[i] -= cache->before.count[i];
    cache->first = entry;
}
