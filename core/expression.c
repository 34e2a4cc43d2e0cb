// Expressions: the stack machine, with and without derivatives. Their texts: expression_parse.c.
//
// Derivatives are forward dual numbers: every stack entry carries (x, dx/d values[i]); an operation
// z = f(x, y) sets dz = f_x dx + f_y dy. A zero dx gives a zero product whatever f_x is, so a slope
// that is infinite or undefined does no harm where nothing depends on it (sqrt(0), (-2)^3). At
// kinks: d abs(0) = 0, sign, step, floor, ceil and comparisons have slope 0, min and max take the
// slope of the argument they return, if() that of the branch it takes.
#include <math.h>

#include "core/arena.h"
#include "core/expression_internal.h"

// ---- Values -------------------------------------------------------------------------------------

// x - y floor(x/y), exact, with the sign of y: mod(-1, 4) = 3.
static double floored_mod(double x, double y) {
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static inline double unary(Op op, double x) {
    switch (op) {
        case OP_NEGATE:
            return -x;
        case OP_SQUARE:
            return x * x;
        case OP_CUBE:
            return x * x * x;
        case OP_SIN:
            return sin(x);
        case OP_COS:
            return cos(x);
        case OP_TAN:
            return tan(x);
        case OP_ASIN:
            return asin(x);
        case OP_ACOS:
            return acos(x);
        case OP_ATAN:
            return atan(x);
        case OP_SINH:
            return sinh(x);
        case OP_COSH:
            return cosh(x);
        case OP_TANH:
            return tanh(x);
        case OP_EXP:
            return exp(x);
        case OP_LOG:
            return log(x);
        case OP_LOG10:
            return log10(x);
        case OP_SQRT:
            return sqrt(x);
        case OP_ABS:
            return fabs(x);
        case OP_SIGN:
            return (x > 0) - (x < 0);
        case OP_FLOOR:
            return floor(x);
        case OP_CEIL:
            return ceil(x);
        default:
            return x < 0 ? 0 : 1; // OP_STEP
    }
}

static inline double binary(Op op, double x, double y) {
    switch (op) {
        case OP_ADD:
            return x + y;
        case OP_SUBTRACT:
            return x - y;
        case OP_MULTIPLY:
            return x * y;
        case OP_DIVIDE:
            return x / y;
        case OP_POWER:
            return pow(x, y);
        case OP_LESS:
            return x < y;
        case OP_LESS_EQUAL:
            return x <= y;
        case OP_GREATER:
            return x > y;
        case OP_GREATER_EQUAL:
            return x >= y;
        case OP_EQUAL:
            return x == y;
        case OP_NOT_EQUAL:
            return x != y;
        case OP_ATAN2:
            return atan2(x, y);
        case OP_MIN:
            return x < y || x != x ? x : y; // a NaN goes through
        case OP_MAX:
            return x > y || x != x ? x : y;
        case OP_MOD:
            return floored_mod(x, y);
        default:
            return hypot(x, y); // OP_HYPOT
    }
}

double lash_expression_value(const LashExpression* expression, const double* values) {
    double stack[MAX_STACK + 1], *below = stack; // entries under the top; the top is in x
    double x = 0;
    const Instruction* end = expression->program + expression->length;
    for (const Instruction* instruction = expression->program; instruction < end; ++instruction) {
        switch (instruction->op) {
            case OP_CONSTANT:
                *below++ = x;
                x = expression->constant[instruction->index];
                break;
            case OP_VARIABLE:
                *below++ = x;
                x = values[instruction->index];
                break;
            case OP_ADD:
                x = *--below + x;
                break;
            case OP_SUBTRACT:
                x = *--below - x;
                break;
            case OP_MULTIPLY:
                x = *--below * x;
                break;
            case OP_DIVIDE:
                x = *--below / x;
                break;
            case OP_IF:
                below -= 2;
                if (below[0] != 0) x = below[1];
                break;
            case OP_TABLE:
                x = lash_table_value(expression->table[instruction->index], x, 0, NULL, NULL);
                break;
            case OP_TABLE_2:
                --below;
                x = lash_table_value(expression->table[instruction->index], *below, x, NULL, NULL);
                break;
            default:
                if (instruction->op < OP_ADD) {
                    x = unary(instruction->op, x);
                } else {
                    --below;
                    x = binary(instruction->op, *below, x);
                }
        }
    }
    return x;
}

double expression_fold(Op op, const double* c) {
    switch (operands(op)) {
        case 1:
            return unary(op, c[0]);
        case 2:
            return binary(op, c[0], c[1]);
        default:
            return c[0] != 0 ? c[1] : c[2];
    }
}

// ---- Derivatives --------------------------------------------------------------------------------

// f(x) and its slope
static double unary_slope(Op op, double x, double* slope) {
    double y = unary(op, x);
    switch (op) {
        case OP_NEGATE:
            *slope = -1;
            break;
        case OP_SQUARE:
            *slope = 2 * x;
            break;
        case OP_CUBE:
            *slope = 3 * x * x;
            break;
        case OP_SIN:
            *slope = cos(x);
            break;
        case OP_COS:
            *slope = -sin(x);
            break;
        case OP_TAN:
            *slope = 1 + y * y;
            break;
        case OP_ASIN:
            *slope = 1 / sqrt((1 - x) * (1 + x));
            break;
        case OP_ACOS:
            *slope = -1 / sqrt((1 - x) * (1 + x));
            break;
        case OP_ATAN:
            *slope = 1 / (1 + x * x);
            break;
        case OP_SINH:
            *slope = cosh(x);
            break;
        case OP_COSH:
            *slope = sinh(x);
            break;
        case OP_TANH: { // 1 - y^2 without cancellation, and 0 instead of 1/inf^2 far out
            double c = cosh(x);
            *slope = 1 / c / c;
            break;
        }
        case OP_EXP:
            *slope = y;
            break;
        case OP_LOG:
            *slope = 1 / x;
            break;
        case OP_LOG10:
            *slope = 0.43429448190325182765 / x;
            break; // log10(e) / x
        case OP_SQRT:
            *slope = 0.5 / y;
            break;
        case OP_ABS:
            *slope = (x > 0) - (x < 0);
            break;
        default:
            *slope = 0; // sign, floor, ceil, step
    }
    return y;
}

// x^y: x needs a logarithm only where y varies
static double power_slopes(double x, double y, double* slope_x, double* slope_y) {
    double z = pow(x, y);
    *slope_x = y == 0 ? 0 : y * pow(x, y - 1);
    *slope_y = x == 0 && y > 0 ? 0 : z * log(x);
    return z;
}

// f(x, y) and both slopes
static double binary_slopes(Op op, double x, double y, double* slope_x, double* slope_y) {
    double z = op == OP_POWER ? power_slopes(x, y, slope_x, slope_y) : binary(op, x, y);
    switch (op) {
        case OP_ADD:
            *slope_x = *slope_y = 1;
            break;
        case OP_SUBTRACT:
            *slope_x = 1;
            *slope_y = -1;
            break;
        case OP_MULTIPLY:
            *slope_x = y;
            *slope_y = x;
            break;
        case OP_DIVIDE:
            *slope_x = 1 / y;
            *slope_y = -z / y;
            break;
        case OP_POWER:
            break;
        case OP_ATAN2: { // divided twice by hypot: no overflow of x^2 + y^2
            double r = hypot(x, y);
            *slope_x = y / r / r;
            *slope_y = -x / r / r;
            break;
        }
        case OP_MIN:
        case OP_MAX:
            *slope_x = z == x || x != x;
            *slope_y = 1 - *slope_x;
            break;
        case OP_MOD:
            *slope_x = 1;
            *slope_y = -round((x - z) / y);
            break;
        case OP_HYPOT:
            *slope_x = z > 0 ? x / z : 0;
            *slope_y = z > 0 ? y / z : 0;
            break;
        default:
            *slope_x = *slope_y = 0; // comparisons
    }
    return z;
}

// slope * d, and 0 for d = 0 even if the slope is not finite
static inline double chain(double slope, double d) {
    return d == 0 ? 0 : slope * d;
}

typedef struct Dual {
    double x, d[LASH_MAX_VARIABLES];
} Dual;

// n = expression->variables; inlined for n = 1, which drivers and forces of t use in every step
static inline double run_duals(const LashExpression* expression, const double* values,
                               double* gradient, int n) {
    Dual stack[MAX_STACK + 1], *top = stack; // stack[0] stays unused
    stack[0] = (Dual){0};
    double a = 0, b = 0;
    for (int i = 0; i < expression->length; ++i) {
        Instruction instruction = expression->program[i];
        if (instruction.op <= OP_VARIABLE) {
            bool variable = instruction.op == OP_VARIABLE;
            ++top;
            top->x = variable ? values[instruction.index] : expression->constant[instruction.index];
            for (int k = 0; k < n; ++k) top->d[k] = 0;
            if (variable) top->d[instruction.index] = 1;
        } else if (instruction.op < OP_ADD) {
            top->x = instruction.op == OP_TABLE
                         ? lash_table_value(expression->table[instruction.index], top->x, 0, &a, &b)
                         : unary_slope(instruction.op, top->x, &a);
            for (int k = 0; k < n; ++k) top->d[k] = chain(a, top->d[k]);
        } else if (instruction.op < OP_IF) {
            --top;
            top->x = instruction.op == OP_TABLE_2
                         ? lash_table_value(expression->table[instruction.index], top[0].x,
                                            top[1].x, &a, &b)
                         : binary_slopes(instruction.op, top[0].x, top[1].x, &a, &b);
            for (int k = 0; k < n; ++k) top->d[k] = chain(a, top[0].d[k]) + chain(b, top[1].d[k]);
        } else {
            top -= 2;
            const Dual* taken = top[0].x != 0 ? &top[1] : &top[2];
            top->x = taken->x;
            for (int k = 0; k < n; ++k) top->d[k] = taken->d[k];
        }
    }
    for (int k = 0; k < n; ++k) gradient[k] = top->d[k];
    return top->x;
}

double lash_expression_gradient(const LashExpression* expression, const double* values,
                                double* gradient) {
    LASH_ASSERT(expression->variables <= LASH_MAX_VARIABLES);
    if (expression->variables == 1) return run_duals(expression, values, gradient, 1);
    return run_duals(expression, values, gradient, expression->variables);
}

LashTableRead lash_expression_outside(const LashExpression* expression, const double* values) {
    double stack[MAX_STACK + 1], *top = stack; // stack[0] stays unused
    stack[0] = 0;
    for (int i = 0; i < expression->length; ++i) {
        Instruction in = expression->program[i];
        if (in.op <= OP_VARIABLE) {
            *++top = in.op == OP_VARIABLE ? values[in.index] : expression->constant[in.index];
            continue;
        }
        int n = operands(in.op);
        top -= n - 1;
        if (in.op == OP_TABLE || in.op == OP_TABLE_2) {
            LashTableRead read = {.table = expression->table[in.index]};
            if (lash_table_is_outside(read.table, top[0], n == 2 ? top[1] : 0, &read.variable,
                                      &read.low, &read.high)) {
                read.value = top[read.variable];
                return read;
            }
            *top = lash_table_value(read.table, top[0], n == 2 ? top[1] : 0, NULL, NULL);
        } else if (n == 1) {
            *top = unary(in.op, top[0]);
        } else if (n == 2) {
            *top = binary(in.op, top[0], top[1]);
        } else {
            *top = top[0] != 0 ? top[1] : top[2];
        }
    }
    return (LashTableRead){0};
}

bool lash_expression_uses(const LashExpression* expression, int variable) {
    for (int i = 0; i < expression->length; ++i) {
        Instruction instruction = expression->program[i];
        if (instruction.op == OP_VARIABLE && instruction.index == variable) return true;
    }
    return false;
}

void lash_expression_destroy(LashExpression* expression) {
    if (expression == NULL) return;
    for (int i = 0; i < expression->tables; ++i) lash_table_destroy(expression->table[i]);
    lash_free(expression->table);
    lash_free(expression);
}
