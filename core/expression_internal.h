// The program of an expression: shared by the machine and the parser.
#ifndef LASH_CORE_EXPRESSION_INTERNAL_H
#define LASH_CORE_EXPRESSION_INTERNAL_H

#include "core/expression.h"

enum { MAX_STACK = 64 }; // entries of the machine's stack

typedef enum Op { // the order of the groups matters: see apply()
    OP_CONSTANT,
    OP_VARIABLE,
    OP_NEGATE, // first of the unary ones
    OP_SQUARE,
    OP_CUBE,
    OP_SIN,
    OP_COS,
    OP_TAN,
    OP_ASIN,
    OP_ACOS,
    OP_ATAN,
    OP_SINH,
    OP_COSH,
    OP_TANH,
    OP_EXP,
    OP_LOG,
    OP_LOG10,
    OP_SQRT,
    OP_ABS,
    OP_SIGN,
    OP_FLOOR,
    OP_CEIL,
    OP_STEP,
    OP_TABLE, // of one variable; index of the table
    OP_ADD,   // first of the binary ones
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_ATAN2,
    OP_MIN,
    OP_MAX,
    OP_MOD,
    OP_HYPOT,
    OP_TABLE_2,
    OP_IF // the only one with three operands
} Op;

typedef struct Instruction {
    uint16_t op, index; // index of the constant, variable or table
} Instruction;

struct LashExpression {
    int variables, length;      // names it was compiled over; instructions
    const double* constant;     // both arrays stand behind the struct in the same memory
    const Instruction* program; // (length)
    LashTable** table;          // (tables) shared
    int tables;
};

static inline int operands(Op op) {
    return (op >= OP_NEGATE) + (op >= OP_ADD) + (op >= OP_IF); // the enum goes by operands
}

// The value of an operation on constants c (operands), for folding; no table.
double expression_fold(Op op, const double* c);

#endif
