// Functions given by a table: of one or two variables, with exact slopes. For expressions.
#ifndef LASH_CORE_TABLE_H
#define LASH_CORE_TABLE_H

#include "core/error.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashTable LashTable; // immutable; owned by all who share it

typedef enum LashTableKind {
    LASH_TABLE_LINEAR, // kinks at the points
    LASH_TABLE_CUBIC // continuous slope, monotone between points (two variables: along grid lines)
} LashTableKind;

typedef enum LashTableOutside {
    LASH_OUTSIDE_ERROR,      // not a number
    LASH_OUTSIDE_HOLD,       // the value at the edge
    LASH_OUTSIDE_EXTRAPOLATE // on with the slope at the edge
} LashTableOutside;

typedef struct LashTableDef {
    const char* name;    // copied
    const double *x, *y; // rising; y NULL: of one variable
    const double* value; // (nx), or (nx x ny), y running fastest
    int nx, ny;          // 2 or more; ny 0: of one variable
    LashTableKind kind;
    LashTableOutside outside;
} LashTableDef;

// NULL with error where points do not rise, are too few or no numbers.
LashTable* lash_table_create(const LashTableDef* def, LashError* error);
LashTable* lash_table_share(LashTable* table); // one more owner
void lash_table_destroy(LashTable* table);     // one less; NULL is allowed

const char* lash_table_name(const LashTable* table);
int lash_table_variables(const LashTable* table); // 1 or 2

// Points and values of a table of one variable, as given; returns their number.
int lash_table_points(const LashTable* table, const double** x, const double** value);

// Value and, where fx is not NULL, slopes by x and y (fy may be NULL with one variable).
double lash_table_value(const LashTable* table, double x, double y, double* fx, double* fy);

// Is this point outside the table? *low, *high: the ends that it passes, of variable *which (0, 1).
bool lash_table_is_outside(const LashTable* table, double x, double y, int* which, double* low,
                           double* high);

#ifdef __cplusplus
}
#endif
#endif
