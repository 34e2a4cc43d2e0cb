// Names of a model's things found by hashing: loading takes time in proportion to the file.
//
// An index is a table of slots with open addressing (FNV-1a, linear probing, at most half full). It
// grows by itself: things listed since the last search are entered first. Of equal names the first
// one counts.
#include <string.h>

#include "app/model/model_internal.h"

static uint64_t hash_of(const char* name) {
    uint64_t hash = 14695981039346656037u;
    for (const char* c = name; *c != '\0'; ++c) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash ^ hash >> 32;
}

static const char* name_at(const NamedList* list, int i) {
    const char* name;
    memcpy(&name, (const char*)list->item + (size_t)i * list->stride + list->offset, sizeof name);
    return name;
}

// The slot of a name: its own, or the free one where it belongs.
static int* slot_of(const NameIndex* index, const NamedList* list, const char* name) {
    size_t mask = (size_t)index->capacity - 1, at = (size_t)hash_of(name) & mask;
    while (index->slot[at] > 0 && strcmp(name_at(list, index->slot[at] - 1), name) != 0)
        at = (at + 1) & mask;
    return &index->slot[at];
}

// Enters what was listed since the last time; slots hold numbers plus one.
static void bring_up_to_date(NameIndex* index, LashModel* memory, const NamedList* list) {
    if (2 * list->count >= index->capacity) {
        int capacity = index->capacity > 0 ? index->capacity : 64;
        while (2 * list->count >= capacity) capacity *= 2;
        index->slot = model_alloc(memory, (size_t)capacity * sizeof *index->slot);
        index->capacity = capacity;
        index->listed = 0;
    }
    for (; index->listed < list->count; ++index->listed) {
        int* slot = slot_of(index, list, name_at(list, index->listed));
        if (*slot == 0) *slot = index->listed + 1;
    }
}

int model_index_find(NameIndex* index, LashModel* memory, const NamedList* list, const char* name) {
    if (list->count == 0) return -1;
    if (index->listed < list->count) bring_up_to_date(index, memory, list);
    return *slot_of(index, list, name) - 1;
}

int model_name_find(LashModel* model, ModelNames kind, const char* name) {
    if (model->names == NULL) model->names = model_alloc(model, MODEL_NAMES * sizeof(NameIndex));
    NamedList list = {0};
    switch (kind) {
        case MODEL_PARTS:
            list = (NamedList){model->part, sizeof *model->part, offsetof(LashModelPart, name),
                               model->parts};
            break;
        case MODEL_JOINTS:
            list = (NamedList){model->joint, sizeof *model->joint, offsetof(LashModelJoint, name),
                               model->joints};
            break;
        case MODEL_FORCES:
            list = (NamedList){model->force, sizeof *model->force, offsetof(LashModelForce, name),
                               model->forces};
            break;
        case MODEL_CONTACTS:
            list = (NamedList){model->contact, sizeof *model->contact,
                               offsetof(LashModelContact, name), model->contacts};
            break;
        case MODEL_POINTS:
            list = (NamedList){model->contact_point, sizeof *model->contact_point,
                               offsetof(LashModelContactPoint, name), model->contact_points};
            break;
        case MODEL_PARAMETERS:
            list = (NamedList){model->parameter, sizeof *model->parameter,
                               offsetof(LashModelParameter, name), model->parameters};
            break;
        case MODEL_NAMES:
            return -1;
    }
    return model_index_find((NameIndex*)model->names + kind, model, &list, name);
}
