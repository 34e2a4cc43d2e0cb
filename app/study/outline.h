// What the parameters of a study are in its model: the hole of a part, the friction of a joint; and
// what the model assumes besides. From the model's text alone, without its CAD.
#ifndef LASH_APP_STUDY_OUTLINE_H
#define LASH_APP_STUDY_OUTLINE_H

#include "app/study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashPlaceKind {
    LASH_PLACE_NONE,
    LASH_PLACE_JOINT,
    LASH_PLACE_PART,
    LASH_PLACE_FORCE,
    LASH_PLACE_CONTACT,
    LASH_PLACE_OTHER // gravity, simulation
} LashPlaceKind;

typedef struct LashPlace { // where one parameter acts first
    LashPlaceKind kind;
    int index;       // in the model's list
    const char* key; // "clearance", of the model's key tables
    int others;      // more places of the kind that it acts in
} LashPlace;

typedef struct LashOutline {
    LashModel* model; // read, not resolved; NULL: the study has none, or its text is not readable
    LashPlace* place; // (parameters of the study)
    int parameters;
} LashOutline;

// Never fails: what cannot be read stays empty. The caller destroys it.
LashOutline* lash_outline_create(const LashStudy* study, const char* model_text);
void lash_outline_destroy(LashOutline* outline); // NULL is allowed

// "hole of rod, joint crank_pin"; the parameter's own name where the model does not tell. Returns
// text.
const char* lash_outline_feature(const LashOutline* outline, const LashStudy* study, int parameter,
                                 char* text, size_t size);
// The joint that a parameter acts in, the part whose feature it is; NULL: none, or not known.
const char* lash_outline_joint(const LashOutline* outline, int parameter);
const char* lash_outline_part(const LashOutline* outline, const LashStudy* study, int parameter);

// Metres in the model's unit of length; 1 without a model.
double lash_outline_length_unit(const LashOutline* outline);

// Least and largest of a number over all joints and contacts that have it. False: none has.
typedef enum LashOutlineNumber {
    LASH_OUTLINE_FRICTION,
    LASH_OUTLINE_RESTITUTION
} LashOutlineNumber;
bool lash_outline_range(const LashOutline* outline, LashOutlineNumber number, double* low,
                        double* high);

#ifdef __cplusplus
}
#endif
#endif
