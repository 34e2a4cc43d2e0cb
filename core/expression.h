// Expressions of named variables, compiled once to a small stack program, with exact derivatives
// (dual numbers).
//
// Grammar: numbers, names, + - * / ^ (right associative), unary + -, parentheses, comparisons < <=
// > >= == != (giving 1 or 0), the functions sin cos tan asin acos atan atan2 sinh cosh tanh exp log
// log10 sqrt abs sign min max floor ceil mod step(x) (0 for x < 0, else 1) if(condition, a, b),
// hypot, tables by their names, and the constant pi. Angles of functions in rad. mod(x, y) = x - y floor(x/y) has the sign
// of y. Names are letters, digits and underscores, with dots between ("crank.angle"), the first word in quotes where it has other signs
// ("'plate-crank'.angle"); those of
// functions and constants are reserved. At most 4096 bytes, nested at most 64 deep.
#ifndef LASH_CORE_EXPRESSION_H
#define LASH_CORE_EXPRESSION_H

#include "core/error.h"
#include "core/table.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashExpression LashExpression; // immutable once compiled, shared by all runs

enum { LASH_MAX_VARIABLES = 16 }; // variables a gradient may be asked for

// Compiles text over the variables names[0 .. count). On an error (unknown name, syntax, too deep)
// returns NULL and fills error: the message quotes the text and the column. The caller owns the
// result.
LashExpression* lash_expression_compile(const char* text, const char* const* names, int count,
                                        LashError* error);
// Tables that an expression may call by their names, as functions of one or two arguments.
typedef struct LashTables {
    LashTable* const* table;
    int count;
} LashTables;
// The same with tables, NULL: none; the expression becomes one more owner of those that it calls.
LashExpression* lash_expression_compile_with(const char* text, const char* const* names, int count,
                                             const LashTables* tables, LashError* error);
void lash_expression_destroy(LashExpression* expression); // NULL is allowed

// values: one per variable. Never allocates. A result that is not finite is returned as it is.
double lash_expression_value(const LashExpression* expression, const double* values);
// The same with gradient[i] = d/d values[i], i < count <= LASH_MAX_VARIABLES, exact to rounding.
// (Only a gradient is limited: values may be asked for any number of variables.)
double lash_expression_gradient(const LashExpression* expression, const double* values,
                                double* gradient);

// A table that is read outside its range at these values, and where; NULL: none.
typedef struct LashTableRead {
    const LashTable* table;
    int variable;            // of the table: 0, 1
    double value, low, high; // read there; its range
} LashTableRead;
LashTableRead lash_expression_outside(const LashExpression* expression, const double* values);

bool lash_expression_uses(const LashExpression* expression, int variable);

// Calls visit(context, name) once for every different name in text that is neither function nor
// constant: to find which parameters depend on which. Returns false with error on bad syntax.
bool lash_expression_names(const char* text, void (*visit)(void* context, const char* name),
                           void* context, LashError* error);
bool lash_expression_names_with(const char* text, const LashTables* tables,
                                void (*visit)(void* context, const char* name), void* context,
                                LashError* error);
// Can a table be called so? False for what is no name, and for functions and constants.
bool lash_expression_is_free_name(const char* name);

#ifdef __cplusplus
}
#endif
#endif
