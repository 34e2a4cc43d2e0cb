// Memory of a model: blocks that live as long as it does.
#include <string.h>

#include "app/model/model_internal.h"
#include "core/arena.h"

typedef struct Block {
    struct Block* next;
    double align[];
} Block;

void* model_alloc(LashModel* model, size_t bytes) {
    Block* block = lash_alloc(sizeof *block + bytes);
    block->next = model->memory;
    model->memory = block;
    return block->align;
}

char* model_strdup(LashModel* model, const char* text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(model_alloc(model, bytes), text, bytes);
}

void model_free_memory(LashModel* model) {
    for (Block* block = model->memory; block != NULL;) {
        Block* next = block->next;
        lash_free(block);
        block = next;
    }
    model->memory = NULL;
}
